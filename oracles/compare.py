"""Element-wise comparison of two tensors under a rule (contract: oracles.md §2), vectorised, on any device.

Equal bits match under every rule, so the common case is one pass and one synchronisation; when few elements
differ only those are classified.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tridiff.oracles.bits import (
    from_bits,
    is_inf,
    is_nan,
    is_subnormal,
    is_zero,
    sign_bit,
    to_bits,
    to_float64,
    ulp_distance,
)
from tridiff.oracles.dtypes import DType, dtype, name_of_tensor
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import MISMATCH_CLASSES, NUM, MismatchClass, Rule

_CODE = {name: index + 1 for index, name in enumerate(MISMATCH_CLASSES)}
# Above this share of differing elements gathering costs more than classifying everything.
_SPARSE_SHARE = 16


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Result of `compare`: per element, whether and how the actual value mismatches.

    `codes` is None exactly when nothing mismatches; otherwise uint8 of `shape`, 0 for a match and 1 + the
    position in MISMATCH_CLASSES for a mismatch.
    """

    shape: tuple[int, ...]
    device: torch.device
    codes: Tensor | None

    @property
    def clean(self) -> bool:
        """True if every element matches."""
        return self.codes is None

    @property
    def mismatch(self) -> Tensor:
        """Bool tensor of `shape`, True where the actual value mismatches."""
        if self.codes is None:
            return torch.zeros((), dtype=torch.bool, device=self.device).expand(self.shape)
        return self.codes != 0

    def counts(self) -> Mapping[MismatchClass, int]:
        """Number of mismatching elements per class, classes without any left out (one synchronisation)."""
        return count_codes(self.codes)


def count_codes(codes: Tensor | None) -> dict[MismatchClass, int]:
    """Elements per mismatch class in a `Comparison.codes` tensor."""
    if codes is None:
        return {}
    found = torch.stack([(codes == _CODE[name]).sum() for name in MISMATCH_CLASSES]).tolist()
    return {name: count for name, count in zip(MISMATCH_CLASSES, found, strict=True) if count}


def compare(
    actual: Tensor, expected: Tensor, rule: Rule, *, bound: Tensor | None = None,
    x: Tensor | None = None, inputs_flush_to_zero: bool = False,
) -> Comparison:
    """Hold `actual` against `expected` under `rule`.

    actual, expected: one shape, one device. Exact rules need one dtype. ULP, ABS, REL and SUM also accept an
    expected tensor in a wider float type (the unrounded reference, usually float64); the ulp is then taken in
    actual's type at the reference, and half an ulp is added for the final rounding. A reference already
    rounded to actual's type gets ceil(k) whole steps instead. SET takes its candidates along an extra leading
    axis of `expected`. bound: float64, broadcastable to the shape, for SUM rules: absolute error allowed;
    +inf leaves the lane open. x: the input of ULP rules whose tolerance grows with |x|.
    inputs_flush_to_zero: flush-to-zero was in effect: a zero of the right sign is accepted where the
    reference is subnormal (only by ULP, ABS, REL, SUM; other consequences of flushed inputs are candidates of
    a SET). Raises OracleError for a call that cannot be answered. Contract: oracles.md §2.
    """
    if (bound is not None) != (rule.kind == "SUM" or (rule.member is not None and rule.member.kind == "SUM")):
        raise OracleError(f"rule {rule} and bound do not fit: SUM needs bound=..., other rules take none")
    if actual.device != expected.device:
        raise OracleError(f"actual is on {actual.device}, expected on {expected.device}; move one of them")
    if rule.member is not None:
        return _compare_set(actual, expected, rule.member, bound, x, inputs_flush_to_zero)
    if actual.shape != expected.shape:
        return _whole(expected, "shape")
    got, want = dtype(name_of_tensor(actual)), dtype(name_of_tensor(expected))
    tolerant = rule.kind in ("ULP", "ABS", "REL", "SUM")
    if got is not want and not (tolerant and got.is_float and want.is_float and want.bits > got.bits):
        return _whole(expected, "dtype")
    if rule.kind == "META" or actual.numel() == 0:
        return _result(actual, None)
    if rule.plus_per_abs_x and x is None:
        raise OracleError(f"rule {rule} grows with the input; pass x=...")
    sides = _Sides(actual, expected, bound, x if rule.plus_per_abs_x else None)
    if got is not want:
        return _dense(sides, rule, inputs_flush_to_zero)
    differs = to_bits(actual) != to_bits(expected)
    count = int(differs.sum())
    if count == 0:
        return _result(actual, None)
    if count * _SPARSE_SHARE > actual.numel():
        return _dense(sides, rule, inputs_flush_to_zero)
    where = differs.reshape(-1).nonzero().squeeze(1)
    few = _classify(sides.take(where), rule, inputs_flush_to_zero)
    if not bool(few.any()):
        return _result(actual, None)
    codes = torch.zeros(actual.numel(), dtype=torch.uint8, device=actual.device)
    codes[where] = few
    return _result(actual, codes.reshape(actual.shape))


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    actual: Tensor
    expected: Tensor
    bound: Tensor | None
    x: Tensor | None

    def take(self, where: Tensor) -> _Sides:
        def pick(tensor: Tensor | None) -> Tensor | None:
            if tensor is None:
                return None
            flat = to_bits(tensor).broadcast_to(self.actual.shape).reshape(-1)[where]
            return from_bits(flat, name_of_tensor(tensor))

        actual, expected = pick(self.actual), pick(self.expected)
        assert actual is not None and expected is not None
        return _Sides(actual, expected, pick(self.bound), pick(self.x))


def _result(like: Tensor, codes: Tensor | None) -> Comparison:
    return Comparison(tuple(like.shape), like.device, codes)


def _whole(like: Tensor, name: MismatchClass) -> Comparison:
    # An empty tensor of the wrong type still has to mismatch, so the codes keep one element at least.
    shape = like.shape if like.numel() else (1,)
    return _result(like, torch.full(shape, _CODE[name], dtype=torch.uint8, device=like.device))


def _dense(sides: _Sides, rule: Rule, flush: bool) -> Comparison:
    codes = _classify(sides, rule, flush)
    return _result(sides.actual, codes if bool(codes.any()) else None)


def _compare_set(
    actual: Tensor, expected: Tensor, member: Rule, bound: Tensor | None, x: Tensor | None,
    flush: bool,
) -> Comparison:
    if expected.dim() == 0 or expected.shape[0] == 0:
        raise OracleError("SET needs at least one candidate; stack them with torch.stack(candidates)")
    first: Tensor | None = None
    matched: Tensor | None = None
    for candidate in expected.unbind(0):
        one = compare(actual, candidate, member, bound=bound, x=x, inputs_flush_to_zero=flush)
        if one.codes is None:
            return one
        if actual.shape != candidate.shape or "dtype" in one.counts():
            return one
        first = one.codes if first is None else first
        matched = ~one.mismatch if matched is None else matched | ~one.mismatch
    assert first is not None and matched is not None
    codes = torch.where(matched, 0, first).to(torch.uint8)
    return _result(actual, codes if bool(codes.any()) else None)


def _classify(sides: _Sides, rule: Rule, flush: bool) -> Tensor:
    """uint8 codes, one per element."""
    a, e = sides.actual, sides.expected
    if rule.kind in ("ULP", "ABS", "REL", "SUM"):
        return _classify_tolerant(sides, rule, flush)
    bad = to_bits(a) != to_bits(e)
    if not dtype(name_of_tensor(a)).is_float:
        return bad.to(torch.uint8) * _CODE["value"]
    nan_a, nan_e = is_nan(a), is_nan(e)
    zeros = is_zero(a) & is_zero(e)
    if rule.kind != "BIT":
        bad = bad & ~(nan_a & nan_e)
    if rule.kind == "NUM0":
        bad = bad & ~zeros
    return _codes(bad, nan_a, nan_e, zeros, is_inf(a) | is_inf(e))


def _codes(
    bad: Tensor, nan_a: Tensor, nan_e: Tensor, zeros: Tensor, infinite: Tensor
) -> Tensor:
    codes = torch.full(bad.shape, _CODE["value"], dtype=torch.uint8, device=bad.device)
    classes: tuple[tuple[Tensor, MismatchClass], ...] = (
        (zeros, "zero_sign"), (infinite, "inf"), (nan_e, "nan_missing"), (nan_a, "nan_unexpected"),
        (nan_a & nan_e, "nan_payload"),
    )
    for mask, name in classes:
        codes = codes.masked_fill(mask, _CODE[name])
    return codes.masked_fill(~bad, 0)


def _classify_tolerant(sides: _Sides, rule: Rule, flush: bool) -> Tensor:
    a, e = sides.actual, sides.expected
    kind = dtype(name_of_tensor(a))
    if not kind.is_float:
        return _classify_tolerant_integers(sides, rule)
    rounded = e.dtype == a.dtype
    nan_a, nan_e, inf_a, inf_e = is_nan(a), is_nan(e), is_inf(a), is_inf(e)
    zeros = is_zero(a) & is_zero(e)
    wrong_sign = sign_bit(a) != sign_bit(e)
    got, want = to_float64(a), to_float64(e)
    k = _tolerance_in_k(sides, rule)
    step = ulp_at(want, kind)
    if rule.kind == "ULP" and rounded:
        close = ulp_distance(a, e).to(torch.float64) <= _ceil(k)
        tolerance = step
    else:
        if rule.kind == "ULP":
            tolerance = k * step + 0.5 * step
        elif rule.kind == "SUM":
            assert sides.bound is not None
            # A reference that was itself rounded is up to half an ulp away from the real one.
            tolerance = sides.bound.broadcast_to(a.shape) + (step if rounded else 0.5 * step)
        else:
            tolerance = rule.k * want.abs() if rule.kind == "REL" else torch.full_like(want, rule.k)
        close = (got - want).abs() <= tolerance
    # Infinities match exactly, except that a reference may lie within tolerance of the overflow threshold. That of fp64
    # (always a rounded one) does by the steps to infinity: one from the largest number.
    exact_inf = inf_a & inf_e & ~wrong_sign
    overflow = torch.zeros_like(inf_a)
    if rounded and rule.kind == "ULP" and kind.name == "fp64":
        overflow = inf_a & ~inf_e & ~wrong_sign & close
    elif not rounded and kind.has_inf:
        threshold = float(kind.max) * (1.0 + kind.unit_roundoff / (2.0 - 2.0 * kind.unit_roundoff))
        overflow = inf_a & ~inf_e & ~wrong_sign & (want.abs() + tolerance >= threshold)
    good = torch.where(inf_a | inf_e, exact_inf | overflow, close)
    good = torch.where(zeros, ~wrong_sign, good)
    if flush:
        small = is_subnormal(e) if rounded else (want.abs() < kind.smallest_normal)
        good = good | (is_zero(a) & small & ~wrong_sign)
    good = torch.where(nan_a | nan_e, nan_a & nan_e, good)
    if rule.kind == "SUM":
        assert sides.bound is not None
        good = good | torch.isposinf(sides.bound).broadcast_to(a.shape)
    infinite = inf_a | inf_e | (~zeros & (want.abs() > float(kind.max) * (1 + kind.unit_roundoff)))
    return _codes(~good, nan_a, nan_e, zeros, infinite)


def _classify_tolerant_integers(sides: _Sides, rule: Rule) -> Tensor:
    k = _tolerance_in_k(sides, rule)
    distance = ulp_distance(sides.actual, sides.expected).to(torch.float64)
    if rule.kind == "SUM":
        assert sides.bound is not None
        bad = distance > sides.bound.broadcast_to(distance.shape)
    elif rule.kind == "REL":
        bad = distance > k * to_float64(sides.expected).abs()
    else:
        bad = distance > k
    return bad.to(torch.uint8) * _CODE["value"]


def _tolerance_in_k(sides: _Sides, rule: Rule) -> Tensor | float:
    if sides.x is None:
        return rule.k
    size = to_float64(sides.x).abs().broadcast_to(sides.actual.shape)
    # |x| of an infinite or NaN input says nothing about rounding; special values match exactly anyway.
    return rule.k + rule.plus_per_abs_x * torch.where(torch.isfinite(size), size, 0.0)


def _ceil(k: Tensor | float) -> Tensor | float:
    return float(math.ceil(k)) if isinstance(k, float) else torch.ceil(k)


def ulp_at(reference: Tensor, kind: DType) -> Tensor:
    """Spacing of the float type `kind` at each float64 reference, as float64.

    Below the smallest normal it is the subnormal spacing; beyond the largest finite value (infinities and NaN
    too) it is the spacing of the top binade.
    """
    exponent = ((to_bits(reference) >> 52) & 0x7FF) - 1023
    lowest = 1 - kind.bias
    highest = kind.bias if kind.has_inf else kind.bias + 1
    exponent = exponent.clamp(lowest, highest) - kind.mantissa_bits
    if exponent.dtype != torch.int64:
        raise OracleError("ulp_at needs a float64 reference; convert it with tridiff.oracles.bits.to_float64")
    # 2^exponent through the bit pattern; float64's own subnormal spacing is the one power too small for it.
    normal = ((exponent + 1023).clamp_min(1) << 52).view(torch.float64)
    subnormal = (torch.ones_like(exponent) << (exponent + 1074).clamp(0, 51)).view(torch.float64)
    return torch.where(exponent >= -1022, normal, subnormal)


def same(a: Tensor, b: Tensor, rule: Rule = NUM) -> bool:
    """True if two answers match everywhere under `rule`."""
    return compare(a, b, rule).clean
