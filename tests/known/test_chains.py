"""Chains have a relative without the pattern, also where a layout cannot be converted into, or an axis is short."""

from tests.support.in_subprocess import REPOSITORY
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.kinds.chains.cases import with_chain
from tridiff.fuzz.known.chains import plainer
from tridiff.fuzz.known.chains.features import words
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import Chain, Fp4, Global, Load, Out, Reduce
from tridiff.kernels.gluon.layouts import Blocked, Linear


def _case(chain: Chain, entry: str) -> Case:
    """A case of a chain, in the shape of an entry's."""
    old = Corpus(REPOSITORY / "corpus").load(REPOSITORY / f"corpus/gluon.{entry}.json").case
    names = {spec.name: spec for spec in old.arrays}
    assert {array.name for array in chain.arrays} <= set(names)
    made = with_chain(old, chain)
    assert made is not None
    return made


def test_a_fold_of_a_fold_stays_in_its_plain_layout() -> None:
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


def test_an_axis_shorter_than_four_bytes_is_decoded_beside_another() -> None:
    layout = Blocked((1, 4), (4, 8), (2, 2), (1, 0))
    chain = Chain(warps=4, arrays=(Global(name="in0", dtype="i8", shape=(1, 16)),
                                    Global(name="out0", dtype="fp16", shape=(2, 16), output=True)),
                  steps=(Load(0, layout), Fp4(0, "fp16", 0, Blocked((2, 4), (4, 8), (2, 2), (1, 0))), Out(1, 1)))
    case = _case(chain, "fp4/value-64b41eb6df")
    assert "behind another axis" in words(chain)
    relative = plainer.decoded(case)
    assert relative is not None and isinstance(relative.program, Chain)
    assert "behind another axis" not in words(relative.program)
