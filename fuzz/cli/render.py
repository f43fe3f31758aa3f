"""What a person reads after a campaign."""

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.joined import FOLDER
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.cli.text import coloured, console, listing
from tridiff.fuzz.reasons import most_frequent_first
from tridiff.fuzz.records import CorpusEntry

SHOWN = 8
"""Findings shown in full after a campaign; the rest by name."""


def render_summary(summary: Summary, findings: list[CorpusEntry], record: Path) -> None:
    """Totals, a line per target, and each new finding with its smallest input."""
    out = console()
    for environment in summary.environments:
        where = environment.device + (f", driver {environment.driver}" if environment.driver else "")
        out.print(f"{environment.backend}: Triton {environment.triton}, torch {environment.torch}, {where}",
                  style="dim")
        if environment.repairs_missing:
            out.print(coloured(("repairs of the interpreter that do not hold here", "red"),
                               f": {'; '.join(environment.repairs_missing)} (see `tridiff doctor --new-triton`)"))
    out.print(_targets(summary))
    counts = summary.counts
    only = sum(one.counts.agree for one in summary.by_target if kind(one.backend) == "compile")
    out.print(
        f"{counts.executed:,} cases in {summary.seconds:,.0f} s: {counts.agree - only:,} agree, "
        f"{only:,} compiled only, {_failed(counts):,} fail, {counts.not_checked + counts.refused:,} not checked; "
        f"{counts.row_inputs:,} independent inputs judged, {counts.compiled_kernels:,} kernels compiled, "
        f"{counts.launches:,} launches, {counts.shrink_runs:,} runs to shrink")
    if summary.programs is not None:
        one = summary.programs
        out.print(f"generated programs: {one.distinct:,} different ones judged, {one.per_second:,.1f} per second, "
                  f"{100 * one.accepted:.1f} % of those drawn; {one.to_nearest_public:.1f} times the nearest "
                  "public generator")
    for reason, number in most_frequent_first(summary.not_checked_reasons)[:5]:
        out.print(f"  not checked {number:,}: {reason}", style="dim")
    for reason, names in summary.left_out.items():
        out.print(f"  left out {', '.join(names)}: {reason}", style="dim")
    for error in summary.errors:
        out.print(coloured("  ", ("error", "red"), f": {error}"))
    for name in summary.in_vain:
        out.print(coloured("  ", ("error", "red"), f": {name} was asked for and nothing could be checked there (see "
                           "`tridiff doctor`)"))
    for line in summary.repaired:
        out.print(f"  run again: {line}", style="dim")
    for why, names in summary.unconfirmed.items():
        out.print(coloured("  ", ("not counted", "yellow"), f" {', '.join(names)}: {why}"))
    for name in summary.joined:
        out.print(coloured("  ", ("new", "red"), ": a joint launch fails, and its cases pass alone: "
                           f"tridiff repro {record / FOLDER / name}"))
    for name in summary.stopped_failing:
        out.print(coloured(("no longer fails here", "yellow"), f": {name} (see `tridiff replay {name}`)"))
    for entry in findings[:SHOWN]:
        _finding(out, entry, summary.proposed.get(entry.id, ""))
    if len(findings) > SHOWN:
        out.print(f"\nand {len(findings) - SHOWN} more: {' '.join(e.id for e in findings[SHOWN:])}")
    if len(findings) > 1:
        build = summary.options.baseline
        out.print(f"told apart beside {build}, a build in which they may be right" if build else
                  "told apart without a right build (--baseline), with which more of one cause are known as one",
                  style="dim")
    if summary.known_findings:
        out.print(f"{len(summary.known_findings)} known findings came up again (suppressed)")
    verdicts = {0: ("nothing new", "green"), 1: ("new findings", "red"), 2: ("could not check", "red")}
    out.print(coloured(verdicts[summary.exit_status], f"; record in {record}"))


def _failed(counts: Counts) -> int:
    return counts.disagree + counts.compile_error + counts.crash + counts.hang


def _targets(summary: Summary) -> Table:
    """One line per target and subject; backends are added up, values are judged by all but `compile`."""
    merged: dict[tuple[str, str], Counts] = {}
    compiled_only: dict[tuple[str, str], int] = {}
    for one in summary.by_target:
        key = (one.target, one.subject)
        merged[key] = merged.get(key, Counts()).plus(one.counts)
        if kind(one.backend) == "compile":
            compiled_only[key] = compiled_only.get(key, 0) + one.counts.agree
    table = listing()
    for title in ("target", "subject"):
        table.add_column(title, no_wrap=True)
    for title in ("cases", "agree", "compiled only", "fail", "not checked", "rows judged"):
        table.add_column(title, justify="right")
    for (target, subject), counts in merged.items():
        failed, only = _failed(counts), compiled_only.get((target, subject), 0)
        table.add_row(target, subject, f"{counts.executed:,}", f"{counts.agree - only:,}", f"{only:,}",
                      Text(f"{failed:,}", style="red" if failed else ""), f"{counts.not_checked + counts.refused:,}",
                      f"{counts.row_inputs:,}")
    return table


def values_line(values: tuple[str, ...]) -> str:
    """At most eight values, then how many more."""
    shown = " ".join(values[:8])
    return f"[{shown}{f' ... {len(values) - 8} more' if len(values) > 8 else ''}]"


def _finding(out: Console, entry: CorpusEntry, alike: str) -> None:
    out.print(coloured("\n", ("finding", "red bold"), f" {entry.id}  ({entry.status}, {entry.reproduced})"))
    out.print(f"  {entry.title}")
    for name, values in entry.evidence.inputs.items():
        out.print(f"  input {name} ({entry.case.array(name).dtype}): {values_line(values)}")
    for oracle, outputs in entry.evidence.expected.items():
        for name, values in outputs.items():
            out.print(f"  {oracle} says {name}: {values_line(values)}")
    for name, values in entry.evidence.actual.items():
        out.print(f"  got {name}: {values_line(values)}")
    for one in entry.evidence.wrong:
        said = ", ".join(f"{oracle} says {value}" for oracle, value in one.expected.items())
        out.print(f"  wrong {one.output}[{one.place}]: {one.actual}, {said}")
    if entry.evidence.log:
        out.print(f"  log: {entry.evidence.log.splitlines()[-1][:200]}")
    if alike:
        out.print(coloured("  ", ("proposed as one", "yellow"), f" with {alike}: the same pattern"))
    out.print(f"  next: tridiff repro {entry.id} --script bug.py")
