"""Known issues of the helpers that the installed torch brings along (subject `inductor`)."""

from functools import partial

from tridiff.fuzz.known.contents import tamed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.oracles.dtypes import FP8
from tridiff.oracles.dtypes import dtype as dtype_info

_BEYOND = 1 << 30
"""Boundaries from which on the sum of two positions leaves 32 bits."""


def _here(target: str, *, subject: str = "inductor") -> tuple[tuple[str, str], ...]:
    return ((f"helpers.{target}", subject),)


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


_FREXP = "tridiff.fuzz.known.predictions.floats"
_SEARCH = "tridiff.fuzz.known.predictions.search"
_WELFORD = "tridiff.fuzz.known.predictions.welford"

_issue = partial(KnownIssue, stage="inductor")

ISSUES = (
    _issue(
        name="bucketize-nan-boundary", title="the binary search takes a NaN boundary for above every value",
        truth="undefined", where=_here("bucketize_binary_search"),
        entries=tuple(f"helpers.bucketize_binary_search/value-{one}" for one in (
            "080a70395f", "ab0a826fed", "d1d04964b0")),
        match=_float_boundaries, explains=f"{_SEARCH}:nan_boundary"),
    _issue(
        name="bucketize-nan-value", title="the binary search of torch 2.11 takes a NaN for below every boundary",
        where=_here("bucketize_binary_search"),
        entries=("helpers.bucketize_binary_search/value-ab0a826fed-beside",),
        match=_float_values, explains=f"{_SEARCH}:nan_value"),
    _issue(
        name="bucketize-midpoint-overflow", title="low + high, or the number of boundaries, wraps in 32 bits",
        where=_here("bucketize_binary_search"),
        entries=tuple(f"helpers.bucketize_binary_search/value-{one}" for one in (
            "080a70395f-beside", "2d7c010c35", "3d3c9fac8b")),
        match=_many_copies, explains=f"{_SEARCH}:midpoint_overflow"),
    _issue(
        name="frexp-exponent-of-nan", title="the exponent of NaN and of infinities is that of ilogb plus one",
        upstream=("pytorch#143790",), truth="undefined", where=_here("frexp"),
        entries=("helpers.frexp/value-4141e4f295",),
        match=_is_float, explains=f"{_FREXP}:frexp_exponent"),
    _issue(
        name="frexp-of-subnormals", title="fp32 subnormals are flushed to zero on the way",
        upstream=("pytorch#195007",), where=_here("frexp"),
        entries=("helpers.frexp/value-e670600bf8",),
        match=lambda case: case.array("a").dtype == "fp32", explains=f"{_FREXP}:frexp_subnormal"),
    _issue(
        name="frexp-sign-of-zero", title="the mantissa of -0.0 is +0.0", upstream=("pytorch#195007",),
        where=_here("frexp"),
        entries=("helpers.frexp/zero-sign-27a6918646",),
        match=_is_float, explains=f"{_FREXP}:frexp_sign"),
    _issue(
        name="promotion-of-bf16", title="x + 0 turns bf16 into fp32", truth="contract",
        where=_here("promote_to_tensor"), entries=("helpers.promote_to_tensor/value-2f4e602f2a",),
        match=lambda case: case.array("a").dtype == "bf16", explains=f"{_FREXP}:promoted_bf16"),
    _issue(
        name="promotion-of-minus-zero", title="x + 0 turns -0.0 into +0.0", truth="contract",
        where=_here("promote_to_tensor"),
        entries=("helpers.promote_to_tensor/zero-sign-2f7592dcb8", "helpers.promote_to_tensor/zero-sign-78a46543d8"),
        match=_is_float, explains=f"{_FREXP}:promoted_zero"),
    _issue(
        name="probes-refuse-fp8", title="a block of int1 zeros is added, with which fp8 has no common type",
        truth="contract", where=(*_here("promote_to_tensor"), *_here("is_floating")),
        entries=tuple(f"helpers.{helper}/{one}" for helper, ids in (
            ("promote_to_tensor", ("typeerror--unexpected-ty-7e94eb055c", "typeerror--unexpected-ty-90d89a2973",
                                   "unexpected-type-fp8e4nv-412cfcfce6", "unexpected-type-fp8e5-an-442525e7a8")),
            ("is_floating", ("typeerror--unexpected-ty-48b2827a0b", "typeerror--unexpected-ty-fc845e9350",
                             "unexpected-type-fp8e4nv-61d6bf8cee", "unexpected-type-fp8e5-an-f4184fab63")),
        ) for one in ids),
        match=lambda case: case.array("a").dtype in FP8, errors=("*unexpected type fp8*",)),
    _issue(
        name="select-of-narrow-values", title="the sum widens to 32 bits before it is cast back bit for bit",
        upstream=("pytorch#175430",), where=_here("select_one"),
        entries=tuple(f"helpers.select_one/cannot-bitcast-data-type-{one}" for one in ("11cf9a9530", "e22ed3f1e2")),
        match=lambda case: _bits(case, "a") < 32, errors=("*Cannot bitcast data-type of size*",)),
    _issue(
        name="lookback-with-64-bit-index", title="the 32-bit look-back does not compile with an int64 index",
        where=_here("exclusive_scan_decoupled_lookback"),
        entries=("helpers.exclusive_scan_decoupled_lookback/initial-value-for--test-442e17879e",),
        match=lambda case: True, errors=("initial value for `test_target` is of type *",)),
    _issue(
        name="sort-widens-indices", title="int16 indices come back as int32", truth="contract",
        where=_here("sort_with_index"), entries=("helpers.sort_with_index/value-cc4060e57f",),
        match=lambda case: case.params["index_dtype"] == "i16", explains=f"{_FREXP}:index_type_widened"),
    _issue(
        name="randint64-of-a-wide-offset", title="the upper half of a 64-bit offset enters the counter",
        truth="contract", where=_here("randint64"), entries=("helpers.randint64/value-d9d42c14fe",),
        match=lambda case: _bits(case, "offset") == 64,
        explains="tridiff.fuzz.known.predictions.random_numbers:wide_offset"),
    _issue(
        name="not-of-a-block", title="`not` of a block is Python's, and a NaN is lost", stage="interpreter",
        where=(*_here("maximum_with_index"), *_here("minimum_with_index")),
        entries=("helpers.maximum_with_index/nan-missing-6b7cfb673b",
                 "helpers.minimum_with_index/nan-missing-3a52a082ad"),
        match=_is_float, explains=f"{_FREXP}:either_of_pair"),
    _issue(
        name="welford-state-of-weight-zero", title="a state of weight 0 contributes its mean and m2",
        truth="contract", where=(*_here("welford"), *_here("welford_combine")),
        entries=(*(f"helpers.welford/{one}" for one in (
            "nan-unexpected-5faf86b3dc", "nan-unexpected-c1be66be32", "value-08e77cca20", "value-2c19b24b7b")),
            *(f"helpers.welford_combine/{one}" for one in (
                "nan-unexpected-7670ea4093", "nan-unexpected-9158ced853", "value-17ebe270f3", "value-abc0f4771d"))),
        match=lambda case: _of_states(case) and case != _with_weights(case),
        explains=f"{_WELFORD}:beside_weight_zero", relative=_with_weights),
    _issue(
        name="welford-of-infinities", title="infinities give a variance of 0 or infinity instead of NaN",
        truth="contract", where=(*_here("welford"), *_here("welford_combine")),
        entries=("helpers.welford/nan-missing-037f42c031", "helpers.welford/nan-missing-6c14354a5e",
                 "helpers.welford_combine/nan-missing-c7ff37c086"),
        match=_averages_extremes, explains=f"{_WELFORD}:of_infinities", relative=_finite),
)
