"""Warp specialisation: the partitions of a program take turns, each until it waits for a barrier in shared memory.

Of several orders this is one. What is modelled of an mbarrier are its phase, the arrivals that it waits for and the
bytes that it was told to expect; transfers are done where they are issued. A wait that nothing ends is refused.
"""

import copy
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Operation, Region
from tridiff.fuzz.evaluate.table import means

WARP = 32


@dataclass
class Barrier:
    """count: arrivals of a phase. pending: those that are left, with `bytes` more to come."""

    count: int
    pending: int
    bytes: int = 0
    phase: int = 0

    def arrive(self, number: int = 0, *, expected: int = 0, come: int = 0) -> None:
        """So many arrivals; bytes that are expected, and bytes that have come."""
        self.pending -= number
        self.bytes += expected - come
        if self.pending <= 0 and self.bytes == 0:
            self.phase ^= 1
            self.pending += self.count


def barrier(machine: Any, array: Any) -> Barrier | None:
    """The barrier in a place of shared memory, None where none was made."""
    found: Barrier | None = machine.barriers.get(array.ctypes.data)
    return found


class Team:
    """Partitions that take turns. ready: what each waits for."""

    def __init__(self, number: int) -> None:
        self._turn = 0
        self._changed = threading.Condition()
        self._ready: list[Callable[[], bool] | None] = [lambda: True] * number
        self._failed: BaseException | None = None

    def wait(self, own: int, ready: Callable[[], bool]) -> None:
        """Let others run until this may go on. Raises NotEvaluated where it never may."""
        with self._changed:
            self._ready[own] = ready
            self._hand_on()
            self._changed.wait_for(lambda: self._failed is not None or self._turn == own)
            if self._failed is not None:
                raise NotEvaluated("partitions of which one ended early")
            self._ready[own] = lambda: True

    def _hand_on(self) -> None:
        number = len(self._ready)
        for step in range(1, number + 1):
            place = (self._turn + step) % number
            ready = self._ready[place]
            if ready is not None and ready():
                self._turn = place
                self._changed.notify_all()
                return
        if any(one is not None for one in self._ready):
            self.fail(NotEvaluated("a wait that nothing ends"))

    def fail(self, error: BaseException) -> None:
        """End the others; the first failure is the one that counts."""
        with self._changed:
            self._failed = self._failed or error
            self._changed.notify_all()

    def done(self, own: int) -> None:
        with self._changed:
            self._ready[own] = None
            self._hand_on()

    def run(self, tasks: list[Callable[[], Any]]) -> Any:
        """What the first task gives, once all have ended."""
        results: list[Any] = [None] * len(tasks)

        def work(own: int) -> None:
            try:
                with np.errstate(all="ignore"):
                    with self._changed:
                        self._changed.wait_for(lambda: self._failed is not None or self._turn == own)
                    if self._failed is None:
                        results[own] = tasks[own]()
                self.done(own)
            except BaseException as error:
                self.fail(error)

        threads = [threading.Thread(target=work, args=(own,), daemon=True) for own in range(1, len(tasks))]
        for one in threads:
            one.start()
        work(0)
        for one in threads:
            one.join()
        if self._failed is not None:
            raise self._failed
        return results[0]


@means("ttg.warp_specialize")
def specialised(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """The default region in the scope of the program, partitions in scopes of their own."""
    given = tuple(machine[name] for name in operation.operands)
    team = Team(len(operation.regions))
    tasks: list[Callable[[], Any]] = []
    for number, region in enumerate(operation.regions):
        one = copy.copy(machine)
        one.team, one.place = team, number
        if number:
            one.values, one.threads = {}, WARP * region.warps
        tasks.append(partial(_results, one, region, given if number else ()))
    yielded = team.run(tasks)
    return (yielded[0] if len(operation.results) == 1 else yielded) if operation.results else None


def _results(machine: Any, region: Region, arguments: tuple[Any, ...]) -> Any:
    return machine.region(region, arguments)[1]


def _flag(values: list[Any]) -> bool:
    """The predicate among operands, true where there is none."""
    return all(bool(one) for one in values if np.ndim(one) == 0 and np.asarray(one).dtype == np.bool_)


@means("ttng.init_barrier")
def begun(machine: Any, operation: Operation, values: list[Any]) -> Any:
    count = _number(operation)
    machine.barriers[values[0].ctypes.data] = Barrier(count, count)


def _number(operation: Operation) -> int:
    """The number that stands behind the barrier."""
    found = re.match(r"\s*%[\w$.-]+(?:#\d+)?, (\d+)", operation.head)
    if not found:
        raise NotEvaluated(f"op {operation.name} {operation.head[:40]}")
    return int(found[1])


@means("ttng.barrier_expect")
def expected(machine: Any, operation: Operation, values: list[Any]) -> Any:
    one = barrier(machine, values[0])
    if one is not None and _flag(values[1:]):
        one.arrive(1, expected=_number(operation))


@means("ttng.arrive_barrier")
def arrived(machine: Any, operation: Operation, values: list[Any]) -> Any:
    one = barrier(machine, values[0])
    if one is not None and _flag(values[1:]):
        one.arrive(_number(operation))


@means("ttng.async_copy_mbarrier_arrive")
def arrived_behind_copies(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Every thread, or, where it also adds to what is waited for, nobody in the end."""
    one = barrier(machine, values[0])
    if one is not None and operation.flag("noIncrement"):
        one.arrive(machine.threads)


@means("ttng.wait_barrier")
def waited(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Alone, a program has nothing to wait for: what it issued is done."""
    one = barrier(machine, values[0])
    if machine.team is None or not _flag(values[2:]):
        return
    if one is None:
        raise NotEvaluated("op ttng.wait_barrier where no barrier was made")
    phase = int(values[1]) & 1
    if one.phase == phase:
        machine.team.wait(machine.place, lambda: one.phase != phase)
