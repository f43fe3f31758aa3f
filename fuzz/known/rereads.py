"""Known issue of one place in memory that is read twice, in calls of the language; see also `graphs`."""

from tridiff.fuzz.known.calls import of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language.rows.rereads import square
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def _asks_the_sign(call: Call) -> bool:
    return dtype(call.operands[0].dtype).is_float and square(call)


ISSUES = (
    KnownIssue(
        name="product-of-two-reads-is-a-square", stage="ptxas", where=(("language.memory", "own"),),
        title="the product of two reads of one address is taken for one that is not negative",
        entries=("language.memory/value-5cddb798b2",), match=of("memory.reread", having=_asks_the_sign),
        explains="tridiff.fuzz.known.predictions.rereads:not_negative"),
)
