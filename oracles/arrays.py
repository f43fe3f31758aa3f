"""Bit-exact conversion between torch tensors and numpy arrays for every element type."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tridiff.oracles.bits import to_bits
from tridiff.oracles.dtypes import (
    Array as Array,
    bits_dtype,
    dtype,
    name_of_array,
    name_of_tensor,
    numpy_dtype,
    torch_dtype,
)
from tridiff.oracles.errors import OracleError


def to_numpy(tensor: torch.Tensor) -> Array:
    """A numpy array with the tensor's shape and bits; copies from the device if needed."""
    name = name_of_tensor(tensor)
    return to_bits(tensor.detach()).cpu().numpy().view(numpy_dtype(name))


def to_torch(array: Array, *, device: torch.device | str = "cpu") -> torch.Tensor:
    """A contiguous tensor on `device` with the array's shape and bits; never shares memory with the array."""
    name = name_of_array(array)
    patterns = np.array(array, copy=True, order="C").view(bits_dtype(name, signed=True))
    return torch.from_numpy(patterns).to(device).view(torch_dtype(name))


def array_of_bits(bits: Iterable[int], name: str) -> Array:
    """A 1-D array of type `name` from unsigned bit patterns; OracleError for one that does not fit."""
    patterns = list(bits)
    limit = 1 << dtype(name).bits
    bad = next((b for b in patterns if not 0 <= b < limit), None)
    if bad is not None:
        raise OracleError(f"bit pattern {bad:#x} does not fit {name}; use 0 <= bits < 2^{dtype(name).bits}")
    return np.array(patterns, dtype=bits_dtype(name)).view(numpy_dtype(name))


def bits_of_array(array: Array) -> npt.NDArray[np.unsignedinteger[Any]]:
    """The unsigned bit patterns of an array, same shape."""
    return np.asarray(array).view(bits_dtype(name_of_array(array)))


def tensor_of_bits(bits: Iterable[int], name: str, *, device: torch.device | str = "cpu") -> torch.Tensor:
    """As `array_of_bits`, a tensor on `device`."""
    return to_torch(array_of_bits(bits, name), device=device)
