"""Tiles of a matrix and what pipelined kernels do to them, in torch; see `tridiff.oracles.by_numpy.tiles`.

torch has no arithmetic on unsigned words: they are computed as signed ones of the same width, and compared with the
sign bit inverted.
"""

import torch
from torch import Tensor

from tridiff.oracles.errors import OracleError

_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def as_integers(x: Tensor) -> Tensor:
    """The bits of x as signed integers of its width."""
    return x.contiguous().view(_SIGNED[x.element_size()])


def _ordered(v: Tensor, unsigned: bool) -> Tensor:
    return v ^ torch.iinfo(v.dtype).min if unsigned else v


def split(x: Tensor, *, tiles: int, columns: int, before: int) -> Tensor:
    """(programs, rows, width) -> (tiles, programs, rows, columns), zero outside."""
    behind = max(tiles * columns - before - x.shape[-1], 0)
    wide = torch.nn.functional.pad(x, (before, behind))[..., :tiles * columns]
    return wide.unfold(-1, columns, columns).permute(2, 0, 1, 3).contiguous() if tiles else wide.reshape(
        0, x.shape[0], x.shape[1], columns)


def join(parts: Tensor, *, width: int, before: int) -> Tensor:
    """The inverse of `split`."""
    return torch.cat(list(parts), dim=-1)[..., before:before + width].contiguous()


def apply(kind: str, v: Tensor, w: Tensor | None, constant: int, *, unsigned: bool = False) -> Tensor:
    """One operation on tiles of integers."""
    match kind:
        case "convert" | "stage" | "stage_transposed":
            return v
        case "add":
            return v + constant
        case "multiply":
            return v * constant
        case "xor":
            return v ^ constant
        case "invert":
            return torch.bitwise_not(v)
        case "mix":
            return v ^ torch.bitwise_left_shift(v, constant)
        case "row_max":
            return v - _ordered(_ordered(v, unsigned).amax(-1, keepdim=True), unsigned)
        case "scan":
            return v.to(torch.int64).cumsum(-1).to(v.dtype)
    if w is None:
        raise OracleError(f"{kind} needs a second source")
    if kind == "second_max":
        return _ordered(torch.maximum(_ordered(v, unsigned), _ordered(w, unsigned)), unsigned)
    return v + w if kind == "second_add" else v ^ w


def fold(kind: str, parts: Tensor, *, unsigned: bool = False) -> Tensor:
    """All tiles folded into one; the identity where there is none."""
    result = torch.zeros(parts.shape[1:], dtype=parts.dtype, device=parts.device)
    if kind == "max":
        least = 0 if unsigned else torch.iinfo(parts.dtype).min
        result = torch.full(parts.shape[1:], least, dtype=parts.dtype, device=parts.device)
    for part in parts:
        if kind == "max":
            result = _ordered(torch.maximum(_ordered(result, unsigned), _ordered(part, unsigned)), unsigned)
        else:
            result = result + part if kind == "add" else result ^ part
    return result


def combine(kind: str, initial: Tensor, x: Tensor) -> Tensor:
    """initial (rows, width) combined with every program's x; sums of floats must be exact in every order."""
    if initial.dtype.is_floating_point:
        return (initial.to(torch.float64) + x.to(torch.float64).sum(0)).to(initial.dtype)
    unsigned = initial.dtype == torch.uint32
    result = as_integers(initial)
    for one in as_integers(x):
        if kind in ("min", "max"):
            pick = torch.minimum if kind == "min" else torch.maximum
            result = _ordered(pick(_ordered(result, unsigned), _ordered(one, unsigned)), unsigned)
        elif kind == "add":
            result = result + one
        else:
            result = {"and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor}[kind](result, one)
    return result.view(initial.dtype)


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """a (programs, m, k) @ b (programs, k, n) by elements and sums: float64, or exact integers."""
    wide = torch.float64 if a.dtype.is_floating_point else torch.int64
    product = torch.zeros((a.shape[0], a.shape[1], b.shape[2]), dtype=wide, device=a.device)
    for k in range(a.shape[2]):
        product += a[:, :, k, None].to(wide) * b[:, None, k, :].to(wide)
    return product if wide == torch.float64 else product.to(torch.int32)


def numbered(programs: int, *, device: torch.device) -> Tensor:
    """program * 1000 + 3 * lane, (programs, 256) int32."""
    rows = torch.arange(programs, dtype=torch.int32, device=device)[:, None] * 1000
    return rows + 3 * torch.arange(256, dtype=torch.int32, device=device)[None, :]
