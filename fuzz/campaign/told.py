"""What people are told of a campaign's findings, in its state folder: where each goes wrong, and a script for it.

Whoever works them out (`fuzz.report.telling`) does so while the campaign runs; the campaign reads how much there is."""

import os
from pathlib import Path
from typing import Literal

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame, CorpusEntry, Record, decode, pretty_json

Part = Literal["blame", "script"]

PARTS: tuple[Part, ...] = ("blame", "script")


class Told(Record, kw_only=True):
    """One part of what is told of a finding. entry: its id. case: digest of the case that it is told of. blame: None
    where none was found. script, note: a text, "" where there is none, and what a run of it said. seconds: taken by
    it, of one processor at the most."""

    entry: str
    case: str
    part: Part
    seconds: float
    blame: Blame | None = None
    script: str = ""
    note: str = ""

    def of(self, entry: CorpusEntry) -> bool:
        """Whether it is told of this form of a finding, and not of a larger case."""
        return (self.entry, self.case) == (entry.id, entry.case.digest)


class Tellings:
    """All that is told in a campaign's state folder; what was read once is not read again."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "told"
        self._read: dict[str, tuple[int, Told]] = {}

    def all(self) -> list[Told]:
        """Files that cannot be read are passed over: what they tell can be had again."""
        found = {}
        for path in sorted(self._folder.glob("*.json")):
            try:
                moment = path.stat().st_mtime_ns
                known = self._read.get(path.name)
                found[path.name] = known if known is not None and known[0] == moment else (
                    moment, decode(path.read_bytes(), Told, source=str(path)))
            except (OSError, TridiffError):
                continue
        self._read = found
        return [one for _, one in found.values()]

    def keep(self, one: Told) -> None:
        """Write it in place of what was told of this part. Raises OSError."""
        self._folder.mkdir(exist_ok=True)
        temporary = self._folder / f".{one.entry}.{one.part}.{os.getpid()}"
        temporary.write_text(pretty_json(one))
        temporary.rename(self._folder / f"{one.entry}.{one.part}.json")


def settled(state: Path, *, drawing: bool = True) -> list[Path]:
    """Findings that are not made smaller just now, and not meant to be; all of them when nothing is drawn any more."""
    return [path for path in sorted((state / "findings").glob("*.json"))
            if not drawing or not (state / "unfinished" / path.name).exists()]


def unsettled(state: Path) -> int:
    """How many others there are."""
    return sum((state / "unfinished" / path.name).exists() for path in (state / "findings").glob("*.json"))
