"""Random programs as cases: valid by construction, mostly of 15 to 60 nodes, shrinking towards one load and one store.

    programs("reduction", target="codegen.reduction", limits=Limits())

A program is drawn in this order: features (swarm), axes, nodes one production at a time, stores of what is not used
otherwise, schedules, launch options. Nodes that no store needs are cut. See `fuzz.kinds.graphs.productions` for how
undefined behaviour is kept out.
"""

from collections.abc import Callable, Collection
from dataclasses import replace as replace_swarm

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs import contents
from tridiff.fuzz.kinds.graphs.addresses import address, apply, num
from tridiff.fuzz.kinds.graphs.arrays import arrays_of
from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.fuzz.kinds.graphs.dead_code import without_dead_nodes
from tridiff.fuzz.kinds.graphs.draft import Draft, Entry
from tridiff.fuzz.kinds.graphs.productions import Productions
from tridiff.fuzz.kinds.graphs.schedules import MAX_VARIANTS, schedule
from tridiff.fuzz.kinds.graphs.swarm import Family, Swarm, nodes_in, swarm
from tridiff.fuzz.kinds.graphs.validity import COOPERATIVE_PROGRAMS, cooperative, programs_of
from tridiff.fuzz.kinds.graphs.workspaces import workspaces
from tridiff.fuzz.records import Case, LaunchOptions, Layout
from tridiff.fuzz.strategies import launch_options, option_variants
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.domains import operands
from tridiff.kernels.codegen.geometry import MAX_PROGRAMS_Y
from tridiff.kernels.codegen.graph import Buffer, Graph, Load, Store, Sym
from tridiff.kernels.codegen.relations import relations, typed_head
from tridiff.oracles.dtypes import FP8, NAMES, dtype as dtype_info

_SIZES = (2, 4, 8, 12, 16, 20, 24, 28, 32, 38, 44, 50, 60, 70)
"""Nodes to aim for, before dead ones are cut."""
_LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 63, 64, 65, 97, 127, 128, 129, 255, 256, 257, 509,
            512, 513, 1000, 1023, 1024, 1025, 2049, 4096, 5000)
_MAX_STORES = 6
MAX_BUFFERS = 24
"""As many as a graph may have."""
CUT = 3
"""Times as many nodes grow in half of the programs that are to be like others; what is most like them is kept."""

_WIDE = 100
"""One pointwise program in so many has more rows than a launch may have programs along y, with one element each."""


def _sizes(asked: tuple[int, ...]) -> tuple[int, ...]:
    """Nodes to aim for: as many as one of those asked for to three times as many, any if none is: fewer seldom have
    what is looked for, more only cost."""
    found = tuple(size for size in _SIZES if any(number <= size <= 3 * number for number in asked))
    return found or _SIZES


def _length(chance: Choices, most: int) -> int:
    fitting = [length for length in _LENGTHS if length <= max(most, 1)]
    return chance.of(fitting)


def _axes(chance: Choices, features: Swarm, cap: int) -> tuple[tuple[int, ...], int | None]:
    """Lengths of the outer axes and of r."""
    count = chance.weighted(((5, 1), (4, 2), (2, 3)))
    with_r = features.reduces or chance.one_in(6)
    r: int | None = None
    left = cap
    if with_r:
        sorts = any(weight and name == "sort" for weight, name in features.productions)
        # A sort is a network of log2(r)^2 / 2 steps, each of which the compiler works through: 16 elements take it
        # three times as long as 4, 256 nine times.
        longest = chance.weighted(((30, 8), (12, 16), (4, 33), (1, 512)))
        r = _length(chance, min(left, longest) if sorts else left)
        left //= max(r, 1)
    outer = []
    for place in range(count):
        share = max(int(left ** (1 / (count - place))), 1)
        # One axis may take more than its share.
        length = _length(chance, min(left, share * chance.of((1, 4, 16))))
        outer.append(length)
        left //= max(length, 1)
    # An empty grid leaves nothing to judge: rare.
    if chance.empty_axes and chance.one_in(80):
        outer[chance.below(count)] = 0
    elif r is not None and features.family in ("reduction", "mixed") and chance.one_in(40):
        r = 0
    return tuple(outer), r


def _grow(draft: Draft, features: Swarm, *, cap: int, nodes: int) -> Productions:
    productions = Productions(draft, cap=cap)
    weights = [(weight, name) for weight, name in features.productions
               if not (name in ("reduce", "scan", "sort") and "r" not in draft.axes)]
    # A buffer of the grid's own shape comes first, so that the program depends on its points.
    productions.grow("load")
    if any(weight and name == features.first for weight, name in weights) and draft.chance.below(4):
        productions.grow(features.first)
    while len(draft.nodes) < nodes and not draft.full:
        productions.grow(draft.chance.weighted(weights))
    return productions


def _mutate(draft: Draft, productions: Productions) -> None:
    """Stores into buffers that exist before the launch: in place, or adding atomically."""
    chance = draft.chance
    if chance.one_in(3):
        # Half of them once per row, which is one program's affair where several work on a row.
        once = "r" in draft.axes and bool(chance.below(2))
        def added(entry: Entry) -> bool:
            return not (once and "r" in entry.axes) and entry.dtype in (
                "i32", "i64", "u32", "u64", "fp32", "fp64", "fp16", "bf16")

        # One element that is open leaves a cell open, and there are few cells.
        value = draft.pick(draft.known(added)) or draft.pick(added)
        if value is not None:
            _atomic(draft, productions, value)
    elif chance.one_in(4):
        _in_place(draft, productions)


def _atomic(draft: Draft, productions: Productions, value: Entry) -> None:
    chance = draft.chance
    # A sum of many floats in one cell, in any order, is often open; of halves it overflows.
    half = value.dtype in ("fp16", "bf16")
    cells = chance.of((1, 4, 16, 33, 64, 129) if half else (1, 4, 4, 16, 16, 33, 33))
    found = contents.content(chance, value.dtype, wild=0)
    name = draft.buffer(value.dtype, cells, found, prefix="io", role="inout")
    points = [(axis, length) for axis, length in draft.axes.items() if axis != "r" or "r" in value.axes]
    kind = chance.below(3)
    if half and not chance.one_in(4):
        kind = max(kind, 1)
    entry = None
    if kind == 2:
        # A place that is open leaves every cell open.
        anyway, usable = chance.one_in(4), productions.operands.usable_index
        entry = draft.pick(lambda one: usable(one) and (anyway or draft.of_integers(one)))
    if entry is not None:
        index = apply("python_mod", Sym(name=f"v{entry.position}"), num(cells))
    elif kind == 0:
        index = num(0)
    else:
        index = apply("mod", address(chance, "dense", points)[0], num(cells))
    draft.add(Store(buffer=name, index=index, value=value.position, mode="atomic_add"), axes=draft.outer)


def _in_place(draft: Draft, productions: Productions) -> None:
    """Read and written by the same point."""
    chance = draft.chance
    dtype = productions.operands.dtype()
    wants_r = "r" in draft.axes and bool(chance.below(2))
    axes = [(axis, length) for axis, length in draft.axes.items() if axis != "r" or wants_r]
    expr, length = address(chance, chance.of(("dense", "strided")), axes, store=True)
    if length > productions.cap or length < 1:
        return
    found = contents.content(chance, dtype, wild=draft.swarm.wild)
    name = draft.buffer(dtype, length, found, prefix="io", role="inout")
    allowed = frozenset(axis for axis, _ in axes)
    value = draft.add(Load(buffer=name, index=expr))
    for _ in range(chance.between(1, 3)):
        other = draft.pick(lambda entry: entry.dtype == dtype and entry.axes <= allowed)
        if other is None or dtype in FP8 or dtype == "i1":
            break
        value = draft.operation(chance.of(("add", "mul", "maximum")), value, other)
    draft.add(Store(buffer=name, index=expr, value=value.position), axes=allowed | draft.outer)


def _storable(chance: Choices, dtype: str) -> str:
    """The type of an output for values of a type: the same, or one it is converted to."""
    info = dtype_info(dtype)
    if not chance.one_in(6):
        return dtype
    if info.is_float:
        return chance.of(("fp16", "bf16", "fp32", "fp64", "fp8e5", "fp8e4nv") if dtype not in FP8 else ("fp32", "fp16"))
    return chance.of(("i32", "i64", "u8", "i8", "fp32", "fp64", "i1", "u64", "fp16"))


def _store(draft: Draft, value: Entry, *, cap: int, dtypes: Collection[str] = ()) -> None:
    """Store a value. dtypes: of the output, any where empty."""
    chance = draft.chance
    with_r = "r" in value.axes or ("r" in draft.axes and chance.one_in(12))
    axes = [(axis, length) for axis, length in draft.axes.items() if axis != "r" or with_r]
    usable = [(weight, name) for weight, name in draft.swarm.forms if name not in ("broadcast", "expression")]
    form = chance.weighted(usable)
    expr, length = address(chance, form, axes, store=True)
    if length > cap or (length < 1 and form != "dense"):
        expr, length = address(chance, "dense", axes, store=True)
    dtype = chance.of(tuple(dtypes)) if dtypes else _storable(chance, value.dtype)
    name = f"out{sum(one.role == 'out' for one in draft.buffers)}"
    draft.buffers.append(Buffer(name=name, dtype=dtype, length=max(length, 1), role="out"))
    draft.add(Store(buffer=name, index=expr, value=value.position), axes=frozenset(axis for axis, _ in axes))


def _finish(draft: Draft, *, cap: int) -> None:
    """Store what nothing uses, latest first; fold the rest into dead code."""
    unused = [entry for entry in draft.entries.values() if not entry.uses]
    if not unused and not any(isinstance(node, Store) for node in draft.nodes):
        unused = [list(draft.entries.values())[-1]]
    ranked = sorted(unused, key=lambda entry: (-entry.depth, -entry.position))
    for entry in ranked[:min(_MAX_STORES, MAX_BUFFERS - len(draft.buffers))]:
        _store(draft, entry, cap=cap)


def _finish_alike(draft: Draft, asked: frozenset[str], *, cap: int) -> bool:
    """Store the value whose way shares most with what is asked for (`relations`), and nothing else, if any does."""
    buffers = {buffer.name: buffer.dtype for buffer in draft.buffers}
    ways: list[frozenset[int]] = []
    for node in draft.nodes:
        ways.append(frozenset((len(ways),)).union(*(ways[place] for place in operands(node))))
    words = relations(draft.nodes, draft.dtypes, buffers)
    shared = {place: len(asked & frozenset().union(*(words[one] for one in ways[place])))
              for place in draft.entries}
    best = max(shared, key=lambda place: (shared[place], -len(ways[place])), default=None)
    if best is None or not shared[best]:
        return False
    value = draft.entries[best]
    head = typed_head(draft.nodes[best], draft.dtypes[best], buffers)
    _store(draft, value, cap=cap, dtypes=[name for name in NAMES if f"store {name} of {head}" in asked])
    return True


def _draw_graph(chance: Choices, family: Family, limits: Limits, *, assembly: bool) -> tuple[Graph, Draft]:
    nodes = chance.of(_sizes(nodes_in(limits.only)))
    features = swarm(chance, family, assembly=assembly, only=limits.only)
    cap = min(limits.elements, 1 << 14)
    outer: tuple[int, ...]
    if family == "pointwise" and limits.variants and limits.elements >= 1 << 17 and chance.one_in(_WIDE):
        # Few nodes of one byte: the references work through all elements.
        nodes, cap = min(nodes, 8), 1 << 17
        features = replace_swarm(features, dtypes=("i8", "u8"))
        outer, r = (MAX_PROGRAMS_Y + chance.of((1, 2, 4465)), chance.of((1, 1, 2))), None
    else:
        outer, r = _axes(chance, features, max(cap // 4, 1) if limits.variants else min(cap // 4, 100))
    axes = {f"x{k}": length for k, length in enumerate(outer)} | ({} if r is None else {"r": r})
    draft = Draft(chance, features, axes)
    # What is asked for stands somewhere among more nodes, of which the rest is cut.
    asked = frozenset(limits.only) if nodes_in(limits.only) and chance.below(2) else frozenset()
    productions = _grow(draft, features, cap=cap, nodes=nodes * (CUT if asked else 1))
    _mutate(draft, productions)
    if not (asked and _finish_alike(draft, asked, cap=cap)):
        _finish(draft, cap=cap)
    graph = Graph(outer=outer, r=r, buffers=tuple(draft.buffers), nodes=tuple(draft.nodes))
    return without_dead_nodes(graph), draft


def _layouts(chance: Choices, graph: Graph) -> dict[str, Layout]:
    """Some arrays start off the alignment that a launch looks for."""
    if chance.below(3) or not graph.buffers:
        return {}
    return {chance.of(graph.buffers).name: Layout(offset=chance.of((1, 3, 4, 7, 16)))}


def _schedules(chance: Choices, graph: Graph, *, upcast: bool, backend_compiles: bool, threads: int,
               one: bool = False) -> Graph:
    """The graph with a main schedule; one program in five has a second, one in twenty a third. Each is a kernel to
    compile, which is nearly all that a case costs: another program shows more than another schedule. one: no second."""
    most = 4096 if backend_compiles else 24
    count = 1 if one else 1 + (chance.weighted(((15, 0), (4, 1), (1, MAX_VARIANTS))) if backend_compiles else
                 chance.weighted(((3, 0), (3, 1), (2, MAX_VARIANTS))))
    found = [schedule(chance, graph, programs=most, upcast=upcast, barrier=backend_compiles, threads=threads)]
    if found[0].reduction == "cooperative":
        most = COOPERATIVE_PROGRAMS // 4
    while len(found) < count:
        another = schedule(chance, graph, programs=most, upcast=upcast, barrier=found[0].reduction == "cooperative",
                           threads=threads)
        if another in found:
            break
        found.append(another)
    graph = replace(graph, schedules=tuple(found))
    if cooperative(graph) and programs_of(graph) > COOPERATIVE_PROGRAMS:
        graph = replace(graph, schedules=tuple(
            replace(one, reduction="looped", r_split=1) if one.reduction == "cooperative" else one for one in found))
    return graph


@st.composite
def programs(draw: st.DrawFn, family: Family, *, target: str, limits: Limits,
             choices: Callable[[st.DrawFn], Choices] = Choices,
             finish: Callable[[Graph, Choices], Graph] = lambda graph, chance: graph) -> Case:
    """Cases of one family of programs. limits.variants: whether the backend tells options apart, and compiles (the
    interpreter has no inline assembly, and runs no programs at once).
    choices, finish: for programs of a smaller language, which of the options are offered, and a last rewriting of the
    graph."""
    chance = choices(draw)
    graph, draft = _draw_graph(chance, family, limits, assembly=limits.variants)
    graph = finish(graph, chance)
    main = LaunchOptions()
    variants: tuple[LaunchOptions, ...] = ()
    alike = bool(nodes_in(limits.only))
    if limits.variants:
        main = draw(launch_options())
        # Half of these are empty: one program in ten is compiled under other options too.
        variants = draw(option_variants()) if chance.one_in(5) and not alike else ()
        if chance.asserts and any(isinstance(node, Load) and node.checked for node in graph.nodes):
            main = replace(main, debug=bool(chance.below(2)))
    threads = 32 * min(one.num_warps for one in (main, *variants))
    graph = _schedules(chance, graph, upcast=draft.swarm.upcast, backend_compiles=limits.variants, threads=threads,
                       one=alike)
    arrays, sizes = arrays_of(graph, draft.contents, _layouts(chance, graph), workspaces(graph))
    if cooperative(graph) and limits.variants:
        main = replace(main, launch_cooperative_grid=True)
        variants = tuple(replace(one, launch_cooperative_grid=True) for one in variants)
    return Case(target=target, sizes=sizes, arrays=arrays, program=graph, options=main, variants=variants)

