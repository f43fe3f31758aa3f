"""Planted faults of the generator, by the families of programs that can show them."""

from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES, Family
from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.codegen.mutants import FAULTS

_FAMILY: dict[str, tuple[Family, ...]] = {
    "printer": ("indexing",), "types": ("pointwise",), "masks": ("memory",), "indexing": ("indexing", "memory"),
    "reductions": ("reduction",), "scans": ("scan",), "sort": ("sort",), "random": ("random",), "stores": ("memory",),
    "geometry": ("pointwise", "reduction")}
_SHOWN_BY: dict[str, tuple[Family, ...]] = {
    "spread_ignored": ("pointwise",), "missing_barrier": ("reduction", "memory", "mixed"), "stale_scratch": ("scan",),
    "stored_by_all": ("reduction", "scan", "mixed")}
"""Faults that only some forms show: rows that continue along z; reductions and scans by several programs of a row."""
_HOOKS = {"compile_error": "compile_error", "runtime_error": "runtime_error", "wrong_value": "accuracy"}
"""The engine's hook (codegen.md §13) to the generator's fault of a broken relu."""


def hooked(hook: str) -> tuple[str, ...]:
    """The generator's fault behind a hook of the engine."""
    return (_HOOKS[hook],) if hook in _HOOKS else ()


def names() -> tuple[str, ...]:
    """Every planted fault but those behind a hook."""
    return tuple(name for name in FAULTS if name not in _HOOKS.values())


def families(name: str) -> tuple[Family, ...]:
    """Where a fault is planted, the most likely family first; `mixed` has all."""
    if name in _SHOWN_BY:
        return _SHOWN_BY[name]
    return (*_FAMILY.get(FAULTS[name].group, FAMILIES[:1]), "mixed")


def faults_of(family: Family) -> tuple[str, ...]:
    """The faults that are planted in a family's target."""
    return tuple(name for name in names() if family in families(name))


def changes(case: Case, fault: str) -> bool:
    """Whether the fault changes the kernel of any of the case's schedules."""
    graph = graph_of(case)
    kernels = [(plan(graph, one), plan(graph, one, faults=(fault,))) for one in graph.schedules]
    return any((right.key, right.grid) != (wrong.key, wrong.grid) for right, wrong in kernels)
