"""bf16 and fp8 in interpreted kernels: conversions and arithmetic, with and without the repairs."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import torch
import triton.language as tl
from torch import Tensor, bfloat16, tensor
from triton import jit

from tests.unit.interpreter.defects import defect
from tridiff.fuzz.interpreter import Repairs, repaired
from tridiff.fuzz.versions import interpreter_features
from tridiff.oracles import exact


@jit
def convert(src, dst, T: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(src + i).to(T))


@jit
def convert_toward_zero(src, dst, T: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(src + i).to(T, fp_downcast_rounding="rtz"))


def random_floats(dtype: torch.dtype) -> Tensor:
    """Random bit patterns of a float type, with the interesting values in front."""
    special = tensor([0.0, -0.0, 1.0, float("inf"), -float("inf"), float("nan"), 448.0, 464.0, 480.0, -1e9,
                            61440.0, 57344.0, 3.4e38, 3.3961775e38, 1e-40, 9.1e-41, 1.00390625, 124.99, 0.0009765625,
                            0.001953125, 1.5e-5, 7.6e-6], dtype=torch.float64).to(dtype)
    storage = {2: torch.int16, 4: torch.int32, 8: torch.int64}[special.element_size()]
    limits = torch.iinfo(storage)
    generator = torch.Generator().manual_seed(3)
    bits = torch.randint(limits.min, limits.max, (4096,), dtype=storage, generator=generator)
    bits[: special.numel()] = special.view(storage)
    return bits.view(dtype)


def interpreted(kernel: object, x: Tensor, out: torch.dtype, target: object) -> Tensor:
    result = torch.empty(x.shape, dtype=out)
    kernel[(1,)](x, result, T=target, N=x.numel())
    return result


def same(result: Tensor, expected: np.ndarray) -> bool:
    """Equal bits; any NaN equals any NaN."""
    storage = {1: torch.uint8, 2: torch.int16}[result.element_size()]
    numeric = result.to(torch.float32).numpy()
    wanted = expected.astype(np.float32)
    bits = result.view(storage).numpy()
    expected_bits = expected.view({1: np.uint8, 2: np.int16}[expected.itemsize])
    return bool(np.all((bits == expected_bits) | (np.isnan(numeric) & np.isnan(wanted))))


def to_bf16(x: Tensor, expected: np.ndarray) -> None:
    """Converted as expected, with the repair only."""
    defect("conversions", lambda: same(interpreted(convert, x, bfloat16, tl.bfloat16), expected))


def check_fp32_to_bf16_rounds_to_nearest_even():
    x = random_floats(torch.float32)
    expected = x.numpy().astype(ml_dtypes.bfloat16)
    to_bf16(x, expected)


def check_fp64_and_fp16_to_bf16():
    x = random_floats(torch.float64)
    # A double that fp32 would round up to a bf16 tie and bf16 then to even: one rounding must stay above.
    x[100] = 1.0 + 2.0**-8 + 2.0**-40
    with np.errstate(all="ignore"):
        once = np.array([_bf16_of(float(value)) for value in x.numpy()], dtype=np.uint16).view(ml_dtypes.bfloat16)
    to_bf16(x, once)
    half = random_floats(torch.float16)
    expected = half.numpy().astype(np.float32).astype(ml_dtypes.bfloat16)
    to_bf16(half, expected)


def _bf16_of(value: float) -> int:
    if not np.isfinite(value):
        return int(np.float32(value).view(np.uint32) >> 16)
    return exact.round_fraction("bf16", Fraction(value), negative_zero=bool(np.signbit(value)))


def check_integers_to_bf16():
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        limits = torch.iinfo(dtype)
        generator = torch.Generator().manual_seed(5)
        x = torch.randint(limits.min, limits.max, (512,), dtype=dtype, generator=generator)
        x[:2] = tensor([limits.min, limits.max], dtype=dtype)
        if dtype == torch.int64:
            x[2] = (1 << 62) + (1 << 54) + 1  # a tie but for the last bit, which fp64 drops
        expected = np.array([_bf16_of(int(value)) for value in x], dtype=np.uint16).view(ml_dtypes.bfloat16)
        to_bf16(x, expected)


def check_fp32_to_fp8_rounds_and_saturates():
    x = random_floats(torch.float32)
    for out, target, reference, largest in (
        (torch.float8_e4m3fn, tl.float8e4nv, ml_dtypes.float8_e4m3fn, 448),
        (torch.float8_e5m2, tl.float8e5, ml_dtypes.float8_e5m2, 57344),
    ):
        expected = np.clip(x.numpy().astype(np.float64), -largest, largest).astype(np.float32).astype(reference)
        defect("conversions", lambda out=out, target=target, expected=expected: same(
            interpreted(convert, x, out, target), expected))


def check_fp8_to_fp32_is_exact_for_every_code():
    for torch_type, reference in (
        (torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn), (torch.float8_e5m2, ml_dtypes.float8_e5m2),
    ):
        codes = torch.arange(256, dtype=torch.uint8).view(torch_type)
        expected = np.arange(256, dtype=np.uint8).view(reference).astype(np.float32)

        def holds(codes: Tensor = codes, expected: np.ndarray = expected) -> bool:
            result, numbers = interpreted(convert, codes, torch.float32, tl.float32).numpy(), ~np.isnan(expected)
            return np.array_equal(result, expected, equal_nan=True) and np.array_equal(
                np.signbit(result[numbers]), np.signbit(expected[numbers]))

        defect("conversions", holds)


def check_rounding_toward_zero_to_fp16_stays_finite():
    x = tensor([1e9, -1e9, 65519.0, 65520.0, 1.0 + 2**-11, -(1.0 + 3 * 2**-11), float("inf"), 6e-8, 5e-8],
                     dtype=torch.float32)
    x = torch.cat([x, torch.ones(7)])
    expected = tensor([65504.0, -65504.0, 65504.0, 65504.0, 1.0, -(1.0 + 2**-10), float("inf"), 5.9605e-8, 0.0])

    def holds() -> bool:
        result = interpreted(convert_toward_zero, x, torch.float16, tl.float16)
        return torch.equal(result[:9].float(), expected.half().float())

    defect("conversions", holds)


@jit
def comparison_to_float(a, b, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, (tl.load(a + i) < tl.load(b + i)).to(tl.float32))


def check_comparison_result_converts_as_a_truth_value():
    a = tensor([1.0, 2.0, -3.0, float("nan")], dtype=bfloat16)
    b = tensor([2, 1, 5, 1], dtype=bfloat16)
    result = torch.empty(4)
    with repaired():
        comparison_to_float[(1,)](a, b, result, N=4)
    assert result.tolist() == [1, 0, 1, 0]


@jit
def arithmetic(a, b, dst, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    if OP == 0:
        r = x + y
    elif OP == 1:
        r = x - y
    elif OP == 2:
        r = x * y
    elif OP == 3:
        r = tl.maximum(x, y)
    elif OP == 4:
        r = tl.where(x < y, x, y)
    else:
        r = tl.where(x == y, x, -y)
    tl.store(dst + i, r.to(tl.bfloat16))


def check_bf16_arithmetic_and_comparison():
    a = random_floats(bfloat16)
    b = random_floats(bfloat16).flip(0).contiguous()
    b[200:230] = a[200:230]
    finite = ~(torch.isnan(a) | torch.isnan(b))
    a, b = torch.where(finite, a, 1.0).to(bfloat16), torch.where(finite, b, 2.0).to(bfloat16)
    references = (a + b, a - b, a * b, torch.maximum(a, b), torch.where(a < b, a, b), torch.where(a == b, a, 0 - b),)
    for op, expected in enumerate(references):
        def holds(op: int = op, expected: Tensor = expected) -> bool:
            result = torch.empty_like(a)
            arithmetic[(1,)](a, b, result, OP=op, N=a.numel())
            return torch.equal(torch.nan_to_num(result), torch.nan_to_num(expected))

        # Triton 3.6.0 widens the operands of tl.maximum to fp32 by itself.
        widened = op == 3 and hasattr(tl.core, "_promote_bfloat16_to_float32")
        defect("narrow_arithmetic", holds, exists=not widened)


@jit
def fused(a, b, c, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.fma(tl.load(a + i), tl.load(b + i), tl.load(c + i)))


def check_bf16_fma_rounds_once():
    generator = torch.Generator().manual_seed(9)
    a, b, c = (torch.randn(256, generator=generator).to(bfloat16) for _ in range(3))
    # (1 + 2^-7)(1 + 2^-1) is a tie of bf16; the addend 2^-100 decides it, far beyond any double.
    a[0], b[0], c[0] = 1.0 + 2**-7, 1.5, 2.0**-100
    a[1], b[1], c[1] = 1.0 + 2**-7, 1.5, -(2.0**-100)
    expected = [float(exact.to_fraction("bf16", exact.round_fraction("bf16", Fraction(x) * Fraction(y) + Fraction(z))))
                for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    with repaired():
        result = torch.empty(256, dtype=bfloat16)
        fused[(1,)](a, b, c, result, N=256)
    assert result.tolist() == expected


@jit
def add_up(a, b):
    return a + b


@jit
def take_larger(a, b):
    return tl.where(a > b, a, b)


@jit
def fold(src, dst, R: tl.constexpr, N: tl.constexpr):
    x = tl.load(src + tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :])
    rows = tl.arange(0, R)
    tl.store(dst + rows, tl.sum(x, 1))
    tl.store(dst + R + rows, tl.max(x, 1).to(tl.bfloat16))
    tl.store(dst + 2 * R + rows, tl.min(x, 1).to(tl.bfloat16))
    tl.store(dst + 3 * R + rows, tl.reduce(x, 1, take_larger))
    tl.store(dst + 4 * R + rows, tl.reduce(x, 1, add_up))


def check_bf16_reductions():
    generator = torch.Generator().manual_seed(1)
    # Small integers: sums are exact in bf16 whatever the order.
    x = torch.randint(-8, 8, (4, 8), generator=generator).to(bfloat16)
    wide = x.float()
    expected = torch.stack([wide.sum(1), wide.amax(1), wide.amin(1), wide.amax(1), wide.sum(1)])

    def holds() -> bool:
        result = torch.empty(5, 4, dtype=bfloat16)
        fold[(1,)](x, result, R=4, N=8)
        return torch.equal(result.float(), expected)

    defect("narrow_arithmetic", holds)


@jit
def largest(src, dst, place, N: tl.constexpr):
    value, index = tl.max(tl.load(src + tl.arange(0, N)), 0, return_indices=True)
    tl.static_assert(len(value.shape) == 0)
    tl.store(dst, value)
    tl.store(place, index)


def check_bf16_largest_of_a_line():
    """A scalar, whatever form its data have."""
    value, place = torch.empty(1, dtype=bfloat16), torch.empty(1, dtype=torch.int32)
    with repaired():
        largest[(1,)](tensor([1.0, -3.0, 2.5, 0.0], dtype=bfloat16), value, place, N=4)
    assert value.item() == 2.5 and place.item() == 2


@jit
def scan(src, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.associative_scan(tl.load(src + i), 0, add_up))


def check_bf16_scan():
    x = tensor([1, -2, 3, 4, -5, 6, 7, -8], dtype=bfloat16)

    def holds() -> bool:
        result = torch.empty_like(x)
        scan[(1,)](x, result, N=8)
        return torch.equal(result, torch.cumsum(x.float(), 0).to(bfloat16))

    defect("narrow_arithmetic", holds)


@jit
def matmul(a, b, dst, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(dst + i, tl.dot(tl.load(a + i), tl.load(b + i)))


def check_dot_of_bf16_and_fp8():
    generator = torch.Generator().manual_seed(2)
    for dtype in (bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        a, b = (torch.randint(-4, 5, (16, 16), generator=generator).float().to(dtype) for _ in range(2))
        special = dtype == torch.float8_e5m2
        if special:
            a[0, 0], b[0, 0] = float("inf"), 1.0

        def holds(a: Tensor = a, b: Tensor = b) -> bool:
            result = torch.empty(16, 16)
            matmul[(1,)](a, b, result, N=16)
            return torch.equal(torch.nan_to_num(result), torch.nan_to_num(a.float() @ b.float()))

        if dtype == bfloat16:
            defect("narrow_arithmetic", holds)
        else:
            with repaired():
                assert holds()


@jit
def accumulate(src, dst, N: tl.constexpr):
    tl.atomic_add(dst + tl.arange(0, N) // 2, tl.load(src + tl.arange(0, N)))


def check_bf16_atomic_add():
    x = torch.arange(1.0, 9.0).to(bfloat16)

    def holds() -> bool:
        result = torch.zeros(4, dtype=bfloat16)
        accumulate[(1,)](x, result, N=8)
        return result.tolist() == [3, 7, 11, 15]

    defect("narrow_arithmetic", holds)


def check_fp16_atomic_add_overflows_to_infinity():
    def holds() -> bool:
        result = tensor([65504, 0.5], dtype=torch.float16)
        accumulate[(1,)](tensor([65504, 1, 0.25, 0.25], dtype=torch.float16), result, N=4)
        return result.tolist() == [float("inf"), 1.0]

    defect("narrow_arithmetic", holds)


@jit
def accumulate_broadcast(dst, N: tl.constexpr):
    tl.atomic_add(dst + tl.arange(0, N)[:, None], tl.broadcast_to(tl.full([1, 1], 7, tl.int32), [N, 1]))


def check_atomic_add_of_a_broadcast_operand():
    result = torch.zeros(4, dtype=torch.int32)
    with repaired():
        accumulate_broadcast[(1,)](result, N=4)
    assert result.tolist() == [7] * 4


@jit
def constant(dst, N: tl.constexpr):
    tl.store(dst + tl.arange(0, N), tl.full([N], 1.005, tl.bfloat16))


def check_bf16_constants():
    def holds() -> bool:
        result = torch.empty(4, dtype=bfloat16)
        constant[(1,)](result, N=4)
        return result.tolist() == [1.0078125] * 4

    defect("conversions", holds)


def check_no_repair_leaves_triton_alone():
    x = torch.full((16,), 1.0 + 2.0**-8 + 2.0**-9)
    with repaired(Repairs.none()):
        truncated = interpreted(convert, x, bfloat16, tl.bfloat16)
    assert truncated.tolist() == [1] * 16
    assert interpreter_features().chained_comparison in (True, False)
