"""Findings that a campaign saw once and could not confirm: kept beside its record, tried first by the next one."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.corpus.store import parse
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, pretty_json
from tridiff.fuzz.registry import find

FOLDER = "unconfirmed"
"""Where they lie in a campaign's record."""

MOST = 100
"""Findings that are tried again; a campaign that leaves more has another trouble."""


def keep(record: Path, entries: Iterable[CorpusEntry]) -> None:
    """Write findings that do not count into a record. Raises OSError where it cannot be written."""
    for entry in entries:
        folder = record / FOLDER
        folder.mkdir(exist_ok=True)
        (folder / f"{entry.id}.json").write_text(pretty_json(entry))


def left(reports: Path) -> tuple[CorpusEntry, ...]:
    """Findings that the latest campaign with a record in `reports` left unconfirmed, of the files that are readable."""
    records = sorted(reports.glob("*/summary.json"), key=lambda path: path.stat().st_mtime_ns)
    found = []
    for path in sorted((records[-1].parent / FOLDER).glob("*.json"))[:MOST] if records else ():
        try:
            found.append(parse(path.read_bytes(), source=str(path)))
        except (TridiffError, OSError):
            continue
    return tuple(found)


def first(shards: Iterable[ShardSpec], entries: Iterable[CorpusEntry]) -> tuple[ShardSpec, ...]:
    """The shards, the first one of each target, subject and kind of backend with the cases seen there before others."""
    waiting: dict[tuple[str, str, str], list[Case]] = {}
    for entry in entries:
        signature, case = entry.signature, entry.case
        try:
            fits = find(case.target).draw.valid(case)
        except (TridiffError, KeyError, AttributeError, TypeError, ValueError):
            fits = False
        for backend in {kind(one.backend) for one in entry.expected} if fits else ():
            waiting.setdefault((signature.target, signature.subject, backend), []).append(case)
    found = []
    for spec in shards:
        cases = waiting.pop((spec.target, spec.subject, kind(spec.backend)), ())
        found.append(replace(spec, first=(*cases, *spec.first)) if cases else spec)
    return tuple(found)
