"""sort_with_index, compiled for sm_90."""

from typing import Any

import pytest
import triton
import triton.language as tl

from tests.kernels.driver_runs import compile_ahead
from tests.kernels.errors import error_of
from tridiff.kernels.drivers.sort_rows import sort_rows
from tridiff.kernels.helpers.mutants_sorting import MUTANTS
from tridiff.kernels.helpers.sorting import sort_with_index

each = pytest.mark.parametrize
INDEX = {"i16": tl.int16, "i32": tl.int32, "i64": tl.int64}


@triton.jit
def sort_first_axis(x, idxs, rnumel, dim: tl.constexpr, stable: tl.constexpr, descending: tl.constexpr):
    """Asks for an axis that is not the last."""
    return sort_with_index(x, idxs, rnumel, 0, stable, descending)


def build(dtype: str, *, index: str = "i32", helper: Any = sort_with_index, **changes: Any) -> Any:
    constexprs = {
        "HELPER": helper, "INDEX_DTYPE": INDEX[index], "STABLE": True, "DESCENDING": False, "VALIDITY": True,
        "PADDING": 0, "ROW_BLOCK": 4, "COL_BLOCK": 16, "BOOL": dtype == "i1", **changes}
    stored = "i8" if dtype == "i1" else dtype
    return compile_ahead(sort_rows, stored, pointers={"out_index": index}, constexprs=constexprs).asm


@each("index", ["i16", "i64"])
@each("dtype", ["i1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64"])
def test_compiles_for_every_key_and_index_dtype(dtype: str, index: str):
    stages = build(dtype, index=index, DESCENDING=True)
    # A 16-bit index is still 16 bits wide when it is stored: nothing has widened it on the way.
    assert f"tensor<4x16x!tt.ptr<{index}>" in stages["ttir"]
    if index == "i16":
        assert "arith.trunci" not in stages["ttir"].split("tt.join")[-1]


@each("length", [1, 2, 128])
@each("stable", [False, True])
def test_compiles_for_short_and_long_rows_without_validity(length: int, stable: bool):
    assert build("fp32", COL_BLOCK=length, STABLE=stable, VALIDITY=False)["ptx"]


def test_other_axes_are_refused():
    message = error_of(lambda: build("fp32", helper=sort_first_axis))
    assert "sorts only the last axis" in message


@each("name", sorted(MUTANTS["sort_with_index"]))
def test_mutants_compile(name: str):
    assert build("fp32", helper=MUTANTS["sort_with_index"][name], COL_BLOCK=8)["ptx"]
