"""Repair: a scalar tensor can be a loop bound.

Triton 3.6.0 converts the one-element array behind a scalar with `int(array)`, which numpy 2.4 and later refuse, so
every loop with a bound known only at run time fails. Triton 3.9.0 has this repaired.
"""

from typing import Any

from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module


def apply(patches: Patches) -> None:
    """Replace the integer value that the interpreter gives to tensors."""

    def __index__(self: Any) -> int:
        return int(self.handle.data.item())

    def _patch_lang_tensor(call: Call, tensor: Any, scope: Any) -> None:
        call(tensor, scope)
        scope.set_attr(tensor, "__index__", __index__)

    patches.wrap(interpreter_module(), "_patch_lang_tensor", _patch_lang_tensor)
