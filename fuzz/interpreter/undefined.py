"""Follow undefined values through an interpreted kernel, lane by lane.

A masked-off lane of a load without `other`, a quotient by zero, an oversized shift: the values of such lanes are
undefined, and on hardware they differ from run to run. That is harmless until one of them reaches memory, an
address, a mask, a branch or an assertion. Each tensor handle therefore carries a set of undefined lanes, and every
builder operation computes the set of its result, the way a memory sanitizer shadows memory:

* element-wise operations unite the sets of their operands, except where a defined operand decides the result
  (`x & 0`, `x | -1`, `x * 0` for integers, the branch not taken of a select);
* operations that move lanes (reshape, broadcast, transpose, join, gather ...) move the sets alike;
* a reduction is undefined if any lane it folds is; a scan, from the first such lane on.

The trace (`tridiff.fuzz.interpreter.trace`) adds memory to this: what is stored stays undefined until overwritten.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.versions import interpreter_module, mask_lanes

_KEY = "tridiff.undefined"
MOVING = ("create_reshape", "create_trans", "create_expand_dims", "create_broadcast", "create_cat", "create_join",
          "create_split", "create_splat", "create_unsplat")
"""Methods that move lanes and compute nothing."""
# Handled one by one below, without a result, or about memory and left to the trace.
_OWN_RULE = ("create_and", "create_or", "create_mul", "create_select", "create_gather", "create_dot",
             "create_dot_scaled", "create_histogram", "create_masked_load", "create_atomic_rmw",
             "create_load", "create_store", "create_masked_store", "create_tensor_pointer_load",
             "create_tensor_pointer_store", "create_atomic_load", "create_atomic_store", "create_print",
             "create_assert", "create_assume", "create_barrier")

_observer: Callable[[str, Any, Array], None] | None = None


def undefined_lanes(handle: Any) -> Array | None:
    """bool array of the shape of the handle's data, True in undefined lanes; None when all are defined."""
    # Not getattr: a tuple of Triton's answers unknown names with a ValueError (3.6.0).
    attributes = vars(handle).get("attr") if hasattr(handle, "__dict__") else None
    lanes: Array | None = attributes.get(_KEY) if attributes else None
    return lanes


def mark_undefined(handle: Any, lanes: Array) -> None:
    """Add `lanes` (bool, broadcastable to the handle's data) to the undefined lanes of `handle`."""
    if lanes.any():
        before = undefined_lanes(handle)
        united = lanes if before is None else before | lanes
        handle.attr[_KEY] = np.broadcast_to(united, handle.data.shape)


def observe(observer: Callable[[str, Any, Array], None] | None) -> None:
    """Have `observer(use, handle, lanes)` called when a branch or an assertion depends on undefined lanes."""
    global _observer
    _observer = observer


def report_use(use: str, handle: Any) -> None:
    """Tell the observer if `handle` has undefined lanes."""
    lanes = undefined_lanes(handle)
    if lanes is not None and _observer is not None:
        _observer(use, handle, lanes)


def apply(patches: Patches) -> None:
    """Wrap every operation of the builder. Install after all repairs that replace operations."""
    module = interpreter_module()
    builder = module.InterpreterBuilder
    for name in dir(builder):
        if name.startswith("create_") and name not in MOVING and name not in _OWN_RULE:
            patches.wrap(builder, name, _uniting)
    for name in MOVING:
        patches.wrap(builder, name, _moving)
    patches.wrap(builder, "create_and", partial(_absorbing, lambda data: data == 0))
    patches.wrap(builder, "create_mul", partial(_absorbing, lambda data: data == 0))
    patches.wrap(builder, "create_or", partial(_absorbing, lambda data: ~data == 0))
    patches.wrap(builder, "create_select", _select)
    patches.wrap(builder, "create_gather", _gather)
    patches.wrap(builder, "create_dot", _dot)
    patches.wrap(builder, "create_dot_scaled", _everything, optional=True)
    patches.wrap(builder, "create_histogram", _everything)
    patches.wrap(builder, "create_masked_load", _masked_load)
    patches.wrap(builder, "create_atomic_rmw", _atomic_rmw)
    patches.wrap(builder, "create_assert", _asserted)
    patches.wrap(builder, "create_assume", _asserted)
    patches.wrap(module.ReduceOps, "apply_impl", _reduce)
    patches.wrap(module.ScanOps, "apply_impl", _scan)
    patches.wrap(module, "_patch_lang_tensor", _branches)


def _of(handle: Any) -> Array | bool:
    lanes = undefined_lanes(handle)
    return False if lanes is None else lanes


def _tainted(operands: Any) -> list[Array]:
    return [lanes for lanes in map(undefined_lanes, operands) if lanes is not None]


def _uniting(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = call(self, *args, **kwargs)
    for lanes in _tainted(args) if result is not None else ():  # a store through a descriptor has no result
        mark_undefined(result, lanes)
    return result


def _moving(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = call(self, *args, **kwargs)
    if _tainted(args):
        moved = call(self, *map(_shadow, args), **kwargs)
        results, shadows = (result, moved) if isinstance(result, tuple) else ((result,), (moved,))
        for handle, shadow in zip(results, shadows, strict=True):
            mark_undefined(handle, shadow.data)
    return result


def _shadow(operand: Any) -> Any:
    """A handle of bools that holds the undefined lanes of `operand`; other arguments pass through."""
    module = interpreter_module()
    if not isinstance(operand, module.TensorHandle):
        return operand
    lanes = np.broadcast_to(_of(operand), operand.data.shape)
    return module.TensorHandle(lanes, module.tl.int1)


def _absorbing(absorbs: Callable[[Array], Array], call: Call, self: Any, lhs: Any, rhs: Any) -> Any:
    result = call(self, lhs, rhs)
    if _tainted((lhs, rhs)):
        left, right = np.asarray(_of(lhs)), np.asarray(_of(rhs))
        decided = (~left & absorbs(lhs.data)) | (~right & absorbs(rhs.data))
        mark_undefined(result, (left | right) & ~decided)
    return result


def _select(call: Call, self: Any, condition: Any, lhs: Any, rhs: Any) -> Any:
    result = call(self, condition, lhs, rhs)
    if _tainted((condition, lhs, rhs)):
        mark_undefined(result, _of(condition) | np.where(condition.data, _of(lhs), _of(rhs)))
    return result


def _gather(call: Call, self: Any, src: Any, indices: Any, axis: int) -> Any:
    result = call(self, src, indices, axis)
    if _tainted((src, indices)):
        mark_undefined(result, call(self, _shadow(src), indices, axis).data | _of(indices))
    return result


def _dot(call: Call, self: Any, a: Any, b: Any, d: Any, *rest: Any, **kwargs: Any) -> Any:
    result = call(self, a, b, d, *rest, **kwargs)
    if _tainted((a, b, d)):
        rows = _shadow(a).data.any(axis=-1, keepdims=True)
        columns = _shadow(b).data.any(axis=-2, keepdims=True)
        mark_undefined(result, rows | columns | _of(d))
    return result


def _everything(call: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = call(self, *args, **kwargs)
    if _tainted(args):
        mark_undefined(result, np.ones((), dtype=bool))
    return result


def _masked_load(call: Call, self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **kwargs: Any) -> Any:
    result = call(self, ptrs, mask, other, *rest, **kwargs)
    masked_off = True if other is None else _of(other)
    mark_undefined(result, np.where(mask_lanes(mask), _of(ptrs), masked_off) | _of(mask))
    return result


def _atomic_rmw(call: Call, self: Any, op: Any, ptr: Any, val: Any, mask: Any, *rest: Any) -> Any:
    result = call(self, op, ptr, val, mask, *rest)
    mark_undefined(result, ~mask_lanes(mask) | _of(ptr) | _of(mask))
    return result


def _asserted(call: Call, self: Any, condition: Any, *rest: Any) -> Any:
    report_use("assertion", condition)
    return call(self, condition, *rest)


def _fold(tensors: Any) -> Array | None:
    united: Array | None = None
    for lanes in _tainted(tensor.handle for tensor in tensors):
        united = lanes if united is None else united | lanes
    return united


def _reduce(call: Call, self: Any, tensors: Any) -> Any:
    result = call(self, tensors)
    lanes = _fold(tensors)
    if lanes is not None:
        lanes = np.asarray(lanes.any(axis=self.axis, keepdims=self.keep_dims))
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            mark_undefined(tensor.handle, lanes)
    return result


def _scan(call: Call, self: Any, tensors: Any) -> Any:
    lanes = _fold(tensors)
    result = call(self, tensors)
    if lanes is not None:
        forward = np.flip(lanes, axis=self.axis) if self.reverse else lanes
        lanes = np.logical_or.accumulate(forward, axis=self.axis)
        lanes = np.flip(lanes, axis=self.axis) if self.reverse else lanes
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            mark_undefined(tensor.handle, lanes)
    return result


def _branches(call: Call, tensor: Any, scope: Any) -> None:
    call(tensor, scope)
    for method in ("__bool__", "__index__"):
        scope.set_attr(tensor, method, _branching(getattr(tensor, method)))


def _branching(call: Call) -> Call:
    def method(self: Any) -> Any:
        report_use("branch", self.handle)
        return call(self)

    return method
