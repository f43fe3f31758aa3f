"""Copies of boxes and exchanges within a cluster, as cases: files as in `tridiff.fuzz.kinds.loops`."""

from tridiff.fuzz.kinds.kind import ProgramKind
from tridiff.fuzz.kinds.transfers import cases
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange

_ROOM = "tridiff.fuzz.kinds.transfers"

KIND = ProgramKind(
    programs=(Boxes, Exchange), launch=f"{_ROOM}.launching:run",
    references=(("torch", f"{_ROOM}.answers:answer"), ("numpy", f"{_ROOM}.answers:answer")),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    expected_ir=f"{_ROOM}.launching:expected_ir",
    numeric=lambda case: ("out",) if isinstance(case.program, Boxes) and case.program.nan else ())
