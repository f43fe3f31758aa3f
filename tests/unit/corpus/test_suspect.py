"""Which part of a small program is under suspicion, and which findings that makes one."""

import pytest
from msgspec.structs import replace

from tridiff.fuzz.corpus.pattern import pattern_of
from tridiff.fuzz.corpus.suspect import suspect_of
from tridiff.fuzz.records import Case, Evidence, Signature, Verdict
from tridiff.kernels.codegen.graph import (
    Apply,
    Buffer,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Num,
    Pointwise,
    Reduce,
    Scan,
    Schedule,
    Store,
    Sym,
)

X, R = Sym("x0"), Sym("r")
READ = Load(buffer="in0", index=X)
BELOW = Index(expr=Apply("lt", (X, Num(3))), dtype="i1")
MASK = Load(buffer="in0", index=X, mask=0)
SCAN = Scan(combine="sum", args=(0,))
QUOTIENT = Apply("floordiv", (X, Num(3)))


def graph(*nodes: object, outer: tuple[int, ...] = (1,), r: int | None = None, blocks: tuple[int, ...] = (1,),
          dtype: str = "fp32", reduction: str = "persistent", r_block: int = 1) -> Graph:
    """A program that stores its last value. dtype: of what it loads."""
    store = Store(buffer="out0", index=X, value=len(nodes) - 1)
    buffers = (Buffer(name="in0", dtype=dtype, length=1), Buffer(name="out0", dtype="fp32", length=1, role="out"))
    return Graph(outer=outer, r=r, buffers=buffers, nodes=(*nodes, store), schedules=(
        Schedule(x_blocks=blocks, reduction=reduction, r_block=r_block),))


@pytest.mark.parametrize("program, within, around", [
    (graph(READ), (), ()),
    # A comparison makes a mask, a mask makes a masked value.
    (graph(BELOW, MASK), ("mask",), ("mask",)),
    (graph(BELOW, MASK, MASK), ("masks",), ("mask",)),
    (graph(BELOW, READ, Masked(mask=0, arg=1)), ("masked",), ("mask",)),
    (graph(READ, Pointwise(op="lt", args=(0, 0))), ("compare",), ()),
    (graph(READ, Cast(arg=0, dtype="i32", bitcast=True)), ("bitcast",), ()),
    (graph(READ, Cast(arg=0, dtype="i32", bitcast=True), Pointwise(op="erfinv", args=(0,))), ("bitcast",), ()),
    (graph(READ, Pointwise(op="fmax", args=(0, 0))), ("fmax",), ()),
    (graph(Index(expr=QUOTIENT)), ("integer division",), ("integer division",)),
    (graph(Load(buffer="in0", index=QUOTIENT)), ("integer division",), ("integer division",)),
    (graph(Index(expr=Apply("mul", (X, Num(3))))), ("index",), ()),
    (graph(READ, outer=(1, 1)), ("shared axis",), ("shared axis",)),
    (graph(READ, outer=(1, 1), blocks=(1, 1)), ("axes",), ("axes",)),
    (graph(READ, Reduce(kind="max", args=(0,)), r=3), ("reduce extremum",), ("axes",)),
    (graph(READ, Reduce(kind="sum", args=(0,)), r=3), ("reduce sum",), ("axes",)),
    (graph(READ, r=3), ("row",), ("axes",)),
    (graph(READ, Pointwise(op="logical_not", args=(0,)), dtype="i1"), ("load of booleans",), ()),
    (graph(READ, SCAN, r=3), ("scan",), ("axes",)),
    (graph(READ, SCAN, r=3, reduction="looped"), ("scan tiled",), ("axes",)),
    (graph(READ, SCAN, r=3, reduction="split", r_block=2), ("scan wide",), ("axes",)),
    (graph(Constant(value="1", dtype="i32")), (), ())])
def test_the_most_particular_part_is_the_suspect(
    program: Graph, within: tuple[str, ...], around: tuple[str, ...],
):
    assert suspect_of(program) == within
    assert suspect_of(program, astray="load") == around
    # Along a row that nothing folds, elements may be left out, or be wrong: one suspect.
    assert (suspect_of(program, astray="unwritten") == ("row",)) == (program.r is not None)


def test_the_masks_of_a_program_are_those_of_its_loads():
    assert suspect_of(graph(BELOW, MASK), astray="store") == ()


def key(program: Graph, *, right: str = "1", wrong: str = "0", said: str = "", **changes: object) -> str:
    """The key of a failure with one wrong element, or of one that ended as `said`."""
    case = Case(target="codegen.mixed", sizes={"n": 1}, program=program,
                arrays=("out0 i32[n]",))
    signature = Signature(target="codegen.mixed", subject="own", verdict=Verdict.DISAGREE, kind="value", where="out")
    evidence = None if said else Evidence(expected={"numpy": {"out0": (right,)}}, actual={"out0": (wrong,)})
    found = pattern_of(replace(signature, **changes), case, evidence, said)
    assert found is not None
    return found.key


ASTRAY = "k.py:3 (kernel), program (0, 0, 0): out of bounds {} of 4 bytes at {}0[{}], which has 1 elements; lane {}"


def test_a_wrong_formula_is_one_finding_as_a_value_and_as_an_address():
    value = graph(Index(expr=QUOTIENT))
    address = graph(Load(buffer="in0", index=QUOTIENT), Pointwise(op="lt", args=(0, 0)))
    assert key(value) == key(value, right="96", wrong="-5") == key(address, said=ASTRAY.format("load", "in", -1, 0))


def test_a_mask_that_is_lost_is_none_whose_value_is():
    lost = key(graph(BELOW, MASK), said=ASTRAY.format("load", "in", 3, 0))
    assert lost == key(graph(BELOW, MASK), said=ASTRAY.format("load", "in", 3, 2)) != key(graph(BELOW, MASK))
    assert key(graph(BELOW, READ, Masked(mask=0, arg=1))) != key(graph(BELOW, MASK))


def test_where_nothing_particular_is_left_the_way_tells():
    plain = graph(READ)
    keys = {key(plain), key(plain, wrong="2"), key(plain, wrong="-1"), key(plain, right="-0.0", wrong="0.0"),
            key(plain, said=ASTRAY.format("store", "out", 1, 0)), key(plain, said=ASTRAY.format("store", "out", 1, 1)),
            key(plain, said=ASTRAY.format("load", "in", 1, 0)), key(plain, kind="device_assert"),
            key(plain, verdict=Verdict.CRASH, kind="ValueError: no such type")}
    assert len(keys) == 9
    # Whichever of the later lanes, and of whichever access.
    assert key(plain, said=ASTRAY.format("store", "out", 1, 1)) == key(plain, said=ASTRAY.format("load", "in", 2, 3))


def test_a_program_that_is_not_small_has_no_suspect():
    def found(parts: int) -> object:
        program = graph(BELOW, READ, *[Masked(mask=0, arg=1)] * parts)
        case = Case(target="codegen.mixed", sizes={"n": 1}, program=program,
                    arrays=("out0 i32[n]",))
        signature = Signature(target="codegen.mixed", subject="own", verdict=Verdict.DISAGREE, kind="value", where="o")
        return pattern_of(signature, case, Evidence(expected={"numpy": {"out0": ("1",)}}, actual={"out0": ("0",)}))

    assert found(14) is not None and found(15) is None


def test_what_stayed_as_it_was_is_unwritten_in_every_array():
    def told(kept: str, byte: str, kind: str = "value") -> str:
        arrays = ("io0 i32[n] = 7", "io0_after i32[n]", "out1 fp8e5[n]")
        case = Case(target="codegen.mixed", sizes={"n": 1}, program=graph(READ), arrays=arrays)
        signature = Signature(target="codegen.mixed", subject="own", verdict=Verdict.DISAGREE, kind=kind, where="out")
        found = pattern_of(signature, case, Evidence(
            inputs={"io0": ("7",)}, expected={"numpy": {"io0_after": ("1",), "out1": ("1.0",)}},
            actual={"io0_after": (kept,), "out1": (byte,)}))
        assert found is not None
        return found.key

    # A byte of poison is a number, and an array that had values has them still.
    assert told("7", "-0.0546875") == told("1", "-0.0546875") == told("5", "3.0", "unwritten") != told("7", "3.0")


def test_a_lane_too_many_shows_behind_an_array_and_as_a_second_write():
    assert key(graph(READ), kind="written_twice", said="1 elements of out0 were written more than once") == key(
        graph(READ), said=ASTRAY.format("store", "out", 1, 1)) != key(graph(READ), said=ASTRAY.format(
            "store", "out", 1, 0))


def test_numbers_of_arrays_in_a_message_are_left_out():
    said = [key(graph(READ), verdict=Verdict.CRASH, kind=f"AssertionError: cannot cast {text}")
            for text in ("[[N N]", "[[ N  N]", "to i8")]
    assert said[0] == said[1] != said[2]
