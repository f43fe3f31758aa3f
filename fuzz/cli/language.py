"""`tridiff targets --language`: what of the installed Triton's language the rows of one call cover."""

import json
from collections import Counter
from dataclasses import asdict

from rich.table import Table as Lines

from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.table import Table, table


def show(*, as_json: bool) -> None:
    """Print the table of the language."""
    found = table()
    if as_json:
        print(json.dumps(asdict(found)))
        return
    out = console()
    lines = Lines(box=None, header_style="bold", pad_edge=False)
    lines.add_column("topic")
    for title in ("rows", "names"):
        lines.add_column(title, justify="right")
    topics = Counter(row.topic for row in rows().values())
    reached = Counter(rows()[of[0]].topic for of in found.covered.values())
    for topic, number in topics.items():
        lines.add_row(topic, str(number), str(reached[topic]))
    out.print(lines)
    out.print(plain(summary(found)))
    for name, reason in sorted(found.uncovered.items()):
        out.print(plain(f"  {name}: {reason}"), highlight=False)


def summary(found: Table) -> str:
    """One line: how many names are covered."""
    every = len(found.covered) + len(found.elsewhere) + len(found.refused) + len(found.uncovered)
    return (f"Triton {found.triton}: of {every} names {len(found.covered)} covered by rows, {len(found.elsewhere)} by "
            f"other targets, {len(found.refused)} refused by contract, {len(found.uncovered)} uncovered")
