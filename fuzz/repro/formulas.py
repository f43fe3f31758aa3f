"""Large arrays said by how they come about: inputs by the counter hash that drew them, expected results by the inputs.

Each formula is evaluated when the script is written, and used only if it gives the array bit for bit.
"""

import itertools
import math
from collections.abc import Mapping

import torch

from tridiff.fuzz.content.counter import COLUMN, ROW, key
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.records import ArraySpec, Small
from tridiff.fuzz.repro import literals
from tridiff.oracles import bits
from tridiff.oracles.dtypes import dtype as dtype_info

LISTED = 48
"""Elements of an array that is always written out."""

SMALL = f"""\
def small(start, rows, columns, low, count):  # SplitMix64 of a counter, from low on
    x = np.arange(rows, dtype=np.uint64)[:, None] * 0x{ROW:X}
    x = x + np.arange(columns, dtype=np.uint64) * 0x{COLUMN:X} + start
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9
    x = (x ^ x >> 27) * 0x94D049BB133111EB
    return torch.from_numpy(((x ^ x >> 31) >> 33) * count >> 31).to(torch.int64) + low
"""
"""What a script needs above an expression of `of_content`."""


def of_content(spec: ArraySpec, values: torch.Tensor) -> str:
    """An expression over `small` for an input in its own dtype, on the CPU; "" where there is none.

    values: contiguous, what the content of `spec` stands for, axes of stride 0 with one element.
    """
    content = spec.content
    if content is None or not isinstance(content.base, Small) or content.overrides or values.numel() <= LISTED:
        return ""
    info, shape = dtype_info(spec.dtype), tuple(values.shape)
    if spec.dtype == "i1" or spec.dtype == "u64":
        return ""
    low, high = sorted((content.base.low, content.base.high))
    batched = spec.dims[:1] == ("rows",)
    rows, columns = (shape[0], math.prod(shape[1:])) if batched else (1, values.numel())
    start = (key(content.base.seed, 1) + (spec.first_row if batched else 0) * ROW) % (1 << 64)
    text = f"small(0x{start:X}, {rows}, {columns}, {low}, {high - low + 1}).to({literals.own_dtype(spec.dtype)})"
    text += f".reshape{shape}" if len(shape) != 1 else ".reshape(-1)"
    found = _evaluated(text)
    same = found is not None and found.shape == values.shape and torch.equal(bits.to_bits(found), bits.to_bits(values))
    return text if same and info.storage_bits else ""


def _evaluated(text: str) -> torch.Tensor | None:
    import numpy as np

    scope: dict[str, object] = {"np": np, "torch": torch}
    exec(SMALL, scope)
    found = eval(text, scope)
    return found if isinstance(found, torch.Tensor) else None


def of_inputs(values: torch.Tensor, dtype: str, buffers: Mapping[str, Buffer]) -> str:
    """A numpy expression over input arrays for expected results; "" where there is none. An input as it is, its axes
    in another order, and the product of two matrices of which the second is given by columns.

    values: contiguous, of `dtype`. Inputs that a kernel may overwrite are not used.
    """
    if values.numel() <= LISTED or any(name.startswith("io") for name in buffers):
        return ""
    inputs = {name: one.values for name, one in buffers.items() if one.values is not None}
    for name, one in inputs.items():
        if buffers[name].spec.dtype != dtype or one.numel() != values.numel():
            continue
        for order in itertools.permutations(range(one.dim())):
            moved = one.permute(order)
            if moved.shape == values.shape and torch.equal(bits.to_bits(moved.contiguous()), bits.to_bits(values)):
                plain = order == tuple(range(one.dim()))
                return literals.fetch(name if plain else f"{name}.permute{order}", dtype)
    for (name, one), (other, two) in itertools.permutations(inputs.items(), 2):
        floats = one.is_floating_point() and two.is_floating_point() and values.is_floating_point()
        if not floats or one.dim() < 2 or two.dim() != one.dim() or one.shape[-1] != two.shape[-1]:
            continue
        product = one.double() @ two.double().mT
        if product.shape == values.shape and torch.equal(product.view(torch.int64), values.double().view(torch.int64)):
            return f"({name}.cpu().double() @ {other}.cpu().double().mT).numpy()"
    return ""
