"""Subject names: `own`, `inductor`, and `own+fault:NAME` for a planted fault."""

from dataclasses import dataclass

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.target import Target

HOOK_FAULTS = ("compile_error", "runtime_error", "wrong_value")
"""Faults that every driver kernel can plant in itself (contract: codegen.md §13)."""

PROCESS_FAULTS = ("segfault", "illegal_address", "device_assert", "endless_kernel", "out_of_memory", "worker_killed")
"""Faults that bring down or stop the worker, whatever the target."""


PLAIN = "plain"
"""The subject that runs in Triton's interpreter as it is, with no repair of ours; nowhere else."""

INDUCTOR = "inductor"
"""The subject that torch's Inductor has or generates, and the family of the targets that are programs for it."""

_FAULT = "+fault:"


def with_fault(subject: str, fault: str) -> str:
    """The name of a subject in which a fault is planted."""
    return f"{subject}{_FAULT}{fault}"


def without_fault(name: str) -> str:
    """The name of the subject in which the fault, if any, is planted."""
    return name.partition(_FAULT)[0]


def fault_of(name: str) -> str:
    """The planted fault that a subject's name tells, "" if there is none."""
    return name.partition(_FAULT)[2]


def of_inductor(name: str) -> bool:
    """Whether a subject is what torch's Inductor has or generates."""
    return without_fault(name) == INDUCTOR


def by_torch_compile(target: Target, name: str) -> bool:
    """Whether a subject of a target is a program that torch.compile compiles, and not a helper that stands in torch."""
    return of_inductor(name) and target.family == INDUCTOR


@dataclass(frozen=True)
class Subject:
    """An implementation under test: its full name, the import path of its helper, and at most one fault."""

    name: str
    helper: str
    hook: str = ""
    process_fault: str = ""

    @property
    def fault(self) -> str:
        """The name of the planted fault, "" if there is none."""
        return fault_of(self.name)


def fault_names(target: Target) -> tuple[str, ...]:
    """Every fault that can be planted in `target`."""
    return (*target.faults.planted, *HOOK_FAULTS, *PROCESS_FAULTS)


def parse_subject(name: str, target: Target) -> Subject:
    """The subject that `name` denotes for `target`; TridiffError for an unknown one."""
    base, fault = without_fault(name), fault_of(name)
    if base not in target.subjects:
        raise TridiffError(f"{target.name} has no subject {base!r}",
                           fix=f"use one of {' '.join(target.subjects)}, or {with_fault('own', 'NAME')}")
    helper = target.subjects[base]
    if name == base:
        return Subject(name, helper)
    if fault in target.faults.planted:
        return Subject(name, target.faults.planted[fault])
    if fault in HOOK_FAULTS:
        return Subject(name, helper, hook=fault)
    if fault in PROCESS_FAULTS:
        return Subject(name, helper, process_fault=fault)
    raise TridiffError(f"{target.name} has no fault {fault!r}", fix=f"use one of {' '.join(fault_names(target))}")
