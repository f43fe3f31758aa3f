"""Scratch arrays that a case brings for the schedules of its program: the generated kernels say what they need."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.codegen.graph import Graph, Schedule

_NEEDY = ("split", "cooperative")
"""Reductions whose programs exchange partial results through memory."""


@dataclass(frozen=True)
class Place:
    """Where one workspace of one schedule lies: the array, its dtype and length."""

    array: str
    dtype: str
    length: int


def places(graph: Graph) -> dict[tuple[int, str], Place]:
    """(schedule number, workspace name) to its array; every schedule has arrays of its own."""
    from fuzz.programs.arrays import WORKSPACES
    from kernels.codegen.launch import plan

    found: dict[tuple[int, str], Place] = {}
    for number, schedule in enumerate(graph.schedules):
        if schedule.reduction not in _NEEDY:
            continue
        for one in plan(graph, schedule).workspaces:
            array = WORKSPACES[len(found) % len(WORKSPACES)]
            found[number, one.name] = Place(array, one.dtype, max(one.length, 1))
    return found


def workspaces(graph: Graph) -> tuple[tuple[str, int], ...]:
    """(dtype, length) of the arrays work0, work1, ..."""
    return tuple((place.dtype, place.length) for place in places(graph).values())


def needed(schedule: Schedule) -> bool:
    """Whether a schedule may need workspaces."""
    return schedule.reduction in _NEEDY
