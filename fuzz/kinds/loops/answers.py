"""What a loop's kernel must give, with the functions of the oracles."""

from typing import Any

import numpy as np
import torch

from tridiff.fuzz.kinds.loops.cases import approximate, loop_of, work_of
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.loop_programs import (
    BoxCopy,
    BoxReduction,
    DescribedProduct,
    Hinted,
    LineFold,
    Loop,
    Product,
    RowGather,
    Stream,
)
from tridiff.oracles import tolerances
from tridiff.oracles.by_numpy import loops as loops_in_numpy, tiles as tiles_in_numpy
from tridiff.oracles.by_torch import loops as loops_in_torch, tiles as tiles_in_torch


def numpy_answer(case: Case, *inputs: Any) -> Any:
    """The output of a loop, in numpy."""
    loop = loop_of(case)
    if isinstance(loop, BoxCopy):
        return (inputs[0] + inputs[0].dtype.type(loop.added)).astype(inputs[0].dtype)
    if isinstance(loop, BoxReduction):
        return tiles_in_numpy.combine(loop.kind, inputs[1], inputs[0])
    found = _answer(loops_in_numpy, loop, inputs)
    return found.astype(np.float32) if found.dtype == np.float64 and not approximate(case) else found


def torch_answer(case: Case, *inputs: Any) -> Any:
    """The output of a loop, in torch."""
    loop = loop_of(case)
    if isinstance(loop, BoxCopy):
        x = inputs[0]
        if x.dtype.is_floating_point:
            return x + loop.added
        return (tiles_in_torch.as_integers(x) + loop.added).view(x.dtype)
    if isinstance(loop, BoxReduction):
        return tiles_in_torch.combine(loop.kind, inputs[1], inputs[0])
    found = _answer(loops_in_torch, loop, inputs)
    return found.to(torch.float32) if found.dtype == torch.float64 and not approximate(case) else found


def _answer(loops: Any, loop: Loop, inputs: tuple[Any, ...]) -> Any:
    match loop:
        case Hinted():
            return _answer(loops, loop.work, inputs)
        case Stream():
            return loops.stream(*inputs, kind=loop.kind, block=loop.block)
        case LineFold():
            return loops.fold(*inputs, kind=loop.kind)
        case Product():
            return loops.product(*inputs, transposed=loop.transposed)
        case DescribedProduct():
            return loops.product(*inputs, transposed=True)
        case RowGather():
            return loops.gathered(*inputs, scatter=loop.scatter)
    raise AssertionError(loop)


def product_bound(case: Case, a: Any, b: Any) -> Any:
    """Allowed errors of a product on tensor cores (contract: oracles.md §4, dot)."""
    loop = work_of(loop_of(case))
    right = b if isinstance(loop, Product) and not loop.transposed else b.transpose(1, 2)
    precision = "tf32" if isinstance(loop, Product) and loop.dtype == "fp32" else "half"
    return torch.stack([tolerances.dot_bound(x, y, precision=precision) for x, y in zip(a, right, strict=True)])
