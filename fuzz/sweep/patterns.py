"""Bit patterns as arrays and as text."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tridiff.oracles.dtypes import bits_dtype, numpy_dtype


def operand(name: str, patterns: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
    """Patterns (unsigned, zero-extended) as an array of type `name`."""
    if name == "i1":
        return np.asarray(patterns != 0)
    return patterns.astype(bits_dtype(name)).view(numpy_dtype(name))


def text_of(value: npt.NDArray[Any]) -> str:
    """The first element, as Python would write it; NaNs with their pattern."""
    name = value.dtype
    if name == np.bool_:
        return str(bool(value[0]))
    if name.kind in "iu":
        return str(int(value[0]))
    number = float(value[0])
    if number != number:
        return f"nan({int(value[:1].view(f'uint{8 * name.itemsize}')[0]):#x})"
    return repr(number)


