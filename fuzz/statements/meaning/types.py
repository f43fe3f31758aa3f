"""Types as kernels see them: `tl.int32`, `x.dtype`, `x.type`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tridiff.oracles.dtypes import DType, dtype


@dataclass(frozen=True)
class TypeName:
    """An element type."""

    name: str

    @property
    def _info(self) -> DType:
        return dtype(self.name)

    def is_floating(self) -> bool:
        return self._info.is_float

    def is_int(self) -> bool:
        return not self._info.is_float

    def is_int_signed(self) -> bool:
        return self._info.kind == "int"

    def is_int_unsigned(self) -> bool:
        return self._info.kind in ("uint", "bool")

    def is_bool(self) -> bool:
        return self.name == "i1"

    @property
    def primitive_bitwidth(self) -> int:
        return self._info.bits

    @property
    def itemsize(self) -> int:
        return self._info.bits // 8

    @property
    def scalar(self) -> TypeName:
        return self


@dataclass(frozen=True)
class TensorType:
    """The type of a tensor: a block's, or of no axes a scalar's."""

    name: str
    shape: tuple[int, ...]

    @property
    def scalar(self) -> TypeName:
        return TypeName(self.name)

    @property
    def element_ty(self) -> TypeName:
        if not self.shape:
            raise AttributeError("the type of a scalar has no elements")
        return self.scalar

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def is_block(self) -> bool:
        return bool(self.shape)

    def is_ptr(self) -> bool:
        return False
