"""Subject `inductor` of generated programs: the graph as a torch function, through torch.compile (codegen.md §0).

What has no torch expression is declined with its reason (`fuzz.inductor.programs.expressible`). The graph's schedules
become Inductor's settings where it has some: persistent or looped reductions, sizes that are symbols or compiled in.
"""

from typing import Any

import torch

from tridiff.fuzz.backends.launch import Launch, LaunchReport
from tridiff.fuzz.inductor import session
from tridiff.fuzz.inductor.programs.expressible import expressible
from tridiff.fuzz.inductor.programs.text import torch_program
from tridiff.fuzz.kinds.graphs import launching as own
from tridiff.fuzz.kinds.graphs.arrays import after, graph_of
from tridiff.fuzz.kinds.graphs.torch_contract import beyond_own_contract
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.oracles.dtypes import torch_dtype


def launch_graph(launch: Launch) -> None:
    """Run the case's program through torch.compile; every output array gets the final contents of its buffer."""
    session.refuse_ahead_of_time(launch.backend)
    graph = graph_of(launch.case)
    problem = expressible(graph)
    if problem:
        raise Declined(problem)
    program, device = torch_program(graph), session.device(launch.stage)
    contents = {buffer.name: _contents(launch, buffer.name) for buffer in graph.buffers if buffer.role != "scratch"}
    schedule = graph.schedules[launch.schedule]
    settings = session.Settings(
        configuration=session.configuration_of(launch.case.options), emulate_precision_casts=program.emulated,
        persistent_reductions=graph.r is None or schedule.reduction == "persistent",
        dynamic=bool(program.sizes) and not schedule.static)
    tensors = tuple(contents[name].to(device) for name in program.arguments)
    found = session.run(program.text, (*tensors, *(length for _, length in program.sizes)), settings=settings,
                        stage=launch.stage)
    roles = {buffer.name: buffer.role for buffer in graph.buffers}
    for name, result in zip(program.outputs, found.tensors, strict=True):
        wanted = torch.bool if launch.spec(name).dtype == "i1" else torch_dtype(launch.spec(name).dtype)
        if result.dtype != wanted:
            raise Refuted("result_dtype", name, f"{name} is {result.dtype} where the function returns {wanted}")
        place = _array(launch, name if roles[name] == "out" else after(name))
        place.copy_(result.view(torch.uint8) if result.dtype == torch.bool else result)
    launch.reports.append(LaunchReport(compiled=found.kernels))


def launch_own(launch: Launch) -> None:
    """Subject `own`: the own generator on the same programs, as control of the references."""
    problem = beyond_own_contract(graph_of(launch.case))
    if problem:
        raise Declined(problem)
    own.launch_graph(launch)


def _array(launch: Launch, name: str) -> torch.Tensor:
    """The memory of one flat array of the case."""
    spec, pointer = launch.spec(name), launch.pointer(name)
    length, = spec.shape(launch.case.sizes)
    found: Any = pointer[:length]
    assert isinstance(found, torch.Tensor)
    return found


def _contents(launch: Launch, name: str) -> torch.Tensor:
    """A buffer as a tensor with a storage of its own, from the start of which `as_strided` in a program counts."""
    memory = _array(launch, name)
    return memory != 0 if launch.spec(name).dtype == "i1" else memory.clone()
