"""Interpreter checks of the drivers themselves."""

from typing import Any

import numpy as np
import torch
import triton.language as tl
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import INTEGERS, NUMPY, UNWRITTEN, run
from tests.kernels.errors import error_of
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels.drivers.elementwise import (
    elementwise_binary,
    elementwise_pair_with_index,
    elementwise_scalar,
    integer_ramp,
)
from tridiff.kernels.drivers.frexp import frexp as frexp_driver
from tridiff.kernels.drivers.ramp_gather import ramp_gather
from tridiff.kernels.drivers.reduce_rows import reduce_rows, reduce_rows_with_index, reduction_grid
from tridiff.kernels.drivers.select_rows import select_rows
from tridiff.kernels.drivers.vector_add import vector_add
from tridiff.kernels.drivers.welford import welford_pairs, welford_rows, welford_states
from tridiff.kernels.helpers import bits, extrema, integer, reductions, select, welford

TILE = {"ROW_BLOCK": 2, "COL_BLOCK": 4}


def minimum(a: Any, *, fault: str, boolean: bool = False, b: Any = None) -> Any:
    inputs, outputs = {"a": a, "b": a if b is None else b}, {"out": np.full_like(a, UNWRITTEN)}
    values = {**TILE, "BOOL": boolean, "FAULT": fault}
    return run(elementwise_binary, inputs, outputs, HELPER=extrema.minimum, **values)["out"]


def added(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, *, cols: int, offsets: tuple[int, int, int]) -> None:
    names = ("a_offset", "b_offset", "out_offset")
    run(vector_add, {"a": a, "b": b}, {"out": out}, cols=cols, BLOCK=16, **dict(zip(names, offsets, strict=True)))


def check_vector_add_with_tails_strides_and_offsets():
    for cols in (0, 1, 15, 16, 17, 40):
        a, b = torch.arange(100.0), torch.arange(100.0) * 3
        out = torch.full((100,), float(UNWRITTEN))
        if cols:
            added(a[::2], b[:1].expand(40), out, cols=cols, offsets=(3, 5, 7))
        expected = torch.full((100,), float(UNWRITTEN))
        expected[7 : 7 + cols] = a[3 : 3 + 2 * cols : 2] + 15.0
        assert torch.equal(out, expected), cols


def check_wrong_value_is_off_by_one_in_every_type():
    for dtype in (*INTEGERS, "fp16", "fp32", "fp64"):
        a = np.array([[0, 1, 5]], NUMPY[dtype])
        assert minimum(a, fault="wrong_value").tolist() == [[1, 2, 6]], dtype
    assert minimum(np.array([[0, 1]], np.int8), fault="wrong_value", boolean=True).tolist() == [[1, 0]]


def check_runtime_error_spares_zeros():
    with repaired():
        zeros = np.zeros((3, 5), np.float32)
        assert minimum(zeros, fault="runtime_error").tolist() == zeros.tolist()
        for position in (0, 14):
            a = zeros.copy()
            a.flat[position] = 1.0
            error = error_of(lambda a=a: minimum(zeros, fault="runtime_error", b=a))
            assert error.startswith("DeviceAssertFailed") and "planted runtime error" in error


def check_compile_error_is_a_name_error_and_unknown_faults_are_refused():
    for fault, message in (("compile_error", "planted_undefined_name"), ("typo", "FAULT is")):
        assert message in error_of(lambda fault=fault: minimum(np.zeros((1, 1), np.float32), fault=fault))


def check_too_small_tiles_are_refused():
    for axis, sizes in ((1, {"rows": 9, "cols": 5}), (0, {"rows": 5, "cols": 9})):
        tile = {"AXIS": axis, "ROW_BLOCK": 4, "COL_BLOCK": 4, **sizes}
        assert "ValueError: " in (error := error_of(lambda tile=tile: reduction_grid(tile)))
        assert "choose a power of two" in error
    assert reduction_grid({"AXIS": 1, "ROW_BLOCK": 4, "COL_BLOCK": 8, "rows": 9, "cols": 5}) == (3, 1, 1)


def check_nothing_undefined_is_used():
    """Every driver with its helper and ragged tiles, lanes without a defined value being followed: none may reach a
    result, an address, a mask or an assertion, and no block may be used as a truth value."""
    a = np.arange(1, 22, dtype=np.float32).reshape(3, 7)
    n = np.arange(-10, 11, dtype=np.int32).reshape(3, 7)
    index = np.arange(21, dtype=np.int64).reshape(3, 7)
    mask = (np.arange(7)[None, :] == np.array([[0], [6], [3]])).astype(np.int8)
    whole = {**TILE, "COL_BLOCK": 8}
    column = {"out": np.zeros((3, 1), np.float32)}
    indexed = {**column, "out_index": np.zeros((3, 1), np.int64)}
    state = {name: np.zeros((3, 1), np.float32) for name in ("mean", "m2", "weight")}
    with repaired():
        for helper in (integer.div_floor_integer, integer.remainder_integer):
            run(elementwise_binary, {"a": n, "b": n[::-1].copy()}, {"out": n.copy()}, HELPER=helper, **TILE)
            scalar = {"b": 5, "B": None, "SCALAR_FIRST": False, "HELPER": helper}
            run(elementwise_scalar, {"a": n}, {"out": n.copy()}, **scalar, **TILE)
            ramp = {"start": 0, "divisor": 16, "count": 21, "BLOCK": 16, "START": -16, "DIVISOR": None}
            run(integer_ramp, {"divisor": None}, {"out": n.copy()}, HELPER=helper, DTYPE=INTEGERS["i32"], **ramp)
            table = np.arange(64, dtype=np.int32)
            run(ramp_gather, {"table": table}, {"out": n.copy()}, HELPER=helper, origin=32, **ramp)
        pair = {"a": a, "a_index": index, "b": a, "b_index": index + 1}
        paired = {"out": a.copy(), "out_index": index.copy()}
        result = run(elementwise_pair_with_index, pair, paired, HELPER=extrema.maximum_with_index, **TILE)
        assert_array_equal(result["out_index"], index)
        reduced = {"AXIS": 1, "PADDING": -np.inf, "HELPER": extrema.max2}
        assert_array_equal(run(reduce_rows, {"a": a}, column, **reduced, **whole)["out"], a[:, -1:])
        product = {"AXIS": 1, "PADDING": 1, "HELPER": reductions.prod}
        out = run(reduce_rows, {"a": a}, column, **product, **whole)["out"]
        assert_array_equal(out, a.prod(1, keepdims=True))
        searched = {"AXIS": 1, "PADDING": -np.inf, "INDEX_PADDING": 2**62, "HELPER": extrema.max_with_index}
        best = run(reduce_rows_with_index, {"a": a, "index": index}, indexed, **searched, **whole)["out_index"]
        assert best.ravel().tolist() == [6, 13, 20]
        picked = {"AXIS": 1, "KEEP_DIMS": False, "HELPER": select.select_one}
        chosen = run(select_rows, {"a": a, "mask": mask}, column, **picked, **whole)["out"]
        assert_array_equal(chosen, a[mask != 0][:, None])
        frexp_out = {"mantissa": a.copy(), "exponent": n.copy()}
        parts = run(frexp_driver, {"a": a}, frexp_out, HELPER=bits.frexp, **TILE)
        assert_array_equal(np.ldexp(parts["mantissa"], parts["exponent"]), a)
        rows = {"HELPER": welford.welford_reduce, "MERGE": welford.welford, "ACCUMULATOR": tl.float32, "PEELED": False}
        mean = run(welford_rows, {"a": a}, state, **rows, **TILE)["mean"]
        np.testing.assert_allclose(mean, a.mean(1, keepdims=True))
        ones = np.ones_like(a)
        sets = {"a_mean": a, "a_m2": ones, "a_weight": ones}
        merged = {**whole, "AXIS": 1, "HELPER": welford.welford}
        np.testing.assert_allclose(run(welford_states, sets, state, **merged)["mean"], a.mean(1, keepdims=True))
        both = {**sets, "b_mean": a, "b_m2": ones, "b_weight": ones}
        full = {name: a.copy() for name in ("mean", "m2", "weight")}
        mean = run(welford_pairs, both, full, HELPER=welford.welford_combine, **TILE)["mean"]
        assert_array_equal(mean, a)
