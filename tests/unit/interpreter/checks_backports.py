"""Defects of Triton 3.6.0's interpreter that 3.9.0 has repaired, with and without the backports."""

from fractions import Fraction

import numpy as np
import torch
import triton
import triton.language as tl

from tests.unit.interpreter.defects import defect
from tridiff.fuzz.versions import interpreter_features
from tridiff.oracles import exact


@triton.jit
def fused(a, b, c, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.fma(tl.load(a + i), tl.load(b + i), tl.load(c + i)))


def check_fma_rounds_once():
    generator = torch.Generator().manual_seed(4)
    for name, dtype in (("fp32", torch.float32), ("fp64", torch.float64), ("fp16", torch.float16)):
        a, b = (torch.randn(512, generator=generator, dtype=torch.float64).to(dtype) for _ in range(2))
        c = -(a.double() * b.double()).to(dtype)
        # A tie of the product, decided by an addend far below it.
        a[0], b[0], c[0] = 1.0 + torch.finfo(dtype).eps, 1.5, torch.finfo(dtype).tiny
        a[1], b[1], c[1] = a[0], b[0], -c[0]
        expected = [float(exact.to_fraction(name, exact.round_fraction(name, Fraction(x) * Fraction(y) + Fraction(z))))
                    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]

        def holds(
            a: torch.Tensor = a, b: torch.Tensor = b, c: torch.Tensor = c, expected: list[float] = expected
        ) -> bool:
            result = torch.empty_like(a)
            fused[(1,)](a, b, c, result, N=512)
            return result.tolist() == expected

        defect("fma", holds, exists=not interpreter_features().fma_rounds_once)


@triton.jit
def one_bit(a, b, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(dst + i, (x + y).to(tl.int32))
    tl.store(dst + N + i, (x - y).to(tl.int32))
    tl.store(dst + 2 * N + i, (x * y).to(tl.int32))


def check_int1_arithmetic_wraps():
    a, b = torch.tensor([False, False, True, True]), torch.tensor([False, True, False, True])

    def holds() -> bool:
        result = torch.zeros(3, 4, dtype=torch.int32)
        one_bit[(1,)](a, b, result, N=4)
        return (result & 1).tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]

    defect("int1_arithmetic", holds, exists=not interpreter_features().int1_wraps)


def check_shift_leaves_its_operands_alone():
    """Seen on the builder itself: the front end of both versions shifts unsigned blocks logically."""
    from tridiff.fuzz.versions import interpreter_module

    module = interpreter_module()

    def holds() -> bool:
        lhs = module.TensorHandle(np.array([0x80, 0x10], dtype=np.uint8), tl.uint8)
        rhs = module.TensorHandle(np.array([1, 1], dtype=np.uint8), tl.uint8)
        result = module.InterpreterBuilder().create_ashr(lhs, rhs)
        return (result.data.view(np.uint8).tolist() == [0xC0, 0x08] and lhs.data.dtype == np.uint8
                and rhs.data.dtype == np.uint8 and lhs.data.tolist() == [0x80, 0x10])

    defect("shift_operands", holds, exists=not interpreter_features().ashr_keeps_operands)


@triton.jit
def inverted(src, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, ~tl.load(src + i))


def check_unsigned_blocks_are_inverted():
    def holds() -> bool:
        result = torch.zeros(2, dtype=torch.uint8)
        try:
            inverted[(1,)](torch.tensor([0, 0xA5], dtype=torch.uint8), result, N=2)
        except Exception:
            return False
        return result.tolist() == [0xFF, 0x5A]

    defect("all_ones", holds, exists=not interpreter_features().unsigned_all_ones)
