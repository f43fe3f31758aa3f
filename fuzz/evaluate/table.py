"""Operations by name: what each computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tridiff.fuzz.evaluate.ir import Operation
    from tridiff.fuzz.evaluate.machine import Machine

Meaning = Callable[["Machine", "Operation", list[Any]], Any]
"""The machine, the operation and the values of its operands give the result: an array (of rank 0 for scalars), a tuple
for several, None for none. Arrays are never changed in place; views of shared memory are."""

MEANINGS: dict[str, Meaning] = {}


def means(*names: str) -> Callable[[Meaning], Meaning]:
    """The decorated function is what these operations compute."""
    def enter(meaning: Meaning) -> Meaning:
        for name in names:
            assert name not in MEANINGS, name
            MEANINGS[name] = meaning
        return meaning

    return enter


def gives(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `means`, of a function that wants no machine: of the operation, then of each operand as an array."""
    def enter(given: Callable[..., Any]) -> Callable[..., Any]:
        means(*names)(lambda machine, operation, values: given(operation, *map(np.asarray, values)))
        return given

    return enter
