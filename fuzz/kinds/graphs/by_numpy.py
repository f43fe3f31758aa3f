"""What a program computes, by interpreting its graph with numpy (contract: kernels/codegen/notes.md).

Integers are exact and wrap; floats are float64 with an absolute bound on how far the subject's value may lie from
them (`oracles.by_numpy.bounded`). One pass gives values, bounds and definedness of all outputs; the three functions
that the engine asks for (`outputs`, `bounds`, `defined`) share it through a small memory keyed by the case's digest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names, output_names
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.kinds.graphs.torch_contract import interpreter_of
from tridiff.fuzz.records import Case
from tridiff.oracles.by_numpy.bounded import TINY, Real, Value, Whole, spacing
from tridiff.oracles.dtypes import Array
from tridiff.oracles.rules import SUM

if TYPE_CHECKING:
    import torch

WITHIN_BOUND = SUM("program_bound",
                   origin="derived per element by interpreting the program (tridiff.oracles.by_numpy.bounded)")
"""The comparison rule of float outputs."""
_KEPT = 4


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One output: what is expected of each element of the buffer, by how much it may be missed, where it is open.

    bound: beyond the half ulp that a SUM rule allows by itself (a whole one for fp64), hence negative where the value
    is certain; None for integers.
    """

    values: Array
    bound: Array | None
    defined: Array
    untouched: Array
    """Elements that no point stores, of an output that holds nothing before: they are not defined, and keep what the
    harness put there."""


_memory: OrderedDict[str, dict[str, Answer]] = OrderedDict()


def answers(case: Case, *arrays: Array) -> dict[str, Answer]:
    """The answer for every output array of the case; arrays: its inputs in the order of `input_names`."""
    key = case.digest
    if key in _memory:
        _memory.move_to_end(key)
        return _memory[key]
    inputs = dict(zip(input_names(case), arrays, strict=True))
    found = evaluate(case, inputs)
    _memory[key] = found
    while len(_memory) > _KEPT:
        _memory.popitem(last=False)
    return found


def evaluate(case: Case, inputs: dict[str, Array], kind: type[Interpreter] | None = None) -> dict[str, Answer]:
    """`answers` without the memory. kind: of the interpreter, instead of the one that judges the case."""
    interpreter = (kind or interpreter_of(case))(graph_of(case), inputs)
    stored, written = interpreter.run(), interpreter.written
    return {output: _answer(stored[buffer], written.get(buffer)) for output, buffer in output_names(case).items()}


def _answer(value: Value, written: Array | None) -> Answer:
    """written: of an output, which elements some point stores; None where it holds something before."""
    untouched = np.zeros(value.shape, dtype=bool) if written is None else ~written
    if isinstance(value, Whole):
        return Answer(value.value, None, ~value.open, untouched)
    open_elements = np.isinf(value.error)
    return Answer(_expected(value, open_elements), _bound(value, open_elements), ~open_elements, untouched)


def _expected(value: Real, open_elements: Array) -> Array:
    # A zero of unknown sign is told from one of certain sign by not being quite zero.
    blurred = (value.value == 0) & (value.error > 0) & ~open_elements
    return np.where(blurred, TINY, np.where(open_elements, 0.0, value.value))


def _bound(value: Real, open_elements: Array) -> Array:
    with np.errstate(all="ignore"):
        own = _own(value.value, value.dtype)
        # The last summand is for the roundings of this difference and of the sum that the rule forms of it.
        bound = np.where(value.error == 0, -own, value.error - own + 2.0**-50 * np.maximum(own, value.error))
        bound = np.where(value.error <= TINY, np.where(value.error == 0, bound, 0.0), bound)
        bound = np.where(np.isfinite(value.value), bound, 0.0)
    return np.where(open_elements, np.inf, bound)


def _own(values: Array, dtype: str) -> Array:
    """What a SUM rule allows by itself."""
    return spacing(np.where(np.isfinite(values), values, 0.0), dtype) * (1.0 if dtype == "fp64" else 0.5)


def outputs(case: Case, *arrays: Array) -> tuple[Array, ...]:
    """The numpy oracle: expected arrays in the order of the case's outputs; float64 for floats."""
    return tuple(one.values for one in answers(case, *arrays).values())


def bounds(case: Case, *arrays: Array) -> tuple[Array, ...]:
    """Allowed errors of the float outputs, in their order; infinite where open."""
    return tuple(one.bound for one in answers(case, *arrays).values() if one.bound is not None)


def defined(case: Case, *tensors: torch.Tensor) -> dict[str, torch.Tensor]:
    """Per output, which elements the contract defines."""
    return _masks(case, tensors, lambda answer: answer.defined)


def untouched(case: Case, *tensors: torch.Tensor) -> dict[str, torch.Tensor]:
    """Per output, which elements no point stores."""
    return _masks(case, tensors, lambda answer: answer.untouched)


def _masks(case: Case, tensors: tuple[torch.Tensor, ...], pick: Callable[[Answer], Array]) -> dict[str, torch.Tensor]:
    from tridiff.oracles.arrays import to_numpy, to_torch

    device = tensors[0].device if tensors else "cpu"
    found = answers(case, *map(to_numpy, tensors))
    return {name: to_torch(np.ascontiguousarray(pick(one)), device=device) for name, one in found.items()}


def torch_outputs(case: Case, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The torch oracle: `tridiff.fuzz.kinds.graphs.by_torch`, which rounds after every operation as a subject does.

    A subject and this oracle may therefore be twice the derived bound apart. Where the oracle confirms the numpy value
    within the bound, that value is what it stands for; where it does not, its own answer stays, and the two oracles
    contradict each other.
    """
    import torch

    from tridiff.fuzz.kinds.graphs import by_torch
    from tridiff.oracles.arrays import to_numpy

    known = answers(case, *map(to_numpy, tensors))
    found = []
    for (name, answer), values in zip(known.items(), by_torch.outputs(case, *tensors), strict=True):
        if answer.bound is not None:
            wide = values.to(torch.float64)
            agrees = confirmed(answer, wide.cpu().numpy(), case.array(name).dtype)
            values = torch.from_numpy(np.where(agrees, answer.values, wide.cpu().numpy())).to(values.device)
        found.append(values)
    return tuple(found)


def confirmed(answer: Answer, other: Array, dtype: str) -> Array:
    """Where another value is one that the answer allows, the sign of a certain zero included."""
    assert answer.bound is not None
    with np.errstate(all="ignore"):
        close = np.abs(other - answer.values) <= answer.bound + _own(answer.values, dtype)
        same = (other == answer.values) | (np.isnan(other) & np.isnan(answer.values))
        zeros = (other == 0) & (answer.values == 0)
    return (close | same) & ~(zeros & (np.signbit(other) != np.signbit(answer.values)))
