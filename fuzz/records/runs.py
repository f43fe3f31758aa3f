"""Values in files: `"256 x 1.0"` stands for 256 equal values in a row."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

MOST_IN_RUNS = 1 << 14
"""Values that the runs of one record stand for: a stranger's file is not to fill the memory."""
_SHORTEST_RUN = 6
_RUN = re.compile(r"(\d{1,5}) x (.+)")
_WORD = " x "
"""What every run has, and hardly any value."""


def in_runs(values: Iterable[str]) -> tuple[str, ...]:
    """The values as files have them."""
    def told() -> Iterator[str]:
        for value, run in groupby(values):
            count = len(list(run))
            yield from [value] * count if count < _SHORTEST_RUN else [f"{count} x {value}"]

    return tuple(told())


def one_by_one(values: Iterable[str]) -> tuple[str, ...]:
    """The values that a file's stand for."""
    def told(value: str) -> tuple[str, ...]:
        run = _RUN.fullmatch(value) if _WORD in value else None
        return (run[2],) * int(run[1]) if run else (value,)

    values = tuple(values)
    if not any(_WORD in value for value in values):
        return values
    return tuple(one for value in values for one in told(value))


def check_runs(values: Iterable[str]) -> None:
    """Raises ValueError where the runs stand for too many values."""
    if sum(int(run[1]) for value in values if _WORD in value and (run := _RUN.fullmatch(value))) > MOST_IN_RUNS:
        raise ValueError(f"has runs of more than {MOST_IN_RUNS} values")
