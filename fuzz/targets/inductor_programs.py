"""torch.compile on generated programs: the graphs of the own generator as torch functions.

As fuzz/targets/codegen.py, for the programs that torch can express; the subject `own` is the own generator on the very
same programs, as far as its contract is that of eager torch. Both references interpret the graph.
"""

from typing import TYPE_CHECKING

from fuzz.programs.arrays import WRITTEN, graph_of, input_names, output_names
from fuzz.programs.draw_torch import torch_programs
from fuzz.programs.expressible import expressible, suspect
from fuzz.programs.ledger import cells, size
from fuzz.programs.reductions import simpler
from fuzz.programs.swarm import Family
from fuzz.programs.validity import valid
from fuzz.records import Case
from fuzz.target import Reference, Target
from oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from fuzz.backends.launch import Launch
    from oracles.rules import Rule

FAMILIES: dict[Family, str] = {
    "pointwise": "operations and conversions", "indexing": "index arithmetic, gathers and strided views",
    "reduction": "reductions with prologues and epilogues", "scan": "running results",
    "sort": "sorting with positions, and bucketize", "memory": "masks, indirect reads, scattered and added stores",
    "mixed": "all features at once",
}


def _launch(launch: "Launch") -> None:
    launch.helper(launch)


def _oracles(case: Case) -> tuple[Reference, ...]:
    arguments, outputs = ("@case", *input_names(case)), tuple(output_names(case))
    return (Reference(source="numpy", function="fuzz.programs.by_numpy:outputs", arguments=arguments, outputs=outputs),
            Reference(source="torch", function="fuzz.programs.by_torch:outputs", arguments=arguments, outputs=outputs))


def _floats(case: Case) -> tuple[str, ...]:
    return tuple(name for name in output_names(case) if dtype_info(case.array(name).dtype).is_float)


def _rules(case: Case) -> dict[str, "Rule"]:
    from oracles.rules import BIT, SUM

    derived = SUM("program_bound", origin="derived per element by interpreting the program (oracles.by_numpy.bounded)")
    floats = _floats(case)
    return {name: derived if name in floats else BIT for name in output_names(case)}


def _bounds(case: Case) -> tuple[Reference, ...]:
    floats = _floats(case)
    arguments = ("@case", *input_names(case))
    return (Reference(source="numpy", function="fuzz.programs.by_numpy:bounds", arguments=arguments,
                      outputs=floats),) if floats else ()


def _defined(case: Case) -> tuple[str, tuple[str, ...]]:
    return "fuzz.programs.by_numpy:defined", ("@case", *input_names(case))


def _target(family: Family, about: str) -> Target:
    name = f"inductor.programs_{family}"
    return Target(
        name=name, family="inductor", contract="codegen.md §0 to §10, §14",
        summary=f"generated programs through torch.compile: {about}",
        cases=lambda limits: torch_programs(family, target=name, limits=limits),
        launch=_launch, oracles=_oracles, rules=_rules, bounds=_bounds, defined=_defined, written=WRITTEN,
        subjects={"own": "fuzz.programs.upstream:launch_own", "inductor": "fuzz.programs.upstream:launch_graph"},
        untraced=("inductor",), writes_once=False, backends=("cuda", "interpreter"),
        valid=lambda case: valid(case) and not expressible(graph_of(case)).startswith("torch "),
        about=lambda case: suspect(graph_of(case)), about_causes=True,
        schedules=lambda case: len(graph_of(case).schedules) - 1, reductions=simpler, size=size, cells=cells,
        interpreter_elements=1 << 9)


TARGETS = tuple(_target(family, about) for family, about in FAMILIES.items())
