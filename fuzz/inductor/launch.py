"""Launch functions of single operations: compiled, and as control not compiled."""

from typing import Any

import torch

from tridiff.fuzz.backends.launch import Launch, LaunchReport
from tridiff.fuzz.inductor import session
from tridiff.fuzz.inductor.operations import program
from tridiff.fuzz.inductor.references import NO_DTYPE, eagerly, operation_of, type_code
from tridiff.fuzz.inductor.spoiled import spoiled


def compiled(launch: Launch) -> None:
    """Subject `inductor`: the operation through torch.compile."""
    session.refuse_ahead_of_time(launch.backend)
    device = session.device(launch.stage)
    settings = session.Settings(
        configuration=session.configuration_of(launch.case.options),
        dynamic=bool(launch.case.params.get("dynamic", False)),
        persistent_reductions=bool(launch.case.params.get("persistent", True)))
    found = session.run(program(operation_of(launch.case)), tuple(one.to(device) for one in operands(launch)),
                        settings=settings, stage=launch.stage)
    deliver(launch, found.tensors[0])
    launch.reports.append(LaunchReport(compiled=found.kernels))


def eager(launch: Launch) -> None:
    """Subject `own`: the same function without the compiler, as control of the references, or with a fault."""
    session.refuse_ahead_of_time(launch.backend)
    operation = spoiled(operation_of(launch.case), launch.planted)
    deliver(launch, eagerly(operation, tuple(one.cpu() for one in operands(launch))))
    launch.reports.append(LaunchReport())


def operands(launch: Launch) -> list[torch.Tensor]:
    """The inputs of the case as tensors of their logical shape, strided as the case lays them out."""
    found = []
    for spec in launch.case.arrays:
        if spec.content is None:
            continue
        pointer: Any = launch.pointer(spec.name)
        typed = pointer.view(torch.bool) if spec.dtype == "i1" else pointer
        found.append(typed.as_strided(
            spec.shape(launch.case.sizes), spec.strides(launch.case.sizes), typed.storage_offset()))
    return found


def deliver(launch: Launch, result: torch.Tensor) -> None:
    """Write a result and the code of its type into the output arrays `out` and `dtype`."""
    spec = launch.spec("out")
    shape = spec.shape(launch.case.sizes)
    code = type_code(result.dtype) if tuple(result.shape) == shape else NO_DTYPE
    pointer: Any = launch.pointer("out")
    place = pointer.as_strided(shape, spec.strides(launch.case.sizes), pointer.storage_offset())
    if code != NO_DTYPE:
        place.copy_(result.to(torch.uint8) if spec.dtype == "i1" and result.dtype == torch.bool else result)
    if launch.fault == "wrong_value":
        place.view(torch.uint8 if place.element_size() == 1 else place.dtype).neg_()
    codes: Any = launch.pointer("dtype")
    codes[:1] = code
