"""Functions of libdevice, by symbol: those whose contract numpy and scipy know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.floats import FUNCTIONS, extreme
from tridiff.fuzz.evaluate.integers import high_word, unsigned
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import means

_MORE: dict[str, Callable[..., Any]] = {
    **FUNCTIONS, "pow": np.power, "atan2": np.arctan2, "fmod": np.fmod, "hypot": np.hypot, "erfc": scipy.special.erfc,
    "rint": np.rint, "nearbyint": np.rint, "lgamma": scipy.special.gammaln, "tgamma": scipy.special.gamma,
    "exp10": lambda x: np.power(10.0, x), "j0": scipy.special.j0, "j1": scipy.special.j1, "y0": scipy.special.y0,
    "y1": scipy.special.y1, "erfinv": scipy.special.erfinv, "erfcinv": scipy.special.erfcinv,
    "normcdf": scipy.special.ndtr, "normcdfinv": scipy.special.ndtri, "erfcx": scipy.special.erfcx,
    "cyl_bessel_i0": scipy.special.i0, "cyl_bessel_i1": scipy.special.i1, "fdim": lambda a, b: np.maximum(a - b, 0.0),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "fma": lambda a, b, c: a * b + c,
}
"""Computed in fp64 and rounded once; `fma` for fp32."""

_EXACT: dict[str, Callable[..., Any]] = {
    "fabs": np.abs, "copysign": np.copysign, "nextafter": np.nextafter,
    "isnan": np.isnan, "isinf": np.isinf, "signbit": np.signbit, "finite": np.isfinite, "isfinited": np.isfinite,
    "isnand": np.isnan, "isinfd": np.isinf, "signbitd": np.signbit,
    "fmax": lambda a, b: extreme(a, b, largest=True, propagate=False),
    "fmin": lambda a, b: extreme(a, b, largest=False, propagate=False),
    "ldexp": np.ldexp, "abs": np.abs, "llabs": np.abs,
    "popc": lambda x: np.bitwise_count(unsigned(x)), "popcll": lambda x: np.bitwise_count(unsigned(x)),
    "umulhi": lambda a, b: high_word(unsigned(a), unsigned(b)),
    "umul64hi": lambda a, b: high_word(unsigned(a), unsigned(b)),
    "float_as_int": lambda x: x.view(np.int32), "int_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
}


@means("tt.extern_elementwise")
def library(machine: Any, operation: Operation, values: list[Any]) -> Any:
    symbol = operation.attributes.get("symbol", "").strip('"')
    name = symbol.removeprefix("__nv_")
    kind = operation.type.dtype
    given: list[Array] = [np.asarray(one) for one in values]
    for one in (name, name.removesuffix("f")):
        if one in _EXACT:
            found = np.asarray(_EXACT[one](*given))
            return found.view(kind) if found.dtype.kind == "u" and kind.itemsize == found.dtype.itemsize else (
                found.astype(kind))
        if one in _MORE and (one != "fma" or kind != np.float64):
            return np.asarray(_MORE[one](*(x.astype(np.float64) for x in given))).astype(kind)
    raise NotEvaluated(f"op tt.extern_elementwise {symbol}")
