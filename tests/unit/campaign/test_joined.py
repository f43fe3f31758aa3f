"""Joint launches in campaigns: what waits, what counts, what runs alone, and what is told of calls that act on one
another."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.cases import addition
from tests.support.fake_pool import FakePool, in_place_of_workers
from tridiff.fuzz.campaign import joined, shard
from tridiff.fuzz.campaign.gathered import Gathered
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult
from tridiff.fuzz.campaign.recorder import Recorder
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.campaign.totals import Totals
from tridiff.fuzz.cli.app import program
from tridiff.fuzz.known.issues import issues_of_launch
from tridiff.fuzz.records import Case, LaunchOptions, Together
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro import together
from tridiff.fuzz.workers.pool import NoWorker

each = pytest.mark.parametrize


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    return in_place_of_workers(monkeypatch)


def run(state: Path, **changes: object) -> ShardResult:
    """A shard of calls for a GPU."""
    return shard.run_shard(shard_spec(**{"target": "language.operators", "backend": "cuda", "max_cases": 60,
                                         "elements": 1 << 12, "shrink": False, **changes}), str(state))


def launches() -> list[int]:
    (pool,) = shard._pools.values()
    assert isinstance(pool, FakePool)
    return pool.joined


def digests(state: Path) -> list[str]:
    with sqlite3.connect(state / "shard-00000.sqlite") as database:
        return [one for (one,) in database.execute("select digest from outcomes where phase = 'fuzz'")]


def test_most_calls_of_a_shard_are_launched_with_others_and_each_counts_once(tmp_path: Path):
    result = run(tmp_path, max_cases=200)
    assert (result.counts.executed, result.counts.agree, result.error) == (200, 200, "")
    assert max(launches()) == joined.JOINED["cuda"] and sum(launches()) > 130
    calls = sum(number for cell, number in result.cells.items() if " operands=" in cell)
    assert calls == 200


def test_the_same_seed_draws_the_same_cases_whatever_is_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run(tmp_path / "a")
    monkeypatch.setattr(joined.Joined, "takes", lambda self, case: False)
    run(tmp_path / "b")
    assert Counter(digests(tmp_path / "a")) == Counter(digests(tmp_path / "b"))


def test_one_case_of_sixteen_runs_alone_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    alone: list[str] = []
    takes = joined.Joined.takes

    def asked(self: joined.Joined, case: Case) -> bool:
        found = takes(self, case)
        alone.extend([] if found else [case.digest])
        return found

    monkeypatch.setattr(joined.Joined, "takes", asked)
    run(tmp_path, max_cases=600)
    assert len([one for one in alone if int(one, 16) % joined.ALONE == 0]) >= 5


@each("changes", [
    {"backend": "interpreter"}, {"subject": "own+fault:changed_value"}, {"target": "language.overflow"},
    {"issue": "flip-of-one-element", "target": "language.movement"}])
def test_other_shards_join_nothing(changes: dict[str, object]):
    spec = shard_spec(**{"target": "language.operators", "backend": "cuda", **changes})
    assert joined.joining(spec, find(spec.target)) == 0


def test_a_case_that_fails_in_a_joint_launch_runs_alone_and_becomes_a_finding(
        tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(lambda case: "value" if case.sizes["rows"] == 3 else "")
    result = run(tmp_path, shrink=True)
    assert (result.counts.executed, result.error) == (60, "") and result.counts.disagree > 0
    assert result.findings and {entry.reproduced for entry in result.findings} == {"5/5"}
    assert joined.told(tmp_path) == ((), {}, set())


@each("again, counting", [(True, 1), (False, 0)])
def test_a_joint_launch_that_fails_where_its_cases_pass_is_told(
        again: bool, counting: int, tmp_path: Path, fake: type[FakePool]):
    crashed: list[tuple[Case, ...]] = []

    def together(cases: tuple[Case, ...]) -> str:
        if not crashed or (again and cases == crashed[0]):
            crashed.append(cases)
            return "illegal_address: CUDA error"
        return ""

    fake.together = staticmethod(together)
    result = run(tmp_path, max_cases=40)
    assert (result.counts.executed, result.counts.agree) == (40, 40)
    names, others, _ = joined.told(tmp_path)
    assert (len(names), len(others)) == (counting, 1 - counting)
    (path,) = (tmp_path / joined.FOLDER).glob("*.json")
    found = msgspec.json.decode(path.read_bytes(), type=Together)
    assert found.cases == crashed[0] and found.reason == "illegal_address: CUDA error" and found.source == "def kernel"
    (tmp_path / "record").mkdir()
    joined.keep(tmp_path, tmp_path / "record")
    assert (tmp_path / "record" / joined.FOLDER / path.name).read_bytes() == path.read_bytes()


def test_a_launch_that_crashes_because_of_one_case_is_explained_by_that_case(
        tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(lambda case: "value" if case.sizes["rows"] == 3 else "")
    fake.together = staticmethod(lambda cases: "crash" if any(one.sizes["rows"] == 3 for one in cases) else "")
    assert run(tmp_path).counts.executed == 60
    assert joined.told(tmp_path) == ((), {}, set())


def test_whoever_resumes_a_killed_shard_judges_what_waited_once(tmp_path: Path, fake: type[FakePool]):
    number = 0

    def killed(cases: tuple[Case, ...]) -> str:
        nonlocal number
        number += 1
        if number == 3:
            raise NoWorker("killed on purpose")
        return ""

    fake.together = staticmethod(killed)
    assert "killed on purpose" in run(tmp_path).error
    before = digests(tmp_path)
    store = ShardStore(shard.shard_path(tmp_path, 0))
    waiting = [case.digest for case in store.inflight()]
    store.close()
    assert len(waiting) >= joined.JOINED["cuda"]
    result = run(tmp_path)
    after = digests(tmp_path)
    assert (result.counts.executed, result.error) == (60, "")
    assert after[:len(before)] == before and after[len(before):len(before) + len(waiting)] == waiting


def test_equal_cases_that_wait_are_kept_apart(tmp_path: Path):
    store = ShardStore(tmp_path / "s.sqlite")
    for _ in range(2):
        store.hold(addition(), round_number=0)
    store.begin(addition(), round_number=1)
    assert store.inflight() == (addition(), addition())
    store.withdraw()
    assert store.inflight() == (addition(),)
    store.close()


def test_a_joint_launch_that_is_told_can_be_run_again(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    fake.together = staticmethod(lambda cases: "SIGSEGV")
    run(tmp_path)
    (name, *_), *_ = joined.told(tmp_path)
    path = str(tmp_path / joined.FOLDER / name)
    launch = together.read(path)
    assert launch is not None and together.read(str(tmp_path / "shard-00000.sqlite")) is None
    real = together.Pool
    monkeypatch.setattr(together, "Pool", fake)
    found = together.again(launch, backend="cuda")
    assert found.exit_status == 1 and "SIGSEGV" in found.told and set(found.alone) == {"agree"}
    fake.together = staticmethod(lambda cases: "")
    assert together.again(launch, backend="cuda").exit_status == 0
    monkeypatch.setattr(together, "Pool", real)
    told = CliRunner().invoke(program("repro"), ["repro", path, "--backend", "compile:sm_90"])
    assert told.exit_code == 0 and told.stdout.startswith("together: agree, ")


def rest(case: Case) -> bytes:
    """All of a case but the values in its arrays."""
    return msgspec.json.encode(replace(case, arrays=tuple(replace(one, content=None) for one in case.arrays)))


def ran_cases(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Case, ...]]:
    """The cases of every launch that follows."""
    found: list[tuple[Case, ...]] = []
    for name in ("execute", "launch_joined"):
        before = getattr(Recorder, name)

        def noted(self: Recorder, cases: Case | tuple[Case, ...], *given: object, before: Any = before,
                  **named: object) -> object:
            found.extend([cases] if isinstance(cases, tuple) else [(cases,)] if given == ("fuzz",) else [])
            return before(self, cases, *given, **named)

        monkeypatch.setattr(Recorder, name, noted)
    return found


def test_calls_that_pass_are_launched_at_once_with_other_values(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    launched = ran_cases(monkeypatch)
    run(tmp_path, max_cases=240)
    texts = [tuple(map(rest, cases)) for cases in launched if len(cases) > 1]
    alike = [texts[max(place - 2, 0):place].count(text) for place, text in enumerate(texts)]
    assert alike == [0, 1, 2] * (len(texts) // 3) and len(texts) >= 15
    assert len({one.digest for cases in launched for one in cases}) > 0.95 * sum(map(len, launched))
    of_one = Counter(rest(cases[0]) for cases in launched if len(cases) == 1)
    assert 3 in of_one.values()


def test_a_call_that_fails_alone_is_not_run_with_other_values(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    fake.together = staticmethod(lambda cases: "crash")
    fake.failing = staticmethod(lambda case: "value")
    launched = ran_cases(monkeypatch)
    result = run(tmp_path)
    assert (result.counts.executed, result.counts.disagree) == (60, 60)
    alone = Counter(rest(cases[0]) for cases in launched if len(cases) == 1)
    _, *others = sorted(alone.values(), reverse=True)  # the simplest call comes first in every round
    assert set(others) == {1}


def two_types(cases: tuple[Case, ...]) -> str:
    """How a launch ends that makes descriptors of i32 and u32."""
    kinds = {(one.program.row, one.array("x0").dtype) for one in cases}
    return "illegal_instruction" if any((row, "u32") in kinds for row, name in kinds if name == "i32") else ""


def test_a_joint_launch_is_of_an_issue_if_it_passes_without_its_pattern(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(joined, "random_mode", lambda chance: (LaunchOptions(num_warps=1), ()))
    for ends, known in (lambda cases: "illegal_instruction", False), (two_types, True):
        fake.together = staticmethod(ends)
        state = tmp_path / str(known)
        run(state, target="language.descriptors", max_cases=200)
        new, others, shown = joined.told(state)
        assert (bool(new), bool(others), len(shown)) == (not known, known, known)
        found = Gathered(plan=Plan(id="a", options=campaign_options(), shards=()), state=state, totals=Totals(),
                         open_={}, failures={}, lost=(), left_out=())
        summary = found.summary(counts=Counts(executed=1), findings=[], unconfirmed={}, seconds=1, interrupted=False)
        assert (summary.exit_status, summary.known_findings) == (not known, tuple(shown))
    launch = together.read(str(next((state / joined.FOLDER).iterdir())))
    assert launch is not None
    wider = tuple(replace(one, options=LaunchOptions(num_warps=4)) for one in launch.cases)
    for change in ({}, {"triton": "3.8.0"}, {"reason": "value"}, {"backend": "interpreter"}, {"subject": "plain"},
                   {"cases": wider}, {"cases": launch.cases[:1]}):
        assert any(issues_of_launch(replace(launch, **change))) == (not change)
