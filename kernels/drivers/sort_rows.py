"""Driver for sorting the rows of an array with their indices, and the exhaustive proof that the network
sorts.

One tile spans a whole row: COL_BLOCK is a power of two that reaches `cols`. Every row is an input of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from tridiff.kernels.drivers.elementwise import load_operand, store_result
from tridiff.kernels.drivers.record import Driver, Grid, cdiv
from tridiff.kernels.helpers.fault_hook import inject_fault

LONGEST_EXHAUSTIVE_ROW = 16


@triton.jit
def sort_rows_kernel(
    a_ptr, a_stride_row, a_stride_col, out_ptr, out_stride_row, out_stride_col,
    out_index_ptr, out_index_stride_row, out_index_stride_col, rows, cols, rnumel, HELPER: tl.constexpr,
    INDEX_DTYPE: tl.constexpr, STABLE: tl.constexpr, DESCENDING: tl.constexpr,
    VALIDITY: tl.constexpr, PADDING: tl.constexpr, ROW_BLOCK: tl.constexpr, COL_BLOCK: tl.constexpr,
    BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """out, out_index = HELPER(a, 0..COL_BLOCK-1, rnumel, None, STABLE, DESCENDING), the first `cols` of each
    row.

    VALIDITY: pass rnumel, so that elements from there on are padding; otherwise the helper gets None and all
    COL_BLOCK lanes take part. Lanes beyond `cols` hold PADDING. INDEX_DTYPE: the dtype of the indices the
    helper gets.
    """
    row = tl.program_id(0).to(tl.int64) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)[:, None]
    col = tl.arange(0, COL_BLOCK)[None, :]
    mask = (row < rows) & (col < cols)
    a = load_operand(a_ptr + row * a_stride_row + col * a_stride_col, mask, PADDING, BOOL)
    index = tl.broadcast_to(col, (ROW_BLOCK, COL_BLOCK)).to(INDEX_DTYPE)
    if VALIDITY:
        value, order = HELPER(a, index, rnumel, None, STABLE, DESCENDING)
    else:
        value, order = HELPER(a, index, None, None, STABLE, DESCENDING)
    value = inject_fault(value, a, a, mask, FAULT)
    store_result(out_ptr + row * out_stride_row + col * out_stride_col, value, mask)
    tl.store(out_index_ptr + row * out_index_stride_row + col * out_index_stride_col, order, mask=mask)


@triton.jit
def sort_types_kernel(
    a_ptr, facts_ptr, cols,
    HELPER: tl.constexpr, INDEX_DTYPE: tl.constexpr, STABLE: tl.constexpr, DESCENDING: tl.constexpr,
    BOOL: tl.constexpr, FAULT: tl.constexpr,
):
    """facts = (1 if the sorted keys have a's dtype, 1 if the indices have INDEX_DTYPE), as int32.

    A store converts silently, so memory cannot show a wrong result type; the compiler knows it.
    """
    lane = tl.arange(0, 2)[None, :]
    a = load_operand(a_ptr + lane * 0, (lane < cols) & (lane == 0), 0, BOOL)
    value, order = HELPER(a, lane.to(INDEX_DTYPE), None, None, STABLE, DESCENDING)
    keys_kept: tl.constexpr = 1 if value.dtype == a.dtype else 0
    indices_kept: tl.constexpr = 1 if order.dtype == INDEX_DTYPE else 0
    tl.store(facts_ptr, keys_kept)
    tl.store(facts_ptr + 1, indices_kept)


def whole_row_grid(sizes: Mapping[str, int]) -> Grid:
    """One program per ROW_BLOCK rows. Raises ValueError if a tile cannot span a row."""
    if sizes["COL_BLOCK"] < sizes["cols"]:
        raise ValueError(
            f"COL_BLOCK={sizes['COL_BLOCK']} is smaller than cols={sizes['cols']}: "
            "choose a power of two that reaches it"
        )
    return cdiv(sizes["rows"], sizes["ROW_BLOCK"]), 1, 1


sort_rows = Driver.of(sort_rows_kernel, "out", "out_index", grid=whole_row_grid)


sort_types = Driver.of(sort_types_kernel, "facts", grid=lambda sizes: (1, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroOneReport:
    """What `sort_all_zero_one_rows` saw: how many rows it sorted, and the inputs that came out wrong (at most
    8).

    Rows are strings of 0 and 1, position 0 first.
    """

    length: int
    descending: bool
    stable: bool
    rows: int
    wrong_rows: int
    examples: tuple[str, ...]


def zero_one_rows(length: int) -> NDArray[np.uint8]:
    """All 2^length rows of zeros and ones, [2^length, length] uint8; row k is k in binary, lowest bit first."""
    if not 1 <= length <= LONGEST_EXHAUSTIVE_ROW:
        raise ValueError(f"length is {length}: exhaustive rows have 1 to {LONGEST_EXHAUSTIVE_ROW} elements")
    number = np.arange(2**length, dtype=np.uint32)[:, None]
    return ((number >> np.arange(length, dtype=np.uint32)) & 1).astype(np.uint8)


def sort_all_zero_one_rows(
    *, length: int, helper: Any, descending: bool = False, stable: bool = False, device: str = "cpu"
) -> ZeroOneReport:
    """Sorts every row of `length` zeros and ones through `sort_rows` (contract: helpers.md §13, 0/1
    principle).

    A network of compare-and-swap elements whose wiring does not depend on the data sorts every input if and
    only if it sorts every input of zeros and ones (Knuth, vol. 3, §5.3.4). So a report without wrong rows
    proves the network for all inputs of this length. length: 1 to 16; one that is not a power of two is
    padded and proves the validity rule along with it. Checked besides the order: the indices are a
    permutation that names where each value came from and, if stable, they ascend within equal values.

    helper: `sort_with_index` or a stand-in. device: "cpu" needs TRITON_INTERPRET=1.
    """
    keys = zero_one_rows(length)
    rows = len(keys)
    block = 1 << (length - 1).bit_length()
    a = torch.from_numpy(keys.astype(np.int8)).to(device)
    out = torch.full_like(a, -1)
    out_index = torch.full(a.shape, -1, dtype=torch.int32, device=device)
    row_block = min(rows, 2**14)
    arguments = {
        "a_ptr": a, "a_stride_row": length, "a_stride_col": 1,
        "out_ptr": out, "out_stride_row": length, "out_stride_col": 1,
        "out_index_ptr": out_index, "out_index_stride_row": length, "out_index_stride_col": 1,
        "rows": rows, "cols": length, "rnumel": length,
        "HELPER": helper, "INDEX_DTYPE": tl.int32, "STABLE": stable, "DESCENDING": descending,
        "VALIDITY": block != length, "PADDING": 0,
        "ROW_BLOCK": row_block if device == "cpu" else min(row_block, 128), "COL_BLOCK": block,
        "BOOL": False, "FAULT": "",
    }
    sizes = {name: value for name, value in arguments.items() if isinstance(value, int)}
    sort_rows.kernel[sort_rows.grid(sizes)](**arguments)

    got = out.cpu().numpy()
    order = out_index.cpu().numpy()
    ones = keys.sum(axis=1, keepdims=True)
    position = np.arange(length)
    expected = (position < ones) if descending else (position >= length - ones)
    right = (got == expected).all(axis=1)
    right &= (np.sort(order, axis=1) == position).all(axis=1)
    right &= (np.take_along_axis(keys, order.clip(0, length - 1), axis=1) == got).all(axis=1)
    if stable:
        equal = got[:, 1:] == got[:, :-1]
        right &= (~equal | (order[:, 1:] > order[:, :-1])).all(axis=1)
    wrong = np.flatnonzero(~right)
    return ZeroOneReport(
        length=length, descending=descending, stable=stable, rows=rows, wrong_rows=len(wrong),
        examples=tuple("".join(map(str, keys[row])) for row in wrong[:8]),
    )
