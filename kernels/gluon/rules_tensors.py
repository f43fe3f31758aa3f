"""Rules of the steps that work on tensors in registers."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import UNSET

from tridiff.kernels.gluon.chain import Combine, Convert, Fp4, Load, Out, Ramp, Reduce, Regroup, Scan, Take, Transpose
from tridiff.kernels.gluon.layouts import Blocked, Slice, untransposed
from tridiff.kernels.gluon.ownership import holding
from tridiff.kernels.gluon.values import (
    EXACT,
    WIDTH,
    Integers,
    State,
    Tensor,
    Type,
    axis_of,
    bounded,
    hull,
    indices,
    input_array,
    new_tensor,
    order_of,
    output_array,
    require,
    settled,
    tensor,
)


def _load(state: State, step: Load) -> Type:
    array = input_array(state, step.array)
    require(bool(array.shape), "a load takes an array with axes")
    order = order_of(step.order, len(array.shape))
    shape = tuple(array.shape[k] for k in order)
    between = None if array.between is UNSET else array.between
    if step.mask is not UNSET:
        axis_of(step.mask.axis, shape)
        if array.dtype.startswith("u"):
            require(step.other >= 0, "other is negative, the array unsigned")
        if between:
            between = (min(between[0], step.other), max(between[1], step.other))
    else:
        require(step.other == 0, "other without a mask")
    if step.pointers is not UNSET:
        new_tensor(state, "i64", shape, step.pointers)
    return new_tensor(state, array.dtype, shape, step.layout, between=between)


def _ramp(state: State, step: Ramp) -> Type:
    require(len(step.strides) == len(step.shape), "a ramp has one stride per axis")
    require(step.dtype in ("i8", "i16", "i32", "i64", "u32"), "a ramp is a signed integer or u32")
    values = ramp_values(step)
    low, high = int(values.min()), int(values.max())
    bits = WIDTH[step.dtype]
    fits = 0 <= low and high < 1 << 32 if step.dtype == "u32" else -(1 << bits - 1) <= low and high < 1 << bits - 1
    require(fits, f"a ramp up to {high} in {step.dtype}")
    return new_tensor(state, step.dtype, step.shape, step.layout, between=(low, high), known=values)


def ramp_values(step: Ramp) -> Integers:
    """The values of a ramp."""
    values = np.full(step.shape, step.start, np.int64)
    for axis, stride in enumerate(step.strides):
        line = np.arange(step.shape[axis], dtype=np.int64) * stride
        values = values + line.reshape([-1 if k == axis else 1 for k in range(len(step.shape))])
    return (values ^ step.flip) & step.mask


def _convert(state: State, step: Convert) -> Type:
    source = tensor(state, step.source)
    require(bool(source.shape), "a scalar has no layout")
    made = new_tensor(state, source.dtype, source.shape, step.layout)
    return replace(source, layout=made.layout)


def _transpose(state: State, step: Transpose) -> Type:
    source = settled(state, step.source)
    order = order_of(step.order, len(source.shape))
    require(bool(order), "a scalar has no axes")
    made = new_tensor(state, source.dtype, tuple(source.shape[k] for k in order), step.layout)
    return replace(made, between=source.between, known=None if source.known is None else source.known.transpose(order))


def _regroup(state: State, step: Regroup) -> Type:
    source = settled(state, step.source)
    require(bool(source.shape), "a scalar has no axes")
    require(math.prod(step.shape) == math.prod(source.shape), f"{source.shape} regrouped to {step.shape}")
    made = new_tensor(state, source.dtype, step.shape, step.layout)
    return replace(made, between=source.between, known=None if source.known is None else
                   source.known.reshape(step.shape))


def _fp4(state: State, step: Fp4) -> Type:
    source = settled(state, step.source)
    require(source.dtype in ("i8", "u8"), f"fp4 numbers lie in bytes, not {source.dtype}")
    axis = axis_of(step.axis, source.shape)
    held = holding(source.held, shape=source.shape)
    require(held is not None and held.registers >= 4, "fewer than four bytes per thread are not decoded")
    if isinstance(source.layout, Blocked):
        fits = all(n <= extent for n, extent in zip(source.layout.size_per_thread, source.shape, strict=True))
        require(fits, "a thread's part of a layout that is larger than the tensor is not decoded")
    shape = tuple(2 * n if k == axis else n for k, n in enumerate(source.shape))
    return new_tensor(state, step.dtype, shape, step.layout)


def _combine(state: State, step: Combine) -> Type:
    left, right = settled(state, step.left), settled(state, step.right)
    require((left.dtype, left.shape, left.layout) == (right.dtype, right.shape, right.layout),
             "operands of different types or layouts")
    require(bool(left.shape), "scalars are not combined")
    require(left.dtype != "i1" or step.op in ("xor", "and", "or"), f"{step.op} of booleans")
    between = bounded(left.dtype, step.op, hull(step.op, left.between, right.between))
    return Tensor(left.dtype, left.shape, left.layout, between=between)


def _foldable(source: Tensor, op: str, axis: int) -> tuple[int, int] | None:
    require(source.dtype in ("i32", "i64", "u32", "u64", "i16", "i8", "u8", "u16", *EXACT), f"a fold of {source.dtype}")
    size = source.shape[axis_of(axis, source.shape)]
    return bounded(source.dtype, op, hull(op, source.between, source.between, size))


def _reduce(state: State, step: Reduce) -> Type:
    source = settled(state, step.source)
    between = _foldable(source, step.op, step.axis)
    shape = tuple(n for k, n in enumerate(source.shape) if k != step.axis)
    layout = Slice(step.axis, source.held) if shape else None
    return Tensor(source.dtype, shape, layout, between=between)


def _scan(state: State, step: Scan) -> Type:
    source = settled(state, step.source)
    require(isinstance(source.layout, Blocked), "the compiler scans blocked layouts only")
    between = _foldable(source, step.op, step.axis)
    return Tensor(source.dtype, source.shape, source.layout, between=between)


def _take(state: State, step: Take) -> Type:
    source, index = settled(state, step.source), settled(state, step.index)
    require(len(source.shape) == len(index.shape), "index and source differ in rank")
    axis = axis_of(step.axis, source.shape)
    require(all(m == n for k, (m, n) in enumerate(zip(source.shape, index.shape, strict=True)) if k != axis),
             "index and source differ beside the axis")
    require(source.dtype != "i1", "a gather of booleans")
    indices(index, source.shape[axis])
    return new_tensor(state, source.dtype, index.shape, index.held, between=source.between)


def _out(state: State, step: Out) -> Type:
    source = tensor(state, step.source)
    shape = untransposed(source.shape, order_of(step.order, len(source.shape)))
    output_array(state, step.array, source.dtype, shape or (1,))
    require(source.settled or not step.order, "what atomics return is stored in its own order")
    return None


RULES: dict[type, Callable[[State, Any], Type]] = {
    Load: _load, Ramp: _ramp, Convert: _convert, Transpose: _transpose, Regroup: _regroup, Fp4: _fp4,
    Combine: _combine, Reduce: _reduce, Scan: _scan, Take: _take, Out: _out,
}
