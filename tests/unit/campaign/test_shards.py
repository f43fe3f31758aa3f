"""Plans, shards and their stores, with a pool that decides outcomes by a function of the case."""

import dataclasses
import itertools
import socket
import sqlite3
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.cases import addition
from tests.support.fake_forks import FakeForks, done
from tests.support.fake_pool import FakePool, in_place_of_workers, refuse
from tests.support.outcomes import outcome_of
from tests.support.refusals import refusal
from tridiff.fuzz.backends import ARCHITECTURES
from tridiff.fuzz.campaign import hunt, shard
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, ShardResult
from tridiff.fuzz.campaign.recorder import Recorder
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import avoiding
from tridiff.fuzz.records import Case, Outcome, RowCounts, Signature, Verdict
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.pool import NoWorker, Pool

each = pytest.mark.parametrize


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    return in_place_of_workers(monkeypatch)


def run(state: Path, **changes: object) -> ShardResult:
    return shard.run_shard(shard_spec(**{"max_cases": 30, **changes}), str(state))


def rows(state: Path, query: str, index: int = 0) -> list[tuple[object, ...]]:
    database = sqlite3.connect(state / f"shard-{index:05}.sqlite")
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


# -- shards --

def test_a_shard_runs_its_number_of_cases_and_records_each(tmp_path: Path):
    result = run(tmp_path)
    assert (result.counts.executed, result.counts.agree, result.error, result.stopped) == (30, 30, "", False)
    assert result.findings == () and result.environment.triton == "3.9.0"
    assert rows(tmp_path, "select count(*), min(number), max(number) from outcomes") == [(30, 1, 30)]
    assert rows(tmp_path, "select count(*) from inflight") == [(0,)]


def test_equal_seeds_draw_equal_cases(tmp_path: Path):
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        run(tmp_path / name, seed=seed)
    a, b, c = (rows(tmp_path / name, "select digest from outcomes order by number") for name in "abc")
    assert a == b != c


def test_a_shard_that_is_done_is_done(tmp_path: Path):
    first = run(tmp_path)
    again = run(tmp_path)
    assert again.counts == first.counts
    assert ShardStore(tmp_path / "shard-00000.sqlite").result() == again


def test_seconds_end_a_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    result = run(tmp_path, max_cases=None, seconds=50)
    assert 0 < result.counts.executed <= 50


def test_a_stop_file_ends_a_shard_unfinished(tmp_path: Path, fake: type[FakePool]):
    def stop_at(case: Case) -> str:
        if len(seen) == 7:
            (tmp_path / "stop").touch()
        seen.append(case)
        return ""

    seen: list[Case] = []
    fake.failing = staticmethod(stop_at)
    result = run(tmp_path)
    assert result.stopped and result.counts.executed == 8
    store = ShardStore(tmp_path / "shard-00000.sqlite")
    assert store.result() is None
    store.close()
    (tmp_path / "stop").unlink()
    assert run(tmp_path).counts.executed == 30


def test_refused_cases_are_counted_apart_and_do_not_stop_the_shard(tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(refuse)
    result = run(tmp_path)
    assert (result.counts.executed, result.counts.refused, result.counts.agree) == (30, 30, 0)
    assert result.reasons == {"refused on purpose": 30}
    assert result.error == ""


def test_a_pool_that_cannot_start_is_an_error_in_the_result(tmp_path: Path, fake: type[FakePool]):
    asked: list[Case] = []

    def broken(case: Case) -> str:
        asked.append(case)
        raise NoWorker("no worker became ready")

    fake.failing = staticmethod(broken)
    result = run(tmp_path)
    assert result.error == "no worker became ready; run `tridiff doctor`"
    assert len(asked) == 1 and result.counts.refused == result.counts.executed == 0
    fake.failing = staticmethod(lambda case: "")
    again = run(tmp_path)
    assert again.counts.agree == 30 and again.error == ""
    first = rows(tmp_path, "select digest from outcomes where number = 1")
    assert first == [(asked[0].digest,)], "the case for which there was no worker is the first to be judged"


def test_an_error_of_the_harness_is_none_of_the_case(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    """It comes once and not again: Hypothesis would try the case a second time and call it flaky."""
    calls = itertools.count()

    def once(case: Case) -> str:
        if next(calls) == 4:
            raise ValueError("a bug in the harness")
        return ""

    fake.failing = staticmethod(once)
    result = run(tmp_path)
    assert result.error == "ValueError: a bug in the harness" and result.counts.executed == 4


def test_a_strategy_that_does_not_draw_the_same_twice_is_an_error(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    target, turns = shard.find("triton.vector_add"), itertools.count()
    fake.failing = beyond(1)
    moody = target.draw.cases(Limits(elements=64, rows=8)).flatmap(
        lambda case: st.just(case) if next(turns) % 2 else st.integers(0, 2 + next(turns)).map(lambda _: case))
    draw = dataclasses.replace(target.draw, cases=lambda limits: moody)
    monkeypatch.setattr(shard, "find", lambda name: dataclasses.replace(target, draw=draw))
    assert "does not draw the same case twice" in run(tmp_path).error


def test_a_bad_line_now_and_then_moves_no_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Every 50th answer has nonsense before it: its case is not checked, and every other has its own outcome."""
    answers = itertools.count(1)

    def speech(connection: socket.socket, request: protocol.Run) -> None:
        verdict = Verdict.AGREE if int(request.case.digest, 16) % 5 else Verdict.NOT_CHECKED
        bad = b"\x00 garbage\n" if disturbed and next(answers) % 50 == 0 else b""
        connection.sendall(bad + done(request, verdict=verdict))

    class Forks(FakeForks):
        always = True

    Forks.speech = staticmethod(speech)
    found = {}
    for disturbed in (False, True):
        monkeypatch.setattr(shard, "_pools", {})
        monkeypatch.setattr(shard, "Pool", lambda options: Pool(options, start=Forks))
        for index in range(3):
            result = run(tmp_path / str(disturbed), index=index, seed=index, max_cases=130)
            assert result.error == "" and result.counts.executed == 130
        found[disturbed] = [row for index in range(3) for row in rows(
            tmp_path / str(disturbed), "select digest, verdict, reason from outcomes order by number", index)]
        shard.close_pools()
    clean, other = found[False], found[True]
    assert [row[0] for row in clean] == [row[0] for row in other] and len(clean) == 390
    assert [place for place in range(390) if clean[place] != other[place]] == list(range(49, 390, 50))
    assert all("broke the protocol" in other[place][2] for place in range(49, 390, 50))


# -- findings --

def beyond(least: int) -> object:
    return staticmethod(lambda case: "value" if case.sizes["rows"] >= least else "")


def test_a_finding_is_shrunk_confirmed_and_written_once(tmp_path: Path, fake: type[FakePool]):
    fake.failing = beyond(5)
    result = run(tmp_path, max_cases=100)
    by_kind = Counter(entry.signature.key for entry in result.findings)
    assert by_kind and set(by_kind.values()) == {1}
    for entry in result.findings:
        assert entry.case.sizes == {"rows": 5}
        assert (entry.reproduced, entry.status) == ("5/5", "stable")
        assert entry.expected[0].verdict is Verdict.DISAGREE
        assert (entry.expected[0].triton, entry.expected[0].backend) == ("3.9.0", "interpreter")
    assert {p.stem for p in (tmp_path / "findings").glob("*.json")} == {e.id for e in result.findings}
    assert result.counts.executed == 100, "runs made to shrink do not use up the budget"
    assert result.counts.shrink_runs > 0
    assert result.counts.disagree > len(result.findings), "later cases of a finding are counted"


def test_findings_are_told_apart_by_signature(tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(lambda case: ("", "odd", "even")[min(case.sizes["rows"], 2 - case.sizes["rows"] % 2)])
    found = {(e.signature.kind, e.signature.about): e.case.sizes["rows"] for e in run(tmp_path, max_cases=200).findings}
    assert {kind for kind, _ in found} == {"even", "odd"}
    assert all(rows == (2 if kind == "even" else 1) for (kind, _), rows in found.items())


def test_known_findings_are_counted_and_not_shrunk(tmp_path: Path, fake: type[FakePool]):
    fake.failing = beyond(1)
    keys = tuple(finding_of(e.signature) for e in run(tmp_path / "first", max_cases=100).findings)
    result = run(tmp_path / "second", max_cases=100, known=keys)
    assert result.findings == () and result.counts.shrink_runs == 0
    # Cases without a row have nothing that could fail.
    assert sum(result.known_seen.values()) == result.counts.disagree == 100 - result.counts.agree > 80
    assert set(result.known_seen) <= set(keys)


def test_two_shards_of_a_campaign_share_a_finding(tmp_path: Path, fake: type[FakePool]):
    fake.failing = beyond(1)
    first, second = (run(tmp_path, index=index, seed=index, max_cases=100) for index in (0, 1))
    assert first.findings
    claimed = {e.id for e in first.findings}
    assert not claimed & {e.id for e in second.findings}


@each("failures, status", [(5, "stable"), (3, "flaky"), (1, "flaky")])
def test_a_result_that_comes_and_goes_is_labelled(tmp_path: Path, fake: type[FakePool], failures: int, status: str,
                                                  monkeypatch: pytest.MonkeyPatch):
    """Confirmations fail k of 5 times; up to then every run fails."""
    fake.failing = beyond(1)
    confirmations = itertools.count()
    execute = Recorder.execute

    def watched(self: Recorder, case: Case, phase: str, **limits: object) -> Outcome | None:
        outcome = execute(self, case, phase, **limits)
        if phase == "confirm" and outcome is not None and next(confirmations) % 5 >= failures:
            return outcome_of(case, Verdict.AGREE)
        return outcome

    monkeypatch.setattr(Recorder, "execute", watched)
    for entry in run(tmp_path).findings:
        assert (entry.reproduced, entry.status) == (f"{failures}/5", status)


def test_a_shrunk_case_that_never_fails_again_gives_way_to_the_original(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    fake.failing = beyond(3)
    execute = Recorder.execute

    def watched(self: Recorder, case: Case, phase: str, **limits: object) -> Outcome | None:
        outcome = execute(self, case, phase, **limits)
        return None if phase == "confirm" else outcome

    monkeypatch.setattr(Recorder, "execute", watched)
    entries = run(tmp_path).findings
    assert entries and {e.reproduced for e in entries} == {"0/5"} and {e.status for e in entries} == {"flaky"}
    recorded = {digest for (digest,) in rows(tmp_path, "select digest from outcomes where phase in ('fuzz', 'shrink')")}
    assert all(e.case.digest in recorded for e in entries)


def test_a_target_that_fails_half_the_time_ends_normally(tmp_path: Path, fake: type[FakePool]):
    coin = itertools.cycle([True, False, False, True, True, False])
    fake.failing = staticmethod(lambda case: "value" if next(coin) else "")
    result = run(tmp_path, max_cases=60)
    assert result.error == "" and result.counts.executed == 60
    assert result.findings and all(e.status == "flaky" for e in result.findings)
    assert all(0 <= int(e.reproduced[0]) < 5 for e in result.findings)


def test_without_shrinking_the_drawn_case_is_the_finding(tmp_path: Path, fake: type[FakePool]):
    fake.failing = beyond(1)
    result = run(tmp_path, shrink=False)
    assert result.findings
    assert result.counts.shrink_runs == 5 * len(result.findings), "only confirmations"


def test_shrinking_that_is_out_of_runs_draws_nothing_more(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    """Programs take milliseconds to draw: a shrinker that is only told "no" would go on for minutes."""
    drawn = []
    target = shard.find("triton.vector_add")

    def counted(case: Case) -> Case:
        drawn.append(case.digest)
        return case

    draw = dataclasses.replace(target.draw, cases=lambda limits: target.draw.cases(limits).map(counted))
    monkeypatch.setattr(shard, "find", lambda name: dataclasses.replace(target, draw=draw))
    monkeypatch.setattr(hunt, "SHRINK_RUNS", 0)
    fake.failing = beyond(9)
    result = run(tmp_path, max_cases=10)
    assert result.findings and {entry.reproduced for entry in result.findings} == {"5/5"}
    assert len(drawn) <= 10 + 5 * len(result.findings)


# -- stores --

def outcome(case: Case, verdict: Verdict = Verdict.AGREE, reason: str = "") -> Outcome:
    signature = Signature(target=case.target, subject="own", verdict=verdict, kind="k") if verdict.failed else None
    return outcome_of(case, verdict, signature, reason=reason, rows=RowCounts(agree=4), launches=2, compiled_kernels=1)


def test_a_store_remembers_the_case_in_flight(tmp_path: Path):
    path = tmp_path / "s.sqlite"
    store = ShardStore(path)
    assert store.inflight() == () and store.next_round() == 0
    store.begin(addition(rows=3), round_number=2)
    store.close()
    again = ShardStore(path)
    assert again.inflight() == (addition(rows=3),) and again.next_round() == 3
    again.end(outcome(addition(rows=3)), addition(rows=3), phase="fuzz", round_number=3)
    assert again.inflight() == () and again.next_round() == 4
    again.close()


def test_counts_keep_phases_and_verdicts_apart(tmp_path: Path):
    store = ShardStore(tmp_path / "s.sqlite")
    case = addition()
    for verdict in Verdict:
        store.end(outcome(case, verdict, "why"), case, phase="fuzz", round_number=0)
    store.end(outcome(case, Verdict.CRASH), case, phase="shrink", round_number=0)
    store.end(outcome(case), case, phase="confirm", round_number=0)
    store.refused(round_number=0, reason="too large")
    counts = store.counts()
    assert counts.executed == 7 and counts.shrink_runs == 2
    assert [getattr(counts, v.value) for v in Verdict] == [1] * 6 and counts.refused == 1
    assert (counts.row_inputs, counts.launches, counts.compiled_kernels) == (24, 16, 8)
    assert store.reasons() == {"why": 1, "too large": 1}
    assert len(store.signatures()) == 4
    store.close()


def test_a_full_disk_is_one_clear_line(tmp_path: Path):
    store = ShardStore(tmp_path / "s.sqlite")
    store._db.execute("pragma max_page_count = 8")
    case = addition()
    with pytest.raises(TridiffError) as failure:
        for _ in range(10_000):
            store.begin(case, round_number=0)
            store.end(outcome(case, Verdict.NOT_CHECKED, "x" * 200), case, phase="fuzz", round_number=0)
    assert str(failure.value) == (f"{tmp_path / 's.sqlite'} cannot be written (database or disk is full); "
                                  f"free disk space, then run `tridiff fuzz --resume --id {tmp_path.name}`")
    store.close()


def test_a_store_that_is_no_database_is_one_clear_line(tmp_path: Path):
    (tmp_path / "s.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(TridiffError, match=r"cannot be written \(file is not a database\); free disk space or choose"):
        ShardStore(tmp_path / "s.sqlite")
    with pytest.raises(TridiffError, match="unable to open database file"):
        ShardStore(tmp_path / "missing" / "s.sqlite")


# -- plans --

def options(**changes: object) -> CampaignOptions:
    return campaign_options(**{"targets": ("triton.*",), "backends": ("interpreter",), "workers": 2, **changes})


def test_every_combination_gets_the_same_share():
    shards = plan_shards(options(targets=("helpers.m*",), seconds=600, workers=4), known=("k",))
    shares: Counter[tuple[str, str]] = Counter()
    for one in shards:
        shares[one.target, one.subject] += 1
    assert {subject for _, subject in shares} == {"own", "inductor"}
    assert max(shares.values()) - min(shares.values()) <= 1
    assert len({one.seed for one in shards}) == len(shards)
    assert [one.index for one in shards] == list(range(len(shards)))
    assert all(one.known == ("k",) for one in shards)
    # `workers` shards at a time fill the budget.
    assert sum(one.seconds for one in shards) == pytest.approx(4 * 600)


def test_no_shard_is_longer_than_two_minutes():
    assert max(one.seconds for one in plan_shards(options(seconds=8 * 3600.0))) <= 120


@each("workers, cases, targets", [(1, 10, "triton.vector_add"), (2, 10, "triton.vector_add"),
                                                     (16, 100, "triton.*"), (2, 1000, "triton.*")])
def test_a_number_of_cases_is_met(workers: int, cases: int, targets: str):
    shards = plan_shards(options(workers=workers, max_cases=cases, targets=(targets,)))
    total = sum(one.max_cases or 0 for one in shards)
    assert cases <= total < cases + len(shards)
    assert len({one.target for one in shards}) == len({one.target for one in plan_shards(
        options(targets=(targets,)))})


def test_compile_rotates_through_the_architectures():
    shards = plan_shards(options(backends=("compile",), targets=("triton.vector_add",), seconds=60 * 16))
    assert {one.backend for one in shards} == {f"compile:{arch}" for arch in ARCHITECTURES}
    assert {one.backend for one in plan_shards(options(backends=("compile:sm_90",)))} == {"compile:sm_90"}


def test_shards_are_dealt_to_all_gpus():
    shards = plan_shards(options(backends=("cuda",), devices=(0, 2, 5), workers=6))
    assert Counter(one.device for one in shards).keys() == {0, 2, 5}


@each("changes, message", [
    ({"targets": ("nothing",)}, "unknown target 'nothing'"),
    ({"subjects": ("nobody",)}, "triton.floordiv has no subject 'nobody'"),
    ({"subjects": ("own+fault:nothing",)}, "triton.floordiv has no fault 'nothing'")])
def test_what_does_not_exist_is_refused(changes: dict[str, object], message: str):
    assert refusal(lambda: plan_shards(options(**changes))).startswith(message)


def test_a_fault_that_only_some_targets_have_runs_on_those():
    shards = plan_shards(options(subjects=("own+fault:tail_dropped",)))
    assert {one.target for one in shards} == {"triton.vector_add"}


def test_what_hypothesis_thinks_of_long_names_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    drawn, said = avoiding.cases, itertools.count()

    def warning(case: Case) -> Case:
        next(said)
        repr(st.tuples(st.just("x" * 40_000), st.integers()))
        return case

    monkeypatch.setattr(avoiding, "cases", lambda *args, **more: drawn(*args, **more).map(warning))
    with warnings.catch_warnings():
        warnings.simplefilter("error", HypothesisWarning)
        assert run(tmp_path).counts.executed and next(said)
