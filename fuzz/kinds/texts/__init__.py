"""Kernels written as TTGIR text, as cases: files as in `tridiff.fuzz.kinds.loops`."""

from tridiff.fuzz.kinds.kind import ProgramKind, inputs
from tridiff.fuzz.kinds.texts import cases
from tridiff.kernels.ttgir.text import Text

_ROOM = "tridiff.fuzz.kinds.texts"

KIND = ProgramKind(
    programs=(Text,), launch=f"{_ROOM}.launching:run",
    references=(("torch", f"{_ROOM}.answers:answer"), ("numpy", f"{_ROOM}.answers:answer")),
    inputs=lambda case: tuple(name for name in inputs(case) if name != "scratch"),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    expected_ir=f"{_ROOM}.launching:expected_ir")
