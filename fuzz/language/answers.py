"""What a call must give, with the functions of the oracles."""

from types import ModuleType
from typing import Any

import numpy as np

from tridiff.fuzz.language.cases import call_of, results_of, row_of
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call
from tridiff.oracles.by_numpy import language as in_numpy
from tridiff.oracles.by_torch import language as in_torch
from tridiff.oracles.dtypes import name_of_array, name_of_tensor
from tridiff.oracles.rules import Rule


def operands_of(call: Call, arrays: tuple[Any, ...], lib: ModuleType) -> tuple[Any, ...]:
    """Operands in order: blocks with the rows in front, numbers as they are, or as they are passed."""
    left = list(arrays)
    found: list[Any] = []
    for operand in call.operands:
        if operand.given:
            x = left.pop(0)
            found.append(lib.reshape(x, shape=operand.shape) if operand.kind == "block" else x)
        else:
            found.append(float(np.float32(operand.value)) if operand.kind == "argument" and operand.dtype == "fp32"
                         else operand.value)
    return tuple(found)


def _flat(call: Call, found: tuple[Any, ...], rows: int) -> tuple[Any, ...]:
    """Results as arrays hold them: a line of elements each; candidates of a SET rule stay in front."""
    flat = []
    for one, result in zip(found, results_of(call), strict=True):
        lead = one.shape[:1] if one.ndim == len(result.shape) + 2 else ()
        flat.append(one.reshape(*lead, rows, *((result.elements,) if result.shape else ())))
    return tuple(flat)


def _stored(call: Call, found: tuple[Any, ...], lib: ModuleType, rules: tuple[Rule, ...]) -> tuple[Any, ...]:
    """Exact results in the types in which they are stored; float64 ones of tolerant rules stay, and candidates."""
    name_of = name_of_array if lib is in_numpy else name_of_tensor
    return tuple(one if rule.kind in ("SUM", "ULP", "ABS", "REL", "SET") or name_of(one) == to
                 else lib.cast(one, to=to) for one, to, rule in zip(found, call.stored, rules, strict=True))


def _answer(case: Case, arrays: tuple[Any, ...], lib: ModuleType) -> tuple[Any, ...]:
    call, row = call_of(case), row_of(case)
    operands = operands_of(call, arrays, lib)
    found = _stored(call, row.answer(call, lib, operands), lib, row.rules(call))
    return _flat(call, found, arrays[0].shape[0])


def numpy_answer(case: Case, *arrays: Any) -> tuple[Any, ...]:
    """The results of a call, in numpy."""
    return _answer(case, arrays, in_numpy)


def torch_answer(case: Case, *arrays: Any) -> tuple[Any, ...]:
    """The results of a call, in torch."""
    return _answer(case, arrays, in_torch)


def defined(case: Case, *arrays: Any) -> dict[str, Any]:
    """Where the contract defines each result: masks by output."""
    call, row = call_of(case), row_of(case)
    assert row.defined is not None
    masks = row.defined(call, in_torch, operands_of(call, arrays, in_torch))
    results = results_of(call)
    return {f"out{number}": mask.reshape(arrays[0].shape[0], *((result.elements,) if result.shape else ()))
            for number, (mask, result) in enumerate(zip(masks, results, strict=True))}


def bounds(case: Case, *arrays: Any) -> tuple[Any, ...]:
    """Allowed errors of the results with a SUM rule."""
    call, row = call_of(case), row_of(case)
    assert row.bounds is not None
    return _flat(call, row.bounds(call, operands_of(call, arrays, in_torch)), arrays[0].shape[0])
