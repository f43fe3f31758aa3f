"""Reductions, scans and functions mapped over elements: operations with a region that combines scalars.

The region is run on whole blocks where it has no branch, element by element otherwise.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import BlockCondition, NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation, Region
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import means

FOLDS = frozenset({"tt.reduce", "tt.scan", "tt.map_elementwise"})
"""Operations whose region gets elements, not the operands themselves."""


def _elementwise(machine: Any, region: Region, values: list[Array]) -> list[Array]:
    """The region's results over blocks of equal shapes."""
    shape = values[0].shape
    try:
        _, found = machine.region(region, values)
        return [np.broadcast_to(one, shape) for one in found]
    except BlockCondition:
        rows: list[tuple[Any, ...]] = []
        for place in np.ndindex(shape):
            rows.append(machine.region(region, [np.asarray(one[place]) for one in values])[1])
        return [np.array([row[number] for row in rows], dtype=np.asarray(rows[0][number]).dtype).reshape(shape)
                for number in range(len(rows[0]))]


def _results(found: Iterable[Array]) -> Any:
    """What an operation gives: its one result, or all of them."""
    together = tuple(found)
    return together[0] if len(together) == 1 else together


@means("tt.reduce")
def reduced(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """A tree: the first half of the axis with the second until one element is left."""
    axis = operation.number("axis")
    state = [np.moveaxis(one, axis, 0) for one in values]
    while len(state[0]) > 1:
        half = len(state[0]) // 2
        if len(state[0]) % 2:
            raise NotEvaluated("op tt.reduce over an odd number of elements")
        pairs = [one[:half] for one in state] + [one[half:] for one in state]
        state = _elementwise(machine, operation.regions[0], pairs)
    return _results(np.asarray(one[0]) for one in state)


@means("tt.scan")
def scanned(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """From the first element to the last, or from the last one where it is reversed; each element takes what lies 1, 2,
    4, ... places before it, as in a warp."""
    axis = operation.number("axis")
    turned = [np.moveaxis(one, axis, 0) for one in values]
    if operation.flag("reverse"):
        turned = [one[::-1] for one in turned]
    found, distance = tuple(turned), 1
    while distance < len(turned[0]):
        later = _elementwise(machine, operation.regions[0],
                             [one[:-distance] for one in found] + [one[distance:] for one in found])
        found = tuple(np.concatenate([one[:distance], more]) for one, more in zip(found, later, strict=True))
        distance *= 2
    if operation.flag("reverse"):
        found = tuple(one[::-1] for one in found)
    return _results(np.moveaxis(one, 0, axis) for one in found)


@means("tt.map_elementwise")
def mapped(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """As many elements at a time as are packed, in row-major order, which is one of those that a layout may give."""
    pack, shape = operation.number("pack", 1), np.shape(values[0])
    if np.size(values[0]) % pack:
        raise NotEvaluated("op tt.map_elementwise on fewer elements than it packs")
    given = [np.ascontiguousarray(one).reshape(-1, pack)[:, place] for one in values for place in range(pack)]
    found = _elementwise(machine, operation.regions[0], given)
    return _results(np.stack(found[start:start + pack], axis=-1).reshape(shape) for start in range(0, len(found), pack))
