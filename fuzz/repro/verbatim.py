"""Kernels that a script shows as they were generated: Gluon modules and TTGIR text."""

import ast
import collections
import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tridiff.fuzz.repro.request import no_script
from tridiff.fuzz.repro.simplify import DropAssertions, about_result, loaded


@dataclass(frozen=True)
class Verbatim:
    """source: the text, complete with its imports; what it defines is called `kernel` in the script. language: in what
    it is written."""

    source: str
    language: Literal["gluon", "ttgir"]
    kernel: str = "kernel"
    imports: tuple[str, ...] = ()

    def parameters(self, arguments: Mapping[str, Any]) -> list[str]:
        """Names of the kernel's parameters, in order."""
        return list(arguments)

    def cut(self, asserted: Collection[str]) -> "Verbatim":
        """Without lines of a Gluon module that the kernel does not reach, and without what it asserts of its results
        when compiling. asserted: the kinds of findings for which those assertions stay."""
        if self.language != "gluon":
            return self
        tree = ast.parse(self.source)
        left_out: list[ast.stmt] = [one for one in ast.walk(tree) if isinstance(one, ast.Expr) and (
            kind := about_result(one)) and kind not in asserted]
        reached = _reached(DropAssertions(asserted).visit(tree), self.kernel)
        left_out += [one for one in tree.body if (names := _bound(one)) and not reached.intersection(names)]
        gone = {line for one in left_out for line in range(_first_line(one), (one.end_lineno or one.lineno) + 1)}
        kept = [line for number, line in enumerate(self.source.splitlines(), 1) if number not in gone]
        return replace(self, source=_with_named_ranges("\n".join(kept), self.kernel))

    def apart(self, taken: Collection[str]) -> "Verbatim":
        """With other names for functions of a Gluon module that are called as something else of the script is, which
        would take their place. taken: names of its arrays."""
        source = self.source
        for one in ast.parse(source).body if self.language == "gluon" else ():
            if isinstance(one, ast.FunctionDef) and one.name in taken:
                source = re.sub(rf"(?<![\w.]){one.name}\b", f"{one.name}_function", source)
        return replace(self, source=source)

    def text(self, *, spacing: int) -> str:
        """The part of the script above the launch."""
        if self.language == "gluon":
            return self.source.strip()
        return f'TEXT = """\\\n{self.source.strip()}\n"""'


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(one.asname or one.name).partition(".")[0] for one in statement.names]
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [
        statement.target] if isinstance(statement, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _reached(tree: ast.Module, kernel: str) -> set[str]:
    """Names that a kernel uses, by way of what it calls too."""
    uses = {name: loaded(statement) for statement in tree.body for name in _bound(statement)}
    found, waiting = set[str](), [kernel]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += uses.get(name, ())
    return found


def _with_named_ranges(source: str, kernel: str) -> str:
    """The module with a variable of the kernel for every range of numbers, with its new axes, that stands in it several
    times."""
    definition, = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef) and one.name == kernel)
    ranges = collections.Counter(
        ast.get_source_segment(source, one) or "" for one in ast.walk(definition)
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Call)
        and ast.unparse(one.value.func).endswith(".arange"))
    lines = source.splitlines()
    start = definition.body[0].lineno - 1
    indent = " " * definition.body[0].col_offset
    above, body = "\n".join(lines[:start]), "\n".join(lines[start:])
    for number, text in enumerate(text for text, times in ranges.items() if times > 1 and text):
        body = body.replace(text, f"range{number}")
        above += f"\n{indent}range{number} = {text}"
    return f"{above}\n{body}"


def _first_line(statement: ast.stmt) -> int:
    return min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])


def verbatim(kernel: Any, text: str) -> Verbatim | None:
    """What to show of a generated Gluon kernel or of TTGIR text; None for kernels that are collected and cut down.

    Raises TridiffError for a Gluon kernel that no generator wrote: it may need more than its own module.
    """
    if text:
        return Verbatim(text, "ttgir")
    if not kernel.is_gluon():
        return None
    module = inspect.getmodule(kernel.fn)
    source = "".join(inspect.findsource(kernel.fn)[0])
    if not (module is None or module.__name__.startswith("generated.")) or not source:
        raise no_script("a Gluon kernel that is not generated cannot be written into a script")
    name = kernel.fn.__name__
    return Verbatim(source.replace(f"\ndef {name}(", "\ndef kernel("), "gluon")
