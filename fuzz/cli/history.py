"""`tridiff campaigns --history`: what campaigns on this machine came to, and since when each finding is seen."""

import json
import time
from pathlib import Path

import msgspec
from rich.table import Table
from rich.text import Text

from tridiff.fuzz.campaign.history import FILE, History, read
from tridiff.fuzz.cli.text import console, listing, plain

NIGHTS, FINDINGS = 20, 20
"""Lines shown of each; `--json` has all."""


def show(reports: Path, *, as_json: bool) -> None:
    """Print the history below a folder of reports."""
    history = read(reports / FILE)
    if as_json:
        print(json.dumps(msgspec.to_builtins(history)))
        return
    out = console()
    if not history.nights:
        out.print(f"no history in {reports / FILE}: `tridiff fuzz` writes it")
        return
    out.print(_nights(history))
    if len(history.nights) > NIGHTS:
        out.print(f"and {len(history.nights) - NIGHTS} before", style="dim")
    if history.findings:
        out.print(_findings(history))
        if len(history.findings) > FINDINGS:
            out.print(f"and {len(history.findings) - FINDINGS} more, last seen before", style="dim")
    for triton, cells in sorted(history.cells.items()):
        out.print(f"Triton {triton or 'unknown'}: {cells:,} coverage cells reached so far")


def _nights(history: History) -> Table:
    table = listing()
    for title in ("campaign", "began", "Triton"):
        table.add_column(title, no_wrap=True)
    for title in ("seconds", "cases", "cases/s", "kernels/s", "cells", "gained", "new", "known"):
        table.add_column(title, justify="right")
    for one in history.nights[-NIGHTS:]:
        table.add_row(
            Text(plain(one.id)), time.strftime("%Y-%m-%d %H:%M", time.localtime(one.began)), Text(plain(one.triton)),
            f"{one.seconds:,.0f}", f"{one.cases:,}", f"{one.cases_per_second:,.1f}", f"{one.kernels_per_second:,.1f}",
            f"{one.cells:,}", f"{one.gained:,}", Text(str(one.new), style="red" if one.new else ""), str(one.known))
    return table


def _findings(history: History) -> Table:
    table = listing()
    table.add_column("finding", overflow="fold")
    for title in ("first seen", "last seen"):
        table.add_column(title, no_wrap=True)
    for one in history.findings[:FINDINGS]:
        first, last = (time.strftime("%Y-%m-%d", time.localtime(moment)) for moment in (one.first, one.last))
        table.add_row(Text(plain(one.entry or one.finding)), first, last)
    return table
