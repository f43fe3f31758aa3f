"""Reductions, scans and sorts along the last axis in torch (contract: kernels/codegen/notes.md).

Integers are exact; float sums and products are accumulated in float64 and rounded to the type at the end. Scans run
step by step, from the left, whatever the combination.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tridiff.oracles.bits import INT64_MIN, is_nan, is_zero, to_float64
from tridiff.oracles.by_torch import conversions, extrema, integer, sorting, welford
from tridiff.oracles.dtypes import dtype, name_of_tensor, torch_dtype

_NARROW = {"i1": "i32", "i8": "i32", "i16": "i32"}
State = tuple[Tensor, ...]


def accumulator(name: str, kind: str) -> str:
    """Type of the result of a sum, prod, max, min or xor_sum over values of this type (halves widened before)."""
    if name == "i1" and kind in ("max", "min"):
        return name
    return _NARROW.get(name, name)


def reduce(kind: str, x: Tensor) -> Tensor:
    """The fold of a tensor along its last axis, which is kept with length 1."""
    name = name_of_tensor(x)
    if kind in ("any", "all"):
        true = ~is_zero(x)
        return true.any(-1, keepdim=True) if kind == "any" else true.all(-1, keepdim=True)
    if kind in ("argmax", "argmin"):
        index = torch.arange(x.shape[-1], device=x.device).expand(x.shape)
        function = extrema.max_with_index if kind == "argmax" else extrema.min_with_index
        return function(x, index)[1].unsqueeze(-1)
    if kind in ("max", "min"):
        found = (extrema.max2 if kind == "max" else extrema.min2)(x).unsqueeze(-1)
        return conversions.convert(found, to=accumulator(name, kind))
    if dtype(name).is_float:
        wide = x.double()
        total = wide.sum(-1, keepdim=True) if kind == "sum" else wide.prod(-1, keepdim=True)
        return total.to(x.dtype)
    wide = integer.widen(x)
    if kind == "xor_sum":
        total = wide.new_zeros((*wide.shape[:-1], 1))
        for k in range(x.shape[-1]):
            total = total ^ wide[..., k:k + 1]
    else:
        total = wide.sum(-1, keepdim=True) if kind == "sum" else wide.prod(-1, keepdim=True)
    return integer.narrow(total, dtype(accumulator(name, kind)))


def reduce_welford(mean: Tensor, m2: Tensor, weight: Tensor) -> State:
    """(mean, m2, weight) of states along the last axis, kept with length 1, in their type."""
    if mean.shape[-1] == 0:
        zero = torch.zeros((*mean.shape[:-1], 1), dtype=mean.dtype, device=mean.device)
        return zero, zero, zero
    found = welford.welford(mean, m2, weight, -1)
    return tuple(one.to(mean.dtype).unsqueeze(-1) for one in found)


def eager_mean(row: Tensor, mean: Tensor) -> Tensor:
    """The mean of a row (..., r), (..., 1) as `mean`: eager torch's own where the one infinity comes last.

    On the CPU, where torch folds a row from the left.
    """
    infinite = torch.isinf(row[..., -1:]) & torch.isfinite(row[..., :-1]).all(-1, keepdim=True)
    if not bool(infinite.any()):
        return mean
    eager = torch.var_mean(row.cpu(), -1, correction=0, keepdim=True)[1].to(mean.device)
    return torch.where(infinite, eager.to(mean.dtype), mean)


def sort(x: Tensor, *, descending: bool) -> tuple[Tensor, Tensor]:
    """Stable, NaN last (first if descending), with the original positions as i16."""
    if not x.numel():
        return x, torch.zeros(x.shape, dtype=torch.int16, device=x.device)
    values, positions = sorting.sort_rows(x.reshape(-1, x.shape[-1]), descending=descending, index_dtype="i16")
    return values.reshape(x.shape), positions.reshape(x.shape)


def scan(combine: str, parts: list[Tensor]) -> State:
    """Inclusive scan of tuples along the last axis; each result of the type of its part."""
    names = [name_of_tensor(part) for part in parts]
    wide = tuple(part.double() if dtype(name).is_float else integer.widen(part)
                 for part, name in zip(parts, names, strict=True))
    function = _COMBINE[combine] if combine in _COMBINE else _extremum(combine, names[0])
    length = parts[0].shape[-1]
    columns: list[State] = []
    for k in range(length):
        one = tuple(part[..., k] for part in wide)
        columns.append(function(columns[-1], one) if columns else one)
    results = []
    for number, (part, name) in enumerate(zip(parts, names, strict=True)):
        if not columns:
            results.append(part)
            continue
        stacked = torch.stack([column[number] for column in columns], -1)
        results.append(stacked.to(torch_dtype(name)) if dtype(name).is_float
                       else stacked != 0 if name == "i1" else integer.narrow(stacked, dtype(name)))
    return tuple(results)


def _logcumsumexp(a: State, b: State) -> State:
    low, high = torch.minimum(a[0], b[0]), torch.maximum(a[0], b[0])
    return (torch.where(torch.isfinite(high), high + torch.log1p(torch.exp(low - high)), high),)


_COMBINE: dict[str, Callable[[State, State], State]] = {
    "sum": lambda a, b: (a[0] + b[0],), "prod": lambda a, b: (a[0] * b[0],), "second": lambda a, b: b,
    "affine": lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), "logcumsumexp": _logcumsumexp,
}


def _extremum(combine: str, name: str) -> Callable[[State, State], State]:
    """max, min, argmax, argmin: NaN wins, then the better value, then (with an index) the smaller index."""
    flip = INT64_MIN if name == "u64" else 0
    largest = combine in ("max", "argmax")

    def function(a: State, b: State) -> State:
        x, y = (a[0], b[0]) if not flip else (a[0] ^ flip, b[0] ^ flip)
        nan_x, nan_y = is_nan(x), is_nan(y)
        better = (x > y) if largest else (x < y)
        tie = (x == y) | (nan_x & nan_y)
        first = (nan_x & ~nan_y) | (better & ~nan_y)
        if len(a) == 2:
            first = first | (tie & (a[1] <= b[1]))
        return tuple(torch.where(first, one, other) for one, other in zip(a, b, strict=True))

    return function


def widened(x: Tensor) -> Tensor:
    """Halves and fp8 as fp32, everything else as it is."""
    return to_float64(x).float() if name_of_tensor(x) in ("fp16", "bf16", "fp8e4nv", "fp8e5") else x
