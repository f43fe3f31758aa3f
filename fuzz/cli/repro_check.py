"""`tridiff repro --check`: every script run and compared with the record."""

import json
from pathlib import Path

import msgspec
from rich.table import Table

from tridiff.fuzz.cli.options import chosen_backends
from tridiff.fuzz.cli.text import coloured, console
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.repro.checked import Checked, check

_STYLES = {"as_recorded": "green", "contradicts": "bold red", "skip": "dim", "unrecorded": "yellow"}


def run(entries: list[CorpusEntry | TridiffError], *, backend: str, workers: int, time_limit: float,
        record: Path | None, as_json: bool) -> int:
    """Check the scripts of `entries`, show a table or a JSON list; the exit status. record: gets one JSON line as each
    result is reached."""
    backends = chosen_backends([backend]) if backend else ()
    results: list[Checked] = []
    with console(errors=True).status(coloured(f"0 of {len(entries)} scripts")) as status:
        for one in check(entries, backends=backends, workers=workers, time_limit=time_limit):
            results.append(one)
            if record is not None:
                _append(record, one)
            status.update(coloured(f"{len(results)} of {len(entries)} scripts: {one.id}"))
    results.sort(key=lambda one: (one.target, one.id))
    if as_json:
        print(json.dumps([msgspec.to_builtins(one) for one in results]))
    else:
        out = console()
        out.print(_table(results))
        out.print(coloured(summary(results)))
    if any(one.state == "contradicts" for one in results):
        return 1
    return 0 if any(one.state in ("as_recorded", "unrecorded") for one in results) else 2


def _append(path: Path, one: Checked) -> None:
    with writing(path, fix="choose another file"), path.open("ab") as stream:
        stream.write(msgspec.json.encode(one) + b"\n")


def summary(results: list[Checked]) -> str:
    """One line of counts."""
    counts = {state: sum(one.state == state for one in results) for state in _STYLES}
    return (f"{len(results)} entries: {counts['as_recorded']} as recorded, {counts['contradicts']} contradict, "
            f"{counts['skip']} skipped, {counts['unrecorded']} without a record for this version")


def _table(results: list[Checked]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("entry", "backend", "recorded", "script", "state", "reason"):
        table.add_column(name, overflow="fold")
    for one in results:
        state = coloured((one.state.replace("_", " "), _STYLES[one.state]))
        table.add_row(coloured(f"{one.target}/{one.id}"), one.backend, one.expected or "-", one.answer or "-", state,
                      coloured(one.reason[:160]))
    return table
