"""What Triton's Python layer makes of what it is given while a case runs: call by call, to hold it against what another
build makes of the same.

Where both make the same call and another thing of it, the function that is called departs, or one that it calls. Of
such calls the one that ends first is the innermost; whoever works on with its result is given something else.
"""

from __future__ import annotations

import array
import ast
import dis
import enum
import functools
import inspect
import sys
import types
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tridiff.fuzz.blame.trial import Call
from tridiff.fuzz.coverage.lines import READER, Trace

MOST = 20_000
"""Different calls of one case; of more, only the first are told."""

_LAUNCHING = ("runtime/", "backends/", "compiler/compiler.py", "knobs.py")
_INTERPRETER = "runtime/interpreter.py"
"""What launches and keeps kernels is left out: its paths, addresses and hits are others in every process."""
_NAMELESS = ("__hash__", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>")
"""Of these another thing comes in every process, or what they are given cannot be told."""
_LEAVING = frozenset(dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR")
                     if name in dis.opmap)
_BUILDING = ("create_", "call", "get_result", "args", "arg")
"""How methods begin that give values of the IR. Locations are of no matter, which change with the text."""
_DEEPEST, _LONGEST = 12, 64
"""Parts within parts of a value, and parts of one, that are told."""
_RAISED = "raised"
_VISITING = "compiler/code_generator.py CodeGenerator.visit"


class Calls:
    """Different calls of functions below a folder that end while it is active, in this thread, in the order in which
    they end: a context manager. package: the folder of Triton."""

    def __init__(self, package: Path) -> None:
        self._root = f"{package}/"
        self._names: dict[types.CodeType, str] = {}
        self._built: array.array[int] = array.array("L")
        """Operations of the IR, in order: what a call builds is part of what it makes."""
        self._handles: dict[int, tuple[Any, str]] = {}
        self._values: dict[int, tuple[Any, str]] = {}
        self._instead: list[tuple[type, str, Any]] = []
        self._by_text = False
        """Whether functions are told by what they do: as arguments. Who only finds a function that is another does not
        depart."""
        self.made: dict[Call, None] = {}

    def __enter__(self) -> Calls:
        self._watch()
        sys.settrace(self._called)
        return self

    def __exit__(self, *about: object) -> None:
        sys.settrace(None)
        for owner, name, method in self._instead:
            setattr(owner, name, method)
        for kept in (self._handles, self._values, self._instead):
            kept.clear()

    def _called(self, frame: types.FrameType, event: str, argument: Any) -> Trace | None:
        name = self._name(frame.f_code)
        if not name or len(self.made) >= MOST:
            return None
        given = self._given(frame)
        owner = given.get("self")
        if frame.f_code.co_name == READER:
            name = self._read(given.pop("fn", None)) or name
        self._by_text = True
        before, told = len(self._built), digest(self._told(given))
        self._by_text = False
        frame.f_trace_lines = False

        def ended(frame: types.FrameType, event: str, argument: Any) -> Trace:
            if event == "return":
                left = argument is not None or frame.f_code.co_code[frame.f_lasti] in _LEAVING
                built = zlib.crc32(self._built[before:].tobytes())
                made = f"{self._told(argument) if left else _RAISED} {self._told(owner)} {built}"
                self.made.setdefault(Call(function=name, given=told, made=digest(made)))
            return ended

        return ended

    @staticmethod
    def _given(frame: types.FrameType) -> dict[str, Any]:
        """Arguments, and what a function within another one has of it."""
        code = frame.f_code
        number = code.co_argcount + code.co_kwonlyargcount + sum(
            bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
        return {one: frame.f_locals.get(one) for one in (*code.co_varnames[:number], *code.co_freevars)}

    def _name(self, code: types.CodeType) -> str:
        found = self._names.get(code)
        if found is None:
            file = code.co_filename.removeprefix(self._root)
            there = file != code.co_filename and (file == _INTERPRETER or not file.startswith(_LAUNCHING))
            named = there and code.co_name not in _NAMELESS
            found = self._names[code] = f"{file} {code.co_qualname.partition('.<locals>.<')[0]}" if named else ""
        return found

    def _read(self, function: Any) -> str:
        """The name of a function of Triton's that the code generator reads, "" for others."""
        inner = getattr(function, "fn", None)
        return self._name(inner.__code__) if isinstance(inner, types.FunctionType) else ""

    def _watch(self) -> None:
        """Know values of the IR by how they were built, where the compiler runs."""
        from triton._C.libtriton import gluon_ir, ir

        gluon = getattr(gluon_ir, "GluonOpBuilder", None)
        for owner in (ir.builder, ir.OpState, ir.function, ir.block, *((gluon,) if gluon is not None else ())):
            for name, method in list(vars(owner).items()):
                if name.startswith(_BUILDING) and not name.endswith("_loc") and callable(method):
                    self._instead.append((owner, name, method))
                    setattr(owner, name, self._building(name, method))

    def _building(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def build(owner: Any, *given: Any, **named: Any) -> Any:
            made = method(owner, *given, **named)
            number = digest(f"{name}({self._told(owner)}{self._told(given)}{self._told(named) if named else ''})")
            if name.startswith("create_"):
                self._built.append(number)
            if type(made).__module__.startswith("triton._C"):
                self._handles[id(made)] = made, f"#{number}"
            return made

        return build

    def _told(self, value: Any, depth: int = 0) -> str:
        if depth > _DEEPEST:
            return "..."
        if value is None or isinstance(value, bool | int | float | complex | bytes | enum.Enum):
            return repr(value)
        if isinstance(value, str):
            return "path" if "/" in value else repr(value)
        kind = type(value)
        known = self._handles.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        if isinstance(value, np.ndarray | np.generic):
            return f"{value.dtype}{value.shape}{zlib.crc32(np.ascontiguousarray(value).tobytes())}"
        if isinstance(value, ast.AST):
            said = f"#{digest(ast.dump(value))}"
            self._handles[id(value)] = value, said
            return said
        within = functools.partial(self._told, depth=depth + 1)
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{within(one)}: {within(other)}' for one, other in _first(value.items()))}}}"
        if isinstance(value, list | tuple | set | frozenset):
            parts = map(within, value)
            return f"({', '.join(_first(sorted(parts) if isinstance(value, set | frozenset) else parts))})"
        if isinstance(value, types.FunctionType):
            code = value.__code__
            plain = [one for one in code.co_consts if isinstance(one, bool | int | float | str)]
            does = digest(f"{code.co_code!r} {code.co_names} {plain}") if self._by_text else ""
            return f"{value.__qualname__}#{does}"
        if isinstance(value, np.ufunc):
            return value.__name__
        if isinstance(value, type | types.MethodType | types.BuiltinFunctionType):
            return value.__qualname__
        if kind.__module__.startswith("triton._C"):
            type_ = value if kind.__name__ == "type" else value.get_type() if hasattr(value, "get_type") else ""
            return f"{kind.__name__}({type_})"
        if kind.__name__ == "CodeGenerator":
            return self._scope(value)
        told = (f"{name}={within(one)}" for name, one in _parts(value))
        return f"{kind.__name__}({', '.join(told)})"

    def _scope(self, generator: Any) -> str:
        """What the code generator knows where it is: which function it reads and for which types, its names, and what
        is returned."""
        here = vars(generator)
        known = {name: self._kept(one) for name, one in dict(here.get("lscope") or {}).items()}
        returned = [self._kept(one) for one in here.get("return_vals") or ()]
        reading = here.get("function_name")
        return f"#{digest(f'{reading} {known} {returned}')}"

    def _kept(self, value: Any) -> str:
        """As `_told`, of a value that has a name and is no longer changed, once."""
        found = self._values.get(id(value))
        if found is None:
            found = self._values[id(value)] = value, self._told(value)
        return found[1]


_TOLD = ("fn", "value", "values", "type", "handle", "element_ty", "shape", "__name__")
"""Attributes of objects that tell what they are."""


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object consists of that is of Triton's language or of its interpreter. Properties and attributes that are
    made when asked for would run what is being watched."""
    here = getattr(value, "__dict__", {})
    if type(value).__name__ == "TensorHandle":
        dtype = here.get("dtype")
        yield "dtype", str(dtype)
        # Addresses are others in every process.
        if "*" not in str(dtype) and "pointer" not in str(dtype):
            yield "data", here.get("data")
        return
    fields = getattr(type(value), "__dataclass_fields__", None)
    names = ("name",) if "primitive_bitwidth" in here else _TOLD if fields is None else tuple(fields)
    yield from ((name, here[name]) for name in names if name in here)


def _first(parts: Iterable[Any]) -> Iterator[Any]:
    for number, one in enumerate(parts):
        if number == _LONGEST:
            return
        yield one


def digest(text: str) -> int:
    """A short number for a text, the same in every process."""
    return zlib.crc32(text.encode(errors="replace"))


def departing(wrong: Iterable[Call], right: Iterable[Call], usual: Collection[str] = (),
              stack: Collection[str] = (), *, only: bool = False) -> str:
    """The function that departs first, "" where none does. usual: functions that depart where nothing is wrong. stack:
    those that an error left, which come before others. only: no others count, because the builds are of two releases,
    and what they make of a call that came to its end may be another thing and right."""
    found = [one for one in departures(wrong, right) if one not in usual]
    left = next((one for one in found if one in stack), "")
    # The code generator visits every part of what goes wrong inside.
    if not stack or not (left or only) or (left.startswith(_VISITING) and not only):
        return next(iter(found), "")
    return left


def departures(wrong: Iterable[Call], right: Iterable[Call]) -> Iterator[str]:
    """Functions that make something else of what they are given in the right run as well, in order. What the right run
    makes now this, now that of is not all that it was given."""
    made: dict[tuple[str, int], set[int]] = {}
    for one in right:
        made.setdefault((one.function, one.given), set()).add(one.made)
    only = {key: some.pop() for key, some in made.items() if len(some) == 1}
    return (one.function for one in wrong if one.made != only.get((one.function, one.given), one.made))
