"""frexp and ldexp in numpy (contract: helpers.md §12)."""


import numpy as np

from tridiff.oracles.dtypes import Array, name_of_array
from tridiff.oracles.errors import OracleError


def frexp(x: Array) -> tuple[Array, Array]:
    """(m, e) with x = m * 2^e and 0.5 <= |m| < 1, e i32; ±0, ±inf and NaN give (x, 0). fp32 and fp64; NUM
    and BIT.
    """
    if name_of_array(x) not in ("fp32", "fp64"):
        raise OracleError("frexp takes fp32 or fp64; upcast half types first")
    mantissa, exponent = np.frexp(x)
    regular = np.isfinite(x)
    return np.where(regular, mantissa, x), np.where(regular, exponent, 0).astype(np.int32)


def ldexp(mantissa: Array, exponent: Array) -> Array:
    """mantissa * 2^exponent, correctly rounded."""
    with np.errstate(all="ignore"):
        return np.asarray(np.ldexp(mantissa, exponent))
