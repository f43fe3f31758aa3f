"""Repairs that bring Triton 3.6.0's interpreter to what 3.9.0's does: int1 arithmetic, shifts, `~`, fma.

Each has its own switch; none is installed where the feature test in `tridiff.fuzz.versions` finds the behaviour right.
"""

import ctypes
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import FP16, fma_once
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module


def apply_int1_arithmetic(patches: Patches) -> None:
    """+ - * on int1 wrap modulo 2, where numpy saturates (True + True is True) or refuses (True - True)."""
    module = interpreter_module()
    exclusive = {np.add, np.subtract}

    def binary_op(call: Call, self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        if lhs.data.dtype == np.bool_ and rhs.data.dtype == np.bool_ and op in exclusive:
            return module.TensorHandle(lhs.data ^ rhs.data, lhs.dtype.scalar)
        return call(self, lhs, rhs, op)

    patches.wrap(module.InterpreterBuilder, "binary_op", binary_op)


def apply_shift_operands(patches: Patches) -> None:
    """`>>` works on copies; unrepaired, it turns unsigned operands into signed ones for every later use."""
    module = interpreter_module()

    def create_ashr(call: Call, self: Any, lhs: Any, rhs: Any) -> Any:
        return call(self, lhs.clone(), rhs.clone())

    patches.wrap(module.InterpreterBuilder, "create_ashr", create_ashr)


def apply_all_ones(patches: Patches) -> None:
    """The constant that `~` needs is built from its bits: numpy 2 refuses -1 as a u8."""
    module = interpreter_module()

    def get_all_ones_value(call: Call, self: Any, type: Any) -> Any:
        if type.scalar.is_int1() or not type.scalar.is_int_unsigned():  # int1 counts as unsigned
            return call(self, type)
        storage = np.dtype(f"u{type.scalar.primitive_bitwidth // 8}")
        return module.TensorHandle(np.full(1, np.iinfo(storage).max, dtype=storage), type.scalar)

    patches.wrap(module.InterpreterBuilder, "get_all_ones_value", get_all_ones_value)


def apply_fma(patches: Patches) -> None:
    """`tl.fma` rounds once, in fp16, fp32 and fp64."""
    module = interpreter_module()
    exact = ctypes.CDLL(None).fma
    exact.restype, exact.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    fp64 = np.vectorize(exact, otypes=[np.float64])

    def create_fma(call: Call, self: Any, x: Any, y: Any, z: Any) -> Any:
        storage = z.data.dtype
        if storage.kind != "f":
            return call(self, x, y, z)
        operands = np.broadcast_arrays(x.data, y.data, z.data)
        with np.errstate(all="ignore"):
            if storage == np.float64:
                result = fp64(*operands)
            elif storage == np.float32:
                result = fma_once(*operands)
            else:
                result = fma_once(*operands, form=FP16).view(np.float16)
        return module.TensorHandle(result, z.dtype.scalar)

    patches.wrap(module.InterpreterBuilder, "create_fma", create_fma)
