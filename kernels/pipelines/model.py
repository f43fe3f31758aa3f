"""Pipelines on the CPU, one step at a time: what waits for what, and what happens when nothing waits.

Every partition runs as two halves (warps that are ahead of or behind each other), every copy and multiplication as an
operation of its own that takes place at any moment between its issue and the wait for it. A schedule chooses
who is next. Shared memory holds tokens that say which tile's data lies there, and for what copies and tensor cores see
also what a fence has not published yet. Loads of threads may be under way until a fence of theirs: a TMA load of
another partition does not wait for them (within one partition the compiler adds the fence).

What is assumed of the compiler (contract: ttg_ops.md §5, and read off the PTX of both versions): an arrival, the
announcement of bytes and the issue of a TMA load come after a barrier of their partition; where a plan leaves
barriers to the compiler (`explicit` false), the halves run in step.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tridiff.kernels.pipelines import steps as s
from tridiff.kernels.pipelines.plan import Dot, Fold, Plan

Token = tuple[object, ...]
JUNK: Token = ("junk",)
Outcome = Literal["finished", "deadlock", "protocol"]
HALVES = (0, 1)


@dataclass(frozen=True)
class Result:
    """outcome: `deadlock` when all that is left waits, `protocol` when a barrier counted below zero or TMA fills what
    threads may still read.
    outputs: by (output, tile, half), the token that was stored."""

    outcome: Outcome
    outputs: dict[tuple[str, int, int], Token]


@dataclass
class _MBarrier:
    count: int
    pending: int
    bytes: int = 0
    phase: int = 0

    def settle(self) -> None:
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.count


@dataclass
class _Operation:
    """Something under way. kind: whose wait covers it. group: number of its group; -1 before the commit."""

    kind: Literal["copy", "load", "store", "dot", "arrive"]
    half: tuple[int, int]
    run: Callable[[], None]
    group: int = -1
    done: bool = False
    after: tuple[_Operation, ...] = ()


class _Protocol(Exception):
    pass


Wait = Callable[[], bool]


@dataclass
class _Half:
    """One half of a partition between two steps. waits: what it is waiting for, None to go on."""

    part: int
    half: int
    program: Iterator[Wait | None] = field(default_factory=lambda: iter(()))
    waits: Wait | None = None
    ended: bool = False
    groups: dict[str, int] = field(default_factory=lambda: {"copy": 0, "store": 0, "dot": 0})


class Schedule:
    """Who is next. lazy: operations happen when nothing else can; else as soon as they can."""

    def __init__(self, *, order: Literal["first", "last", "random"] = "first", lazy: bool | None = True,
                 seed: int = 0) -> None:
        self._order, self._lazy, self._random = order, lazy, random.Random(seed)

    def pick(self, halves: list[_Half], operations: list[_Operation]) -> _Half | _Operation:
        lazy = self._lazy if self._lazy is not None else self._random.random() < 0.5
        pool: Sequence[_Half | _Operation] = halves if halves and (lazy or not operations) else operations
        if self._order == "random":
            return self._random.choice(pool)
        # A lazy schedule lets the youngest operation happen first, which a wait for the oldest does not help.
        return pool[0] if (self._order == "first") != (pool is operations and lazy) else pool[-1]


def schedules(*, seeds: int = 6) -> list[Schedule]:
    """Extreme ones first, then random ones."""
    extreme = [Schedule(order=order, lazy=lazy) for lazy in (True, False) for order in ("first", "last")]
    mixed = [Schedule(order="random", lazy=lazy, seed=seed) for seed in range(seeds) for lazy in (True, False, None)]
    return extreme + mixed


class _Run:
    def __init__(self, kernel: s.Kernel, schedule: Schedule) -> None:
        self.kernel, self.plan, self.schedule = kernel, kernel.plan, schedule
        self.barriers = {(ring.name, k): _MBarrier(ring.count, ring.count)
                         for ring in kernel.barriers for k in range(ring.depth)}
        self.depths = {ring.name: ring.depth for ring in kernel.barriers}
        self.memory: dict[tuple[str, int], list[Token]] = {}
        self.published: dict[tuple[str, int], list[Token]] = {}
        self.reading: set[tuple[str, int, int, int]] = set()
        """Source, slot, partition and half of the reads without a fence behind them."""
        self.operations: list[_Operation] = []
        self.outputs: dict[tuple[str, int, int], Token] = {}
        self.arrived: dict[int, list[int]] = {}
        self.halves = [_Half(p, h) for p in range(len(kernel.partitions)) for h in HALVES]
        for one in self.halves:
            one.program = self._half(one)

    # -- memory

    def _slot(self, name: str, slot: int) -> list[Token]:
        return self.memory.setdefault((name, slot), [JUNK, JUNK])

    def _seen(self, name: str, slot: int) -> list[Token]:
        """What copies and tensor cores see: what threads wrote counts once it is published."""
        return self.published.setdefault((name, slot), [JUNK, JUNK])

    def _read(self, name: str, slot: int) -> Token:
        first, second = self._slot(name, slot)
        return first if first == second else ("torn", first, second)

    def _publish(self) -> None:
        self.published = {key: list(value) for key, value in self.memory.items()}

    # -- running

    def run(self) -> Result:
        try:
            while True:
                ready = [one for one in self.halves if not one.ended and (one.waits is None or one.waits())]
                under_way = [op for op in self.operations if not op.done and all(a.done for a in op.after)]
                if all(one.ended for one in self.halves):
                    for op in under_way:
                        op.run()
                    return Result("finished", self.outputs)
                if not ready and not under_way:
                    return Result("deadlock", self.outputs)
                chosen = self.schedule.pick(ready, under_way)
                if isinstance(chosen, _Operation):
                    chosen.run()
                    chosen.done = True
                    self.operations.remove(chosen)
                    continue
                try:
                    chosen.waits = next(chosen.program)
                except StopIteration:
                    chosen.ended = True
        except _Protocol:
            return Result("protocol", self.outputs)

    def _sync(self, me: _Half) -> Generator[Wait | None, None, None]:
        """A barrier of the partition's halves."""
        counts = self.arrived.setdefault(me.part, [0, 0])
        counts[me.half] += 1
        mine = counts[me.half]
        yield lambda: counts[1 - me.half] >= mine

    def _half(self, me: _Half) -> Generator[Wait | None, None, None]:
        part = self.kernel.partitions[me.part]
        registers: dict[str, Token] = {}
        sums: list[Token] = []
        yield None
        for step, tile in self._unrolled(part.steps):
            if not self.plan.explicit:
                yield from self._sync(me)
            yield from self._step(me, step, tile, registers, sums)
            yield None

    def _unrolled(self, steps: tuple[s.Step, ...], t: int = 0) -> list[tuple[s.Step, int]]:
        found: list[tuple[s.Step, int]] = []
        for step in steps:
            if isinstance(step, s.Loop):
                for number in range(max(self.plan.tiles - step.short, 0)):
                    found += self._unrolled(step.body, number)
            elif isinstance(step, s.If):
                if self._number(step.at, t) < self.plan.tiles:
                    found += self._unrolled(step.body, t)
            else:
                found.append((step, t))
        return found

    def _number(self, at: s.At, t: int) -> int:
        return at.shift + {"loop": t, "start": 0, "end": self.plan.tiles}[at.base]

    def _skipped(self, when: s.When, tile: int) -> bool:
        return (when == "exists" and tile >= self.plan.tiles) or (when == "not_negative" and tile < 0)

    def _arrive(self, name: str, tile: int, times: int = 1) -> None:
        barrier = self.barriers[name, tile % self.depths[name]]
        barrier.pending -= times
        if barrier.pending < 0:
            raise _Protocol
        barrier.settle()

    def _start(self, me: _Half, kind: Literal["copy", "load", "store", "dot", "arrive"], run: Callable[[], None],
               after: tuple[_Operation, ...] = ()) -> None:
        group = -1
        if kind in ("store", "dot"):
            group = me.groups[kind]
            me.groups[kind] += 1
        self.operations.append(_Operation(kind, (me.part, me.half), run, group, after=after))

    def _wait(self, me: _Half, kind: str, pending: int) -> Wait:
        last = me.groups[kind] - pending

        def over() -> bool:
            return not any(op.kind == kind and op.half == (me.part, me.half) and 0 <= op.group < last
                           for op in self.operations)

        return over

    # -- steps

    def _step(self, me: _Half, step: s.Step, t: int, registers: dict[str, Token],
              sums: list[Token]) -> Generator[Wait | None, None, None]:
        plan, half = self.plan, me.half
        tile = self._number(step.at, t) if hasattr(step, "at") else 0
        if isinstance(step, s.Arrive | s.Expect | s.TmaLoad):
            yield from self._sync(me)
        if self._skipped(getattr(step, "when", ""), tile):
            return
        ring = tile % plan.ring
        match step:
            case s.Barrier():
                yield from self._sync(me)
            case s.Fence():
                self._publish()
                self.reading = {one for one in self.reading if one[2:] != (me.part, half)}
            case s.Copy(source):
                self._start(me, "copy", self._write(source, ring, half, tile))
            case s.Fill(source):
                self._write(source, ring, half, tile)()
            case s.Commit():
                for op in self.operations:
                    if op.kind == "copy" and op.half == (me.part, half) and op.group < 0:
                        op.group = me.groups["copy"]
                me.groups["copy"] += 1
            case s.WaitGroups(pending):
                yield self._wait(me, "copy", pending)
            case s.ArriveOnCopies(barrier, _, counted):
                self._arrive_later(me, barrier, tile, counted)
            case s.Expect(barrier, _, size):
                if half == 0:
                    self.barriers[barrier, tile % self.depths[barrier]].bytes += size
                    self._arrive(barrier, tile)
            case s.TmaLoad(source, _, barrier):
                if half == 0:
                    self._start(me, "load", self._load(me.part, source, tile, ring, barrier))
            case s.WaitBarrier(barrier, _, opposite):
                depth = self.depths[barrier]
                found, parity = self.barriers[barrier, tile % depth], (tile // depth & 1) ^ opposite
                yield lambda: found.phase & 1 != parity
            case s.Arrive(barrier):
                if half == 0:
                    self._arrive(barrier, tile)
            case s.Read(source):
                registers["vw"[source]] = self._read(f"x{source}", ring)
                self.reading.add((f"x{source}", ring, me.part, half))
            case s.Apply(op, buffer, explicit):
                if explicit and buffer:
                    yield from self._sync(me)
                if buffer:
                    self._slot(buffer, 0)[half] = registers["v"]
                    yield None
                    if explicit or not plan.explicit:
                        yield from self._sync(me)
                    registers["v"] = self._read(buffer, 0)
                elif op.kind.startswith("second"):
                    registers["v"] = (op.kind, registers["v"], registers["w"])
            case s.StoreOut(_, output):
                self.outputs[output, tile, half] = registers["v"]
            case s.PutOut():
                self._slot("staged", tile % self._staged())[half] = registers["v"]
            case s.GetOut():
                registers["v"] = self._read("staged", tile % self._staged())
            case s.TmaStore():
                if half == 0:
                    self._start(me, "store", self._store(tile, tile % self._staged()))
            case s.StoreWait(pending):
                yield self._wait(me, "store", pending)
            case s.FoldStep():
                sums.append(registers["v"])
            case s.FoldEnd() | s.DotEnd():
                self.outputs["out", 0, half] = tuple(sums)
            case s.DotStep():
                assert isinstance(plan.sink, Dot)
                multiply = self._multiply(ring, registers.get("v") if plan.sink.registers else None, sums)
                if plan.sink.asynchronous:
                    mine = tuple(op for op in self.operations if op.kind == "dot" and op.half == (me.part, half))
                    self._start(me, "dot", multiply, after=mine)
                else:
                    multiply()
            case s.DotWait(pending):
                yield self._wait(me, "dot", pending)
            case _:
                pass

    def _staged(self) -> int:
        return getattr(self.plan.sink, "buffers", self.plan.ring)

    def _write(self, source: int, slot: int, half: int, tile: int) -> Callable[[], None]:
        def run() -> None:
            self._slot(f"x{source}", slot)[half] = (f"x{source}", tile)

        return run

    def _arrive_later(self, me: _Half, barrier: str, tile: int, counted: bool) -> None:
        """Arrive for this half's threads when its copies so far are done."""
        ring = self.barriers[barrier, tile % self.depths[barrier]]
        threads = 32 * self.kernel.partitions[me.part].warps // 2
        if counted:
            ring.pending += threads
        mine = tuple(op for op in self.operations if op.kind == "copy" and op.half == (me.part, me.half))
        self._start(me, "arrive", lambda: self._arrive(barrier, tile, threads), after=mine)

    def _load(self, part: int, source: int, tile: int, slot: int, barrier: str) -> Callable[[], None]:
        rows, columns = self.plan.tile_shape(source)

        def run() -> None:
            if any(one[:2] == (f"x{source}", slot) and one[2] != part for one in self.reading):
                raise _Protocol
            for half in HALVES:
                self._slot(f"x{source}", slot)[half] = (f"x{source}", tile)
                self._seen(f"x{source}", slot)[half] = (f"x{source}", tile)
            found = self.barriers[barrier, tile % self.depths[barrier]]
            found.bytes -= rows * columns * self.plan.itemsize
            found.settle()

        return run

    def _store(self, tile: int, slot: int) -> Callable[[], None]:
        def run() -> None:
            for half in HALVES:
                self.outputs["out", tile, half] = self._seen("staged", slot)[half]

        return run

    def _multiply(self, slot: int, left: Token | None, sums: list[Token]) -> Callable[[], None]:
        def run() -> None:
            first = left if left is not None else tuple(self._seen("x0", slot))
            sums.append(("dot", first, tuple(self._seen("x1", slot))))

        return run


def simulate(kernel: s.Kernel, schedule: Schedule) -> Result:
    """Run a kernel to its end, or until nothing can go on."""
    return _Run(kernel, schedule).run()


def expected(plan: Plan) -> dict[tuple[str, int, int], Token]:
    """The outputs of a correct run, straight from the plan."""

    def tile(t: int) -> Token:
        value: Token = ("x0", t)
        for op in plan.ops:
            if op.kind.startswith("second"):
                value = (op.kind, value, ("x1", t))
        return value

    if isinstance(plan.sink, Dot):
        parts: tuple[Token, ...] = tuple(
            ("dot", tile(t) if plan.sink.registers else (tile(t),) * 2, (("x1", t),) * 2) for t in range(plan.tiles))
        return {("out", 0, half): parts for half in HALVES}
    if isinstance(plan.sink, Fold):
        return {("out", 0, half): tuple(tile(t) for t in range(plan.tiles)) for half in HALVES}
    outputs = ("out", "second") if plan.has("compute_second") else ("out",)
    return {(output, t, half): tile(t) for output in outputs for t in range(plan.tiles) for half in HALVES}


def verdicts(kernel: s.Kernel, *, seeds: int = 6) -> set[str]:
    """What becomes of a kernel under all schedules: `right`, `wrong`, `deadlock`, `protocol`."""
    want = expected(kernel.plan)
    found = set[str]()
    for schedule in schedules(seeds=seeds):
        result = simulate(kernel, schedule)
        found.add(result.outcome if result.outcome != "finished" else "right" if result.outputs == want else "wrong")
    return found
