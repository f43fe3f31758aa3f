"""Programs of nested statements, whose own text run as Python says what they must store."""

from dataclasses import replace

from tridiff.fuzz.kinds.kind import ProgramKind, outputs, target_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements import cases
from tridiff.fuzz.statements.draw import statement_cases
from tridiff.fuzz.statements.faults import FAULTS, affects
from tridiff.fuzz.target import Faults, Target
from tridiff.kernels.language.script import Script
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype

_ROOM = "tridiff.fuzz.statements"


def _floats(case: Case) -> tuple[str, ...]:
    return tuple(name for name in outputs(case) if dtype(case.array(name).dtype).is_float)


_KIND = ProgramKind(
    programs=(Script,), launch=f"{_ROOM}.launching:run",
    references=(("torch", f"{_ROOM}.answers:torch_answer"), ("numpy", f"{_ROOM}.answers:numpy_answer")),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    numeric=_floats, defined=f"{_ROOM}.answers:defined", across=lambda case: True)


def _statements() -> Target:
    name = "language.statements"
    target = target_of(
        _KIND, name=name, family="language", contract="language.md §1, statements.md §1",
        summary="nested branches, loops and assignments over every operator, as Python has them",
        subjects={"own": f"{_ROOM}.launching:run"},
        cases=lambda limits: statement_cases(target=name, limits=limits))
    return replace(target, dtypes=("i1", *INTEGERS, *FLOATS), faults=Faults(
        planted=dict.fromkeys(FAULTS, f"{_ROOM}.launching:run"), shared_as="statements", affects=affects))


TARGETS = (_statements(),)
