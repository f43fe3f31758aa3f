"""Draws are aimed at rows and element types that a campaign has reached too seldom, and are free otherwise."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import strategies as st

from tests.support.campaigns import campaign_options, shard_spec
from tests.support.draws import draws
from tests.support.fake_pool import FakePool, in_place_of_workers
from tests.support.outcomes import outcome_of
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.builds.changed import Change
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.deal import Deal, dealt
from tridiff.fuzz.campaign.lacking import BARREN, ENOUGH, GATE_CASES, HOPELESS, Lacking, left, missed
from tridiff.fuzz.campaign.outcomes import united
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.yields import combination
from tridiff.fuzz.coverage.record import WANTED_CASES
from tridiff.fuzz.interpreter.libdevice import stand_ins
from tridiff.fuzz.known import avoiding
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.language.aims import aims_of, beside_types, cell, parts, sampled, types, types_of
from tridiff.fuzz.language.cases import call_of, cells
from tridiff.fuzz.language.index import TOPICS, rows
from tridiff.fuzz.language.left_out import lacks_stand_in, left_out
from tridiff.fuzz.records import Case, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies.choice import noted
from tridiff.fuzz.target import Limits

LIMITS = Limits(elements=1 << 12, rows=1 << 8)
RARE = cell("tl.where", "fp64")
TRITON = "3.9.0"
PRODUCTS = ("language.products", "own", "interpreter")


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    return in_place_of_workers(monkeypatch)


def draw_cases(target: str, limits: Limits, number: int, *, seed: int) -> list[Case]:
    return draws(find(target).draw.cases(limits), number, seed=seed)


def cells_of(topic: str) -> list[str]:
    return [one for of_row in aims_of(topic, TRITON).values() for one in of_row]


def interpreted(topic: str) -> list[str]:
    """Those of rows of which the interpreter runs any call."""
    return [one for name, of_row in aims_of(topic, TRITON).items()
            if not left_out(name, TRITON, "interpreter") for one in of_row]


# -- what there is to aim at --

def test_every_type_with_which_a_row_is_drawn_is_known():
    unknown = set()
    for name, row in rows().items():
        random = Random(f"another generator of {name}")
        for _ in range(12):
            call, _ = sampled(row, random)
            unknown |= {cell(name, one) for one in types(call) - set(types_of(name))} if call is not None else set()
    assert unknown == set() and sum(len(types_of(name)) for name in rows()) > 2600


def test_of_three_operands_any_may_be_the_one_that_is_whole():
    random, places = Random(3), set()
    for _ in range(60):
        call, _ = sampled(rows()["tl.fma"], random)
        numbers = [math.prod(one.shape) for one in call.operands] if call is not None else []
        if numbers and sorted(numbers)[1] < max(numbers):
            places.add(numbers.index(max(numbers)))
    assert places == {0, 1, 2}


def test_a_version_is_asked_only_for_rows_that_it_has():
    new = [name for name, row in rows().items() if not row.offered("3.6.0")]
    found = {name for topic in TOPICS for name in aims_of(topic, "3.6.0")}
    assert new and found == rows().keys() - set(new)


# -- what is drawn --

def test_an_aimed_draw_reaches_its_cell_and_varies_everything_else():
    row, wanted = "tl.where", "fp64"
    def reaches(case: Case) -> bool:
        return call_of(case).row == row and wanted in types(call_of(case))

    at_random = draw_cases("language.pointwise", LIMITS, 200, seed=3)
    aimed = draw_cases("language.pointwise", Limits(elements=1 << 12, rows=1 << 8, aims=((RARE, 20),)), 200, seed=3)
    found = [case for case in aimed if reaches(case)]
    assert sum(map(reaches, at_random)) <= 4 and len(found) > 100
    calls = [call_of(case) for case in found]
    assert len({tuple(one.shape for one in call.operands) for call in calls}) > 40
    assert len({tuple(one.kind for one in call.operands) for call in calls}) >= 3
    assert len({tuple(one.dtype for one in call.operands if one.given) for call in calls}) >= 8, "others beside it"
    assert len({case.sizes["rows"] for case in found}) >= 6 and len({str(case.options) for case in found}) >= 6
    assert len({type(array.content.base) for case in found for array in case.arrays if array.content}) >= 4
    others = {call_of(case).row for case in aimed if not reaches(case)}
    assert len(others) > 20, "a part is drawn from everything"


@pytest.mark.parametrize("topic, aspect, least", [
    ("ordering", "call=tl.topk k=1", 3), ("pointwise", "call=tl.fdiv ieee_rounding=True", 5),
    ("gluon", "call=gl.histogram elements=1", 40), ("operators", "call=operator.lt operands=block,number", 10)])
def test_a_gate_reaches_other_aspects_of_a_row_by_aiming(topic: str, aspect: str, least: int):
    """How many times as often as at random, of 100 draws."""
    assert aspect in beside_types(topic, TRITON)[parts(aspect)[0]]
    numbers = [sum(aspect in cells(case) for case in draw_cases(f"language.{topic}", Limits(
        elements=1 << 12, rows=1 << 8, aims=aims), 100, seed=6)) for aims in ((), ((aspect, 1),))]
    assert numbers[1] > 30 and numbers[1] >= least * numbers[0]


def test_where_nothing_is_lacking_the_search_is_what_it_was():
    strategy, given_up = find("language.pointwise").draw.cases(LIMITS), list[bool]()
    plain, counted = (draws(one, 60, seed=8) for one in (strategy, noted(strategy, lambda: given_up.append(True))))
    assert [case.digest for case in plain] == [case.digest for case in counted] and given_up == []
    kept = draws(noted(st.integers(0, 9).filter(lambda n: n % 3 == 2), lambda: given_up.append(True)), 40, seed=8)
    assert set(kept) == {2, 5, 8} and given_up


# -- what a shard does --

def run(state: Path, topic: str, cases: int, *, aimed: bool, **changes: object) -> ShardResult:
    lacking = tuple(dict.fromkeys(cells_of(topic), WANTED_CASES).items()) if aimed else ()
    return shard.run_shard(shard_spec(**{"target": f"language.{topic}", "max_cases": cases, "lacking": lacking,
                                         **changes}), str(state))


def test_aimed_shards_reach_cells_that_others_leave(tmp_path: Path):
    blind = run(tmp_path / "blind", "memory", 200, aimed=False)
    never = [one for one in cells_of("memory") if one not in blind.cells]
    again, aimed = (run(tmp_path / str(bool(lacking)), "memory", 500, aimed=False, seed=2, lacking=lacking)
                    for lacking in ((), tuple((one, WANTED_CASES) for one in never)))
    reached = [sorted(result.cells.get(one, 0) for one in never) for result in (again, aimed)]
    assert blind.counts.executed == 200 and again.counts.executed == aimed.counts.executed == 500 and len(never) > 40
    zeros, sums = [one.count(0) for one in reached], [sum(one) for one in reached]
    assert zeros[0] >= 3 * zeros[1] and sums[1] >= 2 * sums[0], (zeros, sums)
    assert aimed.spec.lacking == (), "what it was told is not kept"


def test_equal_seeds_aim_alike(tmp_path: Path):
    one, other, third = (run(tmp_path / str(number), "products", 60, aimed=True, seed=seed)
                         for number, seed in enumerate((4, 4, 5)))
    assert one.cells == other.cells != third.cells


def test_what_aimed_draws_find_shrinks_as_far(tmp_path: Path, fake: type[FakePool]):
    def failing(case: Case) -> str:
        call = call_of(case)
        return "value" if call.row == "tl.where" and "fp64" in types(call) and case.sizes["rows"] > 2 else ""

    fake.failing = staticmethod(failing)
    result = run(tmp_path, "pointwise", 60, aimed=True, lacking=((RARE, 20),))
    (entry,) = result.findings
    call = call_of(entry.case)
    assert failing(entry.case) and entry.case.sizes["rows"] == 3
    assert {extent for one in call.operands for extent in one.shape} <= {1} and not call.options


def test_cases_that_are_not_judged_are_counted_with_their_reason_and_aimed_at_no_more(
    tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch
):
    judge = fake.execute

    def execute(self: FakePool, case: Case, *given: object, **named: object) -> Outcome:
        outcome = judge(self, case, *given, **named)
        if call_of(case).row != "tl.cumsum":
            return outcome
        return outcome_of(case, Verdict.NOT_CHECKED, reason="takes 4 of 7 arguments")

    monkeypatch.setattr(fake, "execute", execute)
    result = run(tmp_path, "scans", 120, aimed=True)
    vain = [one for one in cells_of("scans") if one.startswith("call=tl.cumsum ")]
    rest = dict.fromkeys(cells_of("scans"), WANTED_CASES)
    assert result.cells[missed(vain[0], "takes n of n arguments")] >= 1
    reached = united([(result.spec, result.cells)], TRITON)
    assert reached.missed["interpreter"]["language.scans"].keys() <= set(vain)
    assert not any(one.startswith("~") for one in reached.reached["interpreter"]["language.scans"])
    assert HOPELESS <= BARREN <= sum(number for one, number in result.cells.items() if one.startswith("~"))
    plan = Plan(id="one", options=campaign_options(), shards=(), installed={"triton": TRITON})
    lacking = Lacking(plan, [result]).of(combination(result.spec))
    assert lacking and not set(vain) & lacking.keys() and set(lacking) <= set(rest)


def test_a_cell_of_which_some_cases_are_judged_is_not_given_up():
    assert left({"a": 20}, {"a": 3, missed("a", "x"): 9}) == {"a": 17}
    assert left({"a": 20}, {"a": 0, missed("a", "x"): HOPELESS}) == left({"a": 20}, {"a": 20}) == {}


# -- what a campaign does --

class Night:
    """A campaign on paper: every shard reaches what it is told to, so many cases in a second."""

    def __init__(self, state: Path, **changes: object) -> None:
        state.mkdir(exist_ok=True)
        options = campaign_options(**{
            "targets": ("language.scans", "language.products", "triton.vector_add"), "subjects": ("own",),
            "backends": ("interpreter",), "workers": 2, "by_yield": True, "seconds": 600.0, "seed": 5, **changes})
        self.state = state
        self.plan = Plan(id="one", options=options, shards=plan_shards(options),
                         installed={"triton": TRITON})

    def deal(self, results: list[ShardResult]) -> Deal:
        done = {one.spec.index for one in results}
        every = (*self.plan.shards, *dealt(self.state))
        return Deal(self.plan, self.state, [spec for spec in every if spec.index not in done], results)

    def ran(self, one: Deal, spec: ShardSpec) -> ShardResult:
        cases = int(spec.seconds)
        cells = Counter(list(one.lacking(spec))[:cases])
        return ShardResult(spec=spec, counts=Counts(executed=cases, agree=cases), cells=dict(cells) | {"a": cases},
                           seconds=spec.seconds)

    def shard_of(self, name: tuple[str, str, str]) -> ShardSpec:
        return next(spec for spec in self.plan.shards if combination(spec) == name)

    def run(self, one: Deal, shards: int) -> list[ShardResult]:
        found = []
        for _ in range(shards):
            found.append(self.ran(one, one.popleft()))
            one.ended(found[-1])
        return found


def test_time_goes_to_targets_whose_cells_lack_cases_until_none_does(tmp_path: Path):
    night = Night(tmp_path)
    one = night.deal([])
    found = night.run(one, 100)
    names = {combination(spec) for spec in night.plan.shards}
    scans, products = (sum(result.seconds for result in found if result.spec.target == name)
                       for name in ("language.scans", "language.products"))
    assert scans > products, "what lacks more has more"
    lacking = Lacking(night.plan, found)
    assert lacking.among(names) == {} and one.lacking(night.plan.shards[0]) == {}


@pytest.mark.parametrize("builds, least", [(("x", "y"), 0.45), (None, 0.0)])
def test_half_of_what_a_gate_has_beyond_the_floor_goes_to_cells_that_lack_cases(
        builds: tuple[str, str] | None, least: float, tmp_path: Path):
    """Nothing is ever reached here, and another target brings much: in a night the cells have their usual part."""
    night = Night(tmp_path, targets=("language.scans", "codegen.*", "gluon.*"), builds=builds)
    one = night.deal([])
    seconds = Counter({True: 0.0, False: 0.0})
    for _ in range(300):
        spec = one.popleft()
        if spec.index >= len(night.plan.shards):
            seconds[spec.target == "language.scans"] += spec.seconds
        one.ended(ShardResult(spec=spec, counts=Counts(executed=1, agree=1), seconds=spec.seconds,
                              cells={f"cell {spec.index}": 1} if spec.target != "language.scans" else {}))
    share = seconds[True] / (seconds[True] + seconds[False])
    assert least <= share and (share < 0.2) is (builds is None)


def test_a_campaign_that_is_resumed_aims_at_what_it_would_have(tmp_path: Path):
    whole, cut = Night(tmp_path / "whole"), Night(tmp_path / "cut")
    first = whole.deal([])
    whole.run(first, 12)
    before = cut.run(cut.deal([]), 12)
    again = cut.deal(before)
    spec = first.popleft()
    assert again.popleft() == spec and again.lacking(spec) == first.lacking(spec) != {}


def test_what_no_draw_reaches_does_not_keep_a_campaign_for_ever(tmp_path: Path):
    night = Night(tmp_path)
    lacking = Lacking(night.plan)
    every = lacking.cells(PRODUCTS)
    assert every == len(interpreted("products")) == len(lacking.of(PRODUCTS))
    lacking.add(ShardResult(spec=night.shard_of(PRODUCTS), counts=Counts(executed=ENOUGH * WANTED_CASES * every)))
    assert lacking.of(PRODUCTS) == {}


def test_a_gate_wants_less_of_each_cell_and_aims_at_none_where_few_functions_differ(tmp_path: Path):
    lacking = Lacking(Night(tmp_path / "a", builds=("x", "y")).plan)
    wanted = lacking.of(PRODUCTS)
    assert GATE_CASES < WANTED_CASES and wanted["call=tl.dot dtype=fp16"] == GATE_CASES
    assert wanted["call=tl.dot rank=3"] == 1, "of everything beside types one case is enough"
    few = Alike(functions=(Change(file="language/core.py", name="dot"),))
    lacking = Lacking(Night(tmp_path / "b", builds=("x", "y"), alike=few).plan)
    assert lacking.of(PRODUCTS) == {} and lacking.cells(PRODUCTS) == 0


def test_a_target_that_is_left_out_aims_at_nothing(tmp_path: Path):
    night = Night(tmp_path / "a")
    lacking = Lacking(night.plan)
    lacking.add(ShardResult(spec=night.shard_of(PRODUCTS), counts=Counts(), left_out="no GPU"))
    assert lacking.of(PRODUCTS) == {} and lacking.cells(PRODUCTS) == 0
    compiled = (*PRODUCTS[:2], "compile")
    assert lacking.of(compiled) == {} and lacking.cells(compiled) == 0


def test_gluon_is_left_out_of_the_interpreter():
    lacking = find("language.gluon").run.lacking
    here, there = (shard.Environment(triton=TRITON, backend=backend) for backend in ("interpreter", "cuda"))
    assert "Gluon" in lacking(here) and lacking(there) == ""


@pytest.mark.parametrize("aimed", [True, False])
def test_a_shard_that_is_there_for_its_cells_ends_with_them(aimed: bool, tmp_path: Path):
    few = cell("tl.cumsum", "i32")
    found = shard.run_shard(shard_spec(target="language.scans", max_cases=400, lacking=((few, 2),), aimed=aimed),
                            str(tmp_path))
    assert (found.counts.executed < 100) is aimed and found.error == "" and found.cells[few] > 1


def test_what_takes_long_has_longer_and_nothing_has_more_than_it_needs(tmp_path: Path):
    night = Night(tmp_path, targets=("language.scans", "language.products"))
    one, took = night.deal([]), Counter[str]()
    lacking = Lacking(night.plan)
    for _ in range(80):
        spec = one.popleft()
        each = 8.0 if spec.target == "language.products" else 1.0
        took[spec.target] += spec.seconds if spec.aimed else 0
        need = each * lacking.among([combination(spec)]).get(combination(spec), 0)
        assert not spec.aimed or spec.seconds <= max(2.0, 1.5 * need)
        cases = max(round(spec.seconds / each), 1)
        cells = dict.fromkeys(list(one.lacking(spec))[:cases], 1)
        result = ShardResult(spec=spec, counts=Counts(executed=cases, agree=cases), cells=cells, seconds=spec.seconds)
        lacking.add(result)
        one.ended(result)
    assert took["language.products"] > took["language.scans"] > 0


def test_a_cell_that_no_aimed_case_reaches_is_left_to_chance(tmp_path: Path):
    night = Night(tmp_path)
    lacking = Lacking(night.plan)
    others = list(lacking.of(PRODUCTS))[1:]
    for _ in range(8):
        cases = 8 * len(others) + 8
        lacking.add(ShardResult(spec=night.shard_of(PRODUCTS), counts=Counts(executed=cases),
                                cells=dict.fromkeys(others, 2)))
    assert set(lacking.of(PRODUCTS)) == set(others)


# -- what a backend does not run --

def test_what_has_a_stand_in_is_known_without_triton():
    there = {f"libdevice.{name}" for name in stand_ins()}
    of_library = {name: row for name, row in rows().items() if any(one.startswith("libdevice.") for one in row.covers)}
    assert {name for name, row in of_library.items() if lacks_stand_in(row)} == {
        name for name, row in of_library.items() if any(
            one.startswith("libdevice.") and one not in there for one in row.covers)}


def test_a_backend_has_no_draws_of_rows_that_it_does_not_run(tmp_path: Path):
    limits = Limits(elements=1 << 12, rows=1 << 8, releases=(TRITON,))
    found = {backend: {call_of(case).row for case in draw_cases("language.special", replace(
        limits, backend=backend), 200, seed=1)} for backend in ("", "interpreter", "cuda")}
    assert found["interpreter"] == {f"libdevice.{name}" for name in ("isnan", "isinf", "signbit")}
    assert len(found[""]) > 30 and len(found["cuda"]) > 30
    lacking = Lacking(Night(tmp_path, targets=("language.special",)).plan)
    assert {parts(one)[0] for one in lacking.of(("language.special", "own", "interpreter"))} == found["interpreter"]
    assert lacking.cells(("language.special", "own", "cuda")) == len(cells_of("special"))


def test_a_topic_that_the_interpreter_does_not_run_is_left_out():
    out = [topic for topic in TOPICS if find(f"language.{topic}").run.lacking(
        shard.Environment(triton=TRITON, backend="interpreter"))]
    assert out == ["rounding", "words", "gluon"]
    assert not any(find(f"language.{topic}").run.lacking(shard.Environment(triton=TRITON, backend="cuda"))
                   for topic in TOPICS)


def test_most_blocks_are_small_where_kernels_are_compiled_for_cells_and_some_as_large_as_ever():
    limits = Limits(elements=1 << 22, rows=1 << 10, mode=(LaunchOptions(), ()))
    largest: dict[bool, list[int]] = {}
    for aimed in (True, False):
        drawn = draw_cases("language.movement", replace(
            limits, aims=tuple((one, 1) for one in cells_of("movement")) if aimed else ()), 300, seed=1)
        largest[aimed] = [max((math.prod(one.shape) for one in call_of(case).operands), default=1) for case in drawn]
    small, others = (sum(one <= 64 for one in largest[aimed]) for aimed in (True, False))
    assert small > 1.3 * others and sum(one > 64 for one in largest[True]) > 30 and max(largest[True]) > 1000


def test_what_fails_is_drawn_half_of_the_time_where_nothing_else_reaches_the_cell_that_is_aimed_at():
    target, name = find("language.narrow"), "arithmetic-of-8-bit-floats"
    issue = next(one for one in all_issues() if one.name == name)

    def kept(*aims: str) -> int:
        limits = replace(LIMITS, avoid=frozenset([name]), aims=tuple((one, 9) for one in aims))
        return sum(issue.concerns(case, "own")
                   for case in draws(avoiding.cases(target, limits, subject="own"), 200, seed=3))

    assert kept() < 12 and kept(cell("fp8.add", "fp16")) < 12
    assert 50 < kept(cell("fp8.add", "fp8e4nv")) < 110
