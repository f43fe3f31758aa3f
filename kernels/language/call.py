"""One call of `triton.language`, as data. The text of the call itself comes from its row, never from a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from tridiff.kernels import lines
from tridiff.kernels.record import Record

_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,63}\Z")]
_DType = Annotated[str, Meta(pattern=r"^[a-z0-9]{2,8}\Z")]
_Extent = Annotated[int, Meta(ge=1, le=1 << 16)]
Number = Annotated[
    str, Meta(pattern=r'^(True|False|-?\d{1,20}|-?\d{1,20}\.\d{1,20}(e-?\d{1,3})?|float\("(nan|inf|-inf)"\))\Z')]
"""A Python number as source text."""

Options = dict[_Name, bool | int | Annotated[str, Meta(max_length=40)]]
OperandKind = Literal["block", "scalar", "number", "constexpr", "argument"]


class Operand(Record, kw_only=True, omit_defaults=True):
    """One operand. block: a tensor of `shape`; scalar: one value loaded by a scalar pointer; number: a literal in the
    source; constexpr: the same value as a `tl.constexpr` parameter; argument: a number that is known at launch only.
    dtype of numbers: that which Triton gives them."""

    kind: OperandKind = "block"
    dtype: _DType
    shape: Annotated[tuple[_Extent, ...], Meta(max_length=5)] = ()
    number: Number | Literal[""] = ""

    @property
    def line(self) -> str:
        """The operand as `i32[16]`, `scalar u64` or `number i32 7`; "" where `of_line` does not read it back."""
        shape = f"[{','.join(map(str, self.shape))}]" if self.shape else ""
        kind = "" if self.kind == "block" else self.kind
        text = " ".join(filter(None, (kind, f"{self.dtype}{shape}", self.number)))
        return lines.written(self, text, Operand.of_line)

    @staticmethod
    def of_line(line: str) -> Operand:
        """The operand that a line says; ValidationError if it says none."""
        found = _LINE.fullmatch(line)
        if found is None:
            raise msgspec.ValidationError(f"{line[:80]!r} is no operand")
        fields = {name: one for name, one in found.groupdict().items() if one is not None}
        shape = fields.pop("shape", "").split(",") if "shape" in fields else ()
        return msgspec.convert({**fields, "shape": shape}, Operand, strict=False)

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


_LINE = re.compile(rf"(?:(?P<kind>{'|'.join(get_args(OperandKind)[1:])}) )?(?P<dtype>[a-z0-9]+)"
                   r"(?:\[(?P<shape>[0-9]{1,5}(?:,[0-9]{1,5})*)\])?(?: (?P<number>\S+))?")

if TYPE_CHECKING:
    WrittenOperand = Operand
else:  # Files have it in a line.
    WrittenOperand = Operand | str


class Result(Record, kw_only=True):
    """What a call must give: element type and shape, () for a scalar."""

    dtype: _DType
    shape: Annotated[tuple[_Extent, ...], Meta(max_length=6)] = ()

    @property
    def elements(self) -> int:
        number = 1
        for one in self.shape:
            number *= one
        return number


class Call(Record, kw_only=True, tag="call", omit_defaults=True):
    """A call: its row in the table of the language, operands, options of the row, and the element types in which its
    results are stored (left to Triton's implicit conversion where they are not those of the results)."""

    row: _Name
    operands: Annotated[tuple[WrittenOperand, ...], Meta(max_length=6)] = ()
    options: Options = {}
    stored: Annotated[tuple[_DType, ...], Meta(max_length=4)] = ()

    def __post_init__(self) -> None:
        lines.read_within(self, "operands", Operand.of_line)

    def in_files(self) -> dict[str, object]:
        return {"operands": tuple(one.line or one for one in self.operands)}

    def option(self, name: str, default: bool | int | str = 0) -> bool | int | str:
        return self.options.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        """An option that is a whole number."""
        return int(self.options.get(name, default))
