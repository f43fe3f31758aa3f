"""Hypothesis strategies of plans and of the cases around them.

Plans are built so that most draws are legal; `tridiff.kernels.pipelines.legal` has the last word.
"""

from collections.abc import Callable
from typing import Any, Literal

from hypothesis import assume, strategies as st
from msgspec.structs import replace

from tridiff.fuzz.kinds.plans import cases
from tridiff.fuzz.records import Case, Content, Finite, LaunchOptions, Small
from tridiff.fuzz.strategies import contents, delayed_warps
from tridiff.fuzz.target import Limits
from tridiff.kernels.pipelines.legal import problem
from tridiff.kernels.pipelines.plan import (
    DTYPE_BITS,
    REDUCED,
    SHARED_BYTES,
    TMA_SLOT,
    TMA_UNIT,
    Dot,
    Fold,
    Op,
    Plan,
    Sink,
    Source,
    Store,
    TmaStore,
    Worker,
)

Family = Literal["copy_ring", "tma", "reduce", "phases", "dot", "specialised"]
_MOVABLE = ("i32", "fp32", "i16", "fp16", "bf16", "i8", "u32", "i64")
_TENSOR = ("fp16", "bf16", "i8", "fp32", "fp8e5", "fp8e4nv")
_REGISTERS = (48, 24, 32, 40, 56, 64, 96, 128, 168, 232)
_GROUPED = ("cp_async", "registers")
_COUNTED = ("cp_arrive", "tma", "cp_arrive_counted")
SMALL = st.builds(Content, base=st.builds(Small, seed=st.integers(0, 2**32 - 1)))
FINITE = st.builds(Content, base=st.builds(Finite, seed=st.integers(0, 2**32 - 1)))
Draw = Callable[[Any], Any]


def _swizzles(line: int, rows: int, *, least: int = 0) -> list[int]:
    return [s for s in (0, 32, 64, 128) if least <= s <= line and (s == 0 or rows >= 8)]


def _fits_tma(shape: tuple[int, int], itemsize: int) -> bool:
    """Whether TMA can fill one slot of a ring after the other."""
    return itemsize < 8 and max(shape) <= 256 and shape[0] * shape[1] * itemsize % TMA_SLOT == 0


def _source(draw: Draw, copies: tuple[str, ...], shape: tuple[int, int], itemsize: int, *, core: bool) -> Source:
    """core: the layout that tensor cores read, with a swizzle."""
    copy = draw(st.sampled_from([c for c in copies if c != "tma" or _fits_tma(shape, itemsize)]))
    line = shape[1] * itemsize
    nvmma = core or copy == "tma" or draw(st.integers(0, 3)) == 3
    swizzle = draw(st.sampled_from(_swizzles(line, shape[0], least=32 if core else 0) if nvmma else [0, 32, 64, 128]))
    modified = copy.startswith("cp_")
    return Source(copy=copy, swizzle=swizzle, tensor_core=nvmma and copy != "tma",
                  cache=draw(st.sampled_from(("", "", ".ca", ".cg"))) if modified else "",
                  evict=draw(st.sampled_from(("", "", "", "evict_first", "evict_last"))) if modified else "")


_KINDS = ("add", "stage", "convert", "xor", "stage_transposed", "mix", "multiply", "row_max", "scan", "invert")


def _ops(draw: Draw, *, second: bool, columns: int, unsigned: bool, moves: bool, most: int) -> tuple[Op, ...]:
    kinds = [k for k in _KINDS if columns >= 32 or k not in ("row_max", "scan")]
    kinds = ["stage", "convert", "stage_transposed"] if moves else kinds
    kinds += ["second_add", "second_xor", "second_max"] * second
    found = draw(st.lists(st.sampled_from(kinds), max_size=most))
    if second and not any(kind.startswith("second") for kind in found):
        found.insert(draw(st.integers(0, len(found))), draw(st.sampled_from(kinds[-3:])))
    ranges = {"mix": st.integers(1, 7), "multiply": st.sampled_from((3, 5, 7, 63) + (() if unsigned else (-1, -5))),
              "add": st.integers(0 if unsigned else -63, 63), "xor": st.integers(0 if unsigned else -63, 63)}
    return tuple(Op(kind=kind, constant=draw(ranges[kind])) if kind in ranges else Op(kind=kind) for kind in found)


def _partitions(draw: Draw, sink: Sink, sources: int, *, dot: bool, warps: int) -> dict[str, Any]:
    roles = ["load", "compute"]
    if sources == 2 and draw(st.booleans()):
        roles.append("load_second")
    if isinstance(sink, Store | TmaStore) and draw(st.booleans()):
        roles.append("store")
    elif isinstance(sink, Store) and draw(st.integers(0, 2)) == 2:
        roles.append("compute_second")
    if draw(st.integers(0, 3)) == 3:
        roles.append("side")
    default = draw(st.sampled_from(("compute", "compute", "load", *(r for r in roles if r != "side"))))
    requested = draw(st.integers(0, 5)) != 5
    workers = []
    for role in draw(st.permutations([role for role in roles if role != default])):
        own: Any = warps if dot and role == "compute" else draw(st.sampled_from((4, 1, 2, 4, 8)))
        workers.append(Worker(role=role, warps=own, registers=draw(st.sampled_from(_REGISTERS)) if requested else None))
    return {"default": default, "workers": tuple(workers), "release": draw(st.sampled_from(("early", "late"))),
            "weight": draw(st.sampled_from((1, 1, 2, 3, 7)))}


def _tiles(draw: Draw, ring: int, *, empty: bool) -> int:
    """Below, at and above the depth of the ring."""
    near = [n for n in (ring, ring + 1, ring - 1, 2 * ring, 2 * ring + 1, 1, 2, 5, 7) if n >= 1]
    return draw(st.sampled_from([*near, 0] if empty else near))


def _edges(draw: Draw, columns: int, tiles: int, itemsize: int, *, stored_by_tma: bool = False) -> dict[str, int]:
    """Columns that do not exist, before the first and behind the last."""
    if not tiles or draw(st.integers(0, 2)) == 0:
        return {}
    unit = 16 if itemsize < 4 else TMA_UNIT // itemsize if stored_by_tma else 1
    most = min(2 * columns - unit, tiles * columns - unit)
    cut = draw(st.integers(0, most // unit)) * unit
    fitting = [n for n in (0, 0, 16, columns // 2) if n < columns and n + cut < tiles * columns]
    return {"cut": cut, "before": 0 if stored_by_tma else draw(st.sampled_from(fitting))}


@st.composite
def plans(draw: st.DrawFn, *, family: Family) -> Plan:
    """A legal plan of a family."""
    if family == "dot":
        return draw(_dots())
    specialised = family == "specialised" or (family == "phases" and draw(st.booleans()))
    sink: Sink = draw(_sinks(family))
    dtypes = [d for d in _MOVABLE if not (isinstance(sink, TmaStore) or family == "tma") or d != "i64"]
    if isinstance(sink, TmaStore) and sink.reduce:
        dtypes = list(REDUCED[sink.reduce])
    dtype = draw(st.sampled_from(dtypes))
    itemsize = DTYPE_BITS[dtype] // 8
    rows = draw(st.sampled_from((16, 1, 8, 32, 64, 4, 128)))
    by_tma = family == "tma" or isinstance(sink, TmaStore)
    columns = draw(st.sampled_from([c for c in (32, 16, 64, 128, 256) if c * rows * itemsize <= 1 << 14
                                    and (not by_tma or _fits_tma((rows, c), itemsize))]))
    count = draw(st.sampled_from((1, 1, 2)))
    copies: dict[str, tuple[str, ...]] = {
        "copy_ring": _GROUPED, "tma": ("tma",), "reduce": (*_GROUPED, *_COUNTED), "phases": _COUNTED,
        "specialised": ("tma", "cp_async", "registers", "cp_arrive", "cp_arrive_counted")}
    sources = tuple(_source(draw, copies[family], (rows, columns), itemsize, core=False) for _ in range(count))
    second = count == 2
    exact_floats = isinstance(sink, TmaStore) and bool(sink.reduce) and dtype.startswith(("fp", "bf"))
    ops = () if exact_floats else _ops(draw, second=second, columns=columns, unsigned=dtype == "u32", moves=False,
                                       most=5)
    if exact_floats:
        sources = sources[:1]
    if isinstance(sink, TmaStore):
        sink = replace(sink, swizzle=draw(st.sampled_from(_swizzles(columns * itemsize, rows))))
    ring = draw(st.integers(1, 5))
    warps = draw(st.sampled_from((4, 8) if specialised else (4, 1, 2, 8)))
    fields: dict[str, Any] = dict(
        dtype=dtype, rows=rows, columns=columns, ring=ring, sources=sources, ops=ops, warps=warps,
        vector=draw(st.sampled_from((16, 8, 4))), warps_across=draw(st.booleans()),
        loop=draw(st.sampled_from(("range", "constant", "static"))), explicit=draw(st.booleans()),
        cluster_fence=draw(st.booleans()), tiles=_tiles(draw, ring, empty=isinstance(sink, Fold)))
    fields |= _edges(draw, columns, fields["tiles"], itemsize, stored_by_tma=isinstance(sink, TmaStore))
    fields |= _flow(draw, ring, specialised=specialised, sources=sources)
    if specialised:
        fields |= _partitions(draw, sink, len(sources), dot=False, warps=warps)
    sink = _adapted(draw, sink, fields, ring)
    plan = Plan(sink=sink, **fields)
    assume(not problem(plan))
    return plan


def _flow(draw: Draw, ring: int, *, specialised: bool, sources: tuple[Source, ...], held: int = 0) -> dict[str, Any]:
    """How far copies run ahead, when they are issued, how strict waits are."""
    fields: dict[str, Any] = {"slack": draw(st.sampled_from((0, 0, 0, 1, 2)))}
    two = len(sources) == 2
    counted = all(source.copy in _COUNTED for source in sources)
    fields["shared_barrier"] = two and (specialised or counted) and draw(st.booleans())
    if specialised:
        return fields | {"ahead": draw(st.integers(0, ring - 1 - held))}
    refill = draw(st.sampled_from(("last", "first") if ring - held > 1 else ("last",)))
    most = ring - held - (refill == "first")
    arrive = any(source.copy.startswith("cp_arrive") for source in sources)
    tails = ("branch", "peel") if arrive else ("predicate", "branch", "peel")
    return fields | {"refill": refill, "ahead": draw(st.integers(min(1, most), max(most, 1))),
                     "tail": draw(st.sampled_from(tails))}


def _adapted(draw: Draw, sink: Sink, fields: dict[str, Any], ring: int) -> Sink:
    """The sink in keeping with the partitions."""
    roles = {fields.get("default"), *(worker.role for worker in fields.get("workers", ()))}
    if isinstance(sink, TmaStore):
        buffers = ring if "store" in roles else sink.buffers
        if buffers > 4:
            fields["workers"] = tuple(worker for worker in fields["workers"] if worker.role != "store")
            if fields["default"] == "store":
                fields["default"] = "compute"
                fields["workers"] = tuple(worker for worker in fields["workers"] if worker.role != "compute")
            buffers = sink.buffers
        return replace(sink, buffers=buffers, pending=min(sink.pending, buffers - 1))
    if isinstance(sink, Fold):
        returned = bool(fields.get("workers")) and fields["default"] == "compute" and draw(st.booleans())
        return replace(sink, returned=returned)
    return sink


@st.composite
def _sinks(draw: st.DrawFn, family: Family) -> Sink:
    kinds = {"copy_ring": ("store", "fold"), "tma": ("tma", "store", "tma"), "reduce": ("reduce",),
             "phases": ("store", "fold", "tma"), "specialised": ("store", "tma", "fold")}[family]
    kind = draw(st.sampled_from(kinds))
    if kind == "store":
        return Store()
    if kind == "fold":
        return Fold(op=draw(st.sampled_from(("add", "xor", "max"))))
    # Few buffers make waits matter, many of them do not.
    buffers = draw(st.sampled_from((1, 1, 2, 2, 3, 4)))
    reduce: Any = draw(st.sampled_from(("add", "add", "min", "max", "and", "or", "xor"))) if kind == "reduce" else ""
    return TmaStore(buffers=buffers, pending=draw(st.integers(0, buffers - 1)), reduce=reduce)


@st.composite
def _dots(draw: st.DrawFn) -> Plan:
    """Multiplications on tensor cores, in one partition or several."""
    dtype = draw(st.sampled_from(_TENSOR))
    itemsize = DTYPE_BITS[dtype] // 8
    specialised = draw(st.booleans())
    warps = draw(st.sampled_from((4, 4, 8)))
    rows = draw(st.sampled_from([r for r in (64, 128, 256) if r >= 16 * warps]))
    columns = draw(st.sampled_from([c for c in (64, 32, 16, 128) if 32 <= c * itemsize <= 256]))
    n: Any = draw(st.sampled_from([n for n in (16, 8, 32, 64, 128, 256) if (
        rows * n <= 1 << 12 or rows * n <= warps << 11)]))
    registers = not dtype.startswith("fp8") and draw(st.integers(0, 2)) == 2
    asynchronous = draw(st.integers(0, 3)) != 3
    depth = draw(st.integers(0, 2)) if asynchronous and not registers else 0
    across = itemsize == 2 and draw(st.booleans())
    copies = ("tma", "cp_async", "registers", "cp_arrive", "cp_arrive_counted")
    first = _source(draw, copies, (rows, columns), itemsize, core=not registers)
    shape = (columns, n) if across else (n, columns)
    assume(shape[1] * itemsize >= 32)
    second = replace(_source(draw, copies, shape, itemsize, core=True), across=across)
    stage = rows * columns * itemsize + n * columns * itemsize
    least = depth + 1
    ring = draw(st.integers(least, max(min(5, SHARED_BYTES // (2 * stage)), least)))
    ops = _ops(draw, second=False, columns=columns, unsigned=False, moves=True, most=2) if registers else ()
    if registers and dtype == "i8" and draw(st.booleans()):
        ops = (*ops, Op(kind="invert"))
    fields: dict[str, Any] = dict(
        dtype=dtype, rows=rows, columns=columns, ring=ring, sources=(first, second), ops=ops, warps=warps,
        vector=draw(st.sampled_from((16, 8, 4))), loop=draw(st.sampled_from(("range", "constant", "static"))),
        explicit=draw(st.booleans()), cluster_fence=draw(st.booleans()), tiles=_tiles(draw, ring, empty=True))
    exact = all(s.copy in ("tma", "registers") or (i == 0 and registers) for i, s in enumerate((first, second)))
    if not across and exact:
        fields |= _edges(draw, columns, fields["tiles"], itemsize)
    sink = Dot(n=n, depth=depth, registers=registers, asynchronous=asynchronous)
    if not specialised:
        assume(ring - depth >= 1)
    fields |= _flow(draw, ring, specialised=specialised, sources=(first, second), held=depth)
    if specialised:
        fields |= _partitions(draw, sink, 2, dot=True, warps=warps)
    plan = Plan(sink=sink, **fields)
    assume(not problem(plan))
    return plan


_PROGRAMS = (1, 2, 3, 8, 33, 132, 264)
_MOST_ELEMENTS = 1 << 18
"""Of one array: more only makes judging slow."""


def _contents(draw: Draw, plan: Plan) -> dict[str, Content]:
    names = ["x0", "x1"][:len(plan.sources)]
    if isinstance(plan.sink, TmaStore) and plan.sink.reduce:
        names.append("initial")
    if cases.exact_sum(plan):
        return {name: draw(SMALL) for name in names}
    if isinstance(plan.sink, Dot) and plan.dtype != "i8":
        exact = draw(st.integers(0, 2)) != 2
        return {name: draw(SMALL if exact else FINITE) for name in names}
    return {name: draw(contents(dtype=plan.dtype)) for name in names}


@st.composite
def pipeline_cases(draw: st.DrawFn, *, target: str, family: Family, limits: Limits) -> Case:
    """A case of the target with a plan of the family. Programs are the rows of its arrays."""
    plan = draw(plans(family=family))
    # Empty and constant tiles tell little about order: most contents differ in every element.
    widest = plan.rows * max(plan.width, 1)
    most = min(cases.most_programs(plan), limits.rows)
    programs = draw(st.sampled_from([n for n in _PROGRAMS if n == 1 or (
        n * widest <= min(4 * limits.elements, _MOST_ELEMENTS) and n <= most)]))
    # An instrumented kernel takes ten times as long to compile and more, the more partitions and unrolled tiles.
    cheap = len(plan.workers) <= 2 and len(plan.ops) <= 3 and plan.loop != "static" and plan.tail != "peel"
    sanitize = cheap and draw(st.integers(0, 15)) == 15
    delay = None if sanitize else draw(delayed_warps())
    return Case(target=target, params={"sanitize": sanitize}, delay=delay, sizes=cases.sizes_of(plan, programs),
                arrays=cases.arrays_of(plan, _contents(draw, plan)),
                options=LaunchOptions(num_warps=plan.warps), repeats=draw(st.integers(0, 2)), program=plan)
