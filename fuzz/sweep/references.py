"""The judge kernel's own reference of every operation, as Triton text that shares nothing with the subject's.

In the text `a`, `b`, `c` are the operands' values: fp64 blocks for floats, int64 blocks for integers and i1. `p`, `q`,
`r` are their bit patterns (int64). `device` is fuzz.sweep.judging. The value of the text is the unrounded result:
fp64 where results are judged as numbers, int64 where they are judged by their bits.
Nothing here imports Triton.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tridiff.fuzz.errors import TridiffError
from tridiff.oracles.dtypes import DType, dtype
from tridiff.oracles.pointwise import CAST, CONVERT, PACKED, meaning

Kind = Literal["number", "bits"]


@dataclass(frozen=True)
class Reference:
    """text: the reference. kind: how results are compared. defined: Boolean text, empty for everywhere.

    alternative: another right answer. slack: text of an absolute error that is allowed as well (fp64; it may name
    `reference`). loose: extra ulps for what is rounded twice on the way to a half type.
    """

    text: str
    kind: Kind = "number"
    defined: str = ""
    alternative: str = ""
    slack: str = ""
    loose: float = 0.0


_FUNCTIONS = {
    "exp": "libdevice.exp(a)", "exp2": "libdevice.exp2(a)", "expm1": "libdevice.expm1(a)", "log": "libdevice.log(a)",
    "log2": "libdevice.log2(a)", "log10": "libdevice.log10(a)", "log1p": "libdevice.log1p(a)",
    "sqrt": "libdevice.sqrt(a)", "sqrt_rn": "libdevice.sqrt(a)", "rsqrt": "1.0 / libdevice.sqrt(a)",
    "sigmoid": "1.0 / (1.0 + libdevice.exp(0.0 - a))",
    "sin": "libdevice.sin(a)", "cos": "libdevice.cos(a)", "tan": "libdevice.tan(a)", "asin": "libdevice.asin(a)",
    "acos": "libdevice.acos(a)", "atan": "libdevice.atan(a)", "atan2": "libdevice.atan2(a, b)",
    "sinh": "libdevice.sinh(a)", "cosh": "libdevice.cosh(a)", "tanh": "libdevice.tanh(a)",
    "asinh": "libdevice.asinh(a)", "acosh": "libdevice.acosh(a)", "atanh": "libdevice.atanh(a)",
    "erf": "libdevice.erf(a)", "erfc": "libdevice.erfc(a)", "erfinv": "libdevice.erfinv(a)",
    "erfcx": "libdevice.erfcx(a)", "lgamma": "libdevice.lgamma(a)", "hypot": "judging.hypot(a, b)",
    "pow": "libdevice.pow(a, b)", "i0": "libdevice.cyl_bessel_i0(a)", "i1": "libdevice.cyl_bessel_i1(a)",
    "j0": "libdevice.j0(a)", "j1": "libdevice.j1(a)", "y0": "libdevice.y0(a)", "y1": "libdevice.y1(a)",
    "add": "a + b", "sub": "a - b", "mul": "a * b", "square": "a * a", "truediv": "a / b", "div_rn": "a / b",
    "reciprocal": "1.0 / a", "fmod": "libdevice.fmod(a, b)", "remainder": "judging.remainder(a, b)",
    "floor": "libdevice.floor(a)", "ceil": "libdevice.ceil(a)", "trunc": "libdevice.trunc(a)",
    "round": "libdevice.nearbyint(a)", "sign": "(a > 0).to(tl.float64) - (a < 0).to(tl.float64)",
    "minimum": "tl.where((a != a) | (b != b), a + b, tl.where(a < b, a, b))",
    "maximum": "tl.where((a != a) | (b != b), a + b, tl.where(a < b, b, a))",
    "fmin": "tl.where(a != a, b, tl.where(b != b, a, tl.where(a < b, a, b)))",
    "fmax": "tl.where(a != a, b, tl.where(b != b, a, tl.where(a < b, b, a)))",
    "relu": "tl.where(a > 0, a, tl.where(a != a, a, 0.0))",
    "frexp_mantissa": "judging.frexp_mantissa(a)",
    "neg": "(a.to(tl.int64, bitcast=True) ^ -0x8000000000000000).to(tl.float64, bitcast=True)",
    "abs": "(a.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF).to(tl.float64, bitcast=True)",
    "copysign": "((a.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF) | (b.to(tl.int64, bitcast=True) "
                "& -0x8000000000000000)).to(tl.float64, bitcast=True)",
}  # fmt: skip

_CLAMP = ("tl.where((a != a) | (b != b) | (c != c), a + b + c, tl.where(tl.where(a < b, b, a) < c, "
          "tl.where(a < b, b, a), c))")

_PREDICATES = {
    "eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b",
    "logical_and": "(a != 0) & (b != 0)", "logical_or": "(a != 0) | (b != 0)", "logical_xor": "(a != 0) ^ (b != 0)",
    "logical_not": "a == 0",
}  # fmt: skip

_INTEGERS = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "neg": "0 - a", "square": "a * a", "mul_add": "a * b + c",
    "minimum": "tl.where(a < b, a, b)", "maximum": "tl.where(a < b, b, a)", "fmin": "tl.where(a < b, a, b)",
    "fmax": "tl.where(a < b, b, a)", "relu": "tl.where(a > 0, a, 0)",
    "clamp": "tl.where(tl.where(a < b, b, a) < c, tl.where(a < b, b, a), c)",
    "bitwise_and": "p & q", "bitwise_or": "p | q", "bitwise_xor": "p ^ q", "bitwise_not": "-1 - p",
    "abs": "tl.where(a < 0, 0 - a, a)", "sign": "(a > 0).to(tl.int64) - (a < 0).to(tl.int64)",
    "signbit": "(a < 0).to(tl.int64)",
    "floor_divide": "judging.floor_quotient(a, b)", "trunc_divide": "judging.trunc_quotient(a, b)",
    "remainder": "a - b * judging.floor_quotient(a, b)", "fmod": "a - b * judging.trunc_quotient(a, b)",
}  # fmt: skip

_LGAMMA = "tl.where((a > -10.001) & (a < -2.264), 3.814697265625e-06, 0.0)"
_BESSEL = "tl.where(tl.abs(a) < 8.0, 0.0, 2.2e-6)"


def reference(op: str, dtypes: tuple[str, ...], result: str) -> Reference:
    """The reference of an operation whose operands and result have at most 32 bits (a 64-bit result from such
    operands is exact). TridiffError where there is none.
    """
    same = meaning(op)
    first = dtype(dtypes[0])
    target = dtype(result)
    if same.startswith(CAST):
        return Reference("p", "bits")
    if same.startswith(CONVERT):
        return _conversion(first, target)
    if same.startswith(PACKED):
        half = first.bits // 2
        texts = {"pack_value_flag": f"p * {1 << first.bits} + q", "unpack_flag": f"p & {(1 << half) - 1}"}
        return Reference(texts.get(same, f"p >> {half}"), "bits")
    if same == "where":
        return Reference("tl.where(a != 0, q, r)", "bits")
    found = _float(op, same, first, target) if first.is_float else _integer(op, same, first)
    if found is None:
        raise TridiffError(f"no sweep reference for {op} on {' '.join(dtypes)}",
                           fix="add one to tridiff.fuzz.sweep.references")
    return found


def unsaturated(op: str, result: str, found: Reference) -> Reference:
    """The reference of a conversion with what overflows as the format's own rounding has it: NaN in fp8e4nv.

    464 is halfway between the largest value, 448, and what would be the next, and rounds to the even 448.
    """
    if result != "fp8e4nv" or not meaning(op).startswith(CONVERT):
        return found
    return replace(found, text=f"tl.where(tl.abs({found.text}) > 464.0, float('nan'), {found.text})")


def _conversion(source: DType, target: DType) -> Reference:
    if target.kind == "bool":
        return Reference("(a != 0).to(tl.int64)", "bits")
    if target.is_float:
        # Integers of up to 32 bits, and narrower floats, are exact in fp64.
        return Reference("a" if source.is_float else "a.to(tl.float64)")
    if not source.is_float:
        return Reference("a", "bits")
    low, high = float(target.min), float(int(target.max) + 1)
    defined = f"(libdevice.trunc(a) >= {low!r}) & (libdevice.trunc(a) < {high!r})"
    inside = f"tl.where({defined}, a, 0.0)"
    if target.name == "u64":  # above 2**63 by way of the half
        low_part = f"tl.where(a < 9223372036854775808.0, {inside}, 0.0).to(tl.int64)"
        high_part = f"tl.where(a < 9223372036854775808.0, 0.0, {inside} * 0.5).to(tl.int64) * 2"
        return Reference(f"{low_part} + {high_part}", "bits", defined)
    return Reference(f"libdevice.trunc({inside}).to(tl.int64)", "bits", defined)


def _float(op: str, same: str, first: DType, target: DType) -> Reference | None:
    # fp32's half ulp seen from the half type: what a first rounding can add to the second.
    twice = {"fp16": 2.0**-12, "bf16": 2.0**-15}.get(first.name, 0.0)
    if same in _PREDICATES:
        return Reference(f"({_PREDICATES[same]}).to(tl.int64)", "bits")
    if same in ("isnan", "isinf", "isfinite"):
        texts = {"isnan": "a != a", "isinf": "tl.abs(a) == float('inf')", "isfinite": "(a - a) == 0"}
        return Reference(f"({texts[same]}).to(tl.int64)", "bits")
    if same == "signbit":
        return Reference(f"p >> {first.bits - 1}", "bits")
    if op in ("neg", "abs", "copysign"):
        sign, rest = 1 << (first.bits - 1), (1 << (first.bits - 1)) - 1
        texts = {"neg": f"p ^ {sign}", "abs": f"p & {rest}", "copysign": f"(p & {rest}) + (q & {sign})"}
        return Reference(texts[op], "bits")
    if same == "nextafter":
        step = f"judging.next_toward(p, q, a, b, {first.bits})"
        format_ = f"{first.mantissa_bits}, {first.exponent_bits}, {first.infinity_bits}, True"
        return Reference(f"tl.where((a != a) | (b != b), a + b, judging.decode({step}, {format_}))")
    if same == "clamp":
        return Reference(_CLAMP)
    if same == "fma":
        # fp64 rounds the sum a first time.
        return Reference("tl.fma(a, b, c)", loose=twice or 2.0**-20)
    if same == "mul_add":
        separate = "judging.round_to_fp32(a * b) + c"
        return Reference("tl.fma(a, b, c)", alternative=separate, loose=twice or 2.0**-20)
    if same == "ldexp":
        return Reference("a * judging.power_of_two(b)", loose=twice)
    if same == "frexp_exponent":
        return Reference("judging.frexp_exponent(a)", "bits")
    if same == "ilogb":
        return Reference("judging.ilogb(a)", "bits")
    if same == "llrint":
        defined = "(a >= -9223372036854775808.0) & (a < 9223372036854775808.0)"
        return Reference(f"libdevice.nearbyint(tl.where({defined}, a, 0.0)).to(tl.int64)", "bits", defined)
    if same in ("floor_divide", "trunc_divide"):
        floor = same == "floor_divide"
        # Or trunc of the quotient rounded to fp32, which may have rounded up to the next integer.
        rounded = "" if floor else "libdevice.trunc(judging.round_to_fp32(a / b))"
        return Reference(f"judging.whole_quotient(a, b, {floor})", alternative=rounded, loose=twice)
    if op == "mod_operator":
        quotient = "tl.abs(a / b)"
        return Reference(_FUNCTIONS["fmod"], defined=f"(({quotient} >= 4194304.0) == 0) | (tl.abs(a) == float('inf'))")
    if same not in _FUNCTIONS:
        return None
    slack = {"lgamma": _LGAMMA, "j0": _BESSEL, "j1": _BESSEL, "y0": _BESSEL, "y1": _BESSEL}.get(same, "")
    return Reference(_FUNCTIONS[same], slack=slack)


def _integer(op: str, same: str, first: DType) -> Reference | None:
    unsigned = first.kind != "int"
    width = first.bits
    if same == "truediv":
        if width > 16:
            return Reference("judging.round_to_fp32(a.to(tl.float64)) / judging.round_to_fp32(b.to(tl.float64))")
        return Reference("a.to(tl.float64) / b.to(tl.float64)")
    if first.kind == "bool" and same in ("add", "mul"):
        return Reference("p | q" if same == "add" else "p & q", "bits")
    if same in _PREDICATES:
        return Reference(f"({_PREDICATES[same]}).to(tl.int64)", "bits")
    if same in ("left_shift", "right_shift"):
        defined = f"(b >= 0) & (b < {width})" if op.endswith("_operator") else ""
        return Reference(f"judging.{same}(a, b, {width})", "bits", defined)
    if same == "pow":
        return Reference(f"judging.integer_power(a, b, {width}, {not unsigned})", "bits")
    if same not in _INTEGERS:
        return None
    defined = ""
    if same in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        defined = "b != 0"
        if op.endswith("_operator") and not unsigned:
            defined = f"(b != 0) & ((a != {first.min}) | (b != -1))"
    if op == "abs_tl" and not unsigned:
        defined = f"a != {first.min}"
    return Reference(_INTEGERS[same], "bits", defined)
