"""What a chain must give: its steps walked with the functions of an oracle."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch
from msgspec import UNSET, UnsetType

from tridiff.fuzz.kinds.chains.cases import chain_of, returned
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon import chain as c
from tridiff.kernels.gluon.chain import Chain, Limit
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.memory import placement
from tridiff.kernels.gluon.rules_buffers import offsets
from tridiff.kernels.gluon.values import WIDTH, View
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.by_numpy import movement as numpy_movement
from tridiff.oracles.by_torch import movement as torch_movement


def by_numpy(case: Case, *inputs: Any) -> tuple[Any, ...]:
    """Output arrays of the case's chain, in the order of its arrays; inputs likewise."""
    return _walk(chain_of(case), inputs, numpy_movement, lambda array: array)[0]


def by_torch(case: Case, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """As `by_numpy` with torch, on the CPU; the outputs are on the device of the inputs."""
    device = inputs[0].device if inputs else torch.device("cpu")
    found, _ = _walk(chain_of(case), [one.cpu() for one in inputs], torch_movement, torch.from_numpy)
    return tuple(one.contiguous().to(device) for one in found)


def _limit(mask: Limit | UnsetType) -> tuple[int, int] | None:
    return None if mask is UNSET else (mask.axis, mask.count)


Changed = Callable[[int, Any], Any]
"""From a step's number and its value to what is there instead."""


def astray(case: Case, inputs: Sequence[Any], changed: Changed) -> tuple[Any, ...]:
    """As `by_numpy`, with other values of steps: tensors as arrays, views as `movement.View`."""
    return _walk(chain_of(case), inputs, numpy_movement, lambda array: array, changed)[0]


def _walk(chain: Chain, inputs: Sequence[Any], oracle: ModuleType, native: Any,
          changed: Changed = lambda number, value: value) -> tuple[tuple[Any, ...], list[Any]]:
    """The outputs, and what the atomics did, by step (None for other steps). native: from a numpy array to the
    oracle's own kind."""
    types = typed(chain)
    arrays = dict(zip((k for k, array in enumerate(chain.arrays) if not array.output), inputs, strict=True))
    outputs: dict[int, Any] = {}
    values: list[Any] = []
    exchanges: list[Any] = []
    for number, step in enumerate(chain.steps):
        value: Any = None
        exchange = None
        match step:
            case c.Load():
                value = oracle.load(arrays[step.array], step.order, _limit(step.mask), step.other)
            case c.Ramp():
                value = oracle.ramp(step.shape, step.strides, step.start, step.flip, step.mask, step.dtype)
            case c.Convert():
                value = values[step.source]
            case c.Transpose():
                value = oracle.transpose(values[step.source], step.order)
            case c.Regroup():
                value = oracle.regroup(values[step.source], step.shape)
            case c.Fp4():
                value = oracle.fp4(values[step.source], step.axis, step.dtype)
            case c.Combine():
                value = oracle.combine(values[step.left], values[step.right], step.op)
            case c.Reduce():
                value = oracle.reduce(values[step.source], step.axis, step.op)
            case c.Scan():
                value = oracle.scan(values[step.source], step.axis, step.op, step.reverse)
            case c.Take():
                value = oracle.take(values[step.source], values[step.index], step.axis)
            case c.Out():
                source = values[step.source]
                inverse = tuple(int(k) for k in np.argsort(step.order))
                stored = oracle.transpose(source, inverse) if inverse else source
                outputs[step.array] = stored.reshape(chain.arrays[step.array].shape)
            case c.Ring():
                outputs[step.target] = arrays[step.source]
            case c.Alloc():
                made = types[number]
                assert isinstance(made, View)
                value = oracle.buffer(native(made.places), step.dtype)
                if step.source is not UNSET:
                    oracle.store(value, values[step.source])
            case c.Store():
                oracle.store(values[step.view], values[step.source])
            case c.Read():
                value = oracle.read(values[step.view])
            case c.Index():
                value = oracle.index(values[step.view], step.slot)
            case c.Subslice():
                value = oracle.subslice(values[step.view], step.axis, step.start, step.length)
            case c.Permute():
                value = oracle.permute(values[step.view], step.order)
            case c.Reshape():
                value = oracle.reshape(values[step.view], step.shape)
            case c.Reinterpret():
                places = offsets(placement(step.layout, shape=step.shape)) * (WIDTH[step.dtype] // 8)
                value = oracle.reinterpret(values[step.view], step.dtype, native(places))
            case c.Gather():
                value = oracle.gather(values[step.view], values[step.index], step.axis)
            case c.Scatter():
                oracle.scatter(values[step.view], values[step.source], values[step.index], step.axis)
            case c.Atomic():
                exchange = oracle.atomic(values[step.view], values[step.source], values[step.index], step.axis,
                                         step.op, _limit(step.mask))
                value = exchange.old
            case c.Barrier() | c.Dealloc():
                pass
        values.append(changed(number, value))
        exchanges.append(exchange)
    return tuple(outputs[k] for k in sorted(outputs)), exchanges


# -- what atomics return


def settle(case: Case, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Put every admissible result of atomics into the form that the references have.

    given: the outputs that hold returned values, in the order of `returned`, then all inputs. An output is admissible
    if every target's arrivals can be put in an order that explains what they returned; then it is replaced by what
    the row-major order returns, else left as it is, which then differs. Inactive elements become 0.
    """
    chain = chain_of(case)
    holders = returned(chain)
    inputs = [to_numpy(one) for one in given[len(holders):]]
    _, exchanges = _walk(chain, inputs, numpy_movement, lambda array: array)
    result = []
    for actual, number in zip(given, holders.values(), strict=False):
        exchange = exchanges[number]
        expected = np.ascontiguousarray(exchange.old)
        got = np.where(exchange.active.reshape(expected.shape), to_numpy(actual), np.zeros_like(expected))
        got = got.astype(expected.dtype)
        flat, wanted = got.reshape(-1), expected.reshape(-1)
        for target in np.unique(exchange.hits[exchange.active]):
            mine = np.flatnonzero((exchange.hits == target) & exchange.active)
            if len(mine) > 1 and explained(flat[mine], exchange.values[mine], exchange.before[mine[0]], exchange.op):
                flat[mine] = wanted[mine]
        result.append(to_torch(got, device=actual.device))
    return tuple(result)


def explained(old: Any, values: Any, before: Any, op: str) -> bool:
    """Whether arrivals with `values` at a target that held `before` may have returned `old` (arrays of one length).

    Every arrival leads from what it returned to what it left; an order exists if these edges form one path from
    `before` over all edges: every number is left as often as it is reached, but for the two ends, and all hang
    together.
    """
    left = numpy_movement.applied(old, values, op)
    edges = list(zip(old.tolist(), left.tolist(), strict=True))
    balance: dict[Any, int] = {}
    near: dict[Any, set[Any]] = {}
    for start, end in edges:
        balance[start] = balance.get(start, 0) + 1
        balance[end] = balance.get(end, 0) - 1
        near.setdefault(start, set()).add(end)
        near.setdefault(end, set()).add(start)
    first = before.item()
    if first not in near:
        return False
    ends = {number: surplus for number, surplus in balance.items() if surplus}
    if ends and (ends.get(first) != 1 or sorted(ends.values()) != [-1, 1]):
        return False
    reached, todo = {first}, [first]
    while todo:
        for other in near[todo.pop()] - reached:
            reached.add(other)
            todo.append(other)
    return len(reached) == len(near)
