"""Types of the IR, as far as values depend on them."""

import re
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated

_FLOATS = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
}
_INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}


@dataclass(frozen=True)
class Type:
    """element: of a block, or the whole type ("f32", "i1", "ptr<f32>", "token"). shape: () for scalars. family: what
    carries the elements: "" for scalars, "tensor", "memdesc", "tensordesc". layout: as it is written, which is mostly
    by its name."""

    element: str
    shape: tuple[int, ...] = ()
    family: str = ""
    layout: str = ""

    @property
    def pointee(self) -> str:
        """The element type that pointers of this type point to."""
        found = re.fullmatch(r"ptr<(.*)>", self.element)
        if not found:
            raise NotEvaluated(f"a pointer of type {self.element}")
        return found[1]

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.element)


@cache
def dtype_of(element: str) -> np.dtype:
    """The numpy type that holds an element; addresses are int64."""
    if element.startswith("ptr<"):
        return np.dtype(np.int64)
    found = _FLOATS.get(element) or _INTEGERS.get(re.sub(r"^[su](?=i\d)", "", element))
    if found is None:
        raise NotEvaluated(f"type {element}")
    return np.dtype(found)


def is_float(element: str) -> bool:
    return element in _FLOATS


@cache
def parse_type(text: str) -> Type:
    """`tensor<8x!tt.ptr<f32>, #blocked>`, `!tt.ptr<f32>`, `i32`, `!ttg.memdesc<2x16xi8, #shared, #smem>`, and short
    forms `<2x16xi8, #shared>` as some operations print them."""
    text = text.strip()
    found = re.fullmatch(r"(?:!?(?:\w+\.)?(tensor|memdesc|tensordesc))?<(.*)>", text, re.DOTALL)
    if found:
        inside, *more = split(found[2])
        if inside.startswith("tensor<"):
            block = parse_type(inside)
            return Type(block.element, block.shape, found[1])
        shape, _, element = re.fullmatch(r"((?:\d+x)*)()(.*)", inside.strip()).groups()  # type: ignore[union-attr]
        return Type(_scalar(element), tuple(int(one) for one in shape.split("x") if one), found[1] or "memdesc",
                    more[0].strip() if more else "")
    return Type(_scalar(text))


def _scalar(text: str) -> str:
    found = re.fullmatch(r"!tt\.ptr<(.*)>", text)
    if found:
        return f"ptr<{_scalar(split(found[1])[0].strip())}>"
    return text.removeprefix("!")


_OPEN, _CLOSE = "(<[{", ")>]}"


def split(text: str, at: str = ",") -> list[str]:
    """The parts between separators that are in no bracket and no string."""
    parts, depth, start, quoted, place = [], 0, 0, False, 0
    while place < len(text):
        one = text[place]
        if quoted:
            place += 2 if one == "\\" else 1
            quoted = one != '"'
            continue
        if text.startswith("->", place) and at != "->":
            place += 2
            continue
        if one == '"':
            quoted = True
        elif depth == 0 and text.startswith(at, place):
            parts.append(text[start:place])
            place += len(at)
            start = place
            continue
        elif one in _OPEN:
            depth += 1
        elif one in _CLOSE:
            depth -= 1
        place += 1
    return [*parts, text[start:]]
