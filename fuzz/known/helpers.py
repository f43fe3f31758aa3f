"""Known issues of the helpers that the installed torch brings along (subject `inductor`)."""

from collections.abc import Callable

from tridiff.fuzz.known.contents import tamed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage, Truth
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

_BEYOND = 1 << 30
"""Boundaries from which on the sum of two positions leaves 32 bits."""


def _bits(case: Case, array: str) -> int:
    return int(dtype_info(case.array(array).dtype).bits)


def _is_float(case: Case, array: str = "a") -> bool:
    return dtype_info(case.array(array).dtype).kind == "float"


def _float_boundaries(case: Case) -> bool:
    return _is_float(case, "boundaries") and case.params["form"] != "unsorted"


def _float_values(case: Case) -> bool:
    return _is_float(case, "values") and case.params["form"] != "unsorted"


def _many_copies(case: Case) -> bool:
    return case.params["form"] == "copies" and int(case.params["copies"]) >= _BEYOND


def _of_states(case: Case) -> bool:
    return case.params["form"] in ("states", "pairs")


def _with_weights(case: Case) -> Case:
    """Every state has a weight."""
    return tamed(case, value="1", names=("a_weight", "b_weight"))


def _finite(case: Case) -> Case:
    """Small numbers for everything that is averaged, squared deviations of one."""
    return tamed(tamed(case, names=("a", "a_mean", "b_mean")), value="1", names=("a_m2", "b_m2"))


def _averages_extremes(case: Case) -> bool:
    return case != _finite(case)


def _issue(name: str, helper: str, *entries: str, title: str, match: Callable[[Case], bool], also: str = "",
           upstream: tuple[str, ...] = (), stage: Stage = "inductor", truth: Truth = "defect", explains: str = "",
           relative: Callable[[Case], Case | None] | None = None, errors: tuple[str, ...] = ()) -> KnownIssue:
    """also: another helper that has it; its entries are written with its name."""
    return KnownIssue(
        name=name, title=title, upstream=upstream, stage=stage, truth=truth, match=match, relative=relative,
        where=tuple((f"helpers.{one}", "inductor") for one in (helper, also) if one), errors=errors,
        entries=tuple(f"helpers.{one}" if "/" in one else f"helpers.{helper}/{one}" for one in entries),
        explains=f"tridiff.fuzz.known.predictions.{explains}" if explains else "")


ISSUES = (
    _issue("bucketize-nan-boundary", "bucketize_binary_search", "value-080a70395f", "value-ab0a826fed",
           "value-d1d04964b0", truth="undefined", title="the binary search takes a NaN boundary for above every value",
           match=_float_boundaries, explains="search:nan_boundary"),
    _issue("bucketize-nan-value", "bucketize_binary_search", "value-ab0a826fed-beside",
           title="the binary search of torch 2.11 takes a NaN for below every boundary", match=_float_values,
           explains="search:nan_value"),
    _issue("bucketize-midpoint-overflow", "bucketize_binary_search", "value-080a70395f-beside", "value-2d7c010c35",
           "value-3d3c9fac8b", title="low + high, or the number of boundaries, wraps in 32 bits", match=_many_copies,
           explains="search:midpoint_overflow"),
    _issue("frexp-exponent-of-nan", "frexp", "value-4141e4f295", upstream=("pytorch#143790",), truth="undefined",
           title="the exponent of NaN and of infinities is that of ilogb plus one", match=_is_float,
           explains="floats:frexp_exponent"),
    _issue("frexp-of-subnormals", "frexp", "value-e670600bf8", upstream=("pytorch#195007",),
           title="fp32 subnormals are flushed to zero on the way", match=lambda case: case.array("a").dtype == "fp32",
           explains="floats:frexp_subnormal"),
    _issue("frexp-sign-of-zero", "frexp", "zero-sign-27a6918646", upstream=("pytorch#195007",),
           title="the mantissa of -0.0 is +0.0", match=_is_float, explains="floats:frexp_sign"),
    _issue("promotion-of-bf16", "promote_to_tensor", "value-2f4e602f2a", truth="contract",
           title="x + 0 turns bf16 into fp32", match=lambda case: case.array("a").dtype == "bf16",
           explains="floats:promoted_bf16"),
    _issue("promotion-of-minus-zero", "promote_to_tensor", "zero-sign-2f7592dcb8", "zero-sign-78a46543d8",
           truth="contract", title="x + 0 turns -0.0 into +0.0", match=_is_float, explains="floats:promoted_zero"),
    _issue("probes-refuse-fp8", "promote_to_tensor", "typeerror--unexpected-ty-7e94eb055c",
           "typeerror--unexpected-ty-90d89a2973", "unexpected-type-fp8e4nv-412cfcfce6",
           "unexpected-type-fp8e5-an-442525e7a8", "is_floating/typeerror--unexpected-ty-48b2827a0b",
           "is_floating/typeerror--unexpected-ty-fc845e9350", "is_floating/unexpected-type-fp8e4nv-61d6bf8cee",
           "is_floating/unexpected-type-fp8e5-an-f4184fab63", also="is_floating", truth="contract",
           title="a block of int1 zeros is added, with which fp8 has no common type",
           match=lambda case: case.array("a").dtype in FP8, errors=("*unexpected type fp8*",)),
    _issue("select-of-narrow-values", "select_one", "cannot-bitcast-data-type-11cf9a9530",
           "cannot-bitcast-data-type-e22ed3f1e2", upstream=("pytorch#175430",),
           title="the sum widens to 32 bits before it is cast back bit for bit",
           match=lambda case: _bits(case, "a") < 32, errors=("*Cannot bitcast data-type of size*",)),
    _issue("lookback-with-64-bit-index", "exclusive_scan_decoupled_lookback", "initial-value-for--test-442e17879e",
           title="the 32-bit look-back does not compile with an int64 index", match=lambda case: True,
           errors=("initial value for `test_target` is of type *",)),
    _issue("sort-widens-indices", "sort_with_index", "value-cc4060e57f", truth="contract",
           title="int16 indices come back as int32", match=lambda case: case.params["index_dtype"] == "i16",
           explains="floats:index_type_widened"),
    _issue("randint64-of-a-wide-offset", "randint64", "value-d9d42c14fe", truth="contract",
           title="the upper half of a 64-bit offset enters the counter", match=lambda case: _bits(case, "offset") == 64,
           explains="random_numbers:wide_offset"),
    _issue("not-of-a-block", "maximum_with_index", "nan-missing-6b7cfb673b",
           "minimum_with_index/nan-missing-3a52a082ad", also="minimum_with_index", stage="interpreter",
           title="`not` of a block is Python's, and a NaN is lost", match=_is_float, explains="floats:either_of_pair"),
    _issue("welford-state-of-weight-zero", "welford", "nan-unexpected-5faf86b3dc", "nan-unexpected-c1be66be32",
           "value-08e77cca20", "value-2c19b24b7b", "welford_combine/nan-unexpected-7670ea4093",
           "welford_combine/nan-unexpected-9158ced853", "welford_combine/value-17ebe270f3",
           "welford_combine/value-abc0f4771d", also="welford_combine", truth="contract",
           title="a state of weight 0 contributes its mean and m2",
           match=lambda case: _of_states(case) and case != _with_weights(case), relative=_with_weights,
           explains="welford:beside_weight_zero"),
    _issue("welford-of-infinities", "welford", "nan-missing-037f42c031", "nan-missing-6c14354a5e",
           "welford_combine/nan-missing-c7ff37c086", also="welford_combine", truth="contract",
           title="infinities give a variance of 0 or infinity instead of NaN", match=_averages_extremes,
           relative=_finite, explains="welford:of_infinities"),
)
