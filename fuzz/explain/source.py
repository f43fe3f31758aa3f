"""The source of a kernel and of everything that it reaches. Runs in the children, with Triton's compiled or interpreted
functions alike: only the Python functions behind them are looked at."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from tridiff.fuzz.explain.model import Function, Source

MOST_FUNCTIONS = 60


def reached(kernel: Any, arguments: Iterable[Any] = ()) -> list[Any]:
    """The kernel and the jit functions that it reaches, breadth first; those of Triton's own library are left out.
    arguments: of the launch, among which there may be functions that the kernel calls."""
    found: list[Any] = []
    ahead = [kernel, *(one for one in arguments if _is_jit(one))]
    while ahead and len(found) < MOST_FUNCTIONS:
        one = ahead.pop(0)
        if any(one.fn is known.fn for known in found):
            continue
        found.append(one)
        ahead += [value for _, value in _read(one.fn) if _is_jit(value) and not _of_triton(value.fn)]
    return found


def source_of(kernel: Any, arguments: Iterable[Any] = ()) -> Source:
    """The text of what is reached, and the plain values of globals that it reads."""
    functions = reached(kernel, arguments)
    values = {name: repr(getattr(value, "value", value)) for one in functions for name, value in _read(one.fn)
              if isinstance(value, int | float | str | bool) or type(value).__name__ in ("constexpr", "dtype")}
    return Source(functions=tuple(_function(one, role="callee" if place else "kernel")
                                  for place, one in enumerate(functions)), globals=dict(sorted(values.items())))


def _is_jit(value: Any) -> bool:
    return hasattr(value, "fn") and hasattr(value, "arg_names") and inspect.isfunction(value.fn)


def _of_triton(function: Any) -> bool:
    return str(function.__module__).partition(".")[0] == "triton"


def _read(function: Any) -> Iterator[tuple[str, Any]]:
    """Names of a function that are no locals, with what they stand for: globals, and attributes of modules."""
    tree = tree_of(function)
    known = {**inspect.getclosurevars(function).nonlocals, **{
        name: function.__globals__[name] for name in _names(tree) if name in function.__globals__}}
    yield from known.items()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = known.get(node.value.id)
            if inspect.ismodule(owner) and hasattr(owner, node.attr):
                yield f"{node.value.id}.{node.attr}", getattr(owner, node.attr)


def _names(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def text_of(function: Any) -> tuple[str, int]:
    """The text of a function without its decorators, and the line of the file that it begins at."""
    lines, start = inspect.getsourcelines(function)
    first = next((number for number, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    return textwrap.dedent("".join(lines[first:])), (start or 1) + first


def tree_of(function: Any) -> ast.Module:
    """The syntax tree of one function, with the line numbers of its file. The same for the compiled and the interpreted
    class, which both keep the Python function."""
    text, start = text_of(function)
    tree = ast.parse(text)
    ast.increment_lineno(tree, start - 1)
    return tree


def _function(kernel: Any, *, role: str) -> Function:
    text, line = text_of(kernel.fn)
    return Function(name=kernel.fn.__name__, file=kernel.fn.__code__.co_filename, line=line, text=text.rstrip("\n"),
                    tree=ast.dump(ast.parse(text), indent=1), role=role)  # type: ignore[arg-type]


def line_text(file: str, line: int) -> str:
    """A line of a file or of a generated module."""
    return linecache.getline(file, line).strip()
