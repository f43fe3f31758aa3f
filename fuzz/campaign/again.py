"""Findings that a campaign saw once and could not confirm: kept beside its record, tried first by the next one."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.records import newest
from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.campaign.yields import Combination, combination
from tridiff.fuzz.corpus.store import parse, readable
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry

FOLDER = "unconfirmed"
"""Where they lie in a campaign's record."""

MOST = 100
"""Findings that are tried again; a campaign that leaves more has another trouble."""


def keep(record: Path, entries: Iterable[CorpusEntry]) -> None:
    """Write findings that do not count into a record. Raises OSError where it cannot be written."""
    for entry in entries:
        folder = record / FOLDER
        folder.mkdir(exist_ok=True)
        (folder / f"{entry.id}.json").write_bytes(readable(entry))


def left(reports: Path) -> tuple[CorpusEntry, ...]:
    """Findings that the latest campaign with a record in `reports` left unconfirmed, of the files that are readable."""
    record = newest(reports, of=("campaign",))
    found = []
    for path in sorted((record / FOLDER).glob("*.json"))[:MOST] if record is not None else ():
        try:
            found.append(parse(path.read_bytes(), source=str(path)))
        except (TridiffError, OSError):
            continue
    return tuple(found)


def first(shards: Iterable[ShardSpec], entries: Iterable[CorpusEntry]) -> tuple[ShardSpec, ...]:
    """The shards, the first one of each combination with the cases seen there before others."""
    waiting: dict[Combination, list[Case]] = {}
    for entry in entries:
        signature, case = entry.signature, entry.case
        for backend in () if misfit(case, signature.subject) else {kind(one.backend) for one in entry.expected}:
            waiting.setdefault((signature.target, signature.subject, backend), []).append(case)
    found = []
    for spec in shards:
        cases = waiting.pop(combination(spec), ())
        found.append(replace(spec, first=(*cases, *spec.first)) if cases else spec)
    return tuple(found)
