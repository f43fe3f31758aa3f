"""What every program sees behind a barrier (contract: helpers.md §13, x_grid_barrier)."""

import numpy as np
import numpy.typing as npt


def everyone_seen(marks: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The number of programs along the last axis, for every element of marks (initial marks: all 0)."""
    return np.full(marks.shape, marks.shape[-1], dtype=np.int32)
