"""Frozen table of the element types (Triton's names) and their numpy and torch counterparts.

torch is imported on first use of a torch function only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tridiff.oracles.errors import OracleError

if TYPE_CHECKING:
    import torch

Array = npt.NDArray[Any]
"""A numpy array of any of these types."""
Kind = Literal["bool", "int", "uint", "float"]


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    `bits` is the width of the value (1 for i1), `itemsize` the bytes it occupies in memory (i1 is one byte, 0
    or 1). `mantissa_bits` counts the explicit fraction bits; float fields are 0 for other kinds. `min` and
    `max` are the extreme finite values, `smallest_normal` and `smallest_subnormal` are 0.0 for other kinds.
    """

    name: str
    bits: int
    kind: Kind
    min: int | float
    max: int | float
    mantissa_bits: int = 0
    exponent_bits: int = 0
    has_inf: bool = False
    smallest_normal: float = 0.0
    smallest_subnormal: float = 0.0

    @property
    def itemsize(self) -> int:
        """Bytes per element in memory."""
        return max(8, self.bits) // 8

    @property
    def storage_bits(self) -> int:
        """Bits per element in memory (8 for i1)."""
        return max(8, self.bits)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, False for i1."""
        return self.kind in ("int", "uint")

    @property
    def bias(self) -> int:
        """Exponent bias; 0 unless the kind is float."""
        return (1 << (self.exponent_bits - 1)) - 1 if self.is_float else 0

    @property
    def precision(self) -> int:
        """Significand bits including the hidden one; 0 unless the kind is float."""
        return self.mantissa_bits + 1 if self.is_float else 0

    @property
    def unit_roundoff(self) -> float:
        """u = 2^-precision, the relative error of one rounding to nearest (oracles.md §4)."""
        return 2.0**-self.precision if self.is_float else 0.0

    @property
    def infinity_bits(self) -> int:
        """Magnitude bits of the largest non-NaN value: infinity, or the maximum where there is none
        (fp8e4nv).
        """
        if not self.is_float:
            raise OracleError(f"{self.name} has no infinity; ask a float type")
        exponent_ones = ((1 << self.exponent_bits) - 1) << self.mantissa_bits
        return exponent_ones if self.has_inf else exponent_ones | ((1 << self.mantissa_bits) - 2)


def _integer(name: str, bits: int) -> DType:
    if name.startswith("u"):
        return DType(name, bits, "uint", 0, (1 << bits) - 1)
    return DType(name, bits, "int", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _float(name: str, exponent_bits: int, mantissa_bits: int, *, has_inf: bool = True) -> DType:
    bias = (1 << (exponent_bits - 1)) - 1
    # Without infinities (e4m3fn) the top exponent holds numbers too; only the all-ones mantissa is NaN.
    top = bias if has_inf else bias + 1
    last = 2.0**-mantissa_bits if has_inf else 2.0 ** (1 - mantissa_bits)
    largest = (2.0 - last) * 2.0**top
    return DType(
        name, 1 + exponent_bits + mantissa_bits, "float", -largest, largest, mantissa_bits, exponent_bits, has_inf,
        2.0 ** (1 - bias), 2.0 ** (1 - bias - mantissa_bits),
    )


DTYPES: tuple[DType, ...] = (
    DType("i1", 1, "bool", 0, 1), _integer("i8", 8), _integer("i16", 16), _integer("i32", 32), _integer("i64", 64),
    _integer("u8", 8), _integer("u16", 16), _integer("u32", 32), _integer("u64", 64),
    _float("fp8e4nv", 4, 3, has_inf=False), _float("fp8e5", 5, 2), _float("bf16", 8, 7), _float("fp16", 5, 10),
    _float("fp32", 8, 23), _float("fp64", 11, 52),
)

NAMES: tuple[str, ...] = tuple(d.name for d in DTYPES)
SIGNED: tuple[str, ...] = ("i8", "i16", "i32", "i64")
UNSIGNED: tuple[str, ...] = ("u8", "u16", "u32", "u64")
INTEGERS: tuple[str, ...] = SIGNED + UNSIGNED
FP8: tuple[str, ...] = ("fp8e4nv", "fp8e5")
FLOATS: tuple[str, ...] = ("bf16", "fp16", "fp32", "fp64")

_BY_NAME = {d.name: d for d in DTYPES}

_TORCH_NAMES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "bf16": "bfloat16",
    "fp16": "float16", "fp32": "float32", "fp64": "float64",
}


def dtype(name: str) -> DType:
    """The entry for Triton's type `name`; OracleError for an unknown name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise OracleError(f"unknown dtype {name!r}; use one of {' '.join(NAMES)}") from None


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy type holding `name` (ml_dtypes for bf16 and fp8; numpy.bool_ for i1)."""
    dtype(name)
    if name in ("bf16", *FP8):
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _TORCH_NAMES[name]))
        return found
    return np.dtype(_TORCH_NAMES[name])


@cache
def _name_by_numpy() -> dict[np.dtype[Any], str]:
    return {numpy_dtype(name): name for name in NAMES}


def name_of_array(array: np.ndarray[Any, Any]) -> str:
    """Triton's name of a numpy array's element type; OracleError if it has none."""
    try:
        return _name_by_numpy()[array.dtype]
    except KeyError:
        raise OracleError(f"numpy dtype {array.dtype} has no Triton name; convert the array first") from None


@cache
def bits_dtype(name: str, *, signed: bool = False) -> np.dtype[Any]:
    """The numpy integer type as wide as the storage of `name`; unsigned unless asked otherwise."""
    return np.dtype(f"{'int' if signed else 'uint'}{dtype(name).storage_bits}")


@cache
def torch_dtype(name: str) -> torch.dtype:
    """The torch type holding `name`."""
    import torch

    dtype(name)
    found = getattr(torch, _TORCH_NAMES[name])
    assert isinstance(found, torch.dtype)
    return found


@cache
def _name_by_torch() -> dict[torch.dtype, str]:
    return {torch_dtype(name): name for name in NAMES}


def name_of_torch(kind: torch.dtype) -> str:
    """Triton's name of a torch type; OracleError if it has none."""
    try:
        return _name_by_torch()[kind]
    except KeyError:
        raise OracleError(f"torch dtype {kind} has no Triton name; convert the tensor first") from None


def name_of_tensor(tensor: torch.Tensor) -> str:
    """Triton's name of a tensor's element type; OracleError if it has none."""
    return name_of_torch(tensor.dtype)
