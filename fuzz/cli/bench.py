"""`tridiff bench`: how fast, and compared with what."""

import json
from typing import Annotated

import typer
from rich.table import Table

from tridiff.fuzz.bench import run_bench
from tridiff.fuzz.cli.options import MOST_WORKERS, chosen_backends, count
from tridiff.fuzz.cli.text import console

EXAMPLES = """**Examples**

`tridiff bench` : every yardstick of this machine, about two minutes

`tridiff bench --seconds 5 --workers 16 --json`
"""


def bench(
    seconds: Annotated[float, typer.Option(help="Seconds per measurement.")] = 10.0,
    workers: Annotated[int | None, typer.Option(help="Worker processes; default one per core, at most 16.")] = None,
    backend: Annotated[list[str] | None, typer.Option(help="Backends; default those of this machine.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Measure rates beside bare loops that do the same work without a harness."""
    lines = run_bench(backends=chosen_backends(backend or []), seconds=seconds,
                      workers=count(workers, option="--workers", most=MOST_WORKERS) or 0)
    if as_json:
        print(json.dumps([{"name": one.name, "value": one.value, "unit": one.unit, "beside": one.beside,
                           "ratio": one.ratio, "limit": one.limit} for one in lines]))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("measurement", "value", "unit", "ratio", "beside", "what limits it"):
        table.add_column(title, justify="right" if title in ("value", "ratio") else "left", overflow="fold")
    for one in lines:
        table.add_row(one.name, f"{one.value:,.4g}", one.unit, f"{one.ratio:.2f}" if one.ratio else "", one.beside,
                      one.limit)
    console().print(table)
