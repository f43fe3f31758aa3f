"""What a gate runs and in which order: the corpus first, every target a while, and what was left out is known."""

import math
from pathlib import Path

import msgspec
import pytest

from tests.support.cases import addition, ramp
from tests.support.draws import draws
from tests.support.outcomes import wrong_in
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.campaign.deal import Deal
from tridiff.fuzz.campaign.neighbours import other_choices
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan, ShardResult
from tridiff.fuzz.campaign.yields import Yields, combination
from tridiff.fuzz.gate.plan import OF_TIME, ONCE, SECONDS_COSTLY, combinations, entries_left_out, gate_shards
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.launching.cases import of_topic
from tridiff.fuzz.records import Case, CorpusEntry, Evidence, Expectation, Verdict
from tridiff.fuzz.records.environment import Environment
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits


def options(**changes: object) -> CampaignOptions:
    return CampaignOptions(**{
        "seconds": 300.0, "targets": ("triton.*",), "subjects": ("own",), "backends": ("interpreter", "compile"),
        "devices": (0,), "workers": 2, "seed": 7, "by_yield": True, "builds": ("a", "b"), **changes})


def entry(case: Case, *backends: str) -> CorpusEntry:
    """Found on the first of the backends."""
    signature = wrong_in(case, "out")
    expected = tuple(Expectation(subject="own", triton="3.9.0", backend=one, verdict=Verdict.DISAGREE, kind="value")
                     for one in backends)
    return CorpusEntry(id=f"value-{case.digest[:10]}", title="one", case=case, signature=signature, expected=expected,
                       found_in=Environment(backend=backends[0]), evidence=Evidence())


ENTRIES = tuple(entry(addition(rows=rows), "interpreter", "compile:sm_90", "cuda") for rows in range(2, 14))


def test_the_corpus_comes_first_then_every_combination_once(tmp_path: Path):
    shards = gate_shards(options(), ENTRIES)
    listed = [spec for spec in shards if spec.first]
    # 12 cases on two of the three backends where they were seen, eight at a time.
    assert [(spec.backend, len(spec.first)) for spec in shards[:4]] == [
        ("interpreter", 8), ("interpreter", 4), ("compile:sm_90", 8), ("compile:sm_90", 4)]
    assert all(spec.max_cases == len(spec.first) for spec in listed)
    floor = shards[4:4 + len(combinations(shards))]
    assert not any(spec.first for spec in floor) and len({combination(spec) for spec in floor}) == len(floor)
    assert shards[4 + len(floor)].first, "neighbours come behind the floor"
    plan = Plan(id="one", options=options(), shards=shards)
    assert Deal(plan, tmp_path, shards).pressing() == 4 + len(floor)


def test_a_choice_is_made_otherwise_only_where_a_case_has_what_that_needs():
    found = [other for one in draw_cases("triton.floordiv", Limits(elements=1 << 10, rows=1 << 5), 24, seed=1)
             for turn in range(4) for other in other_choices(one, turn)]
    assert found and all((one.params["form"] == "gather") is any(
        spec.name == "table" for spec in one.arrays) for one in found)


def test_neighbours_are_other_cases_of_the_same_target():
    digests = {one.case.digest for one in ENTRIES}
    shards = gate_shards(options(), ENTRIES)
    near = [case for spec in shards for case in spec.first if case.digest not in digests]
    assert len(near) >= 12 and {case.target for case in near} == {"triton.vector_add"}


def test_a_ramp_without_a_table_has_other_choices_and_none_of_them_is_to_read_one():
    choices = [one.params for turn in range(8) for one in other_choices(ramp(start=-4, divisor=4, rows=8), turn)]
    assert {one["divisor_kind"] for one in choices} > {"constexpr", "run_time"}
    assert {one["form"] for one in choices} == {"ramp"}


def test_other_choices_of_a_search_are_valid_and_few_whatever_numbers_it_may_have():
    """A count of copies goes up to 2^31, and an order of the boundaries is drawn with arrays of its own."""
    drawn = draws(find("helpers.bucketize_binary_search").draw.cases(Limits(rows=8, elements=64)), 30, seed=5)
    chosen = [(case, one) for case in drawn for turn in range(8) for one in other_choices(case, turn)]
    assert {case.params["form"] for case, _ in chosen} >= {"row", "copies", "sorter", "unsorted"}
    assert {one.params["copies"] for case, one in chosen if one.params["form"] == "copies"
            and one.params["copies"] != case.params["copies"]} == {1, 1 << 30, (1 << 31) - 1}


def test_a_short_gate_gives_the_corpus_a_part_of_its_time_only():
    shards = gate_shards(options(seconds=10.0), ENTRIES)
    early = [spec for spec in shards[:4] if spec.first]
    assert sum(spec.seconds for spec in early) <= OF_TIME * 10 * 2 < sum(
        spec.seconds for spec in shards if spec.first and spec.first[0].digest in {one.case.digest for one in ENTRIES})


def test_entries_that_cost_a_worker_stand_behind_the_others_and_leave_time_for_the_floor():
    deadly = msgspec.structs.replace(ENTRIES[0], expected=(
        msgspec.structs.replace(ENTRIES[0].expected[0], verdict=Verdict.CRASH), *ENTRIES[0].expected[1:]))
    shards = gate_shards(options(), (deadly, *ENTRIES[1:]))
    assert [(spec.backend, len(spec.first)) for spec in shards[:5]] == [
        ("interpreter", 8), ("interpreter", 3), ("compile:sm_90", 8), ("compile:sm_90", 4), ("interpreter", 1)]
    assert shards[4].first == (deadly.case,) and shards[4].seconds == SECONDS_COSTLY
    # Half a second for each of the others is all that a quarter of this time has room for.
    short = gate_shards(options(seconds=25.0), (deadly, *ENTRIES[1:]))
    place = next(spec.index for spec in short if spec.backend == "interpreter" and deadly.case in spec.first)
    assert not short[4].first and place > len(combinations(short)), "behind the floor"


def test_broad_targets_have_longer_turns_and_subjects_that_compile_by_themselves_come_last():
    asked = options(targets=("language.pointwise", "language.random", "helpers.minimum", "inductor.sort"),
                    subjects=(), backends=("cuda",))
    shards = gate_shards(asked, ())
    floor = shards[:len(combinations(shards))]
    behind = [spec.subject != "own" for spec in floor]
    assert behind == sorted(behind) and set(behind) == {False, True}
    seconds = {(spec.target, spec.subject): spec.seconds for spec in floor}
    breadth = find("language.pointwise").draw.breadth
    assert breadth > 20 and seconds["language.pointwise", "own"] == pytest.approx(
        math.cbrt(breadth) * seconds["helpers.minimum", "own"])
    assert seconds["language.random", "own"] > seconds["helpers.minimum", "own"] == seconds["inductor.sort", "inductor"]
    assert ("inductor.sort", "own") not in seconds, "eager torch is no matter of Triton's build"


def test_a_number_of_cases_leaves_half_of_them_to_be_drawn():
    asked = options(max_cases=10, by_yield=False, targets=("triton.vector_add",), backends=("interpreter",), workers=1)
    shards = gate_shards(asked, ENTRIES)
    assert sum(spec.max_cases or 0 for spec in shards) == 10
    assert sum(len(spec.first) for spec in shards) == 5


def test_entries_that_did_not_run_on_both_builds_are_told():
    shards = gate_shards(options(), ENTRIES)
    ran = [(one.case.digest, sort) for one in ENTRIES[1:] for sort in ("interpreter", "compile")]
    assert entries_left_out(options(), shards, ENTRIES, ran) == (ENTRIES[0].id,)
    assert entries_left_out(options(), shards, ENTRIES, ran[1:])[-1] == ENTRIES[1].id, "on one backend is not on both"
    other = entry(addition(rows=99), "cuda")
    assert other.id not in entries_left_out(options(), shards, (*ENTRIES, other), []), "this gate has no GPU"


@pytest.mark.parametrize("cell, worth", [("op=add", True), ("=op=add", False)])
def test_time_goes_where_code_changed(cell: str, worth: bool):
    (spec, *_) = gate_shards(options(), ())
    yields = Yields()
    yields.add(ShardResult(spec=spec, counts=Counts(executed=1), cells={cell: 1}, seconds=1.0))
    assert (yields.rates()[combination(spec)] > 0) is worth


@pytest.mark.parametrize("front_end_alone", [True, False])
def test_what_a_target_shows_one_by_one_is_run_once_each(front_end_alone: bool):
    shards = gate_shards(options(targets=("launch.front_end",), seconds=3000.0, backends=("compile",),
                                 alike=Alike(behind_source=front_end_alone)), ())
    once = [case for spec in shards for case in spec.first]
    scenes = of_topic("front_end")
    for scene in scenes:
        first = next(iter(scene.vocabulary))
        played = [case.params[first] for case in once if case.params["scene"] == scene.name]
        assert sorted(played, key=str) == sorted(scene.vocabulary[first], key=str)
    assert all(find(case.target).draw.valid(case) for case in once)
    assert bool(shards[0].first) == front_end_alone
    short = gate_shards(options(targets=("launch.front_end",), seconds=10.0, backends=("compile",)), ())
    assert sum(spec.seconds for spec in short if spec.first) <= ONCE * 10 * 2
