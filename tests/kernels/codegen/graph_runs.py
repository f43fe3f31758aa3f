"""Runs a planned graph in the interpreter, on numpy arrays. Imported in a process with TRITON_INTERPRET=1."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from tests.kernels.driver_runs import NUMPY, UNWRITTEN
from tridiff.kernels import generated
from tridiff.kernels.codegen.graph import Graph, Schedule
from tridiff.kernels.codegen.kernel import Kernel
from tridiff.kernels.codegen.launch import plan

Arrays = Mapping[str, Any]


def arguments_of(kernel: Kernel, buffers: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The kernel's arguments by name; workspaces are fresh and zero."""
    spaces = {one.name: torch.from_numpy(np.zeros(one.length, NUMPY[one.dtype])) for one in kernel.workspaces}
    places: dict[str, Mapping[str, torch.Tensor]] = {"buffer": buffers, "workspace": spaces}
    return {one.name: places[one.kind][str(one.value)] if one.kind in places else one.value for one in kernel.arguments}


def launch(kernel: Kernel, buffers: Mapping[str, torch.Tensor]) -> None:
    """Load and run a kernel; writes into the tensors."""
    function = getattr(generated.load(kernel.source, name=kernel.name), kernel.name)
    if 0 not in kernel.grid:
        function[kernel.grid](**arguments_of(kernel, buffers))


def tensors_of(graph: Graph, arrays: Arrays) -> dict[str, torch.Tensor]:
    """A tensor per buffer: copies of the arrays, outputs filled with UNWRITTEN."""
    found = {}
    for buffer in graph.buffers:
        given = arrays.get(buffer.name)
        array = np.full(buffer.length, UNWRITTEN, NUMPY[buffer.dtype]) if given is None else given
        found[buffer.name] = array.clone() if isinstance(array, torch.Tensor) else torch.from_numpy(np.array(array))
    return found


def run(graph: Graph, schedule: Schedule, arrays: Arrays, **options: Any) -> dict[str, Any]:
    """What the graph leaves in its out and inout buffers. options: of `plan`."""
    kernel = plan(graph, schedule, **options)
    tensors = tensors_of(graph, arrays)
    launch(kernel, tensors)
    return {buffer.name: tensors[buffer.name].numpy() for buffer in graph.buffers if buffer.role != "in"}
