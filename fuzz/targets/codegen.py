"""Generated kernels: random programs through the own generator, judged by interpretation.

One target per family of programs; `mixed` draws from all of them. Oracles interpret the same graph
(`fuzz.kinds.graphs.by_numpy`, `fuzz.kinds.graphs.by_torch`); the bounds of float outputs are derived from the case.
"""

from typing import TYPE_CHECKING

from tridiff.fuzz.kinds.graphs.arrays import WRITTEN, graph_of, input_names, output_names
from tridiff.fuzz.kinds.graphs.coverage import cells, size
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.faults import changes, faults_of
from tridiff.fuzz.kinds.graphs.miscompiled import contracted, miscompiled, spilled
from tridiff.fuzz.kinds.graphs.steps import simpler
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES, Family
from tridiff.fuzz.kinds.graphs.unordered import unordered
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Reference, Target
from tridiff.oracles.dtypes import NAMES
from tridiff.oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule

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


def _launch(launch: "Launch") -> None:
    launch.helper(launch)


def _by_dtype(case: Case, *, floats: bool) -> tuple[str, ...]:
    return tuple(name for name in output_names(case) if dtype_info(case.array(name).dtype).is_float == floats)


def _oracles(case: Case) -> tuple[Reference, ...]:
    arguments = ("@case", *input_names(case))
    outputs = tuple(output_names(case))
    return (Reference(source="numpy", function="tridiff.fuzz.kinds.graphs.by_numpy:outputs", arguments=arguments,
                      outputs=outputs),
            Reference(source="torch", function="tridiff.fuzz.kinds.graphs.by_numpy:torch_outputs", arguments=arguments,
                      outputs=outputs))


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT, SUM

    derived = SUM("program_bound",
                  origin="derived per element by interpreting the program (tridiff.oracles.by_numpy.bounded)")
    return {name: derived if dtype_info(case.array(name).dtype).is_float else BIT for name in output_names(case)}


def _bounds(case: Case) -> tuple[Reference, ...]:
    floats = _by_dtype(case, floats=True)
    if not floats:
        return ()
    return (Reference(source="numpy", function="tridiff.fuzz.kinds.graphs.by_numpy:bounds",
                      arguments=("@case", *input_names(case)), outputs=floats),)


def _defined(case: Case) -> tuple[str, tuple[str, ...]]:
    return "tridiff.fuzz.kinds.graphs.by_numpy:defined", ("@case", *input_names(case))


def _untouched(case: Case) -> tuple[str, tuple[str, ...]]:
    return "tridiff.fuzz.kinds.graphs.by_numpy:untouched", ("@case", *input_names(case))


def _unordered(case: Case) -> tuple[str, ...]:
    return unordered(case, split=any(schedule.reduction == "split" for schedule in graph_of(case).schedules))


def _about(case: Case) -> str:
    """What is known to be compiled wrong of the program, or to lose accuracy under the case's options."""
    graph = graph_of(case)
    fused = any(one.enable_fp_fusion for one in (case.options, *case.variants))
    return (miscompiled(graph) or (contracted(graph) if fused else "")
            or spilled(graph, warps=min(one.num_warps for one in (case.options, *case.variants))))


def _target(family: Family) -> Target:
    return Target(
        name=f"codegen.{family}", family="codegen", summary=_ABOUT[family], contract="codegen.md §1 to §12",
        cases=lambda limits: programs(family, target=f"codegen.{family}", limits=limits),
        launch=_launch, subjects=_SUBJECTS,
        faults=dict.fromkeys(faults_of(family), _SUBJECTS["own"]), faults_of="codegen", touched=changes,
        oracles=_oracles, rules=_rules, bounds=_bounds, defined=_defined, untouched=_untouched,
        written=WRITTEN, valid=valid, unordered=_unordered, about=_about, about_causes=True,
        schedules=lambda case: len(graph_of(case).schedules) - 1, reductions=simpler, size=size, cells=cells,
        writes_once=True, dtypes=NAMES, interpreter_elements=1 << 11)


TARGETS = tuple(_target(family) for family in FAMILIES)
