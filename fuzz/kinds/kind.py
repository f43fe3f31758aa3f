"""ProgramKind: what all targets share whose cases carry programs of one kind, and the one way from there to a target.

What a program means stays with its kind: walks over graphs, chains, plans and loops are different things, and the
references of one kind are independent of each other on purpose.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec
from hypothesis.strategies import SearchStrategy

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Coverage, Draw, Judge, Limits, Path, Reference, Run, Shrink, Target

if TYPE_CHECKING:
    from tridiff.oracles.rules import Rule

EVERY_ROW = 1 << 20
"""Rows that an oracle is asked about where the output has something of each."""


References = tuple[tuple[Literal["numpy", "torch"], Path], ...]


def answers_of(module: str) -> References:
    """Its functions `torch_answer` and `numpy_answer`."""
    return ("torch", f"{module}:torch_answer"), ("numpy", f"{module}:numpy_answer")


def inputs(case: Case) -> tuple[str, ...]:
    """Arrays with contents."""
    return tuple(spec.name for spec in case.arrays if spec.content is not None)


def outputs(case: Case) -> tuple[str, ...]:
    """Arrays without."""
    return tuple(spec.name for spec in case.arrays if spec.content is None)


def _none(case: Case) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class ProgramKind:
    """One kind of programs, `Case.program`. Functions named by a path are resolved in workers only.

    programs: the classes. launch: runs a `Launch`; "": the subject's helper does. references: a program evaluated in
    numpy and in torch, given the case and its inputs, returning its outputs. valid: whether a kernel can be made of the
    program and everything else in the case follows from it. steps: simpler cases. size: what makes a program large.
    label: what tells findings apart. coverage: words that a campaign counts. features: what draws can be held to
    (`Draw.features`).
    """

    programs: tuple[type[msgspec.Struct], ...]
    references: References
    valid: Callable[[Case], bool]
    steps: Callable[[Case], Iterable[Case]]
    size: Callable[[Case], tuple[int, ...]]
    label: Callable[[Case], str]
    coverage: Callable[[Case], Iterable[str]]
    features: Callable[[Case], tuple[str, ...]] = _none
    launch: Path = ""
    inputs: Callable[[Case], tuple[str, ...]] = inputs
    """Arrays that the references read."""
    outputs: Callable[[Case], tuple[str, ...]] = outputs
    bounded: Callable[[Case], tuple[str, ...]] = _none
    """Outputs that need only lie within a bound, which `bound` derives; all others are exact."""
    bound: tuple[Literal["numpy", "torch"], Path] | None = None
    bound_rule: Path = ""
    """The comparison rule of bounded outputs."""
    numeric: Callable[[Case], tuple[str, ...]] = _none
    """Exact outputs in which zeros may have either sign."""
    defined: Path = ""
    """A torch function of the case and its inputs: where outputs are defined (`Judge.defined`)."""
    untouched: Path = ""
    """A torch function of the case and its inputs: elements that no launch may write (`Judge.untouched`)."""
    expected_ir: Path = ""
    """A function of the case: operations that the IR of the compiled kernel must contain (`Judge.expected_ir`)."""
    expected_ir_may_fold: bool = False
    """Whether the compiler may merge them with others (`Judge.expected_ir_may_fold`)."""
    across: Callable[[Case], bool] = lambda case: False
    """Whether an output takes something from every row, so that the references need all of them."""
    delays: Literal["", "warp", "program"] = ""
    breadth: int = 1
    """Sorts of parts of which a program is made (`Draw.breadth`)."""


def target_of(kind: ProgramKind, *, name: str, family: str = "", summary: str, contract: str,
              subjects: Mapping[str, Path], cases: Callable[[Limits], SearchStrategy[Case]],
              within: Callable[[Case], bool] = lambda case: True) -> Target:
    """A target whose cases carry programs of `kind`; what it has beyond that is put in with `dataclasses.replace`.

    within: whether a valid case is one of this target rather than of another one of its kind.
    """

    def launch(launch: Launch) -> None:
        from tridiff.fuzz.backends.launch import resolve

        (resolve(kind.launch) if kind.launch else launch.helper)(launch)

    def arguments(case: Case) -> tuple[str, ...]:
        return "@case", *kind.inputs(case)

    def oracles(case: Case) -> tuple[Reference, ...]:
        return tuple(Reference(source=source, function=function, arguments=arguments(case), outputs=kind.outputs(case),
                               sample=EVERY_ROW if kind.across(case) else None)
                     for source, function in kind.references)

    def rules(case: Case) -> dict[str, "Rule"]:
        from tridiff.fuzz.backends.launch import resolve
        from tridiff.oracles.rules import BIT, NUM0

        bounded, numeric = kind.bounded(case), kind.numeric(case)
        derived = resolve(kind.bound_rule) if bounded else BIT
        return {one: derived if one in bounded else NUM0 if one in numeric else BIT for one in kind.outputs(case)}

    def bounds(case: Case) -> tuple[Reference, ...]:
        bounded = kind.bounded(case)
        if not bounded or kind.bound is None:
            return ()
        source, function = kind.bound
        return (Reference(source=source, function=function, arguments=arguments(case), outputs=bounded),)

    def valid(case: Case) -> bool:
        return isinstance(case.program, kind.programs) and kind.valid(case) and within(case)

    return Target(
        name=name, family=family, summary=summary, contract=contract, subjects=subjects,
        draw=Draw(cases=cases, valid=valid, delays=kind.delays, breadth=kind.breadth, features=kind.features),
        run=Run(launch=launch),
        judge=Judge(
            oracles=oracles, rules=rules, bounds=bounds, label=kind.label, expected_ir=kind.expected_ir,
            expected_ir_may_fold=kind.expected_ir_may_fold,
            defined=lambda case: (kind.defined, arguments(case)) if kind.defined else None,
            untouched=lambda case: (kind.untouched, arguments(case)) if kind.untouched else None),
        shrink=Shrink(steps=kind.steps, size=kind.size),
        coverage=Coverage(cells=kind.coverage))
