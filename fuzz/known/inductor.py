"""Known issues of single operations under torch.compile (subject `inductor`)."""

from collections.abc import Callable

from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage, Truth
from tridiff.oracles.dtypes import FP8, dtype

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


def _issue(name: str, family: str, *entries: str, title: str, match: Callable[[Case], bool], also: str = "",
           upstream: tuple[str, ...] = (), stage: Stage = "inductor", truth: Truth = "defect", explains: str = "",
           kinds: tuple[str, ...] = WRONG, backends: tuple[str, ...] = (), errors: tuple[str, ...] = ()) -> KnownIssue:
    """also: another family that has it."""
    return KnownIssue(
        name=name, title=title, upstream=upstream, stage=stage, truth=truth, match=match, kinds=kinds,
        where=tuple((f"inductor.{one}", "inductor") for one in (family, also) if one), backends=backends, errors=errors,
        entries=tuple(f"inductor.{family}/{one}" for one in entries),
        explains=f"tridiff.fuzz.known.predictions.{explains}" if explains else "")


ISSUES = (
    _issue("bucketize-nan-boundary", "bucketize", "value-35c36ca82b", "value-8a480d85eb", "value-f3afa700d2",
           truth="undefined", title="bucketize takes a NaN boundary for above every value", match=lambda case: True,
           explains="search:compiled_nan_boundary"),
    _issue("bucketize-of-repeated-boundaries", "bucketize", "value-8a5e3e9d32", "value-941e28c89c",
           title="bucketize of torch 2.11 finds no boundary below a value where all boundaries are one element, "
                 "expanded",
           match=lambda case: bool(case.array("b").layout.broadcast), explains="search:compiled_nothing_found"),
    _issue("signbit-of-fp64", "pointwise", "value-d29f0dc13a", upstream=("pytorch#187935",),
           title="signbit of an fp64 -0.0 is false: the compiled code asks whether the number is less than 0",
           match=_operation("signbit", dtypes=("fp64",)), explains="floats:negative_zero_without_sign"),
    # Not of copysign: there LLVM takes the sign from the half, and no conversion is left.
    _issue("signbit-of-fp16-nan", "pointwise", "value-fe13941426", upstream=("pytorch#181806",),
           title="signbit of a negative fp16 NaN is false: the compiled code asks what it becomes in fp32",
           match=_operation("signbit", dtypes=("fp16",)), backends=("cuda",), explains="floats:half_nan_without_sign"),
    _issue("negation-by-subtraction", "folding", "zero-sign-45a944be94", also="pointwise", upstream=("triton#10270",),
           stage="front-end", title="-x of +0.0 is +0.0, and so is -(-x) of -0.0",
           match=_operation("neg", "twice_negated"), explains="floats:zero_negated_by_subtraction"),
    _issue("bucketize-nan-value", "bucketize", "value-00ebe13492",
           title="bucketize of torch 2.11 takes a NaN for below every boundary",
           match=lambda case: dtype(case.arrays[0].dtype).kind == "float", explains="search:compiled_nan_value"),
    _issue("fp8e5-overflow-saturates", "conversion", "inf-53178b916d", "inf-bccc6670ac", upstream=("triton#11667",),
           stage="language", truth="by_design", title="overflow to fp8e5 gives the largest finite number",
           match=_operation("to_fp8e5"), explains="floats:saturated_fp8e5"),
    _issue("fp64-to-fp8", "conversion", "unsupported-rounding-mod-64b47f006c", upstream=("triton#11897",),
           stage="ttgir", title="no architecture converts fp64 to fp8",
           match=_operation(*(f"to_{name}" for name in FP8), dtypes=("fp64",)), errors=DOUBLE_TO_FP8),
    _issue("casts-between-8-bit-floats-and-fp64", "conversion", stage="ttgir",
           title="no architecture converts fp8 to fp64", match=_operation("to_fp64", dtypes=FP8), errors=FP8_TO_DOUBLE),
    _issue("fp8-to-integers", "conversion", "assertionerror--cannot-c-a64d1b3080",
           "typeerror--unexpected-ty-d65e3f9e85", title="fp8 to bool and to integers does not compile",
           match=lambda case: case.arrays[0].dtype in FP8 and dtype(case.array("out").dtype).kind != "float",
           errors=("*unexpected type fp8*", "*cannot cast [[]*", "cannot cast fp8*int*", "*floating point LLVM type*",
                   "PassManager*")),
    _issue("quotient-of-full-range", "folding", "value-d90adf04e4", stage="language", truth="accuracy",
           title="an fp32 quotient is an ulp off", match=_operation("by_itself", dtypes=("fp32",)),
           explains="floats:quotient_an_ulp_off"),
    _issue("select-of-narrow-values", "scan", "cannot-bitcast-data-type-9b3e46883b", upstream=("pytorch#175430",),
           title="a looped scan of narrow values does not compile",
           match=lambda case: dtype(case.arrays[0].dtype).bits < 32, errors=("*Cannot bitcast data-type of size*",)),
    _issue("scan-of-bytes-from-minus-one", "scan", "get-uint8----incompatibl-9d6438ff33",
           title="a looped scan of uint8 does not compile", match=lambda case: case.arrays[0].dtype == "u8",
           errors=SCANNED_BYTES),
    _issue("halves-not-rounded-between", "folding", "inf-a8adb576ca", "value-25a8360c90", "value-2ffc28eee6",
           truth="by_design", title="a * b / b of halves is rounded once", match=_operation("multiply_divide"),
           explains="floats:unrounded_chain"),
    _issue("product-with-zero-folded", "folding", "nan-missing-4baef3e3ef", "zero-sign-3fb605b64d",
           "zero-sign-9c31fdf535", upstream=("pytorch#186281",), title="x * 0 and 0 / x are the constant 0",
           match=_operation("times_zero", "zero_by"), explains="floats:folded_to_zero"),
    _issue("float-floor-divide", "pointwise", "nan-missing-42dd8e6869", "nan-missing-f7b508bcef", "value-36e91420b8",
           "value-f12dd43b64", upstream=("pytorch#197895", "pytorch#188048"),
           title="floor(a / b) rounds the quotient first", match=_operation("floor_divide"),
           explains="floats:floor_of_quotient"),
    _issue("truncated-quotient-within-two-steps", "pointwise", truth="accuracy",
           title="div(a, b, rounding_mode='trunc') cuts off a quotient that may be two steps too small",
           match=_operation("trunc_divide", dtypes=("fp32",)), backends=("cuda",),
           explains="floats:rounded_quotient_cut_off"),
    _issue("remainder-of-a-rounded-quotient", "pointwise", "value-1ebca97cc2", stage="llvm", truth="accuracy",
           title="remainder subtracts the truncated rounded quotient", match=_operation("remainder"),
           kinds=("value", "nan_missing", "inf"), backends=("cuda",), explains="library:compiled_remainder"),
    _issue("nextafter-of-halves", "pointwise", "value-094a34a877", "value-7fe9d7b5a1", upstream=("pytorch#187340",),
           title="nextafter of halves returns its operand", match=_operation("nextafter", dtypes=("fp16", "bf16")),
           explains="floats:unmoved_half"),
    _issue("library-step-over-subnormals", "pointwise", upstream=("pytorch#187340", "pytorch#185878"),
           title="nextafter, floor and ceil of fp32 take subnormal numbers for zeros", match=_stepped,
           backends=("cuda",), explains="floats:stepped_by_the_library"),
    _issue("frexp-exponent-of-nan", "pointwise", "value-6633754533", upstream=("pytorch#143790",), truth="undefined",
           title="the exponent of NaN and of infinities is that of ilogb plus one", match=_operation("frexp_exponent"),
           explains="floats:compiled_frexp_exponent"),
    _issue("frexp-of-subnormals", "pointwise", "value-b3997014e5", upstream=("pytorch#195007",),
           title="fp32 subnormals are flushed to zero on the way",
           match=_operation("frexp_mantissa", "frexp_exponent", dtypes=("fp32",)), backends=("cuda",),
           explains="floats:compiled_frexp_subnormal"),
    _issue("frexp-sign-of-zero", "pointwise", "zero-sign-9389e6f979", upstream=("pytorch#195007",),
           title="the mantissa of -0.0 is +0.0", match=_operation("frexp_mantissa"),
           explains="floats:compiled_frexp_sign"),
    _issue("round-to-decimals", "pointwise", "value-6ec571a25a", "value-be9182e68b", truth="accuracy",
           title="round to decimals multiplies by 10^-2", match=_operation("round_decimals"),
           explains="floats:decimals_by_product"),
    _issue("any-of-uint8", "reduction", "value-0824448928", upstream=("pytorch#198081",),
           title="any and all of uint8 return bool", match=_operation("any_u8", "all_u8"),
           explains="floats:type_of_any"),
    _issue("mean-of-infinities", "reduction", "nan-missing-5917e31727", stage="eager", truth="undefined",
           title="the mean of a row with infinities", match=_operation("var_mean_mean"),
           explains="floats:sum_of_infinities"),
)
