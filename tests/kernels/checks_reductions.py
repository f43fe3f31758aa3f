"""Interpreter checks of prod and any (contract: helpers.md §6)."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import INF, INTEGERS, NAN, NUMPY, UNWRITTEN, along, boundary_integers, run
from tridiff.kernels.drivers.reduce_rows import reduce_rows
from tridiff.kernels.helpers import reductions
from tridiff.kernels.helpers.mutants_reductions import MUTANTS

# The row on which each broken variant differs from its helper: (dtype, row, right, wrong); the row fills its block.
DIFFERENCES: dict[tuple[str, str], tuple[str, list[float], float, float]] = {
    ("prod", "sum_for_product"): ("i32", [2, 3], 6, 5), ("prod", "zero_ignored"): ("i32", [0, 3], 0, 3),
    ("prod", "sign_lost"): ("i32", [-2, 3], -6, 6), ("prod", "in_fp32"): ("i32", [4097, 4097], 4097**2, 4097**2 - 1),
    ("prod", "last_lane_ignored"): ("i32", [2, 3], 6, 2), ("any", "all_for_any"): ("i1", [1, 0], 1, 0),
    ("any", "parity_for_any"): ("i1", [1, 1], 1, 0), ("any", "truth_value"): ("i32", [2, 4], 6, 1),
    ("any", "last_lane_ignored"): ("i1", [0, 1], 1, 0), ("any", "inverted"): ("i1", [0, 0], 0, 1)}


def reduced(helper: Any, a: Any, *, padding: Any, axis: int = 1, boolean: bool = False, length: int = 8) -> Any:
    kept, tile = along(axis, a.shape, length=length)
    outputs = {"out": np.full(kept, UNWRITTEN, a.dtype)}
    return run(reduce_rows, {"a": a}, outputs, HELPER=helper, AXIS=axis, PADDING=padding, BOOL=boolean, **tile)["out"]


def check_integer_products_wrap_in_their_own_type():
    generator = np.random.default_rng(21)
    for dtype in INTEGERS:
        a = generator.choice(boundary_integers(NUMPY[dtype]), (3, 5))
        with np.errstate(over="ignore"):
            expected = np.multiply.reduce(a, axis=1, keepdims=True, dtype=a.dtype)
        assert_array_equal(reduced(reductions.prod, a, padding=1), expected, err_msg=dtype)


def check_int8_product_stays_int8():
    assert reduced(reductions.prod, np.array([[100, 2]], np.int8), padding=1, length=2).tolist() == [[-56]]


def check_float_products_with_special_values():
    """Powers of two, so that the association does not matter."""
    rows = [[2, 0.5, -4], [0, INF, 1], [NAN, 2, 0], [-INF, 2, -1], [-0.0, 2, 1]]
    for dtype in (np.float16, np.float32, np.float64):
        a = np.array(rows, dtype)
        out = reduced(reductions.prod, a, padding=1.0)
        assert_array_equal(out, np.array([[-4.0], [NAN], [NAN], [INF], [0.0]], dtype))
        assert np.signbit(out[4, 0])


def check_products_down_the_columns():
    a = np.arange(1, 16, dtype=np.int64).reshape(5, 3)
    assert_array_equal(reduced(reductions.prod, a, padding=1, axis=0), a.prod(0, keepdims=True))


def check_length_one_is_the_identity():
    assert reduced(reductions.prod, np.array([[-3]], np.int16), padding=1, length=1).tolist() == [[-3]]


def check_any_of_booleans():
    """All false; the single True in each position; all true."""
    a = np.vstack([np.zeros((1, 5)), np.eye(5), np.ones((1, 5))]).astype(np.int8)
    expected = a.max(axis=1, keepdims=True)
    assert_array_equal(reduced(reductions.any, a, padding=0, boolean=True), expected)
    assert_array_equal(reduced(reductions.any, a, padding=0, boolean=True, axis=0), np.ones((1, 5)))


def check_any_byte_but_zero_is_true():
    a = np.array([[0, 0, 2], [0, 0, 0], [-128, 0, 0]], np.int8)
    assert reduced(reductions.any, a, padding=0, boolean=True).tolist() == [[1], [0], [1]]


def check_any_of_integers_joins_bits():
    for dtype in INTEGERS:
        a = np.array([[2, 4, 0], [0, 0, 0], [1, 1, 8]], NUMPY[dtype])
        assert reduced(reductions.any, a, padding=0).tolist() == [[6], [0], [9]], dtype


def check_mutants_differ_as_stated():
    assert {(helper, fault) for helper, faults in MUTANTS.items() for fault in faults} == set(DIFFERENCES)
    for (helper, fault), (dtype, row, right, wrong) in DIFFERENCES.items():
        a = np.array([row], NUMPY[dtype])
        for function, expected in ((getattr(reductions, helper), right), (MUTANTS[helper][fault], wrong)):
            out = reduced(function, a, padding=0, boolean=dtype == "i1", length=2)
            assert out.tolist() == [[expected]], (helper, fault)
