"""Known issues of pointers that are cast to pointers to other elements."""

from tridiff.fuzz.known.calls import changed, of
from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.rows.pointers import pointed
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def _to_narrower_elements(call: Call) -> bool:
    """Whether pointers to neighbours become pointers to narrower elements, and nothing is between."""
    one, other = pointed(call)
    return dtype(one).itemsize > dtype(other).itemsize and call.number("first") == 1 and not call.option("through", "")


def _by_way_of_the_address(case: Case) -> Case | None:
    return changed(case, options=cases.call_of(case).options | {"through": "i64"})


ISSUES = (
    KnownIssue(
        name="cast-pointers-stay-neighbours", stage="ttgir",
        where=(("language.memory", "own"),), entries=("language.memory/value-c86fceb7c4",), backends=("cuda",),
        title="neighbouring pointers that are cast to narrower elements are loaded and stored side by side",
        match=of("pointer.cast", "pointer.cast.store", having=_to_narrower_elements), relative=_by_way_of_the_address,
        kinds=(*WRONG, "nan_payload"), explains="tridiff.fuzz.known.predictions.pointers:close_together"),
    KnownIssue(
        name="negated-16-bit-integer-not-cut", stage="ptxas", where=(("language.overflow", "own"),),
        entries=("language.overflow/value-e9f9dd4121",), backends=("cuda",), kinds=("value",),
        upstream=("llvm-project#160482",), title="-x of 16 bits is extended as a number of 32 bits",
        match=of("overflow.pointer", having=lambda call: call.option("way") == "difference"
                 and call.operands[0].dtype == "i16"),
        explains="tridiff.fuzz.known.predictions.pointers:moved_the_other_way"),
)
