"""Interpreter checks of minimum, maximum and their reductions (contract: helpers.md §5)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import (
    INF,
    INTEGERS,
    NAN,
    NUMPY,
    UNWRITTEN,
    along,
    boundary_floats,
    boundary_integers,
    pairs,
    run,
)
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels.drivers.elementwise import elementwise_binary, elementwise_pair_with_index, elementwise_scalar
from tridiff.kernels.drivers.reduce_rows import (
    reduce_rows,
    reduce_rows_looped,
    reduce_rows_looped_with_index,
    reduce_rows_with_index,
)
from tridiff.kernels.helpers import extrema
from tridiff.kernels.helpers.mutants_extrema import MUTANTS

LAST = 2**63 - 1
TILE = {"ROW_BLOCK": 4, "COL_BLOCK": 16}
FLOATS = ("fp16", "fp32", "fp64")
PAIR = {"minimum": np.minimum, "maximum": np.maximum}
FOLD = {"min2": np.min, "max2": np.max}
SEARCH = {"min_with_index": np.argmin, "max_with_index": np.argmax}

# The operands on which each broken variant differs from its helper, for the minimum; the maximum takes them in the
# other order where the comparison matters. (dtype, a, b).
PAIR_DIFFERENCES: dict[str, tuple[str, float, float]] = {
    "nan_in_a_dropped": ("fp32", NAN, 1.0), "nan_in_b_dropped": ("fp32", 1.0, NAN), "unsigned_compare": ("i32", -1, 1),
    "compared_in_fp32": ("i32", 2**24, 2**24 + 1), "direction_reversed": ("i32", 0, 1)}
# (value, index) pairs a and b, and the position (0 = a, 1 = b) of the index that the helper returns.
INDEX_DIFFERENCES: dict[str, tuple[float, int, float, int, int]] = {
    "tie_to_larger_index": (1.0, 0, 1.0, 1, 0), "tie_to_first": (1.0, 1, 1.0, 0, 1),
    "nans_not_equal": (NAN, 0, NAN, 1, 0), "nan_in_first_lost": (NAN, 0, 1.0, 1, 0),
    "index_of_loser": (1.0, 0, 1.0, 1, 0)}


def boundary_values(dtype: str) -> Any:
    """Boundary values of a dtype, as numpy stores it."""
    if dtype == "i1":
        return np.array([0, 1], np.int8)
    return boundary_floats(NUMPY[dtype]) if dtype in FLOATS else boundary_integers(NUMPY[dtype])


def worst(dtype: str, helper: str) -> Any:
    """The padding that loses every comparison of this helper."""
    highest = helper.startswith("min")
    if dtype in FLOATS:
        return INF if highest else -INF
    if dtype == "i1":
        return 1 if highest else 0
    info = np.iinfo(NUMPY[dtype])
    return int(info.max if highest else info.min)


def pair(helper: Any, a: Any, b: Any, *, boolean: bool = False) -> Any:
    outputs = {"out": np.full_like(a, UNWRITTEN)}
    return run(elementwise_binary, {"a": a, "b": b}, outputs, HELPER=helper, BOOL=boolean, **TILE)["out"]


def indexed_pair(helper: Any, a: Any, a_index: Any, b: Any, b_index: Any) -> tuple[Any, Any]:
    outputs = {"out": np.full_like(a, UNWRITTEN), "out_index": np.full_like(a_index, UNWRITTEN)}
    inputs = {"a": a, "a_index": a_index, "b": b, "b_index": b_index}
    result = run(elementwise_pair_with_index, inputs, outputs, HELPER=helper, **TILE)
    return result["out"], result["out_index"]


def fold(helper: Any, a: Any, *, padding: Any, axis: int = 1, boolean: bool = False, columns: int = 16) -> Any:
    kept, tile = along(axis, a.shape, length=columns)
    outputs = {"out": np.full(kept, UNWRITTEN, a.dtype)}
    return run(reduce_rows, {"a": a}, outputs, HELPER=helper, AXIS=axis, PADDING=padding, BOOL=boolean, **tile)["out"]


def search(helper: Any, a: Any, index: Any, *, padding: Any, axis: int = 1, columns: int = 16) -> tuple[Any, Any]:
    kept, tile = along(axis, a.shape, length=columns)
    values = {"HELPER": helper, "AXIS": axis, "PADDING": padding, "INDEX_PADDING": LAST, **tile}
    outputs = {"out": np.full(kept, UNWRITTEN, a.dtype), "out_index": np.full(kept, UNWRITTEN, index.dtype)}
    result = run(reduce_rows_with_index, {"a": a, "index": index}, outputs, **values)
    return result["out"], result["out_index"]


def check_pairs_of_every_type():
    for dtype in ("i1", *INTEGERS, *FLOATS):
        a, b = pairs(boundary_values(dtype))
        for name, reference in PAIR.items():
            out = pair(getattr(extrema, name), a, b, boolean=dtype == "i1")
            assert_array_equal(out, reference(a, b), err_msg=f"{name} {dtype}")


def check_bf16_pairs():
    """bf16 is compared as the number it is, though the interpreter holds a 16-bit pattern."""
    values = torch.tensor([NAN, INF, -INF, -2, 1, -1, 0, 1e-40, 3], dtype=torch.bfloat16)
    a, b = values[:, None].expand(9, 9).contiguous(), values[None, :].expand(9, 9).contiguous()
    for name in PAIR:
        out = torch.zeros(9, 9, dtype=torch.bfloat16)
        run(elementwise_binary, {"a": a, "b": b}, {"out": out}, HELPER=getattr(extrema, name), **TILE)
        assert torch.equal(out.nan_to_num(7.0), getattr(torch, name)(a, b).nan_to_num(7.0)), name


def check_ties_return_b():
    zeros = np.array([[0, -0.0]], np.float32)
    for name in PAIR:
        assert_array_equal(np.signbit(pair(getattr(extrema, name), zeros, -zeros)), [[True, False]])


def check_relu_passes_nan_and_minus_zero():
    """maximum(0, x) with an integer literal, as a relu is emitted."""
    x = np.array([[NAN, -0.0, -1.5, 2.5, -INF, INF]], np.float32)
    scalar = {"b": 0, "B": 0, "SCALAR_FIRST": True, "HELPER": extrema.maximum, **TILE}
    out = run(elementwise_scalar, {"a": x}, {"out": np.full_like(x, UNWRITTEN)}, **scalar)["out"]
    assert_array_equal(out, [[NAN, 0.0, 0.0, 2.5, 0.0, INF]])
    assert np.signbit(out[0, 1])


def check_reductions_of_every_type():
    generator = np.random.default_rng(11)
    for dtype in ("i1", *INTEGERS, *FLOATS):
        a = generator.choice(boundary_values(dtype), (4, 7))
        for name, reference in FOLD.items():
            for axis in (0, 1) if dtype == "fp32" else (1,):
                helper, padding = getattr(extrema, name), worst(dtype, name)
                out = fold(helper, a, padding=padding, axis=axis, boolean=dtype == "i1", columns=8)
                assert_array_equal(out, reference(a, axis=axis, keepdims=True), err_msg=f"{name} {dtype}")


def check_searches_of_every_type():
    """Equal values are common, and so are values equal to the padding: the first index must come back."""
    generator = np.random.default_rng(12)
    for dtype in (*INTEGERS, *FLOATS):
        a = generator.choice(boundary_values(dtype), (4, 7))
        for name, reference in SEARCH.items():
            for axis in (0, 1) if dtype == "fp32" else (1,):
                helper, index = getattr(extrema, name), np.ascontiguousarray(np.indices(a.shape)[axis])
                value, best = search(helper, a, index, padding=worst(dtype, name), axis=axis, columns=8)
                expected = reference(a, axis=axis, keepdims=True)
                assert_array_equal(best, expected, err_msg=f"{name} {dtype}")
                assert_array_equal(value, np.take_along_axis(a, expected, axis))


def check_permuted_indices_break_ties_by_index():
    a = np.array([[2, 1, 1, NAN], [5, 5, 5, 5]], np.float32)
    index = np.array([[0, 9, 3, 1], [7, 2, 8, 4]], np.int32)
    _, best = search(extrema.min_with_index, a[:, :3].copy(), index[:, :3].copy(), padding=INF)
    assert best.tolist() == [[3], [2]]
    value, best = search(extrema.max_with_index, a, index, padding=-INF)
    assert best.tolist() == [[1], [2]] and np.isnan(value[0, 0])


def check_pair_order_is_associative_and_commutative():
    values = np.array([NAN, 0, -0.0, 1, -INF, INF], np.float32)
    a, b = pairs(values)
    index = np.arange(36, dtype=np.int64).reshape(6, 6)
    for name in ("minimum_with_index", "maximum_with_index"):
        helper = getattr(extrema, name)
        forward, backward = indexed_pair(helper, a, index, b, index + 50), indexed_pair(helper, b, index + 50, a, index)
        assert_array_equal(forward[1], backward[1])
        c = np.roll(a, 1, axis=0)
        left = indexed_pair(helper, *forward, c, index - 50)
        right = indexed_pair(helper, a, index, *indexed_pair(helper, b, index + 50, c, index - 50))
        assert_array_equal(left[1], right[1])


def check_looped_reduction_keeps_a_nan_in_the_accumulator():
    a = np.arange(40, dtype=np.float32).reshape(1, 40).repeat(2, 0)
    a[0, 3] = NAN
    index = np.arange(40).reshape(1, 40).repeat(2, 0)
    outputs = {"out": np.zeros((2, 1), np.float32), "out_index": np.zeros((2, 1), np.int64)}
    with repaired():  # loops with a run-time bound do not run in the bare interpreter of 3.6.0
        fold_with = {"HELPER": extrema.min2, "COMBINE": extrema.minimum, "PADDING": INF, **TILE}
        out = run(reduce_rows_looped, {"a": a}, {"out": outputs["out"]}, **fold_with)["out"]
        assert_array_equal(out, [[NAN], [0.0]])
        search_with = {"HELPER": extrema.min_with_index, "COMBINE": extrema.minimum_with_index, "INDEX_PADDING": LAST}
        inputs = {"a": a, "index": index}
        result = run(reduce_rows_looped_with_index, inputs, outputs, **{**fold_with, **search_with})
        assert result["out_index"].tolist() == [[3], [0]]


def stated_operands(helper: str, fault: str) -> tuple[str, float, float]:
    """dtype, a and b on which the variant is wrong; the helper returns a, but b for nan_in_b_dropped."""
    dtype, a, b = PAIR_DIFFERENCES[fault]
    reverse = helper.startswith("max") and fault in ("unsigned_compare", "compared_in_fp32", "direction_reversed")
    return (dtype, b, a) if reverse else (dtype, a, b)


def check_pair_mutants_differ_as_stated():
    for helper in ("minimum", "maximum", "min2", "max2"):
        assert set(MUTANTS[helper]) == set(PAIR_DIFFERENCES)
        for fault in PAIR_DIFFERENCES:
            dtype, a, b = stated_operands(helper, fault)
            right, wrong = (b, a) if fault == "nan_in_b_dropped" else (a, b)
            left, other = np.array([[a]], NUMPY[dtype]), np.array([[b]], NUMPY[dtype])
            outcomes = []
            for function in (getattr(extrema, helper), MUTANTS[helper][fault]):
                if helper.endswith("2"):
                    outcomes.append(fold(function, np.hstack([left, other]), padding=0, columns=2))
                else:
                    outcomes.append(pair(function, left, other))
            assert_array_equal(outcomes, np.array([[[right]], [[wrong]]]), err_msg=f"{helper} {fault}")


def outcomes_with_index(helper: str, fault: str) -> Sequence[int]:
    """The index that the helper, then the variant returns on the stated pairs."""
    a, a_index, b, b_index, _ = INDEX_DIFFERENCES[fault]
    values = [np.array([[value]], np.float32) for value in (a, b)]
    indices = [np.array([[index]], np.int64) for index in (a_index, b_index)]
    found = []
    for function in (getattr(extrema, helper), MUTANTS[helper][fault]):
        if helper.endswith("imum_with_index"):
            _, index = indexed_pair(function, values[0], indices[0], values[1], indices[1])
        else:
            _, index = search(function, np.hstack(values), np.hstack(indices), padding=0, columns=2)
        found.append(int(index[0, 0]))
    return found


def check_index_mutants_differ_as_stated():
    for helper in ("minimum_with_index", "maximum_with_index", "min_with_index", "max_with_index"):
        assert set(MUTANTS[helper]) == set(INDEX_DIFFERENCES)
        for fault, (_, a_index, _, b_index, position) in INDEX_DIFFERENCES.items():
            right = (a_index, b_index)[position]
            wrong = (b_index, a_index)[position]
            assert outcomes_with_index(helper, fault) == [right, wrong], (helper, fault)
