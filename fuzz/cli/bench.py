"""`tridiff bench`: how fast, and compared with what."""

import json
import signal
import sys
import time
from types import FrameType
from typing import Annotated

import typer
from rich.table import Table

from tridiff.fuzz.bench import Measurement, run_bench
from tridiff.fuzz.cli.failure import COULD_NOT_CHECK, INTERRUPTED
from tridiff.fuzz.cli.options import MOST_WORKERS, AsJson, chosen_backends, count
from tridiff.fuzz.cli.text import console, listing

EXAMPLES = """**Examples**

`tridiff bench` : every yardstick of this machine, in two minutes

`tridiff bench --seconds 300 --workers 16 --json`
"""


def bench(
    seconds: Annotated[float, typer.Option(help="Seconds of all measurements together, 10 to 3600.")] = 120.0,
    workers: Annotated[int | None, typer.Option(help="Worker processes; default one per core, at most 16.")] = None,
    backend: Annotated[list[str] | None, typer.Option(help="Backends; default those of this machine.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure rates beside bare loops that do the same work without a harness.

    Takes as long as --seconds says; Ctrl-C ends it with what was measured by then. Exit status: 0, or 2 when nothing
    could be measured.
    """
    began = time.monotonic()
    backends = chosen_backends(backend or [])
    lines: list[Measurement] = []

    def tell(line: str) -> None:
        print(f"[{time.monotonic() - began:4.0f} s of {seconds:.0f}] {line}", file=sys.stderr, flush=True)

    steps = run_bench(backends=backends, seconds=seconds, tell=tell,
                      workers=count(workers, option="--workers", most=MOST_WORKERS) or 0)
    before = signal.signal(signal.SIGTERM, _interrupt)
    interrupted = False
    try:
        for one in steps:
            lines.append(one)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted; what was measured until then:", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)
    if as_json:
        print(json.dumps([{"name": one.name, "value": one.value, "unit": one.unit, "beside": one.beside,
                           "ratio": one.ratio, "limit": one.limit} for one in lines]))
    else:
        console().print(_table(lines))
    measured = any(one.value is not None for one in lines)
    raise typer.Exit(INTERRUPTED if interrupted else 0 if measured else COULD_NOT_CHECK)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _table(lines: list[Measurement]) -> Table:
    table = listing()
    for title in ("measurement", "value", "unit", "ratio", "beside", "what limits it"):
        table.add_column(title, justify="right" if title in ("value", "ratio") else "left", overflow="fold")
    for one in lines:
        table.add_row(one.name, "" if one.value is None else f"{one.value:,.4g}", one.unit,
                      f"{one.ratio:.2f}" if one.ratio else "", one.beside, one.limit)
    return table
