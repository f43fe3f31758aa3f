"""Tensor memory of sm_100 as arrays, and the products that accumulate in it, which are done at once."""

import re
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate.constants import undefined
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import VALUE, Operation
from tridiff.fuzz.evaluate.memory import Array
from tridiff.fuzz.evaluate.partitions import barrier
from tridiff.fuzz.evaluate.products import multiplied
from tridiff.fuzz.evaluate.table import gives, means
from tridiff.fuzz.evaluate.types import Type

_NAME = VALUE.pattern
_PRODUCT = re.compile(rf"\s*({_NAME}), ({_NAME}), ({_NAME})(?:\[[^\]]*\])?, ({_NAME}), ({_NAME})(.*)", re.DOTALL)
_TOLD = re.compile(rf"({_NAME})\[({_NAME})\]")


def _with_tokens(operation: Operation, found: Any) -> Any:
    """The result, and tokens of no value behind it."""
    return found if len(operation.results) < 2 else (found, *(np.asarray(0) for _ in operation.results[1:]))


def _buffers(operation: Operation) -> list[Type]:
    return [one for one in operation.types if one.family == "memdesc"]


@gives("ttng.tmem_alloc")
def allocated(operation: Operation, *values: Array) -> Any:
    return _with_tokens(operation, np.array(values[0] if values else undefined(_buffers(operation)[-1])))


@gives("ttng.tmem_load")
def loaded(operation: Operation, one: Array, *_: Array) -> Any:
    return _with_tokens(operation, np.array(one))


@means("ttng.tmem_store")
def stored(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """Value, buffer, and whether it is done; tokens stand in brackets."""
    value, buffer, *_, flag = [machine[one] for one in VALUE.findall(re.sub(r"\[[^\]]*\]", " ", operation.before))]
    if np.all(flag):
        buffer[...] = value
    return np.asarray(0) if operation.results else None


@means("ttng.tc_gen5_mma")
def product(machine: Any, operation: Operation, values: list[Any]) -> Any:
    """d = a * b, plus d where that is asked for; then who waits is told."""
    found = _PRODUCT.fullmatch(operation.before)
    if not found or "two_ctas" in operation.before:
        raise NotEvaluated(f"op ttng.tc_gen5_mma {operation.head[:40]}")
    a, b, d, adds, flag = (machine[one] for one in found.groups()[:5])
    if np.all(flag):
        d[...] = multiplied(a, b, d if np.all(adds) else np.zeros_like(d), d.dtype)
    for name, told in _TOLD.findall(found[6]):
        one = barrier(machine, machine[name])
        if one is not None and np.all(machine[told]):
            one.arrive(1)
    return np.asarray(0) if operation.results else None


@means("ttng.tc_gen5_commit")
def committed(machine: Any, operation: Operation, values: list[Any]) -> Any:
    one = barrier(machine, values[0])
    if one is not None and all(np.all(flag) for flag in values[1:] if np.asarray(flag).dtype == np.bool_):
        one.arrive(1)
