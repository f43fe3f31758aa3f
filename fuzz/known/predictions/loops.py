"""What specialised loops put in place of right products. Outputs are (programs, rows of a tile, columns)."""

import torch

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.oracles.bits import is_nan, to_bits

_MOVED = 64
"""Rows of the first partition, by which the store of the second is moved down and, wrongly, to the right."""
_CLOSE = 2.0**-8
"""What two orders of the same sum of products may differ by, of the largest result of a tile."""


@predicting("out")
def lines_of_nan(seen: Wrong) -> torch.Tensor:
    """Whole rows of NaN: what a barrier left in shared memory stands for a row of the first operand. Whole columns,
    where the second operand has at least the columns that the first one has rows in a partition: the largest ring lies
    lowest, where the barriers are."""
    nan = is_nan(seen.actual["out"]) & ~_unwritten(seen)
    found = nan.all(-1, keepdim=True).expand(nan.shape)
    if nan.shape[-1] >= _MOVED:
        found = found | nan.all(-2, keepdim=True)
    return found


def _unwritten(seen: Wrong) -> torch.Tensor:
    return to_bits(seen.actual["out"]) == seen.poison["out"]


@predicting("out")
def second_half_moved(seen: Wrong) -> torch.Tensor | None:
    """Rows from 64 on: in columns below 64 what was there before, beyond them what belongs 64 columns to the left."""
    if "out" not in seen.expected:
        return None
    actual, expected = seen.actual["out"], seen.expected["out"].double()
    found = torch.zeros(actual.shape, dtype=torch.bool, device=actual.device)
    found[:, _MOVED:, :_MOVED] = _unwritten(seen)[:, _MOVED:, :_MOVED]
    beyond = actual.shape[-1] - _MOVED
    if beyond > 0:
        right = expected[:, _MOVED:, :beyond]
        apart = (actual[:, _MOVED:, _MOVED:].double() - right).abs()
        largest = expected.abs().flatten(1).max(1).values[:, None, None]
        found[:, _MOVED:, _MOVED:] = apart <= _CLOSE * largest
    return found
