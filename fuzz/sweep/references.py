"""The judge kernel's own reference of every operation, as Triton text that shares nothing with the subject's.

In the text `a`, `b`, `c` are the operands' values: fp64 blocks for floats, int64 blocks for integers and i1. `p`, `q`,
`r` are their bit patterns (int64). `device` is fuzz.sweep.judging. The value of the text is the unrounded result:
fp64 where results are judged as numbers, int64 where they are judged by their bits.
Nothing here imports Triton.
"""

from dataclasses import dataclass, replace
from typing import Literal

from tridiff.fuzz.errors import TridiffError
from tridiff.kernels.pointwise.table import OPS
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
                           fix="give its record a text in tridiff.kernels.pointwise.operations")
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
    known = OPS[same].texts
    if known.predicate:
        return Reference(f"({known.predicate}).to(tl.int64)", "bits")
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
        return Reference(known.judged, defined=f"(({quotient} >= 4194304.0) == 0) | (tl.abs(a) == float('inf'))")
    if not known.judged:
        return None
    slack = {"lgamma": _LGAMMA, "j0": _BESSEL, "j1": _BESSEL, "y0": _BESSEL, "y1": _BESSEL}.get(same, "")
    return Reference(known.judged, slack=slack)


def _integer(op: str, same: str, first: DType) -> Reference | None:
    unsigned = first.kind != "int"
    width = first.bits
    if same == "truediv":
        if width > 16:
            return Reference("judging.round_to_fp32(a.to(tl.float64)) / judging.round_to_fp32(b.to(tl.float64))")
        return Reference("a.to(tl.float64) / b.to(tl.float64)")
    if first.kind == "bool" and same in ("add", "mul"):
        return Reference("p | q" if same == "add" else "p & q", "bits")
    known = OPS[same].texts
    if known.predicate:
        return Reference(f"({known.predicate}).to(tl.int64)", "bits")
    if same in ("left_shift", "right_shift"):
        defined = f"(b >= 0) & (b < {width})" if op.endswith("_operator") else ""
        return Reference(f"judging.{same}(a, b, {width})", "bits", defined)
    if same == "pow":
        return Reference(f"judging.integer_power(a, b, {width}, {not unsigned})", "bits")
    if not known.judged_integers:
        return None
    defined = ""
    if same in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        defined = "b != 0"
        if op.endswith("_operator") and not unsigned:
            defined = f"(b != 0) & ((a != {first.min}) | (b != -1))"
    if op == "abs_tl" and not unsigned:
        defined = f"a != {first.min}"
    return Reference(known.judged_integers, "bits", defined)
