"""One call of `triton.language`, as data. The text of the call itself comes from its row, never from a file."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,63}\Z")]
_DType = Annotated[str, Meta(pattern=r"^[a-z0-9]{2,8}\Z")]
_Extent = Annotated[int, Meta(ge=1, le=1 << 16)]
Number = Annotated[
    str, Meta(pattern=r'^(True|False|-?\d{1,20}|-?\d{1,20}\.\d{1,20}(e-?\d{1,3})?|float\("(nan|inf|-inf)"\))\Z')]
"""A Python number as source text."""

Options = dict[_Name, bool | int | Annotated[str, Meta(max_length=40)]]
OperandKind = Literal["block", "scalar", "number", "constexpr", "argument"]


class Operand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One operand. block: a tensor of `shape`; scalar: one value loaded by a scalar pointer; number: a literal in the
    source; constexpr: the same value as a `tl.constexpr` parameter; argument: a number that is known at launch only.
    dtype of numbers: that which Triton gives them."""

    kind: OperandKind = "block"
    dtype: _DType
    shape: Annotated[tuple[_Extent, ...], Meta(max_length=5)] = ()
    number: Number | Literal[""] = ""

    @property
    def given(self) -> bool:
        """Whether the operand comes from an array."""
        return self.kind in ("block", "scalar")

    @property
    def constant(self) -> bool:
        """Whether the compiler knows the value."""
        return self.kind in ("number", "constexpr")

    @property
    def passed(self) -> bool:
        """Whether the value is one of the kernel's parameters."""
        return self.kind in ("constexpr", "argument")

    @property
    def value(self) -> float | int | bool:
        """A number's value."""
        if self.number in ("True", "False"):
            return self.number == "True"
        text = self.number.removeprefix('float("').removesuffix('")')
        return int(text) if text.lstrip("-").isdigit() else float(text)


class Result(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a call must give: element type and shape, () for a scalar."""

    dtype: _DType
    shape: Annotated[tuple[_Extent, ...], Meta(max_length=6)] = ()

    @property
    def elements(self) -> int:
        number = 1
        for one in self.shape:
            number *= one
        return number


class Call(msgspec.Struct, frozen=True, kw_only=True, tag="call", forbid_unknown_fields=True, omit_defaults=True):
    """A call: its row in the table of the language, operands, options of the row, and the element types in which its
    results are stored (left to Triton's implicit conversion where they are not those of the results)."""

    row: _Name
    operands: Annotated[tuple[Operand, ...], Meta(max_length=6)] = ()
    options: Options = {}
    stored: Annotated[tuple[_DType, ...], Meta(max_length=4)] = ()

    def option(self, name: str, default: bool | int | str = 0) -> bool | int | str:
        return self.options.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        """An option that is a whole number."""
        return int(self.options.get(name, default))
