"""The arrays that belong to a plan, which cases are valid, and how plans become simpler."""

import importlib
from collections.abc import Iterable
from itertools import pairwise
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Explicit, Layout, Small
from tridiff.kernels.gluon.values import EXACT
from tridiff.kernels.pipelines.legal import problem
from tridiff.kernels.pipelines.plan import DTYPE_BITS, Dot, Fold, Op, Plan, Source, Store, TmaStore, Worker

MOST_PROGRAMS = 264
SIDE = 256
"""Elements that one program's independent partition writes."""


def plan_of(case: Case) -> Plan:
    """The case's plan; ValueError for a case without one."""
    if not isinstance(case.program, Plan):
        raise ValueError(f"{case.target} needs a plan")
    return case.program


def contents_of(case: Case) -> dict[str, Content]:
    """Contents of the inputs, by name."""
    return {spec.name: spec.content for spec in case.arrays if spec.content is not None}


def inputs(case: Case) -> tuple[str, ...]:
    return tuple(contents_of(case))


def unplaced(case: Case) -> tuple[ArraySpec, ...]:
    """The arrays without the places that cut rows had."""
    return tuple(msgspec.structs.replace(spec, first_row=0) for spec in case.arrays)


def oracle(name: str, like: Any) -> ModuleType:
    """`tridiff.oracles.by_numpy.NAME` for numpy arrays, `tridiff.oracles.by_torch.NAME` for tensors."""
    return importlib.import_module(f"tridiff.oracles.by_{'numpy' if isinstance(like, np.ndarray) else 'torch'}.{name}")


def result_dtype(plan: Plan) -> str:
    """Element type of the output."""
    if isinstance(plan.sink, Dot):
        return "i32" if plan.dtype == "i8" else "fp32"
    return plan.dtype


def sizes_of(plan: Plan, programs: int) -> dict[str, int]:
    """Axis lengths of the arrays: rows are programs, r x w one program's matrix."""
    sizes = {"rows": programs, "r": plan.rows, "w": plan.width}
    if isinstance(plan.sink, Fold):
        sizes["c"] = plan.columns
    if isinstance(plan.sink, Dot):
        sizes["n"] = plan.sink.n
    if plan.has("side"):
        # Not rows: what it holds follows from the program's number, and oracles are asked about some rows only.
        sizes |= {"p": programs, "s": SIDE}
    return sizes


def _padded(width: int) -> Layout:
    """Lines begin at multiples of 16 elements, as copies of whole boxes and vectors want."""
    return Layout(gap=-width % 16)


def arrays_of(plan: Plan, contents: dict[str, Content]) -> tuple[ArraySpec, ...]:
    """Inputs with `contents` by name, and outputs."""
    dims: dict[str, tuple[str, ...]] = {"x0": ("rows", "r", "w")}
    if len(plan.sources) == 2:
        across = plan.sources[1].across
        operand = ("rows", "w", "n") if across else ("rows", "n", "w")
        dims["x1"] = operand if isinstance(plan.sink, Dot) else dims["x0"]
    reduces = isinstance(plan.sink, TmaStore) and bool(plan.sink.reduce)
    if reduces:
        dims["initial"] = ("r", "w")
    widths = sizes_of(plan, 1)
    found = [ArraySpec(name=name, dtype=plan.dtype, dims=axes, content=contents[name],
                       layout=_padded(widths[axes[-1]])) for name, axes in dims.items()]
    last = "c" if isinstance(plan.sink, Fold) else "n" if isinstance(plan.sink, Dot) else "w"
    axes = ("r", "w") if reduces else ("rows", "r", last)
    found.append(ArraySpec(name="out", dtype=result_dtype(plan), dims=axes, layout=_padded(widths[axes[-1]])))
    if plan.has("compute_second"):
        found.append(ArraySpec(name="second", dtype=plan.dtype, dims=axes, layout=_padded(widths["w"])))
    if plan.has("side"):
        found.append(ArraySpec(name="side", dtype="i32", dims=("p", "s")))
    return tuple(found)


def valid(case: Case) -> bool:
    """Whether the plan is legal and everything else in the case follows from it."""
    plan = case.program
    if not isinstance(plan, Plan) or problem(plan) or case.variants:
        return False
    if set(case.params) != {"sanitize"} or not isinstance(case.params["sanitize"], bool):
        return False
    if case.params["sanitize"] and case.delay is not None:
        return False
    programs = case.sizes.get("rows", 0)
    if not 1 <= programs <= most_programs(plan) or case.sizes != sizes_of(plan, programs):
        return False
    contents = contents_of(case)
    try:
        wanted = arrays_of(plan, contents)
    except KeyError:
        return False
    if exact_sum(plan) and not all(_small(content) for content in contents.values()):
        return False
    options = case.options
    return (unplaced(case) == wanted and options.num_warps == plan.warps and options.num_ctas == 1
            and not options.launch_cooperative_grid)


def exact_sum(plan: Plan) -> bool:
    """Whether the plan adds floats in an order that nobody knows, so that the sums must be exact."""
    sink = plan.sink
    return isinstance(sink, TmaStore) and bool(sink.reduce) and plan.dtype.startswith(("fp", "bf"))


def most_programs(plan: Plan) -> int:
    """Programs of a launch, at most: sums of numbers up to 4 must be exact in every order."""
    return min(MOST_PROGRAMS, EXACT[plan.dtype] // 4 - 1) if exact_sum(plan) else MOST_PROGRAMS


def _small(content: Content) -> bool:
    if content.overrides:
        return False
    base = content.base
    if isinstance(base, Explicit | Constant):
        values = base.values if isinstance(base, Explicit) else (base.value,)
        return all(value.lstrip("-").removesuffix(".0") in tuple("01234") for value in values)
    return isinstance(base, Small) and -4 <= base.low <= base.high <= 4


def small_integers(case: Case) -> bool:
    """Whether every input holds small integers, whose products and sums tensor cores give exactly."""
    return all(map(_small, contents_of(case).values()))


def approximate(case: Case) -> bool:
    """Whether the output is a product of floats within a bound instead of an exact one."""
    plan = plan_of(case)
    return isinstance(plan.sink, Dot) and plan.dtype != "i8" and (
        plan.dtype.startswith("fp8") or not small_integers(case))


def negated_extremum(plan: Plan) -> bool:
    """Whether a tile of 32-bit integers, negated, comes into a maximum: ptxas 12.8 loses the negation where it makes
    one instruction of two maxima (corpus, codegen.pointwise/value-56a78a9862); or one of packed 16-bit integers
    (warp_specialize.ring/nan-missing-1a7ca3502c)."""
    steps = (Op(kind="convert"), *plan.ops)
    first = next((k for k, (last, op) in enumerate(pairwise(steps)) if (op.kind, op.constant) == ("multiply", -1)
                  or (last.kind, op.kind, op.constant) == ("invert", "add", 1)), len(plan.ops))
    maxima = any(op.kind.endswith("_max") for op in plan.ops[first:])
    folded = first < len(plan.ops) and isinstance(plan.sink, Fold) and plan.sink.op == "max"
    return DTYPE_BITS[plan.dtype] in (16, 32) and (maxima or folded)


# -- shrinking


def size(case: Case) -> tuple[int, ...]:
    """Partitions, operations, sources, then everything that counts tiles and slots."""
    plan = plan_of(case)
    oddities = sum(a != b for a, b in (
        (plan.tail, "predicate"), (plan.loop, "range"), (plan.refill, "last"), (plan.explicit, True),
        (plan.vector, 16), (plan.warps_across, False), (plan.shared_barrier, False), (plan.release, "early"),
        (plan.default, "compute"), (plan.weight, 1), (plan.cluster_fence, False)))
    sink = plan.sink
    extra = getattr(sink, "pending", 0) + getattr(sink, "depth", 0) + getattr(sink, "buffers", 0)
    extra += sum(bool(s.cache) + bool(s.evict) + bool(s.swizzle) + s.tensor_core for s in plan.sources)
    return (len(plan.workers), len(plan.ops), len(plan.sources), plan.tiles, plan.rows * plan.columns, plan.ring,
            plan.ahead + plan.slack, int(plan.cut > 0) + int(plan.before > 0), plan.warps, oddities + extra,
            sum(abs(op.constant) for op in plan.ops))


def steps(case: Case) -> Iterable[Case]:
    """Cases with a simpler plan, one step each; contents stay unless they are listed and would not fit."""
    plan = plan_of(case)
    for simpler in _simpler(plan):
        if problem(simpler):
            continue
        candidate = _with_plan(case, simpler)
        if candidate is not None and size(candidate) < size(case):
            yield candidate


def _with_plan(case: Case, plan: Plan) -> Case | None:
    contents = contents_of(case)
    sizes = sizes_of(plan, case.sizes["rows"])
    if sizes != case.sizes and any(isinstance(content.base, Explicit) for content in contents.values()):
        contents = {name: Content(base=Small()) if isinstance(content.base, Explicit) else content
                    for name, content in contents.items()}
    return msgspec.structs.replace(case, program=plan, sizes=sizes, arrays=arrays_of(plan, contents),
                                   options=msgspec.structs.replace(case.options, num_warps=plan.warps))


def _simpler(plan: Plan) -> Iterable[Plan]:
    replace = msgspec.structs.replace
    # One partition instead of several, or one less.
    if plan.workers:
        sink = Fold(op=plan.sink.op) if isinstance(plan.sink, Fold) else plan.sink
        alone = replace(plan, workers=(), default="compute", release="early", ahead=max(plan.ahead, 1), sink=sink,
                        slack=0)
        for tail in ("predicate", "peel"):
            for shared in (plan.shared_barrier, False):
                yield replace(alone, tail=tail, shared_barrier=shared)
        for gone in plan.workers:
            if gone.role != "load":
                yield replace(plan, workers=tuple(w for w in plan.workers if w is not gone))
        if plan.default != "compute":
            yield replace(plan, default="compute", workers=tuple(
                replace(w, role=plan.default, warps=4) if w.role == "compute" else w for w in plan.workers))
    for number in range(len(plan.ops)):
        yield replace(plan, ops=plan.ops[:number] + plan.ops[number + 1:])
    if len(plan.sources) == 2 and not isinstance(plan.sink, Dot):
        kept = tuple(op for op in plan.ops if not op.kind.startswith("second"))
        yield replace(plan, sources=plan.sources[:1], ops=kept, shared_barrier=False)
        yield replace(plan, sources=plan.sources[1:], ops=kept, shared_barrier=False)
    for tiles in {0, 1, 2, plan.tiles // 2, plan.tiles - 1}:
        if 0 <= tiles < plan.tiles:
            yield replace(plan, tiles=tiles)
            yield replace(plan, tiles=tiles, cut=0, before=0)
    if plan.cut or plan.before:
        yield replace(plan, cut=0)
        yield replace(plan, before=0)
    for rows in (1, 8, 16, 64, plan.rows // 2):
        if 1 <= rows < plan.rows:
            yield replace(plan, rows=rows)
    for columns in (16, 32, 64):
        if columns < plan.columns:
            yield replace(plan, columns=columns, cut=min(plan.cut, columns - 16), before=0)
    for ring in range(1, plan.ring):
        yield replace(plan, ring=ring, ahead=min(plan.ahead, ring), slack=0)
        yield replace(plan, ring=ring, ahead=min(plan.ahead, ring - 1), slack=0)
    yield replace(plan, slack=0)
    yield replace(plan, ahead=max(plan.ahead - 1, 0))
    yield from _plainer(plan)


def _plainer(plan: Plan) -> Iterable[Plan]:
    """One setting at a time back to what it is without a reason."""
    replace = msgspec.structs.replace
    plain = Plan()
    for name in ("tail", "loop", "refill", "explicit", "vector", "warps_across", "shared_barrier", "release",
                 "weight", "cluster_fence"):
        yield replace(plan, **{name: getattr(plain, name)})
    for warps in (1, 2, 4):
        if warps < plan.warps:
            yield replace(plan, warps=warps)
    sink = plan.sink
    if isinstance(sink, TmaStore):
        yield replace(plan, sink=Store())
        yield replace(plan, sink=replace(sink, reduce=""))
        yield replace(plan, sink=TmaStore(reduce=sink.reduce))
        yield replace(plan, sink=replace(sink, pending=0))
    if isinstance(sink, Fold):
        yield replace(plan, sink=Store())
        yield replace(plan, sink=Fold())
    if isinstance(sink, Dot):
        for n in (8, 16, 64):
            if n < sink.n:
                yield replace(plan, sink=replace(sink, n=n))
        yield replace(plan, sink=replace(sink, depth=0))
        yield replace(plan, sink=replace(sink, asynchronous=False, depth=0))
        yield replace(plan, sink=replace(sink, registers=False), ops=())
    for number, source in enumerate(plan.sources):
        for other in (Source(), replace(source, cache="", evict=""), replace(source, swizzle=0),
                      Source(copy="cp_async", tensor_core=True, swizzle=source.swizzle, across=source.across)):
            yield replace(plan, sources=(*plan.sources[:number], other, *plan.sources[number + 1:]))
    for number, op in enumerate(plan.ops):
        if op.constant != 1:
            yield replace(plan, ops=(*plan.ops[:number], Op(kind=op.kind), *plan.ops[number + 1:]))
    if any(worker != Worker(role=worker.role) for worker in plan.workers):
        yield replace(plan, workers=tuple(Worker(role=worker.role) for worker in plan.workers))
