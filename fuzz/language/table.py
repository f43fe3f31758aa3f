"""The table of the language: every public name of the installed Triton, and what covers it.

Read from the installed modules, so that a function that a newer Triton adds is an uncovered name.
"""

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from tridiff.fuzz.language.elsewhere import NO_FUNCTIONS, REFUSED, TARGETS
from tridiff.fuzz.language.gluon_names import (
    METHODS,
    MODULES as GLUON,
    NO_FUNCTIONS as NO_FUNCTIONS_OF_GLUON,
    REFUSED as REFUSED_OF_GLUON,
    TARGETS as TARGETS_OF_GLUON,
)
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.row import installed

_MODULES = {"tl": "triton.language", "tl.math": "triton.language.math", "libdevice": "triton.language.extra.libdevice"}
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift")
_OPERATORS = (*(f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r")), "__lt__", "__le__", "__gt__",
              "__ge__", "__eq__", "__ne__", "__neg__", "__invert__", "__not__", "__getitem__")


@dataclass(frozen=True, kw_only=True)
class Table:
    """What covers the names of one Triton: rows by name; elsewhere: targets that reach a name; refused by contract;
    uncovered: with the reason."""

    triton: str
    rows: tuple[str, ...]
    covered: dict[str, tuple[str, ...]]
    elsewhere: dict[str, str]
    refused: dict[str, str]
    uncovered: dict[str, str]


def names() -> tuple[str, ...]:
    """Public functions, methods and operators of the installed Triton, spelled as rows spell them."""
    found: dict[str, None] = {}
    for short, path in _MODULES.items():
        module = importlib.import_module(path)
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and name not in NO_FUNCTIONS and _is_function(value, path):
                found[f"{short}.{name}"] = None
    for short, path in GLUON.items():
        try:
            module = importlib.import_module(path)
        except ImportError:  # a version without it
            continue
        for name in dir(module):
            value = getattr(module, name)
            if not (name.startswith("_") or name in (*NO_FUNCTIONS, *NO_FUNCTIONS_OF_GLUON) or inspect.ismodule(value)):
                found[f"{short}.{name}"] = None
    owner, of, short = METHODS
    for name in dir(getattr(importlib.import_module(GLUON[owner]), of)):
        if not name.startswith("_"):
            found[f"{short}.{name}"] = None
    tensor = importlib.import_module("triton.language").tensor
    for name in dir(tensor):
        if not name.startswith("_") or name in _OPERATORS:
            found[f"tensor.{name}"] = None
    return tuple(found)


def _is_function(value: Any, path: str) -> bool:
    if inspect.ismodule(value) or not callable(value):
        return False
    origin = getattr(getattr(value, "fn", value), "__module__", "") or ""
    return origin.startswith("triton") and (path == "triton.language" or origin in (path, "triton.language.math") or
                                            "libdevice" in origin)


def table() -> Table:
    """The table of the installed Triton."""
    version = installed()
    by_name: dict[str, list[str]] = {}
    for row in rows().values():
        if not row.offered(version):
            continue
        for one in row.covers:
            by_name.setdefault(one, []).append(row.name)
    covered: dict[str, tuple[str, ...]] = {}
    elsewhere, refused, uncovered = {}, {}, {}
    for name in names():
        plain = "tl." + name.removeprefix("tl.math.") if name.startswith("tl.math.") else name
        of = by_name.get(name) or by_name.get(plain)
        function = "tl." + name.removeprefix("tensor.")
        if of:
            covered[name] = tuple(of)
        elif name in TARGETS_OF_GLUON:
            elsewhere[name] = TARGETS_OF_GLUON[name]
        elif name in REFUSED_OF_GLUON:
            refused[name] = REFUSED_OF_GLUON[name]
        elif name in TARGETS or plain in TARGETS:
            elsewhere[name] = TARGETS.get(name) or TARGETS[plain]
        elif name in REFUSED:
            refused[name] = REFUSED[name]
        elif name.startswith("tensor.") and (function in by_name or function in TARGETS):
            uncovered[name] = f"{function} has a row, not yet as a method"
        else:
            uncovered[name] = "no row yet"
    return Table(triton=version, rows=tuple(rows()), covered=covered, elsewhere=elsewhere, refused=refused,
                 uncovered=uncovered)
