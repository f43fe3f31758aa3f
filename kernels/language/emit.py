"""From a call to the source of its kernel: one program for each row of the batch.

    x0 = tl.load(x0_ptr + program * x0_pitch + <index of the block>)
    r0 = <the call>
    tl.static_assert(r0.dtype == ...)
    tl.store(out0_ptr + program * out0_pitch + <index of the block>, r0)

Loads, the call and stores stand as a user writes them: nothing is converted on the way.
"""

from __future__ import annotations

import re

from tridiff.kernels.language.call import Call, Result
from tridiff.kernels.language.lines import arrays, loaded, stored
from tridiff.kernels.pointwise.record import TRITON_NAMES

FAULTS = ("another_type", "another_shape", "first_element", "changed_value")
"""Planted in the text of a call: its result in a wider or narrower type, with one more axis, everywhere that of the
first element, and changed in its lowest bit."""

CHECKED_FAULTS = ("computed_wide", "checked_late", "checked_early", "first_element", "changed_value")
"""The same where integer arithmetic is checked: all of it in 64 bits, where nothing is; that with an assertion of its
own that lets the first number beyond either end pass; an assertion that refuses the largest number."""

_IMPORTS = """import triton
import triton.language as tl
from triton.language.extra import libdevice

"""
FUNCTIONS = {
    "_add": "def _add(a, b):\n    return a + b",
    "_product": "def _product(a, b):\n    return a * b",
    "_larger": "def _larger(a, b):\n    return tl.maximum(a, b)",
    "_latter": "def _latter(a, b):\n    return b",
    "_sum_and_larger": "def _sum_and_larger(a, b, c, d):\n    return a + c, tl.maximum(b, d)",
}
"""What folds and scans combine with."""


def index(shape: tuple[int, ...]) -> str:
    """Offsets of a contiguous block."""
    terms, step = [], 1
    for axis in reversed(range(len(shape))):
        one = f"tl.arange(0, {shape[axis]})"
        if len(shape) > 1:
            one += "[" + ", ".join(":" if other == axis else "None" for other in range(len(shape))) + "]"
        terms.append(one if step == 1 else f"{one} * {step}")
        step *= shape[axis]
    return " + ".join(reversed(terms)) or "0"


def parameters(call: Call) -> tuple[str, ...]:
    """Names of the kernel's parameters, in order."""
    values = (f"x{number}" for number, one in enumerate(call.operands) if one.passed)
    return *arrays(call.operands, len(call.stored)), *values


def functions(text: str) -> str:
    """The definitions of those of `FUNCTIONS` that a text names."""
    named_there = [one for name, one in FUNCTIONS.items() if re.search(rf"\b{name}\b", text)]
    return "".join(f"@triton.jit\n{one}\n\n" for one in named_there)


PROGRAM = "    program = tl.program_id(0).to(tl.int64)"
"""The line with which a kernel learns the number of its row."""


def head(call: Call) -> list[str]:
    """The kernel's first lines: its parameters, and the number of its row."""
    values = [f"x{number}: tl.constexpr" if one.kind == "constexpr" else f"x{number}"
              for number, one in enumerate(call.operands) if one.passed]
    return [f"def kernel({', '.join([*arrays(call.operands, len(call.stored)), *values])}):",
            PROGRAM]


def assigned(text: str, results: int) -> list[str]:
    """The lines that give r0, r1, ...: those of the text, or one that assigns its value."""
    if text.startswith(("r0", "for ", "if ")) or "\n" in text:
        return text.splitlines()
    return [f"{', '.join(f'r{number}' for number in range(results))} = {text}"]


def named(results: tuple[Result, ...]) -> list[tuple[str, Result]]:
    """The results with the names that hold them."""
    return [(f"r{number}", result) for number, result in enumerate(results)]


def source(call: Call, text: str, results: tuple[Result, ...], *, loads: bool = True, fault: str = "",
           stores: bool = True, definitions: str = "") -> str:
    """The module of a call's kernel, `kernel`. text: an expression, or statements that assign r0, r1, ...; operands
    are x0, x1, ... (numbers: their literals). results: what it must give. loads: whether operands are loaded; else the
    text reads `x0_ptr` and `x0_pitch` itself. stores: whether r0, r1, ... are checked and stored; else the text stores
    them. definitions: functions that the text calls."""
    body = [*loaded(call.operands, index), *_widened(fault, call)] if loads else []
    if stores:
        body += [*assigned(text, len(results)), *_planted(fault, results[0]), *stored(named(results), index)]
    else:
        body += text.splitlines()
    lines = [*head(call), *("    " + line for line in body)]
    return _IMPORTS + functions(text) + definitions + "@triton.jit\n" + "\n".join(lines) + "\n"


def _widened(fault: str, call: Call) -> list[str]:
    return [f"x{number} = x{number}.to(tl.int64)" for number, one in enumerate(call.operands)
            if one.given and fault in ("computed_wide", "checked_late")]


def _asserted(fault: str, result: Result) -> tuple[str, ...]:
    bits, signed = int(result.dtype[1:]), result.dtype[0] == "i"
    high = (1 << (bits - signed)) - 1
    low = -high - 1 if signed else 0
    narrowed = f"r0 = r0.to({TRITON_NAMES[result.dtype]})"
    if fault == "checked_late" and bits < 64:
        return (f'tl.device_assert((r0 <= {high + 1}) & (r0 >= {low - 1}), "planted")', narrowed)
    if fault in ("computed_wide", "checked_late"):
        return (narrowed,)
    return (f'tl.device_assert(r0 != {high}, "planted")',)


def _planted(fault: str, result: Result) -> tuple[str, ...]:
    if fault in CHECKED_FAULTS and fault not in FAULTS:
        return _asserted(fault, result)
    if fault == "another_type":
        other = "tl.float64" if result.dtype != "fp64" else "tl.float32"
        return (f"r0 = r0.to({other})",)
    if fault == "another_shape":
        return ("r0 = r0[None]",) if result.shape else ("r0 = tl.full((1,), 0, tl.int32) + r0.to(tl.int32)",)
    if fault == "first_element" and result.elements > 1:
        return (f"r0 = tl.gather(r0.reshape([{result.elements}]), tl.zeros([{result.elements}], tl.int32), 0)"
                f".reshape({list(result.shape)})",)
    if fault == "changed_value":
        return ("r0 = r0 == 0",) if result.dtype == "i1" else (f"r0 = (r0 + 1).to({TRITON_NAMES[result.dtype]})",)
    return ()
