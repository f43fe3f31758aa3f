"""Scratch arrays that a case brings for the schedules of its program: the generated kernels say what they need.

Workspaces of one dtype lie in one array, one after the other at aligned offsets; schedules share the arrays, which
hold zeros again before every launch.
"""

from dataclasses import dataclass

from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.codegen.launch import plan

NAMES = tuple(f"work{k}" for k in range(8))
_NEEDY = ("split", "cooperative")
"""Reductions whose programs exchange partial results through memory."""
_STEP = 64
"""Elements that offsets are multiples of: aligned for every dtype."""


@dataclass(frozen=True)
class Place:
    """Where one workspace lies: the array and the first element."""

    array: str
    dtype: str
    offset: int


def _laid_out(graph: Graph) -> tuple[dict[tuple[int, str], Place], dict[str, int]]:
    found: dict[tuple[int, str], Place] = {}
    lengths: dict[str, int] = {}
    for number, schedule in enumerate(graph.schedules):
        if schedule.reduction not in _NEEDY:
            continue
        used: dict[str, int] = {}
        for one in plan(graph, schedule).workspaces:
            lengths.setdefault(one.dtype, 1)
            offset = used.get(one.dtype, 0)
            array = NAMES[list(lengths).index(one.dtype)]
            found[number, one.name] = Place(array, one.dtype, offset)
            lengths[one.dtype] = max(lengths[one.dtype], offset + one.length)
            used[one.dtype] = -(-(offset + one.length) // _STEP) * _STEP
    return found, lengths


def places(graph: Graph) -> dict[tuple[int, str], Place]:
    """(schedule number, workspace name) to where it lies."""
    return _laid_out(graph)[0]


def workspaces(graph: Graph) -> tuple[tuple[str, int], ...]:
    """(dtype, length) of the arrays work0, work1, ..."""
    if not any(schedule.reduction in _NEEDY for schedule in graph.schedules):
        return ()
    return tuple(_laid_out(graph)[1].items())
