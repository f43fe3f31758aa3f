"""What the binary search of Inductor's helper finds where it differs from torch.bucketize: the helper, in torch."""

import torch

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.oracles.bits import is_nan, to_bits
from tridiff.oracles.dtypes import dtype, name_of_tensor

_BEYOND = 1 << 30
"""Boundaries from which on the sum of two positions leaves 32 bits."""


def comparable(values: torch.Tensor) -> torch.Tensor:
    """Numbers of the same order that torch compares on every device: float64, or int64."""
    info = dtype(name_of_tensor(values))
    if info.kind == "float":
        return values.to(torch.float64)
    if info.kind == "uint" and info.bits == 64:
        return to_bits(values) ^ (-(1 << 63))
    return values.to(torch.int64)


def _wrapped(number: int) -> int:
    """As a signed integer of 32 bits."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _searched(seen: Wrong, *, nan_values_above: bool, range_wraps: bool = False) -> torch.Tensor:
    """Positions that the helper gives, in the type of the index, whose sums wrap.

    range_wraps: the count of boundaries that are left is a number of 32 bits too, as in a compiled kernel:
    a step further from 2^31 - 1 the search ends at once.
    """
    case, params = seen.case, seen.case.params
    values, boundaries = comparable(seen.inputs["values"]), comparable(seen.inputs["boundaries"])
    row_stride, stride = case.array("boundaries").strides(case.sizes)
    numel = case.array("boundaries").span(case.sizes)
    size = boundaries.shape[1]
    if params["form"] == "copies":
        size, stride = int(params["copies"]), 0
    kind = torch.int32 if params["index_dtype"] == "i32" else torch.int64
    low = torch.zeros(values.shape, dtype=kind, device=values.device)
    high = torch.full(values.shape, size, dtype=kind, device=values.device)
    row = torch.arange(values.shape[0], device=values.device)[:, None].expand(values.shape)
    sorter = seen.inputs.get("sorter")
    above_all = torch.isnan(values) if nan_values_above and values.is_floating_point() else None
    remaining = _wrapped(size + 1) if range_wraps else size + 1
    while remaining > 1:
        middle = torch.div(high + low, 2, rounding_mode="trunc")
        readable = (middle.to(torch.int64) * stride + row * row_stride < numel) & (middle < size)
        place = middle.to(torch.int64)
        if sorter is not None:
            place = torch.where(readable, sorter.to(torch.int64)[row, place.clamp(0, sorter.shape[1] - 1)], 0)
        bound = torch.where(readable, boundaries[row, place.clamp(0, boundaries.shape[1] - 1)], 0)
        above = values >= bound if params["right"] else values > bound
        if above_all is not None:
            above = above | above_all
        low = torch.where(above & readable, middle + 1, low)
        high = torch.where(above, high, middle)
        remaining = _wrapped(remaining + 1) // 2 if range_wraps else (remaining + 1) // 2
    return low


def _as_found(seen: Wrong) -> torch.Tensor:
    """Wrong elements that are what the helper finds, in the form of torch 2.13 or in that of older ones."""
    best = torch.zeros_like(seen.wrong["out"])
    for nan_values_above in (True, False):
        for range_wraps in (False, True):
            gives = _searched(seen, nan_values_above=nan_values_above, range_wraps=range_wraps)
            found = seen.wrong["out"] & (gives == seen.actual["out"])
            if int(found.sum()) > int(best.sum()):
                best = found
    return best


def _nan_rows(seen: Wrong) -> torch.Tensor:
    boundaries = seen.inputs["boundaries"]
    if not boundaries.is_floating_point():
        return torch.zeros((boundaries.shape[0], 1), dtype=torch.bool, device=boundaries.device)
    return is_nan(boundaries).any(1, keepdim=True)


@predicting("out")
def nan_boundary(seen: Wrong) -> torch.Tensor:
    """In rows with NaN boundaries, what the helper's search finds: it takes NaN for above every value."""
    return _as_found(seen) & _nan_rows(seen)


@predicting("out")
def midpoint_overflow(seen: Wrong) -> torch.Tensor:
    """Without NaN, what the helper's search finds where the sum of two positions wraps in 32 bits."""
    return _as_found(seen) & ~_nan_rows(seen)


@predicting("out")
def nan_value(seen: Wrong) -> torch.Tensor | None:
    """Without NaN boundaries, what the helper of torch 2.11 finds for a NaN: it is above nothing."""
    if not seen.inputs["values"].is_floating_point():
        return None
    found = seen.wrong["out"] & (_searched(seen, nan_values_above=False) == seen.actual["out"])
    return found & is_nan(seen.inputs["values"]) & ~_nan_rows(seen)


@predicting("out")
def compiled_nan_boundary(seen: Wrong) -> torch.Tensor | None:
    """torch.compile's bucketize of boundaries with NaN: the same search, one array of boundaries for all values."""
    values, edges = comparable(seen.inputs["a"]), comparable(seen.inputs["b"])
    if not values.is_floating_point() or not bool(torch.isnan(edges).any()):
        return None
    right = "right" in str(seen.case.params["op"])
    best = torch.zeros_like(seen.wrong["out"])
    for nan_values_above in (True, False):
        found = seen.wrong["out"] & (
            bisected(values, edges, right=right, nan_values_above=nan_values_above) == seen.actual["out"])
        if int(found.sum()) > int(best.sum()):
            best = found
    return best


@predicting("out")
def compiled_nan_value(seen: Wrong) -> torch.Tensor | None:
    """torch.compile's bucketize of a NaN under torch 2.11, boundaries without NaN: it is above nothing."""
    values, edges = comparable(seen.inputs["a"]), comparable(seen.inputs["b"])
    if not values.is_floating_point() or bool(torch.isnan(edges).any()):
        return None
    gives = bisected(values, edges, right="right" in str(seen.case.params["op"]), nan_values_above=False)
    return seen.wrong["out"] & torch.isnan(values) & (gives == seen.actual["out"])


@predicting("out")
def compiled_nothing_found(seen: Wrong) -> torch.Tensor | None:
    """Boundaries with a stride of 0: none of them counts as one that can be read, and all values come to place 0."""
    if bool((seen.actual["out"] != 0).any()):
        return None
    return seen.wrong["out"]


def bisected(values: torch.Tensor, edges: torch.Tensor, *, right: bool, nan_values_above: bool = True) -> torch.Tensor:
    """Positions among `edges` (n), as the helper's search finds them whatever edges hold. int64 of values' shape."""
    low = torch.zeros(values.shape, dtype=torch.int64, device=values.device)
    high = torch.full_like(low, len(edges))
    remaining = len(edges) + 1
    while remaining > 1:
        middle = (high + low) // 2
        readable = middle < len(edges)
        bound = torch.where(readable, edges[middle.clamp_max(len(edges) - 1)], 0)
        above = values >= bound if right else values > bound
        if nan_values_above:
            above = above | torch.isnan(values)
        low = torch.where(above & readable, middle + 1, low)
        high = torch.where(above, high, middle)
        remaining = (remaining + 1) // 2
    return low
