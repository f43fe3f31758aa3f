"""What a person reads after a campaign."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from fuzz.backends import kind
from fuzz.campaign.record import Counts, Summary
from fuzz.records import CorpusEntry

SHOWN = 8
"""Findings shown in full after a campaign; the rest by name."""


def wide_console() -> Console:
    """A console that does not fold tables into 80 columns when the output is a file or a log."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


def render_summary(summary: Summary, findings: list[CorpusEntry], record: Path) -> None:
    """Totals, a line per target, and each new finding with its smallest input."""
    console = wide_console()
    for environment in summary.environments:
        where = environment.device + (f", driver {environment.driver}" if environment.driver else "")
        console.print(f"[dim]{environment.backend}: Triton {environment.triton}, torch {environment.torch}, "
                      f"{where}[/dim]", highlight=False)
    console.print(_targets(summary))
    counts = summary.counts
    only = sum(one.counts.agree for one in summary.by_target if kind(one.backend) == "compile")
    console.print(
        f"{counts.executed:,} cases in {summary.seconds:,.0f} s: {counts.agree - only:,} agree, "
        f"{only:,} compiled only, {_failed(counts):,} fail, {counts.not_checked + counts.refused:,} not checked; "
        f"{counts.row_inputs:,} independent inputs judged, {counts.compiled_kernels:,} kernels compiled, "
        f"{counts.launches:,} launches, {counts.shrink_runs:,} runs to shrink", highlight=False)
    if summary.programs is not None:
        one = summary.programs
        console.print(f"generated programs: {one.distinct:,} different ones judged, {one.per_second:,.1f} per second, "
                      f"{100 * one.accepted:.1f} % of those drawn; {one.to_nearest_public:.1f} times the nearest "
                      "public generator", highlight=False)
    for reason, number in sorted(summary.not_checked_reasons.items(), key=lambda item: -item[1])[:5]:
        console.print(f"  not checked {number:,}: {reason}", highlight=False, style="dim")
    for reason, names in summary.left_out.items():
        console.print(f"  left out {', '.join(names)}: {reason}", highlight=False, style="dim")
    for error in summary.errors:
        console.print(f"  [red]error[/red]: {error}", highlight=False)
    for name in summary.stopped_failing:
        console.print(f"[yellow]no longer fails here[/yellow]: {name} (see `tridiff replay {name}`)", highlight=False)
    for entry in findings[:SHOWN]:
        _finding(console, entry)
    if len(findings) > SHOWN:
        console.print(f"\nand {len(findings) - SHOWN} more: {' '.join(e.id for e in findings[SHOWN:])}",
                      highlight=False)
    if summary.known_findings:
        console.print(f"{len(summary.known_findings)} known findings came up again (suppressed)", highlight=False)
    verdicts = {0: "[green]nothing new[/green]", 1: "[red]new findings[/red]", 2: "[red]could not check[/red]"}
    console.print(f"{verdicts[summary.exit_status]}; record in {record}", highlight=False)


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
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("target", "subject"):
        table.add_column(title, no_wrap=True)
    for title in ("cases", "agree", "compiled only", "fail", "not checked", "rows judged"):
        table.add_column(title, justify="right")
    for (target, subject), counts in merged.items():
        failed, only = _failed(counts), compiled_only.get((target, subject), 0)
        table.add_row(target, subject, f"{counts.executed:,}", f"{counts.agree - only:,}", f"{only:,}",
                      f"[red]{failed:,}[/red]" if failed else "0", f"{counts.not_checked + counts.refused:,}",
                      f"{counts.row_inputs:,}")
    return table


def values_line(values: tuple[str, ...]) -> str:
    """At most eight values, then how many more."""
    shown = " ".join(values[:8])
    return f"[{shown}{f' ... {len(values) - 8} more' if len(values) > 8 else ''}]"


def _finding(console: Console, entry: CorpusEntry) -> None:
    console.print(f"\n[red bold]finding[/red bold] {entry.id}  ({entry.status}, {entry.reproduced})", highlight=False)
    console.print(f"  {entry.title}", highlight=False, markup=False)
    for name, values in entry.evidence.inputs.items():
        console.print(f"  input {name} ({entry.case.array(name).dtype}): {values_line(values)}", highlight=False,
                      markup=False)
    for oracle, outputs in entry.evidence.expected.items():
        for name, values in outputs.items():
            console.print(f"  {oracle} says {name}: {values_line(values)}", highlight=False, markup=False)
    for name, values in entry.evidence.actual.items():
        console.print(f"  got {name}: {values_line(values)}", highlight=False, markup=False)
    if entry.evidence.log:
        console.print(f"  log: {entry.evidence.log.splitlines()[-1][:200]}", highlight=False, markup=False)
    console.print(f"  next: tridiff repro {entry.id} --script bug.py", highlight=False, markup=False)
