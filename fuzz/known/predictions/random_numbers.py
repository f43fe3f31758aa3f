"""Random integers of offsets beyond 32 bits, as Triton's generator counts them."""

import torch

from tridiff.fuzz.known.issue import Wrong, predicting
from tridiff.oracles.bits import to_bits
from tridiff.oracles.by_torch.integer import rem_trunc
from tridiff.oracles.dtypes import torch_dtype
from tridiff.oracles.philox import KEY_STEPS, MULTIPLIERS, ROUNDS

_LOW = 0xFFFFFFFF


@predicting("out")
def wide_offset(seen: Wrong) -> torch.Tensor:
    """randint64 whose counter has the upper half of a 64-bit offset as its second word."""
    offset = seen.inputs["offset"].to(torch.int64)
    seed = seen.inputs["seed"].to(torch.int64)[:, None]
    x0, x1 = offset & _LOW, (offset >> 32) & _LOW
    x2, x3 = torch.zeros_like(x0), torch.zeros_like(x0)
    k0, k1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(ROUNDS):
        first, second = x0 * MULTIPLIERS[0], x2 * MULTIPLIERS[1]
        x0, x2 = ((second >> 32) & _LOW) ^ x1 ^ k0, ((first >> 32) & _LOW) ^ x3 ^ k1
        x1, x3 = second & _LOW, first & _LOW
        k0, k1 = (k0 + KEY_STEPS[0]) & _LOW, (k1 + KEY_STEPS[1]) & _LOW
    low, high = (seen.inputs[name].to(torch.int64)[:, None] for name in ("low", "high"))
    unsigned = torch_dtype("u64")
    span = (high - low).expand(x0.shape).contiguous()
    drawn = rem_trunc((x0 | (x1 << 32)).view(unsigned), span.view(unsigned))
    return to_bits(drawn) + low == seen.actual["out"]
