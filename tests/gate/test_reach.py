"""Where two builds differ in few functions, the time goes where these run, and one that never runs is told."""

import contextlib
import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.gate.test_judged import ASKED, line, verdict
from tests.gate.test_plan import options
from tests.support.builds import WRONG_SUM, edited, installed, pools
from tests.support.cases import addition
from tests.support.pairs import CASE, Side, observed, outcome
from tridiff.fuzz.backends.watched import Watch, effect, idle
from tridiff.fuzz.builds.alike import Alike, alike, watch_of
from tridiff.fuzz.builds.changed import Change
from tridiff.fuzz.builds.words import APART
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.deal import OF_REACH, Deal
from tridiff.fuzz.campaign.drivers import preload
from tridiff.fuzz.campaign.homes import Homes
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.yields import combination
from tridiff.fuzz.gate.judge import NEVER_RUN
from tridiff.fuzz.gate.markdown import markdown
from tridiff.fuzz.gate.plan import gate_shards
from tridiff.fuzz.gate.policy import Accepted, read
from tridiff.fuzz.launching.cases import text
from tridiff.fuzz.pair.log import lines
from tridiff.fuzz.pair.pool import CONTROL_OF_IDLE, PairPool, Unreached
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.records.observed import Observed
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.pool import Pool, PoolOptions

RARE = Change(file="language/standard.py", name="swizzle2d", users={"language/standard.py": ("swizzle2d",)})
OTHER = Change(file="runtime/jit.py", name="never", users={"runtime/jit.py": ("never",)})
FEW = Alike(behind_source=True, changed=1, functions=(RARE,), python=True)


def asking(*targets: str) -> CampaignOptions:
    """For a minute and a half of what is compiled of these targets."""
    return options(targets=targets, backends=("compile",), seconds=90.0)


def dealt(asked: CampaignOptions, change: Change, **changes: object) -> tuple[ShardSpec, ...]:
    """The shards of a gate between builds that differ in one function."""
    alike = msgspec.structs.replace(FEW, functions=(change,), **changes)
    return gate_shards(msgspec.structs.replace(asked, alike=alike), ())


def sides(*, reached: tuple[int, ...], watched: str = "") -> tuple[Side, Side, PairPool]:
    def answer(number: int) -> tuple[object, Observed]:
        return outcome(Verdict.AGREE), observed()

    before, after = Side(answer), Side(answer)  # type: ignore[arg-type]
    before.reached = reached
    before.options = dataclasses.replace(before.options, watched=watched)
    pool = PairPool(before, after)  # type: ignore[arg-type]
    pool.scouting = True
    return before, after, pool


def test_a_scout_asks_the_candidate_only_about_what_reaches_a_change():
    before, after, pool = sides(reached=())
    with pytest.raises(Unreached):
        pool.execute(CASE, "own")
    assert (before.runs, after.runs, pool.last) == (1, 0, None)
    pool.scouting = False
    pool.execute(CASE, "own")
    assert after.runs == 1, "nothing is left out for good"
    before, after, pool = sides(reached=(0,))
    with pytest.raises(Unreached):
        pool.execute(CASE, "own")
    assert after.runs == 0 and pool.reached("row") == {"@f0 row"}, "the function ran, not the statements that differ"


def test_of_cases_in_which_a_change_has_no_effect_one_in_so_many_is_a_control():
    before, after, pool = sides(reached=(idle(0), 0))
    for number in range(CONTROL_OF_IDLE + 1):
        with pytest.raises(Unreached) if number % CONTROL_OF_IDLE else contextlib.nullcontext():
            pool.execute(CASE, "own")
    assert (before.runs, after.runs) == (CONTROL_OF_IDLE + 1, 2)
    assert pool.reached("row") == {"@f0 row", "@s0 row"}


def test_where_all_that_differs_ran_at_import_every_case_may_show_it():
    watch = Watch(package="triton", functions={
        one.file: {one.name: (number,)} for number, one in enumerate((RARE, OTHER))})
    before, after, pool = sides(reached=(), watched=msgspec.json.encode(watch).decode())
    before.imported = (effect(1), 1)
    with pytest.raises(Unreached):
        pool.execute(CASE, "own")
    before.imported = (effect(1), effect(0), 0, 1)
    pool.execute(CASE, "own")
    assert (before.runs, after.runs) == (2, 1)
    before, after, pool = sides(reached=(effect(3), 3, 0))
    pool.execute(CASE, "own")
    assert (before.runs, after.runs) == (1, 1) and pool.last is not None and pool.last.reached == (effect(3), 0, 3)
    assert pool.marked({"cell"}, "row") == {"cell", "@3 row", "@s3 row", "@f0 row", "@f3 row"}


def test_what_names_a_changed_function_comes_first_and_everything_still_comes():
    asked = options(targets=("language.creation", "language.random", "launch.front_end", "triton.vector_add"),
                    backends=("compile",), seconds=3000.0)
    shards = gate_shards(msgspec.structs.replace(asked, alike=FEW), ())
    first = shards[0]
    assert first.scout and (first.target, first.only) == ("language.creation", ("tl.swizzle2d",))
    named = [case for spec in itertools.takewhile(lambda one: one.first, shards[1:]) for case in spec.first]
    assert named and all("swizzle2d" in f"{case.params} {text(case)}" for case in named)
    pieces = {case.params["scene"] for case in named}
    assert pieces == {"pieces", "lines", "calls"}, "a row says so itself, of the others their text"
    plain = gate_shards(msgspec.structs.replace(asked, alike=Alike(behind_source=True)), ())

    def cases(some: tuple[ShardSpec, ...]) -> set[Case]:
        return {case.digest for spec in some for case in spec.first}  # type: ignore[misc]

    assert cases(shards) >= cases(plain)
    assert {combination(spec) for spec in shards if not spec.first and not spec.scout} == {
        combination(spec) for spec in plain if not spec.first}, "the floor is what it was"


def test_what_no_case_names_is_looked_for_by_what_calls_it():
    helper = Change(file="language/standard.py", name="_no_case_has_this", near=("swizzle2d",),
                    users={"language/standard.py": ("_no_case_has_this",)})
    asked = options(targets=("launch.front_end",), backends=("compile",), seconds=3000.0)

    def first(change: Change) -> ShardSpec:
        return dealt(asked, change)[0]

    cases = first(helper).first
    assert cases and all("swizzle2d" in f"{case.params} {text(case)}" for case in cases)
    assert not first(msgspec.structs.replace(helper, near=())).first, "a look at the target"
    made = Change(file="experimental/gluon/language/nvidia/ampere/__init__.py", name="CachePolicy.__init__")
    cases = first(made).first
    assert cases and all("CachePolicy" in f"{case.params} {text(case)}" for case in cases), "no barrier's init"


@pytest.mark.parametrize("change, found", [
    (Change(file="runtime/jit.py", name="ConstexprFunction.__call__ 2", near=("constexpr_function",),
            words=("constexprfunction", "kwargs")), "plain: functions 1"),
    (Change(file="compiler/code_generator.py", name="nothing", words=(
        "builtin", "constexpr", "dtype", "global", "jit", "language", *("namedtuple",) * APART)), "plain: calls 2"),
    (Change(file="compiler/code_generator.py", name="CodeGenerator.visit_UnaryOp", words=(
        "codegenerator", "unaryop", "visit", *("implemented", "is_not_implemented", "not", "result") * APART)),
     "plain: seldom 2"),
    (Change(file="testing.py", name="do_bench"), "every one")])
def test_what_calls_objects_is_found_by_what_makes_them_and_by_names_in_what_statements_use(
        change: Change, found: str):
    asked = asking("launch.front_end", "launch.host")
    shards = dealt(asked, change, reached=() if "/" not in change.file else FEW.reached)
    assert found in {case.params.get("part") for spec in shards[:8] if spec.scout for case in spec.first}


def test_cases_that_share_rare_words_with_what_changed_come_before_the_looks():
    visitor = Change(file="compiler/code_generator.py", name="CodeGenerator.visit_JoinedStr",
                     users={"compiler/code_generator.py": ("CodeGenerator.visit_JoinedStr",)},
                     words=("visit",), near=("joinedstr",))
    shards = dealt(asking("launch.front_end", "triton.negate"), visitor)
    early = [case for spec in itertools.takewhile(lambda one: one.first, shards) for case in spec.first]
    assert 0 < len(early) < 20 and all('f"' in text(case) for case in early)
    every = [case for spec in shards for case in spec.first]
    assert len({case.digest for case in every}) == len(every), "none is listed twice"
    assert {case.digest for case in early} == {case.digest for case in every if re.search("\\bf[\"']", text(case))}


def test_what_consists_of_the_syntax_that_a_changed_visitor_is_for_comes_before_what_shares_other_words():
    change = Change(file="compiler/code_generator.py", name="CodeGenerator.visit_For",
                    words=("for", "integer_promote_impl", "step", "visit"))
    shards = dealt(asking("launch.front_end", "language.refusals"), change)
    assert {"plain: bounds 1", "plain: bounds 2"} <= {
        case.params.get("part") for spec in shards[:16] for case in spec.first}


@pytest.mark.parametrize("file, first", [("compiler/code_generator.py", False), (
    "tools/triton_to_gluon_translator/translator.py", True)])
def test_what_takes_long_comes_behind_what_shows_as_much(file: str, first: bool):
    change = Change(file=file, name="Visitor.visit_For", words=("for", "visit"))
    shards = dealt(asking("launch.front_end", "launch.interpreted", "launch.translator"), change)
    assert first is any(spec.target == "launch.translator" for spec in shards[:40])


@pytest.mark.parametrize("name, words, scene", [
    ("HookChain.__call__", "call calls chain else for hook hookchain not reversed self", "hooks"),
    ("get_override_manager", "base32 cls get get_override_manager key manager override return true", "stages"),
    ("DependenciesFinder.visit_FunctionDef", "body child defaults dependencies finder globals keyword kwonlyargs "
     "local local_names only parameters shadow", "hidden")])
def test_what_scenes_do_stands_in_their_own_text(name: str, words: str, scene: str):
    asked = asking("launch.*")
    change = Change(file="one.py", name=name, words=tuple(words.split()))
    played = [case.params["scene"] for spec in dealt(asked, change, behind_source=False)[:16:2] for case in spec.first]
    assert scene in played and len(played) < 20


def test_each_thing_that_a_case_plays_in_turn_has_words_of_its_own():
    target = find("launch.host")
    played = next(case for case in target.draw.once(1) if case.params["scene"] == "beside")
    timers = target.draw.about(msgspec.structs.replace(played, params={"scene": "beside", "part": "timers"}))
    several = target.draw.about(played).splitlines()
    assert len(several) > 9 and timers in several and sum("knob_descriptors" in one for one in several) == 1
    change = Change(file="one.py", name="toenv", words=("knobs", "copy", "environ", "reset", "toenv"))
    first = [case for spec in dealt(asking("launch.*"), change, behind_source=False)[:12] for case in spec.first]
    assert played.params in [case.params for case in first]


def test_a_function_of_another_file_is_not_taken_for_one_of_the_language():
    asked = asking("launch.*", "language.pointwise")
    changes = [Change(file=file, name="HookChain.add", words=("add", "chain", "hook", "hookchain"))
               for file in ("knobs.py", "language/core.py")]
    shards, spoken = (dealt(asked, change, behind_source=False) for change in changes)
    assert not any(spec.only for spec in shards) and any(spec.only for spec in spoken)
    hints = [case.params["scene"] for spec in shards[:10:2] for case in spec.first]
    assert {"hooks", "beside"} <= set(hints) and len(set(hints)) == len(hints), "one of each scene before the second"


def test_listed_cases_of_a_target_by_the_name_of_a_changed_file_come_at_once():
    for file, target in (("tools/triton_to_gluon_translator/common_helpers.py", "launch.translator"),
                         ("runtime/cache.py", "launch.caches")):
        first = dealt(asking("launch.*"), Change(file=file, name="nothing"), behind_source=False)[:8]
        assert sum(len(spec.first) for spec in first if spec.target == target) >= 8


def test_a_folder_far_from_a_changed_file_says_nothing_of_a_target():
    for file, near in (("runtime/caches/one.py", True), ("caches/runtime/one.py", False)):
        shards = dealt(asking("launch.*"), Change(file=file, name="nothing"))
        assert bool(shards[0].first and shards[0].target == "launch.caches") is near


@pytest.mark.parametrize("name, number, parts", [
    ("dot", 14, {"plain: arguments of tl.dot 1", "plain: products 1", "plain: products 2"}),
    ("where", 130, {"plain: arguments of tl.where 1", "plain: addresses 1"})])
def test_what_says_the_name_most_often_comes_first_compiled_and_interpreted(name: str, number: int,
                                                                            parts: set[str]):
    change = Change(file="language/semantic.py", name=f"TritonSemantic.{name}")
    asked = options(targets=("launch.front_end", "launch.interpreted"), backends=("compile", "interpreter"))
    shards = dealt(asked, change)
    first = [(spec.target, case.params.get("part")) for spec in shards[:number] for case in spec.first]
    assert {(target, part) for target in asked.targets for part in parts} <= set(first)


def test_operators_that_call_a_changed_helper_are_words_about_it_and_their_class_is_none():
    change = Change(file="language/core.py", name="check_bit_width", near=("__lshift__", "__rrshift__", "tensor"))
    shards = dealt(asking("launch.front_end", "language.*"), change)
    assert {one for spec in shards for one in spec.only} == {"operator.lshift", "operator.rshift"}
    first = [case.params for spec in shards[:20] for case in spec.first]
    assert {"plain: shifts", "plain: logic 1"} <= {one.get("piece", one.get("part")) for one in first}


def test_what_an_expression_names_otherwise_is_found_by_its_name():
    change = Change(file="experimental/gluon/nvidia/hopper.py", name="TensorDescriptorIm2Col.__post_init__",
                    words=("element_strides",))
    shards = dealt(asking("launch.front_end"), change)
    named = [case.params["expression"] for spec in itertools.takewhile(lambda one: one.first, shards)
             for case in spec.first if "Im2Col" in text(case)]
    assert {"columns of an array", "bounds of descriptors"} <= set(named)


def test_what_is_played_of_launches_comes_before_the_looks_where_more_than_the_front_end_differs():
    asked = options(targets=("launch.*", "language.creation"), backends=("interpreter", "compile"), seconds=90.0)

    def early(**changes: object) -> set[str]:
        first = itertools.takewhile(lambda one: one.first, dealt(asked, OTHER, **changes))
        return {str(case.params["scene"]) for spec in first for case in spec.first}

    wanted = {"unusual 1", "tuned", "captured", "options", "beside", "refusals 2", "annotated", "layouts"}
    assert wanted <= early(behind_source=False)
    assert not wanted & early()
    found = find("launch.options").draw.once(1)
    assert {"dot", "pointwise"} & {case.params.get("kernel") for case in found} and not any(map(text, found)), (
        "a kernel of a scene has a name that pieces of kernels have as well")


def result(spec: ShardSpec, cells: dict[str, int], **changes: object) -> ShardResult:
    return ShardResult(**{"spec": spec, "counts": Counts(executed=9, agree=9), "cells": cells, "seconds": spec.seconds,
                          **changes})


def test_time_goes_where_a_changed_function_runs_and_what_reaches_none_comes_last(tmp_path: Path):
    asked = msgspec.structs.replace(options(
        targets=("language.creation", "language.random", "launch.layouts", "triton.*"), backends=("compile",)),
        alike=FEW)
    plan = Plan(id="one", options=asked, shards=gate_shards(asked, ()))
    deal = Deal(plan, tmp_path, plan.shards)
    deferred: list[Case] = []
    taken: dict[bool, float] = {True: 0.0, False: 0.0}
    only, again = set(), []
    while deal.waiting():
        spec = deal.popleft()
        dealt = spec.index >= len(plan.shards)
        if spec.first:
            again += [case.digest for case in spec.first if dealt]
            handed = () if dealt else spec.first
            deferred += handed
            deal.ended(result(spec, {}, deferred=handed))
            continue
        if dealt and spec.scout:
            assert spec.target == "language.creation"
            only.add(spec.only)
        taken[dealt and spec.scout] += spec.seconds
        deal.ended(result(spec, {"@0 tl.swizzle2d": 2} if spec.target == "language.creation" else {}))
    assert only == {(), ("tl.swizzle2d",)}, "the row that showed it, and any"
    assert taken[True] / sum(taken.values()) == pytest.approx(OF_REACH, abs=0.15)
    assert deferred and {case.digest for case in deferred} == set(again)


def test_a_process_for_programs_of_torch_compile_passes_over_no_listed_case(tmp_path: Path):
    asked = msgspec.structs.replace(options(targets=("language.creation", "launch.front_end", "inductor.*"),
                                            subjects=(), workers=4), alike=FEW)
    plan = Plan(id="one", options=asked, shards=gate_shards(asked, ()))
    listed = max(spec.index for spec in itertools.takewhile(lambda one: one.first or one.scout, plan.shards)
                 if spec.first)
    deal = Deal(plan, tmp_path, plan.shards)
    taken = [deal.popleft(turn % 4).index for turn in range(listed)]
    assert Homes(asked, plan.shards).number == 1 and max(taken) <= listed and listed > 4


def test_what_everything_runs_gives_no_direction_while_listed_cases_wait(tmp_path: Path):
    asked = msgspec.structs.replace(options(
        targets=("language.creation", "launch.*"), backends=("compile",)), alike=FEW)
    plan = Plan(id="one", options=asked, shards=gate_shards(asked, ()))
    parts = []
    for common in (False, True, None):
        deal, drawn, listed = Deal(plan, tmp_path / str(common), plan.shards), 0.0, 0.0
        (tmp_path / str(common)).mkdir()
        while listed < 50.0:
            spec = deal.popleft()
            if spec.index < len(plan.shards):
                listed += spec.seconds
            else:
                drawn += spec.seconds
            deferred = spec.first if common is False and spec.scout else ()
            # None: the listed cases are still running. They are chosen for what changed.
            if common is not None or not spec.first:
                deal.ended(result(spec, {"@0 tl.swizzle2d": 2}, deferred=deferred))
        parts.append(drawn / (drawn + listed))
    assert parts[0] == pytest.approx(OF_REACH, abs=0.15) and max(parts[1:]) < OF_REACH / 2


@pytest.mark.parametrize("fruitless, part", [(False, OF_REACH), (True, OF_REACH / 5)])
def test_draws_that_run_a_change_no_more_leave_their_time_to_listed_cases(tmp_path: Path, fruitless: bool, part: float):
    asked = msgspec.structs.replace(options(
        targets=("language.creation", "launch.*"), backends=("compile",), seconds=60.0), alike=FEW)
    plan = Plan(id="one", options=asked, shards=gate_shards(asked, ()))
    deal, seconds = Deal(plan, tmp_path, plan.shards), Counter[bool]()
    while seconds[False] < 50.0:
        spec = deal.popleft()
        drawn = spec.index >= len(plan.shards) and spec.scout and not spec.first
        seconds[drawn] += spec.seconds
        ran = {"@0 tl.swizzle2d": 2} if not seconds[True] or (drawn and not fruitless) else {}
        deal.ended(result(spec, ran, deferred=() if ran or not spec.scout else spec.first))
    assert seconds[True] / seconds.total() == pytest.approx(part, abs=0.1)


def test_without_a_changed_function_nothing_is_scouted():
    assert not any(spec.scout or spec.only for spec in gate_shards(options(alike=Alike(changed=1)), ()))


@pytest.mark.parametrize("reached, imported, expected", [
    ((0, 1), (), "upgrade"), ((0,), (1,), "upgrade"), ((0,), (), "could not check"), ((), (), "could not check")])
def test_a_change_that_never_ran_is_no_upgrade(tmp_path: Path, reached: tuple[int, ...], imported: tuple[int, ...],
                                               expected: str):
    asked = msgspec.structs.replace(ASKED, alike=Alike(changed=2, functions=(RARE, OTHER)))
    found = verdict(tmp_path, line(reached=reached, imported=imported), line(reached=reached[:1]), options=asked)
    assert found.verdict == expected
    assert {one.name: (one.pairs, one.imported) for one in found.reach} == {
        RARE.told: (2 * (0 in reached), False), OTHER.told: (int(1 in reached), 1 in imported)}
    assert ("Changed but never run" in markdown(found)) == (expected != "upgrade")
    accepting = msgspec.structs.replace(read(), accept=(
        Accepted(target="runtime/jit.py:*", key=NEVER_RUN, reason="a message"),))
    if reached:
        assert verdict(tmp_path, line(reached=reached), options=asked, policy=accepting).verdict == "upgrade"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairPool]:
    """Workers that compile: of the installed build, which notes what differs, and of one with planted faults."""
    faulty = edited(tmp_path_factory.mktemp("faulty"), WRONG_SUM | {
        "language/standard.py": ("1 / (1 + math.exp(-x))", "1 / (1 + math.exp(x))"),
        "language/math.py": ("def fma(x, y, z, _semantic=None):\n", "def fma(x, y, z, _semantic=None):\n    0\n")})
    shared = alike(str(installed().parent), str(faulty))
    watch = watch_of(shared, str(installed().parent))
    assert [one.name for one in shared.functions] == ["fma", "TritonSemantic.add", "sigmoid"] and watch is not None
    options = PoolOptions(backend="compile:sm_90", spare=False)
    with pools(options, faulty) as made:
        before = Pool(dataclasses.replace(options, build=str(installed().parent),
                                          watched=msgspec.json.encode(watch).decode()))
        yield PairPool(before, made[0], alike=shared)
        before.close()


@pytest.mark.slow
def test_workers_note_which_changed_functions_a_case_runs(watched: PairPool):
    watched.execute(addition(rows=8), "own")
    assert watched.last is not None and watched.last.reached == (1,)
    watched.scouting = True
    with pytest.raises(Unreached):
        watched.execute(addition(rows=8), "own")
    watched.execute(addition(rows=8, dtype="fp32"), "own")
    assert watched.last.reached == (effect(1), 1) and watched.last.code_changed
    watched.scouting = False


@pytest.mark.slow
@pytest.mark.parametrize("edit, found", [("i * size_j - j", True), ("(i * size_j + j) + 0", False)])
def test_a_rarely_used_function_is_met_at_once_and_counted(tmp_path: Path, edit: str, found: bool):
    """Of all that a gate has to do, the first shard: a dozen cases or so of some hundred thousand."""
    faulty = edited(tmp_path / "faulty", {"language/standard.py": ("i * size_j + j", edit)})
    builds = str(installed().parent), str(faulty)
    asked = options(targets=("language.*", "triton.*"), backends=("interpreter",), builds=builds, alike=alike(*builds))
    spec = msgspec.structs.replace(gate_shards(asked, ())[0], shrink=False, most_findings=1, seconds=60.0)
    with preload(asked) as processes:
        shard.use_preloaded(str(processes.folder))
        try:
            result = shard.run_shard(spec, str(tmp_path / "state"))
        finally:
            shard.close_pools()
            shard.use_preloaded("")
    pairs = list(lines(tmp_path / "state"))
    assert (len(result.findings), result.error) == (int(found), "") and 1 <= len(pairs) <= 16
    assert all(pair.target == "language.creation" and pair.reached == (effect(0), 0) for pair in pairs)
    assert found or {pair.relation for pair in pairs} <= {Relation.SAME, Relation.IDENTICAL_CODE, Relation.BOTH}
