"""What all targets made of chains share."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tridiff.fuzz.kinds.chains import cases
from tridiff.fuzz.kinds.chains.coverage import counted
from tridiff.fuzz.kinds.chains.features import feature
from tridiff.fuzz.kinds.chains.steps import reductions, size
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Limits, Path, Reference, Target
from tridiff.fuzz.versions import offers
from tridiff.kernels.gluon.chain import Chain

if TYPE_CHECKING:
    from tridiff.oracles.rules import Rule


def _rules(case: Case) -> dict[str, "Rule"]:
    from tridiff.oracles.rules import BIT

    return {spec.name: BIT for spec in case.arrays if spec.content is None}


def _inputs(case: Case) -> tuple[str, ...]:
    return tuple(spec.name for spec in case.arrays if spec.content is not None)


def _oracles(case: Case) -> tuple[Reference, ...]:
    outputs = tuple(spec.name for spec in case.arrays if spec.content is None)
    return tuple(Reference(source=source, function=f"tridiff.fuzz.kinds.chains.evaluate:by_{source}", outputs=outputs,
                           arguments=("@case", *_inputs(case))) for source in ("numpy", "torch"))


def _canonical(case: Case) -> Reference | None:
    chain = case.program
    assert isinstance(chain, Chain)
    holders = tuple(chain.arrays[number].name for number in cases.returned(chain))
    if not holders:
        return None
    return Reference(source="torch", function="tridiff.fuzz.kinds.chains.evaluate:settle", outputs=holders,
                     arguments=("@case", *holders, *_inputs(case)))


def _unordered(case: Case) -> tuple[str, ...]:
    """What atomics return depends on the order of arrival."""
    reference = _canonical(case)
    return reference.outputs if reference is not None else ()


def warps_of_32(environment: Environment) -> str:
    """What the architecture lacks for any chain."""
    return "layouts are drawn for warps of 32 lanes" if environment.architecture.startswith("gfx") else ""


def indexed_memory(environment: Environment) -> str:
    """What the version lacks for chains that gather, scatter or update atomically (contract: ttg_ops.md §3)."""
    if not offers(environment.triton, "shared-memory gather, scatter and atomics"):
        return "this Triton has no gather, scatter or atomics on shared memory"
    return warps_of_32(environment)


def _alike(name: str) -> str:
    """Arrays of a chain are numbered; which of them shows a defect says nothing about it."""
    return name.rstrip("0123456789")


def chain_target(*, name: str, summary: str, chains: Callable[..., st.SearchStrategy[Chain]], contract: str,
                 faults: tuple[str, ...], lacking: Callable[[Environment], str] = warps_of_32) -> Target:
    """A target that draws chains from `chains(elements=...)`. faults: names of `tridiff.kernels.gluon.faults.FAULTS`;
    lacking: as in `Target`."""

    def drawn(limits: Limits) -> st.SearchStrategy[Case]:
        return cases.chain_cases(target=name, chains=chains(elements=limits.elements))

    paths: dict[str, Path] = {fault: f"tridiff.kernels.gluon.faults:FAULTS[{fault}]" for fault in faults}
    return Target(
        name=name, family="gluon", summary=summary, contract=contract, cases=drawn, launch=cases.launch_chain,
        subjects={"own": "tridiff.kernels.gluon.emit:emit"}, faults=paths, oracles=_oracles, rules=_rules,
        canonical=_canonical, unordered=_unordered, valid=cases.valid, reductions=reductions, size=size,
        delays="warp", lacking=lacking, about=feature, about_causes=True, place=_alike, cells=counted,
        backends=("cuda", "compile"))
