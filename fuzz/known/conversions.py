"""Known issues of conversions in calls of the language whose elements can be predicted."""

from math import prod

from tridiff.fuzz.known.calls import of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def _pairs_of_bytes(call: Call) -> bool:
    """Whether floats become bytes without a sign, more than one of them."""
    (given,) = call.operands
    return dtype(given.dtype).is_float and call.stored[0] == "u8" and prod(given.shape) > 1


ISSUES = (
    KnownIssue(
        name="stored-half-of-a-double-is-converted", stage="ptxas", kinds=("value",),
        title="the low bits of a computed float, stored by themselves, are those of the float as an integer",
        where=(("language.conversions", "own"), ("language.gluon", "own")), match=of("tl.cast.low", "gl.cast.low"),
        entries=("language.gluon/value-728da1c60b",),
        explains="tridiff.fuzz.known.predictions.conversions:low_bits_of_its_integer"),
    KnownIssue(
        name="pairs-of-bytes-not-cut", stage="ttgir", where=(("language.*", "own"),),
        entries=("language.conversions/value-e00f5612dc",), kinds=("value",), backends=("cuda",),
        title="a float beyond u8 changes the byte that is stored beside it",
        match=of("tl.cast", "tl.store.implicit", "gl.cast", "gl.store.implicit", having=_pairs_of_bytes),
        explains="tridiff.fuzz.known.predictions.conversions:pairs_not_cut"),
)
