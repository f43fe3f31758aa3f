"""Repair: conversions to and from bf16 and fp8 round to nearest even, once, and saturate where the format does.

Unrepaired (Triton 3.6.0 and 3.9.0): fp32 to bf16 truncates; fp64, fp16 and integers to bf16 give garbage; fp32 to
fp8 loses mantissa carries and never saturates; fp8 infinities and NaNs decode to finite values; truncation to
fp16 with a rounding mode of its own mishandles overflow. Contract: oracles.md §5, §7.
"""

from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import ENCODABLE, NARROW, Array, decode, encode
from tridiff.fuzz.interpreter.patching import Patches
from tridiff.fuzz.versions import interpreter_module, triton_language


def convert(data: Array, source: Any, target: Any, *, toward_zero: bool = False) -> Array:
    """`data`, stored as the interpreter stores values of Triton dtype `source`, as values of dtype `target`.

    Scalar dtypes. Unsigned bit patterns stand for bf16 and fp8 on both sides. A bool array counts as int1 whatever
    `source` says: the interpreter labels the result of a comparison with the dtype of its operands.
    """
    form = NARROW.get(source.name) if data.dtype != np.bool_ else None
    values = decode(data, form) if form else data
    if target.name in NARROW or (toward_zero and target.name in ENCODABLE):
        bits = encode(values, ENCODABLE[target.name], toward_zero=toward_zero)
        return bits.view(interpreter_module()._get_np_dtype(target))
    with np.errstate(all="ignore"):
        converted: Array = values.astype(interpreter_module()._get_np_dtype(target))
    return converted


def apply(patches: Patches) -> None:
    """Replace the builder's casts and, for formats handled here, the function below them."""
    module, tl = interpreter_module(), triton_language()
    builder, handle, untouched = module.InterpreterBuilder, module.TensorHandle, module._convert_float
    toward_zero_mode = module._ir.ROUNDING_MODE.RTZ
    known = {"fp64", *ENCODABLE}

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        target = dst_type.scalar
        return handle(convert(src.data, src.dtype.scalar, target), target)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if source.name not in known or target.name not in known:
            return handle(untouched(src.data, source, target, rounding_mode).view(module._get_np_dtype(target)), target)
        return handle(convert(src.data, source, target, toward_zero=rounding_mode == toward_zero_mode), target)

    def _convert_float(data: Array, source: Any, target: Any, rounding_mode: Any) -> Array:
        # Callers view the result as the target type, so bit patterns are expected.
        if source.name not in known or target.name not in known:
            bits: Array = untouched(data, source, target, rounding_mode)
            return bits
        values = convert(data, source, target, toward_zero=rounding_mode == toward_zero_mode)
        return values.view(np.dtype(f"uint{target.primitive_bitwidth}"))

    def get_bf16(self: Any, value: float) -> Any:
        return handle(encode(np.array([value], dtype=np.float64), NARROW["bf16"]), tl.bfloat16)

    patches.set(builder, "cast_impl", cast_impl)
    patches.set(builder, "create_fp_to_fp", create_fp_to_fp)
    patches.set(module, "_convert_float", _convert_float)
    patches.set(builder, "get_bf16", get_bf16, new=True)
