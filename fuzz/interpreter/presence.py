"""Let Triton's own Python code ask whether a tensor argument was given.

`tl.load` and others test their optional arguments with `if other`. In compiled mode every tensor is true there; the
interpreter gives tensors the truth value of their data, so `other=0` for a block of one element counts as absent, and
`other` for a larger block would be refused by the repair `block_truth`. Always installed, because other repairs
turn the absence of `other` into something visible.
"""

import sys
from typing import Any

from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module, triton_language


def apply(patches: Patches) -> None:
    """Make tensors true for the modules that build operations. Install last."""
    tl = triton_language()
    machinery = frozenset({sys.modules[name].__file__ for name in (
        tl.core.__name__, tl.math.__name__, "triton.language.semantic")})

    def _patch_lang_tensor(call: Call, tensor: Any, scope: Any) -> None:
        call(tensor, scope)
        value = tensor.__bool__

        def __bool__(self: Any) -> bool:
            if sys._getframe(1).f_code.co_filename in machinery:
                return True
            return bool(value(self))

        scope.set_attr(tensor, "__bool__", __bool__)

    patches.wrap(interpreter_module(), "_patch_lang_tensor", _patch_lang_tensor)
