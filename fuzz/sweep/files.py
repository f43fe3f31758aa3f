"""Records as files: one result per line, so that a change of one sweep is a change of one line; packed as *.xz."""

from __future__ import annotations

import lzma
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
        whole = f'{text},\n "results": [\n' + ",\n".join(lines) + "\n]}\n"
        packed = path.suffix == ".xz"
        path.write_bytes(lzma.compress(whole.encode(), preset=9 | lzma.PRESET_EXTREME) if packed else whole.encode())
    except OSError as error:
        raise TridiffError(f"{path} cannot be written ({error.strerror})", fix="choose another --record") from None


def existing(path: Path) -> Path:
    """The record's file in a folder, packed or not; a file is itself."""
    if not path.is_dir():
        return path
    packed = path / "sweep.json.xz"
    return packed if packed.exists() else path / "sweep.json"


def read(path: Path) -> SweepRecord:
    """A record from its file, or from the folder it lies in."""
    path = existing(path)
    try:
        content = path.read_bytes()
        return msgspec.json.decode(lzma.decompress(content) if path.suffix == ".xz" else content, type=SweepRecord)
    except lzma.LZMAError as error:
        raise TridiffError(f"{path} cannot be unpacked ({error})", fix="write it again with tridiff sweep") from None
    except OSError as error:
        raise TridiffError(f"{path} cannot be read ({error.strerror})", fix="name a record's file or folder") from None
    except msgspec.MsgspecError as error:
        raise TridiffError(f"{path} is no sweep record ({error})", fix="write one with tridiff sweep") from None
