"""The source of a kernel and of every device function it reaches, cut down to one launch.

Runs in a child process that has Triton: it reads the jit functions themselves.
"""

import ast
import linecache
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.repro.inline import (
    InlineExpressions,
    call_sites,
    common_constants,
    drop_aliases,
    drop_arguments,
    expression_of,
    inline_statement,
)
from tridiff.fuzz.repro.simplify import assigned, bind, constant_node, fold, loaded, parameters

_STANDARD = {"triton": "triton", "tl": "triton.language"}
_LIBRARIES = ("triton", "torch", "typing")
"""Packages that a script may import; everything else is written out."""


@dataclass
class Program:
    """Functions in the order in which they can be defined, the kernel last, and what they need above them."""

    functions: dict[str, ast.FunctionDef]
    kernel: str
    imports: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    decorators: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    """Function to the package it is defined in."""

    def text(self, *, spacing: int) -> str:
        """Source text; spacing: blank lines between functions."""
        parts = list(self.constants)
        for name, node in self.functions.items():
            parts.append(f"{self.decorators.get(name, '@triton.jit')}\n{ast.unparse(node)}")
        return ("\n" * (spacing + 1)).join(parts)


def is_jit(thing: object) -> bool:
    """Whether `thing` is a device function (compiled or interpreted)."""
    return type(thing).__name__ in ("JITFunction", "InterpretedFunction") and hasattr(thing, "fn")


def parse(function: Any) -> ast.FunctionDef:
    """The tree of a jit function's `def`, with the line numbers that the compiler uses."""
    node = ast.parse(function.src).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def scope_of(function: Any) -> dict[str, Any]:
    """What a free name of the function denotes."""
    inner = function.fn
    cells = zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True)
    return {**inner.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def _from_library(function: Any) -> bool:
    return function.fn.__module__.partition(".")[0] in _LIBRARIES


class _Collector:
    """Walks from a kernel to everything it reaches."""

    def __init__(self, visited: Mapping[int, frozenset[int]] | None) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        self.imports: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.decorators: dict[str, str] = {}
        self.packages: dict[str, str] = {}
        self._visited = visited
        self._names: dict[int, str] = {}

    def name_of(self, function: Any) -> str:
        """The script's name for a function: its own, or that with a number where two share one."""
        if id(function) not in self._names:
            wanted = function.fn.__name__
            name, number = wanted, 2
            while name in self._names.values():
                name, number = f"{wanted}{number}", number + 1
            self._names[id(function)] = name
        return self._names[id(function)]

    def add(self, function: Any, bound: Mapping[str, object], *, rename: str = "") -> str:
        """Take in a function and what it needs; its name in the script."""
        if _from_library(function) and not bound:
            module, name = function.fn.__module__, function.fn.__name__
            self.imports[name] = f"from {module} import {name}"
            return str(name)
        if rename:
            self._names[id(function)] = rename
        name = self.name_of(function)
        if name in self.functions:
            return name
        node, scope = parse(function), scope_of(function)
        self.functions[name] = node  # holds the place against recursion
        values = {one: self.expression(value) for one, value in bound.items()}
        node = bind(node, values)
        node.name = name
        known = {value.id for value in values.values() if isinstance(value, ast.Name)}
        present = known | {one for one in set(loaded(node)) if is_jit(scope.get(one))}
        visited = None if self._visited is None else self._visited.get(id(function))
        node = fold(node, present=present, visited=visited)
        node = self._resolve(node, scope, skip=known)
        del self.functions[name]  # callees stand before callers
        self.functions[name] = node
        self.packages[name] = function.fn.__module__.rpartition(".")[0]
        options = [f"{option}={value!r}" for option in ("do_not_specialize", "noinline")
                   if (value := getattr(function, option, None)) and not (
                       isinstance(value, list) and not set(value) & set(parameters(node)))]
        self.decorators[name] = f"@triton.jit({', '.join(options)})" if options else "@triton.jit"
        return name

    def expression(self, value: object) -> ast.expr:
        """How a compile-time argument is written."""
        if is_jit(value):
            return ast.Name(self.add(value, {}), ast.Load())
        if value is None or isinstance(value, bool | int | float | str):
            return constant_node(value)
        if isinstance(value, tuple):
            return ast.Tuple([self.expression(one) for one in value], ast.Load())
        name = _dtype_name(value)
        if name:
            return ast.Attribute(ast.Name("tl", ast.Load()), name, ast.Load())
        raise TridiffError(f"a constant of type {type(value).__name__} cannot be written into a script",
                           fix="rerun it with `tridiff repro` instead, or add it to fuzz/repro/source.py")

    def _resolve(self, node: ast.FunctionDef, scope: Mapping[str, Any], skip: set[str]) -> ast.FunctionDef:
        """Bring in what the function's free names denote, under the names that the script gives it."""
        local = assigned(node.body) | set(parameters(node))
        collector = self

        class Resolve(ast.NodeTransformer):
            def visit_Attribute(self, attribute: ast.Attribute) -> ast.expr:
                thing = _chain(attribute, scope, local)
                if is_jit(thing) and not _from_library(thing):
                    return ast.Name(collector.add(thing, {}), ast.Load())
                self.generic_visit(attribute)
                return attribute

            def visit_Name(self, name: ast.Name) -> ast.expr:
                read = isinstance(name.ctx, ast.Load) and name.id not in local and name.id not in skip
                return collector.free(name.id, scope) if read and name.id in scope else name

        resolved = Resolve().visit(node)
        assert isinstance(resolved, ast.FunctionDef)
        return resolved

    def free(self, name: str, scope: Mapping[str, Any]) -> ast.expr:
        """The script's expression for a global of a scope."""
        thing = scope[name]
        if is_jit(thing):
            name = self.add(thing, {})
        elif isinstance(thing, types.ModuleType):
            if _STANDARD.get(name) != thing.__name__:
                self.imports[name] = f"import {thing.__name__} as {name}"
        elif type(thing).__name__ == "constexpr":
            self.constants[name] = f"{name} = tl.constexpr({ast.unparse(self.expression(thing.value))})"
        elif isinstance(thing, bool | int | float | str):
            self.constants[name] = f"{name} = {ast.unparse(self.expression(thing))}"
        elif getattr(thing, "__module__", "").partition(".")[0] in _LIBRARIES:
            alias = "" if name == thing.__name__ else f" as {name}"
            self.imports[name] = f"from {thing.__module__} import {thing.__name__}{alias}"
        elif type(thing).__name__ == "ConstexprFunction" or (
                isinstance(thing, type) and thing.__module__.startswith("generated.")):
            self._take_definition(name, scope)
        elif not isinstance(thing, type | types.BuiltinFunctionType):
            raise TridiffError(f"the global {name!r} of a kernel cannot be written into a script",
                               fix="rerun it with `tridiff repro` instead, or add it to fuzz/repro/source.py")
        return ast.Name(name, ast.Load())

    def _take_definition(self, name: str, scope: Mapping[str, Any]) -> None:
        """An aggregate or a function of constants, as its module writes it, with what it and its decorators name."""
        if name in self.constants:
            return
        text = "".join(linecache.getlines(scope["__file__"]))
        node = next(one for one in ast.parse(text).body
                    if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == name)
        self.constants[name] = ""  # holds the place against recursion
        bound = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        for used in dict.fromkeys(loaded(node)):
            if used in scope and used not in bound | _STANDARD.keys():
                self.free(used, scope)
        del self.constants[name]  # behind the constants that it names
        self.constants[name] = ast.unparse(node)


def _chain(node: ast.expr, scope: Mapping[str, Any], local: set[str]) -> Any:
    """What `a.b.c` denotes, as far as modules go; None otherwise."""
    if isinstance(node, ast.Name):
        return scope.get(node.id) if node.id not in local else None
    if isinstance(node, ast.Attribute):
        owner = _chain(node.value, scope, local)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None
    return None


def _dtype_name(value: object) -> str:
    """The attribute of `triton.language` that is this dtype."""
    import triton.language as tl

    if isinstance(value, tl.dtype):
        for name in dir(tl):
            if isinstance(getattr(tl, name), tl.dtype) and getattr(tl, name) == value:
                return name
    return ""


def collect(
    kernel: Any, *, constants: Mapping[str, object], visited: Mapping[int, frozenset[int]] | None = None,
) -> Program:
    """The kernel with its compile-time arguments filled in, and every function it reaches.

    kernel: a jit function. constants: values of its constexpr parameters. visited: what
    `tridiff.fuzz.repro.liveness.visited_lines` found for this launch. Raises TridiffError for a kernel that uses what
    cannot be written down.
    """
    collector = _Collector(visited)
    name = collector.add(kernel, constants, rename="kernel")
    return _program(collector, name)


def _program(collector: _Collector, kernel: str) -> Program:
    program = Program(functions=collector.functions, kernel=kernel, imports=sorted(collector.imports.values()),
                      constants=list(collector.constants.values()), decorators=collector.decorators,
                      packages=collector.packages)
    propagate_constants(program)
    inline_expressions(program)
    return program


def _stays(program: Program, name: str) -> bool:
    """Whether a function is called when the kernel runs: how arguments are passed is part of what may be wrong."""
    return "noinline" in program.decorators.get(name, "")


def propagate_constants(program: Program) -> None:
    """Fill in arguments that are the same constant in every call, callers first, and drop what they rule out."""
    for name in reversed(list(program.functions)):
        callee = program.functions[name]
        calls = [call for node in program.functions.values() for call in call_sites(node, name)]
        mentions = [one for node in program.functions.values() for one in loaded(node) if one == name]
        if name == program.kernel or _stays(program, name) or not calls or len(mentions) != len(calls):
            continue
        constants = common_constants(callee, calls)
        if constants:
            for call in calls:
                drop_arguments(call, callee, constants)
            program.functions[name] = fold(bind(callee, constants), present=program.functions, visited=None)


def inline_expressions(program: Program) -> None:
    """Put functions that only return an expression in place of their calls; drop what nothing reaches any more."""
    callees = {name: node for name, node in program.functions.items()
               if expression_of(node) is not None and not _stays(program, name)}
    for node in program.functions.values():
        others = {name: callee for name, callee in callees.items() if callee is not node}
        InlineExpressions(others, node, program.functions).visit(node)
    _drop_unused(program)


def inline_statements(program: Program, *, everything: bool) -> None:
    """Put functions that are called once, from one statement, in place of the call: those of the kernel's own package,
    which are its scaffolding, and with `everything` the others too."""
    functions, home = program.functions, program.packages[program.kernel]
    while _inline_one(functions, {name for name in functions if not _stays(program, name) and (
            everything or program.packages[name] == home)}):
        pass
    kernel = functions[program.kernel]
    # Arguments that are None have been filled in, so whatever the kernel still takes is there.
    functions[program.kernel] = fold(kernel, present=(*functions, *parameters(kernel)), visited=None)
    for node in functions.values():
        drop_aliases(node)


def _inline_one(functions: dict[str, ast.FunctionDef], allowed: set[str]) -> bool:
    uses = [name for node in functions.values() for name in loaded(node)]
    for caller in functions.values():
        local = assigned(caller.body) | set(parameters(caller))
        for number, statement in enumerate(caller.body):
            call = getattr(statement, "value", None)
            name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
            if name not in allowed:
                continue
            once = uses.count(name) == 1
            if not once and len(functions[name].body) > 1:
                continue
            behind = {one for later in caller.body[number + 1:] for one in loaded(later)}
            body = inline_statement(statement, functions[name], taken=local, dead=local - behind,
                                    reserved=(*functions, *_STANDARD), functions=functions)
            if body is not None:
                caller.body[number:number + 1] = body
                if once:
                    del functions[name]
                return True
    return False


def _drop_unused(program: Program) -> None:
    """Remove functions, constants and imports that nothing reaches any more."""
    constants = {_defined(text): ast.parse(text) for text in program.constants}
    names, todo = {program.kernel}, [program.kernel]
    while todo:
        name = todo.pop()
        node: ast.AST | None = program.functions.get(name) or constants.get(name)
        reached = set(loaded(node)) - names if node is not None else set()
        names |= reached
        todo += reached
    program.functions = {name: node for name, node in program.functions.items() if name in names}
    program.constants = [text for text in program.constants if _defined(text) in names]
    program.imports = [line for line in program.imports if line.split()[-1] in names]


def _defined(text: str) -> str:
    """The name that the text of a constant, a class or a function of constants defines."""
    (node,) = ast.parse(text).body
    return node.name if isinstance(node, ast.ClassDef | ast.FunctionDef) else text.partition(" = ")[0]


def joined(programs: list[Program]) -> tuple[Program, list[str]]:
    """(one program with the kernels of all, the name of each one's kernel). Functions that differ and share a name get
    a number behind it; equal ones stand once."""
    whole, kernels = programs[0], [programs[0].kernel]
    for number, program in enumerate(programs[1:], 2):
        taken = {name: ast.dump(node) for name, node in whole.functions.items()}
        renamed = {name: f"{name}_{number}" for name, node in program.functions.items()
                   if name in taken and taken[name] != ast.dump(node)}
        for name, node in program.functions.items():
            for one in ast.walk(node):
                if isinstance(one, ast.Name) and one.id in renamed:
                    one.id = renamed[one.id]
            new = renamed.get(name, name)
            node.name = new
            whole.functions[new] = node
            whole.decorators[new] = program.decorators.get(name, "@triton.jit")
            whole.packages[new] = program.packages[name]
        kernels.append(renamed.get(program.kernel, program.kernel))
        whole.imports = sorted({*whole.imports, *program.imports})
        whole.constants = list(dict.fromkeys((*whole.constants, *program.constants)))
    return whole, kernels
