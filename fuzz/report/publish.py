"""What a campaign or a gate writes into its record for people and for other programs: scripts, issue texts, a page.

All of it follows from the record and can be written again (`tridiff report`): where it cannot be written, a line says
so and the record stands.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from tridiff.fuzz.builds import inspect, resolve
from tridiff.fuzz.campaign.record import Summary
from tridiff.fuzz.campaign.told import Told
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.markdown import headline
from tridiff.fuzz.gate.record import GateFinding, GateSummary
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.report.blames import campaign_blames, noted
from tridiff.fuzz.report.gates import file_of
from tridiff.fuzz.report.html import html
from tridiff.fuzz.report.issue import issue
from tridiff.fuzz.report.junit import junit
from tridiff.fuzz.report.markdown import markdown
from tridiff.fuzz.report.model import Report, Script
from tridiff.fuzz.report.record import (
    FINDINGS,
    Place,
    keep_entries,
    keep_scripts,
    kept_entries,
    put,
    read_gate,
    read_scripts,
    read_summary,
    report_of,
)
from tridiff.fuzz.report.sarif import sarif
from tridiff.fuzz.report.scripts import NO_TIME, Builds, campaign_scripts, confirms, gate_scripts, planted, wants_time
from tridiff.fuzz.versions import same_release

WRITERS: dict[str, Callable[[Report], str]] = {
    "report.html": html, "junit.xml": junit, "report.sarif": sarif, "report.md": markdown}
"""File in a record to its writer."""

ITSELF = {"campaign": ("report.html", "junit.xml"), "gate": ("report.html", "junit.xml", "report.sarif")}
"""Files that a campaign and a gate write without being asked."""


def publish_campaign(folder: Path, summary: Summary, entries: Iterable[CorpusEntry], *, corpus: Corpus | None,
                     seconds: float, told: Iterable[Told] = ()) -> str:
    """Blame new findings, write their scripts and issue texts, and the report. entries: of the campaign's findings.
    told: what was worked out of them while the campaign ran. seconds: for other blames and scripts. Returns "" or, in
    one line, what could not be written."""
    def work() -> None:
        new = [one for one in entries if one.id in summary.new_findings]
        keep_entries(folder, new)
        began = time.monotonic()
        new, tried = _with(new, told, folder, corpus), {one.entry for one in told if one.part == "blame"}
        new = campaign_blames(new, seconds=seconds, corpus=corpus, tried=tried)
        keep_entries(folder, new)
        left = seconds - (time.monotonic() - began)
        scripts = campaign_scripts(_without(new, read_scripts(folder)), seconds=left) if left > 0 else {}
        keep_scripts(folder, scripts)
        campaign_issues(folder, summary, new, read_scripts(folder))
        write_files(folder, report_of(Place(folder=folder, kind="campaign"), corpus=corpus))

    return _careful(work, folder)


def _with(entries: Iterable[CorpusEntry], told: Iterable[Told], folder: Path, corpus: Corpus | None,
          ) -> list[CorpusEntry]:
    """The entries with what was told of them, of which scripts are put into the record. Raises OSError."""
    found = []
    told = list(told)
    for entry in entries:
        for one in told:
            if one.of(entry) and one.blame is not None:
                entry = noted(entry, one.blame, corpus)
            elif one.of(entry) and one.part == "script":
                keep_scripts(folder, {entry.id: Script(text=one.script, note=one.note)})
        found.append(entry)
    return found


def publish_gate(folder: Path, summary: GateSummary, *, seconds: float, builds: Builds | None) -> str:
    """As `publish_campaign`, for a gate. builds: what goes in front of the path of scripts, None if unknown."""
    def work() -> None:
        there = read_scripts(folder)
        missing = [one for one in summary.findings if not _done(there.get(one.entry.id))]
        if seconds > 0:
            keep_scripts(folder, gate_scripts(missing, seconds=seconds, builds=builds))
        gate_issues(folder, summary, read_scripts(folder))
        write_files(folder, report_of(Place(folder=folder, kind="gate"), corpus=None))

    return _careful(work, folder)


def _careful(work: Callable[[], None], folder: Path) -> str:
    try:
        work()
    except OSError as error:
        return (f"{error.filename or folder} cannot be written ({error.strerror}); the record is complete, "
                f"`tridiff report {folder}` writes its report")
    except TridiffError as error:
        return f"no report: {error}"
    return ""


def untold(folder: Path, summary: Summary) -> str:
    """What of a campaign's new findings there was no time for, and how it can be had, in one line; "" if nothing."""
    kept, scripts = kept_entries(folder), read_scripts(folder)
    new = [kept[name] for name in summary.new_findings if name in kept and not planted(kept[name])]
    missing = sum(not _done(scripts.get(one.id)) for one in new)
    unblamed = sum(not one.blame for one in new)
    lacking = [f"{missing} have no script for want of time (`tridiff report {folder} --scripts 10m`)"] * (missing > 0)
    lacking += [f"{unblamed} no blame (`tridiff blame --all --missing --record`)"] * (unblamed > 0)
    return f"of {len(new)} new findings {', '.join(lacking)}" if lacking else ""


def write_files(folder: Path, report: Report) -> None:
    """The files that belong into every record of this kind. Raises OSError."""
    for name in ITSELF[report.kind]:
        put(folder / name, WRITERS[name](report))


def more_scripts(place: Place, *, seconds: float, again: bool = False) -> None:
    """Write the scripts that a record has not got, and the issue texts with them. again: and then those that do not
    show their finding, of which one that shows it takes the place. Raises OSError, and TridiffError for a record that
    cannot be read."""
    folder, there = place.folder, read_scripts(place.folder)
    if place.kind == "gate":
        gate = read_gate(folder)
        relations = {one.entry.id: one.relation for one in gate.findings}
        wanted = _wanted(relations, there, again=again)
        missing = sorted((one for one in gate.findings if one.entry.id in wanted), key=lambda one: wanted[one.entry.id])
        _keep(folder, there, gate_scripts(missing, seconds=seconds, builds=_builds(gate)), relations)
        gate_issues(folder, gate, read_scripts(folder))
        return
    summary, kept = read_summary(folder), kept_entries(folder)
    new = [kept[name] for name in summary.new_findings if name in kept]
    unpaired = dict.fromkeys((one.id for one in new), None)
    wanted = _wanted(unpaired, there, again=again)
    some = sorted((one for one in new if one.id in wanted), key=lambda one: wanted[one.id])
    _keep(folder, there, campaign_scripts(some, seconds=seconds), unpaired)
    campaign_issues(folder, summary, new, read_scripts(folder))


def _wanted(relations: Mapping[str, Relation | None], there: Mapping[str, Script], *, again: bool) -> dict[str, bool]:
    """Findings whose scripts are to be written, with whether somebody wrote one before, which does not show it."""
    return {name: _done(there.get(name)) for name, relation in relations.items()
            if not _done(there.get(name)) or (again and not confirms(there[name], relation))}


def _keep(folder: Path, there: Mapping[str, Script], written: Mapping[str, Script],
          relations: Mapping[str, Relation | None]) -> None:
    """Keep scripts; in the place of a finished one only what shows the finding."""
    keep_scripts(folder, {name: one for name, one in written.items()
                          if not _done(there.get(name)) or confirms(one, relations[name])})


def _builds(gate: GateSummary) -> Builds | None:
    """The folders of a gate's builds, if what their names stand for is what ran; no others confirm anything."""
    sides = (gate.baseline, gate.candidate)
    try:
        baseline, candidate = (resolve(side.name) for side in sides)
        same = [inspect(build).version for build in (baseline, candidate)] == [side.triton for side in sides]
    except TridiffError:
        return None
    same = same and same_release(version("torch"), gate.candidate.torch)
    return (baseline.path, candidate.path) if same else None


def _done(script: Script | None) -> bool:
    return script is not None and not wants_time(script)


def _without(entries: Iterable[CorpusEntry], there: Mapping[str, Script]) -> list[CorpusEntry]:
    return [one for one in entries if not _done(there.get(one.id))]


def campaign_issues(folder: Path, summary: Summary, entries: Iterable[CorpusEntry],
                    scripts: Mapping[str, Script]) -> None:
    """A file per new finding with the text of an issue; none for planted faults. Raises OSError."""
    targets = ", ".join(summary.options.targets) or "all targets"
    told = (f"By differential fuzzing with tridiff (campaign {summary.id}, {targets}, seed {summary.options.seed}, "
            f"{summary.counts.executed} cases): the generated case was run and judged by references that share no code "
            "with it, then shrunk.")
    for entry in entries:
        if not planted(entry):
            put(folder / FINDINGS / f"{entry.id}.md",
                issue(entry, script=scripts.get(entry.id, Script(note=NO_TIME)), found_by=told))


def gate_issues(folder: Path, summary: GateSummary, scripts: Mapping[str, Script]) -> None:
    """As `campaign_issues`, for the differences between two builds."""
    told = (f"By running the same generated cases on two builds of Triton with tridiff (gate {summary.id}, seed "
            f"{summary.seed}, {summary.pairs} pairs). The verdict of the gate: {headline(summary)}.")
    for one in summary.findings:
        put(folder / FINDINGS / f"{one.entry.id}.md",
            issue(one.entry, script=scripts.get(one.entry.id, Script(note=NO_TIME)), found_by=told,
                  relation=_relation(one, summary), wrong=one.relation is not Relation.CHANGED,
                  again=str(folder / file_of(one))))


def _relation(one: GateFinding, summary: GateSummary) -> str:
    return (f"{one.relation.value.replace('_', ' ')} from Triton {summary.baseline.triton} to "
            f"{summary.candidate.triton}: {one.reason}")
