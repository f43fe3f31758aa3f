"""Interpreter checks of select_one (contract: helpers.md §13). Everything is compared as bits."""

from typing import Any

import numpy as np
import torch

from tests.kernels.driver_runs import UNWRITTEN, along, run
from tridiff.kernels.drivers.select_rows import select_rows
from tridiff.kernels.helpers.mutants_select import MUTANTS
from tridiff.kernels.helpers.select import select_one
from tridiff.oracles.dtypes import NAMES, bits_dtype, torch_dtype

# The fp32 row and the position of its True on which each broken variant differs: (row, position, right, wrong).
DIFFERENCES: dict[str, tuple[list[float], int, float, float]] = {
    "first_lane": ([1, 2], 1, 2, 1), "mask_inverted": ([1, 2], 1, 2, 1),
    "last_lane_ignored": ([1, 2], 1, 2, 0), "sum_of_floats": ([-0.0, 1], 0, -0.0, 0),
    "top_bit_lost": ([-1, 2], 0, -1, 1), "low_half_only": ([1, 2], 0, 1, 0)}


def selected(
    helper: Any, patterns: Any, mask: Any, *, dtype: str, axis: int = 1, keep: bool = False, length: int = 8
) -> Any:
    """The bit patterns that helper picks; patterns: integers of the dtype's width."""
    stored = "i8" if dtype == "i1" else dtype
    kind, word = torch_dtype(stored), bits_dtype(stored)
    kept, tile = along(axis, patterns.shape, length=length)
    words, out = torch.from_numpy(patterns.astype(word)), torch.from_numpy(np.full(kept, UNWRITTEN, word))
    inputs = {"a": words.view(kind), "mask": mask.astype(np.int8)}
    values = {"AXIS": axis, "KEEP_DIMS": keep, "BOOL": dtype == "i1", **tile}
    run(select_rows, inputs, {"out": out.view(kind)}, HELPER=helper, **values)
    return out.numpy()


def check_every_type_and_position():
    """Random bit patterns, NaNs and subnormals among them, the True in every position, rows and columns."""
    generator = np.random.default_rng(51)
    mask = np.eye(5)
    for dtype in NAMES[1:]:
        word = bits_dtype(dtype)
        patterns = generator.integers(0, np.iinfo(word).max, (5, 5), word, endpoint=True)
        diagonal = np.diag(patterns)
        for axis in (0, 1):
            out = selected(select_one, patterns, mask, dtype=dtype, axis=axis, keep=axis == 0)
            np.testing.assert_array_equal(out.ravel(), diagonal, err_msg=f"{dtype} axis {axis}")


def check_booleans():
    values = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    mask = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert selected(select_one, values, mask, dtype="i1").tolist() == [[1], [0], [0]]


def check_payloads_zeros_and_subnormals_keep_their_bits():
    patterns = np.array([[0x7F800001, 0xFFC0BEEF, 0x80000000, 0x00000001]], np.uint32)
    for position in range(4):
        mask = np.eye(4)[position : position + 1]
        assert selected(select_one, patterns, mask, dtype="fp32").item() == patterns[0, position]


def check_no_true_gives_zero_bits():
    assert selected(select_one, np.full((2, 3), -1), np.zeros((2, 3)), dtype="fp64").tolist() == [[0], [0]]


def check_mutants_differ_as_stated():
    assert set(MUTANTS) == {"select_one"} and set(MUTANTS["select_one"]) == set(DIFFERENCES)
    for fault, (row, position, right, wrong) in DIFFERENCES.items():
        patterns = np.array([row], np.float32).view(np.uint32)
        mask = np.eye(2)[position : position + 1]
        for helper, expected in ((select_one, right), (MUTANTS["select_one"][fault], wrong)):
            out = selected(helper, patterns, mask, dtype="fp32", length=2)
            np.testing.assert_array_equal(out, np.array([[expected]], np.float32).view(np.uint32), err_msg=fault)
