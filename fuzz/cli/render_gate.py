"""A gate's summary on the terminal."""

import collections
from pathlib import Path

from rich.table import Table

from tridiff.fuzz.cli.text import coloured, console
from tridiff.fuzz.gate.markdown import headline
from tridiff.fuzz.gate.record import GateSummary
from tridiff.fuzz.reasons import most_frequent_first

_COLOURS = {"upgrade": "green", "upgrade with guards": "yellow", "do not upgrade": "red", "could not check": "magenta"}
MOST = 20
"""Findings that a terminal has room for."""


def render_gate(summary: GateSummary, folder: Path) -> None:
    """Findings, guards and the verdict last, where the eye is."""
    out = console()
    if summary.findings:
        table = Table("what", "case", "reason", "action", box=None, pad_edge=False)
        for one in summary.findings[:MOST]:
            action = f"accepted: {one.accepted}" if one.accepted else one.action
            table.add_row(one.relation.value, f"{one.entry.case.target} {one.entry.id}", one.reason[:160], action)
        out.print(table)
        if len(summary.findings) > MOST:
            out.print(f"... and {len(summary.findings) - MOST} more in {folder / 'gate.md'}")
    for guard in summary.guards[:MOST]:
        out.print(f"bad: {guard.bad}  (proved by {guard.entry})")
    for line in summary.flaky[:MOST]:
        out.print(f"flaky: {line}")
    for reason, number in most_frequent_first(summary.not_checked_reasons)[:5]:
        out.print(f"not checked: {number:,} x {reason}")
    for reason, names in summary.left_out.items():
        out.print(f"left out: {reason}: {len(names)} targets")
    if summary.floor_missed:
        out.print(f"left out: no time was left: {len(summary.floor_missed)} of the targets and backends")
    if summary.entries_left_out:
        out.print(f"left out: {len(summary.entries_left_out)} corpus entries")
    for reach in summary.reach:
        if reach.never:
            out.print(f"changed but never run: {reach.name}"
                      f"{f' (accepted: {reach.accepted})' if reach.accepted else ''}")
        elif not reach.statements and not reach.imported:
            out.print(f"run, but never the statements that differ: {reach.name}")
    for error in summary.errors:
        out.print(f"lost: {error}")
    executed = any(one.backend == "cuda" for one in summary.candidate.environments)
    if not executed:
        out.print("not checked: nothing ran on a GPU; interpreter and compilers only")
    sorts = {sort: sum(one.sort == sort for one in summary.api) for sort in ("lost", "changed", "gained")}
    if summary.sweeps is not None:
        for change in summary.sweeps.changes[:MOST]:
            out.print(f"all inputs: {change.sweep}: {change.text}")
        out.print(f"all inputs of {summary.sweeps.compared} operations and types, {summary.sweeps.unchanged} unchanged")
    before, after = summary.compile_seconds
    if before and after:
        out.print(f"compile time: {before:.1f} s before, {after:.1f} s now, over the same cases")
    out.print(f"public names: {sorts['lost']} lost, {sorts['changed']} changed, {sorts['gained']} gained")
    if summary.issues:
        found = collections.Counter(one.fails_in for one in summary.issues.values())
        out.print(f"known issues drawn anew: {found['baseline']} fail in the baseline alone, {found['candidate']} in "
                  f"the candidate alone, {found['both']} in both, {found['neither']} in neither")
    out.print(f"{summary.pairs:,} cases on both builds in {summary.seconds:.0f} s, {summary.identical_code:,} with the "
              f"same code, {summary.not_checked:,} not checked; record in {folder}")
    out.print(coloured((headline(summary), f"bold {_COLOURS[summary.verdict]}")))
