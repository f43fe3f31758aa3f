"""Whether a case is one that `fuzz.kinds.graphs.draw` could have drawn; asked of every case before it is run."""

from tridiff.fuzz.kinds.graphs.arrays import IN_PLACE, fits, graph_of
from tridiff.fuzz.kinds.graphs.workspaces import NAMES, workspaces
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.geometry import grid
from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.codegen.legality import IllegalGraph, check
from tridiff.kernels.codegen.tiles import tiling

MAX_PROGRAMS = 1 << 17
"""Of one launch: enough for twice as many along y as a grid may have."""
COOPERATIVE_PROGRAMS = 128
"""Programs of every launch of a case that is launched cooperatively: all must be resident at once."""


def valid(case: Case) -> bool:
    """Legal graph, its own arrays, one meaning under all schedules, launches of bounded size."""
    if not fits(case):
        return False
    graph = graph_of(case)
    try:
        check(graph)
        scratch = workspaces(graph)
    except (IllegalGraph, RecursionError):
        return False
    found = [(spec.dtype, case.sizes[spec.dims[0]]) for spec in case.arrays if spec.name in NAMES]
    if found != list(scratch) :
        return False
    if any(buffer.role == "inout" and buffer.name not in IN_PLACE for buffer in graph.buffers):
        return False
    if len({schedule.upcast for schedule in graph.schedules}) > 1:
        return False
    return _launchable(case, graph)


def cooperative(graph: Graph) -> bool:
    """Whether some schedule has a barrier across the grid."""
    return any(schedule.reduction == "cooperative" for schedule in graph.schedules)


def programs_of(graph: Graph) -> int:
    """Programs of the largest launch."""
    found = 0
    for schedule in graph.schedules:
        x, y, z = grid(tiling(graph, schedule), schedule)
        found = max(found, x * y * z)
    return found


def _launchable(case: Case, graph: Graph) -> bool:
    most = programs_of(graph)
    if cooperative(graph):
        every = (case.options, *case.variants)
        if most > COOPERATIVE_PROGRAMS or not all(one.launch_cooperative_grid for one in every):
            return False
    elif case.options.launch_cooperative_grid:
        return False
    return most <= MAX_PROGRAMS
