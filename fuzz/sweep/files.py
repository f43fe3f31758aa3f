"""Records as files: one result per line, so that a change of one sweep is a change of one line.

Records of the same sweeps say nearly the same: old ones lie together in one packed file, half as large.
"""

import lzma
import tarfile
from pathlib import Path

import msgspec

from fuzz.errors import TridiffError
from fuzz.sweep.records import SweepRecord

PACK = "records.tar.xz"
"""Beside the records' folders; FOLDER/sweep.json in it stands for the file that is not there."""


def save(record: SweepRecord, path: Path) -> None:
    """Write a record; TridiffError where that is not possible."""
    head = msgspec.to_builtins(msgspec.structs.replace(record, results=()))
    del head["results"]
    lines = [msgspec.json.encode(one).decode() for one in record.results]
    text = msgspec.json.format(msgspec.json.encode(head), indent=1).decode().rstrip("}\n")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = f'{text},\n "results": [\n' + ",\n".join(lines) + "\n]}\n"
        path.write_text(whole, encoding="utf-8")
    except OSError as error:
        raise TridiffError(f"{path} cannot be written ({error.strerror})", fix="choose another --record") from None


def file_of(path: Path) -> Path:
    """Where the record of a folder lies; a file is itself."""
    return path if path.suffix == ".json" else path / "sweep.json"


def read(path: Path) -> SweepRecord:
    """A record from its file, from the folder it lies in, or from the pack beside that folder."""
    file = file_of(path)
    pack = file.absolute().parent.parent / PACK
    try:
        content = file.read_bytes() if file.exists() or not pack.exists() else _packed(pack, file)
        return msgspec.json.decode(content, type=SweepRecord)
    except (EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise TridiffError(f"{pack} cannot be unpacked ({error})", fix="restore it") from None
    except OSError as error:
        raise TridiffError(f"{file} cannot be read ({error.strerror})", fix="name a record's file or folder") from None
    except msgspec.MsgspecError as error:
        raise TridiffError(f"{file} is no sweep record ({error})", fix="write one with tridiff sweep") from None


def _packed(pack: Path, file: Path) -> bytes:
    with tarfile.open(pack) as members:
        name = f"{file.absolute().parent.name}/{file.name}"
        found = members.extractfile(name) if name in members.getnames() else None
        return file.read_bytes() if found is None else found.read()
