"""Memory of values that are known within bounds: what was never written, what is stored, what is added atomically."""


import numpy as np

from tridiff.oracles.by_numpy import bounded_folds as folds
from tridiff.oracles.by_numpy.bounded import TINY, Real, Value, Whole, exact_real, whole
from tridiff.oracles.dtypes import Array, dtype as dtype_info, numpy_dtype


def from_memory(name: str, values: Array) -> Value:
    """What a buffer of a type holds."""
    if dtype_info(name).is_float:
        return exact_real(name, np.asarray(values).astype(np.float64))
    return whole(name, values)


def untouched(name: str, length: int) -> Value:
    """Memory that nobody wrote: every element open."""
    if dtype_info(name).is_float:
        return Real(name, np.zeros(length), np.full(length, np.inf))
    return Whole(name, np.zeros(length, dtype=numpy_dtype(name)), np.ones(length, dtype=bool))


def stored(held: Value, flat: Value, places: Array) -> Value:
    """`held` with one value per place stored into it, the last one where places meet."""
    if isinstance(held, Whole):
        assert isinstance(flat, Whole)
        values, unsure = held.value.copy(), np.array(held.open)
        values[places], unsure[places] = flat.value, flat.open
        return Whole(held.dtype, values, unsure)
    assert isinstance(flat, Real)
    values, error = held.value.copy(), np.array(held.error)
    values[places], error[places] = flat.value, flat.error
    return Real(held.dtype, values, error)


def added(held: Value, flat: Value, places: Array, sure: Array) -> Value:
    """An atomic_add of all points at once: order unknown, integers exact."""
    if not sure.all():
        return held.open_where(np.ones(held.shape, dtype=bool))
    if isinstance(held, Whole):
        assert isinstance(flat, Whole)
        total, unsure = held.value.copy(), np.array(held.open)
        np.add.at(total, places, flat.value)
        np.logical_or.at(unsure, places, flat.open)
        return Whole(held.dtype, total, unsure)
    assert isinstance(flat, Real)
    return _added_reals(held, flat, places)


def _added_reals(held: Real, flat: Real, places: Array) -> Real:
    # One row per cell: the cell's old value and what is added to it, padded by zeros that change nothing.
    order = np.argsort(places, kind="stable")
    cells, counts = np.unique(places, return_counts=True)
    if not cells.size:
        return held
    width = int(counts.max()) + 1
    value = np.full((cells.size, width), -0.0)
    error = np.zeros((cells.size, width))
    value[:, 0], error[:, 0] = held.value[cells], held.error[cells]
    row = np.repeat(np.arange(cells.size), counts)
    column = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    value[row, column], error[row, column] = flat.value[order], flat.error[order]
    if held.dtype == "fp32":
        error = error + _flushed(value, error, counts)
    summed = folds.reduce_sum(Real(held.dtype, value, error))
    total, blur = held.value.copy(), np.array(held.error)
    total[cells], blur[cells] = summed.value, summed.error
    return Real(held.dtype, total, blur)


def _flushed(value: Array, error: Array, counts: Array) -> Array:
    """How far flushing moves each summand of fp32 cells; value, error: (cells, 1 + additions), counts: (cells,).

    `atom` and `red` with .add.f32 on global memory flush subnormal operands and results to zero (PTX ISA, as both
    instructions are described; .f64 does not flush, .f16 and .bf16 say .noftz). An operand is moved by its size, a
    sum by less than the smallest normal number. No partial sum of multiples of that number is flushed.
    """
    normal = dtype_info("fp32").smallest_normal
    low = np.maximum(np.abs(value) - error, 0.0)
    operand = np.where((low < normal) & ((value != 0) | (error > TINY)), np.minimum(np.abs(value) + error, normal), 0.0)
    with np.errstate(invalid="ignore"):
        coarse = ((np.fmod(value, normal) == 0) & (error == 0) | ~np.isfinite(value)).all(axis=-1)
    operand[:, 0] += np.where(coarse, 0.0, counts * normal)
    return operand
