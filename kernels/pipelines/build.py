"""From a plan to the steps of its partitions: the only place that decides what waits for what.

Why the result is free of races and always ends (contract: ttg_ops.md §4, §5):
  - a slot is read after the copies into it are done: wait groups count back from the youngest, mbarriers complete when
    every contribution of the tile has arrived;
  - a slot is filled again after everyone has read it: in one partition the refill comes after a barrier of all warps,
    between partitions after the reader's arrival on the slot's `empty` mbarrier;
  - threads' writes that copies or tensor cores read are fenced, then ordered by a barrier or an arrival; so are
    threads' reads of a slot that TMA fills again, where the compiler does not see both;
  - nobody waits for a tile that nobody copies: partitions run through the same tiles, and what is left out by a
    predicate is never waited for.
"""

from tridiff.kernels.pipelines import plan as plans, steps as s
from tridiff.kernels.pipelines.plan import Dot, Fold, Plan, TmaStore
from tridiff.kernels.pipelines.steps import At, Step, When

T = At()


def build(plan: Plan) -> s.Kernel:
    """The kernel of a legal plan (see `legal.problem`)."""
    built: list[s.Partition] = []
    if not plan.workers:
        built.append(s.Partition("compute", plan.warps, 0, _alone(plan)))
    else:
        built.append(s.Partition(plan.default, plan.warps, 0, _steps_of(plan, plan.default)))
        built += [s.Partition(worker.role, worker.warps, worker.registers or 0, _steps_of(plan, worker.role))
                  for worker in plan.workers]
    stages = tuple((f"stage_{role}_{number}", role)
                   for role in ("compute", "compute_second") if role == "compute" or plan.has("compute_second")
                   for number, op in enumerate(plan.ops) if op.kind.startswith("stage"))
    return s.Kernel(plan, _barriers(plan), tuple(built), stages)


def full(plan: Plan, source: int) -> str:
    """Name of the mbarriers that say that a source's slots are filled."""
    return "full" if plan.shared_barrier else f"full{source}"


def _empty(plan: Plan, source: int) -> str:
    return full(plan, source).replace("full", "empty")


def _barriers(plan: Plan) -> tuple[s.BarrierRing, ...]:
    counts: dict[str, int] = {}
    for source in range(len(plan.sources)):
        if plans.needs_barrier(plan, source):
            name = full(plan, source)
            counts[name] = counts.get(name, 0) + plans.arrivals(plan, source)
    rings = [s.BarrierRing(name, plan.ring, count) for name, count in counts.items()]
    if plan.workers:
        readers = 1 + plan.has("compute_second")
        rings += [s.BarrierRing(name.replace("full", "empty"), plan.ring, readers) for name in counts]
    if plan.has("store"):
        rings += [s.BarrierRing("out_full", plan.ring, 1), s.BarrierRing("out_empty", plan.ring, 1)]
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
            steps += [s.Expect(barrier, at, _tile_bytes(plan, source), when), s.TmaLoad(source, at, barrier, when)]
        elif copy == "cp_async":
            steps.append(s.Copy(source, at, when))
        elif copy == "registers":
            steps.append(s.Fill(source, at, when))
        else:
            counted = copy == "cp_arrive_counted"
            steps += [s.Copy(source, at, when), s.ArriveOnCopies(barrier, at, counted)]
            steps += [s.Arrive(barrier, at)] * counted
    return steps


def _barrier_names(plan: Plan, sources: tuple[int, ...]) -> list[str]:
    return list(dict.fromkeys(full(plan, source) for source in sources if plans.needs_barrier(plan, source)))


def _all(plan: Plan) -> tuple[int, ...]:
    return tuple(range(len(plan.sources)))


# -- one partition


def _alone(plan: Plan) -> tuple[Step, ...]:
    sources = _all(plan)
    copies = {plan.sources[source].copy for source in sources}
    grouped = "cp_async" in copies
    # The compiler orders threads' accesses to shared memory; copies by TMA and tensor cores it does not order.
    asynchronous = "tma" in copies or isinstance(plan.sink, Dot)
    barrier: list[Step] = [s.Barrier()] if plan.explicit or asynchronous else []
    settled: list[Step] = [s.Barrier()] if plan.explicit else []
    peeled = min(plan.ahead, plan.tiles)

    def fetch(at: At, exists: bool) -> list[Step]:
        commit: list[Step] = [s.Commit()] if grouped else []
        if exists or plan.tail == "peel":
            return _fetch(plan, sources, at, "") + commit
        if plan.tail == "branch":
            return [s.If(at, tuple(_fetch(plan, sources, at, ""))), *commit]
        return _fetch(plan, sources, at, "exists") + commit

    def consume(at: At, pending: int) -> list[Step]:
        steps: list[Step] = [s.WaitGroups(pending), *settled] if grouped else []
        steps += [s.WaitBarrier(name, at) for name in _barrier_names(plan, sources)]
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
        steps.append(s.Loop(tuple(body), short=peeled))
        for j in range(peeled):
            steps += consume(At(j - peeled, "end"), max(peeled - 1 - j - plan.slack, 0))
    else:
        steps.append(s.Loop(tuple(body)))
        steps += [s.WaitGroups(0)] if grouped else []
    return (*steps, *_finish(plan))


# -- specialised partitions


def _steps_of(plan: Plan, role: str) -> tuple[Step, ...]:
    if role == "load":
        return _loader(plan, (0,) if plan.has("load_second") else _all(plan))
    if role == "load_second":
        return _loader(plan, (1,))
    if role == "store":
        return _storer(plan)
    if role == "side":
        return (s.Side(),)
    return _reader(plan, role)


def _loader(plan: Plan, sources: tuple[int, ...]) -> tuple[Step, ...]:
    """Copies all tiles. cp.async groups may stay under way for `ahead` tiles before their arrival."""
    grouped = [source for source in sources if plan.sources[source].copy == "cp_async"]
    filled = [source for source in sources if plan.sources[source].copy == "registers"]
    lag = max(plan.ahead - plan.slack, 0)
    body: list[Step] = [s.WaitBarrier(name.replace("full", "empty"), T, opposite=True)
                        for name in _barrier_names(plan, sources)]
    body += _fetch(plan, sources, T, "")
    body += [s.Arrive(full(plan, source), T) for source in filled]
    steps: list[Step] = []
    if grouped:
        body += [s.Commit(), s.WaitGroups(lag)]
        body += [s.Arrive(full(plan, source), T.moved(-lag), "not_negative" if lag else "") for source in grouped]
    steps.append(s.Loop(tuple(body)))
    if grouped and lag:
        steps.append(s.WaitGroups(0))
        steps += [s.Arrive(full(plan, source), At(j, "end"), "not_negative")
                  for j in range(-lag, 0) for source in grouped]
    return tuple(steps)


def _reader(plan: Plan, role: str) -> tuple[Step, ...]:
    body: list[Step] = [s.WaitBarrier(name, T) for name in _barrier_names(plan, _all(plan))]
    body += _compute(plan, T, role)
    return (*_begin(plan), s.Loop(tuple(body)), *_finish(plan))


def _storer(plan: Plan) -> tuple[Step, ...]:
    if not isinstance(plan.sink, TmaStore):
        return (s.Loop((s.WaitBarrier("out_full", T), s.GetOut(T), s.Arrive("out_empty", T), s.StoreOut(T))),)
    held = plan.sink.pending
    return (s.Loop((s.WaitBarrier("out_full", T), s.TmaStore(T), s.StoreWait(held),
                  s.Arrive("out_empty", T.moved(-held), "not_negative" if held else ""))), s.StoreWait(0))


# -- what happens to a tile


def _begin(plan: Plan) -> list[Step]:
    if isinstance(plan.sink, Fold):
        return [s.FoldBegin()]
    return [s.DotBegin()] if isinstance(plan.sink, Dot) else []


def _finish(plan: Plan) -> list[Step]:
    if isinstance(plan.sink, Fold):
        return [s.FoldEnd()]
    if isinstance(plan.sink, Dot):
        return [s.DotWait(0), s.DotEnd()]
    if isinstance(plan.sink, TmaStore) and not plan.has("store"):
        return [s.StoreWait(0)]
    return []


def _release(plan: Plan, at: At, when: When = "") -> list[Step]:
    if not plan.workers:
        return []
    read = _all(plan) if not isinstance(plan.sink, Dot) else (0,) if plan.sink.registers else ()
    # Loads may still be under way, and TMA does not wait for them; the compiler looks at no other partition.
    fence: list[Step] = [s.Fence()] if any(plan.sources[source].copy == "tma" for source in read) else []
    return fence + [s.Arrive(name.replace("full", "empty"), at, when) for name in _barrier_names(plan, _all(plan))]


def _zeroed(plan: Plan, source: int, at: At) -> list[Step]:
    """cp.async leaves open what a lane without an element gets; ordinary loads too."""
    partial = plan.cut or plan.before
    return [s.ZeroOutside(source, at)] if partial and plan.sources[source].copy != "tma" else []


def _ops(plan: Plan, role: str) -> list[Step]:
    # With a barrier before and after where the compiler need not find them.
    return [s.Apply(op, f"stage_{role}_{number}" if op.kind.startswith("stage") else "", plan.explicit)
            for number, op in enumerate(plan.ops)]


def _compute(plan: Plan, at: At, role: str) -> list[Step]:
    """What a reader does with a tile that is there, up to and including the slot's release."""
    sink = plan.sink
    if isinstance(sink, Dot):
        return _multiply(plan, sink, at)
    steps: list[Step] = [s.Read(source, at) for source in _all(plan)]
    early = plan.release == "early"
    steps += _release(plan, at) if early else []
    steps += [one for source in _all(plan) for one in _zeroed(plan, source, at)]
    steps += _ops(plan, role)
    if isinstance(sink, Fold):
        # Columns outside the input hold what the operations make of zero, in every tile alike.
        steps.append(s.FoldStep())
    elif plan.has("store"):
        steps += [s.WaitBarrier("out_empty", at, opposite=True), s.PutOut(at)]
        steps += [s.Fence()] if isinstance(sink, TmaStore) else []
        steps.append(s.Arrive("out_full", at))
    elif isinstance(sink, TmaStore):
        barrier: list[Step] = [s.Barrier()] if plan.explicit else []
        steps += [s.StoreWait(sink.pending), *barrier, s.PutOut(at), s.Fence(), *barrier, s.TmaStore(at)]
    else:
        steps.append(s.StoreOut(at, "second" if role == "compute_second" else "out"))
    return steps + ([] if early else _release(plan, at))


def _multiply(plan: Plan, sink: Dot, at: At) -> list[Step]:
    """One chunk of the inner axis. Tensor cores read what threads wrote only after a fence."""
    steps: list[Step] = []
    if sink.registers:
        steps += [s.Read(0, at), *_zeroed(plan, 0, at), *_ops(plan, "compute")]
    if any(plan.sources[source].copy != "tma" for source in _all(plan) if not (source == 0 and sink.registers)):
        steps += [s.Fence(), s.Barrier()]
    steps.append(s.DotStep(at))
    if sink.asynchronous:
        steps.append(s.DotWait(sink.depth))
    return steps + _release(plan, at.moved(-sink.depth), "not_negative" if sink.depth else "")
