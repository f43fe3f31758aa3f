"""Undefined values: the marker they hold, and how they are followed to where they are used."""

import numpy as np
import torch
import triton.language as tl
from triton import jit

from tests.unit.interpreter.defects import defect
from tridiff.fuzz.interpreter import Repairs, repaired
from tridiff.fuzz.interpreter.poison import is_poison, poison
from tridiff.fuzz.interpreter.shadow_memory import bit_patterns
from tridiff.fuzz.interpreter.trace import Buffer, Trace, recording


@jit
def copy(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(src + i, mask=i < n))


def check_masked_off_lanes_hold_the_marker():
    for dtype, triton_type, bits in (
        (torch.float64, tl.float64, 0x7FFDABABABABABAB), (torch.float32, tl.float32, 0x7FEBABAB),
        (torch.float16, tl.float16, 0x7EAB), (torch.bfloat16, tl.bfloat16, 0x7FEB),
        (torch.int8, tl.int8, 0xAB), (torch.uint8, tl.uint8, 0xAB), (torch.int16, tl.int16, 0xABAB),
        (torch.int32, tl.int32, 0xABABABAB), (torch.int64, tl.int64, 0xABABABABABABABAB),
        (torch.float8_e4m3fn, tl.float8e4nv, 0x7F), (torch.float8_e5m2, tl.float8e5, 0x7F),
    ):
        storage = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[
            torch.empty(0, dtype=dtype).element_size()]
        source = torch.ones(4, dtype=storage).view(dtype)

        def holds(dtype: torch.dtype = dtype, bits: int = bits, storage: torch.dtype = storage,
                  source: torch.Tensor = source, triton_type: object = triton_type) -> bool:
            result = torch.zeros(4, dtype=storage)
            copy[(1,)](source, result.view(dtype), 2, N=4)
            patterns = bit_patterns(result.numpy())
            return patterns.tolist() == [1, 1, bits, bits] and is_poison(
                patterns, triton_type).tolist() == [False, False, True, True]

        defect("poison_loads", holds)
        assert triton_type == tl.float16 or int(bit_patterns(poison(triton_type))) == bits
    for kind in (tl.float64, tl.float32, tl.float16):
        assert np.isnan(poison(kind))


@jit
def load_one(src, dst, n):
    i = tl.arange(0, 1)
    tl.store(dst + i, tl.load(src + i, mask=i < n, other=0))


@jit
def add_one_everywhere(dst, N: tl.constexpr):
    tl.atomic_add(dst + tl.arange(0, N), 1.0)


def check_a_scalar_operand_of_an_atomic_is_spread_over_the_block():
    result = torch.zeros(4)
    with repaired(), recording([Buffer.of_tensor("result", result)]):
        add_one_everywhere[(1,)](result, N=4)
    assert result.tolist() == [1] * 4


def check_other_of_a_one_element_block_counts_although_zero():
    result = torch.ones(1)
    with repaired():
        load_one[(1,)](torch.ones(1), result, 0)
    assert result.tolist() == [0]


@jit
def divide_and_shift(a, b, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(dst + i, x // y)
    tl.store(dst + N + i, x % y)
    tl.store(dst + 2 * N + i, x << y)
    tl.store(dst + 3 * N + i, x >> y)


def check_undefined_arithmetic_holds_the_marker():
    marker = 0xABABABAB
    for dtype in (torch.int32, torch.uint32):
        a = torch.tensor([7, 100, 5, 9], dtype=dtype)
        b = torch.tensor([2, 0, 32, 31], dtype=dtype)
        signed_marker = marker - 2**32 if dtype == torch.int32 else marker
        expected = [
            [3, signed_marker, 0, 0], [1, signed_marker, 5, 9],
            [28, 100, signed_marker, (9 << 31) % 2**32 - (2**32 if dtype == torch.int32 else 0)],
            [1, 100, signed_marker, 0]]

        def holds(a: torch.Tensor = a, b: torch.Tensor = b, expected: list[list[int]] = expected) -> bool:
            result = torch.zeros(4, 4, dtype=a.dtype)
            divide_and_shift[(1,)](a, b, result, N=4)
            return bool(result.tolist() == expected)

        defect("poison_arithmetic", holds)


def uses(kernel: object, inputs: dict[str, torch.Tensor], *args: object, repairs: Repairs | None = None,
         **constants: object) -> list[str]:
    """Kinds of undefined uses of a launch kernel[1](*inputs, *args, **constants), in order."""
    return [use.use for use in traced(kernel, inputs, *args, repairs=repairs, **constants).undefined_uses]


def traced(kernel: object, inputs: dict[str, torch.Tensor], *args: object, repairs: Repairs | None = None,
           initialised: bool = True, **constants: object) -> Trace:
    buffers = [Buffer.of_tensor(name, tensor, initialised=initialised) for name, tensor in inputs.items()]
    with repaired(repairs), recording(buffers) as trace:
        kernel[(1,)](*inputs.values(), *args, **constants)
    return trace


def check_stored_undefined_value_is_reported_with_its_place():
    tensors = {"src": torch.ones(8), "dst": torch.zeros(8)}
    trace = traced(copy, tensors, 5, N=8)
    (use,) = trace.undefined_uses
    assert (use.use, use.buffer, use.element, use.lanes, use.program) == ("store", "dst", 5, 3, (0, 0, 0))
    assert use.location.function == "copy"
    assert trace.memory(trace.index("dst")).undefined.tolist() == [False] * 5 + [True] * 3
    assert uses(copy, tensors, 8, N=8) == []
    blind = traced(copy, tensors, 5, repairs=Repairs().but(undefined_lanes=False), N=8)
    assert blind.undefined_uses == [] and not blind.undefined_checked and trace.undefined_checked


@jit
def careful(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    m = i < n
    v = tl.load(src + i, mask=m)
    total = tl.sum(tl.where(m, v, 0), 0)
    largest = tl.max(tl.load(src + i, mask=m, other=-1000), 0)
    count = tl.sum((m & (v > 0)).to(tl.int32), 0)
    none = tl.sum(((m == 0) | (v > 0)).to(tl.int32), 0)
    product = tl.sum(v.to(tl.int32) * m.to(tl.int32), 0)
    shaped = tl.sum(tl.trans(tl.reshape(tl.where(m, v, 0), (2, N // 2))), 0)
    tl.store(dst + i, tl.where(m, v, -1) * 2 + total + largest + count + none + product + tl.sum(shaped, 0))


def check_masked_use_of_undefined_values_is_clean():
    assert uses(careful, {"src": torch.ones(8), "dst": torch.zeros(8)}, 5, N=8) == []


@jit
def careless_sum(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst, tl.sum(tl.load(src + i, mask=i < n), 0))


@jit
def careless_scan(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.cumsum(tl.load(src + i, mask=i != n), 0)
    tl.store(dst + i, v, mask=i < n)
    tl.store(dst + i, v, mask=i == n)


@jit
def careless_shapes(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(src + i, mask=i < n)
    w = tl.trans(tl.reshape(v, (2, N // 2)))
    a, b = tl.split(w)
    both = tl.reshape(tl.join(a, b), (N,))
    tl.store(dst + i, both, mask=i % 2 == 0)
    tl.store(dst + i, both, mask=i % 2 == 1)


@jit
def undefined_address(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    k = tl.load(src + i, mask=i < n)
    tl.store(dst + (k & 0), 1, mask=i < n)
    tl.store(dst + (k & 3), 1)


@jit
def undefined_mask(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    k = tl.load(src + i, mask=i < n)
    tl.store(dst + i, 1, mask=(k > 0) & (i < n))
    tl.store(dst + i, 1, mask=k > 0)


@jit
def undefined_branch(src, dst, n):
    k = tl.load(src, mask=n > 0)
    if k > 3:
        tl.store(dst, 1)


@jit
def undefined_assertion(src, n, N: tl.constexpr):
    i = tl.arange(0, N)
    k = tl.load(src + i, mask=i < n)
    tl.device_assert((k > 0) | (i >= n), "defined lanes only")
    tl.device_assert(k != 0, "any lane")


@jit
def undefined_operand(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(dst + i, tl.load(src + i, mask=i < n))


@jit
def undefined_gather(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(src + i, mask=i < n)
    tl.store(dst + i, tl.gather(v, i * 0, 0))
    tl.store(dst + i, tl.gather(v, N - 1 - i, 0))


@jit
def undefined_quotient(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    q = tl.load(src + i).to(tl.int32) // (i - n)
    tl.store(dst + i, q, mask=i != n)
    tl.store(dst + i, q, mask=i == n)


@jit
def undefined_conversion(src, dst, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, (tl.load(src + i) * 1e20).to(tl.int32))


def check_each_kind_of_use_is_seen_once():
    ones, zeros = torch.ones(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    tensors = {"src": ones, "dst": zeros}
    floats = {"src": torch.ones(8), "dst": torch.zeros(8)}
    assert uses(careless_sum, floats, 5, N=8) == ["store"]
    assert uses(careless_scan, floats, 5, N=8) == ["store"]
    shapes = traced(careless_shapes, floats, 6, N=8)
    assert [(use.element, use.lanes) for use in shapes.undefined_uses] == [(5, 2)], shapes.undefined_uses
    for kernel, n, use in ((undefined_address, 5, "address"), (undefined_mask, 5, "mask"),
                           (undefined_operand, 5, "atomic operand"), (undefined_gather, 5, "store"),
                           (undefined_quotient, 3, "store")):
        assert uses(kernel, tensors, n, N=8) == [use], kernel
    assert uses(undefined_branch, tensors, 0) == ["branch"]
    assert uses(undefined_branch, tensors, 1) == []
    assert uses(undefined_assertion, {"src": ones}, 5, N=8) == ["assertion"]
    assert uses(undefined_conversion, {"src": torch.ones(8), "dst": zeros}, 0, N=8) == ["store"]


@jit
def twice(src, dst, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(src + i), mask=i < N - 1)
    tl.store(out + i, tl.load(dst + i))


def check_memory_that_was_never_written_is_undefined():
    src, dst, out = torch.ones(4), torch.zeros(4), torch.zeros(4)
    buffers = [Buffer.of_tensor("src", src), Buffer.of_tensor("dst", dst, initialised=False),
               Buffer.of_tensor("out", out, initialised=False)]
    with repaired(), recording(buffers) as trace:
        twice[(1,)](src, dst, out, N=4)
    (use,) = trace.undefined_uses
    assert (use.use, use.buffer, use.element, use.lanes) == ("store", "out", 3, 1)
    assert uses(twice, {"src": src, "dst": dst, "out": out}, N=4) == []


@jit
def copy_by_descriptor(src, dst, n, N: tl.constexpr):
    descriptor = tl.make_tensor_descriptor(dst, shape=[n], strides=[1], block_shape=[N])
    i = tl.arange(0, N)
    descriptor.store([0], tl.load(src + i, mask=i < n))


def check_lanes_that_a_descriptor_cuts_off_may_be_undefined():
    result = torch.zeros(8)
    with repaired():
        copy_by_descriptor[(1,)](torch.ones(8), result, 5, N=8)
    assert result.tolist() == [1] * 5 + [0] * 3
