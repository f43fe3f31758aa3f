"""Which functions of Triton's Python layer a case runs, of a few that are watched.

The modules that hold them are compiled with a note at the beginning of each watched function when they are imported:
one call of a C function each time it runs, and nothing anywhere else. Library functions that kernels call are not run
but read by the compiler; where it begins to read one, or the interpreter to rewrite it, that is noted as well.
"""

import ast
import importlib.machinery
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from types import CodeType, ModuleType
from typing import Any, TypeVar

import msgspec

from tridiff.fuzz.backends.beside import Compared, asked
from tridiff.kernels.record import Record

VARIABLE = "TRIDIFF_WATCHED"
"""Environment variable that has a `Watch` in JSON, in processes that are to watch."""

READERS = {"compiler/code_generator.py": {"CodeGenerator.call_JitFunction": "fn"},
           "runtime/interpreter.py": {"InterpretedFunction.rewrite": "self"}}
"""By file, methods that take a kernel function as data, and the argument that it is."""

_REACHED, _READ, _ASKED = "__tridiff_reached__", "__tridiff_read__", "__tridiff_asked__"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


class Watch(Record, kw_only=True):
    """What to watch. package: folder of `triton/__init__.py`. functions: by file below it and by name (`functions`),
    the numbers of the changes to note when one runs. read: whether any of them is a kernel function.

    A change is noted as its number when a function runs that it concerns, as `effect(number)` when the very statements
    run that differ (`places`), or what is as good, and as `idle(number)` where these came to the same as those of the
    other build would have (`compared`)."""

    package: str
    functions: dict[str, dict[str, tuple[int, ...]]]
    places: dict[str, dict[str, dict[str, int]]] = {}
    """By file and function, ways to statements ("body.2.orelse.0") with the number of the change in front of each."""
    compared: dict[str, dict[str, dict[str, tuple[Compared, ...]]]] = {}
    """By file, function and way, expressions of that statement, with those of the other build."""
    read: bool = False


_noted: set[int] = set()
_imported: frozenset[int] = frozenset()
_known: dict[tuple[str, str], tuple[int, ...]] = {}
"""Numbers by file and qualified name."""


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Every function of a module with its name: classes and functions around it in front, points between; of several
    of one name in one place the later ones have a number behind it."""
    seen: dict[str, int] = {}
    yield from _functions(tree, within, seen)


def _functions(node: ast.AST, within: str, seen: dict[str, int]) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            name = within + child.name
            seen[name] = seen.get(name, 0) + 1
            name += f" {seen[name]}" if seen[name] > 1 else ""
            yield name, child
            yield from _functions(child, name + ".", seen)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{within}{child.name}.", seen)
        else:
            yield from _functions(child, within, seen)


def effect(number: int) -> int:
    """What is noted when the statements of a change run."""
    return -1 - 2 * number


def idle(number: int) -> int:
    """What is noted instead when they come to the same in both builds."""
    return -2 - 2 * number


def with_effect(noted: Iterable[int]) -> set[int]:
    """Of what was noted, the numbers of changes whose statements ran to some effect."""
    return {(-1 - one) // 2 for one in noted if one < 0 and one % 2}


def with_statements(noted: Iterable[int]) -> set[int]:
    """Of what was noted, the numbers of changes whose statements ran, to some effect or none."""
    return {(-1 - one) // 2 for one in noted if one < 0}


def install(text: str) -> None:
    """Watch what `text` (a `Watch` in JSON, "" for nothing) says, in modules that are imported from now on."""
    if text:
        watch = msgspec.json.decode(text, type=Watch)
        sys.meta_path.insert(0, Finder(partial(_with_notes, watch), noting(_noted.add)))
        for file, names in watch.functions.items():
            for name, numbers in names.items():
                _known[os.path.join(watch.package, file), name] = numbers


def changes(text: str) -> frozenset[int]:
    """Numbers of the changes that `text` watches."""
    watch = msgspec.json.decode(text, type=Watch) if text else None
    return frozenset(number for names in (watch.functions.values() if watch else ()) for found in names.values()
                     for number in found)


def ready() -> None:
    """What ran so far is no case's: it runs whenever Triton is imported."""
    global _imported
    _imported = frozenset(_noted)
    _noted.clear()


def begin() -> None:
    """A case begins."""
    _noted.clear()


def reached() -> tuple[int, ...]:
    """Numbers of what ran since the case began."""
    return tuple(sorted(_noted))


def imported() -> tuple[int, ...]:
    """Numbers of what ran before any case."""
    return tuple(sorted(_imported))


def note(numbers: Iterable[int]) -> None:
    """These ran in a copy of this process."""
    _noted.update(numbers)


def _read(function: Any) -> None:
    """The compiler or the interpreter takes this kernel function."""
    function = getattr(function, "__func__", function)
    code = getattr(getattr(function, "fn", None), "__code__", None)
    if isinstance(code, CodeType):
        name = code.co_qualname.replace(".<locals>", "")
        for number in _known.get((code.co_filename, name), ()):
            _noted.update((number, effect(number)))


def noting(note: Callable[[int], Any]) -> dict[str, Callable[..., Any]]:
    """What modules with notes in them call, by name. note: takes a number."""
    return {_REACHED: note, _READ: _read,
            _ASKED: asked(lambda number, apart: note(effect(number) if apart else idle(number)))}


class Finder(MetaPathFinder):
    """Finds modules of Triton whose code has calls in it. code: by path of a file, None where it is as it stands.
    called: what their code calls, by name."""

    def __init__(self, code: Callable[[str], CodeType | None], called: dict[str, Callable[..., Any]]) -> None:
        self._code, self._called = code, called

    def find_spec(self, fullname: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "triton":
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        code = self._code(found.origin) if found is not None and found.origin else None
        if found is None or not found.origin or code is None:
            return None
        found.loader = _Loader(fullname, found.origin, code, self._called)
        return found


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads code that was made of a module's text; compiled files that lie beside it are not used."""

    def __init__(self, fullname: str, path: str, code: CodeType, called: dict[str, Callable[..., Any]]) -> None:
        super().__init__(fullname, path)
        self._code, self._called = code, called

    def get_code(self, fullname: str) -> CodeType:
        return self._code

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(self._called)
        super().exec_module(module)


def _with_notes(watch: Watch, path: str) -> CodeType | None:
    """The code of a file with notes in it; None where nothing is to be noted."""
    if not path.startswith(watch.package + os.sep):
        return None
    file = path[len(watch.package) + 1:].replace(os.sep, "/")
    names, readers = watch.functions.get(file, {}), READERS.get(file, {}) if watch.read else {}
    if not names and not readers:
        return None
    with open(path, "rb") as text:
        tree = ast.parse(text.read(), filename=path)
    put_notes(tree, names, readers, watch.places.get(file, {}), watch.compared.get(file, {}))
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def put_notes(tree: ast.Module, names: dict[str, tuple[int, ...]], readers: dict[str, str],
              places: dict[str, dict[str, int]], compared: dict[str, dict[str, tuple[Compared, ...]]]) -> None:
    """Put notes into a module's syntax tree: as in a `Watch`, of this file."""
    for name, node in list(functions(tree)):
        # From behind: what is put in moves what comes later.
        ways = places.get(name, {})
        for way, number in sorted(ways.items(), key=lambda one: _order(one[0]), reverse=True):
            asks = compared.get(name, {}).get(way, ())
            for one in asks:
                _ask(node, f"{way}.{one.way}".rstrip("."), one, number)
            if not asks:
                _put(node, way, _call(effect(number)))
        calls = [_call(one) for number in names.get(name, ())
                 for one in ((number,) if number in ways.values() else (number, effect(number)))]
        if name in readers:
            calls.append(ast.Call(ast.Name(_READ, ast.Load()), [ast.Name(readers[name], ast.Load())], []))
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        place = node.body[min(first, len(node.body) - 1)]
        node.body[first:first] = [_placed(ast.Expr(call), place) for call in calls]


def _call(number: int) -> ast.expr:
    return ast.Call(ast.Name(_REACHED, ast.Load()), [ast.Constant(number)], [])


def _order(way: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in way.split(".")]


def _put(node: ast.AST, way: str, call: ast.expr) -> None:
    """Put a call in front of the statement to which a way leads."""
    around, _, last = way.rpartition(".")
    around, _, field = around.rpartition(".")
    node = _at(node, around)
    statements: list[ast.stmt] = getattr(node, field)
    place = statements[min(int(last), len(statements) - 1)] if statements else node
    statements.insert(int(last), _placed(ast.Expr(call), place))


def _ask(node: ast.AST, way: str, one: Compared, number: int) -> None:
    """Evaluate what stands at the end of a way together with the other build's expression."""
    def call(mine: ast.expr) -> ast.expr:
        nothing = ast.arguments([], [], None, [], [], None, [])
        other = ast.parse(one.other, mode="eval").body
        for part in ast.walk(other):
            ast.copy_location(part, mine)
        return ast.Call(ast.Name(_ASKED, ast.Load()), [
            ast.Lambda(nothing, mine), ast.Lambda(nothing, other), ast.Constant(number), ast.Constant(one.truth)], [])

    if not one.way:
        _put(node, way, call(ast.Constant(False)))
        return
    around, _, field = way.rpartition(".")
    if field.isdigit():
        several: list[ast.expr] = _at(node, around)  # type: ignore[assignment]
        several[int(field)] = _placed(call(several[int(field)]), several[int(field)])
    else:
        inner = _at(node, around)
        setattr(inner, field, _placed(call(getattr(inner, field)), getattr(inner, field)))


def _at(node: ast.AST, way: str) -> ast.AST:
    """The node, or the list of them, at the end of a way."""
    for step in filter(None, way.split(".")):
        node = node[int(step)] if isinstance(node, list) else getattr(node, step)
    return node


def _placed(node: Node, place: ast.AST) -> Node:
    """Give a new node, and what is new in it, the place of an old one."""
    return ast.fix_missing_locations(ast.copy_location(node, place))
