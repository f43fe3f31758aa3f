"""Repair: libdevice functions compute something, or say that they cannot.

Unrepaired, every function of `triton.language.extra.libdevice` is an empty stub under the interpreter: it
returns None, silently where the result is not used. The stand-ins are part of the kernel stack:
`tridiff.kernels.helpers.libdevice` defines functions named as in libdevice that take and return interpreter tensors.
They are planted where kernels and the installed torch look the names up. A function without a stand-in is
replaced by a refusal. Contract: helpers.md §14.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tridiff.fuzz.interpreter.faults import NoStandIn
from tridiff.fuzz.interpreter.patching import Patches
from tridiff.fuzz.interpreter.undefined import mark_undefined, undefined_lanes
from tridiff.fuzz.versions import libdevice_modules

STAND_INS = "tridiff.kernels.helpers.libdevice"


def stand_ins() -> Mapping[str, Callable[..., Any]]:
    """Name -> function of every stand-in the kernel stack has."""
    if STAND_INS not in sys.modules and importlib.util.find_spec(STAND_INS) is None:
        return {}
    module = importlib.import_module(STAND_INS)
    return {name: value for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")}


def apply(patches: Patches) -> None:
    """Plant a stand-in or a refusal for every libdevice function."""
    available = stand_ins()
    for module in libdevice_modules():
        for name in _functions(module):
            planted = _following(available[name]) if name in available else _refusing(name)
            patches.set(module, name, planted)


def _functions(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")]


def _following(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with the undefined lanes of its operands passed on to its results."""
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        for operand in (*args, *kwargs.values()):
            lanes = undefined_lanes(getattr(operand, "handle", None))
            if lanes is not None:
                for tensor in result if isinstance(result, tuple) else (result,):
                    mark_undefined(tensor.handle, lanes)
        return result

    return stand_in


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NoStandIn(f"libdevice.{name} cannot be interpreted; add a stand-in called {name} to {STAND_INS}")

    return refuse
