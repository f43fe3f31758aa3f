"""Chains have a relative without the pattern, also where a layout cannot be converted into, or an axis is short."""

from tests.support.repository import ENTRIES, REPOSITORY
from tridiff.fuzz.kinds.chains.cases import with_chain
from tridiff.fuzz.kinds.chains.steps import without
from tridiff.fuzz.known.chains import plainer
from tridiff.fuzz.known.chains.features import words
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import (
    Alloc,
    Chain,
    Fp4,
    Global,
    Load,
    Out,
    Permute,
    Read,
    Reduce,
    Reshape,
    Store,
    Subslice,
)
from tridiff.kernels.gluon.layouts import Blocked, Linear, row_major


def _case(chain: Chain, entry: str) -> Case:
    """A case of a chain, in the shape of an entry's."""
    old = ENTRIES.load(REPOSITORY / f"corpus/gluon.{entry}.json").case
    names = {spec.name: spec for spec in old.arrays}
    assert {array.name for array in chain.arrays} <= set(names)
    made = with_chain(old, chain)
    assert made is not None
    return made


def test_a_fold_of_a_fold_stays_in_its_plain_layout():
    """The result of the second fold lies in a slice of a slice, which no conversion can name."""
    layout = Linear(register=((2, 0, 0),), lane=((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 4), (0, 4, 0)),
                    warp=((0, 0, 2), (0, 2, 0)), shape=(4, 8, 8))
    chain = Chain(warps=4, arrays=(Global(name="in0", dtype="i32", shape=(4, 8, 8)),
                                    Global(name="out0", dtype="i32", shape=(8,), output=True)),
                  steps=(Load(0, layout), Reduce(0, 0, "add"), Reduce(1, 0, "add"), Out(2, 1)))
    case = _case(chain, "reduce_scan_layouts/value-b42e750096")
    assert "lanes apart" in words(chain)
    relative = plainer.folded(case)
    assert relative is not None and isinstance(relative.program, Chain)
    assert words(relative.program).isdisjoint({"lanes apart", "warps apart"})
    assert [type(step) for step in relative.program.steps].count(Reduce) == 2


def test_an_axis_shorter_than_four_bytes_is_decoded_beside_another():
    layout = Blocked((1, 4), (4, 8), (2, 2), (1, 0))
    chain = Chain(warps=4, arrays=(Global(name="in0", dtype="i8", shape=(1, 16)),
                                    Global(name="out0", dtype="fp16", shape=(2, 16), output=True)),
                  steps=(Load(0, layout), Fp4(0, "fp16", 0, Blocked((2, 4), (4, 8), (2, 2), (1, 0))), Out(1, 1)))
    case = _case(chain, "fp4/value-64b41eb6df")
    assert "behind another axis" in words(chain)
    relative = plainer.decoded(case)
    assert relative is not None and isinstance(relative.program, Chain)
    assert "behind another axis" not in words(relative.program)


def test_what_is_stored_through_a_transposed_slice_goes_with_it_though_its_buffer_is_read():
    flat, square = Blocked((1,), (32,), (4,), (0,)), Blocked((1, 1, 1), (8, 2, 2), (4, 1, 1), (0, 1, 2))
    chain = Chain(warps=4, arrays=(Global(name="in0", dtype="i32", shape=(2,)),
                                    Global(name="in1", dtype="i32", shape=(1, 1, 1)),
                                    Global(name="out0", dtype="i32", shape=(2,), output=True)),
                  steps=(Load(0, flat), Alloc("i32", (2,), row_major(1), source=0), Reshape(1, (2, 1, 1)),
                         Subslice(2, 0, 1, 1), Permute(3, (0, 2, 1)), Load(1, square), Store(4, 5), Read(1, flat),
                         Out(7, 2)))
    assert "transposed slice" in words(chain)
    left = without(chain, {4})
    assert left is not None and "transposed slice" not in words(left)
    assert not any(isinstance(step, Permute | Store) for step in left.steps)
    assert [type(step) for step in left.steps][-2:] == [Read, Out]
