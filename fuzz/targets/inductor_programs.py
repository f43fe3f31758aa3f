"""torch.compile on generated programs: the graphs of the own generator as torch functions.

As fuzz/targets/codegen.py, for the programs that torch can express; the subject `own` is the own generator on the very
same programs, as far as its contract is that of eager torch. Both references interpret the graph.
"""

from dataclasses import replace

from tridiff.fuzz.inductor.operations import splits_scans
from tridiff.fuzz.inductor.programs.draw import torch_programs
from tridiff.fuzz.inductor.programs.expressible import expressible, suspect
from tridiff.fuzz.kinds.graphs.arrays import WRITTEN, graph_of
from tridiff.fuzz.kinds.graphs.faults import changes, faults_of
from tridiff.fuzz.kinds.graphs.kind import graph_kind
from tridiff.fuzz.kinds.graphs.swarm import Family
from tridiff.fuzz.kinds.graphs.unordered import unordered
from tridiff.fuzz.kinds.kind import target_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Faults, Target

FAMILIES: dict[Family, str] = {
    "pointwise": "operations and conversions", "indexing": "index arithmetic, gathers and strided views",
    "reduction": "reductions with prologues and epilogues", "scan": "running results",
    "sort": "sorting with positions, and bucketize", "memory": "masks, indirect reads, scattered and added stores",
    "mixed": "all features at once",
}


def _unordered(case: Case) -> tuple[str, ...]:
    """For the own generator and for Inductor alike: both add atomically."""
    return unordered(case, split=splits_scans(graph_of(case).r or 0))


def _in_torch(case: Case) -> bool:
    """Torch has what the program needs; what Inductor alone lacks is declined when the case runs."""
    return not expressible(graph_of(case)).startswith("torch ")


_OWN = "tridiff.fuzz.inductor.programs.launching:launch_own"
_ELSEWHERE = {"next_seed", "offset_truncated", "high_included", "spread_ignored", "stale_scratch", "stored_by_all",
              "mean_over_block"}
"""Faults that change no program that is drawn here and that the subject `own` runs."""
_KIND = graph_kind(label=lambda case: suspect(graph_of(case)))


def _target(family: Family, summary: str) -> Target:
    name = f"inductor.programs_{family}"
    target = target_of(
        _KIND, name=name, contract="codegen.md §0 to §10, §14",
        summary=f"generated programs through torch.compile: {summary}",
        subjects={"own": _OWN, "inductor": "tridiff.fuzz.inductor.programs.launching:launch_graph"},
        cases=lambda limits: torch_programs(family, target=name, limits=limits).filter(_in_torch), within=_in_torch)
    return replace(
        target, backends=("cuda", "interpreter"), draw=replace(target.draw, interpreter_elements=1 << 9),
        run=replace(target.run, written=WRITTEN, untraced=("inductor",), writes_once=False,
                    schedules=lambda case: len(graph_of(case).schedules) - 1),
        judge=replace(target.judge, unordered=_unordered, label_is_issue=True, label_is_form=True),
        faults=Faults(planted={one: _OWN for one in faults_of(family) if one not in _ELSEWHERE},
                      shared_as="inductor.programs", affects=changes))


TARGETS = tuple(_target(family, summary) for family, summary in FAMILIES.items())
