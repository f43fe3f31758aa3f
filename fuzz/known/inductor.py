"""Known issues of single operations under torch.compile (subject `inductor`)."""

from collections.abc import Callable
from functools import partial

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.oracles.dtypes import FP8, dtype

_FLOATS = "tridiff.fuzz.known.predictions.floats"

DOUBLE_TO_FP8 = ("Unsupported rounding mode for conversion*", "Unsupported conversion from f64*")
FP8_TO_DOUBLE = ("Unsupported rounding mode for conversion*", "Unsupported conversion from f8* to f64*")
SCANNED_BYTES = ("get_uint8(): incompatible function arguments*", "*Python integer -* out of bounds for uint8*")
"""What is said of single operations and of programs alike."""


def _operation(*names: str, dtypes: tuple[str, ...] = ()) -> Callable[[Case], bool]:
    """Whether a case is about one of the operations, on one of the dtypes if any are given."""
    return lambda case: case.params["op"] in names and (not dtypes or case.arrays[0].dtype in dtypes)


def _stepped(case: Case) -> bool:
    """Whether libdevice takes a subnormal operand for zero: nextafter of halves has a defect of its own."""
    return _operation("floor", "ceil", dtypes=("fp32", "bf16"))(case) or _operation("nextafter", dtypes=("fp32",))(case)


def _here(family: str) -> tuple[tuple[str, str], ...]:
    return ((f"inductor.{family}", "inductor"),)


_issue = partial(KnownIssue, stage="inductor")

ISSUES = (
    _issue(
        name="bucketize-nan-boundary", title="bucketize takes a NaN boundary for above every value",
        truth="undefined", where=_here("bucketize"),
        entries=("inductor.bucketize/value-35c36ca82b", "inductor.bucketize/value-8a480d85eb",
                 "inductor.bucketize/value-f3afa700d2"),
        match=lambda case: True, explains="tridiff.fuzz.known.predictions.search:compiled_nan_boundary"),
    _issue(
        name="bucketize-of-repeated-boundaries", where=_here("bucketize"),
        title="bucketize of torch 2.11 finds no boundary below a value where all boundaries are one element, expanded",
        entries=("inductor.bucketize/value-8a5e3e9d32", "inductor.bucketize/value-941e28c89c"),
        match=lambda case: bool(case.array("b").layout.broadcast),
        explains="tridiff.fuzz.known.predictions.search:compiled_nothing_found"),
    _issue(
        name="signbit-of-fp64", where=_here("pointwise"),
        upstream=("pytorch#187935",),
        title="signbit of an fp64 -0.0 is false: the compiled code asks whether the number is less than 0",
        entries=("inductor.pointwise/value-d29f0dc13a",), match=_operation("signbit", dtypes=("fp64",)),
        explains=f"{_FLOATS}:negative_zero_without_sign"),
    # Not of copysign: there LLVM takes the sign from the half, and no conversion is left.
    _issue(
        name="signbit-of-fp16-nan", where=_here("pointwise"),
        upstream=("pytorch#181806",),
        title="signbit of a negative fp16 NaN is false: the compiled code asks what it becomes in fp32",
        entries=("inductor.pointwise/value-fe13941426",), match=_operation("signbit", dtypes=("fp16",)),
        backends=("cuda",), explains=f"{_FLOATS}:half_nan_without_sign"),
    _issue(
        name="negation-by-subtraction", title="-x of +0.0 is +0.0, and so is -(-x) of -0.0", upstream=("triton#10270",),
        stage="front-end", where=(*_here("folding"), *_here("pointwise")),
        entries=("inductor.folding/zero-sign-45a944be94",), match=_operation("neg", "twice_negated"),
        explains=f"{_FLOATS}:zero_negated_by_subtraction"),
    _issue(
        name="bucketize-nan-value", title="bucketize of torch 2.11 takes a NaN for below every boundary",
        where=_here("bucketize"), entries=("inductor.bucketize/value-00ebe13492",),
        match=lambda case: dtype(case.arrays[0].dtype).kind == "float",
        explains="tridiff.fuzz.known.predictions.search:compiled_nan_value"),
    _issue(
        name="fp8e5-overflow-saturates", title="overflow to fp8e5 gives the largest finite number", stage="language",
        upstream=("triton#11667",), truth="by_design", where=_here("conversion"),
        entries=("inductor.conversion/inf-53178b916d", "inductor.conversion/inf-bccc6670ac"),
        match=_operation("to_fp8e5"), explains=f"{_FLOATS}:saturated_fp8e5"),
    _issue(
        name="fp64-to-fp8", title="no architecture converts fp64 to fp8", upstream=("triton#11897",), stage="ttgir",
        where=_here("conversion"), entries=("inductor.conversion/unsupported-rounding-mod-64b47f006c",),
        match=_operation(*(f"to_{name}" for name in FP8), dtypes=("fp64",)),
        errors=DOUBLE_TO_FP8),
    _issue(
        name="casts-between-8-bit-floats-and-fp64", title="no architecture converts fp8 to fp64", stage="ttgir",
        where=_here("conversion"), match=_operation("to_fp64", dtypes=FP8),
        errors=FP8_TO_DOUBLE),
    _issue(
        name="fp8-to-integers", title="fp8 to bool and to integers does not compile",
        where=_here("conversion"),
        entries=("inductor.conversion/assertionerror--cannot-c-a64d1b3080",
                 "inductor.conversion/typeerror--unexpected-ty-d65e3f9e85"),
        match=lambda case: case.arrays[0].dtype in FP8 and dtype(case.array("out").dtype).kind != "float",
        errors=("*unexpected type fp8*", "*cannot cast [[]*", "cannot cast fp8*int*", "*floating point LLVM type*",
                "PassManager*")),
    _issue(
        name="quotient-of-full-range", title="an fp32 quotient is an ulp off", stage="language",
        truth="accuracy", where=_here("folding"), entries=("inductor.folding/value-d90adf04e4",),
        match=_operation("by_itself", dtypes=("fp32",)), explains=f"{_FLOATS}:quotient_an_ulp_off"),
    _issue(
        name="select-of-narrow-values", title="a looped scan of narrow values does not compile",
        upstream=("pytorch#175430",), where=_here("scan"),
        entries=("inductor.scan/cannot-bitcast-data-type-9b3e46883b",),
        match=lambda case: dtype(case.arrays[0].dtype).bits < 32, errors=("*Cannot bitcast data-type of size*",)),
    _issue(
        name="scan-of-bytes-from-minus-one", title="a looped scan of uint8 does not compile",
        where=_here("scan"), entries=("inductor.scan/get-uint8----incompatibl-9d6438ff33",),
        match=lambda case: case.arrays[0].dtype == "u8",
        errors=SCANNED_BYTES),
    _issue(
        name="halves-not-rounded-between", title="a * b / b of halves is rounded once",
        truth="by_design", where=_here("folding"),
        entries=("inductor.folding/inf-a8adb576ca", "inductor.folding/value-25a8360c90",
                 "inductor.folding/value-2ffc28eee6"),
        match=_operation("multiply_divide"), explains=f"{_FLOATS}:unrounded_chain"),
    _issue(
        name="product-with-zero-folded", title="x * 0 and 0 / x are the constant 0", upstream=("pytorch#186281",),
        where=_here("folding"),
        entries=tuple(f"inductor.folding/{one}" for one in (
            "nan-missing-4baef3e3ef", "zero-sign-3fb605b64d", "zero-sign-9c31fdf535")),
        match=_operation("times_zero", "zero_by"), explains=f"{_FLOATS}:folded_to_zero"),
    _issue(
        name="float-floor-divide", title="floor(a / b) rounds the quotient first",
        upstream=("pytorch#197895", "pytorch#188048"), where=_here("pointwise"),
        entries=tuple(f"inductor.pointwise/{one}" for one in (
            "nan-missing-42dd8e6869", "nan-missing-f7b508bcef", "value-36e91420b8", "value-f12dd43b64")),
        match=_operation("floor_divide"), explains=f"{_FLOATS}:floor_of_quotient"),
    _issue(
        name="truncated-quotient-within-two-steps", truth="accuracy", where=_here("pointwise"),
        title="div(a, b, rounding_mode='trunc') cuts off a quotient that may be two steps too small",
        match=_operation("trunc_divide", dtypes=("fp32",)), backends=("cuda",),
        explains=f"{_FLOATS}:rounded_quotient_cut_off"),
    _issue(
        name="remainder-of-a-rounded-quotient", title="remainder subtracts the truncated rounded quotient",
        stage="llvm", truth="accuracy", where=_here("pointwise"), entries=("inductor.pointwise/value-1ebca97cc2",),
        match=_operation("remainder"), kinds=("value", "nan_missing", "inf"), backends=("cuda",),
        explains="tridiff.fuzz.known.predictions.library:compiled_remainder"),
    _issue(
        name="nextafter-of-halves", title="nextafter of halves returns its operand", upstream=("pytorch#187340",),
        where=_here("pointwise"),
        entries=("inductor.pointwise/value-094a34a877", "inductor.pointwise/value-7fe9d7b5a1"),
        match=_operation("nextafter", dtypes=("fp16", "bf16")), explains=f"{_FLOATS}:unmoved_half"),
    _issue(
        name="library-step-over-subnormals", upstream=("pytorch#187340", "pytorch#185878"),
        title="nextafter, floor and ceil of fp32 take subnormal numbers for zeros", where=_here("pointwise"),
        match=_stepped, backends=("cuda",),
        explains=f"{_FLOATS}:stepped_by_the_library"),
    _issue(
        name="frexp-exponent-of-nan", title="the exponent of NaN and of infinities is that of ilogb plus one",
        upstream=("pytorch#143790",), truth="undefined", where=_here("pointwise"),
        entries=("inductor.pointwise/value-6633754533",), match=_operation("frexp_exponent"),
        explains=f"{_FLOATS}:compiled_frexp_exponent"),
    _issue(
        name="frexp-of-subnormals", title="fp32 subnormals are flushed to zero on the way",
        upstream=("pytorch#195007",), where=_here("pointwise"),
        entries=("inductor.pointwise/value-b3997014e5",),
        match=_operation("frexp_mantissa", "frexp_exponent", dtypes=("fp32",)), backends=("cuda",),
        explains=f"{_FLOATS}:compiled_frexp_subnormal"),
    _issue(
        name="frexp-sign-of-zero", title="the mantissa of -0.0 is +0.0", upstream=("pytorch#195007",),
        where=_here("pointwise"),
        entries=("inductor.pointwise/zero-sign-9389e6f979",),
        match=_operation("frexp_mantissa"), explains=f"{_FLOATS}:compiled_frexp_sign"),
    _issue(
        name="round-to-decimals", title="round to decimals multiplies by 10^-2", truth="accuracy",
        where=_here("pointwise"),
        entries=("inductor.pointwise/value-6ec571a25a", "inductor.pointwise/value-be9182e68b"),
        match=_operation("round_decimals"), explains=f"{_FLOATS}:decimals_by_product"),
    _issue(
        name="any-of-uint8", title="any and all of uint8 return bool", upstream=("pytorch#198081",),
        where=_here("reduction"), entries=("inductor.reduction/value-0824448928",),
        match=_operation("any_u8", "all_u8"), explains=f"{_FLOATS}:type_of_any"),
    _issue(
        name="mean-of-infinities", title="the mean of a row with infinities", stage="eager",
        truth="undefined", where=_here("reduction"), entries=("inductor.reduction/nan-missing-5917e31727",),
        match=_operation("var_mean_mean"), explains=f"{_FLOATS}:sum_of_infinities"),
)
