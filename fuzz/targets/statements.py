"""Programs of nested statements, whose own text run as Python says what they must store."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis.strategies import SearchStrategy

from tridiff.fuzz.kinds.kind import ProgramKind, answers_of, outputs, target_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements import cases, refusing
from tridiff.fuzz.statements.constructs import EXPRESSIONS, STATEMENTS
from tridiff.fuzz.statements.draw import function_cases, pointer_cases, statement_cases
from tridiff.fuzz.statements.faults import FAULTS, affects
from tridiff.fuzz.statements.refused import REFUSED
from tridiff.fuzz.target import Faults, Target
from tridiff.kernels.language.refusal import Refusal
from tridiff.kernels.language.script import Script
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype

_ROOM = "tridiff.fuzz.statements"


def _floats(case: Case) -> tuple[str, ...]:
    return tuple(name for name in outputs(case) if dtype(case.array(name).dtype).is_float)


_KIND = ProgramKind(
    programs=(Script,), launch=f"{_ROOM}.launching:run",
    references=answers_of(f"{_ROOM}.answers"),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    numeric=_floats, defined=f"{_ROOM}.answers:defined", across=lambda case: True)


_ABOUT: dict[str, tuple[str, Callable[..., SearchStrategy[Case]]]] = {
    "statements": ("nested branches, loops and assignments over every operator, as Python has them", statement_cases),
    "functions": ("functions with every kind of parameter, argument and result, tuples, aggregates", function_cases),
    "pointers": ("pointer arithmetic with offsets of every type, masks, hints that are true", pointer_cases),
}


def _target(topic: str) -> Target:
    name = f"language.{topic}"
    summary, drawn = _ABOUT[topic]
    target = target_of(
        _KIND, name=name, contract="language.md §1, statements.md §1", summary=summary,
        subjects={"own": f"{_ROOM}.launching:run"}, cases=lambda limits: drawn(target=name, limits=limits))
    draw = replace(target.draw, breadth=len(EXPRESSIONS) + len(STATEMENTS))
    return replace(target, draw=draw, dtypes=("i1", *INTEGERS, *FLOATS), faults=Faults(
        planted=dict.fromkeys(FAULTS, f"{_ROOM}.launching:run"), shared_as="statements", affects=affects))


_REFUSALS = ProgramKind(
    programs=(Refusal,), launch=f"{_ROOM}.refusing:run",
    references=answers_of(f"{_ROOM}.refusing"),
    valid=refusing.valid, steps=refusing.steps, size=lambda case: (), label=lambda case: refusing.refusal_of(case).row,
    coverage=lambda case: (f"refused={refusing.refusal_of(case).row}",), across=lambda case: True)


def _refusals() -> Target:
    name = "language.refusals"
    target = target_of(
        _REFUSALS, name=name, contract="statements.md §2",
        summary="kernels that are wrong in one place: refused with a reason and a line, or right",
        subjects={"own": f"{_ROOM}.refusing:run"}, cases=lambda limits: refusing.refusal_cases(target=name))
    draw = replace(target.draw, breadth=len(REFUSED), once=lambda seed: refusing.once(name, seed))
    return replace(target, draw=draw, dtypes=("i32", "fp32"), backends=("cuda", "compile"), faults=Faults(
        planted={"nothing_refused": f"{_ROOM}.refusing:run"}))


TARGETS = (*map(_target, _ABOUT), _refusals())
