"""What a program must store, by running its own text as Python over arrays of the oracles."""

from types import ModuleType
from typing import Any

import numpy as np
import torch

from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import arguments_of, arrays_in, elements, script_of
from tridiff.fuzz.statements.meaning.memory import Memory
from tridiff.fuzz.statements.meaning.run import stored
from tridiff.fuzz.statements.text import source
from tridiff.oracles.by_numpy import language as in_numpy
from tridiff.oracles.by_torch import language as in_torch
from tridiff.oracles.dtypes import numpy_dtype, torch_dtype


def _run(case: Case, inputs: tuple[Any, ...], lib: ModuleType, text: str = "") -> tuple[tuple[Any, ...], list[bool]]:
    """Outputs, and which rows are open. text: of another kernel with the same parameters."""
    script = script_of(case)
    rows = inputs[0].shape[0] if inputs else case.sizes["rows"]
    memories: dict[str, Memory] = {}
    given = iter(inputs)
    for name, dtype in arrays_in(script).items():
        if name.startswith("x"):
            memories[f"{name}_ptr"] = Memory(next(given).reshape(-1), dtype)
        else:
            size = rows * elements(script, name)
            in_arrays = lib is in_numpy
            flat = np.zeros(size, numpy_dtype(dtype)) if in_arrays else torch.zeros(size, dtype=torch_dtype(dtype))
            memories[f"{name}_ptr"] = Memory(flat, dtype, written=True)
    is_open = stored(text or source(script), lib, memories, arguments_of(script), rows)
    outputs = tuple(memories[f"out{number}_ptr"].flat.reshape((rows, one.elements) if one.shape else (rows,))
                    for number, one in enumerate(script.results))
    return outputs, is_open


def numpy_answer(case: Case, *inputs: Any) -> tuple[Any, ...]:
    """The outputs of a program, in numpy."""
    return _run(case, inputs, in_numpy)[0]


def torch_answer(case: Case, *inputs: Any) -> tuple[Any, ...]:
    """The outputs of a program, in torch."""
    device = inputs[0].device if inputs else torch.device("cpu")
    return tuple(one.to(device) for one in _run(case, tuple(one.cpu() for one in inputs), in_torch)[0])


def outputs_of(case: Case, text: str, *inputs: torch.Tensor,
               lib: ModuleType = in_torch) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """What another kernel with the case's parameters stores, and the rows in which nothing undefined happens. lib: its
    operations, over tensors. Raises Illegal for a kernel that does what the language refuses, or does not end."""
    device = inputs[0].device if inputs else torch.device("cpu")
    found, is_open = _run(case, tuple(one.cpu() for one in inputs), lib, text)
    return tuple(one.to(device) for one in found), torch.tensor([not one for one in is_open], device=device)


def defined(case: Case, *inputs: Any) -> Any:
    """Rows in which nothing undefined happens."""
    device = inputs[0].device if inputs else torch.device("cpu")
    is_open = _run(case, tuple(one.cpu() for one in inputs), in_torch)[1]
    return torch.tensor([not one for one in is_open], device=device)
