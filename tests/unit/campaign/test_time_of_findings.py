"""Shrinking keeps to its time: what does not fit is done in the end, and a case that does not end is not run again
and again."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, drivers_here, shard_spec
from tests.support.cases import addition
from tests.support.fake_pool import FakePool, stand_in
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.campaign import budget, clock, run, shard
from tridiff.fuzz.campaign.clock import Clock
from tridiff.fuzz.campaign.early import EACH, Early
from tridiff.fuzz.campaign.findings import Unfinished, keep, unfinished
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, ShardSpec
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.records import Case, Outcome, Signature, Verdict
from tridiff.fuzz.workers.pool import TimeUp

each = pytest.mark.parametrize
SHARD = shard_spec(seconds=100.0, overtime=110.0)
AMPLE = {"seconds": 10_000.0, "overtime": 11_000.0, "shrink_seconds": 900.0}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


class HangingPool(FakePool):
    """Compiling takes `compiling(case)` seconds, any case a tenth of one more. The limits of each rerun are kept."""

    now: list[float]
    limits: list[float]

    @staticmethod
    def compiling(case: Case) -> float:
        return 0.0

    def execute(self, case: Case, subject: str, *, compile_limit: float | None = None, **rest: object) -> Outcome:
        limit = compile_limit or self.options.compile_limit
        took = type(self).compiling(case)
        self.now[0] += 0.1 + min(took, limit)
        outcome = super().execute(case, subject)
        if took < limit:
            return outcome
        self.limits.append(limit)
        return replace(outcome, verdict=Verdict.HANG, reason="no answer", failing_rows=(), signature=Signature(
            target=case.target, subject=subject, verdict=Verdict.HANG, kind="compile"))


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> type[HangingPool]:
    class Pool(HangingPool):
        pass

    Pool.now, Pool.limits = now, []
    stand_in(monkeypatch, Pool)
    return Pool


def hang(state: Path, pool: type[HangingPool], least: int, **changes: object) -> ShardResult:
    """A shard on cases of which the compiler does not end on those with at least so many rows."""
    pool.compiling = staticmethod(lambda case: 1e9 if case.sizes["rows"] >= least else 0.0)
    return shard.run_shard(replace(SHARD, **changes), str(state))


def test_a_compiler_that_does_not_end_is_not_asked_again_when_there_is_no_time(
        tmp_path: Path, hanging: type[HangingPool], now: list[float]):
    result = hang(tmp_path, hanging, 3)
    assert {(entry.reproduced, entry.status) for entry in result.findings} == {("0/0", "flaky")}
    assert now[0] - 1000 <= 110 + 90
    assert hanging.limits.count(90.0) <= 2, "only generated cases have the whole limit"
    assert len(unfinished(tmp_path)) == len(result.findings), "they may be made smaller later"


def test_with_time_it_is_made_smaller_under_a_smaller_limit_and_confirmed_under_the_whole_one(
        tmp_path: Path, hanging: type[HangingPool]):
    result = hang(tmp_path, hanging, 3, **AMPLE, max_cases=12)
    assert {(entry.case.sizes["rows"], entry.reproduced) for entry in result.findings} == {(3, "1/1")}
    assert 20.0 in hanging.limits and hanging.limits[-1] == 90.0
    assert unfinished(tmp_path) == []


def test_a_case_that_is_slow_and_no_more_gives_way_to_the_one_that_was_drawn(
        tmp_path: Path, hanging: type[HangingPool]):
    hanging.compiling = staticmethod(
        lambda case: (0.0, 40.0, 1e9)[(case.sizes["rows"] >= 3) + (case.sizes["rows"] >= 7)])
    result = shard.run_shard(replace(SHARD, **AMPLE, max_cases=40), str(tmp_path))
    assert result.findings and all(entry.case.sizes["rows"] >= 7 for entry in result.findings)
    assert {entry.reproduced for entry in result.findings} == {"1/1"}


def test_shrinking_takes_no_more_than_its_share_of_a_shard(
        tmp_path: Path, hanging: type[HangingPool], now: list[float]):
    """A failure that moves on with every run never gets small; every run takes 0.1 s."""
    hanging.failing = staticmethod(lambda case: f"k{int(case.digest, 16) % 7}" if case.sizes["rows"] else "")
    result = shard.run_shard(SHARD, str(tmp_path))
    assert result.findings
    spent = 0.1 * result.counts.shrink_runs
    assert spent <= budget.SHRINK_SHARE * SHARD.seconds + 1
    assert now[0] - 1000 <= SHARD.seconds + 1


@each("left, there, seconds", [(300.0, 0, 30.0), (300.0, 4, 15.0), (28800.0, 0, 60.0),
                                                  (28800.0, 40, 60.0 / 11), (20.0, 0, 5.0)])
def test_a_finding_gets_part_of_what_is_left_of_a_campaign_as_long_as_there_are_few(
        tmp_path: Path, left: float, there: int, seconds: float, now: list[float]):
    (tmp_path / "findings").mkdir()
    for number in range(there):
        (tmp_path / "findings" / f"{number}.json").touch()
    one = budget.Budget(replace(SHARD, seconds=8.0, left=left, overtime=left + 5), tmp_path, spent_before=0.0,
                        compile_limit=90.0)
    one.grant(Signature(target="t", subject="own", verdict=Verdict.DISAGREE, kind="value"))
    assert one.granted() == pytest.approx(seconds, rel=0.01)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    """Shards of a campaign run in this process on a pool that finds every case with 5 rows or more wrong."""
    class Pool(FakePool):
        failing = staticmethod(lambda case: "value" if case.sizes["rows"] >= 5 else "")

    monkeypatch.setattr(run, "drivers", drivers_here)
    stand_in(monkeypatch, Pool)
    monkeypatch.setattr(budget, "SHRINK_SHARE", 0.0)
    monkeypatch.setattr(budget, "SHORTEST_SHRINK", 0.0)
    monkeypatch.setattr(budget, "LEFT_SHARE", 0.0)
    return Pool


def campaign(root: Path, *, known: tuple[str, ...] = ()) -> run.Campaign:
    options = campaign_options(seconds=20.0, targets=("triton.vector_add",), subjects=("own",),
                               backends=("interpreter",), seed=1)
    shards = tuple(replace(one, rows=16, elements=64, most_findings=1) for one in plan_shards(options, known=known))
    return run.Campaign.start(Plan(id="one", options=options, shards=shards), root=root)


def test_what_shards_have_no_time_for_is_shrunk_in_the_end(tmp_path: Path, here: type[FakePool]):
    one = campaign(tmp_path)
    summary = one.run(lambda progress: None)
    assert summary.counts.shrink_runs == sum(line.counts.shrink_runs for line in summary.by_target) > 0
    assert one.findings() and unfinished(one.state) == []
    assert {(entry.case.sizes["rows"], entry.reproduced) for entry in one.findings()} == {(5, "5/5")}


def with_its_shards_run(one: run.Campaign) -> run.Campaign:
    for spec in one.plan.shards:
        shard.run_shard(Clock([spec], one.plan.options).allot(spec, 1), str(one.state))
    return one


def test_what_there_was_no_time_to_ask_about_is_not_new(tmp_path: Path, here: type[FakePool],
                                                        monkeypatch: pytest.MonkeyPatch):
    def late(self: Attribution, case: Case, outcome: Outcome) -> tuple[str, ...]:
        raise TimeUp

    monkeypatch.setattr(Attribution, "issues", late)
    one = with_its_shards_run(campaign(tmp_path))
    assert one.findings() == [] and len(one.doubtful()) == 1


@each("answer, found", [("known", 0), ("another", 1), ("", 1)])
def test_it_is_asked_about_in_the_end(tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch,
                                      answer: str, found: int):
    late = True

    def issues(self: Attribution, case: Case, outcome: Outcome) -> tuple[str, ...]:
        if late:
            raise TimeUp
        return (answer,) if answer else ()

    monkeypatch.setattr(Attribution, "issues", issues)
    one = with_its_shards_run(campaign(tmp_path, known=("issue known",)))
    assert len(one.doubtful()) == 1
    late = False
    shard.finish_finding(one.plan.shards[0], str(one.state), unfinished(one.state)[0], 60.0)
    assert one.doubtful() == [] and unfinished(one.state) == []
    assert [(entry.case.sizes["rows"], entry.reproduced) for entry in one.findings()] == [(5, "5/5")] * found
    assert len(list((one.state / "claims").glob("*"))) == found


def test_a_campaign_that_is_killed_before_its_end_keeps_its_findings_and_shrinks_them_when_resumed(
        tmp_path: Path, here: type[FakePool]):
    one = with_its_shards_run(campaign(tmp_path))
    assert {entry.reproduced for entry in one.findings()} == {"1/1"} and unfinished(one.state)
    names = tuple(entry.id for entry in one.findings())
    one.close()
    again = run.Campaign.resume("", root=tmp_path)
    again.run(lambda progress: None)
    assert tuple(entry.id for entry in again.findings()) == names
    assert {entry.case.sizes["rows"] for entry in again.findings()} == {5}


class Clocked:
    """Shards and findings of a campaign that take time on paper: of `findings`, each is followed up in a second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, now: list[float], root: Path, *, findings: int,
                 prefix: str = "", workers: int = 1) -> None:
        options = campaign_options(seconds=600.0, targets=("triton.vector_add",), subjects=("own",),
                                   backends=("interpreter",), by_yield=True, workers=workers)
        self.now, self.granted, self.followed = now, list[float](), list[tuple[float, str, float]]()
        self.campaign = run.Campaign.start(Plan(id="one", options=options, shards=plan_shards(options)),
                                           root=root)
        self.drawn = list[tuple[float, float]]()
        """When each shard began and how long it drew."""
        for number in range(findings):
            kept = self.campaign.state / "unfinished"
            kept.mkdir(exist_ok=True)
            (kept / f"{prefix}{number}.json").touch()
        monkeypatch.setattr(run, "run_shard", self.shard)
        monkeypatch.setattr(run, "finish_finding", self.finish)
        monkeypatch.setattr(run, "unfinished", lambda state: [
            Unfinished(shard=0, signature=wrong_in(addition(), path.stem), case=None, outcome=None, finding=path.stem)
            for path in sorted((state / "unfinished").glob("*.json"))])

    def shard(self, spec: ShardSpec, directory: str) -> ShardResult:
        self.drawn.append((self.now[0], spec.seconds))
        self.now[0] += spec.seconds
        return ShardResult(spec=spec, counts=Counts(executed=1, agree=1), cells={f"{spec.index}": 1},
                           seconds=spec.seconds)

    def finish(self, spec: ShardSpec, directory: str, one: Unfinished, seconds: float) -> None:
        self.granted.append(seconds)
        self.followed.append((self.now[0], one.finding, seconds))
        self.now[0] += 1.0


def test_what_a_candidate_repairs_takes_no_time_from_drawing_and_comes_last(
        tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch, now: list[float]):
    one = Clocked(monkeypatch, now, tmp_path, findings=3, prefix="fixed--value-")
    began = now[0]
    one.campaign.run(lambda progress: None)
    last, seconds = one.drawn[-1]
    assert last + seconds == pytest.approx(began + 600, abs=1.0) and one.granted[0] <= 2 * clock.GRACE
    for kind in ("fixed: value", "regression: value"):
        signature = wrong_in(addition(), "out", kind=kind)
        keep(tmp_path, Unfinished(shard=0, signature=signature, case=addition(), outcome=outcome_of(
            addition(), Verdict.DISAGREE, signature)))
    assert [found.signature.kind for found in unfinished(tmp_path)] == ["regression: value", "fixed: value"]


def test_time_that_findings_do_not_use_is_for_those_behind_them_and_then_for_drawing(
        tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch, now: list[float]):
    one = Clocked(monkeypatch, now, tmp_path, findings=3)
    began = now[0]
    one.campaign.run(lambda progress: None)
    kept, left = 3 * clock.EACH, 600 + clock.GRACE
    first = one.granted[0]
    assert first == pytest.approx((kept + clock.GRACE) / 3, rel=0.2), "all that is kept, shared"
    assert one.granted[:3] == pytest.approx([first, (3 * first - 1) / 2, 3 * first - 2])
    finished = one.drawn.index(next(pair for pair in one.drawn if pair[0] > began + 600 - kept))
    assert sum(seconds for _, seconds in one.drawn[finished:]) > kept - 3 - run.WORTH - 1, "and then it drew on"
    assert began + 600 - run.WORTH <= now[0] <= began + left


def test_findings_are_taken_up_while_others_draw_where_workers_are_enough(
        tmp_path: Path, here: type[FakePool], monkeypatch: pytest.MonkeyPatch, now: list[float]):
    """Two of eight workers at most, each finding once before any is again, and none whose shard has not ended."""
    one = Clocked(monkeypatch, now, tmp_path, findings=3, workers=8)
    one.campaign.run(lambda progress: None)
    drawing = [(moment, name) for moment, name, seconds in one.followed if seconds == EACH]
    assert {name for _, name in drawing[:3]} == {"0", "1", "2"} and len(drawing) <= 6
    assert sum(one.drawn[0]) <= drawing[0][0] < drawing[-1][0] < one.drawn[-1][0]


@each("changes", [{"workers": 3}, {"shrink": False}, {"by_yield": False}, {"builds": ("a", "b")}])
def test_where_they_are_few_or_time_is_short_findings_wait_for_the_end(changes: dict[str, object]):
    options = campaign_options(**{"seconds": 600.0, "by_yield": True, "workers": 8} | changes)
    waiting = Unfinished(shard=0, signature=wrong_in(addition(), "out"), case=addition(), outcome=outcome_of(
        addition(), Verdict.DISAGREE, wrong_in(addition(), "out")))
    assert Early(options).next([waiting], (), 300.0) is None
    usual = Early(campaign_options(seconds=600.0, by_yield=True, workers=8))
    assert usual.next([waiting], {0}, 300.0) is None and usual.next([waiting], (), 4.0) is None
    assert usual.next([waiting], (), 9.0) == (waiting, 9.0) and usual.next([waiting], (), 9.0) is None
    usual.ended(waiting)
    assert usual.next([waiting], (), 300.0) == (waiting, EACH)
