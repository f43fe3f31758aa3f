"""torch.compile on generated programs: the graphs of the own generator as torch functions.

As fuzz/targets/codegen.py, for the programs that torch can express; the subject `own` is the own generator on the very
same programs, as far as its contract is that of eager torch. Both references interpret the graph.
"""

from typing import TYPE_CHECKING

from tridiff.fuzz.inductor.operations import splits_scans
from tridiff.fuzz.inductor.programs.draw import torch_programs
from tridiff.fuzz.inductor.programs.expressible import expressible, suspect
from tridiff.fuzz.kinds.graphs.arrays import WRITTEN, graph_of, input_names, output_names
from tridiff.fuzz.kinds.graphs.coverage import cells, size
from tridiff.fuzz.kinds.graphs.steps import simpler
from tridiff.fuzz.kinds.graphs.swarm import Family
from tridiff.fuzz.kinds.graphs.unordered import unordered
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Reference, Target
from tridiff.oracles.dtypes import dtype as dtype_info

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.oracles.rules import Rule

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
    return (Reference(source="numpy", function="tridiff.fuzz.kinds.graphs.by_numpy:outputs", arguments=arguments,
                      outputs=outputs),
            Reference(source="torch", function="tridiff.fuzz.kinds.graphs.by_torch:outputs", arguments=arguments,
                      outputs=outputs))


def _floats(case: Case) -> tuple[str, ...]:
    return tuple(name for name in output_names(case) if dtype_info(case.array(name).dtype).is_float)


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT, SUM

    derived = SUM("program_bound",
                  origin="derived per element by interpreting the program (tridiff.oracles.by_numpy.bounded)")
    floats = _floats(case)
    return {name: derived if name in floats else BIT for name in output_names(case)}


def _bounds(case: Case) -> tuple[Reference, ...]:
    floats = _floats(case)
    arguments = ("@case", *input_names(case))
    return (Reference(source="numpy", function="tridiff.fuzz.kinds.graphs.by_numpy:bounds", arguments=arguments,
                      outputs=floats),) if floats else ()


def _defined(case: Case) -> tuple[str, tuple[str, ...]]:
    return "tridiff.fuzz.kinds.graphs.by_numpy:defined", ("@case", *input_names(case))


def _untouched(case: Case) -> tuple[str, tuple[str, ...]]:
    return "tridiff.fuzz.kinds.graphs.by_numpy:untouched", ("@case", *input_names(case))


def _unordered(case: Case) -> tuple[str, ...]:
    """For the own generator and for Inductor alike: both add atomically."""
    return unordered(case, split=splits_scans(graph_of(case).r or 0))


def _target(family: Family, about: str) -> Target:
    name = f"inductor.programs_{family}"
    return Target(
        name=name, family="inductor", contract="codegen.md §0 to §10, §14",
        summary=f"generated programs through torch.compile: {about}",
        cases=lambda limits: torch_programs(family, target=name, limits=limits),
        launch=_launch, oracles=_oracles, rules=_rules, bounds=_bounds, defined=_defined, untouched=_untouched,
        written=WRITTEN, unordered=_unordered,
        subjects={"own": "tridiff.fuzz.inductor.programs.launching:launch_own",
                  "inductor": "tridiff.fuzz.inductor.programs.launching:launch_graph"},
        untraced=("inductor",), writes_once=False, backends=("cuda", "interpreter"),
        valid=lambda case: valid(case) and not expressible(graph_of(case)).startswith("torch "),
        about=lambda case: suspect(graph_of(case)), about_causes=True,
        schedules=lambda case: len(graph_of(case).schedules) - 1, reductions=simpler, size=size, cells=cells,
        interpreter_elements=1 << 9)


TARGETS = tuple(_target(family, about) for family, about in FAMILIES.items())
