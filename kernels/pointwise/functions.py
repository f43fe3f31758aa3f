"""The device functions that templates of `tridiff.kernels.pointwise.table` call, under one name each."""

from tridiff.kernels.helpers.bits import frexp
from tridiff.kernels.helpers.clamp import clamp
from tridiff.kernels.helpers.extrema import maximum, minimum
from tridiff.kernels.helpers.integer import div_floor_integer, remainder_integer
from tridiff.kernels.helpers.lookback import pack_value_flag, unpack_flag, unpack_value
from tridiff.kernels.pointwise.floats import (
    absolute,
    ceil,
    copysign,
    floor,
    floor_divide,
    fmax,
    fmin,
    isfinite,
    isinf,
    negate,
    nextafter,
    relu,
    remainder,
    sign,
    signbit,
    trunc_divide,
)
from tridiff.kernels.pointwise.integers import (
    absolute_integer,
    complement,
    div_trunc_integer,
    integer_power,
    left_shift,
    rem_trunc_integer,
    right_shift,
)

__all__ = [
    "absolute", "absolute_integer", "ceil", "clamp", "complement", "copysign", "div_floor_integer",
    "div_trunc_integer", "floor", "floor_divide", "fmax", "fmin", "frexp", "integer_power", "isfinite", "isinf",
    "left_shift", "maximum", "minimum", "negate", "nextafter", "pack_value_flag", "relu", "rem_trunc_integer",
    "remainder", "remainder_integer", "right_shift", "sign", "signbit", "trunc_divide", "unpack_flag", "unpack_value",
]
