"""Which argument a pointer comes from.

An address that runs past the end of `x` may lie inside `y`. To tell, each pointer handle carries the base addresses
it was computed from, through pointer arithmetic and everything that moves lanes. Pointers made from integers have no
known origin; for those any registered buffer is accepted.
"""

from typing import Any

from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.interpreter.undefined import MOVING
from tridiff.fuzz.versions import interpreter_module

_KEY = "tridiff.origin"
_CARRYING = ("create_addptr", "create_bitcast", "create_select", "create_gather", *MOVING)
NOWHERE: frozenset[int] = frozenset()


def origins(handle: Any) -> frozenset[int]:
    """Base addresses that the pointers in `handle` were computed from; empty when unknown."""
    # Not getattr: a tuple of Triton's answers unknown names with a ValueError (3.6.0).
    attributes = vars(handle).get("attr") if hasattr(handle, "__dict__") else None
    found: frozenset[int] = attributes.get(_KEY, NOWHERE) if attributes else NOWHERE
    return found


def apply(patches: Patches) -> None:
    """Mark pointer arguments and carry the marks along."""
    module = interpreter_module()

    def carrying(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(self, *args, **kwargs)
        united = NOWHERE.union(*map(origins, args))
        if united:
            for handle in result if isinstance(result, tuple) else (result,):
                handle.attr[_KEY] = united
        return result

    def marking(call: Call, arg: Any) -> Any:
        converted = call(arg)
        if hasattr(arg, "data_ptr"):
            converted.handle.attr[_KEY] = frozenset({int(converted.handle.data.item())})
        return converted

    for name in _CARRYING:
        patches.wrap(module.InterpreterBuilder, name, carrying)
    patches.wrap(module, "_implicit_cvt", marking)
