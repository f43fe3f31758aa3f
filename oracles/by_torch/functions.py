"""Values of pointwise functions in torch on float64, on any device.

For inputs narrower than fp64 the float64 result is the unrounded reference; for fp64 it is a second opinion
of about 1 ulp only. Bessel j0, j1, y0, y1 are missing on purpose: torch 2.13's float64 ones are wrong by up
to 1e-7 between 3 and 20 (mpmath, on a CPU).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64
from tridiff.oracles.errors import OracleError

_Function = Callable[..., Tensor]


def _erfcx(x: Tensor) -> Tensor:
    """On the host: on a GPU, torch compiles its hundred polynomials at the first call of a process."""
    return torch.special.erfcx(x.cpu()).to(x.device)


def _cbrt(x: Tensor) -> Tensor:
    """By a root of the magnitude, and one step of Newton's method, of what is neither 0 nor infinite."""
    plain = torch.isfinite(x) & (x != 0)
    size = torch.where(plain, x.abs(), 1.0)
    root = torch.pow(size, 1 / 3)
    return torch.where(plain, torch.copysign(root - (root - size / (root * root)) / 3, x), x)


FUNCTIONS: dict[str, _Function] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "div_rn": torch.div,
    "reciprocal": torch.reciprocal, "sqrt": torch.sqrt, "sqrt_rn": torch.sqrt, "rsqrt": torch.rsqrt, "cbrt": _cbrt,
    "exp": torch.exp,
    "exp_fast": torch.exp, "sigmoid": torch.sigmoid, "exp2": torch.exp2, "exp10": lambda x: torch.pow(10.0, x),
    "expm1": torch.expm1, "log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "atan2": torch.atan2, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh,
    "acosh": torch.acosh, "atanh": torch.atanh, "erf": torch.erf, "erfc": torch.erfc, "erfinv": torch.erfinv,
    "erfcx": _erfcx, "lgamma": torch.lgamma, "i0": torch.special.i0, "i1": torch.special.i1, "hypot": torch.hypot,
    "pow": torch.pow, "fmod": torch.fmod, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc,
    "nearbyint": torch.round, "abs": torch.abs, "copysign": torch.copysign, "minimum": torch.minimum,
    "maximum": torch.maximum, "remainder_operator": torch.fmod, "floor_divide": torch.floor_divide,
}


def evaluate(op: str, *inputs: Tensor) -> Tensor:
    """float64 value of `op`; OracleError for an operation torch has no function for."""
    if op not in FUNCTIONS:
        raise OracleError(f"torch has no {op!r}; use tridiff.oracles.by_exact.functions")
    return FUNCTIONS[op](*(to_float64(x) for x in inputs))
