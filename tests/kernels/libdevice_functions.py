"""The libdevice functions the generator needs (helpers.md §14), with their number of operands. Test data."""

_BINARY = "atan2 copysign fmod hypot ldexp nextafter pow"
_UNARY = (
    "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc erfcx erfinv exp exp2 expm1 floor ilogb isinf "
    "isnan j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 lgamma llrint log log1p log2 log10 nearbyint rsqrt signbit sin sinh "
    "sqrt tan tanh trunc")
FUNCTIONS = {**dict.fromkeys(_UNARY.split(), 1), **dict.fromkeys(_BINARY.split(), 2)}
RESULTS = {"ilogb": "int32", "llrint": "int64", "isinf": "int1", "isnan": "int1", "signbit": "int32"}
"""Result dtypes that differ from the operand's."""
