"""bucketize_binary_search, compiled for sm_90."""

from collections.abc import Mapping
from typing import Any

import pytest
import triton.language as tl

from tests.kernels.driver_runs import compile_ahead
from tests.kernels.errors import error_of
from tridiff.kernels.drivers.bucketize import bucketize
from tridiff.kernels.helpers.bucketize import bucketize_binary_search
from tridiff.kernels.helpers.mutants_bucketize import MUTANTS

each = pytest.mark.parametrize


def build(dtype: str, *, index: tl.dtype = tl.int64, sorter: str | None = None, **changes: Any) -> Mapping[str, str]:
    """The text of every stage; sorter: its dtype, None for no sorter."""
    constexprs = {
        "HELPER": bucketize_binary_search, "INDEX_DTYPE": index, "RIGHT": False, "ROW_BLOCK": 2, "COL_BLOCK": 64,
        **({} if sorter else {"sorter_ptr": None}), **changes}
    pointers = {"boundary_row": "i64", "sorter": sorter or "", "out": f"i{index.int_bitwidth}"}
    return compile_ahead(bucketize, dtype, pointers=pointers, constexprs=constexprs).asm


@each("dtype", ["i8", "u8", "i16", "i32", "u32", "i64", "fp16", "bf16", "fp32", "fp64"])
def test_compiles_for_every_dtype_without_a_division(dtype: str):
    assert "arith.div" not in build(dtype)["ttir"]


@each("index", [tl.int32, tl.int64])
@each("sorter", ["i32", "i64"])
def test_compiles_with_sorter_and_either_index(index: tl.dtype, sorter: str):
    stages = build("fp32", index=index, sorter=sorter, RIGHT=True)
    assert f"tensor<2x64x!tt.ptr<{sorter}>>" in stages["ttir"]


@each("size", [0, 1, 7])
def test_compiles_for_literal_sizes(size: int):
    stages = build("fp32", boundaries_size=size, boundaries_numel=size, boundaries_stride_col=1)
    # With an empty row nothing is left to load: not even the values matter.
    assert stages["ttir"].count("tt.load") == (3 if size else 0)


def test_other_index_types_are_refused():
    message = error_of(lambda: build("fp32", index=tl.int16))
    assert "indexing_dtype must be int32 or int64" in message


@each("name", sorted(MUTANTS["bucketize_binary_search"]))
def test_mutants_compile(name: str):
    assert build("fp32", sorter="i64", HELPER=MUTANTS["bucketize_binary_search"][name])["ptx"]
