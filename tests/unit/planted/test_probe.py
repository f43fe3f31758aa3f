"""A probe tries an edit with the cases that run the changed line, and says what they show."""

import functools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
from msgspec.structs import replace

from tests.support import dying
from tests.support.cases import addition
from tests.support.pairs import CASE, observed, outcome
from tests.support.planted import PACKAGE, edit_in
from tests.support.refusals import refused
from tridiff.fuzz.coverage import lines as lines_told
from tridiff.fuzz.coverage.lines import Lines
from tridiff.fuzz.planted import probe, trial
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.probe import MOST, MOST_ONCE, Probe, compare, draw
from tridiff.fuzz.planted.record import Settings
from tridiff.fuzz.planted.trial import Drawn, Ran, trials
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.records.pair import Relation

SETTINGS = Settings(triton=triton.__version__, backends=("interpreter",), seconds=1.0, workers=1, seed=1,
                    targets=("triton.vector_add",), subjects=("own",), probe=3)


def ran(lines: dict[str, tuple[int, ...]] | None = None, *, rows: int = 4, target: str = "triton.vector_add",
        backend: str = "interpreter", **changes: object) -> Ran:
    return Ran(**{"case": replace(addition(rows=rows), target=target), "backend": backend,
                  "outcome": outcome(Verdict.AGREE), "observed": observed(b"\1\0\0\0"), "lines": lines or {},
                  **changes})


@pytest.mark.parametrize("now, relation, changed", [
    ({}, Relation.IDENTICAL_CODE, False),
    ({"outcome": None, "observed": None, "died": "crash"}, Relation.REGRESSION, False),
    ({"outcome": outcome(Verdict.DISAGREE)}, Relation.REGRESSION, False),
    ({"outcome": outcome(Verdict.COMPILE_ERROR), "observed": None}, Relation.REGRESSION, False),
    ({"observed": observed(b"\2\0\0\0")}, Relation.CHANGED, False),
    ({"observed": observed(b"\1\0\0\0", code={"ptx": "b"})}, Relation.SAME, True),
])
def test_comparison(now: dict[str, object], relation: Relation, changed: bool):
    was = ran(observed=observed(b"\1\0\0\0", code={"ptx": "a"}))
    found, _, code = compare(was, ran(**{"observed": was.observed, **now}))
    assert (found, code) == (relation, changed)


def test_other_bits_within_a_tolerance_are_no_regression():
    one, other = (observed(bits, dtype="fp32", rule="ULP") for bits in (b"\0\0\x80\x3f", b"\1\0\x80\x3f"))
    assert compare(ran(observed=one), ran(observed=other))[0] is Relation.NUMERIC


FILE = "language/semantic.py"


@pytest.fixture(scope="module", autouse=True)
def asked_once() -> Iterator[None]:
    """Triton is imported once, and not by every probe, to see what is there and which lines run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe.api, "names", functools.cache(probe.api.names))
        patch.setattr(probe, "imported", functools.cache(probe.imported))
        yield


@pytest.fixture(scope="module")
def edit() -> Edit:
    """A fault in `TritonSemantic.add` that swaps addition and subtraction of floats."""
    return edit_in(FILE, "TritonSemantic.add", "other_instruction", "create_fadd")


def test_cases_that_run_the_line_come_first_and_targets_take_turns(edit: Edit):
    line = (edit.line,)
    backends = ("interpreter", "compile:sm_90")
    cases = [ran({FILE: line}, rows=rows, target=target, backend=backend) for backend in backends
             for target in ("a", "b") for rows in range(1, 15)]
    elsewhere = ran({FILE: (edit.line + 1000,), "language/core.py": line})
    found, exact = Probe([elsewhere, *cases], PACKAGE).reaching(edit)
    assert exact and elsewhere not in found and len(found) == 2 * MOST
    assert [one.case.target for one in found[:4]] == ["a", "b", "a", "b"]
    assert {one.backend for one in found} == set(backends)


def test_what_a_gate_always_plays_comes_behind_and_has_a_bound_of_its_own(edit: Edit):
    always = [ran({FILE: (edit.line,)}, rows=rows, once=True) for rows in range(1, MOST_ONCE + 4)]
    drawn = [ran({FILE: (edit.line,)}, rows=1000 + rows) for rows in range(MOST + 1)]
    found, _ = Probe([*always, *drawn], PACKAGE).reaching(edit)
    assert found == [*drawn[:MOST], *always[:MOST_ONCE]]


def test_a_call_of_the_function_is_not_a_run_of_the_line(edit: Edit):
    before = ran({FILE: (edit.line - 2,)})
    assert Probe([before, ran({FILE: (1,)})], PACKAGE).reaching(edit) == ([before], False)
    assert Probe([ran({FILE: (1,)})], PACKAGE).reaching(edit) == ([], False)


def test_what_runs_when_triton_is_imported_is_asked_of_cases_of_all_targets():
    wrapper = edit_in("language/core.py", "_tensor_member_fn", "flipped_flag")
    cases = [ran({FILE: (1,)}, target=name) for name in ("a", "b")]
    cheap = ran({FILE: (1,)}, rows=7, once=True)
    assert Probe([*cases, cheap], PACKAGE).reaching(wrapper) == (cases, True)
    inside = edit_in(FILE, "TritonSemantic.add", "other_instruction")
    assert Probe(cases, PACKAGE).reaching(inside) == ([], False)


def test_lines_are_those_of_the_folder_that_ran(tmp_path: Path):
    path = tmp_path / "part" / "one.py"
    path.parent.mkdir()
    path.write_text("def f(a):\n    if a:\n        return 1\n    return 2\n\n\n"
                    "def call_JitFunction(fn):\n    return f(0)\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with Lines(tmp_path) as lines:
        assert names["f"](1) == 1
    assert lines.found == {"part/one.py": {1, 2, 3}}
    names["f"](0)
    assert lines.found == {"part/one.py": {1, 2, 3}}, "what runs later does not count"

    class Kernel:
        fn = names["f"]

    with lines:
        names["call_JitFunction"](Kernel)
    assert lines.found == {"part/one.py": {1, 2, 3, 4, 7, 8}}, "a function that is compiled counts as a whole"


def test_lines_without_steps_are_the_same_until_a_function_is_called_often(tmp_path: Path):
    path = tmp_path / "one.py"
    path.write_text("def f(a):\n    if a:\n        return 1\n    return 2\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    lines = Lines(tmp_path, steps=False)
    for seldom in (True, False):
        with lines:
            for number in range(lines_told._OFTEN + 1):
                names["f"](number == (3 if seldom else lines_told._OFTEN))
        assert lines.found == {"one.py": {1, 2, 3, 4} if seldom else {1, 2, 4}} and not lines.steps


def test_a_fault_is_shown_by_a_case_that_runs_it_and_a_harmless_edit_by_none(edit: Edit, tmp_path: Path):
    shown: list[tuple[int, int]] = []
    settings = replace(SETTINGS, seed=2)
    drawn = draw(settings, PACKAGE, tmp_path / "cases", cases=6, at_once=1, watch=lambda *about: shown.append(about))
    assert len(drawn) >= 4 and shown == [(1, 1)]
    assert all(FILE in one.lines for one in drawn)
    assert draw(settings, PACKAGE, tmp_path / "cases", cases=6, at_once=1, watch=lambda *about: None) == drawn
    assert shown == [(1, 1)], "they were kept"
    draw(settings, PACKAGE, tmp_path / "cases", cases=5, at_once=1, watch=lambda *about: shown.append(about))
    assert shown == [(1, 1), (1, 1)], "other cases were asked for"
    measure = Probe(drawn, PACKAGE)
    line = measure(edit, settings, PACKAGE, tmp_path / "fault", stop=threading.Event())
    assert line.outcome == "caught" and line.how.startswith("regression: triton.vector_add on interpreter"), line
    quiet = edit_in(FILE, "TritonSemantic.add", "named_result")
    line = measure(quiet, settings, PACKAGE, tmp_path / "quiet", stop=threading.Event())
    assert line.outcome in ("missed", "not reached") and line.harmless, line
    assert not (tmp_path / "fault").exists()


def test_a_case_that_cannot_be_run_is_told_and_the_next_one_runs():
    foreign = replace(CASE, target="no.target")
    told = list(trials([foreign, CASE], backend="interpreter", build=""))
    assert [one.died[:8] for one in told] == ["refused:", ""]
    assert told[1].outcome is not None and told[1].outcome.verdict is Verdict.AGREE
    with refused("cannot be probed"):
        list(trials(Drawn(target="no.target", number=1, seed=1), backend="interpreter", build=""))


def test_cases_behind_a_drawn_one_that_ends_its_process_are_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "_serve", dying.serve)

    def told(dies: str, number: int = 5) -> list[str]:
        return [one.died for one in trials(Drawn(target=dies, number=number, seed=1), backend="interpreter", build="")]

    assert told("") == [f"case {number}" for number in range(5)]
    assert told("1 4") == ["case 0", "case 2", "case 3"]
    with refused("cannot be probed: crash"):
        told(" ".join(map(str, range(20))), 20)
