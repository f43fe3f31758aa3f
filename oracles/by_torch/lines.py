"""What kernels written as TTGIR text must give, in torch; see `tridiff.oracles.by_numpy.lines`."""

import torch
from torch import Tensor


def backwards(x: Tensor) -> Tensor:
    """Every line reversed."""
    return x.flip(-1)


def warp_numbers(x: Tensor, *, each: int, warps: int) -> Tensor:
    """Per element the warp that holds it."""
    block = torch.arange(warps, dtype=torch.int32, device=x.device).repeat_interleave(32 * each)
    times = -(-x.shape[-1] // block.numel())
    return block.repeat(times)[:x.shape[-1]].expand(x.shape).contiguous()


def with_multiples(x: Tensor, *, workers: int) -> Tensor:
    """(programs, 1 + workers, elements): x, then element numbers times 1, 2, ..."""
    found = torch.empty((x.shape[0], 1 + workers, x.shape[1]), dtype=x.dtype, device=x.device)
    found[:, 0] = x
    factors = torch.arange(1, workers + 1, dtype=x.dtype, device=x.device)
    found[:, 1:] = torch.outer(factors, torch.arange(x.shape[1], dtype=x.dtype, device=x.device))
    return found


def under_mask(x: Tensor, initial: Tensor, *, wrapped: str, flag: bool) -> Tensor:
    """A load, store, atomic addition or copy that takes place where `flag` holds."""
    match wrapped, flag:
        case ("load" | "copy", False):
            return torch.full_like(x, -1)
        case ("load" | "copy" | "store", True):
            return x
        case ("atomic", True):
            return torch.add(initial, x)
    return initial


def plus_one(x: Tensor) -> Tensor:
    return torch.add(x, 1)
