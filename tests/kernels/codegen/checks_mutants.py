"""Interpreter checks of planted generator faults: each is noticed on a program of the catalogue."""

from functools import cache
from typing import Any

import numpy as np
import torch

from tests.kernels.codegen.catalogue import DEVICE_PROGRAMS, PROGRAMS, Program
from tests.kernels.codegen.graph_runs import launch, tensors_of
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels.codegen.graph import Schedule
from tridiff.kernels.codegen.kernel import Kernel
from tridiff.kernels.codegen.launch import plan
from tridiff.kernels.codegen.mutants import FAULTS, planted

# What the interpreter cannot show: it runs programs one after the other, each to its end, and not 70000 of them.
ON_DEVICE_ONLY = {"missing_barrier", "stale_scratch", "spread_ignored"}
GUARD, FILL = 1 << 14, 85
EVERYTHING = {**PROGRAMS, **DEVICE_PROGRAMS}
# Faults that a program of the catalogue shows by more than a value.
RAISES = {"compile_error": "planted_undefined_name", "runtime_error": "planted runtime error",
          "masked_lanes_asserted": "index out of bounds", "wrap_dropped": "index out of bounds",
          "tail_unmasked": "wrote out of bounds"}


@cache
def program(name: str) -> Program:
    return EVERYTHING[name]()


def outcome(name: str, schedule: Schedule, fault: str) -> str:
    """ "same", "value", or the message of the exception that the launch raised."""
    subject = program(name)
    kernel = plan(subject.graph, schedule, faults=(fault,))
    fenced = {name: fence(tensor) for name, tensor in tensors_of(subject.graph, subject.inputs).items()}
    tensors = {name: whole[GUARD:-GUARD] for name, whole in fenced.items()}
    try:
        with repaired():
            launch(kernel, tensors)
    except Exception as error:
        return f"{error!r} {error.__cause__!r}"
    for buffer, want in subject.expected(subject.inputs).items():
        if not close(tensors[buffer].numpy(), want, subject.tolerance):
            return "value"
    trespassed = any((whole[:GUARD] != FILL).any() or (whole[-GUARD:] != FILL).any() for whole in fenced.values())
    return "wrote out of bounds" if trespassed else "same"


def fence(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor between two stretches of memory that belong to nobody: wrong kernels reach there."""
    guard = torch.full((GUARD,), FILL, dtype=tensor.dtype)
    return torch.cat([guard, tensor, guard])


def close(got: Any, want: Any, tolerance: float) -> bool:
    want = np.asarray(want).astype(got.dtype)
    if tolerance:
        return bool(np.allclose(got, want, rtol=tolerance))
    if got.dtype.kind == "f":
        bits = f"u{got.itemsize}"
        return bool(((got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))).all())
    return bool((got == want).all())


@cache
def right(name: str) -> tuple[tuple[Schedule, Kernel], ...]:
    return tuple((schedule, plan(program(name).graph, schedule)) for schedule in program(name).graph.schedules)


def touched(fault: str) -> list[tuple[str, Schedule]]:
    """Programs and schedules whose kernel the fault changes, or launches with fewer programs."""
    return [(name, schedule) for name in EVERYTHING for schedule, kernel in right(name)
            if FAULTS[fault].fewer_programs or planted(kernel.source, (fault,)) != kernel.source]


def check_every_fault_changes_a_kernel_and_is_noticed():
    unnoticed = {}
    for fault in FAULTS:
        places = touched(fault)
        assert places, f"{fault} changes no kernel of the catalogue"
        if fault in ON_DEVICE_ONLY:
            continue
        outcomes = set()
        for name, schedule in places:
            outcomes.add(found := outcome(name, schedule, fault))
            if found != "same":
                break
        else:
            unnoticed[fault] = places[0][0]
        if fault in RAISES:
            assert any(RAISES[fault] in one for one in outcomes), (fault, outcomes)
    assert not unnoticed, unnoticed
