"""Values of the interpreter as text: exact for every type, pointers as the place they point to."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tridiff.fuzz.content import text
from tridiff.fuzz.interpreter.shadow_memory import bit_patterns
from tridiff.fuzz.interpreter.trace import Trace
from tridiff.oracles.dtypes import NAMES, dtype

_NAMES = {"int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
          "uint32": "u32", "uint64": "u64"}


def type_of(handle: Any) -> str:
    """The type of a handle: "i32", "fp32", "pointer". Truth values are "i1", whatever the interpreter calls them."""
    if np.asarray(handle.data).dtype == np.bool_:
        return "i1"
    said = str(getattr(handle.dtype, "scalar", handle.dtype)).removeprefix("triton.language.")
    return "pointer" if said.startswith("pointer") else _NAMES.get(said, said)


def shown(handle: Any, lanes: Iterable[int], trace: Trace) -> tuple[str, ...]:
    """Lanes of a handle as text."""
    data = np.asarray(handle.data).ravel()
    kind = type_of(handle)
    numbers = [lane for lane in lanes if lane < data.size]
    if kind == "pointer":
        return tuple(place(trace, int(data[lane])) for lane in numbers)
    patterns = bit_patterns(data)
    return tuple(of_bits(int(patterns[lane]), kind) for lane in numbers)


def of_bits(pattern: int, kind: str) -> str:
    """A bit pattern in a type as text; hexadecimal where the type has no decimal form here."""
    if kind == "i1":
        return "true" if pattern else "false"
    fits = kind in NAMES and not pattern >> dtype(kind).storage_bits
    return text.from_bits(pattern, kind) if fits else f"{pattern:#x}"


def place(trace: Trace, address: int) -> str:
    """Where an address points: "x[3]", also outside the array that is nearest."""
    found = trace.nearest(address)
    return f"{found[0]}[{found[1]}]" if found else f"{address:#x}"


def of_array(data: Any, kind: str, *, most: int) -> tuple[str, ...]:
    """The first elements of an array of the interpreter's as text."""
    patterns = bit_patterns(np.asarray(data)).ravel()[:most]
    return tuple(of_bits(int(one), kind) for one in patterns)
