"""What a launch of a kernel must do with its arguments (contract: launch.md §1 to §3), in plain Python.

Arguments are words: `int 5`, `float 1.5`, `bool True`, `none`, `tensor fp32 1` (its type, and the element at which it
begins in memory that is aligned to 64 bytes), `tuple int 5, none`, `pair int 5, none` (a tuple with names).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tridiff.oracles.dtypes import dtype

ALIGNED = 16
"""Bytes of a pointer, or the divisor of an integer, that the compiler is told of."""

_PTX = {"u1": "u8", "i32": "u32", "i64": "u64", "u64": "u64", "fp32": "f32"}
SCRATCH = 2
"""Pointers that every kernel has behind its own parameters: scratch of the kernel and of a profiler."""


@dataclass(frozen=True)
class Argument:
    """One argument as a launch sees it. kind: its type in Triton's signature; aligned: whether the compiler is told
    that 16 divides it; constant: whether it is compiled in. value: what the kernel gets, or what is compiled in."""

    kind: str
    aligned: bool = False
    constant: bool = False
    value: Any = None


def argument(word: str, *, specialised: bool = True, aligned: bool = True) -> "Argument | tuple[Argument, ...]":
    """What a word stands for. specialised: as `do_not_specialize` leaves it; aligned: as
    `do_not_specialize_on_alignment` does."""
    kind, _, rest = word.partition(" ")
    if kind in ("tuple", "pair"):
        return tuple(_one(one, specialised, aligned) for one in rest.split(", "))
    return _one(word, specialised, aligned)


def _one(word: str, specialised: bool, aligned: bool) -> Argument:
    kind, _, rest = word.partition(" ")
    told = specialised and aligned
    if kind == "none":
        return Argument("constexpr", constant=True)
    if kind == "bool":
        return Argument("u1", value=rest == "True")
    if kind == "float":
        return Argument("fp32", value=float(rest))
    if kind == "tensor":
        name, offset = rest.split()
        place = int(offset) * dtype(name).itemsize
        return Argument(f"*{'u1' if name == 'i1' else name}", aligned=told and place % ALIGNED == 0, value=place)
    number = int(rest)
    if number == 1 and specialised:
        return Argument("constexpr", constant=True, value=1)
    return Argument(integer_type(number), aligned=told and number % ALIGNED == 0, value=number)


def integer_type(number: int) -> str:
    """The narrowest of i32, i64 and u64 that holds a number; OverflowError for one that none holds."""
    for kind, low, high in (("i32", -(2**31), 2**31), ("i64", -(2**63), 2**63), ("u64", 0, 2**64)):
        if low <= number < high:
            return kind
    raise OverflowError(f"{number} has more than 64 bits")


def leaves(found: "Argument | tuple[Argument, ...]") -> tuple[Argument, ...]:
    """The arguments themselves, tuples opened."""
    return found if isinstance(found, tuple) else (found,)


def signature(found: "Argument | tuple[Argument, ...]") -> str:
    """The type as Triton's signature spells it."""
    return f"({', '.join(one.kind for one in found)})" if isinstance(found, tuple) else found.kind


def parameters(arguments: "Iterator[Argument | tuple[Argument, ...]]") -> list[Argument]:
    """What the kernel is given, in order: everything that is not compiled in."""
    return [leaf for one in arguments for leaf in leaves(one) if not leaf.constant]


def ptx(kinds: list[str]) -> list[str]:
    """The types of a kernel's parameters in PTX: those of its own, and scratch."""
    return [*("u64" if kind.startswith("*") else _PTX[kind] for kind in kinds), *["u64"] * SCRATCH]


def mlir(found: Argument) -> str:
    """A parameter in Triton's IR: integers have no sign there, and a truth value is an i1."""
    floats = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "bf16": "bf16", "fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN"}

    def plain(kind: str) -> str:
        return floats.get(kind) or kind.replace("u", "i")

    text = f"!tt.ptr<{plain(found.kind[1:])}>" if found.kind.startswith("*") else plain(found.kind)
    return text + (" {tt.divisibility = 16 : i32}" if found.aligned else "")


def grid(word: str, given: int) -> tuple[int, int, int]:
    """Three extents of a grid that is written with one to three, or as a function of the arguments, which gives
    (`given` + 2, 3)."""
    extents = (given + 2, 3) if word == "callable" else tuple(int(one) for one in word.split()[-3:] if one.isdigit())
    filled = (*extents, 1, 1)
    return filled[0], filled[1], filled[2]
