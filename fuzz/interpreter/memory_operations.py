"""The builder's memory methods, wrapped so that a trace sees each access: checked, executed, accounted.

All accesses end in four methods: masked load, masked store, atomic read-modify-write and compare-and-swap. The others
(descriptors, block pointers of Triton 3.6.0, atomic load/store/poll of 3.9.0) call the first two and only contribute
the name of the operation. Trailing arguments differ between versions and pass through untouched.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tridiff.fuzz.interpreter import provenance
from tridiff.fuzz.interpreter.narrow_floats import Array
from tridiff.fuzz.interpreter.patching import Call, Patches
from tridiff.fuzz.interpreter.shadow_memory import bit_patterns
from tridiff.fuzz.interpreter.trace import Trace, memory_bits
from tridiff.fuzz.interpreter.undefined import mark_undefined, undefined_lanes
from tridiff.fuzz.versions import interpreter_module, mask_lanes

_NAMED = {
    "create_atomic_load": "atomic_load", "create_atomic_store": "atomic_store", "create_atomic_poll": "atomic_poll",
    "create_tensor_pointer_load": "block_pointer_load", "create_tensor_pointer_store": "block_pointer_store",
    "create_descriptor_load": "descriptor_load", "create_descriptor_store": "descriptor_store",
    "create_descriptor_gather": "descriptor_gather", "create_descriptor_scatter": "descriptor_scatter",
}
# Position of the memory ordering among the arguments after `ptr`.
_ORDERING = {"create_atomic_load": 1, "create_atomic_store": 2, "create_atomic_poll": 2}
_ATOMIC = frozenset({"atomic_load", "atomic_store", "atomic_poll"})


def missing() -> tuple[str, ...]:
    """Names of the interpreter that a trace observes and that are gone; nothing is changed."""
    patches = Patches(apply=False)
    with patches.purpose("trace"):
        apply(patches, Trace((), events=False))
    return patches.missing


def apply(patches: Patches, trace: Trace) -> None:
    """Wrap the memory methods on behalf of `trace`."""
    operations = _Operations(trace)
    provenance.apply(patches)
    builder = interpreter_module().InterpreterBuilder
    patches.wrap(builder, "create_masked_load", operations.load)
    patches.wrap(builder, "create_masked_store", operations.store)
    patches.wrap(builder, "create_atomic_rmw", operations.read_modify_write)
    patches.wrap(builder, "create_atomic_cas", operations.compare_and_swap)
    patches.wrap(builder, "create_barrier", operations.barrier)
    for name, operation in _NAMED.items():
        patches.wrap(builder, name, partial(operations.named, operation, _ORDERING.get(name)),
                     optional=True)


class _Operations:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.outer: str | None = None
        self.outer_origins = provenance.NOWHERE

    def named(self, operation: str, ordering: int | None, call: Call, builder: Any, first: Any, *rest: Any,
              **kwargs: Any) -> Any:
        """A method that consists of masked loads or stores and gives them its name."""
        if self.outer is not None:
            return call(builder, first, *rest, **kwargs)
        trace, self.outer = self.trace, operation
        # Descriptors and block pointers make the addresses of their lanes from a base pointer they hold.
        self.outer_origins = provenance.origins(getattr(first, "base", first))
        try:
            if ordering is None:
                return call(builder, first, *rest, **kwargs)
            program, semantic = trace.accessor().program, rest[ordering]
            mask = rest[ordering - 1] if operation != "atomic_poll" else _all_active(first)
            trace.synchronise(first, mask, semantic, program, before=True)
            result = call(builder, first, *rest, **kwargs)
            trace.synchronise(first, mask, semantic, program, before=False)
            return result
        finally:
            self.outer, self.outer_origins = None, provenance.NOWHERE

    def resolve(self, operation: str, ptrs: Any, mask: Any, size: int) -> Any:
        """Where the active lanes lie; raises OutOfBounds."""
        self.check_operands(ptrs, mask)
        return self.trace.resolve(operation, ptrs, mask, size, origins=provenance.origins(ptrs) or self.outer_origins)

    def load(self, call: Call, builder: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **kwargs: Any) -> Any:
        """create_masked_load(ptrs, mask, other, ...)."""
        trace, operation = self.trace, self.outer or "load"
        size = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
        parts = self.resolve(operation, ptrs, mask, size)
        result = call(builder, ptrs, mask, other, *rest, **kwargs)
        accessor = trace.accessor()
        for part in parts:
            memory, elements = trace.memory(part.buffer), trace.elements(part, size)
            conflicts = (memory.update(elements, accessor, writes=False) if operation in _ATOMIC
                         else memory.read(elements, accessor))
            trace.report_conflicts(part, accessor, conflicts)
            self.inherit(result, part, memory.undefined[part.elements])
        if operation in _ATOMIC:
            bits = bit_patterns(result.data)
            trace.waits(operation, ptrs, accessor.program, bits, bits)
        if trace.keeps_events:
            bits = bit_patterns(result.data)
            trace.keep(operation, ptrs, mask, parts, bits, bits)
        return result

    def store(self, call: Call, builder: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **kwargs: Any) -> Any:
        """create_masked_store(ptrs, value, mask, ...)."""
        trace, operation = self.trace, self.outer or "store"
        size = int(value.data.dtype.itemsize)
        parts = self.resolve(operation, ptrs, mask, size)
        before = memory_bits(ptrs, mask, value.data.dtype) if trace.keeps_events else None
        result = call(builder, ptrs, value, mask, *rest, **kwargs)
        accessor, lanes = trace.accessor(), self.undefined_in(value)
        trace.progress()
        for part in parts:
            memory, elements = trace.memory(part.buffer), trace.elements(part, size)
            conflicts = (memory.update(elements, accessor, writes=True) if operation in _ATOMIC
                         else memory.write(elements, accessor))
            trace.report_conflicts(part, accessor, conflicts)
            self.deposit("store", part, elements, lanes)
        if before is not None:
            trace.keep(operation, ptrs, mask, parts, before, bit_patterns(value.data))
        return result

    def read_modify_write(self, call: Call, builder: Any, op: Any, ptr: Any, val: Any, mask: Any, sem: Any,
                          scope: Any) -> Any:
        """create_atomic_rmw(op, ptr, value, mask, ordering, scope)."""
        return self.atomic("atomic_rmw", ptr, mask, sem, (val,),
                           lambda: call(builder, op, ptr, val, mask, sem, scope))

    def compare_and_swap(self, call: Call, builder: Any, ptr: Any, cmp: Any, val: Any, sem: Any, scope: Any) -> Any:
        """create_atomic_cas(ptr, expected, value, ordering, scope)."""
        return self.atomic("atomic_cas", ptr, _all_active(ptr), sem, (cmp, val),
                           lambda: call(builder, ptr, cmp, val, sem, scope))

    def atomic(
        self, operation: str, ptr: Any, mask: Any, sem: Any, operands: tuple[Any, ...], execute: Callable[[], Any]
    ) -> Any:
        """Check, execute and account for an atomic update."""
        trace, dtype = self.trace, operands[-1].data.dtype
        parts = self.resolve(operation, ptr, mask, int(dtype.itemsize))
        accessor = trace.accessor()
        trace.synchronise(ptr, mask, sem, accessor.program, before=True)
        before = memory_bits(ptr, mask, dtype)
        result = execute()
        after = memory_bits(ptr, mask, dtype)
        trace.synchronise(ptr, mask, sem, accessor.program, before=False)
        accessor = trace.accessor()
        for part in parts:
            memory, elements = trace.memory(part.buffer), trace.elements(part, int(dtype.itemsize))
            trace.report_conflicts(part, accessor, memory.update(elements, accessor, writes=True))
            self.inherit(result, part, memory.undefined[part.elements])
            kept = memory.undefined[elements].copy()
            for operand in operands:
                self.deposit("atomic operand", part, elements, self.undefined_in(operand))
                kept |= memory.undefined[elements]
            memory.undefined[elements] = kept
        trace.waits(operation, ptr, accessor.program, before, after)
        if trace.keeps_events:
            trace.keep(operation, ptr, mask, parts, before, after)
        return result

    def barrier(self, call: Call, builder: Any, *rest: Any) -> Any:
        """create_barrier()."""
        if self.trace.keeps_events:
            self.trace.keep_barrier()
        return call(builder, *rest)

    def undefined_in(self, handle: Any) -> Array | None:
        """The undefined lanes of `handle`; None when undefined values are not being followed."""
        return undefined_lanes(handle) if self.trace.undefined_checked else None

    def check_operands(self, ptrs: Any, mask: Any) -> None:
        """Report undefined masks, and undefined addresses of active lanes."""
        for use, handle in (("mask", mask), ("address", ptrs)):
            lanes = self.undefined_in(handle)
            if lanes is not None:
                count = int((lanes & mask_lanes(mask)).sum()) if use == "address" else int(lanes.sum())
                if count:
                    self.trace.report_undefined(use, count)

    def inherit(self, result: Any, part: Any, lanes: Array) -> None:
        """Give `result` the undefined content of the memory it was read from."""
        if self.trace.undefined_checked and lanes.any():
            everywhere = np.zeros(result.data.size, dtype=bool)
            everywhere[part.lanes] = lanes
            mark_undefined(result, everywhere.reshape(result.data.shape))

    def deposit(self, use: str, part: Any, elements: Array, lanes: Array | None) -> None:
        """Note in memory which elements now hold undefined content."""
        memory = self.trace.memory(part.buffer)
        if lanes is None:
            memory.undefined[elements] = False
            return
        stored = np.repeat(lanes.ravel()[part.lanes], elements.size // part.elements.size)
        memory.undefined[elements] = stored
        if stored.any():
            self.trace.report_undefined(use, int(stored.sum()), part, int(elements[int(np.argmax(stored))]))


def _all_active(ptr: Any) -> Any:
    module = interpreter_module()
    return module.TensorHandle(np.ones(np.shape(ptr.data), dtype=bool), module.tl.int1)
