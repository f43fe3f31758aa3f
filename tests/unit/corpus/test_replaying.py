"""Replaying entries: what runs where, what counts as a change, what never counts as a pass."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.support.repository import ENTRIES
from tests.unit.corpus.entries import division_case, entry, expect, outcome
from tridiff.fuzz.backends import BACKENDS, available
from tridiff.fuzz.campaign.replay import FLAKY_ATTEMPTS, ReplayResult, misfit, replay
from tridiff.fuzz.campaign.table import Cell, rich_table, table
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Expectation, Outcome, Verdict

each = pytest.mark.parametrize
Answer = Callable[[Case, str, str, int], Outcome]


class FakeWorkers:
    """Stands in for the pools: answers as told and remembers what was asked of it."""

    def __init__(self, answer: Answer, *, triton: str = "3.9.0", torch: str = "2.13.0+cpu") -> None:
        self.answer, self.triton, self.torch = answer, triton, torch
        self.started: list[str] = []
        self.closed: list[str] = []
        self.runs: list[tuple[str, str]] = []

    def start(self, backend: str, device: int, hang_limit: float) -> _FakePool:
        self.started.append(backend)
        return _FakePool(self, backend)


class _FakePool:
    def __init__(self, workers: FakeWorkers, backend: str) -> None:
        self._workers, self._backend = workers, backend

    @property
    def environment(self) -> Environment:
        return Environment(triton=self._workers.triton, torch=self._workers.torch, backend=self._backend)

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False) -> Outcome:
        assert backend is not None
        self._workers.runs.append((subject, backend))
        return self._workers.answer(case, subject, backend, len(self._workers.runs))

    def close(self) -> None:
        self._workers.closed.append(self._backend)


def always(verdict: Verdict, kind: str = "value", reason: str = "") -> Answer:
    return lambda case, subject, backend, number: outcome(case, subject, verdict, kind=kind, backend=backend,
                                                          reason=reason)


def results(entries: list[CorpusEntry | TridiffError], workers: FakeWorkers, *,
            backends: tuple[str, ...] = ("interpreter",), **options: object) -> list[ReplayResult]:
    return list(replay(entries, backends=backends, start=workers.start, **options))


def only(expected: Expectation, seen: Verdict, kind: str = "value", **workers: str) -> ReplayResult:
    (result,) = results([entry(expected=(expected,))], FakeWorkers(always(seen, kind), **workers))
    return result


@each("verdict", list(Verdict))
def test_the_expected_verdict_is_as_expected(verdict: Verdict):
    result = only(expect(verdict=verdict), verdict)
    assert (result.ok, result.status, result.expected, result.actual) == (True, "as_expected", verdict.value,
                                                                          verdict.value)


@each("wanted, seen", [(a, b) for a in Verdict for b in Verdict if a is not b])
def test_any_other_verdict_is_a_change_or_not_checked(wanted: Verdict, seen: Verdict):
    result = only(expect(verdict=wanted), seen)
    expected = (None, "not_checked") if seen is Verdict.NOT_CHECKED else (False, "changed")
    assert (result.ok, result.status) == expected
    assert wanted.value in result.reason
    assert result.outcome.verdict is seen


def test_a_finding_that_stopped_is_reported_with_what_to_do():
    assert only(expect(), Verdict.AGREE).reason == (
        "expected disagree, agrees now; if it is fixed, record the new verdict")


def test_failing_in_another_way_is_a_change():
    result = only(expect(kind="value"), Verdict.DISAGREE, "nan_missing")
    assert (result.ok, result.reason) == (False, "still disagree, but of kind nan_missing instead of value")
    assert only(expect(kind="value"), Verdict.DISAGREE, "value").ok is True
    assert only(expect(kind=""), Verdict.DISAGREE, "nan_missing").ok is True, "no kind recorded: any will do"


@each("about, ok", [("product, one stage", True), ("product, rows split", False)])
def test_another_symptom_of_the_same_named_cause_is_no_change(about: str, ok: bool):
    known = next(one for one in ENTRIES.entries() if isinstance(one, CorpusEntry) and (
        one.signature.about == "product, one stage"))
    crash = replace(known.signature, verdict=Verdict.CRASH, kind="illegal_address", where="", about=about)

    def crashing(case: Case, subject: str, backend: str, number: int) -> Outcome:
        return replace(outcome(case, subject, Verdict.CRASH, backend=backend), signature=crash)

    result, = results([known], FakeWorkers(crashing, triton="3.6.0"), backends=("cuda",))
    assert result.ok is ok


def test_without_an_expectation_a_verdict_is_new_information():
    for verdict in (Verdict.AGREE, Verdict.DISAGREE):
        result = only(expect(triton="3.6.0"), verdict, triton="3.9.0")
        assert (result.ok, result.status, result.expected, result.actual) == (
            None, "new_information", "unknown", verdict.value)


def test_the_installed_torch_counts_where_it_is_the_subject():
    assert only(expect("inductor", torch="2.13.0"), Verdict.DISAGREE).ok is True
    assert only(expect("inductor", torch="2.11.0"), Verdict.DISAGREE).status == "new_information"
    assert only(expect("own", torch="2.11.0"), Verdict.DISAGREE).ok is True


def test_an_entry_runs_where_expectations_and_machine_meet():
    one = entry(expected=(expect(backend="cuda"), expect(backend="interpreter"), expect(backend="compile:sm_90"),
                          expect(backend="interpreter", triton="3.6.0"),
                          expect("inductor", backend="interpreter", torch="2.13.0")))
    workers = FakeWorkers(always(Verdict.DISAGREE))
    results([one], workers, backends=("interpreter", "compile"))
    assert workers.runs == [("own", "interpreter"), ("own", "compile:sm_90"), ("inductor", "interpreter")]
    everywhere = FakeWorkers(always(Verdict.DISAGREE))
    found = results([one], everywhere, backends=("interpreter", "compile:sm_80"), everywhere=True, subjects=("own",))
    assert everywhere.runs == [("own", "interpreter"), ("own", "compile:sm_80")]
    assert [result.status for result in found] == ["as_expected", "new_information"]


def test_no_common_backend_is_said_and_never_a_pass():
    workers = FakeWorkers(always(Verdict.AGREE))
    (result,) = results([entry(expected=(expect(backend="cuda"),))], workers)
    assert (result.ok, result.status, result.actual) == (None, "not_checked", "unknown")
    assert result.reason == "expectations name cuda; offered: interpreter"
    assert workers.started == []


def test_one_pool_per_kind_of_backend_started_late_and_closed():
    backends = ("interpreter", "compile:sm_80", "compile:sm_90")
    one = entry(expected=tuple(expect(backend=backend) for backend in backends))
    workers = FakeWorkers(always(Verdict.DISAGREE))
    stream = replay([one, one], backends=backends, start=workers.start)
    next(stream)
    assert workers.started == ["interpreter"]
    for _ in stream:
        pass
    assert (workers.started, len(workers.runs)) == (["interpreter", "compile:sm_80"], 6)
    assert sorted(workers.closed) == sorted(workers.started)


def test_leaving_early_closes_the_pools():
    workers = FakeWorkers(always(Verdict.DISAGREE))
    stream: Iterator[ReplayResult] = replay([entry(), entry()], backends=("interpreter",), start=workers.start)
    next(stream)
    stream.close()
    assert workers.closed == ["interpreter"]


def flaky(reproduced: str) -> CorpusEntry:
    return replace(entry(), status="flaky", reproduced=reproduced)


def test_a_flaky_finding_is_tried_until_it_shows():
    def every_fourth(case: Case, subject: str, backend: str, number: int) -> Outcome:
        return outcome(case, subject, Verdict.DISAGREE if number % 4 == 0 else Verdict.AGREE, backend=backend)

    (result,) = results([flaky("1/4")], FakeWorkers(every_fourth))
    assert (result.ok, result.attempts) == (True, 4)


@each("reproduced, attempts", [
    ("1/2", 10), ("9/10", 3), ("1/1000", FLAKY_ATTEMPTS), ("0/0", FLAKY_ATTEMPTS)])
def test_a_flaky_finding_that_stays_away_is_a_change(reproduced: str, attempts: int):
    workers = FakeWorkers(always(Verdict.AGREE))
    (result,) = results([flaky(reproduced)], workers)
    assert (result.ok, result.attempts, len(workers.runs)) == (False, attempts, attempts)
    assert f"in {attempts} attempts at a flaky finding" in result.reason


def test_a_stable_finding_is_run_once():
    workers = FakeWorkers(always(Verdict.AGREE))
    results([entry()], workers)
    assert len(workers.runs) == 1


def of_target(target: str) -> CorpusEntry:
    return entry(subject="own", case=division_case(target=target), expected=(expect(),))


def test_what_cannot_run_gets_its_line_and_the_rest_goes_on():
    without_arrays = replace(division_case(), arrays=(), sizes={})
    entries: list[CorpusEntry | TridiffError] = [
        TridiffError("helpers.x/broken.json: not valid JSON", fix="delete the file"), of_target("helpers.of_tomorrow"),
        entry(expected=(expect("own+fault:of_tomorrow"),)), entry(case=without_arrays), entry(),
    ]
    workers = FakeWorkers(always(Verdict.DISAGREE))
    found = results(entries, workers)
    assert [result.status for result in found] == ["unreadable"] * 4 + ["as_expected"]
    assert all(result.ok is None and result.reason.isprintable() for result in found[:4])
    assert found[0].id == "helpers.x/broken.json"
    assert "unknown target 'helpers.of_tomorrow'" in found[1].reason
    assert "has no fault 'of_tomorrow'" in found[2].reason
    assert "does not fit helpers.div_floor_integer (there is no input a)" in found[3].reason
    assert len(workers.runs) == 1


def test_a_worker_that_refuses_the_case_gives_a_line():
    def refuse(case: Case, subject: str, backend: str, number: int) -> Outcome:
        raise TridiffError("'x' is no i32 value", fix="write a decimal integer")

    (result,) = results([entry()], FakeWorkers(refuse))
    assert (result.ok, result.status, result.reason) == (
        None, "unreadable", "'x' is no i32 value; write a decimal integer")


def test_fitting_cases_are_no_misfits():
    assert misfit(division_case(), "own") == ""
    assert misfit(division_case(target="triton.mod"), "own+fault:floor_for_trunc") == ""


def test_the_table_sets_expectations_beside_what_was_seen():
    first = entry(expected=(expect(triton="3.10.0", verdict=Verdict.AGREE), expect(triton="3.9.0"),
                            expect(triton="3.9.0", backend="cuda")))
    second = of_target("triton.mod")
    broken = TridiffError("triton.mod/x.json: not valid JSON", fix="delete the file")
    unrunnable = entry(kind="other", expected=(expect(backend="cuda"),))
    entries = [first, second, broken, unrunnable]
    workers = FakeWorkers(lambda case, subject, backend, number: outcome(
        case, subject, Verdict.DISAGREE if case.target == "triton.mod" else Verdict.AGREE))
    data = table(entries, results(entries, workers))
    assert [(column.triton, column.backend) for column in data.columns] == [
        ("3.9.0", "cuda"), ("3.9.0", "interpreter"), ("3.10.0", "interpreter")]
    rows = {(row.target, row.id): row for row in data.rows}
    assert rows[first.case.target, first.id].cells == (
        Cell(expected="disagree"), Cell(expected="disagree", seen="agree", ok=False), Cell(expected="agree"))
    assert rows["triton.mod", second.id].cells == (None, Cell(expected="disagree", seen="disagree", ok=True), None)
    assert rows[unrunnable.case.target, unrunnable.id].note == "expectations name cuda; offered: interpreter"
    assert rows["", "triton.mod/x.json"].note == str(broken)
    assert len(rows) == 4
    console = Console(width=160, force_terminal=False, file=sys.stderr, record=True)
    console.print(rich_table(data))
    text = console.export_text()
    for piece in (first.id, second.id, "disagree -> agree", "3.10.0", "not valid JSON"):
        assert piece in text


def test_a_wide_table_keeps_the_version_that_ran_and_says_what_is_no_defect():
    old = tuple(expect(triton=f"3.{minor}.0", backend=backend) for minor in (1, 2) for backend in BACKENDS)
    first = replace(entry(expected=(*old, expect(triton="3.9.0"))), truth="by_design")
    workers = FakeWorkers(lambda case, subject, backend, number: outcome(case, subject, Verdict.DISAGREE))
    console = Console(width=160, force_terminal=False, file=sys.stderr, record=True)
    console.print(rich_table(table([first], results([first], workers))))
    text = console.export_text()
    assert "3.9.0" in text and "3.1.0" not in text and "(by_design)" in text


def test_available_backends_ask_a_child_only_where_a_device_exists(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(available.Path, "glob", lambda self, pattern: iter(()))
    monkeypatch.setattr(available.Path, "exists", lambda self: False)
    monkeypatch.setattr(available.subprocess, "run", lambda *a, **k: asked.append(a))
    available.gpu_count.cache_clear()
    try:
        assert available.available_backends() == (
            "interpreter", "compile:sm_80", "compile:sm_90", "compile:sm_100", "compile:gfx942",
            "evaluated:sm_80", "evaluated:sm_90", "evaluated:sm_100", "evaluated:gfx942")
        assert asked == []
        monkeypatch.setattr(available, "_FOR_CUDA", re.compile(r"^__version__", re.MULTILINE))
        for answer, count in (("2\n", 2), ("0\n", 0), ("", 0)):
            monkeypatch.setattr(available.Path, "exists", lambda self: True)
            monkeypatch.setattr(available.subprocess, "run", lambda *a, answer=answer, **k: type(
                "Done", (), {"stdout": answer})())
            available.gpu_count.cache_clear()
            assert ("cuda" in available.available_backends()) is (count > 0)
        monkeypatch.setattr(available, "_FOR_CUDA", re.compile("built for no device"))
        available.gpu_count.cache_clear()
        assert "cuda" not in available.available_backends(), "torch knows no device"
    finally:
        available.gpu_count.cache_clear()


def test_real_workers_on_the_interpreter_and_ahead_of_time():
    """A planted fault shows, the own helper agrees, compiling says so, and none of it imports torch here."""
    source = (
        "import sys\n"
        "from tridiff.fuzz.backends.available import available_backends\n"
        "from tridiff.fuzz.campaign.replay import replay\n"
        "from tridiff.fuzz.records import Verdict\n"
        "from tests.unit.corpus.entries import entry, expect\n"
        "from tridiff.kernels.codegen.dialect import found_version\n"
        "at = {'triton': found_version()}\n"
        "one = entry(expected=(expect('own+fault:trunc_for_floor', kind='value', **at),\n"
        "    expect('own', verdict=Verdict.AGREE, **at), expect('own', backend='compile:sm_90', **at)))\n"
        "for r in replay([one], backends=available_backends()):\n"
        "    print(r.subject, r.backend, r.expected, r.actual, r.ok)\n"
        "print('torch' in sys.modules, 'triton' in sys.modules)\n")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [
        "own+fault:trunc_for_floor interpreter disagree disagree True",
        "own interpreter agree agree True",
        "own compile:sm_90 disagree agree False",
        "False False"]
