"""Repair: refuse `and`, `or`, `not` and chained comparisons on blocks.

Compiled code evaluates them lane by lane. The interpreter runs Python's own rules, for which a block of more than
one element is always true: `p and q` becomes `q`, `not p` becomes False, silently. Triton 3.9.0 rewrites chained
comparisons into lane-wise ones; there they stay accepted.

The refusal happens at run time, where Python asks a block for its truth value, and not by a look at the syntax tree
beforehand: the same `and` is right on scalars and compile-time constants (Triton's own library uses it so), a tree
does not know which operands are blocks, and helpers reached through function arguments cannot be found in it. What
this misses: a *scalar* left operand (`flag and block`) still short-circuits, which gives the right value in every
lane but not the block shape.
"""

from typing import Any

from tridiff.fuzz.interpreter.faults import BlockTruthValue
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module


def apply(patches: Patches) -> None:
    """Replace the truth value that the interpreter gives to tensors."""

    def __bool__(self: Any) -> bool:
        data = self.handle.data
        if data.size != 1:
            raise BlockTruthValue(
                f"a block of shape {tuple(data.shape)} has no single truth value; write & | ^ and tl.where "
                "instead of and, or, not, if and chained comparisons, or reduce the block first")
        return bool(data.item())

    def _patch_lang_tensor(call: Call, tensor: Any, scope: Any) -> None:
        call(tensor, scope)
        scope.set_attr(tensor, "__bool__", __bool__)

    patches.wrap(interpreter_module(), "_patch_lang_tensor", _patch_lang_tensor)
