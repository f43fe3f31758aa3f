"""Error bounds of accumulating operations, derived from the actual inputs (contract: oracles.md §4).

Bounds are float64 tensors for `compare(..., SUM(name), bound=...)`: 0 where the slice holds NaN or infinity
(special values must match exactly), +inf where the contract leaves the result open. eps = 2u is twice the
unit roundoff of the accumulator; `acc` names its type. The rule of each formula stands under its
name in `bounded.RULES`.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import to_float64
from tridiff.oracles.dtypes import dtype, name_of_tensor
from tridiff.oracles.errors import OracleError
from tridiff.oracles.pointwise import EXP_SLOPE, rule_of

# Explicit mantissa bits that survive when an operand enters a matrix instruction (oracles.md §4, dot rows).
_DOT_INPUT_ERROR = {"ieee": 0.0, "tf32": 2.0**-9, "tf32x3": 2.0**-20, "half": 0.0, "fp8": 0.0}
_INFINITE_IN_TF32 = (2.0 - 2.0**-11) * 2.0**127
"""From here on the nearest number with ten bits of mantissa is infinite, and the low part of a split operand too."""


def eps(acc: str) -> float:
    """2u of the accumulator type."""
    if not dtype(acc).is_float:
        raise OracleError(f"accumulators are float types, got {acc}")
    return 2.0 * dtype(acc).unit_roundoff


def chain_depth(count: int, lanes: int) -> int:
    """Additions on the longest path of a tile of `lanes` looped over `count` elements and folded as a
    tree.
    """
    if count < 1 or lanes < 1:
        raise OracleError("chain_depth needs count >= 1 and lanes >= 1")
    return -(-count // lanes) + (lanes - 1).bit_length()


def _total(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Sum of |finite x| and whether the slice is finite throughout."""
    wide = to_float64(x)
    finite = torch.isfinite(wide)
    return torch.where(finite, wide.abs(), 0.0).sum(dim), finite.all(dim)


def _settle(bound: Tensor, total: Tensor, finite: Tensor, acc: str) -> Tensor:
    """Semantic slices get 0; a slice whose partial sums may overflow is open (±inf, NaN and finite are all
    right).
    """
    bound = torch.where(total > float(dtype(acc).max), torch.inf, bound)
    return torch.where(finite, bound, torch.where(total > float(dtype(acc).max), torch.inf, 0.0))


def sum_bound(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """N*eps*S|x| along `dim` (removed)."""
    total, finite = _total(x, dim)
    return _settle(x.shape[dim] * eps(acc) * total, total, finite, acc)


def mean_bound(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """Sum bound / N, plus the rounding of the division of a value up to S|x|/N: 2 ulp for the fast fp32 one, which are
    subnormal steps where the mean is subnormal.
    """
    count = x.shape[dim]
    total, finite = _total(x, dim)
    bound = (count * eps(acc) * total + 2 * eps(acc) * total) / max(count, 1) + 2 * dtype(acc).smallest_subnormal
    return _settle(bound, total, finite, acc)


def prefix_sum_bound(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """The sum bound of the first i+1 elements, for every i; shape of x. Open after a possible overflow."""
    wide = to_float64(x)
    finite = torch.isfinite(wide)
    total = torch.where(finite, wide.abs(), 0.0).cumsum(dim)
    steps = torch.ones_like(wide).cumsum(dim)
    return _settle(steps * eps(acc) * total, total, finite.to(torch.int8).cummin(dim).values.bool(), acc)


def prod_in_range(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """True where no partial product in any order can leave the normal range (finite nonzero factors
    counted).
    """
    wide = to_float64(x)
    counted = torch.isfinite(wide) & (wide != 0)
    logs = torch.where(counted, wide.abs(), 1.0).log2()
    top = float(dtype(acc).bias)
    grown, shrunk = logs.clamp_min(0).sum(dim), (-logs).clamp_min(0).sum(dim)
    return (grown < top) & (shrunk < top - 1)


def prod_bound(x: Tensor, expected: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """N*eps*|expected| where the range condition holds; elsewhere the lane is open. expected: unrounded,
    float64.
    """
    inside = prod_in_range(x, dim, acc=acc)
    relative = x.shape[dim] * eps(acc) * torch.where(torch.isfinite(expected), expected.abs(), 0.0)
    return torch.where(inside, relative, torch.inf)


def prefix_product_bound(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """The bound of the product of the first i+1 elements, for every i; shape of x. Open from where a partial product of
    the prefix may leave the normal range, but for what a NaN or an infinity decides."""
    wide = to_float64(x)
    counted = torch.isfinite(wide) & (wide != 0)
    logs = torch.where(counted, wide.abs(), 1.0).log2()
    top = float(dtype(acc).bias)
    inside = (logs.clamp_min(0).cumsum(dim) < top) & ((-logs).clamp_min(0).cumsum(dim) < top - 1)
    size = torch.where(torch.isfinite(wide), wide, 1.0).cumprod(dim).abs()
    steps = torch.ones_like(wide).cumsum(dim)
    return torch.where(inside, steps * eps(acc) * size, torch.inf)


def dot_bound(a: Tensor, b: Tensor, *, precision: str = "ieee", acc: str = "fp32",
              beyond: bool = False) -> Tensor:
    """Bound of a @ b (M,K)x(K,N): precision is ieee, tf32, tf32x3, half (bf16/fp16 inputs) or fp8. beyond: what may
    overflow has a bound too, for numbers that come out there; infinities and NaN are the caller's to allow.

    half doubles the accumulation term because tensor cores may truncate while aligning, which they do by the exponents
    as they stand: in it a subnormal operand counts as the smallest normal number (measured on an H200: fp16 products
    with 2^-24 are summed in steps of 2^-38 beside 13.6, for want of ten leading bits); fp8 allows the
    imprecise accumulation that is the compiler's default on sm_90. A term below the normal numbers is off by a
    subnormal step; a subnormal operand, or the low part of one that is split, may be flushed on its way to tf32, which
    the other operand multiplies. A number that is infinite in tf32 leaves its row or column open, but for NaN.
    """
    if precision not in _DOT_INPUT_ERROR:
        raise OracleError(f"unknown dot precision {precision!r}; use one of {' '.join(_DOT_INPUT_ERROR)}")
    wide_a, wide_b = to_float64(a), to_float64(b)
    finite_a, finite_b = torch.isfinite(wide_a), torch.isfinite(wide_b)
    total = torch.where(finite_a, wide_a.abs(), 0.0) @ torch.where(finite_b, wide_b.abs(), 0.0)
    aligned = total
    if precision in ("half", "fp8"):
        aligned = _aligned(a, finite_a) @ _aligned(b, finite_b)
    terms = a.shape[-1]
    growth = {"half": 2 * eps(acc), "fp8": 2.0**-13}.get(precision, eps(acc)) * terms
    bound = _DOT_INPUT_ERROR[precision] * total + growth * aligned + terms * dtype(acc).smallest_subnormal
    finite = finite_a.all(-1).unsqueeze(-1) & finite_b.all(-2).unsqueeze(-2)
    if precision.startswith("tf32"):
        flushed = dtype("fp32").smallest_normal
        sizes = [torch.where(known, wide.abs(), 0.0) for known, wide in ((finite_a, wide_a), (finite_b, wide_b))]
        bound = bound + flushed * (sizes[0].sum(-1).unsqueeze(-1) + sizes[1].sum(-2).unsqueeze(-2))
        if beyond:
            return torch.where(finite, bound, 0.0)
        large = (sizes[0] >= _INFINITE_IN_TF32).any(-1).unsqueeze(-1) | (
            sizes[1] >= _INFINITE_IN_TF32).any(-2).unsqueeze(-2)
        decided = wide_a.isnan().any(-1).unsqueeze(-1) | wide_b.isnan().any(-2).unsqueeze(-2)
        return torch.where(large & ~decided, torch.inf, _settle(bound, total, finite, acc))
    return torch.where(finite, bound, 0.0) if beyond else _settle(bound, total, finite, acc)


def _aligned(x: Tensor, finite: Tensor) -> Tensor:
    """Sizes by which products of narrow floats are aligned: of subnormal numbers that of the smallest normal one."""
    size = torch.where(finite, to_float64(x).abs(), 0.0)
    return torch.where(size > 0, size.clamp(min=dtype(name_of_tensor(x)).smallest_normal), size)


def welford_mean_bound(
    mean: Tensor, weight: Tensor, dim: int = -1, *, depth: int, acc: str = "fp32"
) -> Tensor:
    """Bound on the mean of a Welford tree along `dim` (removed): 8*(d+4)*u times the largest |mean| that counts, and a
    subnormal step per merge.

    A merge computes m1 + (m2 - m1) * r with r = w2 / (w1 + w2): about four roundings, each relative to the larger mean,
    however little that one weighs (r near 1 is known to u only, and m2 - m1 is as large as m1). The product may round
    below the normal numbers, which costs half a subnormal step; later merges average such errors and never amplify
    them. Sums and differences round nothing there.
    """
    wide, counted, finite = _counted_means(mean, weight, dim)
    largest = wide.abs().amax(dim)
    bound = 4 * (depth + 4) * eps(acc) * largest + _merges(counted, dim) * dtype(acc).smallest_subnormal
    # The update subtracts two means: their difference may overflow although both are finite.
    return _settle(bound, 2 * largest, finite, acc)


def welford_m2_bound(
    mean: Tensor, m2: Tensor, weight: Tensor, expected_m2: Tensor,
    dim: int = -1, *, depth: int, acc: str = "fp32",
) -> Tensor:
    """Bound on m2 of a Welford tree over `dim` (removed). expected_m2: unrounded float64 of the whole slice.

    c = 8*(d+4)*u, M the largest |mean| that counts, E = m2 + N*M^2. Relative c*kappa, i.e. c*sqrt(m2*E); for m2 near 0
    the floor c^2*E, from squaring means that are off by c*M. Open where a squared difference may overflow on the way.
    Square roots are taken before products, so that neither overflows nor vanishes in float64 where the bound does not.

    Below the normal numbers a merge adds delta^2 * w1 * r with three roundings of half a subnormal step, the first of
    which w1 * r <= min(w1, w2) <= N multiplies: N + 4 steps per merge. That the means are off by subnormal steps too
    moves m2 by less: either M*c is larger than what they are off by, or delta times that is below a step.
    """
    wide, counted, finite = _counted_means(mean, weight, dim)
    inner = to_float64(m2)
    finite = finite & (torch.isfinite(inner) | ~counted).all(dim)
    count = to_float64(weight).sum(dim).clamp_min(1.0)
    largest = wide.abs().amax(dim)
    c = 4 * (depth + 4) * eps(acc)
    spread = torch.where(torch.isfinite(expected_m2), expected_m2, 0.0)
    root = torch.hypot(spread.sqrt(), count.sqrt() * largest)
    bound = c * spread.sqrt() * root + (c * root).square()
    bound = bound + _merges(counted, dim) * (count + 4) * dtype(acc).smallest_subnormal
    # Squared distances times weights: 4 M^2 N; what is added to an m2 that has overflowed depends on the order too.
    reach = (4 * spread).maximum(4 * largest.square() * count)
    bound = _settle(bound, reach, finite, acc)
    return torch.where((counted & torch.isinf(inner)).any(dim) | torch.isinf(expected_m2), torch.inf, bound)


def _counted_means(mean: Tensor, weight: Tensor, dim: int) -> tuple[Tensor, Tensor,
                                                                               Tensor]:
    """(means in float64, 0 where they do not count or are special; which count; per slice, whether those that count are
    finite)."""
    wide, counted = to_float64(mean), to_float64(weight) != 0
    finite = torch.isfinite(wide)
    return torch.where(counted & finite, wide, 0.0), counted, (finite | ~counted).all(dim)


def _merges(counted: Tensor, dim: int) -> Tensor:
    """Merges of states that count, per slice: one less than there are, and one for a final rounding."""
    return counted.to(torch.float64).sum(dim).clamp_min(1.0)


def two_pass_variance_bound(
    x: Tensor, mean: Tensor, variance: Tensor, dim: int = -1, *, acc: str = "fp32"
) -> Tensor:
    """Relative N*eps + (N*u*kappa)^2 of the variance; the second term through var*kappa^2 = var + mean^2. Each square
    may round below the normal numbers, and so may the quotient: 4 subnormal steps together."""
    count = x.shape[dim]
    total, finite = _total(x, dim)
    spread = torch.where(torch.isfinite(variance), variance, 0.0)
    centre = torch.where(torch.isfinite(mean), mean, 0.0)
    bound = count * eps(acc) * spread + (count * eps(acc) / 2) ** 2 * (spread + centre.square())
    bound = bound + 4 * dtype(acc).smallest_subnormal
    return _settle(bound, total, finite, acc)


def _exp_error(shifted: Tensor, acc: str) -> Tensor:
    """Relative error of exp at a shifted argument: 3.5 ulps of at most 2u, EXP_SLOPE |x| (which counts ulps where they
    are smallest, u), and the rounding of the shift itself.
    """
    u = dtype(acc).unit_roundoff
    return (2 * 3.5 + EXP_SLOPE * shifted.abs() + shifted.abs()) * u


def softmax_bound(x: Tensor, dim: int = -1, *, acc: str = "fp32") -> Tensor:
    """Absolute bound on every element of softmax along `dim`; shape of x. Twice the first-order sum of
    errors.
    """
    wide = to_float64(x)
    finite = torch.isfinite(wide).all(dim, keepdim=True)
    shifted = wide - wide.amax(dim, keepdim=True)
    weights = torch.softmax(wide, dim)
    own = _exp_error(shifted, acc)
    denominator = (weights * torch.where(torch.isfinite(own), own, 0.0)).sum(dim, keepdim=True)
    relative = own + denominator + x.shape[dim] * eps(acc) + 2 * eps(acc)
    bound = 2 * weights * torch.where(weights > 0, relative, 0.0) + float(dtype(acc).smallest_normal)
    return torch.where(finite, bound, 0.0)


def slope_bound(x: Tensor, op: str, name: str) -> Tensor:
    """Allowed errors of exp and sigmoid in the type `name`: ulps of the result that grow with |x|
    (`tridiff.oracles.pointwise`); 0 where x is no number."""
    from tridiff.oracles.by_torch import pointwise

    wide = to_float64(x)
    rule = rule_of(op, (name,), name)
    expected = pointwise.evaluate(op, x).abs()
    kind = dtype(name)
    # An ulp of the result is at most its size times 2^-mantissa bits, and no less than a subnormal step.
    ulp = (expected * 2.0**-kind.mantissa_bits).clamp_min(kind.smallest_subnormal)
    bound = (rule.k + rule.plus_per_abs_x * wide.abs()) * ulp
    return torch.where(torch.isfinite(wide) & torch.isfinite(expected), bound, 0.0)


def approximation_bound(expected: Tensor, *, ulps: Tensor | float = 0.0,
                        absolute: Tensor | float = 0.0, name: str = "fp32") -> Tensor:
    """`absolute` and `ulps` of each expected result (float64) in the type `name`; 0 where it is not finite."""
    kind = dtype(name)
    ulp = (expected.abs() * 2.0**-kind.mantissa_bits).clamp_min(kind.smallest_subnormal)
    return torch.where(torch.isfinite(expected), ulps * ulp + absolute, 0.0)


def lgamma_bound(expected: Tensor, *, acc: str = "fp32") -> Tensor:
    """2^-18 between the first negative roots, where no ulp figure exists; 2^-48 * max(1, |lgamma|) for fp64.

    There lgamma(x) is log(pi / |x sin(pi x)|) - lgamma(|x|), both below 16, where fp32 numbers are a step of 2^-20
    apart. From 7.8 on lgamma(|x|) is 2 v - |x| + z with v = (|x| - 1/2) log(|x|) / 2: the error of the logarithm,
    0.57 of 2^-22, is 0.7 steps of v, a rounding is half a step, v counts twice, two sums follow: at most 3.4 steps.
    The first logarithm and its difference from log(pi) add at most 1. Over all 1.8e7 fp32 inputs of the region the
    two parts are off by at most 2.74 and 0.84 steps and the result by 3.23, at -9.906416893.
    """
    if acc == "fp64":
        size = torch.where(torch.isfinite(expected), expected.abs(), 0.0).clamp_min(1.0)
        return size * 2.0**-48
    return torch.full_like(expected, 2.0**-18, dtype=torch.float64)
