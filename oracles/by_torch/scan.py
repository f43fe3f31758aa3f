"""The exclusive scan across programs in torch by doubling distances, and packed words (contract: helpers.md
§11).

Conventions as in `tridiff.oracles.by_numpy.scan`, which folds one element at a time.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_nan, ordered, to_bits, to_float64, unsigned_bits
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.dtypes import dtype, name_of_tensor
from tridiff.oracles.errors import OracleError

_Combine = Callable[[Tensor, Tensor], Tensor]


def _affine(width: int) -> _Combine:
    half, low = width // 2, (1 << (width // 2)) - 1

    def combine(left: Tensor, right: Tensor) -> Tensor:
        scale = ((left & low) * (right & low)) & low
        shift = ((left >> half & low) * (right & low) + (right >> half & low)) & low
        return (shift << half) | scale

    return combine


def _scanned(x: Tensor, combine: _Combine) -> Tensor:
    """Inclusive scan along the last axis: distance 1, 2, 4, ... (Hillis and Steele)."""
    distance = 1
    while distance < x.shape[-1]:
        x = torch.cat([x[..., :distance], combine(x[..., :-distance], x[..., distance:])], dim=-1)
        distance *= 2
    return x


def exclusive_scan(x: Tensor, *, combine: str = "add", dim: int = -1) -> Tensor:
    """Left fold of the elements before each position along `dim`; zero bits at position 0. Float sums:
    float64.
    """
    name = name_of_tensor(x)
    kind = dtype(name)
    moved = x.movedim(dim, -1)
    if combine == "add" and kind.is_float:
        result = torch.zeros_like(moved, dtype=torch.float64)
        result[..., 1:] = _scanned(to_float64(moved), torch.add)[..., :-1]
        return result.movedim(-1, dim)
    if combine == "add":
        scanned = to_bits(narrow(_scanned(widen(moved), torch.add), kind))
    elif combine == "maximum":
        # Scan positions of the winner: the right one in a tie, as left > right decides.
        key = ordered(moved)
        place = torch.arange(moved.shape[-1], device=x.device).expand(moved.shape)
        best = _scanned(place, lambda a, b: torch.where(key.gather(-1, a) > key.gather(-1, b), a, b))
        scanned = to_bits(moved).gather(-1, best)
    elif combine == "second":
        scanned = to_bits(moved)
    elif combine == "first":
        scanned = to_bits(moved)[..., :1].expand(moved.shape)
    elif combine == "affine" and kind.kind == "uint":
        scanned = to_bits(narrow(_scanned(widen(moved), _affine(kind.bits)), kind))
    else:
        raise OracleError(f"cannot scan {name} with {combine!r}; use add, maximum, second, first, or affine (unsigned)")
    bits = torch.zeros_like(to_bits(moved))
    bits[..., 1:] = scanned[..., :-1]
    return from_bits(bits, name).movedim(-1, dim)


def exclusive_scan_defined(x: Tensor, *, combine: str = "add", dim: int = -1) -> Tensor:
    """False where `maximum` has met a NaN: with NaN the combination is not associative."""
    if combine != "maximum":
        return torch.ones(x.shape, dtype=torch.bool, device=x.device)
    met = is_nan(x).movedim(dim, -1).to(torch.int64).cumsum(-1)
    return (torch.nn.functional.pad(met, (1, 0))[..., :-1] == 0).movedim(-1, dim)


def exclusive_sum_bound(x: Tensor, *, dim: int = -1, acc: str = "fp32") -> Tensor:
    """SUM bound of a float `exclusive_scan` with add: the prefix bound, shifted by one."""
    from tridiff.oracles.tolerances import prefix_sum_bound

    inclusive = prefix_sum_bound(x, dim, acc=acc).movedim(dim, -1)
    return torch.nn.functional.pad(inclusive, (1, 0))[..., :-1].movedim(-1, dim)


def pack_value_flag(value: Tensor, flag: Tensor) -> Tensor:
    """flag | (bits(value) << width) as the unsigned type twice as wide; values of 16 or 32 bits."""
    width = dtype(name_of_tensor(value)).storage_bits
    if width not in (16, 32):
        raise OracleError(f"packed values have 16 or 32 bits, got {width}; 64-bit scans use three words")
    return narrow((unsigned_bits(value) << width) | widen(flag), dtype(f"u{2 * width}"))


def unpack_value(pack: Tensor, name: str) -> Tensor:
    """The value of type `name` in the upper half of each word."""
    width = dtype(name).storage_bits
    return from_bits(to_bits(narrow(widen(pack) >> width, dtype(f"u{width}"))), name)


def unpack_flag(pack: Tensor) -> Tensor:
    """The flag in the lower half of each word, in the unsigned type of half the width."""
    return narrow(widen(pack), dtype(f"u{dtype(name_of_tensor(pack)).bits // 2}"))
