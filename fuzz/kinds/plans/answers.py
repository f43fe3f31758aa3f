"""What a plan's kernel must give: the plan walked with the oracles' functions."""

from __future__ import annotations

import numpy as np
import torch

from tridiff.fuzz.kinds.plans import cases
from tridiff.fuzz.kinds.plans.cases import plan_of
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.plan import Dot, Fold, Plan, TmaStore
from tridiff.oracles import tolerances
from tridiff.oracles.by_numpy import tiles as in_numpy
from tridiff.oracles.by_torch import tiles as in_torch
from tridiff.oracles.dtypes import Array, numpy_dtype, torch_dtype


def _numpy_tiles(plan: Plan, x: Array) -> Array:
    """The tiles of a source as integers."""
    parts = in_numpy.split(x, tiles=plan.tiles, columns=plan.columns, before=plan.before)
    return in_numpy.as_integers(parts, unsigned=plan.dtype.startswith("u"))


def _numpy_worked(plan: Plan, *inputs: Array) -> Array:
    """The first source's tiles after all operations, as integers."""
    v = _numpy_tiles(plan, inputs[0])
    w = _numpy_tiles(plan, inputs[1]) if len(plan.sources) == 2 and not isinstance(plan.sink, Dot) else None
    for op in plan.ops:
        v = in_numpy.apply(op.kind, v, w, op.constant)
    return v


def numpy_answer(case: Case, *inputs: Array) -> tuple[Array, ...]:
    """Every output of the case, in the order of its arrays."""
    plan = plan_of(case)
    element = numpy_dtype(plan.dtype)
    worked = _numpy_worked(plan, *inputs)
    sink = plan.sink
    if isinstance(sink, Fold):
        found = [in_numpy.fold(sink.op, worked).view(element)]
    elif isinstance(sink, Dot):
        product = _numpy_product(plan, worked.view(element), inputs[1])
        found = [product if cases.approximate(case) else product.astype(numpy_dtype(cases.result_dtype(plan)))]
    else:
        joined = in_numpy.join(worked, width=plan.width, before=plan.before).view(element)
        found = [joined]
        if isinstance(sink, TmaStore) and sink.reduce:
            found = [in_numpy.combine(sink.reduce, inputs[-1], joined)]
        if plan.has("compute_second"):
            found.append(joined)
    if plan.has("side"):
        found.append(in_numpy.numbered(case.sizes["rows"]))
    return tuple(found)


def _numpy_product(plan: Plan, first: Array, x1: Array) -> Array:
    chunks, programs, rows, columns = first.shape
    if not chunks:
        assert isinstance(plan.sink, Dot)
        return np.zeros((programs, rows, plan.sink.n), np.int32 if plan.dtype == "i8" else np.float64)
    a = first.transpose(1, 2, 0, 3).reshape(programs, rows, chunks * columns)
    if plan.sources[1].across:
        return in_numpy.multiply(a, x1)
    parts = in_numpy.split(x1, tiles=plan.tiles, columns=plan.columns, before=plan.before)
    b = parts.transpose(1, 0, 3, 2).reshape(programs, chunks * columns, x1.shape[1])
    return in_numpy.multiply(a, b)


def torch_answer(case: Case, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Every output of the case, in the order of its arrays."""
    plan = plan_of(case)
    unsigned, element = plan.dtype.startswith("u"), torch_dtype(plan.dtype)
    integers = [in_torch.as_integers(x) for x in inputs]

    def parts(x: torch.Tensor) -> torch.Tensor:
        return in_torch.split(x, tiles=plan.tiles, columns=plan.columns, before=plan.before)

    v = parts(integers[0])
    w = parts(integers[1]) if len(plan.sources) == 2 and not isinstance(plan.sink, Dot) else None
    for op in plan.ops:
        v = in_torch.apply(op.kind, v, w, op.constant, unsigned=unsigned)
    sink = plan.sink
    if isinstance(sink, Fold):
        found = [in_torch.fold(sink.op, v, unsigned=unsigned).view(element)]
    elif isinstance(sink, Dot):
        product = _torch_product(plan, v, integers[1])
        found = [product if cases.approximate(case) else product.to(torch_dtype(cases.result_dtype(plan)))]
    else:
        joined = in_torch.join(v, width=plan.width, before=plan.before).view(element)
        found = [joined]
        if isinstance(sink, TmaStore) and sink.reduce:
            found = [in_torch.combine(sink.reduce, inputs[-1], joined)]
        if plan.has("compute_second"):
            found.append(joined)
    if plan.has("side"):
        found.append(in_torch.numbered(case.sizes["rows"], device=inputs[0].device))
    return tuple(found)


def _operands(plan: Plan, v: torch.Tensor, x1: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(programs, m, k) and (programs, k, n) of a multiplication, as elements; from tiles and from the second input,
    both as integers."""
    element = torch_dtype(plan.dtype)
    a = v.permute(1, 2, 0, 3).reshape(v.shape[1], v.shape[2], -1).contiguous().view(element)
    if plan.sources[1].across:
        return a, x1[:, :a.shape[2]].contiguous().view(element)
    parts = in_torch.split(x1, tiles=plan.tiles, columns=plan.columns, before=plan.before)
    b = parts.permute(1, 0, 3, 2).reshape(x1.shape[0], -1, x1.shape[1]).contiguous().view(element)
    return a, b


def _torch_product(plan: Plan, v: torch.Tensor, x1: torch.Tensor) -> torch.Tensor:
    return in_torch.multiply(*_operands(plan, v, x1))


def product_bound(case: Case, *inputs: torch.Tensor) -> torch.Tensor:
    """Allowed errors of a multiplication on tensor cores (contract: oracles.md §4, dot)."""
    plan = plan_of(case)
    integers = [in_torch.as_integers(x) for x in inputs]
    v = in_torch.split(integers[0], tiles=plan.tiles, columns=plan.columns, before=plan.before)
    a, b = _operands(plan, v, integers[1])
    precision = {"fp32": "tf32", "fp8e4nv": "fp8", "fp8e5": "fp8"}.get(plan.dtype, "half")
    if not plan.tiles:
        assert isinstance(plan.sink, Dot)
        return torch.zeros((a.shape[0], a.shape[1], plan.sink.n), dtype=torch.float64, device=a.device)
    return torch.stack([tolerances.dot_bound(one, other, precision=precision) for one, other in zip(a, b, strict=True)])
