"""Records as files: one result per line, so that a change of one sweep is a change of one line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fuzz.errors import TridiffError
from fuzz.sweep.records import SweepRecord


def save(record: SweepRecord, path: Path) -> None:
    """Write a record; TridiffError where that is not possible."""
    head = msgspec.to_builtins(msgspec.structs.replace(record, results=()))
    del head["results"]
    lines = [msgspec.json.encode(one).decode() for one in record.results]
    text = msgspec.json.format(msgspec.json.encode(head), indent=1).decode().rstrip("}\n")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{text},\n "results": [\n' + ",\n".join(lines) + "\n]}\n")
    except OSError as error:
        raise TridiffError(f"{path} cannot be written ({error.strerror})", fix="choose another --record") from None


def read(path: Path) -> SweepRecord:
    """A record from its file, or from the folder it lies in."""
    if path.is_dir():
        path = path / "sweep.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=SweepRecord)
    except OSError as error:
        raise TridiffError(f"{path} cannot be read ({error.strerror})", fix="name a record's file or folder") from None
    except msgspec.MsgspecError as error:
        raise TridiffError(f"{path} is no sweep record ({error})", fix="write one with tridiff sweep") from None
