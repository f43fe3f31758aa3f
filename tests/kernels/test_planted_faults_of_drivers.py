"""The FAULT argument of the search, sort, look-back, barrier and random drivers does what it names."""

from collections.abc import Mapping
from typing import Any

import pytest
import triton.language as tl

from tests.kernels.driver_runs import compile_ahead
from tests.kernels.errors import error_of
from tridiff.kernels.drivers import lookback_scan as scans
from tridiff.kernels.drivers.bucketize import bucketize
from tridiff.kernels.drivers.grid_barrier import grid_barrier
from tridiff.kernels.drivers.random import random_integer, random_real
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.drivers.sort_rows import sort_rows
from tridiff.kernels.helpers import lookback
from tridiff.kernels.helpers.bucketize import bucketize_binary_search
from tridiff.kernels.helpers.grid_barrier import x_grid_barrier
from tridiff.kernels.helpers.random import rand, randint64
from tridiff.kernels.helpers.sorting import sort_with_index

each = pytest.mark.parametrize
BLOCKS = {"ROW_BLOCK": 2, "COL_BLOCK": 8}
SCAN = {"COMBINE": scans.add, "INDEX_DTYPE": tl.int64}
CASES: dict[str, tuple[Driver, str, Mapping[str, str], Mapping[str, Any]]] = {
    "bucketize": (bucketize, "fp32", {"boundary_row": "i64", "out": "i64"}, {
        "HELPER": bucketize_binary_search, "INDEX_DTYPE": tl.int64, "RIGHT": False, "sorter_ptr": None, **BLOCKS}),
    "sort_rows": (sort_rows, "fp32", {"out_index": "i32"}, {
        "HELPER": sort_with_index, "INDEX_DTYPE": tl.int32, "STABLE": True, "DESCENDING": False, "VALIDITY": True,
        "PADDING": 0, **BLOCKS}),
    "lookback_scan": (scans.lookback_scan, "fp32", {"scratch": "u64"}, {
        "HELPER": lookback.exclusive_scan_decoupled_lookback, "VALUE_AS_UINT": tl.uint32, "PACK": tl.uint64, **SCAN}),
    "lookback_scan_64": (scans.lookback_scan_64, "fp64", {"scratch": "u64"}, {
        "HELPER": lookback.exclusive_scan_decoupled_lookback_64, **SCAN}),
    "grid_barrier": (grid_barrier, "i32", {"sem": "u32"}, {"HELPER": x_grid_barrier, "PROGRAM_BLOCK": 8}),
    "random_integer": (random_integer, "i64", {}, {"HELPER": randint64, "COL_BLOCK": 8}),
    "random_real": (random_real, "fp32", {"seed": "i64", "offset": "i32"}, {"HELPER": rand, "COL_BLOCK": 8})}


def build(name: str, fault: str, *, debug: bool = False) -> str:
    driver, dtype, pointers, constexprs = CASES[name]
    values, options = {**constexprs, "FAULT": fault}, {"debug": debug}
    return str(compile_ahead(driver, dtype, pointers=pointers, constexprs=values, options=options).asm["ptx"])


def instructions(ptx: str) -> list[str]:
    """The lines that are not about source locations."""
    return [line for line in ptx.splitlines() if line.startswith("\t") and not line.startswith("\t.")]


@each("name", CASES)
def test_compile_error_does_not_compile(name: str):
    assert "planted_undefined_name" in error_of(lambda: build(name, "compile_error"))


@each("name", CASES)
def test_runtime_error_asserts_when_assertions_are_on(name: str):
    assert "planted runtime error" not in build(name, "", debug=True)
    assert instructions(build(name, "runtime_error")) == instructions(build(name, ""))
    assert "__assertfail" in build(name, "runtime_error", debug=True)


@each("name", CASES)
def test_wrong_value_changes_the_code(name: str):
    assert instructions(build(name, "wrong_value")) != instructions(build(name, ""))
