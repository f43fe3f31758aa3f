"""From a program to the source of its kernel."""

from __future__ import annotations

from tridiff.fuzz.statements.constructs import indented, statements
from tridiff.fuzz.statements.library import definitions
from tridiff.kernels.language.emit import ANOTHER_SHAPE, ANOTHER_TYPE, index
from tridiff.kernels.language.script import Script
from tridiff.kernels.pointwise.record import TRITON_NAMES


def parameters(script: Script) -> tuple[str, ...]:
    """Names of the kernel's parameters, in order."""
    names: list[str] = []
    for number, operand in enumerate(script.operands):
        if operand.given:
            names += [f"x{number}_ptr", f"x{number}_pitch"]
    for number in range(len(script.stored)):
        names += [f"out{number}_ptr", f"out{number}_pitch"]
    return *names, *(f"C{number}" for number, one in enumerate(script.operands) if one.kind == "constexpr")


def _loads(script: Script) -> list[str]:
    lines = []
    for number, operand in enumerate(script.operands):
        if operand.given:
            place = f"x{number}_ptr + program * x{number}_pitch"
            if operand.kind == "block":
                place += f" + {index(operand.shape)}"
            # Truth values lie in memory as bytes.
            converted = ".to(tl.int1)" if operand.dtype == "i1" else ""
            lines.append(f"x{number} = tl.load({place}){converted}")
    return lines


def _stores(script: Script) -> list[str]:
    lines = []
    for number, (name, result) in enumerate(zip(script.stored, script.results, strict=True)):
        lines.append(f'tl.static_assert({name}.dtype == {TRITON_NAMES[result.dtype]}, "{ANOTHER_TYPE}")')
        lines.append(f'tl.static_assert(len({name}.shape) == {len(result.shape)}, "{ANOTHER_SHAPE}")')
        lines += [f'tl.static_assert({name}.shape[{axis}] == {extent}, "{ANOTHER_SHAPE}")'
                  for axis, extent in enumerate(result.shape)]
        place = f"out{number}_ptr + program * out{number}_pitch"
        if result.shape:
            place += f" + {index(result.shape)}"
        lines.append(f"tl.store({place}, {name})")
    return lines


def source(script: Script) -> str:
    """The module of a program's kernel, `kernel`. KeyError or ValueError for a program that has no text."""
    plain = [name for name in parameters(script) if name[0] != "C"]
    constants = [f"{name}: tl.constexpr" for name in parameters(script) if name[0] == "C"]
    lines = ["@triton.jit", f"def kernel({', '.join([*plain, *constants])}):"]
    body = ["program = tl.program_id(0).to(tl.int64)", *_loads(script), *statements(script.body), *_stores(script)]
    functions = [line for one in script.functions for line in (*statements((one,)), "")]
    text = "\n".join([*functions, *lines, *indented(body)]) + "\n"
    return definitions(text) + "\n" + text
