"""Worker time goes where it brings new cells and findings, and everything else has its floor."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.fake_pool import FakePool
from tests.unit.campaign.test_endings import campaign, finish, here  # noqa: F401
from tridiff.fuzz.campaign import deal, run
from tridiff.fuzz.campaign.deal import Deal, dealt
from tridiff.fuzz.campaign.homes import Homes, at_home
from tridiff.fuzz.campaign.plan import BESIDE_GPU, FLOOR, OF_ISSUES, plan_shards, weight
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.yields import Yields, combination
from tridiff.fuzz.registry import find


def options(**changes: object) -> object:
    return campaign_options(**{"targets": ("triton.*",), "subjects": ("own",), "backends": ("interpreter",),
                               "workers": 2, "by_yield": True, "seconds": 600.0, "seed": 5, **changes})


def result(spec: ShardSpec, cells: dict[str, int], **changes: object) -> ShardResult:
    return ShardResult(**{"spec": spec, "counts": Counts(executed=9, agree=9), "cells": cells,
                          "seconds": spec.seconds, **changes})


class Night:
    """A campaign on paper: every shard of the rich target brings ten new cells, others bring two in all."""

    def __init__(self, state: Path, **changes: object) -> None:
        state.mkdir(exist_ok=True)
        chosen = options(**changes)
        self.state, self.numbers = state, itertools.count()
        self.plan = Plan(id="one", options=chosen, shards=plan_shards(chosen, known=("k",)))
        self.rich = self.plan.shards[0].target

    def deal(self, results: tuple[ShardResult, ...] = ()) -> Deal:
        done = {one.spec.index for one in results}
        every = (*self.plan.shards, *dealt(self.state))
        return Deal(self.plan, self.state, [spec for spec in every if spec.index not in done], results)

    def ran(self, spec: ShardSpec) -> ShardResult:
        number = next(self.numbers)
        fresh = {f"cell {number} {k}": 1 for k in range(10)} if spec.target == self.rich else {"a": 1, "b": 1}
        return result(spec, fresh)

    def run(self, one: Deal, shards: int) -> list[ShardResult]:
        found = []
        for _ in range(shards):
            found.append(self.ran(one.popleft()))
            one.ended(found[-1])
        return found


def test_every_combination_comes_up_before_any_has_more(tmp_path: Path):
    night = Night(tmp_path)
    combinations = {combination(spec) for spec in night.plan.shards}
    one = night.deal()
    first = [combination(one.popleft()) for _ in combinations]
    assert len(combinations) > 2 and set(first) == combinations


def test_a_turn_is_owed_to_every_combination_and_to_listed_cases_and_to_nothing_more(tmp_path: Path):
    night = Night(tmp_path, seconds=28800.0)
    combinations = {combination(spec) for spec in night.plan.shards}
    one = night.deal()
    for _ in combinations:
        assert one.owing()
        one.popleft()
    assert one.waiting() and not one.owing(), "what comes up again need not, where time is kept for something else"
    one.append(shard_spec(index=10**6, max_cases=3))
    assert one.owing()


def test_few_processes_run_what_torch_compiles_and_it_has_its_share_all_the_same(tmp_path: Path):
    chosen = {"targets": ("triton.*", "helpers.*", "inductor.*"), "subjects": (), "workers": 4}
    night = Night(tmp_path, **chosen)
    combinations = {combination(spec) for spec in night.plan.shards}
    homes = Homes(night.plan.options, night.plan.shards)
    assert homes.number == 1 and 0 < sum(map(at_home, combinations)) < len(combinations) / 4
    one, first = night.deal(), []
    for turn in range(len(combinations)):
        spec = one.popleft(turn % 4)
        first.append((turn % 4, combination(spec)))
        one.ended(result(spec, {}))
    assert {name for _, name in first} == combinations, "each comes up once before any comes up again"
    assert {place for place, name in first if at_home(name)} == {0}
    assert [at_home(name) for place, name in first if place == 0][:8] == [True] * 8, "before anything else"
    places: Counter[tuple[int, bool]] = Counter()
    every: Counter[bool] = Counter()
    for turn in range(400):
        spec = one.popleft(turn % 4)
        one.ended(result(spec, {}))
        if spec.index >= len(night.plan.shards):
            places[turn % 4, at_home(combination(spec))] += 1
            every[at_home(combination(spec))] += 1
    share = sum(weight(find(name)) for name, subject, _ in combinations if at_home((name, subject, ""))) / sum(
        weight(find(name)) for name, _, _ in combinations)
    assert every[True] / every.total() == pytest.approx(share, abs=0.06)
    assert {place for place, home in places if home} == {0}


def test_what_torch_compiles_takes_more_processes_where_it_brings_more():
    options_ = options(targets=("triton.*", "inductor.*"), subjects=(), workers=4)
    homes = Homes(options_, plan_shards(options_))
    assert homes.number == 2
    for share in (0.1, 0.5, 0.8):
        taken = sum(homes.chooses(place, share, number) for place in range(4) for number in range(2000))
        assert taken / 8000 == pytest.approx(share, abs=0.02)
    assert not any(homes.chooses(3, 0.5, number) for number in range(2000))
    assert Homes(options_, [spec for spec in plan_shards(options_) if at_home(combination(spec))]).alike()


def test_time_goes_where_it_brings_most_and_the_floor_to_all(tmp_path: Path):
    night = Night(tmp_path)
    seconds: Counter[str] = Counter()
    for one in night.run(night.deal(), 40):
        seconds[one.spec.target] += one.spec.seconds
    total, targets = sum(seconds.values()), len(seconds)
    assert seconds[night.rich] > (1 - FLOOR) * 0.9 * total
    poor = [seconds[name] for name in seconds if name != night.rich]
    assert min(poor) > FLOOR * total / targets * 0.8, "the floor of each"


def test_a_process_stays_with_one_gpu_and_none_is_left_out(tmp_path: Path):
    def devices(folder: str, place: int, **changes: object) -> set[int]:
        one = Night(tmp_path / folder, backends=("cuda",), devices=(0, 1, 3), **changes).deal()
        return {one.popleft(place).device for _ in range(12)}

    assert [devices(f"place {place}", place, workers=4) for place in range(4)] == [{0}, {1}, {3}, {0}]
    assert devices("few", 0, workers=2) == {0, 1, 3}, "fewer processes than GPUs take turns"


def test_a_gates_interpreter_has_less_than_its_gpu_where_both_bring_as_much(tmp_path: Path):
    night = Night(tmp_path, targets=("triton.mod",), backends=("cuda", "interpreter"), builds=("/a", "/b"))
    seconds: Counter[str] = Counter()
    for one in night.run(night.deal(), 400):
        seconds[one.spec.backend] += one.spec.seconds
    share = seconds["interpreter"] / sum(seconds.values())
    assert share == pytest.approx(BESIDE_GPU / (1 + BESIDE_GPU), abs=0.05)


def test_a_target_that_brings_nothing_new_any_more_falls_back(tmp_path: Path):
    spec = plan_shards(options())[0]
    yields = Yields()
    yields.add(result(spec, {"a": 1, "b": 1}, seconds=1.0))
    before = yields.rates()[combination(spec)]
    for _ in range(4):
        yields.add(result(spec, {"a": 7, "b": 9}, seconds=1.0))
    assert before == 2.0 and yields.rates()[combination(spec)] < 0.1


def test_a_new_finding_is_worth_many_cells(tmp_path: Path):
    one, other = plan_shards(options())[:2]
    yields = Yields()
    yields.add(result(one, {}, findings=(None,)))
    yields.add(result(other, {"a": 1, "b": 1}))
    assert yields.rates()[combination(one)] == 15 * yields.rates()[combination(other)]


def test_the_same_cell_on_another_architecture_is_not_new(tmp_path: Path):
    shards = plan_shards(options(backends=("compile",), targets=("triton.vector_add",)))
    yields = Yields()
    first, second = shards[0], next(spec for spec in shards if spec.backend != shards[0].backend)
    yields.add(result(first, {"a": 1}, seconds=1.0))
    yields.add(result(second, {"a": 1}, seconds=1.0))
    assert yields.rates() == {combination(first): 0.5 / 1.5}


def test_nothing_is_dealt_to_what_cannot_be_drawn_here(tmp_path: Path):
    night = Night(tmp_path)
    one = night.deal()
    for spec in night.plan.shards:
        one.ended(result(spec, {}, left_out="no such chip"))
    while one.waiting():
        one.popleft()
    assert len(one) == 0


def test_equal_seeds_and_results_deal_equal_shards_and_others_others(tmp_path: Path):
    def numbers(name: str, **changes: object) -> list[tuple[str, int]]:
        night = Night(tmp_path / name, **changes)
        return [(one.spec.target, one.spec.seed) for one in night.run(night.deal(), 60)]

    assert numbers("a") == numbers("b") != numbers("c", seed=6)


def test_a_campaign_that_is_resumed_goes_on_with_what_was_dealt(tmp_path: Path):
    night = Night(tmp_path)
    ran = night.run(night.deal(), 40)
    begun = night.deal(tuple(ran))
    again = [begun.popleft() for _ in range(3)]
    made = [spec for spec in again if spec.index >= len(night.plan.shards)]
    assert made, "some were dealt by yield"
    with open(tmp_path / deal.FILE, "ab") as file:
        file.write(b'{"index": 99')  # Killed while it was written.
    after = night.deal(tuple(ran))
    assert {spec.index for spec in made} <= {spec.index for spec in after.waiting()}
    fresh = night.run(after, 60)
    indices = [one.spec.index for one in (*ran, *fresh)]
    assert len(indices) == len(set(indices)), "no shard twice"
    assert {spec.index for spec in made} <= set(indices)
    assert all(one.spec.known == ("k",) for one in fresh)


def test_without_yield_there_are_the_shards_of_the_plan_and_no_others(tmp_path: Path):
    night = Night(tmp_path, by_yield=False, seconds=60.0)
    one = night.deal()
    got = [one.popleft() for _ in night.plan.shards]
    assert tuple(got) == night.plan.shards and len(one) == 0


@pytest.mark.parametrize("seconds, cycles", [(60.0, 1), (8 * 3600.0, 192)])
def test_the_floor_is_planned_and_no_shard_of_it_is_long(seconds: float, cycles: int):
    shards = plan_shards(options(seconds=seconds))
    number = len({combination(spec) for spec in shards})
    assert sum(spec.seconds for spec in shards) == pytest.approx(FLOOR * seconds * 2)
    assert len(shards) == cycles * number and max(spec.seconds for spec in shards) <= 30


def test_a_campaign_by_yield_counts_and_gathers_what_was_dealt(tmp_path: Path, here: type[FakePool]):  # noqa: F811
    here.pause = 0.01
    one = campaign(tmp_path, max_cases=None, seconds=3.0, targets=("triton.*",), by_yield=True)
    summary, finished = finish(one)
    made = dealt(one.state)
    assert finished and summary.exit_status == 0 and made
    assert summary.counts.executed == sum(line.counts.executed for line in summary.by_target)
    one.merge(tmp_path / "all.sqlite")
    database = run.sqlite3.connect(tmp_path / "all.sqlite")
    shards = {shard for (shard,) in database.execute("select distinct shard from outcomes")}
    database.close()
    assert shards & {spec.index for spec in made}


def test_what_is_drawn_for_known_issues_has_its_part_from_the_start_and_takes_none_from_the_floor(
        tmp_path: Path):
    night = Night(tmp_path / "with")
    floor, (like, *_) = night.plan.shards, night.plan.shards
    issues = tuple(replace(like, index=len(floor) + number, issue=f"one-{number}", seconds=5.0)
                   for number in range(60))
    night.plan = replace(night.plan, shards=(*floor, *issues))
    cycle = len({combination(spec) for spec in floor})
    dealt_there = [one.spec for one in night.run(night.deal(), cycle + 60)]
    assert not any(spec.issue for spec in dealt_there[:cycle]), "every combination comes first"
    seconds = Counter[str]()
    for spec in dealt_there:
        part = "issue" if spec.issue else "floor" if spec.index < len(floor) else "yield"
        seconds[part] += round(1000 * spec.seconds)
    assert seconds["issue"] / seconds.total() == pytest.approx(OF_ISSUES, abs=0.06)
    assert any(spec.index < len(floor) and not spec.issue for spec in dealt_there[cycle:])
    assert [spec.issue for spec in dealt_there if spec.issue] == [one.issue for one in issues][:sum(
        bool(spec.issue) for spec in dealt_there)]


def test_an_issue_of_which_no_case_failed_comes_again_in_what_the_others_left(tmp_path: Path):
    night = Night(tmp_path)
    floor, (like, *_) = night.plan.shards, night.plan.shards
    issues = [replace(like, index=len(floor) + number, issue=name, seconds=20.0)
              for number, name in enumerate(("shows", "shows", "hidden", "unlike"))]
    night.plan = replace(night.plan, shards=(*floor, *issues))
    one, results = night.deal(), []
    for _ in range(len(floor) + 30):
        spec = one.popleft()
        change = {"failed": 3, "seconds": 1.0} if spec.issue == "shows" else (
            {"counts": Counts()} if spec.issue == "unlike" else {})
        results.append(replace(night.ran(spec), **change))
        one.ended(results[-1])
    drawn = [one.spec for one in results if one.spec.issue]
    assert [spec.issue for spec in drawn[:4]] == ["shows", "shows", "hidden", "unlike"]
    assert {spec.issue for spec in drawn[4:]} == {"hidden"}
    assert len({spec.seed for spec in drawn[3:]}) == len(drawn[3:]) > 8
    seconds = Counter({True: 0.0, False: 0.0})
    for each in results:
        seconds[bool(each.spec.issue)] += each.seconds
    assert seconds[True] / seconds.total() == pytest.approx(OF_ISSUES, abs=0.08)
    # Whoever goes on with it later has the same before them.
    later, rest = night.deal(tuple(results)), [night.ran(one.popleft()).spec for _ in range(6)]
    assert [later.popleft() for _ in range(6)] == rest
