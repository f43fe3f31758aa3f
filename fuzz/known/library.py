"""Known issues of libdevice at subnormal numbers and of the remainder of floats, in calls of the language."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.known.calls import of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype

_PREDICTED = "tridiff.fuzz.known.predictions.library"
_WHERE = (("language.*", "own"),)


def _of_fp32(*names: str) -> Callable[[Case], bool]:
    return of(*names, having=lambda call: call.operands[0].dtype == "fp32")


def _half_flushed(title: str, *names: str, explains: str, kinds: tuple[str, ...]) -> KnownIssue:
    """One function of those whose instructions flush in part; the entry of the cause is one of `codegen.pointwise`."""
    return KnownIssue(
        name="cube-root-of-subnormals", title=title, stage="llvm", where=_WHERE,
        match=_of_fp32(*names), explains=f"{_PREDICTED}:{explains}", kinds=kinds, backends=("cuda",))


def _remainder(call: Call) -> bool:
    return dtype(call.stored[0]).is_float


def _contracted(case: Case) -> bool:
    """Whether products and sums of libdevice's pow may be fused: its logarithm then lacks a correction."""
    return _of_fp32("libdevice.pow.pow")(case) and case.options.enable_fp_fusion


def _uncontracted(case: Case) -> Case:
    return replace(case, options=replace(case.options, enable_fp_fusion=False), variants=())


ISSUES = (
    KnownIssue(
        name="library-pow-contracted", title="libdevice's pow of single precision is contracted",
        upstream=("pytorch#175594",), stage="llvm", truth="accuracy", where=_WHERE, match=_contracted,
        relative=_uncontracted, kinds=("value", "inf"), backends=("cuda",)),
    _half_flushed("libdevice.cbrt and rcbrt of a subnormal number are NaN", "libdevice.cbrt.cbrt", "libdevice.rcbrt",
                  explains="nan_of_a_root", kinds=("nan_unexpected",)),
    _half_flushed("libdevice.ldexp and scalbn of a subnormal number are twice the number", "libdevice.ldexp.ldexp",
                  "libdevice.scalbn", explains="twice_the_number", kinds=("value", "inf")),
    _half_flushed("libdevice.logb of a subnormal number is -150", "libdevice.logb", explains="exponent_of_nothing",
                  kinds=("value", "inf")),
    _half_flushed("libdevice.pow of a subnormal number is the power of 2^-127", "libdevice.pow.pow",
                  explains="power_of_half_the_smallest", kinds=("value", "inf")),
    KnownIssue(
        name="remainder-of-a-rounded-quotient", title="% of floats subtracts the truncated rounded quotient",
        stage="llvm", truth="accuracy", where=_WHERE, entries=("language.operators/value-4f7ff7e4a0",),
        kinds=("value", "nan_missing", "inf"),
        match=of("operator.mod", "gl.operator.mod", having=_remainder),
        explains=f"{_PREDICTED}:rest_of_a_rounded_quotient", backends=("cuda",)),
)
