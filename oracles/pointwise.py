"""Accuracy of pointwise operations as data (contract: oracles.md §3). Imports neither torch nor Triton.

Figures of elementary functions stand in their records (`tridiff.kernels.pointwise.operations`).

`doc` figures are NVIDIA's published maximum errors in ulp, `measured` ones the LLVM project's test results.
Both are read from copies.
"""

import math
from dataclasses import dataclass

from tridiff.kernels.pointwise.record import Op
from tridiff.kernels.pointwise.table import OPS as POINTWISE
from tridiff.oracles.dtypes import FLOATS, dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import ABS, BIT, NUM, NUM0, SET, SUM, ULP, Rule

# Ulps of a half type per fp32 ulp: the distance of the formats' precisions.
_HALF_SCALE = {"fp16": 2.0**-13, "bf16": 2.0**-16}


@dataclass(frozen=True, slots=True)
class Region:
    """A rule that holds for inputs with low < x < high instead of the general one."""

    low: float
    high: float
    rule: Rule


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One operation: how its fp32 and fp64 results are judged, and the figures behind it (None: not
    known).
    """

    op: str
    arity: int
    fp32: Rule
    fp64: Rule
    doc_fp32: float | None = None
    measured_fp32: float | None = None
    doc_fp64: float | None = None
    fp32_regions: tuple[Region, ...] = ()
    fp64_regions: tuple[Region, ...] = ()
    note: str = ""


_DOC = "oracles.md §3, vendor figure"
_POLICY = "oracles.md §3, policy"
_DERIVED = "rounding of x*log2(e) before ex2.approx"
EXP_SLOPE = 1.23
"""Ulps per |x| of exp as ex2.approx(x * log2(e)) in fp32, without what ex2 itself adds.

A significand m in [1, 2) makes a relative error e one of m * 2^23 * e ulps. Rounding y = x * log2(e) moves it by up to
2^-24 |y|, the result by ln(2) 2^-24 |y| = 2^-24 |x|: m/2 |x| ulps. fp32's log2(e) is off by 0.112 * 2^-23, which moves
the result by 0.112 m |x| ulps. Both together, m below 2: 1.224 |x|.
"""


def _ulp(k: float, origin: str = _DOC) -> Rule:
    return ULP(k, origin=origin) if k else NUM


def _row(
    op: str, doc32: float, doc64: float, *, arity: int = 1, measured: float | None = None,
    policy32: float | None = None, policy64: float | None = None, note: str = "",
) -> Accuracy:
    """A row judged by its doc figures unless a policy figure replaces them."""
    return Accuracy(
        op, arity, _ulp(doc32) if policy32 is None else _ulp(policy32, _POLICY),
        _ulp(doc64) if policy64 is None else _ulp(policy64, _POLICY), doc32, measured, doc64, note=note,
    )


def _same(op: str, rule: Rule, *, arity: int = 1, note: str = "") -> Accuracy:
    return Accuracy(op, arity, rule, rule, 0.0, None, 0.0, note=note)


_EXP_RULE = ULP(3, plus_per_abs_x=EXP_SLOPE, origin=_DERIVED)
_SIGMOID_RULE = ULP(7, plus_per_abs_x=EXP_SLOPE, origin=_DERIVED)
_LGAMMA_INSIDE = SUM("lgamma_bound", origin="derived there; oracles.md §3 has 2^-20, which libdevice exceeds")


def _bessel(op: str) -> Accuracy:
    return Accuracy(
        op, 1, ABS(2.2e-6, origin=_DOC), ABS(5e-12, origin=_DOC), 9, None, 7,
        fp32_regions=(Region(-8.0, 8.0, ULP(9, origin=_DOC)),), fp64_regions=(Region(-8.0, 8.0, ULP(7, origin=_DOC)),),
    )


_CANDIDATES = "two candidates where a product and a sum may be fused"

def _of(op: Op) -> Accuracy:
    """The row of an elementary function, from the figures of its record."""
    assert op.ulps is not None
    return _row(op.name, op.ulps.fp32, op.ulps.fp64, arity=op.arity, measured=op.ulps.measured,
                policy32=op.ulps.policy32, policy64=op.ulps.policy64, note=op.ulps.note)


TABLE: tuple[Accuracy, ...] = (
    _same("add", NUM, arity=2, note=_CANDIDATES),
    _same("sub", NUM, arity=2, note=_CANDIDATES),
    _same("mul", NUM, arity=2, note=_CANDIDATES),
    _same("fma", NUM, arity=3),
    _row("div", 2, 0, arity=2, policy32=2),
    _same("div_rn", NUM, arity=2),
    _same("sqrt_rn", NUM),
    *(_of(op) for op in POINTWISE.values() if op.ulps is not None),
    _row("exp10", 2, 1, measured=2),
    Accuracy("exp_fast", 1, _EXP_RULE, ULP(1, origin=_DOC), None, None, 1, note="tl.math.exp"),
    Accuracy("sigmoid", 1, _SIGMOID_RULE, ULP(4, origin="oracles.md §3, composite: exp, add, divide, doubled")),
    Accuracy(
        "lgamma", 1, ULP(6, origin=_DOC), ULP(4, origin=_DOC), 6, None, 4,
        fp32_regions=(Region(-10.001, -2.264, _LGAMMA_INSIDE),),
        fp64_regions=(Region(-23.0001, -2.2637, _LGAMMA_INSIDE),),
    ),
    *(_bessel(op) for op in ("j0", "j1", "y0", "y1")),
    _same("fmod", NUM, arity=2, note="libdevice"),
    _same("frexp", NUM),
    _same("ldexp", NUM, arity=2),
    _same("ilogb", NUM),
    _same("floor", NUM),
    _same("ceil", NUM),
    _same("trunc", NUM),
    _same("nearbyint", NUM),
    _same("llrint", NUM),
    _same("copysign", BIT, arity=2),
    _same("nextafter", BIT, arity=2),
    _same("abs", BIT),
    _same("isnan", NUM),
    _same("isinf", NUM),
    _same("remainder_operator", NUM, arity=2, note="a - b*trunc(a/b): open from |a/b| = 2^22 (fp32), 2^51 (fp64) on"),
    _same("floor_divide", SET(NUM), arity=2, note="floor of the rounded quotient, or the fmod-based value"),
    _same("minimum", NUM0, arity=2),
    _same("maximum", NUM0, arity=2),
    _same("where", BIT, arity=3),
    _same("integer", BIT, arity=2, note="arithmetic, comparisons, logic, shifts and conversions in range, bit casts"),
)

_BY_OP = {row.op: row for row in TABLE}
OPS: tuple[str, ...] = tuple(_BY_OP)


def accuracy(op: str) -> Accuracy:
    """The row of an operation; OracleError for an unknown one."""
    try:
        return _BY_OP[op]
    except KeyError:
        raise OracleError(f"no accuracy row for {op!r}; add one to tridiff.oracles.pointwise.TABLE") from None


def half_ulps(k: float, name: str) -> float:
    """fp32 ulps in ulps of a half type, at least 1: max(1, ceil(k * 2^-13)) for fp16, 2^-16 for bf16."""
    if name not in _HALF_SCALE:
        raise OracleError(f"{name} is not a half type; use fp16 or bf16")
    return float(max(1, math.ceil(k * _HALF_SCALE[name])))


def rule_for(op: str, name: str, *, x: float | None = None) -> Rule:
    """The rule for results of type `name` (fp16, bf16, fp32, fp64); x picks the region of ops that have
    several.

    Half types: the fp32 result rounded once, so exact rules stay and ulp figures scale down to at least 1.
    Absolute bounds carry over. The half step of the rounding itself is part of what ULP allows.
    """
    row = accuracy(op)
    if name not in ("fp16", "bf16", "fp32", "fp64"):
        raise OracleError(f"pointwise accuracy is stated for fp16, bf16, fp32 and fp64, not {name}")
    regions = row.fp64_regions if name == "fp64" else row.fp32_regions
    rule = row.fp64 if name == "fp64" else row.fp32
    for region in regions:
        if x is not None and region.low < x < region.high:
            rule = region.rule
    if name in ("fp32", "fp64") or rule.kind != "ULP":
        return rule
    slope = rule.plus_per_abs_x * _HALF_SCALE[name]
    return ULP(half_ulps(rule.k, name), plus_per_abs_x=slope, origin=f"{rule.origin}; scaled to {name}")


HALVES = ("bf16", "fp16")
CONVERT, CAST, PACKED = "to_", "bitcast_", ("pack_value_flag", "unpack_")

_OWN_MEANING = ("mul_add", "div_rn", "sqrt_rn")
"""Lowerings whose rounding is part of what they mean."""

# Operations whose row in TABLE has another name.
_ROWS = {"truediv": "div", "exp_tl": "exp_fast", "round": "nearbyint"}
_EXACT = {op.name: {"bits": BIT, "numbers": NUM, "numbers, zeros alike": NUM0, "either of two": SET(NUM)}[op.exact]
          for op in POINTWISE.values() if op.exact}


def meaning(op: str) -> str:
    """The operation of which `op` is a lowering: `exp` for `exp_tl`; most operations mean themselves."""
    return POINTWISE[op].variant_of if op in POINTWISE and op not in _OWN_MEANING and POINTWISE[op].variant_of else op


def row_of(op: str, name: str) -> str:
    """The TABLE row that judges a float result of `op` in type `name`; OracleError for an operation without one."""
    for candidate in (_ROWS.get(op, op), _ROWS.get(meaning(op), meaning(op))):
        if candidate in _BY_OP:
            return candidate
    raise OracleError(f"no accuracy row for {op!r} in {name}; add one to tridiff.oracles.pointwise.TABLE")


def rule_of(op: str, dtypes: tuple[str, ...], result: str) -> Rule:
    """The rule for an operation of codegen.md §3 on operands of these types with a result of type `result`.

    What is not a float is compared by its bits. lgamma and the Bessel functions have regions: `rule_for` with x.
    """
    if not dtype(result).is_float or op.startswith((CAST, *PACKED)) or op == "where":
        return BIT
    if op.startswith(CONVERT):
        # Overflow to fp8e5 may saturate or not (oracles.md §5).
        return SET(NUM) if result == "fp8e5" else NUM
    for name in (op, meaning(op)):
        if name in _EXACT:
            return _EXACT[name]
    if not dtype(dtypes[0]).is_float and op == "truediv":
        return rule_for("div", "fp32")
    if dtypes[0] not in FLOATS:
        raise OracleError(f"{op} has no float rule for {dtypes}")
    return rule_for(row_of(op, dtypes[0]), result)
