"""Edits that change nothing: a run must stay quiet about them."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from tridiff.fuzz.planted.edit import Replacement, Source
from tridiff.fuzz.planted.operators import Operator
from tridiff.fuzz.planted.places import Function, Place, is_docstring

Several = Iterable[tuple[Replacement, ...]]
"""Edits of several parts each."""


def comment(place: Place, source: Source) -> Iterator[Replacement]:
    """A comment before a return."""
    yield from _before(place, source, ast.Return, "# The result.")


def blank_lines(place: Place, source: Source) -> Iterator[Replacement]:
    """Two empty lines before an assignment: all lines below have other numbers."""
    yield from _before(place, source, ast.Assign, "\n")


def empty_statement(place: Place, source: Source) -> Iterator[Replacement]:
    """A `pass` before an assignment."""
    yield from _before(place, source, ast.Assign, "pass")


def unused_variable(place: Place, source: Source) -> Iterator[Replacement]:
    """A variable that nothing reads, before a return; not in generators of kernels' code, where it is one more name."""
    if not _is_kernel(place.owner):
        yield from _before(place, source, ast.Return, "unused_variable = 0")


def docstring(place: Place, source: Source) -> Iterator[Replacement]:
    """Another docstring."""
    node = place.node
    if isinstance(node, Function) and is_docstring(node.body[0]) and not _is_kernel(node):
        yield source.replace(node.body[0], '"""Another text."""')


def reordered_branches(place: Place, source: Source) -> Iterator[Replacement]:
    """`a if c else b` becomes `b if not c else a`."""
    node = place.node
    if isinstance(node, ast.IfExp) and not _is_kernel(place.owner):
        yield source.replace(node, f"(({source.text(node.orelse)}) if not ({source.text(node.test)}) else "
                                   f"({source.text(node.body)}))")


def double_negation(place: Place, source: Source) -> Iterator[Replacement]:
    """`if c` becomes `if not not c`."""
    node = place.node
    if isinstance(node, ast.If) and not _is_kernel(place.owner):
        yield source.replace(node.test, f"not (not ({source.text(node.test)}))")


def named_result(place: Place, source: Source) -> Iterator[Replacement]:
    """`return f(x)` becomes two statements."""
    node = place.node
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call) and not _is_kernel(place.owner):
        line = source.data[:source.span(node)[0]].rpartition(b"\n")[2].decode()
        if not line.strip():
            yield source.replace(node, f"named_result = {source.text(node.value)}\n{line}return named_result")


def reordered_keywords(place: Place, source: Source) -> Iterator[Replacement]:
    """The last two keyword arguments of a call change places; only plain names and constants, whose order of
    evaluation cannot matter."""
    node = place.node
    if isinstance(node, ast.Call) and len(node.keywords) >= 2:
        first, second = node.keywords[-2:]
        if all(one.arg and isinstance(one.value, ast.Name | ast.Constant) for one in (first, second)):
            start, end = source.span(first)[0], source.span(second)[1]
            yield Replacement(start=start, end=end, text=f"{source.text(second)}, {source.text(first)}")


HARMLESS: Mapping[str, Operator] = {one.__name__: one for one in (
    comment, blank_lines, empty_statement, unused_variable, docstring, reordered_branches, double_negation,
    named_result, reordered_keywords)}
"""By name; `renamed_local` beside them changes several places at once."""


def renamed_local(place: Place, source: Source) -> Several:
    """Another name for a variable of a function, wherever the function has it."""
    node = place.node
    if not isinstance(node, Function):
        return
    inside = [one for statement in node.body for one in ast.walk(statement)]
    if any(isinstance(one, Function | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
                      | ast.Global | ast.Nonlocal | ast.JoinedStr | ast.ExceptHandler) for one in inside):
        return
    names = [one for one in inside if isinstance(one, ast.Name)]
    used = {one.id for one in names} | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    if used & {"locals", "eval", "exec"}:
        return
    arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    for name in dict.fromkeys(one.id for one in names if isinstance(one.ctx, ast.Store)):
        other = f"{name}_renamed"
        if name not in arguments and other not in used:
            yield tuple(source.replace(one, other) for one in names if one.id == name)


def _before(place: Place, source: Source, kind: type[ast.stmt], text: str) -> Iterator[Replacement]:
    """A line of its own before a statement."""
    node = place.node
    if isinstance(node, kind):
        start = source.span(node)[0]
        indent = source.data[:start].rpartition(b"\n")[2].decode()
        if not indent.strip():
            yield Replacement(start=start, end=start, text=f"{text}\n{indent}")


def _is_kernel(function: Function) -> bool:
    """Whether Triton's compiler reads the function, as a part of kernels."""
    return any("jit" in ast.unparse(one) or "builtin" in ast.unparse(one) for one in function.decorator_list)
