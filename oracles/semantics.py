"""Special-value semantics, oracle traps and interpreter flaws as data (contract: oracles.md §5, §6, §7).

Imports neither torch nor Triton. `CASES` are executable: op, inputs and every acceptable result.
"""

import math
from dataclasses import dataclass
from typing import Literal

inf, nan = math.inf, math.nan
Number = float | int | bool


@dataclass(frozen=True, slots=True)
class SpecialCase:
    """One pinned result. `accepted`: any of these (NaN as nan; zeros sign-blind if `zero_sign` is False).

    known_divergence: a value the torch 2.13 helpers or generated code return although it is not accepted.
    """

    op: str
    dtype: str
    inputs: tuple[Number, ...]
    accepted: tuple[Number, ...]
    zero_sign: bool = True
    known_divergence: tuple[Number, ...] = ()


def _f(
    op: str, inputs: tuple[Number, ...], *accepted: Number, dtype: str = "fp32", zero_sign: bool = True,
    known: tuple[Number, ...] = (),
) -> SpecialCase:
    return SpecialCase(op, dtype, inputs, accepted, zero_sign, known)


def _i(op: str, inputs: tuple[int, ...], *accepted: int, dtype: str = "i32") -> SpecialCase:
    return SpecialCase(op, dtype, inputs, accepted)


_MIN32 = -(2**31)

CASES: tuple[SpecialCase, ...] = (
    _f("minimum", (nan, 1.0), nan), _f("minimum", (1.0, nan), nan), _f("maximum", (nan, -inf), nan),
    _f("minimum", (0.0, -0.0), 0.0, zero_sign=False), _f("maximum", (-0.0, 0.0), 0.0, zero_sign=False),
    _f("fmin", (nan, 1.0), 1.0), _f("fmax", (1.0, nan), 1.0), _f("fmin", (nan, nan), nan), _f("sign", (nan,), 0.0),
    _f("sign", (-inf,), -1.0), _f("round", (0.5,), 0.0), _f("round", (1.5,), 2.0), _f("round", (2.5,), 2.0),
    _f("round", (-0.0,), -0.0), _f("round", (-0.4,), -0.0), _f("remainder", (-0.0, inf), 0.0, zero_sign=False),
    _f("remainder", (5.0, -inf), -inf), _f("remainder", (-5.0, inf), inf), _f("remainder", (5.0, 0.0), nan),
    _f("remainder", (-5.0, 3.0), 1.0), _f("fmod", (5.0, inf), 5.0), _f("fmod", (-5.0, inf), -5.0),
    _f("fmod", (inf, 5.0), nan), _f("fmod", (-5.0, 3.0), -2.0), _f("floor_divide", (1.0, 0.0), inf),
    _f("floor_divide", (0.0, 0.0), nan), _f("floor_divide", (inf, 1.0), nan, known=(inf,)),
    _f("floor_divide", (5.0, -inf), -1.0, known=(-0.0,)), _f("floor_divide", (1.0, 0.1), 9.0, known=(10.0,)),
    _i("div_floor", (_MIN32, -1), _MIN32), _i("add", (2**31 - 1, 1), _MIN32), _i("abs", (_MIN32,), _MIN32),
    _i("mul", (_MIN32, -1), _MIN32), _i("pow", (2, -1), 0), _i("pow", (-1, -1), -1), _i("pow", (1, -1), 1),
    _i("pow", (0, -1), 0), _i("pow", (3, 21), (3**21 + 2**31) % 2**32 - 2**31), _f("hypot", (inf, nan), inf),
    _f("pow", (1.0, nan), 1.0), _f("pow", (nan, 0.0), 1.0), _f("pow", (0.0, -1.0), inf), _f("pow", (-0.0, -1.0), -inf),
    _f("pow", (-8.0, 1.0 / 3.0), nan), _f("erfinv", (1.0,), inf), _f("erfinv", (-1.0,), -inf),
    _f("erfinv", (2.0,), nan), _f("lgamma", (0.0,), inf), _f("lgamma", (-1.0,), inf), _f("lgamma", (-inf,), inf),
    _f("mul", (0.0, inf), nan), _f("mul", (0.0, nan), nan), _f("sqrt", (-0.0,), -0.0), _f("sqrt", (-1.0,), nan),
    _f("log", (0.0,), -inf), _f("log", (-0.0,), -inf), _f("log", (-1.0,), nan), _f("exp", (-inf,), 0.0),
    _f("atan2", (0.0, -0.0), math.pi, zero_sign=False), _f("atan2", (-0.0, -0.0), -math.pi),
)

ConversionClass = Literal["saturate", "overflow_to_inf", "either", "wrap", "undefined"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion's accepted results for one input value, as values of the target type."""

    source: str
    target: str
    value: float
    accepted: tuple[Number, ...]
    kind: ConversionClass


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion("fp32", "bf16", 3.3961778e38, (inf,), "overflow_to_inf"),
    Conversion("fp32", "bf16", 3.396177e38, (3.3895313892515355e38,), "overflow_to_inf"),
    Conversion("fp32", "fp16", 65520.0, (inf,), "overflow_to_inf"),
    Conversion("fp32", "fp16", 65519.0, (65504.0,), "overflow_to_inf"),
    Conversion("fp32", "fp8e4nv", inf, (448.0,), "saturate"),
    Conversion("fp32", "fp8e4nv", -inf, (-448.0,), "saturate"),
    Conversion("fp32", "fp8e4nv", 1e9, (448.0,), "saturate"), Conversion("fp32", "fp8e4nv", nan, (nan,), "saturate"),
    Conversion("fp32", "fp8e5", inf, (inf, 57344.0), "either"),
    Conversion("fp32", "fp8e5", 61440.0, (inf, 57344.0), "either"), Conversion("fp32", "u8", -1.0, (255,), "wrap"),
    Conversion("fp32", "i1", nan, (True,), "wrap"), Conversion("fp32", "i32", 3e9, (), "undefined"),
    Conversion("fp32", "i32", nan, (), "undefined"),
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A question of semantics that is not a single value: what holds here, and how libraries differ."""

    question: str
    contract: str
    torch: str = ""
    numpy: str = ""


PINNED: tuple[Pinned, ...] = (
    Pinned("argmin/argmax with NaN", "index of the first NaN", "same", "same"),
    Pinned("sort with NaN", "last when ascending, first when descending", "same", "last"),
    Pinned(
        "tl.max, tl.maximum without propagation",
        "NaN dropped when compiled; Triton 3.6.0's interpreter keeps it in tl.maximum, 3.9.0's drops it",
    ),
    Pinned("tl.argmax with NaN in the interpreter", "never compared: 3.6.0 gives the NaN's index, 3.9.0 ignores it"),
    Pinned("round(x, n)", "scaled result or the correctly rounded decimal", "scaled", "scaled"),
    Pinned("integer / 0", "unspecified value, no trap; the lane is excluded", "raises", "0 with a warning"),
    Pinned("integer power overflow", "wraps, exact modulo 2^width", "wraps", "wraps"),
    Pinned(
        "shift by the width or more", "unspecified on the device; generated code clamps, then BIT with torch",
        "left 0, right sign fill", "same",
    ),
    Pinned(
        "float to integer out of range", "unspecified; the lane is excluded", "INT_MIN, or wrapped low bits", "same",
    ),
    Pinned("equal-width signed with unsigned", "the caller promotes; Triton compares unsigned", "promotes", "promotes"),
    Pinned("integer tensor with a float scalar", "fp32", "fp32", "fp64"),
    Pinned("int sum and prod type", "int64; helper-level folds keep the input type", "int64", "int64"),
    Pinned("any of uint8", "bool, waived for dtype checks", "uint8", "bool"),
    Pinned("empty reductions", "sum 0, prod 1, any False, var NaN; extrema are errors", "same", "same"),
    Pinned("cummax with NaN", "NaN sticks with the index of the first", "same"),
    Pinned(
        "bucketize of a NaN value, or among NaN boundaries", "SIZE; every NaN boundary is below every value", "same",
        "SIZE; NaN boundary is largest",
    ),
    Pinned("nextafter on halves", "steps in the half type", "same"),
    Pinned("int64 / int64", "fp32 of each, then divide", "same", "fp64"),
    Pinned("var of one element with correction 1", "NaN", "NaN", "NaN with a warning"),
    Pinned("mean and variance with infinities", "variance NaN; mean NaN or the infinity", "NaN from var_mean"),
    Pinned("softmax of a row of -inf, or with +inf", "NaN; NaN where the input is +inf", "same"),
    Pinned("bool bytes other than 0 and 1", "True, and counted as 1", "same"),
    Pinned("random streams", "own Philox bit for bit; torch only statistically", "own stream", "own stream"),
)


@dataclass(frozen=True, slots=True)
class Trap:
    """A case in which a library is no judge: what to do about it, with an input that shows it."""

    op: str
    symptom: str
    example: tuple[float, ...] = ()
    remedy: str = "run with 1 and with 128 copies; if the results differ, do not let torch judge the value"


TRAPS: tuple[Trap, ...] = (
    Trap("cosh", "fp32 result overflows early in the vector path only", (88.8,)),
    Trap("sinh", "fp32 result overflows early in the vector path only", (88.8,)),
    Trap("fmod", "NaN in the vector path for huge quotients", (-3e38, 1e-40)),
    Trap("gelu", "NaN at infinity in the vector path", (inf,)),
    Trap(
        "minimum", "zero sign: fp32 and fp16 return the first operand, fp64 the second", (0.0, -0.0),
        "compare with NUM0",
    ),
    Trap(
        "var_mean", "mean of a slice with an infinity is NaN although mean() is infinite", (inf, 1.0),
        "accept NaN and the infinity",
    ),
    Trap("integer_division", "a zero divisor raises for the whole tensor", (1, 0), "filter lanes beforehand"),
    Trap(
        "bessel_j0", "float64 j0, j1, y0, y1 are off by up to 1e-7 between 3 and 20 (mpmath, torch 2.13 CPU)", (5.5,),
        "use tridiff.oracles.by_exact.functions; torch does not judge Bessel functions",
    ),
    Trap("uint16_uint32_uint64", "most kernels are missing", (), "emulate on int64"),
    Trap("fp8", "almost every kernel is missing", (), "compare through bits, compute in fp32"),
    Trap("half_shifts", "shift kernels are missing for halves", (), "shift integers"),
    Trap(
        "cumprod", "sequential and tree scans differ once infinities appear", (inf, 0.0), "stop at the first infinity",
    ),
)


@dataclass(frozen=True, slots=True)
class InterpreterFlaw:
    """Where Triton's interpreter is known to be wrong or different; both versions unless `versions` says
    otherwise.
    """

    area: str
    interpreter: str
    compiled: str
    versions: tuple[str, ...] = ("3.6.0", "3.9.0")


INTERPRETER_FLAWS: tuple[InterpreterFlaw, ...] = (
    InterpreterFlaw("fp32 to bf16", "truncates; wrong for subnormals and overflow", "nearest even"),
    InterpreterFlaw("fp64, fp16 or integers to bf16", "meaningless bit patterns", "right"),
    InterpreterFlaw("bf16 arithmetic, comparison and reduction", "on bit patterns", "right"),
    InterpreterFlaw(
        "fp32 to fp8", "mantissa carry lost, no saturation, wrong NaN and infinity", "nearest even, saturating",
    ),
    InterpreterFlaw("fp8 to fp32", "infinity and NaN codes become finite", "right"),
    InterpreterFlaw("and, or, not on blocks", "Python truth value", "element-wise"),
    InterpreterFlaw("chained comparison of blocks", "tests only the last pair", "right", ("3.6.0",)),
    InterpreterFlaw("int1 arithmetic", "numpy bool rules", "wraps", ("3.6.0",)),
    InterpreterFlaw("masked load without other", "zeros", "undefined"),
    InterpreterFlaw("division by zero and shifts by the width", "0 or numpy's rules", "undefined"),
    InterpreterFlaw("libdevice", "functions return None", "works"),
    InterpreterFlaw("inline assembly and extern calls", "not implemented", "works"),
    InterpreterFlaw("device_assert", "off unless its builder option is set", "off unless debug"),
    InterpreterFlaw("loops with run-time bounds", "fail with numpy 2.4 and later", "works", ("3.6.0",)),
    InterpreterFlaw("fma", "two roundings", "one", ("3.6.0",)),
    InterpreterFlaw("atomics on bf16", "error", "works"),
    InterpreterFlaw("program order", "sequential: hides races, deadlocks and stale scratch", "concurrent"),
    InterpreterFlaw("block pointers", "removed", "removed", ("3.9.0",)),
)

COMPILER_FLAWS: tuple[InterpreterFlaw, ...] = (
    InterpreterFlaw("signed // of contiguous negative blocks", "right", "wrong (Triton issue 7749)"),
)
