"""Special values and conversions with every acceptable result (contract: oracles.md §5)."""

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


def _f(op: str, inputs: tuple[Number, ...], *accepted: Number, zero_sign: bool = True,
       known: tuple[Number, ...] = ()) -> SpecialCase:
    return SpecialCase(op, "fp32", inputs, accepted, zero_sign, known)


def _i(op: str, inputs: tuple[int, ...], *accepted: int) -> SpecialCase:
    return SpecialCase(op, "i32", inputs, accepted)


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
