"""Known defects of generated kernels that are no form of a few nodes: of options, of sizes, of atomic sums."""

from collections.abc import Callable
from math import prod

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.rebuild import rebuilt
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.known.graphs.form import analysis_of
from tridiff.fuzz.known.graphs.forms import SINGLE
from tridiff.fuzz.known.graphs.nodes import DIVISIONS, is_constant, tilings
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.graph import Graph, Masked, Pointwise, Reduce, Scan, Schedule, Store
from tridiff.kernels.pointwise.record import HALVES

_LONG = ("i64", "u64")
_MANY, _LANES = 64, 32
"""Elements of a thread that are many, threads of a warp."""


def _under(case: Case, **changes: object) -> Case:
    """The case with other options, in all launches."""

    def changed(options: LaunchOptions) -> LaunchOptions:
        return replace(options, **changes)

    return replace(case, options=changed(case.options), variants=tuple(map(changed, case.variants)))


def scheduled(case: Case, change: Callable[[Schedule], Schedule]) -> Case | None:
    """The case with every schedule changed; None if that is not legal."""
    graph = graph_of(case)
    made = replace(case, program=replace(graph, schedules=tuple(map(change, graph.schedules))))
    return made if valid(made) else None


def _rebuilt(case: Case, graph: Graph) -> Case | None:
    made = rebuilt(case, graph)
    return made if made is not None and valid(made) else None


def contracted(case: Case) -> bool:
    """Whether multiplications and additions are fused in a kernel with a pow of single precision.

    libdevice's pow corrects its logarithm by the rounding error of a product. Triton links it in and fuses that product
    too where enable_fp_fusion lets it fuse a kernel's own: the error is not corrected, and grows with the exponent
    (pytorch#175594).
    """
    graph = graph_of(case)
    analysis = analysis_of(graph)
    single = any(isinstance(node, Pointwise) and node.op == "pow" and analysis.dtype(node.args[0]) in SINGLE
                 for node in graph.nodes)
    return single and any(one.enable_fp_fusion for one in (case.options, *case.variants))


def uncontracted(case: Case) -> Case:
    """The case without fusion."""
    return _under(case, enable_fp_fusion=False)


def spilled(case: Case) -> bool:
    """Whether threads that hold many elements divide 64-bit integers.

    Such divisions are calls. Among 128 of them and 16,742 accesses to spilled registers ptxas 12.8 gives six of a
    thread's 64 elements the operands of others; at -O1 it does not.
    """
    graph = graph_of(case)
    analysis = analysis_of(graph)
    called = any(isinstance(node, Pointwise) and node.op in DIVISIONS and analysis.dtype(node.args[0]) in _LONG
                 and not is_constant(analysis, node.args[1]) for node in graph.nodes)
    if not called:
        return False
    held = [prod(tile.block for tile in one.tiles) for one in tilings(graph)]
    warps = min(one.num_warps for one in (case.options, *case.variants))
    return max(held, default=0) >= _MANY * _LANES * warps


def unspilled(case: Case) -> Case | None:
    """The case with as many warps as it takes."""
    for warps in (2, 4, 8, 16, 32):
        made = _under(case, num_warps=warps)
        if not spilled(made):
            return made if valid(made) else None
    return None


def two_widths_of_abs(case: Case) -> bool:
    """Whether libdevice's abs is called with integers of 32 and of 64 bits."""
    graph = graph_of(case)
    analysis = analysis_of(graph)
    return {"i32", "i64"} <= {analysis.dtype(node.args[0]) for node in graph.nodes
                              if isinstance(node, Pointwise) and node.op == "abs_libdevice"}


def _sums_of_halves(graph: Graph) -> set[str]:
    dtypes = {one.name: one.dtype for one in graph.buffers}
    return {node.buffer for node in graph.nodes
            if isinstance(node, Store) and node.mode == "atomic_add" and dtypes[node.buffer] in HALVES}


def adds_halves(case: Case) -> bool:
    """Whether halves are added atomically."""
    return bool(_sums_of_halves(graph_of(case)))


def without_sums_of_halves(case: Case) -> Case | None:
    """The case that adds to fp32 instead."""
    graph = graph_of(case)
    names = _sums_of_halves(graph)
    buffers = tuple(replace(one, dtype="fp32") if one.name in names else one for one in graph.buffers)
    return _rebuilt(case, replace(graph, buffers=buffers))


def chooses_bf16(case: Case) -> bool:
    """Whether a condition chooses between numbers of bf16 that are kept as such."""
    graph = graph_of(case)
    analysis = analysis_of(graph)
    chosen = [node.arg if isinstance(node, Masked) else node.args[1] for node in graph.nodes
              if isinstance(node, Masked) or (isinstance(node, Pointwise) and node.op == "where")]
    return not all(one.upcast for one in graph.schedules) and "bf16" in map(analysis.dtype, chosen)


def with_chosen_fp32(case: Case) -> Case | None:
    """The case that computes halves in fp32."""
    return scheduled(case, lambda one: replace(one, upcast=True))


def sums_to_a_number(case: Case) -> bool:
    """Whether integers of at most 32 bits are added up by programs of one row, whose sum has no axis left."""
    graph = graph_of(case)
    analysis = analysis_of(graph)
    return any(one.no_x_dim for one in graph.schedules) and any(
        isinstance(node, Reduce) and node.kind == "sum" and not is_float(name := analysis.dtype(node.args[0]))
        and name not in _LONG for node in graph.nodes)


def with_a_row_left(case: Case) -> Case | None:
    """The case whose programs have an axis for their row."""
    return scheduled(case, lambda one: replace(one, no_x_dim=False))


def writes_rows_in_pairs(case: Case) -> bool:
    """Whether a program with indices of 32 bits has two elements along an axis, so that its number is shifted by one
    where a thread's is shifted by 31."""
    return any(map(_in_pairs, graph_of(case).schedules))


def _in_pairs(schedule: Schedule) -> bool:
    return 2 in schedule.x_blocks and schedule.static and schedule.index_dtype == "i32"


def with_wide_indices(case: Case) -> Case | None:
    """The case with indices of 64 bits in those programs."""
    return scheduled(case, lambda one: replace(one, index_dtype="i64") if _in_pairs(one) else one)


def scans_blocks(case: Case) -> bool:
    """Whether what a block pointer loads may be scanned. A block without an axis of its own takes the layout in which
    the load holds it; along the other axis such a layout may hold a thread's elements apart."""
    graph = graph_of(case)
    return any(isinstance(node, Scan) for node in graph.nodes) and any(
        one.access == "block_pointers" for one in graph.schedules)


def with_pointers(case: Case) -> Case | None:
    """The case with a pointer for every element."""
    return scheduled(case, lambda one: replace(one, access="pointers") if one.access == "block_pointers" else one)
