"""Results are kept as they come, and tables say what became of each edit."""

import threading
from pathlib import Path

import pytest

from tests.support.refusals import refused
from tridiff.fuzz.cli.planted import status
from tridiff.fuzz.gate.record import GateSummary, Side, TargetPairs
from tridiff.fuzz.planted.choose import edits_of
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.measure import judged
from tridiff.fuzz.planted.record import Outcome, Results, Settings, Tried, read
from tridiff.fuzz.planted.run import run
from tridiff.fuzz.planted.table import headline, table

SETTINGS = Settings(triton="3.9.0", backends=("interpreter",), seconds=5.0, workers=1, seed=1)
EDITS = [one for one in edits_of("language/core.py", b"def f(a, b):\n    return a - b\n") if not one.harmless]


def tried(edit: Edit, outcome: Outcome = "caught", *, harmless: bool = False) -> Tried:
    return Tried(name=edit.name, file=edit.file, operator=edit.operator, function=edit.function, before=edit.before,
                 after=edit.after, outcome=outcome, harmless=harmless)


def test_results_are_kept_and_not_made_again(tmp_path: Path):
    assert len(EDITS) == 2
    calls: list[str] = []

    def measured(edit: Edit, settings: Settings, package: Path, folder: Path, *, stop: threading.Event) -> Tried:
        calls.append(edit.name)
        return tried(edit, "missed")

    path = tmp_path / "results.jsonl"
    first = Results(path, SETTINGS)
    first.add(tried(EDITS[0]))
    with open(path, "ab") as file:
        file.write(b'{"name": "cut')  # by a kill
    seen: list[Tried] = []
    lines = run(EDITS, SETTINGS, package=tmp_path, results=Results(path, SETTINGS), folder=tmp_path, at_once=2,
                watch=seen.append, measured=measured)
    assert calls == [EDITS[1].name] == [one.name for one in seen]
    assert [one.outcome for one in lines] == ["caught", "missed"]
    assert read(path) == (SETTINGS, lines)


def test_results_of_other_settings_are_not_mixed(tmp_path: Path):
    path = tmp_path / "results.jsonl"
    Results(path, SETTINGS).add(tried(EDITS[0]))
    with refused("other settings"):
        Results(path, Settings(triton="3.9.0", backends=("cuda",), seconds=5.0, workers=1, seed=1))
    (tmp_path / "else").write_text("no results\n")
    with refused("holds no results"):
        read(tmp_path / "else")


def summary(verdict: str, *, why: tuple[str, ...] = (), changed: int = 0, errors: tuple[str, ...] = ()) -> GateSummary:
    side = Side(name="installed", triton="3.9.0")
    return GateSummary(
        id="planted", verdict=verdict, baseline=side, candidate=side, pairs=9, identical_code=9,
        regressions=0, fixed=0, changed=0, both=0, not_checked=0, seconds=5.0, why=why, errors=errors,
        targets=(TargetPairs(target="triton.mod", backend="compile:sm_90", relations={}, code_changed=changed),))


@pytest.mark.parametrize("verdict, more, outcome", [
    ("upgrade", {}, "missed"),
    ("upgrade", {"changed": 2}, "changed code"),
    ("do not upgrade", {"changed": 2, "why": ("regression: x",)}, "caught"),
    ("upgrade with guards", {"why": ("API: 1 public names changed",)}, "caught"),
    ("could not check", {"errors": ("a worker did not start",)}, "not tried"),
])
def test_outcome_is_what_the_gate_says(verdict: str, more: dict[str, object], outcome: str):
    line = judged(EDITS[0], summary(verdict, **more), seconds=1.0)
    assert (line.outcome, line.verdict, line.pairs) == (outcome, verdict, 9)


def test_table_counts_each_outcome_and_names_what_was_missed():
    lines = [tried(EDITS[0]), tried(EDITS[1], "missed")]
    quiet = tried(EDITS[0], "missed", harmless=True)
    loud = tried(EDITS[1], "loud")
    text = table([*lines, loud, quiet], SETTINGS)
    assert headline([*lines, loud, quiet]) in text
    assert headline(lines) == "1 of 2 faults caught."
    assert "1 loud; 1 of 1 harmless edits quiet" in text
    assert "| language/core.py | 1 |  | 1 |  |  | 1 |  |" in text
    apart = tried(EDITS[1], "cannot show")
    assert headline([*lines, apart]) == "1 of 2 faults caught; 1 cannot show."
    assert "## Cannot show" in table([*lines, apart], SETTINGS)
    missed = text.partition("## Missed")[2].partition("## Caught")[0]
    assert EDITS[1].name in missed and EDITS[0].name not in missed


def test_exit_status():
    assert status([tried(EDITS[0]), tried(EDITS[1], "missed", harmless=True)]) == 0
    assert status([tried(EDITS[0]), tried(EDITS[1], "cannot show")]) == 0
    assert status([tried(EDITS[0], "missed")]) == 1
    assert status([tried(EDITS[0]), tried(EDITS[1], "changed code", harmless=True)]) == 1, "a false alarm"
    assert status([tried(EDITS[0], "loud"), tried(EDITS[0], "not tried")]) == 2
