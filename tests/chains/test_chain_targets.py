"""What targets made of chains say about themselves: what they need, what tells their findings apart, what may vary."""

import msgspec
import pytest

from tests.chains.drawn import CHAIN_TARGETS, about, cases
from tridiff.fuzz.records import Case, Environment, LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.kernels.gluon.chain import Alloc, Chain, Fp4, Global, Limit, Load, Out, Read, Reduce, Scan, Step, Take
from tridiff.kernels.gluon.layouts import Blocked, Distributed, Linear, Padded, Shared, SharedLinear, Slice, Swizzled
from tridiff.kernels.gluon.ownership import lanes_apart

each = pytest.mark.parametrize

OLD, NEW = (Environment(triton=version, backend="cuda", capability="9.0") for version in ("3.6.0", "3.9.0"))
INDEXED = ("gluon.gather_scatter", "gluon.atomics")


@each("name", (*CHAIN_TARGETS, "gluon.global_scratch"))
def test_a_target_is_left_out_where_none_of_its_cases_could_run(name: str):
    target = find(name)
    assert bool(target.run.lacking(OLD)) is (name in INDEXED)
    between = Environment(triton="3.7.1", backend="cuda", capability="9.0")
    assert bool(target.run.lacking(between)) is (name == "gluon.atomics")
    assert target.run.lacking(NEW) == ""
    assert target.run.lacking(Environment(triton="3.9.0", backend="compile:sm_90")) == ""
    assert target.run.lacking(Environment(triton="3.9.0", backend="compile:gfx942"))
    # An unknown version is tried, and declined case by case where it must be.
    assert target.run.lacking(Environment(backend="cuda", capability="9.0")) == ""


def test_what_atomics_return_may_differ_between_launches_and_nothing_else():
    target = find("gluon.atomics")
    some = 0
    for case in cases("gluon.atomics", 20):
        reference = target.judge.canonical(case)
        held = reference.outputs if reference is not None else ()
        assert target.judge.unordered(case) == held
        assert set(held) < {spec.name for spec in case.arrays if spec.content is None}
        some += bool(held)
    assert some >= 10
    assert not any(find("gluon.gather_scatter").judge.unordered(case) for case in cases("gluon.gather_scatter", 10))


GRID = Blocked((1, 1), (8, 4), (1, 1), (1, 0))


@each("layout, shape, axis, apart", [
    (GRID, (16, 16), 0, False), (GRID, (16, 16), 1, False),
    (Linear((), ((1,), (2,), (0,), (8,), (0,)), ((4,),), (16,)), (16,), 0, True),
    (Linear((), ((0,), (1,), (2,), (8,), (0,)), ((4,),), (16,)), (16,), 0, False),
    (Linear((), ((0, 8), (1, 0), (8, 0), (0, 4), (4, 0)), (), (16, 16)), (16, 16), 1, True),
    (Linear((), ((0, 8), (1, 0), (8, 0), (0, 4), (4, 0)), (), (16, 16)), (16, 16), 0, True),
    (Linear((), ((1, 0), (2, 0), (4, 0), (0, 1), (0, 2)), (), (8, 4)), (8, 4), 1, False),
    (Slice(1, Linear((), ((1, 0), (0, 1), (2, 0), (0, 2), (4, 0)), (), (8, 4))), (8,), 0, True),
    (Linear((), ((0,), (0,), (0,), (0,), (0,)), (), (1,)), (1,), 0, False),
])
def test_lanes_that_move_along_an_axis_are_neighbours_or_apart(
        layout: Distributed, shape: tuple[int, ...], axis: int, apart: bool):
    assert lanes_apart(layout, shape=shape, axis=axis) is apart


def test_a_defect_is_one_finding_whichever_output_shows_it():
    for name in CHAIN_TARGETS:
        assert {find(name).judge.output_class(array) for array in ("out0", "out1", "out12")} == {"out"}
        assert (find(name).judge.output_class("in3"), find(name).judge.output_class("passes")) == ("in", "passes")


def test_findings_of_reductions_over_lanes_apart_are_told_apart():
    target = find("gluon.reduce_scan_layouts")

    def of(layout: Distributed, warps: int = 1) -> Case:
        chain = Chain(warps, (Global("in0", "i32", (16, 16)), Global("out0", "i32", (16,), True)),
                      (Load(0, layout), Reduce(0, 1, "add"), Out(1, 1)))
        return msgspec.structs.replace(cases("gluon.reduce_scan_layouts", 1)[0], program=chain,
                                       options=LaunchOptions(num_warps=1))

    register = ((0, 1), (0, 2), (2, 0))
    assert target.judge.label(of(GRID)) == ""
    lanes = ((0, 8), (1, 0), (8, 0), (0, 4), (4, 0))
    assert target.judge.label(of(Linear(register, lanes, (), (16, 16)))) == "lanes apart"
    assert target.judge.label(of(Linear(register, ((0, 8), (0, 4), (1, 0), (8, 0), (4, 0)), (), (16, 16)))) == ""
    # The lanes of the other axis are apart; warps share the reduction (wrong as well on an H200).
    lanes = ((1, 0), (2, 0), (0, 8), (4, 0), (8, 0))
    assert target.judge.label(of(Linear(((0, 1), (0, 2)), lanes, ((0, 4),), (16, 16)), 2)) == "lanes apart"
    # Lanes are neighbours, warps are not.
    lanes = ((1, 0), (2, 0), (4, 0), (0, 1), (0, 2))
    assert target.judge.label(of(Linear((), lanes, ((0, 4), (8, 0), (0, 8)), (16, 16)), 8)) == "warps apart"
    assert target.judge.label(of(Linear((), lanes, ((0, 4), (0, 8), (8, 0)), (16, 16)), 8)) == ""
    # One warp bit along the axis, between two of the other; then behind both, and behind one that moves nothing.
    lanes = ((0, 1), (0, 2), (0, 4), (2, 0), (4, 0))
    for register, warps, word in (((), ((1, 0), (0, 8), (8, 0)), "warps apart"), ((), ((1, 0), (8, 0), (0, 8)), ""),
                                  (((8, 0),), ((0, 0), (0, 8), (1, 0)), "")):
        assert target.judge.label(of(Linear(register, lanes, warps, (16, 16)), 8)) == word


@each("layout, word", [
    (Padded(((8, 1),), ((0, 1), (0, 2), (0, 4), (1, 0), (2, 0)), (4, 8)), "padding cuts vectors"),
    (Padded(((2, 2), (8, 4)), ((0, 1), (0, 2), (0, 4), (1, 0), (2, 0)), (4, 8)), ""),
    (SharedLinear(((0, 1), (0, 2), (0, 4), (1, 0), (2, 6))), "mixed offsets"),
    (SharedLinear(((1, 0), (0, 2), (0, 4), (0, 1), (2, 0))), ""), (Swizzled(2, 1, 4, (1, 0)), ""),
])
def test_buffers_that_meet_a_known_defect_are_told_apart(layout: Shared, word: str):
    # Registers move the offset by 4 and 22 elements, lanes by 1, 2 and 8, where bits are mixed.
    held = Linear(((0, 4), (2, 0)), ((0, 1), (0, 2), (1, 0), (0, 0), (0, 0)), (), (4, 8))
    buffer = Alloc("i32", (4, 8), layout, source=0)
    assert about(Load(0, held), buffer, Read(1, held), Out(2, 1), shape=(4, 8)) == word
    if word == "mixed offsets":  # a thread with one element adds nothing
        assert about(Load(0, GRID), buffer, Read(1, GRID), Out(2, 1), shape=(4, 8)) == ""


@each("order, word", [((1, 0), ""), ((0, 1), "behind another axis")])
def test_bytes_decoded_along_an_axis_that_is_not_innermost_are_told_apart(order: tuple[int, ...], word: str):
    held = Blocked((2, 2), (8, 4), (1, 1), order)
    assert about(Load(0, held), Fp4(0, "fp16", 1, GRID), Out(1, 1), shape=(8, 8), dtype="i8", made="fp16",
                 to=(8, 16)) == word


@each("target", ["gluon.local_memory", "gluon.view_chain"])
def test_paddings_that_cut_vectors_are_drawn(target: str):
    label = find(target).judge.label
    assert any(label(case) == "padding cuts vectors" for start in range(1, 6) for case in cases(target, 40, start))


def square(*steps: Step, dtype: str = "i16", shape: tuple[int, int] = (4, 4)) -> str:
    return about(*steps, dtype=dtype, shape=shape, between=(0, 3))


def test_findings_of_scans_over_repeated_lanes_are_told_apart():
    before, behind = (Blocked((1, 1), (16, 2), (1, 1), order) for order in ((0, 1), (1, 0)))
    assert square(Load(0, before), Scan(0, 1, "add"), Out(1, 1)) == "lanes repeated"
    # Repeated lanes behind those of the axis, or along it, keep the lanes' numbers as they are.
    assert square(Load(0, behind), Scan(0, 1, "add"), Out(1, 1)) == ""
    assert square(Load(0, before), Scan(0, 0, "add"), Out(1, 1)) == ""
    # Where a thread holds more than there is, 3.6.0 says so before it could compute anything wrong.
    larger = Blocked((8, 1), (16, 2), (1, 1), (0, 1))
    assert square(Load(0, before), Scan(0, 1, "add"), Load(0, larger), Scan(2, 1, "add"), Out(1, 1)) == ""
    assert square(Load(0, larger, mask=Limit(0, 1), other=-3), Scan(0, 0, "add"), Out(1, 1)) == ""


@each("dtype, other, word", [
    ("i16", -3, "negative other of 8 or 16 bits"), ("i8", -2, "negative other of 8 or 16 bits"), ("i16", -1, ""),
    ("i32", -3, "")])
def test_findings_of_negative_others_are_told_apart(dtype: str, other: int, word: str):
    assert square(Load(0, GRID, mask=Limit(0, 1), other=other), Out(0, 1), dtype=dtype) == word


def test_gathers_that_take_minutes_to_compile_are_told_apart_and_not_drawn():
    wide = Blocked((1, 1), (32, 1), (1, 1), (0, 1))
    steps = (Load(0, wide), Load(0, wide), Take(0, 1, 1), Out(2, 1))
    assert square(*steps, dtype="i32", shape=(32, 16)) == ""
    assert square(*steps, dtype="i32", shape=(32, 128)) == "gather of many registers"
    assert all(find("gluon.register_views").judge.label(case) != "gather of many registers"
               for case in cases("gluon.register_views", 20))
