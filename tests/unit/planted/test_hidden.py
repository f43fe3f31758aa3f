"""What was missed and cannot show is told as such, with the reason; what was caught is not asked about."""

from dataclasses import replace
from pathlib import Path

import pytest

from tridiff.fuzz.planted import reach
from tridiff.fuzz.planted.choose import edits_of
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.hidden import hidden, told
from tridiff.fuzz.planted.measure import tried
from tridiff.fuzz.planted.record import Outcome

each = pytest.mark.parametrize
_FILE = "language/core.py"
_TEXT = b'''
def f(a, b):
    if a > 5:
        b = g(a - 7, b)
    else:
        b = a - 9
    note(a, b)
    return (b - 11) if a < 13 else (a - 15)
'''
_KNOWN = {f"{_FILE} f: a > 5: true": "no such a", f"{_FILE} f: note(*": "only text",
          f"{_FILE} f: a < 13: false": "small"}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "table", lambda: _KNOWN)


def edit(before: str) -> Edit:
    """The first fault of a text."""
    return next(one for one in edits_of(_FILE, _TEXT) if one.before == before and not one.harmless)


@each("before, why", [
    ("a - 7", "no such a"), ("5", "no such a"), ("a - 9", ""), ("a, b", "only text"), ("b - 11", ""),
    ("a - 15", "small"), ("13", "small")])
def test_what_lies_out_of_reach_cannot_show(before: str, why: str):
    assert hidden(edit(before), _TEXT) == why


@each("operator, line, why", [
    ("ignored_branch", 3, "no such a"), ("negated_condition", 3, ""), ("other_comparison", 3, ""),
    ("negated_condition", 8, ""), ("off_by_one", 3, "no such a")])
def test_a_condition_that_is_turned_round_shows(operator: str, line: int, why: str):
    found = next(one for one in edits_of(_FILE, _TEXT) if (one.operator, one.line) == (operator, line))
    assert hidden(found, _TEXT) == why


@each("test, way, why", [
    ("not a < 5", "true", "no such a"), ("not a < 5", "false", ""), ("a <= 5", "true", "no such a"),
    ("a <= 5", "false", ""), ("a > 5", "false", "no such a"), ("a == 5", "true", ""), ("g(a < 5) < b", "false", "")])
def test_a_comparison_that_is_true_where_the_other_is_cannot_show(test: str, way: str, why: str,
                                                                  monkeypatch: pytest.MonkeyPatch):
    data = f"def f(a, b):\n    if {test}:\n        g(a)\n".encode()
    monkeypatch.setattr(reach, "table", lambda: {f"{_FILE} f: {test}: {way}": "no such a"})
    first = [one for one in edits_of(_FILE, data) if one.operator == "other_comparison"][-1]
    assert hidden(first, data) == why


@each("keyword, shows", [("defaults", False), ("args", True)])
def test_a_list_that_python_adds_to_a_node_of_a_syntax_tree_cannot_show(keyword: str, shows: bool,
                                                                        monkeypatch: pytest.MonkeyPatch):
    data = b"def f(a):\n    return ast.arguments(args=[a], defaults=[])\n"
    found = next(one for one in edits_of(_FILE, data) if one.operator == "dropped_keyword"
                 and keyword not in one.after)
    monkeypatch.setattr("sys.hexversion", 0x030C0300)
    assert bool(hidden(found, data)) is not shows
    monkeypatch.setattr("sys.hexversion", 0x030B0700)
    assert not hidden(found, data)


@each("before, why", [("a - 7", "no such a"), ("5", ""), ("a, b", "only text"), ("13", "")])
def test_a_condition_that_no_case_asked_may_show(before: str, why: str, monkeypatch: pytest.MonkeyPatch):
    assert hidden(edit(before), _TEXT, reached=False) == why
    monkeypatch.setattr(reach, "table", lambda: {f"{_FILE} f: *": "never called"})
    assert hidden(edit(before), _TEXT, reached=False) == "never called"


@each("outcome, harmless, expected", [
    ("missed", False, "cannot show"), ("not reached", False, "cannot show"), ("caught", False, "caught"),
    ("changed code", False, "changed code"), ("missed", True, "missed")])
def test_only_what_was_tried_and_missed_is_asked_about(outcome: Outcome, harmless: bool, expected: str,
                                                       tmp_path: Path):
    (tmp_path / "language").mkdir()
    (tmp_path / _FILE).write_bytes(_TEXT)
    one = replace(edit("a - 7"), harmless=harmless)
    line = told(one, tried(one, outcome, how="3 cases run the line"), tmp_path)
    assert line.outcome == expected
    assert (line.how == "no such a (3 cases run the line)") == (expected == "cannot show")
