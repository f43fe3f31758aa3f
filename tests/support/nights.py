"""Which of a test's parameters wait for the night.

A test that asks the same of many seeds, types or combinations keeps in the default run those in which the mechanism
differs, and one where none does; the others have the marker `nightly`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def by_day(values: Iterable[Any], *, only: Iterable[Any]) -> Sequence[Any]:
    """`values` as parameters of a test, of which those that are not in `only` have the marker nightly.

    Raises ValueError for one in `only` that is no value: it would otherwise be asked by nobody, at day nor at night.
    """
    listed, kept = list(values), list(only)
    strange = [one for one in kept if one not in listed]
    if strange or not kept:
        raise ValueError(f"not among the parameters: {strange}")
    return [_param(one, *([] if one in kept else [pytest.mark.nightly])) for one in listed]


def _param(value: Any, *marks: pytest.MarkDecorator) -> Any:
    return pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
