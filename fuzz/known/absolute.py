"""Known issue of the absolute value of a NaN, of which LLVM says that it clears the sign and PTX says nothing."""

from tridiff.fuzz.known.calls import of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype


def _is_float(call: Call) -> bool:
    return dtype(call.operands[0].dtype).is_float


ISSUES = (
    KnownIssue(
        name="bits-of-the-abs-of-nan", stage="llvm", upstream=("llvm-project#219089",),
        title="abs of PTX gives a NaN of its own for a NaN, of which LLVM's leaves all but the sign",
        where=(("language.*", "own"),), entries=("language.pointwise/nan-payload-462f9996dd",), backends=("cuda",),
        match=of("tl.abs", having=_is_float), kinds=("nan_payload",),
        explains="tridiff.fuzz.known.predictions.arithmetic:another_nan"),
)
