"""Rows whose elements change places by exclusive or (contract: ttg_ops.md §3, global_scratch_alloc)."""

from typing import Any

import numpy as np
import numpy.typing as npt


def exchanged(rows: npt.NDArray[Any], *, flip: int) -> npt.NDArray[Any]:
    """rows (rows, n), n a power of two above flip -> the same shape; element i becomes element i ^ flip."""
    return rows[:, np.arange(rows.shape[1]) ^ flip]
