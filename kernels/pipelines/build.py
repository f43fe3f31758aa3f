"""From a plan to the steps of its partitions: the only place that decides what waits for what.

Why the result is free of races and always ends (contract: ttg_ops.md §4, §5):
  - a slot is read after the copies into it are done: wait groups count back from the youngest, mbarriers complete when
    every contribution of the tile has arrived;
  - a slot is filled again after everyone has read it: in one partition the refill comes after a barrier of all warps,
    between partitions after the reader's arrival on the slot's `empty` mbarrier;
  - threads' writes that copies or tensor cores read are fenced, then ordered by a barrier or an arrival;
  - nobody waits for a tile that nobody copies: partitions run through the same tiles, and what is left out by a
    predicate is never waited for.
"""

from __future__ import annotations

from kernels.pipelines import plan as plans
from kernels.pipelines.plan import ACROSS, Dot, Fold, Plan, TmaStore
from kernels.pipelines.steps import (
    Apply,
    Arrive,
    ArriveOnCopies,
    At,
    Barrier,
    BarrierRing,
    Commit,
    Copy,
    DotBegin,
    DotEnd,
    DotStep,
    DotWait,
    Expect,
    Fence,
    Fill,
    FoldBegin,
    FoldEnd,
    FoldStep,
    GetOut,
    If,
    Kernel,
    Loop,
    Partition,
    PutOut,
    Read,
    Side,
    Step,
    StoreOut,
    StoreWait,
    TmaLoad,
    WaitBarrier,
    WaitGroups,
    When,
    ZeroOutside,
)
from kernels.pipelines.steps import TmaStore as TmaStoreStep

T = At()


def build(plan: Plan) -> Kernel:
    """The kernel of a legal plan (see `legal.problem`)."""
    built: list[Partition] = []
    if not plan.workers:
        built.append(Partition("compute", plan.warps, 0, _alone(plan)))
    else:
        built.append(Partition(plan.default, plan.warps, 0, _steps_of(plan, plan.default)))
        built += [Partition(worker.role, worker.warps, worker.registers or 0, _steps_of(plan, worker.role))
                  for worker in plan.workers]
    stages = tuple((f"stage_{role}_{number}", role)
                   for role in ("compute", "compute_second") if role == "compute" or plan.has("compute_second")
                   for number, op in enumerate(plan.ops) if op.kind.startswith("stage"))
    return Kernel(plan, _barriers(plan), tuple(built), stages)


def full(plan: Plan, source: int) -> str:
    """Name of the mbarriers that say that a source's slots are filled."""
    return "full" if plan.shared_barrier else f"full{source}"


def _empty(plan: Plan, source: int) -> str:
    return full(plan, source).replace("full", "empty")


def _barriers(plan: Plan) -> tuple[BarrierRing, ...]:
    counts: dict[str, int] = {}
    for source in range(len(plan.sources)):
        if plans.needs_barrier(plan, source):
            name = full(plan, source)
            counts[name] = counts.get(name, 0) + plans.arrivals(plan, source)
    rings = [BarrierRing(name, plan.ring, count) for name, count in counts.items()]
    if plan.workers:
        readers = 1 + plan.has("compute_second")
        rings += [BarrierRing(name.replace("full", "empty"), plan.ring, readers) for name in counts]
    if plan.has("store"):
        rings += [BarrierRing("out_full", plan.ring, 1), BarrierRing("out_empty", plan.ring, 1)]
    return tuple(rings)


def _tile_bytes(plan: Plan, source: int) -> int:
    rows, columns = plan.tile_shape(source)
    return rows * columns * plan.itemsize


def _fetch(plan: Plan, sources: tuple[int, ...], at: At, when: When) -> list[Step]:
    """Start all copies of a tile; commits are left to the caller."""
    steps: list[Step] = []
    for source in sources:
        copy = plan.sources[source].copy
        barrier = full(plan, source)
        if copy == "tma":
            steps += [Expect(barrier, at, _tile_bytes(plan, source), when), TmaLoad(source, at, barrier, when)]
        elif copy == "cp_async":
            steps.append(Copy(source, at, when))
        elif copy == "registers":
            steps.append(Fill(source, at, when))
        else:
            counted = copy == "cp_arrive_counted"
            steps += [Copy(source, at, when), ArriveOnCopies(barrier, at, counted)]
            steps += [Arrive(barrier, at)] * counted
    return steps


def _barrier_names(plan: Plan, sources: tuple[int, ...]) -> list[str]:
    return list(dict.fromkeys(full(plan, s) for s in sources if plans.needs_barrier(plan, s)))


def _all(plan: Plan) -> tuple[int, ...]:
    return tuple(range(len(plan.sources)))


# One partition ------------------------------------------------------------------------------------------------------


def _alone(plan: Plan) -> tuple[Step, ...]:
    sources = _all(plan)
    copies = {plan.sources[s].copy for s in sources}
    grouped = "cp_async" in copies
    # The compiler orders threads' accesses to shared memory; copies by TMA and tensor cores it does not order.
    asynchronous = "tma" in copies or isinstance(plan.sink, Dot)
    barrier: list[Step] = [Barrier()] if plan.explicit or asynchronous else []
    settled: list[Step] = [Barrier()] if plan.explicit else []
    peeled = min(plan.ahead, plan.tiles)

    def fetch(at: At, exists: bool) -> list[Step]:
        commit: list[Step] = [Commit()] if grouped else []
        if exists or plan.tail == "peel":
            return _fetch(plan, sources, at, "") + commit
        if plan.tail == "branch":
            return [If(at, tuple(_fetch(plan, sources, at, ""))), *commit]
        return _fetch(plan, sources, at, "exists") + commit

    def consume(at: At, pending: int) -> list[Step]:
        steps: list[Step] = [WaitGroups(pending), *settled] if grouped else []
        steps += [WaitBarrier(name, at) for name in _barrier_names(plan, sources)]
        if "registers" in copies and not grouped:
            steps += settled
        return steps + _compute(plan, at, "compute")

    ahead = [one for k in range(peeled if plan.tail == "peel" else plan.ahead)
             for one in fetch(At(k, "start"), exists=False)]
    refill = fetch(T.moved(plan.ahead), exists=False)
    if plan.refill == "first":
        body = [*barrier, *refill, *consume(T, max(plan.ahead - plan.slack, 0))]
    else:
        body = [*consume(T, max(plan.ahead - 1 - plan.slack, 0)), *barrier, *refill]
    steps = [*_begin(plan), *ahead]
    if plan.tail == "peel":
        steps.append(Loop(tuple(body), short=peeled))
        for j in range(peeled):
            steps += consume(At(j - peeled, "end"), max(peeled - 1 - j - plan.slack, 0))
    else:
        steps.append(Loop(tuple(body)))
        steps += [WaitGroups(0)] if grouped else []
    return (*steps, *_finish(plan, "compute"))


# Specialised partitions ---------------------------------------------------------------------------------------------


def _steps_of(plan: Plan, role: str) -> tuple[Step, ...]:
    if role == "load":
        return _loader(plan, (0,) if plan.has("load_second") else _all(plan))
    if role == "load_second":
        return _loader(plan, (1,))
    if role == "store":
        return _storer(plan)
    if role == "side":
        return (Side(),)
    return _reader(plan, role)


def _loader(plan: Plan, sources: tuple[int, ...]) -> tuple[Step, ...]:
    """Copies all tiles. cp.async groups may stay under way for `ahead` tiles before their arrival."""
    grouped = [s for s in sources if plan.sources[s].copy == "cp_async"]
    filled = [s for s in sources if plan.sources[s].copy == "registers"]
    lag = max(plan.ahead - plan.slack, 0)
    body: list[Step] = [WaitBarrier(name.replace("full", "empty"), T, opposite=True)
                        for name in _barrier_names(plan, sources)]
    body += _fetch(plan, sources, T, "")
    body += [Arrive(full(plan, s), T) for s in filled]
    steps: list[Step] = []
    if grouped:
        body += [Commit(), WaitGroups(lag)]
        body += [Arrive(full(plan, s), T.moved(-lag), "not_negative" if lag else "") for s in grouped]
    steps.append(Loop(tuple(body)))
    if grouped and lag:
        steps.append(WaitGroups(0))
        steps += [Arrive(full(plan, s), At(j, "end"), "not_negative") for j in range(-lag, 0) for s in grouped]
    return tuple(steps)


def _reader(plan: Plan, role: str) -> tuple[Step, ...]:
    body: list[Step] = [WaitBarrier(name, T) for name in _barrier_names(plan, _all(plan))]
    body += _compute(plan, T, role)
    return (*_begin(plan), Loop(tuple(body)), *_finish(plan, role))


def _storer(plan: Plan) -> tuple[Step, ...]:
    if not isinstance(plan.sink, TmaStore):
        return (Loop((WaitBarrier("out_full", T), GetOut(T), Arrive("out_empty", T), StoreOut(T))),)
    held = plan.sink.pending
    return (Loop((WaitBarrier("out_full", T), TmaStoreStep(T), StoreWait(held),
                  Arrive("out_empty", T.moved(-held), "not_negative" if held else ""))), StoreWait(0))


# What happens to a tile ---------------------------------------------------------------------------------------------


def _begin(plan: Plan) -> list[Step]:
    if isinstance(plan.sink, Fold):
        return [FoldBegin()]
    return [DotBegin()] if isinstance(plan.sink, Dot) else []


def _finish(plan: Plan, role: str) -> list[Step]:
    if isinstance(plan.sink, Fold):
        return [FoldEnd()]
    if isinstance(plan.sink, Dot):
        return [DotWait(0), DotEnd()]
    if isinstance(plan.sink, TmaStore) and not plan.has("store"):
        return [StoreWait(0)]
    return []


def _release(plan: Plan, at: At, when: When = "") -> list[Step]:
    if not plan.workers:
        return []
    return [Arrive(name.replace("full", "empty"), at, when) for name in _barrier_names(plan, _all(plan))]


def _zeroed(plan: Plan, source: int, at: At) -> list[Step]:
    """cp.async leaves open what a lane without an element gets; ordinary loads too."""
    partial = plan.cut or plan.before
    return [ZeroOutside(source, at)] if partial and plan.sources[source].copy != "tma" else []


def _ops(plan: Plan, role: str) -> list[Step]:
    # With a barrier before and after where the compiler need not find them.
    return [Apply(op, f"stage_{role}_{number}" if op.kind.startswith("stage") else "", plan.explicit)
            for number, op in enumerate(plan.ops)]


def _compute(plan: Plan, at: At, role: str) -> list[Step]:
    """What a reader does with a tile that is there, up to and including the slot's release."""
    sink = plan.sink
    if isinstance(sink, Dot):
        return _multiply(plan, sink, at)
    steps: list[Step] = [Read(source, at) for source in _all(plan)]
    early = plan.release == "early"
    steps += _release(plan, at) if early else []
    steps += [one for source in _all(plan) for one in _zeroed(plan, source, at)]
    steps += _ops(plan, role)
    if isinstance(sink, Fold):
        # Columns outside the input hold what the operations make of zero, in every tile alike.
        steps.append(FoldStep())
    elif plan.has("store"):
        steps += [WaitBarrier("out_empty", at, opposite=True), PutOut(at)]
        steps += [Fence()] if isinstance(sink, TmaStore) else []
        steps.append(Arrive("out_full", at))
    elif isinstance(sink, TmaStore):
        barrier: list[Step] = [Barrier()] if plan.explicit else []
        steps += [StoreWait(sink.pending), *barrier, PutOut(at), Fence(), *barrier, TmaStoreStep(at)]
    else:
        steps.append(StoreOut(at, "second" if role == "compute_second" else "out"))
    return steps + ([] if early else _release(plan, at))


def _multiply(plan: Plan, sink: Dot, at: At) -> list[Step]:
    """One chunk of the inner axis. Tensor cores read what threads wrote only after a fence."""
    steps: list[Step] = []
    if sink.registers:
        steps += [Read(0, at), *_zeroed(plan, 0, at), *_ops(plan, "compute")]
    if any(plan.sources[s].copy != "tma" for s in _all(plan) if not (s == 0 and sink.registers)):
        steps += [Fence(), Barrier()]
    steps.append(DotStep(at))
    if sink.asynchronous:
        steps.append(DotWait(sink.depth))
    return steps + _release(plan, at.moved(-sink.depth), "not_negative" if sink.depth else "")


def uses_scan(plan: Plan) -> bool:
    """Whether the kernel needs the combine function of a scan."""
    return any(op.kind == "scan" for op in plan.ops)


__all__ = ["ACROSS", "build", "full", "uses_scan"]
