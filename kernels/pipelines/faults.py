"""Deliberately broken pipelines: each fault changes the steps of a correct kernel in one way.

A barrier of all warps is no fault to leave out: the compiler finds those itself, and before TMA loads and arrivals it
puts one in any case (contract: ttg_ops.md §5).

A fault that a plan offers no place for raises `NotApplicable`. Whether a fault can be seen at all is what
`model.py` shows; what sees it on a GPU (a wrong value, a launch that differs from itself, the concurrency sanitizer, a
hang) is for the table of `tests/gpu/test_pipelines_on_device.py`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType, UnionType
from typing import Any

from tridiff.kernels.pipelines import steps as s


class NotApplicable(ValueError):
    """The plan has no place for this fault."""


Change = Callable[[s.Step], tuple[s.Step, ...]]
Fault = Callable[[s.Kernel], s.Kernel]


def _changed(steps: tuple[s.Step, ...], change: Change) -> tuple[s.Step, ...]:
    found: list[s.Step] = []
    for step in steps:
        if isinstance(step, s.Loop | s.If):
            found.append(dataclasses.replace(step, body=_changed(step.body, change)))
        else:
            found += change(step)
    return tuple(found)


def _partitions(kernel: s.Kernel, change: Callable[[s.Partition], s.Partition],
                why: str = "the plan has no place for this fault") -> s.Kernel:
    """The kernel with its partitions changed; why: what to say where nothing changes."""
    partitions = tuple(map(change, kernel.partitions))
    if partitions == kernel.partitions:
        raise NotApplicable(why)
    return dataclasses.replace(kernel, partitions=partitions)


def _everywhere(change: Change) -> Fault:
    """Apply a change to every step of every partition; it must change something."""
    return lambda kernel: _partitions(
        kernel, lambda part: dataclasses.replace(part, steps=_changed(part.steps, change)))


def _without(kind: type) -> Fault:
    return _everywhere(lambda step: () if isinstance(step, kind) else (step,))


def _each(kind: type | UnionType, fields: Callable[[Any], dict[str, Any]]) -> Change:
    """Other values of some fields of every step of a kind."""
    return lambda step: (dataclasses.replace(step, **fields(step)) if isinstance(step, kind) else step,)


def _is_full(step: s.Step) -> bool:
    return isinstance(step, s.WaitBarrier) and not step.opposite


def _barriers(change: Callable[[s.BarrierRing], s.BarrierRing]) -> Fault:
    def plant(kernel: s.Kernel) -> s.Kernel:
        barriers = tuple(change(ring) for ring in kernel.barriers)
        if barriers == kernel.barriers:
            raise NotApplicable("the plan has no mbarrier for this fault")
        return dataclasses.replace(kernel, barriers=barriers)

    return plant


def _count(by: int) -> Callable[[s.BarrierRing], s.BarrierRing]:
    """Other arrival counts of barriers that say that a slot is full, or of those with several readers."""

    def change(ring: s.BarrierRing) -> s.BarrierRing:
        wanted = "full" in ring.name if by > 0 else ring.count > 1
        return dataclasses.replace(ring, count=ring.count + by) if wanted else ring

    return change


def _one_more(kind: type) -> Change:
    return _each(kind, lambda wait: {"pending": wait.pending + 1})


def _too_shallow(kernel: s.Kernel) -> s.Kernel:
    if kernel.plan.slack:
        raise NotApplicable("the wait is stricter than it has to be")
    return _everywhere(_one_more(s.WaitGroups))(kernel)


def _read_early(kernel: s.Kernel) -> s.Kernel:
    if kernel.plan.ring < 2 or kernel.plan.tiles < 2:
        raise NotApplicable("there is no other slot")
    return _everywhere(_each(s.Read | s.DotStep, lambda step: {"at": step.at.moved(1)}))(kernel)


def _release_early(kernel: s.Kernel) -> s.Kernel:
    """Readers give a slot back before they have read it."""

    def change(part: s.Partition) -> s.Partition:
        return _loops(part, _released_first) if part.role.startswith("compute") else part

    return _partitions(kernel, change, "nobody gives slots back")


def _loops(part: s.Partition, change: Callable[[s.Loop], s.Loop]) -> s.Partition:
    """The partition with its outermost loops changed."""
    return dataclasses.replace(part, steps=tuple(
        change(step) if isinstance(step, s.Loop) else step for step in part.steps))


def _released_first(loop: s.Loop) -> s.Loop:
    given = [step for step in loop.body if isinstance(step, s.Arrive) and step.barrier.startswith("empty")]
    rest = [step for step in loop.body if step not in given]
    waits = sum(isinstance(step, s.WaitBarrier) for step in rest[:4])
    given = [dataclasses.replace(step, at=s.At(), when="") for step in given]
    return dataclasses.replace(loop, body=(*rest[:waits], *given, *rest[waits:]))


def _expect(factor: float) -> Fault:
    return _everywhere(_each(s.Expect, lambda step: {"size": int(step.size * factor)}))


def _registers(kernel: s.Kernel) -> s.Kernel:
    """Another number of registers than the plan asks for."""

    def change(part: s.Partition) -> s.Partition:
        more = 8 if part.registers < 64 else -8
        return dataclasses.replace(part, registers=part.registers + more) if part.registers else part

    return _partitions(kernel, change, "the plan asks for no registers")


def _unmasked(kernel: s.Kernel) -> s.Kernel:
    plan = kernel.plan
    stores = any(isinstance(step, s.StoreOut) for part in kernel.partitions for step in flat(part.steps))
    if not stores or not plan.cut + plan.before:
        raise NotApplicable("no store is masked")
    return dataclasses.replace(kernel, masked=False)


def flat(steps: tuple[s.Step, ...]) -> list[s.Step]:
    """All steps, those in loops and branches included."""
    found: list[s.Step] = []
    for step in steps:
        found.append(step)
        if isinstance(step, s.Loop | s.If):
            found += flat(step.body)
    return found


def _dot_wait_too_shallow(kernel: s.Kernel) -> s.Kernel:
    """The loop's wait for multiplications leaves one more under way; the one behind the loop stays."""

    def shallower(loop: s.Loop) -> s.Loop:
        return dataclasses.replace(loop, body=_changed(loop.body, _one_more(s.DotWait)))

    return _partitions(kernel, lambda part: _loops(part, shallower), "no multiplication is under way behind its step")


FAULTS: Mapping[str, Fault] = MappingProxyType({
    "missing_wait": _everywhere(lambda step: () if isinstance(step, s.WaitGroups) or _is_full(step) else (step,)),
    "wait_one_too_shallow": _too_shallow,
    "missing_commit": _without(s.Commit),
    "wrong_phase": _everywhere(_each(s.WaitBarrier, lambda step: {"opposite": True})),
    "arrive_count_one_too_high": _barriers(_count(1)),
    "arrive_count_one_too_low": _barriers(_count(-1)),
    "missing_arrive": _without(s.Arrive),
    "missing_proxy_fence": _without(s.Fence),
    "read_one_stage_early": _read_early,
    "released_before_read": _release_early,
    "register_request_ignored": _registers,
    "expect_half_the_bytes": _expect(0.5),
    "expect_twice_the_bytes": _expect(2),
    "store_wait_missing": _without(s.StoreWait),
    "store_wait_one_too_shallow": _everywhere(_one_more(s.StoreWait)),
    "reused_before_dot_wait": _dot_wait_too_shallow,
    "predicate_dropped": _unmasked,
})
"""Every fault by name."""
