"""Graphs as a kind of programs: what the own generator's targets and those of torch.compile share."""

from collections.abc import Callable
from typing import Literal, get_args

from tridiff.fuzz.kinds.graphs.arrays import input_names, output_names
from tridiff.fuzz.kinds.graphs.coverage import cells, size
from tridiff.fuzz.kinds.graphs.features import features
from tridiff.fuzz.kinds.graphs.steps import simpler
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.kinds.kind import ProgramKind
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Path
from tridiff.kernels.codegen.graph import Graph, Node
from tridiff.oracles.dtypes import dtype

_ROOM = "tridiff.fuzz.kinds.graphs"


def _floats(case: Case) -> tuple[str, ...]:
    return tuple(name for name in output_names(case) if dtype(case.array(name).dtype).is_float)


def graph_kind(*, label: Callable[[Case], str]) -> ProgramKind:
    """label: as in `ProgramKind`. Subjects launch by themselves."""
    references: tuple[tuple[Literal["numpy", "torch"], Path], ...] = (
        ("numpy", f"{_ROOM}.by_numpy:outputs"), ("torch", f"{_ROOM}.by_numpy:torch_outputs"))
    return ProgramKind(
        programs=(Graph,), breadth=len(get_args(Node)), references=references, valid=valid, steps=simpler, size=size,
        label=label, coverage=cells, features=features, inputs=input_names,
        outputs=lambda case: tuple(output_names(case)), bounded=_floats,
        bound=("numpy", f"{_ROOM}.by_numpy:bounds"), bound_rule=f"{_ROOM}.by_numpy:WITHIN_BOUND",
        defined=f"{_ROOM}.by_numpy:defined", untouched=f"{_ROOM}.by_numpy:untouched")
