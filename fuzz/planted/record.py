"""What became of planted edits, as records: one line of a file for each."""

from pathlib import Path
from typing import Literal

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.kernels.record import Record

Outcome = Literal["caught", "changed code", "missed", "not reached", "cannot show", "loud", "not tried"]
"""caught: the gate's verdict rests on it. changed code: the compiler's output differs, and nothing that can run here
shows a wrong result. not reached: no drawn case runs what changed (probes), or no pair the changed function (gates).
cannot show: missed or not reached,
and known not to show on this class of machines (`fuzz.planted.hidden`). loud: Triton is of no use with it. not tried:
the gate could not check."""


class Settings(Record, kw_only=True):
    """How every edit was tried. seconds: of the gate of one; workers: of that gate; targets, subjects: as the gate
    takes them, all where empty; max_cases: ends a gate before its time; backends: none where each gate chose
    them by the files that differ; seed: of the choice and of the gates."""

    triton: str
    backends: tuple[str, ...]
    seconds: float
    workers: int
    seed: int
    targets: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    max_cases: int | None = None
    probe: int = 0
    """Cases drawn for each target and backend, of which each edit is tried with those that run it; 0: gates."""


class Tried(Record, kw_only=True, omit_defaults=True):
    """One edit and what its gate said. name: `file:line:operator`; before, after: the text that changed; how: what
    caught it, or why it is loud or could not be tried; seconds: until the gate ended, its start included."""

    name: str
    file: str
    operator: str
    function: str
    before: str
    after: str
    outcome: Outcome
    harmless: bool = False
    how: str = ""
    verdict: str = ""
    seconds: float = 0.0
    pairs: int = 0
    """Cases that ran on both builds."""
    code_changed: tuple[str, ...] = ()
    """Targets with a case whose code differs, with the backend."""
    not_checked: int = 0


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    settings: Settings


class Results:
    """The file of results: its first line says how, each other one what became of an edit."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Open or create it. Raises TridiffError for a file of other settings, and for one that cannot be used."""
        self.path = path
        self.lines: list[Tried] = []
        try:
            if path.exists() and path.stat().st_size:
                known, self.lines = read(path)
                if known != settings:
                    raise TridiffError(f"{path} has results of other settings", fix="use these options again, or "
                                       "another --results file")
                # What a kill cut off would swallow the next line.
                whole = path.read_bytes().rpartition(b"\n")[0] + b"\n"
                with open(path, "r+b") as file:
                    file.truncate(len(whole))
            else:
                path.write_bytes(msgspec.json.encode(_Header(settings=settings)) + b"\n")
        except OSError as error:
            raise TridiffError(f"{path} cannot be used ({error.strerror})",
                               fix="choose another --results file") from None

    def add(self, line: Tried) -> None:
        """Keep a result."""
        self.lines.append(line)
        with open(self.path, "ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


def read(path: Path) -> tuple[Settings, list[Tried]]:
    """Settings and results in a file; a line that was cut off by a kill is left out."""
    try:
        first, *rest = path.read_bytes().splitlines(keepends=True)
        settings = msgspec.json.decode(first, type=_Header).settings
        return settings, [msgspec.json.decode(line, type=Tried) for line in rest if line.endswith(b"\n")]
    except OSError as error:
        raise TridiffError(f"{path} cannot be read ({error.strerror})", fix="name a file of --results") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise TridiffError(f"{path} holds no results of planted faults ({error})", fix="name another file") from None
