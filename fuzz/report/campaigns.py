"""A campaign's record as a report."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.history import History, explained_cases
from tridiff.fuzz.campaign.joined import FOLDER
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.reasons import most_frequent_first
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.report.findings import finding, key
from tridiff.fuzz.report.heat import Changes, coverage_map
from tridiff.fuzz.report.model import Finding, Report, Row, Script, Table, Tone
from tridiff.fuzz.report.trends import trends

NEW, STILL, FIXED = "New", "Still failing", "No longer failing"

COLUMNS = ("cases", "right", "compiled only", "fail", "not checked", "rows judged", "kernels")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is known of a campaign beside its summary. entries: of findings, of the record and of the corpus. files:
    where the record keeps an entry, by id, relative to it. scripts: by id. changes: of coverage, against what earlier
    campaigns reached."""

    entries: tuple[CorpusEntry, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    scripts: Mapping[str, Script] = field(default_factory=dict)
    ledger: Ledger | None = None
    history: History = field(default_factory=History)
    changes: Changes | None = None
    running: bool = False


def campaign_report(summary: Summary, record: Record) -> Report:
    """The report of one campaign."""
    counts = summary.counts
    new = tuple(_new(summary, record))
    findings = (*new, *_still(summary, record), *_fixed(summary, record))
    verdict, tone = _verdict(summary, running=record.running)
    environment = summary.environments[0] if summary.environments else None
    return Report(
        kind="campaign", id=summary.id, verdict=verdict, tone=tone, headline=_headline(summary, findings),
        status=summary.exit_status, seconds=summary.seconds, began=_began(summary.id, record.history),
        why=_why(summary), facts=_facts(summary), groups=(NEW, STILL, FIXED), findings=findings, row_columns=COLUMNS,
        rows=(*_rows(summary, new), *_left_out(summary)),
        heat=coverage_map(record.ledger, record.changes) if record.ledger is not None else None,
        throughput=_throughput(summary.counts, summary), trends=trends(record.history, summary.id),
        tables=_tables(summary), running=record.running, tridiff=environment.tridiff if environment else "",
        not_checked=(*((f"{number:,}", reason) for reason, number in most_frequent_first(
                         summary.not_checked_reasons)),
                     *((", ".join(names), reason) for reason, names in summary.left_out.items()),
                     *((", ".join(names), f"does not count: {why}") for why, names in summary.unconfirmed.items()),
                     *(((f"{counts.refused:,}", "the case could not be run at all"),) if counts.refused else ())),
        errors=summary.errors)


def _verdict(summary: Summary, *, running: bool) -> tuple[str, Tone]:
    if running:
        return ("running, new findings", "bad") if summary.new_findings else ("running", "unknown")
    words: dict[int, tuple[str, Tone]] = {0: ("nothing new", "good"), 1: ("new findings", "bad"),
                                          2: ("could not check", "unknown")}
    return words[summary.exit_status]


def _headline(summary: Summary, findings: tuple[Finding, ...]) -> str:
    number = {group: sum(one.group == group for one in findings) for group in (NEW, STILL, FIXED)}
    return (f"{number[NEW]:,} new, {number[STILL]:,} still failing, {number[FIXED]:,} no longer failing; "
            f"{summary.counts.executed:,} cases in {summary.seconds:,.0f} s")


def _why(summary: Summary) -> tuple[str, ...]:
    checked = summary.counts.executed - summary.counts.not_checked - summary.counts.refused
    lines = [f"{checked:,} of {summary.counts.executed:,} cases were checked, "
             f"{summary.counts.row_inputs:,} independent inputs judged"]
    if checked <= 0:
        lines = ["no case was checked"]
    if summary.errors:
        lines.append(f"work was lost: {len(summary.errors)} errors")
    if summary.interrupted:
        lines.append("it was interrupted")
    return tuple(lines)


def _began(name: str, history: History) -> str:
    for night in history.nights:
        if night.id == name:
            return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(night.began))
    stamp = re.match(r"(?:gate-)?(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d\b", name)
    return "{}-{}-{} {}:{} UTC".format(*stamp.groups()) if stamp else ""


def _facts(summary: Summary) -> tuple[tuple[str, str], ...]:
    found = []
    for one in summary.environments:
        gpu = f", driver {one.driver}" if one.driver else ""
        found.append((one.backend, f"Triton {one.triton}, torch {one.torch}, {one.device}{gpu}"))
    options = summary.options
    asked = ", ".join((*options.targets, *options.subjects)) or "everything"
    found += [("targets", asked), ("seed", str(options.seed)), ("workers", str(options.workers))]
    return tuple(found)


def _new(summary: Summary, record: Record) -> Iterable[Finding]:
    entries = {one.id: one for one in record.entries}
    for name in summary.new_findings:
        entry = entries.get(name)
        if entry is None:
            yield Finding(id=name, key=name, group=NEW, level="error", title=name,
                          reason="its entry is neither in the record nor in the corpus")
        else:
            yield finding(entry, group=NEW, level="error", script=record.scripts.get(name),
                          about=_seen(record.history, key(entry)), file=record.files.get(name, ""))
    for name in summary.joined:
        yield Finding(id=name, key=name, group=NEW, level="error", file=f"{FOLDER}/{name}",
                      title="a joint launch fails, and its cases pass alone")


def _still(summary: Summary, record: Record) -> Iterable[Finding]:
    """Findings that came up again, and known issues to which failing cases were attributed; each once."""
    cases = explained_cases(summary)
    entries: dict[str, CorpusEntry] = {}
    for entry in record.entries:
        if entry.id not in summary.new_findings:
            entries.setdefault(key(entry), entry)
            entries.setdefault(entry.signature.key, entry)
    titles: dict[str, str] = {}
    for one in all_issues():
        titles.setdefault(cause(one.name), one.title)
    for name in dict.fromkeys((*summary.known_findings, *cases)):
        about = (*_seen(record.history, name), *((("cases", f"{cases[name]:,} of this campaign"),) if name in cases
                                                 else ()))
        known = entries.get(name)
        if known is not None:
            told = finding(known, group=STILL, level="note", about=about, file=record.files.get(known.id, ""),
                           script=record.scripts.get(known.id))
            # The entry is one of several of its issue.
            yield replace(told, title=titles.get(name, told.title))
        else:
            yield Finding(id=name, key=name, group=STILL, level="note", title=titles.get(name, name), about=about)


def _fixed(summary: Summary, record: Record) -> Iterable[Finding]:
    entries = {one.id: one for one in record.entries}
    for name in summary.stopped_failing:
        entry = entries.get(name)
        if entry is None:
            yield Finding(id=name, key=name, group=FIXED, level="note", title=name)
        else:
            yield finding(entry, group=FIXED, level="note", about=_seen(record.history, key(entry)),
                          file=record.files.get(name, ""), command=f"tridiff replay {name}")


def _seen(history: History, name: str) -> tuple[tuple[str, str], ...]:
    """Since when a finding is seen, where the history knows."""
    for one in history.findings:
        if one.finding == name:
            first, last = (time.strftime("%Y-%m-%d", time.gmtime(moment)) for moment in (one.first, one.last))
            return (("first seen", f"{first} ({one.first_campaign})"), ("last seen", f"{last} ({one.last_campaign})"))
    return ()


def _rows(summary: Summary, new: Iterable[Finding]) -> Iterable[Row]:
    problems: dict[tuple[str, str, str], list[str]] = {}
    for one in new:
        problems.setdefault((one.target, one.subject, one.backend), []).append(f"{one.id}: {one.title}")
    for part in summary.by_target:
        counts = part.counts
        failed = counts.disagree + counts.compile_error + counts.crash + counts.hang
        unchecked = counts.not_checked + counts.refused
        compiled = counts.agree if kind(part.backend) == "compile" else 0
        yield Row(
            target=part.target, subject=part.subject, backend=part.backend, seconds=counts.busy_seconds,
            cells=tuple(f"{number:,}" for number in (
                counts.executed, counts.agree - compiled, compiled, failed, unchecked, counts.row_inputs,
                counts.compiled_kernels)),
            problem="\n".join(problems.get((part.target, part.subject, part.backend), ())),
            skipped="no case of it could be checked" if unchecked >= counts.executed else "")


def _left_out(summary: Summary) -> Iterable[Row]:
    for reason, names in summary.left_out.items():
        for name in names:
            target, _, backend = name.partition(" on ")
            yield Row(target=target, subject="", backend=backend, cells=("0",) * len(COLUMNS), skipped=reason)


def _throughput(counts: Counts, summary: Summary) -> tuple[tuple[str, str], ...]:
    seconds, busy = max(summary.seconds, 1e-9), max(counts.busy_seconds, 1e-9)
    found = [
        ("cases per second", f"{counts.executed / seconds:,.1f}"),
        ("inputs judged per second", f"{counts.row_inputs / seconds:,.0f}"),
        ("kernels compiled per second", f"{counts.compiled_kernels / seconds:,.1f}"),
        ("launches per second", f"{counts.launches / seconds:,.1f}"),
        ("of the workers' time: in runs", f"{counts.busy_seconds / seconds / summary.options.workers:.0%}"),
        ("of runs: compiling", f"{counts.compile_seconds / busy:.0%}"),
        ("of runs: judging", f"{counts.judge_seconds / busy:.0%}"),
        ("of runs: shrinking", f"{counts.shrink_seconds / busy:.0%}"),
    ]
    if summary.programs is not None:
        one = summary.programs
        found += [("generated programs per second", f"{one.per_second:,.1f}"),
                  ("different generated programs", f"{one.distinct:,}")]
    return tuple(found)


def _tables(summary: Summary) -> tuple[Table, ...]:
    if not summary.repaired:
        return ()
    return (Table(title="Run again", columns=("what went wrong once",),
                  rows=tuple((line,) for line in summary.repaired)),)
