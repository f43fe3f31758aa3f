"""Records on disk: a folder that a campaign or a gate left, what it keeps for its report, and the report of it."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.campaign import history
from tridiff.fuzz.campaign.record import Summary
from tridiff.fuzz.campaign.records import CAMPAIGN, GATE, Kind, kind_of, newest
from tridiff.fuzz.corpus.store import Corpus, parse, readable
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.coverage.show import ledgers
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.record import GateSummary
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.codec import decode_file, printable
from tridiff.fuzz.records.reading import read_bytes
from tridiff.fuzz.report.campaigns import Record, campaign_report
from tridiff.fuzz.report.gates import Kept, gate_report
from tridiff.fuzz.report.heat import changes
from tridiff.fuzz.report.model import Report, Script

FINDINGS, NOTES = "findings", "notes.json"
"""Folder of a record with a case, a script and an issue text for each new finding, and what its scripts said."""

MOST_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Place:
    """A record."""

    folder: Path
    kind: Kind


def find_record(name: str, reports: Path) -> Place:
    """The record that `name` denotes: a folder, or one below `reports`; "" for the newest. TridiffError where there is
    none."""
    if not name:
        found = newest(reports)
        if found is None:
            raise TridiffError(f"no record below {reports}",
                               fix="run `tridiff fuzz` or `tridiff gate`, or name a folder")
        return _place(found)
    for folder in (Path(name), reports / name):
        if folder.is_dir():
            return _place(folder)
    raise TridiffError(f"no record is called {printable(name, limit=100)}", fix=f"name a folder below {reports}")


def _place(folder: Path) -> Place:
    kind = kind_of(folder)
    if kind is None:
        raise TridiffError(f"{folder} holds neither {CAMPAIGN} nor {GATE}",
                           fix="name the record of a campaign or of a gate; `tridiff sweep --render` shows a sweep")
    return Place(folder=folder, kind=kind)


def read_summary(folder: Path) -> Summary:
    """The summary of a campaign's record."""
    return decode_file(read_bytes(folder / CAMPAIGN, most=MOST_BYTES), Summary, source=str(folder / CAMPAIGN))


def read_gate(folder: Path) -> GateSummary:
    """The summary of a gate's record."""
    return decode_file(read_bytes(folder / GATE, most=MOST_BYTES), GateSummary, source=str(folder / GATE))


def report_of(place: Place, *, corpus: Corpus | None) -> Report:
    """The report of a record. corpus: where findings are that the record does not keep. Raises
    TridiffError for a record that cannot be read."""
    if place.kind == "gate":
        return gate_report(read_gate(place.folder), Kept(scripts=read_scripts(place.folder)))
    summary = read_summary(place.folder)
    ledger = ledgers(place.folder)[0] if any(place.folder.glob("ledger.json*")) else None
    return report_of_campaign(summary, ledger=ledger, corpus=corpus, folder=place.folder,
                              past=place.folder.parent / history.FILE)


def report_of_campaign(summary: Summary, *, ledger: Ledger | None, corpus: Corpus | None, folder: Path, past: Path,
                       running: bool = False, entries: Iterable[CorpusEntry] = ()) -> Report:
    """The report of a campaign that is known by its summary, with what its record in `folder` keeps. entries: of its
    findings, that no record keeps yet."""
    known: history.History = history.History()
    changed = None
    with contextlib.suppress(TridiffError):  # A convenience: a damaged history costs the trends.
        known = history.read(past)
        began = next((one.began for one in known.nights if one.id == summary.id), float("inf"))
        if ledger is not None:
            changed = changes(ledger, history.read_cells(past, triton=ledger.triton), began)
    kept = kept_entries(folder)
    found = {one.id: one for one in entries} | kept
    return campaign_report(summary, Record(
        entries=(*found.values(), *(one for one in _entries(corpus) if one.id not in found)),
        files={name: f"{FINDINGS}/{name}.json" for name in kept}, scripts=read_scripts(folder), ledger=ledger,
        history=known, changes=changed, running=running))


def _entries(corpus: Corpus | None) -> Iterable[CorpusEntry]:
    if corpus is None or not corpus.root.is_dir():
        return ()
    return (one for one in corpus.entries() if isinstance(one, CorpusEntry))


def kept_entries(folder: Path) -> dict[str, CorpusEntry]:
    """The entries that a campaign's record keeps, by id; files that are none are passed over."""
    found = {}
    for path in sorted((folder / FINDINGS).glob("*.json")):
        if path.name != NOTES:
            with contextlib.suppress(TridiffError):
                entry = parse(read_bytes(path, most=MOST_BYTES), source=str(path))
                found[entry.id] = entry
    return found


def read_scripts(folder: Path) -> dict[str, Script]:
    """Scripts that a record keeps, by id of the finding."""
    place = folder / FINDINGS
    notes: dict[str, str] = {}
    with contextlib.suppress(TridiffError, msgspec.MsgspecError):
        notes = msgspec.json.decode(read_bytes(place / NOTES, most=MOST_BYTES), type=dict[str, str])
    texts = {}
    for path in sorted(place.glob("*.py")):
        with contextlib.suppress(TridiffError):
            texts[path.stem] = read_bytes(path, most=1 << 20).decode(errors="replace")
    return {name: Script(text=texts.get(name, ""), note=notes.get(name, "")) for name in texts.keys() | notes.keys()}


def keep_entries(folder: Path, entries: Iterable[CorpusEntry]) -> None:
    """Keep the entries of new findings with the record, which then needs no corpus to be read. Raises OSError."""
    for entry in entries:
        put(folder / FINDINGS / f"{entry.id}.json", readable(entry).decode())


def keep_scripts(folder: Path, scripts: Mapping[str, Script]) -> None:
    """Keep scripts and what they said, beside those that are there; none is not kept where there is one. Raises
    OSError."""
    there = read_scripts(folder)
    scripts = {name: one for name, one in scripts.items() if one.text or name not in there or not there[name].text}
    notes = {name: one.note for name, one in there.items()} | {name: one.note for name, one in scripts.items()}
    for name, one in scripts.items():
        if one.text:
            put(folder / FINDINGS / f"{name}.py", one.text)
    if notes:
        put(folder / FINDINGS / NOTES, msgspec.json.format(msgspec.json.encode(dict(sorted(notes.items()))),
                                                           indent=1).decode() + "\n")


def put(path: Path, text: str) -> None:
    """All of a text at `path`, or what was there before. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
