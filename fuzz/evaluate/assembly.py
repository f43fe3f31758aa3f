"""Inline assembly: the few instructions of PTX that compute something from registers alone."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.floats import extreme
from tridiff.fuzz.evaluate.ir import Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.table import gives
from tridiff.fuzz.evaluate.types import Type
from tridiff.oracles.by_numpy import words

_INSTRUCTION = re.compile(r"([a-z]\w*(?:\.\w+(?:::\w+)*)*)\s*(.*)", re.DOTALL)
_KINDS = {"s": "i", "u": "u", "b": "u", "f": "f"}
_ORDERS = frozenset({"fence", "membar", "bar", "barrier"})
"""Instructions that compute nothing."""


def _extreme(largest: bool) -> Callable[[Array, Array], Array]:
    def function(a: Array, b: Array) -> Array:
        if a.dtype.kind == "f":
            return extreme(a, b, largest=largest, propagate=False)
        return (np.maximum if largest else np.minimum)(a, b)

    return function


_COMPUTED: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul.lo": np.multiply, "mul.wide": np.multiply, "mul": np.multiply,
    "neg": np.negative, "not": np.invert, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "min": _extreme(False), "max": _extreme(True), "mov": lambda a: a, "popc": words.ones, "ex2": np.exp2,
}


def _permuted(a: Array, b: Array, selector: Array) -> Array:
    if np.any(selector.view(np.int32) & 0x8888):
        raise NotEvaluated("assembly prmt that repeats signs")
    return words.permuted_bytes(a.view(np.int32), b.view(np.int32), selector.view(np.int32))


def _looked_up(a: Array, b: Array, c: Array, table: Array) -> Array:
    """Each bit of the result is that of the table which the three bits of the operands name."""
    found = np.zeros_like(a)
    for place in range(8):
        if int(table.flat[0]) >> place & 1:
            parts = [one if place >> bit & 1 else ~one for one, bit in ((a, 2), (b, 1), (c, 0))]
            found |= parts[0] & parts[1] & parts[2]
    return found


_OF_THREE: dict[str, Callable[..., Any]] = {"prmt.b32": _permuted, "lop3.b32": _looked_up}


class _Registers:
    """values: of each register, as unsigned words."""

    def __init__(self, values: dict[str, Array], shape: tuple[int, ...]) -> None:
        self.values, self._shape = values, shape

    def read(self, name: str, kind: np.dtype) -> Array:
        found = self.values.get(name)
        if found is None:
            try:
                number = int(name, 0)
            except ValueError:
                raise NotEvaluated(f"assembly operand {name[:20]}") from None
            found = np.full(self._shape, number & ((1 << 8 * kind.itemsize) - 1), dtype=f"u{kind.itemsize}")
        if found.dtype.itemsize != kind.itemsize:
            raise NotEvaluated(f"assembly with {name[:20]} in another width")
        return found.view(kind)

    def write(self, name: str, value: Array) -> None:
        self.values[name] = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}")


def run(text: str, values: dict[str, Array]) -> dict[str, Array]:
    """The registers, by name, behind the instructions. Raises NotEvaluated by the name of the first that is unknown."""
    shape = next(iter(values.values())).shape if values else (1,)
    registers = _Registers(dict(values), shape)
    for line in re.split(r"[;\n]", re.sub(r"[{}]", ";", text)):
        found = _INSTRUCTION.fullmatch(line.strip())
        if not line.strip() or line.strip().startswith(".reg"):
            continue
        if not found:
            raise NotEvaluated(f"assembly {line.strip()[:40]}")
        opcode, operands = found[1], [one.strip() for one in found[2].split(",")]
        if opcode.partition(".")[0] not in _ORDERS:
            _step(registers, opcode, operands)
    return registers.values


def _step(registers: _Registers, opcode: str, operands: list[str]) -> None:
    name, *words_ = opcode.replace(".approx", "").replace(".ftz", "").split(".")
    if not words_ or not re.fullmatch(r"[subf](32|64)", words_[-1]):
        raise NotEvaluated(f"assembly {opcode}")
    kind = np.dtype(f"{_KINDS[words_[-1][0]]}{int(words_[-1][1:]) // 8}")
    wide = np.dtype(f"{kind.kind}{2 * kind.itemsize}") if (name, *words_[:-1]) == ("mul", "wide") else kind
    function = _OF_THREE.get(f"{name}.{words_[-1]}") or _COMPUTED.get(".".join([name, *words_[:-1]]))
    if function is None:
        raise NotEvaluated(f"assembly {opcode}")
    to, *given = operands
    registers.write(to, np.asarray(function(*(registers.read(one, kind).astype(wide, copy=False) for one in given))))


def _packed(value: Array, pack: int) -> list[Array]:
    """The registers that hold `pack` elements at a time: narrow ones share a register."""
    flat = np.ascontiguousarray(value).reshape(-1, pack)
    flat = flat.astype(np.uint8) if flat.dtype == np.bool_ else flat.view(f"u{flat.dtype.itemsize}")
    if flat.dtype.itemsize < 4:
        if pack * flat.dtype.itemsize % 4:
            # Alone in its register.
            return [np.ascontiguousarray(flat[:, place]).astype(np.uint32) for place in range(pack)]
        flat = flat.view(np.uint32)
    return [np.ascontiguousarray(flat[:, place]) for place in range(flat.shape[1])]


def _unpacked(registers: list[Array], kind: Type, pack: int) -> Array:
    """The elements that registers hold."""
    together = np.ascontiguousarray(np.stack(registers, axis=-1))
    words_ = np.dtype(f"u{kind.dtype.itemsize}")
    if len(registers) < pack:
        together = together.view(words_)
    return np.ascontiguousarray(together.astype(words_)).view(kind.dtype).reshape(kind.shape)


@gives("tt.elementwise_inline_asm")
def assembly(operation: Operation, *values: Array) -> Any:
    """As many elements at a time as are packed, in row-major order, which is one of those that a layout may give."""
    found = re.search(r'"((?:[^"\\]|\\.)*)"', operation.head)
    text = re.sub(r"\\([0-9A-F]{2})", lambda one: chr(int(one[1], 16)), found[1] if found else "")
    pack = operation.number("packed_element", 1)
    results = operation.types[len(values):]
    if any(one.size % pack for one in values):
        raise NotEvaluated("op tt.elementwise_inline_asm on fewer elements than it packs")
    counts = [max(pack * min(one.dtype.itemsize, 4) // 4, 1) if one.dtype.itemsize < 4 else pack for one in results]
    inside: dict[str, Array] = {}
    number = sum(counts)
    for one in values:
        for register in _packed(one, pack):
            inside[f"${number}"] = register
            number += 1
    registers = run(text, inside)
    made, start = [], 0
    for kind, count in zip(results, counts, strict=True):
        names = [f"${place}" for place in range(start, start + count)]
        start += count
        if any(name not in registers for name in names):
            raise NotEvaluated("assembly that leaves a result unwritten")
        made.append(_unpacked([registers[name] for name in names], kind, pack))
    return made[0] if len(made) == 1 else tuple(made)
