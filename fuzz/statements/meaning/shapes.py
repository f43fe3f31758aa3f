"""A library of oracles that computes nothing: what is left of a tensor is its shape. For runs that find out types."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
_TRUE = np.ones((), bool)


def _of(shape: Shape) -> Array:
    return np.broadcast_to(_TRUE, shape)


def constant(value: float, *, to: str) -> Array:
    return _of((1,))


def _together(operands: tuple[Any, ...]) -> Array:
    shapes = [one.shape[1:] for one in operands if isinstance(one, np.ndarray)]
    return _of((1, *np.broadcast_shapes(*shapes)))


def pointwise(op: str, computed: str, *operands: Any) -> Array:
    return _together(operands)


def pointwise_defined(op: str, computed: str, *operands: Any) -> Array:
    return _TRUE


def cast(x: Array, *, to: str) -> Array:
    return x


bitcast = cast


def cast_defined(x: Array, *, to: str) -> Array:
    return _TRUE


def where(condition: Array, x: Any, y: Any, *, computed: str) -> Array:
    return _together((condition, x, y))


def reshape(x: Array, *, shape: Shape) -> Array:
    return _of(x.shape[:1] + shape) if int(np.prod(shape)) == x.size else x.reshape(x.shape[:1] + shape)


def permute(x: Array, *, order: Shape) -> Array:
    return _of((1, *(x.shape[one + 1] for one in order)))


def broadcast(x: Array, *, shape: Shape) -> Array:
    lifted = (1,) * (len(shape) - x.ndim + 1) + x.shape[1:]
    return np.broadcast_to(_of((1, *lifted)), x.shape[:1] + shape)


def fold(x: Array, *, kind: str, axis: int | None, keep: bool) -> Array:
    """Axes that are folded are gone, or of length 1."""
    shape = x.shape[1:]
    if axis is None:
        return _of((1, *((1,) * len(shape) if keep else ())))
    place = axis % len(shape)
    return _of((1, *shape[:place], *((1,) if keep else ()), *shape[place + 1:]))


def rows_of(x: Any, rows: int, values: Any, *, to: str, shape: Shape) -> Array:
    return _of((rows, *shape))
