"""libdevice and math under one name each, and numpy stand-ins for the interpreter (contract: helpers.md §14).

`libdevice` and `math` are the modules of the installed Triton; kernels write `libdevice.exp(x)`.

The interpreter has no libdevice: its functions are empty stubs that return None. The functions below have the
names of libdevice's, take and return interpreter tensors, and follow the documented special cases of CUDA's.
fp32 is computed in float64 and rounded once, which is correctly rounded but for rare double roundings; fp64
is as accurate as numpy and scipy are. Nothing is flushed to zero (compiled code flushes fp32 subnormals
unless `enable_reflect_ftz=False`). Other types are refused, as compiled code refuses them.
`tridiff.fuzz.interpreter.libdevice` plants them where kernels look.
"""

import functools
import importlib
import re
from collections.abc import Callable
from math import erfc as erfc_of_c
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton.language import math
from triton.language.extra import libdevice

from tridiff.kernels.pointwise.table import OPS

__all__ = ["libdevice", "math"]

Array = NDArray[Any]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def _tensor_module() -> Any:
    return importlib.import_module("triton.runtime.interpreter")


def _operands(name: str, arguments: tuple[Any, ...]) -> tuple[list[Any], tuple[int, ...] | None]:
    """The arguments as interpreter tensors, and the shape they broadcast to (None: all are scalars)."""
    module = _tensor_module()
    tensors = [module.interpreter_semantic.to_tensor(getattr(x, "value", x)) for x in arguments]
    shapes = [tuple(tensor.shape) for tensor in tensors if tensor.type.is_block()]
    return tensors, np.broadcast_shapes(*shapes) if shapes else None


def _wrap(values: Array, dtype: Any, shape: tuple[int, ...] | None) -> Any:
    """An interpreter tensor of this dtype; scalars are kept as the interpreter keeps them."""
    handle = _tensor_module().TensorHandle(values, dtype)
    return tl.tensor(handle, dtype if shape is None else tl.block_type(dtype, list(shape)))


def _evaluate(
    name: str, arguments: tuple[Any, ...], function: Callable[..., Array], signatures: Any, result: Any, *, widen: bool
) -> Any:
    """Applies `function` to the broadcast operands; `result` is the result's dtype, None for that of the first."""
    tensors, shape = _operands(name, arguments)
    types = tuple(str(tensor.dtype) for tensor in tensors)
    if types not in signatures:
        raise TypeError(
            f"libdevice.{name} takes {' or '.join(map(str, signatures))}, got {types}: cast the operands first"
        )
    dtype = tensors[0].dtype if result is None else result
    data = [np.asarray(tensor.handle.data) for tensor in tensors]
    if shape is not None:
        data = [np.broadcast_to(x, shape) for x in data]
    if widen:
        data = [_quiet(x.astype(np.float64)) if x.dtype.kind == "f" else x for x in data]
    with np.errstate(all="ignore"):
        values = np.asarray(function(*data))
        return _wrap(values.astype(_numpy_type(dtype)), dtype, shape)


def _quiet(x: Array) -> Array:
    """Without signalling NaNs: C's functions that ignore a NaN (hypot of an infinity, 1 to the power of it) mind those,
    and CUDA's do not."""
    return np.where(np.isnan(x), np.nan, x)


def _numpy_type(dtype: Any) -> Any:
    return {"int1": np.bool_, "int32": np.int32, "int64": np.int64, "fp32": np.float32, "fp64": np.float64}[str(dtype)]


_REAL = (("fp32",), ("fp64",))
_REALS = (("fp32", "fp32"), ("fp64", "fp64"))
_REAL_AND_INT = (("fp32", "int32"), ("fp64", "int32"))
_ABS = (*_REAL, ("int32",), ("int64",))


def _unary(
    name: str, function: Callable[[Array], Array], *, result: Any = None, signatures: Any = _REAL, widen: bool = True
) -> Callable[..., Any]:
    def stand_in(arg0: Any, _semantic: Any = None) -> Any:
        return _evaluate(name, (arg0,), function, signatures, result, widen=widen)

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def _binary(
    name: str, function: Callable[[Array, Array], Array], *, signatures: Any = _REALS, widen: bool = True
) -> Callable[..., Any]:
    def stand_in(arg0: Any, arg1: Any, _semantic: Any = None) -> Any:
        return _evaluate(name, (arg0, arg1), function, signatures, None, widen=widen)

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def _special(name: str, x: Array) -> Array:
    """A function of scipy.special, which only these need."""
    function = getattr(importlib.import_module("scipy.special"), name)
    result: Array = function(x)
    return result


def _scipy(name: str) -> Callable[[Array], Array]:
    return functools.partial(_special, name)


def _odd(name: str, x: Array) -> Array:
    """An odd function of scipy.special that loses the sign of zero."""
    return np.where(x == 0, x, _special(name, x))


def _erfc(x: Array) -> Array:
    """The C library's: scipy's loses digits where the result is small."""
    return np.vectorize(erfc_of_c, otypes=[np.float64])(x)


def _ilogb(x: Array) -> Array:
    """The unbiased exponent; 0 and NaN give INT_MIN, infinities INT_MAX."""
    exponent = np.frexp(x)[1].astype(np.int64) - 1
    exponent = np.where(np.isinf(x), INT32_MAX, exponent)
    return np.where((x == 0) | np.isnan(x), INT32_MIN, exponent)


def _llrint(x: Array) -> Array:
    """To the nearest even int64, saturating; NaN gives INT64_MIN, as PTX converts it."""
    rounded = np.rint(x)
    inside = (rounded >= -(2.0**63)) & (rounded < 2.0**63)
    whole = np.where(inside, rounded, 0.0).astype(np.int64)
    return np.where(inside, whole, np.where(rounded > 0, INT64_MAX, INT64_MIN))


def _lgamma(x: Array) -> Array:
    """log |gamma(x)|; +inf at both infinities, at 0 and at the negative integers."""
    # scipy overflows below the smallest normal number, where the answer is -log|x|.
    tiny = (np.abs(x) < 1e-300) & (x != 0)
    small = -np.log(np.where(tiny, np.abs(x), 1.0))
    return np.where(np.isinf(x), np.inf, np.where(tiny, small, _special("gammaln", np.where(tiny, 1.0, x))))


def _bessel(name: str) -> Callable[[Array], Array]:
    """A Bessel function of the first or second kind, which decays to 0 at infinity."""

    def function(x: Array) -> Array:
        decayed = np.where(np.isposinf(x) | (np.isneginf(x) & (name[0] == "j")), 0.0 * np.sign(x), 0.0)
        finite = _special(name, np.where(np.isinf(x), 1.0, x))
        out_of_domain = np.isneginf(x) & (name[0] == "y")
        return np.where(np.isinf(x), np.where(out_of_domain, np.nan, decayed), finite)

    return function


def _modified_bessel(name: str) -> Callable[[Array], Array]:
    """A modified Bessel function of the first kind: infinite at the infinities, where scipy has NaN."""

    def function(x: Array) -> Array:
        ends = np.isinf(x) | ((x == 0) & (name == "i1"))
        return np.where(ends, x if name == "i1" else np.inf, _special(name, x))

    return function


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _pow(x: Array, y: Array) -> Array:
    """C's pow: 1 to any power and anything to the power 0 are 1, NaN included."""
    return np.power(x, y.astype(np.float64) if y.dtype.kind == "i" else y)


abs = _unary("abs", np.abs, signatures=_ABS, widen=False)
ceil = _unary("ceil", np.ceil)
copysign = _binary("copysign", np.copysign, widen=False)
cyl_bessel_i0 = _unary("cyl_bessel_i0", _modified_bessel("i0"))
cyl_bessel_i1 = _unary("cyl_bessel_i1", _modified_bessel("i1"))
erf = _unary("erf", _scipy("erf"))
erfc = _unary("erfc", _erfc)
erfcx = _unary("erfcx", _scipy("erfcx"))
erfinv = _unary("erfinv", functools.partial(_odd, "erfinv"))
floor = _unary("floor", np.floor)
fmod = _binary("fmod", np.fmod)
ilogb = _unary("ilogb", _ilogb, result=tl.int32, widen=False)
isinf = _unary("isinf", np.isinf, result=tl.int1)
isnan = _unary("isnan", np.isnan, result=tl.int1)
j0 = _unary("j0", _bessel("j0"))
j1 = _unary("j1", _bessel("j1"))
ldexp = _binary("ldexp", np.ldexp, signatures=_REAL_AND_INT)
lgamma = _unary("lgamma", _lgamma)
llrint = _unary("llrint", _llrint, result=tl.int64)
nearbyint = _unary("nearbyint", np.rint)
nextafter = _binary("nextafter", np.nextafter, widen=False)
pow = _binary("pow", _pow, signatures=(*_REALS, *_REAL_AND_INT))
rsqrt = _unary("rsqrt", _rsqrt)
signbit = _unary("signbit", np.signbit, result=tl.int32, widen=False)
trunc = _unary("trunc", np.trunc)
y0 = _unary("y0", _bessel("y0"))
y1 = _unary("y1", _bessel("y1"))

for _op in OPS.values():
    # What numpy computes by one function stands in the operation's record.
    _call = re.fullmatch(r"np\.(\w+)\(\{0\}(?:, \{1\})?\)", _op.texts.numpy)
    if _call and _op.forms[-1].template.startswith(f"libdevice.{_op.name}("):
        globals().setdefault(_op.name, (_unary if _op.arity == 1 else _binary)(_op.name, getattr(np, _call[1])))
