"""What the tests of oracles say over and over: torch on numpy's arrays, equal bits, a refusal."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tridiff.oracles.arrays import Array, bits_of_array, to_numpy, to_torch
from tridiff.oracles.errors import OracleError


def on_torch(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """A function of tensors, applied to arrays: its result, or tuple of results, as arrays."""
    found = function(*(to_torch(one) if isinstance(one, np.ndarray) else one for one in operands), **options)
    return tuple(map(to_numpy, found)) if isinstance(found, tuple) else to_numpy(found)


def same_bits(first: Array | torch.Tensor, second: Array | torch.Tensor) -> bool:
    """Whether all bit patterns are equal, payloads of NaN included."""
    one, other = (bits_of_array(to_numpy(x) if isinstance(x, torch.Tensor) else x) for x in (first, second))
    return np.array_equal(one, other)


def refused(message: str, function: Callable[..., Any], *operands: Any, **options: Any) -> None:
    """The call raises an OracleError with this message (a regular expression)."""
    with pytest.raises(OracleError, match=message):
        function(*operands, **options)
