"""`tridiff campaigns`: what campaigns left on this machine, and how to get rid of it."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from tridiff.fuzz.campaign.states import State, chosen, remove, states
from tridiff.fuzz.cli import history as histories
from tridiff.fuzz.cli.options import AsList, seconds
from tridiff.fuzz.cli.text import console, listing
from tridiff.fuzz.errors import TridiffError

EXAMPLES = """**Examples**

`tridiff campaigns` : running, finished and interrupted ones, with what they take on disk

`tridiff campaigns --clear` : remove the finished ones; their records and findings stay

`tridiff campaigns --clear --older-than 30d` : also interrupted ones, if they began more than 30 days ago

`tridiff campaigns --history` : throughput, coverage and findings of all campaigns so far, also of cleared ones

`tridiff campaigns --clear 20261122-134501-cuda` : remove one by its name
"""


def campaigns(
    name: Annotated[list[str] | None, typer.Argument(help="Names of campaigns; default all.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the named, else the finished ones.")] = False,
    older_than: Annotated[str, typer.Option(help="With --clear: those that began longer ago, such as 30d.")] = "",
    history: Annotated[bool, typer.Option("--history", help="What all campaigns came to, and since when each finding "
                                          "is seen.")] = False,
    state: Annotated[Path, typer.Option(help="Where campaigns keep their files.")] = Path(".tridiff/campaigns"),
    reports: Annotated[Path, typer.Option(help="Where the history is.")] = Path("reports"),
    as_json: AsList = False,
) -> None:
    """List the states that campaigns left, or remove old ones.

    A running campaign is never removed. What `tridiff fuzz` wrote under --corpus and --reports is no part of a state
    and stays.
    """
    if older_than and not clear:
        raise TridiffError("--older-than without --clear", fix="give both, or none")
    if older_than and name:
        raise TridiffError("--older-than together with names", fix="leave one of them out")
    if history:
        if clear or name:
            raise TridiffError("--history together with --clear or names", fix="leave one of them out")
        histories.show(reports, as_json=as_json)
        return
    found = states(state)
    if clear:
        wanted = chosen(found, names=tuple(name or ()), older_than=seconds(older_than) if older_than else None)
        found = [one for one in wanted if remove(one)]
    elif name:
        missing = set(name) - {one.id for one in found}
        if missing:
            raise TridiffError(f"no campaign {min(missing)[:100]} under {state}", fix="see `tridiff campaigns`")
        found = [one for one in found if one.id in name]
    if as_json:
        print(json.dumps([_as_json(one, removed=clear) for one in found]))
        return
    out = console()
    if not found:
        out.print("nothing to remove" if clear else f"no campaigns under {state}")
        return
    if clear:
        out.print(f"removed {len(found)} campaigns, {_bytes(sum(one.size for one in found))}: "
                  f"{' '.join(one.id for one in found)}")
        return
    table = listing()
    for title in ("campaign", "began", "state", "cases", "findings", "size"):
        table.add_column(title, justify="right" if title in ("cases", "findings", "size") else "left", no_wrap=True)
    for one in found:
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started))
        table.add_row(one.id, began, one.condition, f"{one.cases:,}", str(one.findings), _bytes(one.size))
    out.print(table)
    interrupted = [one for one in found if one.condition == "interrupted"]
    if interrupted:
        out.print(f"continue with: tridiff fuzz --resume --id {interrupted[-1].id}")


def _as_json(one: State, *, removed: bool) -> dict[str, object]:
    return {"id": one.id, "started": round(one.started, 3), "state": one.condition, "cases": one.cases,
            "findings": one.findings, "bytes": one.size, "path": str(one.path), "removed": removed}


def _bytes(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size //= 1024
    return f"{size:.0f} GiB"
