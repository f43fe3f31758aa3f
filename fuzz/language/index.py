"""All rows, by name and topic."""

import importlib
from dataclasses import replace
from functools import cache
from typing import get_args

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.language.row import Row, Topic

TOPICS: tuple[Topic, ...] = get_args(Topic)


@cache
def rows() -> dict[str, Row]:
    """Every row by its name."""
    found: dict[str, Row] = {}
    for topic in TOPICS:
        for row in importlib.import_module(f"tridiff.fuzz.language.rows.{topic}").ROWS:
            if row.name in found:
                raise TridiffError(f"two rows are called {row.name}", fix="give every row its own name")
            found[row.name] = replace(row, topic=topic)
    return found


@cache
def of_topic(topic: Topic) -> tuple[Row, ...]:
    """The rows of a topic, in their order."""
    return tuple(row for row in rows().values() if row.topic == topic)
