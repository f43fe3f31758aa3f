"""From a program to the source of its kernel."""

from tridiff.fuzz.statements.constructs import indented, statements
from tridiff.fuzz.statements.library import definitions
from tridiff.kernels.language.emit import index
from tridiff.kernels.language.lines import arrays, loaded, stored
from tridiff.kernels.language.script import Script


def parameters(script: Script) -> tuple[str, ...]:
    """Names of the kernel's parameters, in order."""
    constants = (f"C{number}" for number, one in enumerate(script.operands) if one.kind == "constexpr")
    return *arrays(script.operands, len(script.stored)), *constants


def source(script: Script) -> str:
    """The module of a program's kernel, `kernel`. KeyError or ValueError for a program that has no text."""
    plain = [name for name in parameters(script) if name[0] != "C"]
    constants = [f"{name}: tl.constexpr" for name in parameters(script) if name[0] == "C"]
    lines = ["@triton.jit", f"def kernel({', '.join([*plain, *constants])}):"]
    body = ["program = tl.program_id(0).to(tl.int64)", *loaded(script.operands, index), *statements(script.body),
            *stored(list(zip(script.stored, script.results, strict=True)), index)]
    functions = [line for one in script.functions for line in (*statements((one,)), "")]
    text = "\n".join([*functions, *lines, *indented(body)]) + "\n"
    return definitions(text) + "\n" + text
