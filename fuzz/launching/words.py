"""Arguments of kernels as words, and the Python objects that they stand for."""

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import torch
import triton.language as tl

from tridiff.oracles.dtypes import torch_dtype

Pair = namedtuple("Pair", ("left", "right"))
"""A tuple with names, as users pass them to kernels."""

_ELEMENTS = 64


def placed_in(address: int, arrays: Sequence[torch.Tensor]) -> tuple[int, int] | None:
    """(the number of the array that an address lies in or just behind, its distance from the start in bytes)."""
    for number, array in enumerate(arrays):
        apart = address - array.data_ptr()
        if 0 <= apart <= array.numel() * array.element_size():
            return number, apart
    return None


class Arguments:
    """Makes the objects of one launch, and says which of its arrays an object is."""

    def __init__(self) -> None:
        self.arrays: list[torch.Tensor] = []

    def make(self, word: str) -> Any:
        """The object of a word (`oracles.launching` says what they mean)."""
        kind, _, rest = word.partition(" ")
        if kind in ("tuple", "pair"):
            members = [self.make(one) for one in rest.split(", ")]
            return Pair(*members) if kind == "pair" else tuple(members)
        if kind == "tensor":
            dtype, offset = rest.split()
            # Memory comes in lines of 64 bytes; elements of 16 bytes do not exist.
            array = torch.zeros(_ELEMENTS, dtype=torch_dtype(dtype))
            self.arrays.append(array)
            return array[int(offset):]
        if kind == "none":
            return None
        if kind == "dtype":
            return getattr(tl, rest)
        if kind == "bool":
            return rest == "True"
        return int(rest) if kind == "int" else float(rest) if kind == "float" else rest

    def told(self, value: Any) -> str:
        """A value that a kernel was given: arrays by their number and the offset into them, in bytes."""
        place = placed_in(value.data_ptr(), self.arrays) if isinstance(value, torch.Tensor) else None
        return f"array {place[0]} + {place[1]}" if place else repr(value)
