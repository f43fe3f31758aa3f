"""Records as files: one result per line, so that a change of one sweep is a change of one line, without the fields
that have their defaults."""

from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records.codec import decode, printable, without_defaults
from tridiff.fuzz.records.reading import read_bytes
from tridiff.fuzz.sweep.records import SweepRecord

MOST_BYTES = 32 << 20
"""Largest record that is read; the 269 sweeps of all unary operations take 0.2 MB."""


def save(record: SweepRecord, path: Path) -> None:
    """Write a record; TridiffError where that is not possible."""
    head = msgspec.to_builtins(msgspec.structs.replace(record, results=()))
    del head["results"]
    lines = [msgspec.json.encode(without_defaults(one)).decode() for one in record.results]
    text = msgspec.json.format(msgspec.json.encode(head), indent=1).decode().rstrip("}\n")
    with writing(path, fix="choose another --record"):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = f'{text},\n "results": [\n' + ",\n".join(lines) + "\n]}\n"
        path.write_text(whole, encoding="utf-8")


def file_of(path: Path) -> Path:
    """Where the record of a folder lies; a file is itself."""
    return path if path.suffix == ".json" else path / "sweep.json"


def read(path: Path) -> SweepRecord:
    """A record from its file or from the folder it lies in; TridiffError where there is none."""
    file = file_of(path)
    try:
        return decode(read_bytes(file, most=MOST_BYTES), SweepRecord, source=printable(str(file)))
    except TridiffError as error:
        raise TridiffError(f"{error.problem} (no sweep record)",
                           fix="name the file or folder of a record; tridiff sweep writes one") from None
