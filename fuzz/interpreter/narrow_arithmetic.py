"""Repair: bf16 and fp8 take part in arithmetic, comparison, reduction and dot with their values.

Unrepaired (Triton 3.6.0 and 3.9.0) all of these work on the bit patterns, read as unsigned integers. Here operands
are decoded to fp32, the operation runs in fp32, and the result is rounded once. For + - * / that equals the narrow
operation, because fp32 has more than twice the precision. Sums and scans accumulate in fp32 and round at the end:
more exact than compiled code, which rounds after each step. Contract: oracles.md §7.
"""

from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import FP16, NARROW, Array, FloatFormat, decode, encode, fma_once
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module, triton_language


def _form(handle: Any) -> FloatFormat | None:
    """The narrow format in which `handle` stores its data, None for formats that numpy knows."""
    if handle.data.dtype == np.bool_:
        return None
    return NARROW.get(handle.dtype.scalar.name)


def apply(patches: Patches) -> None:
    """Wrap the builder's generic operations and the reduction classes."""
    module = interpreter_module()
    _repair_operations(patches, module.InterpreterBuilder, module.TensorHandle)
    _repair_reductions(patches, module)
    _repair_atomic_add(patches, module)


def _repair_operations(patches: Patches, builder: Any, handle: Any) -> None:
    tl = triton_language()

    def widened(operand: Any) -> Any:
        form = _form(operand)
        return operand if form is None else handle(decode(operand.data, form), tl.float32)

    def pack(output: Array, form: FloatFormat, dtype: Any) -> Any:
        if output.dtype == np.bool_:
            return handle(output, tl.int1)
        return handle(encode(output, form), dtype.scalar)

    def binary(call: Call, self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        form = _form(lhs)
        if form is None:
            return call(self, lhs, rhs, op)
        with np.errstate(all="ignore"):
            return pack(op(decode(lhs.data, form), decode(rhs.data, form)), form, lhs.dtype)

    def unary(call: Call, self: Any, arg: Any, op: Any) -> Any:
        form = _form(arg)
        if form is None:
            return call(self, arg, op)
        if op is np.negative:  # changes one bit of whatever it is, infinities of types that saturate among them
            return handle(arg.data ^ form.storage.type(1 << (form.bits - 1)), arg.dtype.scalar)
        with np.errstate(all="ignore"):
            return pack(op(decode(arg.data, form)), form, arg.dtype)

    def clamp(call: Call, self: Any, arg: Any, lo: Any, hi: Any, propagate_nans: Any) -> Any:
        form = _form(arg)
        if form is None:
            return call(self, arg, lo, hi, propagate_nans)
        wide = call(self, widened(arg), widened(lo), widened(hi), propagate_nans)
        return pack(wide.data, form, arg.dtype)

    def fma(call: Call, self: Any, x: Any, y: Any, z: Any) -> Any:
        form = _form(z)
        if form is None:
            return call(self, x, y, z)
        with np.errstate(all="ignore"):
            bits = fma_once(*(decode(operand.data, form) for operand in (x, y, z)), form=form)
        return handle(bits, z.dtype.scalar)

    def dot(call: Call, self: Any, a: Any, b: Any, d: Any, *rest: Any, **named: Any) -> Any:
        return call(self, widened(a), widened(b), d, *rest, **named)

    patches.wrap(builder, "binary_op", binary)
    patches.wrap(builder, "unary_op", unary)
    patches.wrap(builder, "create_clampf", clamp)
    patches.wrap(builder, "create_fma", fma)
    patches.wrap(builder, "create_dot", dot)


def _repair_reductions(patches: Patches, module: Any) -> None:
    tl = triton_language()

    def widened(tensor: Any) -> Any:
        data = decode(tensor.handle.data, NARROW[tensor.dtype.name])
        return tl.core.tensor(module.TensorHandle(data, tl.float32), tl.block_type(tl.float32, list(data.shape)))

    def narrowed(self: Any, wide: Any, dtype: Any) -> Any:
        if wide.dtype != tl.float32:
            return wide
        bits = encode(wide.handle.data, NARROW[dtype.name])
        # Data of scalars are arrays of one element: a tensor takes its shape from its type, never from them.
        return tl.core.tensor(module.TensorHandle(bits, dtype), wide.type.with_element_ty(dtype)
                              if wide.type.is_block() else dtype)

    def through_fp32(call: Call, self: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        if tensor.dtype.name not in NARROW:
            return call(self, tensor, *args, **kwargs)
        wide = call(self, widened(tensor), *args, **kwargs)
        if isinstance(wide, (list, tuple)):
            return type(wide)(narrowed(self, part, tensor.dtype) for part in wide)
        return narrowed(self, wide, tensor.dtype)

    for owner, name in ((module.ReduceOps, "sum"), (module.ReduceOps, "min_max"),
                        (module.ScanOps, "cumsum"), (module.ScanOps, "cumprod")):
        patches.wrap(owner, name, through_fp32)


def _repair_atomic_add(patches: Patches, module: Any) -> None:
    def atomic(call: Call, self: Any, rmwOp: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        # In fp16 the native code raises OverflowError instead of giving infinity.
        form = FP16 if val.data.dtype == np.float16 else _form(val)
        if form is None or rmwOp != module._ir.ATOMIC_OP.FADD:
            # Native code walks memory: what Triton 3.6.0 hands it must not be a broadcast view.
            for operand in (ptr, val, mask):
                if not operand.data.flags.c_contiguous:
                    operand.data = operand.data.copy()
            return call(self, rmwOp, ptr, val, mask, sem, scope)
        def widened(data: Array) -> Array:
            return data.view(np.float16).astype(np.float32) if form is FP16 else decode(data, form)

        native, storage = module._interpreter, form.storage
        addresses, active, values = (np.ascontiguousarray(array).ravel() for array in np.broadcast_arrays(
            ptr.data, mask.data, widened(val.data)))
        before = np.zeros(addresses.shape, dtype=storage)
        true, zero = np.ones(1, dtype=bool), np.zeros(1, dtype=storage)
        # Lane by lane: lanes of one block may name the same address.
        for lane in np.flatnonzero(active):
            address = addresses[lane:lane + 1]
            before[lane:lane + 1] = native.load(address, true, zero, storage)
            total = widened(before[lane:lane + 1]) + values[lane:lane + 1]
            native.store(address, encode(total, form), true)
        return module.TensorHandle(before.reshape(ptr.data.shape).view(val.data.dtype), val.dtype.scalar)

    patches.wrap(module.InterpreterBuilder, "create_atomic_rmw", atomic)
