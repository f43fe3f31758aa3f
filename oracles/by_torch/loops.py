"""Loops over blocks of a line, in torch; see `tridiff.oracles.by_numpy.loops`."""

import torch
from torch import Tensor


def stream(x: Tensor, y: Tensor, *, kind: str, block: int) -> Tensor:
    """See the kernel `stream`, per line."""
    if kind == "add":
        return x + y
    if kind == "indirect":
        return torch.gather(x, 1, y.to(torch.int64))
    lines, length = x.shape
    behind = -length % block
    blocks = torch.nn.functional.pad(x, (0, behind)).reshape(lines, -1, block)
    if kind == "running":
        return blocks.cumsum(1, dtype=x.dtype).reshape(lines, -1)[:, :length].contiguous()
    even = torch.nn.functional.pad((y & 1) == 0, (0, behind)).reshape(blocks.shape)
    numbers = torch.arange(blocks.shape[1], device=x.device)[None, :, None].expand(blocks.shape)
    last = torch.where(even, numbers, -1).cummax(1).values
    found = torch.gather(blocks, 1, last.clamp_min(0))
    return torch.where(last >= 0, found, 0).reshape(lines, -1)[:, :length].contiguous()


def fold(x: Tensor, *, kind: str) -> Tensor:
    """Sum, maximum or exclusive or of every line."""
    if kind == "sum":
        return x.sum(-1, dtype=torch.int64).to(x.dtype)
    if kind == "max":
        return x.amax(-1)
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        rest = x[:, 2 * half:]
        x = torch.cat((x[:, :half] ^ x[:, half:2 * half], rest), -1)
    return x[:, 0]


def product(a: Tensor, b: Tensor, *, transposed: bool) -> Tensor:
    """a @ b per program by sums over the inner axis: float64, or exact int32."""
    right = b.transpose(1, 2) if transposed else b
    wide = torch.float64 if a.dtype.is_floating_point else torch.int64
    found = torch.einsum("pmk,pkn->pmn", a.to(torch.float64), right.to(torch.float64))
    return found if wide == torch.float64 else found.round().to(torch.int64).to(torch.int32)


def gathered(x: Tensor, index: Tensor, *, scatter: bool) -> Tensor:
    """Rows of x by index, or rows of x put at distinct indices with zero elsewhere."""
    if not scatter:
        return torch.index_select(x, 0, index.to(torch.int64))
    return torch.zeros_like(x).index_copy(0, index.to(torch.int64), x)
