"""Drawn programs: legal, of the sizes that were asked for, reaching every operation and pairs of rare features."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace as replace_limits
from functools import cache
from typing import get_args

import hypothesis
import pytest
from hypothesis import Phase, settings
from msgspec.structs import replace

from tests.support.draws import GENERATE, draws
from tests.support.nights import by_day
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.coverage import cells, features
from tridiff.fuzz.kinds.graphs.coverage_report import declared
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.faults import changes, families
from tridiff.fuzz.kinds.graphs.operations import choices
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES, Family
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.known import avoiding
from tridiff.fuzz.known.graphs import ISSUES
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Function, Graph, Load, Node, Reduce, Scan, Schedule, Sort, Store
from tridiff.oracles.dtypes import NAMES

each = pytest.mark.parametrize
PER_FAMILY = 60
DEVICE = Limits()
INTERPRETER = Limits(elements=1 << 11, variants=False)


@cache
def drawn(family: Family, *, interpreter: bool = False, number: int = PER_FAMILY, seed: int = 2024) -> tuple[Case, ...]:
    """What a campaign would draw, with a fixed seed."""
    limits = INTERPRETER if interpreter else DEVICE
    return tuple(draws(programs(family, target=f"codegen.{family}", limits=limits), number, seed=seed))


def everything() -> list[Case]:
    return [case for family in FAMILIES for case in drawn(family)]


def has(graph: Graph, *kinds: type[Node]) -> bool:
    return any(isinstance(node, kinds) for node in graph.nodes)


@each("family", FAMILIES)
def test_at_least_95_percent_are_accepted(family: Family):
    for interpreter in (False, True):
        cases = drawn(family, interpreter=interpreter, number=PER_FAMILY if not interpreter else 25)
        refused = [case for case in cases if not valid(case)]
        assert len(refused) <= 0.05 * len(cases), f"{len(refused)} of {len(cases)} refused"
        for case in cases:
            case.check()


@each("family", by_day(["pointwise", "memory", "mixed"], only=["mixed"]))
def test_a_form_is_kept_clear_of_only_if_the_limits_name_it_and_once_in_fifty_not_even_then(family: Family):
    target = find(f"codegen.{family}")

    def having(name: str, cases: Sequence[Case]) -> int:
        return sum(any(one.name == name and one.concerns(case, "own") for one in ISSUES) for case in cases)

    def found(number: int, *avoid: str) -> list[Case]:
        return list(draws(avoiding.cases(target, replace_limits(DEVICE, avoid=frozenset(avoid)), subject="own"),
                          number, seed=8))

    as_drawn = found(200)
    assert as_drawn[:40] == list(draws(target.draw.cases(DEVICE), 40, seed=8)) == found(40, "no-such-issue")
    avoidable = {one.name for one in ISSUES if one.relative or one.instead}
    common = max(sorted(avoidable), key=lambda name: having(name, as_drawn))
    clear = found(200, common)
    assert having(common, as_drawn) >= 4 and having(common, clear) <= having(common, as_drawn) // 3
    assert found(40, common) == clear[:40] and all(map(target.draw.valid, clear))


def test_what_is_avoided_is_drawn_all_the_same_at_the_last_of_fifty_choices():
    target = find("codegen.mixed")
    issue, case = next((one, case) for case in everything() for one in ISSUES
                       if one.relative and one.concerns(case, "own") and (
                           made := one.relative(case)) is not None and target.draw.valid(made))
    assert avoiding.clear_of(case, target, "own", (issue,), choose=lambda count: count - 1) == case
    clear = avoiding.clear_of(case, target, "own", (issue,), choose=lambda count: 0)
    assert clear != case and not issue.match(clear)


def test_sizes():
    nodes = sorted(len(graph_of(case).nodes) for case in everything())
    # Wanted: a median of 15 and a tenth above 40; with a margin.
    assert nodes[len(nodes) // 2] >= 18
    assert sum(count > 40 for count in nodes) >= 0.13 * len(nodes)


def test_a_family_keeps_to_its_name():
    for family, kind in (("reduction", Reduce), ("scan", Scan), ("sort", Sort)):
        having = sum(has(graph_of(case), kind) for case in drawn(family))
        assert having >= 0.6 * PER_FAMILY
    for case in drawn("pointwise"):
        assert not has(graph_of(case), Reduce, Scan, Sort)


def test_rare_features_meet():
    pairs = Counter(cell for case in everything() for cell in cells(case) if cell.startswith("pair="))
    for wanted in ("gather+scan", "gather+reduce", "masked+sort", "reduce+scan", "atomic_add+reduce", "inout+masked",
                   "no_upcast+scan", "bucketize+sort", "random+reduce", "no_x_dim+reduce"):
        one, two = sorted(wanted.split("+"))
        assert pairs[f"pair={one}+{two}"], wanted
    assert len(pairs) > 120


def test_three_rare_features_meet():
    wanted = {"gather", "scan", "reduce"}
    assert any(wanted <= set(features(graph_of(case))) for seed in range(40) for case in drawn("mixed", seed=seed))


def test_every_operation_expression_and_dtype_comes_up():
    reached = {cell for case in everything() for cell in cells(case)}
    operations = {cell.split()[0].removeprefix("op=") for cell in reached if cell.startswith("op=")}
    wanted = {one.op for name in NAMES for one in choices(name)}
    missing = wanted - operations
    assert len(missing) <= 0.25 * len(wanted), f"not in {len(everything())} programs: {sorted(missing)}"
    folds = {f"reduce_{kind}" for kind in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "welford",
                                           "welford_combine", "xor_sum")}
    folds |= {f"scan_{kind}" for kind in ("sum", "prod", "max", "min", "affine", "argmax", "argmin", "second",
                                          "logcumsumexp")}
    assert len(folds - operations) <= 4, sorted(folds - operations)
    expressions = {cell.removeprefix("expr=") for cell in reached if cell.startswith("expr=")}
    assert len(set(get_args(Function)) - expressions) <= 14, sorted(set(get_args(Function)) - expressions)
    assert {buffer.dtype for case in everything() for buffer in graph_of(case).buffers} == set(NAMES)


def test_every_kind_of_node_comes_up():
    """One for which no production is called is drawn nowhere, though every walk knows it."""
    assert {type(node) for case in everything() for node in graph_of(case).nodes} == {*get_args(Node)}


def test_schedules_and_sizes_vary():
    schedules: list[Schedule] = [one for case in everything() for one in graph_of(case).schedules]
    # One seed may miss an edge, and few scans can be split.
    scans = [one for seed in range(3) for case in drawn("scan", seed=seed) for one in graph_of(case).schedules]
    assert {one.reduction for one in schedules + scans} == {"persistent", "looped", "split", "cooperative"}
    assert sum(one.reduction == "split" for one in scans) > 0.02 * len(scans)
    assert {one.access for one in schedules} == {"pointers", "block_pointers", "descriptors"}
    for name in ("no_x_dim", "static", "unspecialised", "lift_loads", "upcast"):
        assert {getattr(one, name) for one in schedules} == {True, False}, name
    lengths = {length for case in everything() for length in graph_of(case).outer}
    wanted = {0, 1, 2, 3, 7, 8, 9, 16, 17, 127, 128, 129}
    for seed in range(24):  # One program in a hundred has no element.
        if not lengths >= wanted:
            lengths |= {length for case in drawn("pointwise", seed=seed) for length in graph_of(case).outer}
    assert lengths >= wanted
    assert {len(graph_of(case).outer) for case in everything()} == {1, 2, 3}
    # A kernel to compile is what a case costs: one program in five has a second, one in ten is compiled otherwise too.
    # (What one seed draws comes in clusters: 9 % of 480 programs here, 17 % there.)
    cases = everything() + [case for family in FAMILIES for case in drawn(family, seed=7, number=30)]
    launches = sum(len(graph_of(case).schedules) + len(case.variants) for case in cases) / len(cases)
    assert sum(len(graph_of(case).schedules) > 1 for case in cases) > 0.1 * len(cases)
    assert any(case.variants for case in everything()) and launches < 1.6


def test_a_row_that_may_be_taken_in_steps_is_not_held_whole_by_few_threads():
    for case in everything():
        graph = graph_of(case)
        if graph.r is not None and not has(graph, Sort):
            warps = min(options.num_warps for options in (case.options, *case.variants))
            tile = 1 << (graph.r - 1).bit_length()
            assert all(tile <= 64 * 32 * warps for one in graph.schedules if one.reduction == "persistent")


def test_sorts_and_scans_stay_small():
    """Networks that cost the compiler seconds are the exception."""
    cases = everything() + [case for seed in range(2) for case in drawn("sort", seed=seed)]
    sorting = [graph for graph in map(graph_of, cases) if has(graph, Sort)]
    long = [graph for graph in sorting if (graph.r or 0) > 16]
    several = [graph for graph in sorting if sum(isinstance(node, Sort) for node in graph.nodes) > 1]
    assert 0 < len(long) < 0.5 * len(sorting) and len(several) < 0.5 * len(sorting)


@each("family", ["pointwise", "reduction"])
def test_the_simplest_program_is_a_load_and_a_store_or_two(family: Family):
    # Not the explain phase: it varies the minimum at random, and what it meets that is shorter is not shrunk again.
    plain = settings(database=None, max_examples=50, phases=(Phase.generate, Phase.shrink))
    simplest = hypothesis.find(programs(family, target=f"codegen.{family}", limits=DEVICE), lambda case: True,
                               random=random.Random(7), settings=plain)
    graph = graph_of(simplest)
    assert len(graph.nodes) <= 4 and len(graph.schedules) == 1
    assert has(graph, Load) and isinstance(graph.nodes[-1], Store)


def test_a_stranger_s_case_is_refused():
    case = next(case for case in drawn("pointwise") if graph_of(case).nodes)
    graph = graph_of(case)
    assert valid(case)
    longer = replace(graph, outer=(graph.outer[0] + 1000, *graph.outer[1:]))
    assert not valid(replace(case, program=longer)), "indices that leave their buffers"
    assert not valid(replace(case, arrays=case.arrays[1:])), "an array is missing"
    assert not valid(replace(case, sizes={**case.sizes, case.arrays[0].dims[0]: 1 << 20})), "an array of another length"
    assert not valid(replace(case, options=replace(case.options, launch_cooperative_grid=True)))


@each("fault", ["spread_ignored", "missing_barrier", "stale_scratch", "stored_by_all"])
def test_programs_that_faults_need_a_device_for_come_up(fault: str):
    def shows(case: Case) -> bool:
        graph = graph_of(case)
        if fault == "stored_by_all" and not any(isinstance(one, Store) and one.mode == "atomic_add"
                                                for one in graph.nodes):
            return False
        return valid(case) and changes(case, fault)

    family = families(fault)[0]
    # Raises if no draw satisfies it.
    hypothesis.find(programs(family, target=f"codegen.{family}", limits=Limits(elements=1 << 17)), shows,
                    random=random.Random(7), settings=settings(GENERATE, max_examples=1500))


def test_assertions_are_compiled_where_masked_lanes_are_out_of_bounds():
    """One program in four is asserted about lanes that its masks turn off, as a planted fault needs to be seen."""
    cases = [case for seed in range(2) for case in drawn("indexing", seed=seed)]
    shown = [case for case in cases if case.options.debug and changes(case, "masked_lanes_asserted")]
    assert len(shown) >= 0.1 * len(cases)
    assert any(isinstance(node, Load) and node.checked and node.mask is not None
               for case in shown for node in graph_of(case).nodes)


def test_what_is_reached_was_declared():
    reached = {(words["op"], words["dtype"]) for case in everything() for cell in cells(case)
               if (words := dict(word.partition("=")[::2] for word in cell.split())).keys() == {"op", "dtype"}}
    strange = {one for one in reached - declared()
               if one[0] not in ("index", "part", "where") and not one[0].startswith("asm_")}
    assert not strange
    assert {("to_fp32", "bf16"), ("lt", "u64"), ("bucketize_right_sorter", "fp16")} <= declared()
    assert not {("to_i32", "fp8e5"), ("sort", "fp8e5"), ("to_fp8e5", "fp8e5")} & declared()
