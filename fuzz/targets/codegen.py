"""Generated kernels: random programs through the own generator, judged by interpretation.

One target per family of programs; `mixed` draws from all of them. Oracles interpret the same graph
(`fuzz.kinds.graphs.by_numpy`, `fuzz.kinds.graphs.by_torch`); the bounds of float outputs are derived from the case.
"""

from dataclasses import replace

from tridiff.fuzz.kinds.graphs.arrays import WRITTEN, graph_of
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.faults import changes, faults_of
from tridiff.fuzz.kinds.graphs.kind import graph_kind
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES, Family
from tridiff.fuzz.kinds.graphs.unordered import unordered
from tridiff.fuzz.kinds.kind import target_of
from tridiff.fuzz.known.graphs import label
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Faults, Target
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.dtypes import NAMES

_ABOUT: dict[Family, str] = {
    "pointwise": "loads, operations, conversions, masks and stores over one to three axes",
    "indexing": "index expressions of every node, gathers, strided and masked accesses",
    "reduction": "reductions of every kind, persistent, looped and cooperative, with epilogues",
    "scan": "scans of values and pairs, persistent, looped and split",
    "sort": "sorting with positions, and bucketize",
    "random": "Philox streams among other operations",
    "memory": "masked bodies, indirect reads, in-place stores and atomic adds",
    "mixed": "all features at once",
}
_SUBJECTS = {"own": "tridiff.fuzz.kinds.graphs.launching:launch_graph"}


def _unordered(case: Case) -> tuple[str, ...]:
    return unordered(case, split=any(schedule.reduction == "split" for schedule in graph_of(case).schedules))


_KIND = graph_kind(label=label)


def _target(family: Family) -> Target:
    name = f"codegen.{family}"
    target = target_of(_KIND, name=name, summary=_ABOUT[family], contract="codegen.md §1 to §12",
                       subjects=_SUBJECTS, cases=lambda limits: programs(family, target=name, limits=limits))
    return replace(
        target, dtypes=NAMES,
        draw=replace(target.draw, interpreter_elements=1 << 11, breadth=target.draw.breadth + len(OPS)),
        run=replace(target.run, written=WRITTEN, schedules=lambda case: len(graph_of(case).schedules) - 1),
        judge=replace(target.judge, unordered=_unordered, label_is_form=True),
        faults=Faults(planted=dict.fromkeys(faults_of(family), _SUBJECTS["own"]), shared_as="codegen",
                      affects=changes))


TARGETS = tuple(_target(family) for family in FAMILIES)
