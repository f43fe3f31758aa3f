"""Repair: lanes whose value is undefined hold a recognisable pattern instead of an innocent one.

Unrepaired, a masked-off lane of a load without `other` reads as 0, an integer quotient by zero as 0, a shift by
the width or more as 0 or the sign: kernels that depend on these values look right. Here such lanes hold a quiet NaN
with a marker payload (floats) or 0xAB in every byte (integers). Contract: jit.md §3, oracles.md §5, §7.

Two entry points, because the two sources have switches of their own: `apply_to_loads` and `apply_to_arithmetic`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.interpreter.undefined import mark_undefined
from tridiff.fuzz.versions import interpreter_module, mask_lanes, triton_language

# Quiet NaNs; the payload bytes repeat 0xAB. fp8 has too few codes for a payload.
POISON_BITS = {
    "fp64": 0x7FFDABABABABABAB, "fp32": 0x7FEBABAB, "fp16": 0x7EAB, "bf16": 0x7FEB,
    "fp8e4nv": 0x7F, "fp8e5": 0x7F, "fp8e4b15": 0x7F, "fp8e4b8": 0x80, "fp8e5b16": 0x80,
}


def poison(dtype: Any) -> Array:
    """A 0-d array of the interpreter's storage type for the scalar Triton dtype `dtype`: its poison value."""
    storage = interpreter_module()._get_np_dtype(dtype)
    if dtype.name == "int1":
        return np.array(True)
    pattern = POISON_BITS.get(dtype.name, 0xABABABABABABABAB >> (64 - 8 * storage.itemsize))
    return np.array(pattern, dtype=f"uint{8 * storage.itemsize}").view(storage)


def apply_to_loads(patches: Patches) -> None:
    """Give loads without `other` the poison value as `other`."""
    module = interpreter_module()

    def create_masked_load(call: Call, self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **kwargs: Any) -> Any:
        if other is None:
            dtype = ptrs.get_element_ty()
            filler = np.full(ptrs.data.shape, poison(dtype))
            result = call(self, ptrs, mask, module.TensorHandle(filler, dtype), *rest, **kwargs)
            mark_undefined(result, ~mask_lanes(mask))
            return result
        return call(self, ptrs, mask, other, *rest, **kwargs)

    patches.wrap(module.InterpreterBuilder, "create_masked_load", create_masked_load)


def apply_to_arithmetic(patches: Patches) -> None:
    """Integer division by zero, shifts by the width or more, and float to integer conversions out of range.

    The first two get the poison value. A conversion keeps numpy's value and is only marked as undefined: its
    result is defined for torch, which the references follow.
    """
    builder = interpreter_module().InterpreterBuilder
    for name in ("create_idiv", "create_srem", "create_urem"):
        patches.wrap(builder, name, partial(_poisoned_where, lambda lhs, rhs: rhs.data == 0))
    for name in ("create_shl", "create_lshr", "create_ashr"):
        patches.wrap(builder, name, partial(_poisoned_where, _oversized))
    for name in ("create_fp_to_si", "create_fp_to_ui"):
        patches.wrap(builder, name, _marked_conversion)


def _oversized(lhs: Any, rhs: Any) -> Array:
    width = lhs.data.dtype.itemsize * 8
    wide = rhs.data.astype(np.int64)
    oversized: Array = (wide < 0) | (wide >= width)
    return oversized


def _poisoned_where(undefined: Callable[[Any, Any], Array], call: Call, self: Any, lhs: Any, rhs: Any) -> Any:
    if rhs.data.dtype == np.bool_:
        return call(self, lhs, rhs)
    lanes = undefined(lhs, rhs)
    with np.errstate(all="ignore"):
        result = call(self, lhs, rhs)
    if lanes.any():
        lanes = np.broadcast_to(lanes, result.data.shape)
        result.data = np.where(lanes, poison(result.dtype.scalar), result.data).astype(result.data.dtype)
        mark_undefined(result, lanes)
    return result


def _marked_conversion(call: Call, self: Any, src: Any, dst_type: Any) -> Any:
    with np.errstate(all="ignore"):
        result = call(self, src, dst_type)
    target = dst_type.scalar
    if src.data.dtype.kind == "f" and target.name != "int1":
        limits = np.iinfo(interpreter_module()._get_np_dtype(target))
        values = np.trunc(src.data.astype(np.float64))
        # float(max) + 1 is a power of two, hence exact, whereas max itself may not be.
        inside = (values >= float(limits.min)) & (values < float(int(limits.max) + 1))
        mark_undefined(result, ~inside)
    return result


def is_poison(bits: Array, dtype: Any) -> Array:
    """bool array: which elements of `bits` (unsigned patterns) equal the poison of `dtype` (`triton_language()` type).

    Exact equality; a value computed from poison may have changed since.
    """
    if dtype == triton_language().int1:
        return np.zeros(bits.shape, dtype=bool)
    pattern = poison(dtype)
    same: Array = bits == pattern.view(f"uint{8 * pattern.itemsize}")
    return same
