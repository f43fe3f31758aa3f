"""What all targets made of chains share."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from tridiff.fuzz.kinds.chains import cases
from tridiff.fuzz.kinds.chains.coverage import counted, features
from tridiff.fuzz.kinds.chains.steps import size, steps
from tridiff.fuzz.kinds.kind import ProgramKind, inputs, target_of
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Faults, Limits, Path, Reference, Target
from tridiff.fuzz.versions import Feature, offers
from tridiff.kernels.gluon.chain import Chain, Step
from tridiff.kernels.gluon.layouts import Distributed


def _canonical(case: Case) -> Reference | None:
    chain = case.program
    assert isinstance(chain, Chain)
    holders = tuple(chain.arrays[number].name for number in cases.returned(chain))
    if not holders:
        return None
    return Reference(source="torch", function="tridiff.fuzz.kinds.chains.evaluate:settle", outputs=holders,
                     arguments=("@case", *holders, *inputs(case)))


def _unordered(case: Case) -> tuple[str, ...]:
    """What atomics return depends on the order of arrival."""
    reference = _canonical(case)
    return reference.outputs if reference is not None else ()


def warps_of_32(environment: Environment) -> str:
    """What the architecture lacks for any chain."""
    return "layouts are drawn for warps of 32 lanes" if environment.architecture.startswith("gfx") else ""


def indexed_memory(environment: Environment, feature: Feature = "shared-memory gather and scatter") -> str:
    """What the version lacks for chains that gather, scatter or update atomically (contract: ttg_ops.md §3)."""
    return warps_of_32(environment) if offers(environment.triton, feature) else f"this Triton has no {feature}"


def _alike(name: str) -> str:
    """Arrays of a chain are numbered; which of them shows a defect says nothing about it."""
    return name.rstrip("0123456789")


def chain_kind(label: Callable[[Case], str]) -> ProgramKind:
    """label: as in `ProgramKind`."""
    return ProgramKind(
        # What is compiled of a step depends on the layout more than on anything else.
        programs=(Chain,), breadth=len(get_args(Step)) * len(get_args(Distributed)),
        launch="tridiff.fuzz.kinds.chains.cases:launch_chain",
        references=(("numpy", "tridiff.fuzz.kinds.chains.evaluate:by_numpy"),
                    ("torch", "tridiff.fuzz.kinds.chains.evaluate:by_torch")),
        valid=cases.valid, steps=steps, size=size, label=label, coverage=counted, delays="warp",
        expected_ir="tridiff.fuzz.kinds.chains.cases:expected_ir", expected_ir_may_fold=True)


def chain_target(*, name: str, summary: str, chains: Callable[..., st.SearchStrategy[Chain]], contract: str,
                 faults: tuple[str, ...], label: Callable[[Case], str],
                 lacking: Callable[[Environment], str] = warps_of_32) -> Target:
    """A target that draws chains from `chains(elements=..., only=...)`. faults: names of
    `tridiff.kernels.gluon.faults.FAULTS`; label, lacking: as in `Target`."""

    def drawn(limits: Limits) -> st.SearchStrategy[Case]:
        return cases.chain_cases(target=name, chains=chains(elements=limits.elements, only=limits.only))

    paths: dict[str, Path] = {fault: f"tridiff.kernels.gluon.faults:FAULTS[{fault}]" for fault in faults}
    target = target_of(chain_kind(label), name=name, summary=summary, contract=contract, cases=drawn,
                       subjects={"own": "tridiff.kernels.gluon.emit:emit"})
    return replace(
        target, backends=("cuda", "compile", "evaluated"), faults=Faults(planted=paths),
        draw=replace(target.draw, features=features), run=replace(target.run, lacking=lacking),
        judge=replace(target.judge, canonical=_canonical, unordered=_unordered, output_class=_alike,
                      label_is_form=True))
