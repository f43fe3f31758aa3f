"""A gate's record as a page of Markdown."""

import statistics

from tridiff.fuzz.gate.record import CodeDifference, GateFinding, GateSummary, Guard, Reach
from tridiff.fuzz.reasons import most_frequent_first
from tridiff.fuzz.records.pair import Relation

MOST_TIMES = 10
"""Kernels whose run times stand on the page."""

_TITLES = {
    Relation.REGRESSION: "Regressions", Relation.CHANGED: "Changed behaviour",
    Relation.DIFFERENT: "Wrong in both, differently", Relation.FIXED: "Fixed",
}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def headline(summary: GateSummary) -> str:
    """The verdict in one sentence."""
    return (f"Triton {summary.baseline.triton} -> {summary.candidate.triton}: {summary.verdict} "
            f"({summary.regressions} regressions, {summary.changed} changed, {summary.fixed} fixed, "
            f"{summary.both} wrong in both)")


def markdown(summary: GateSummary) -> str:
    """The whole page: verdict, what it rests on, findings, guards, API, coverage, what was not checked."""
    where = "; ".join(f"{one.backend} on {one.device}" for one in summary.candidate.environments)
    parts = [f"# {_cell(headline(summary))}", "", f"{summary.pairs:,} cases on both builds in {summary.seconds:.0f} s, "
             f"torch {summary.candidate.torch}, seed {summary.seed}; {where}. {summary.identical_code:,} had the same "
             f"code ({summary.not_launched:,} of these were not launched, {summary.control:,} were all the same), "
             f"{summary.not_checked:,} were not checked.", ""]
    parts += _list("What the verdict rests on", summary.why)
    parts += _list("Changed but never run", tuple(
        one.name + (f" (accepted: {one.accepted})" if one.accepted else "") for one in summary.reach if one.never))
    for relation, title in _TITLES.items():
        found = [one for one in summary.findings if one.relation is relation]
        if found:
            parts += [f"## {title}", "", "| case | what | action |", "|---|---|---|",
                      *(_row(one, summary.proposed.get(one.entry.id, "")) for one in found), ""]
    parts += _list("Guards", tuple(f"`bad: {one.bad}` (case {one.entry}, {one.runs} runs{_tried(one)})"
                                   for one in summary.guards), raw=True)
    parts += _list("Flaky", summary.flaky)
    if summary.api:
        parts += ["## Public names", "", "| name | before | after |", "|---|---|---|",
                  *(f"| {_cell(one.name)} | {_cell(one.before)} | {_cell(one.after)} |" for one in summary.api), ""]
    if summary.numeric:
        parts += ["## Numbers that changed within the tolerance", "",
                  "| output | elements | apart by (ulp: elements) | bias |", "|---|---|---|---|"]
        for name, one in sorted(summary.numeric.items()):
            apart = ", ".join(f"{distance}: {number}" for distance, number in one.histogram.items())
            parts.append(f"| {_cell(name)} | {one.elements} | {apart} | {one.bias:+} |")
        parts.append("")
    if summary.resources:
        parts += ["## Resources", "", "| what | more | less | largest growth |", "|---|---|---|---|",
                  *(f"| {name} | {one.more} | {one.less} | {one.largest:g} |"
                    for name, one in summary.resources.items()), ""]
    parts += _issues(summary)
    parts += _reach(summary.reach)
    parts += _code(summary.code)
    parts += _sweeps(summary)
    parts += _seconds(summary)
    parts += _run_times(summary)
    for sort, names in summary.cells.items():
        number = summary.cell_numbers.get(sort, len(names))
        more = (f"and {number - len(names)} more",) if number > len(names) else ()
        parts += _list(f"Cells {sort}: {number}", (*names, *more))
    parts += ["## Pairs", "", "| target | backend | code differs | relations |", "|---|---|---|---|"]
    for row in summary.targets:
        told = ", ".join(f"{number} {name}" for name, number in row.relations.items())
        parts.append(f"| {row.target} | {row.backend} | {row.code_changed} of {row.compared} | {told} |")
    parts.append("")
    parts += _list("Not checked", (*(f"{number}: {reason}" for reason, number in most_frequent_first(
                                       summary.not_checked_reasons)),
                                   *(f"{reason}: {', '.join(names)}" for reason, names in summary.left_out.items()),
                                   *(f"no time was left: {name}" for name in summary.floor_missed),
                                   *(f"corpus entry {name} did not run" for name in summary.entries_left_out),
                                   *summary.errors))
    return "\n".join(parts)


def _issues(summary: GateSummary) -> list[str]:
    shown = summary.failing_issues
    if not summary.issues:
        return []
    return ["## Known issues, drawn anew", "",
            f"Of {len(summary.issues)} whose pattern was drawn {len(shown)} fail; by cases:", "",
            "| issue | drawn | repaired | came back | fail in both |", "|---|---|---|---|---|",
            *(f"| {name} | {one.cases} | {one.repaired} | {one.back} | {one.failing} |" for name, one in shown.items()),
            ""]


def _code(found: CodeDifference) -> list[str]:
    if not found.cases:
        return []
    stages = ", ".join(f"{name} {number}" for name, number in found.stages.items())
    return ["## Other code for identical input", "", f"{found.cases} of {found.compared} cases ({stages}).", "",
            *(f"- {_cell(name)}: {number}" for name, number in found.named.items()),
            *(f"- {name}: {number} cases" for name, number in list(found.targets.items())[:20]), ""]


def _reach(found: tuple[Reach, ...]) -> list[str]:
    if not found:
        return []
    return ["## Changed functions", "", "| function | pairs that ran it | and what differs in it | to some effect |",
            "|---|---|---|---|",
            *(f"| {_cell(one.name)} | {one.pairs:,}{' and every import' if one.imported else ''} | "
              f"{one.statements:,} | {one.with_effect:,} |" for one in found), ""]


def _sweeps(summary: GateSummary) -> list[str]:
    if summary.sweeps is None:
        return []
    found = summary.sweeps
    return ["## All inputs", "", f"{found.compared} sweeps on both builds, {found.unchanged} without a difference.", "",
            *_list("Changed", tuple(f"{one.sweep}: {one.text} ({one.action})" for one in found.changes)),
            *_list("Not swept", found.not_checked)]


def _seconds(summary: GateSummary) -> list[str]:
    rows = [f"| {what} | {before:.1f} | {after:.1f} |" for what, (before, after) in (
        ("compiling", summary.compile_seconds), ("launching", summary.launch_seconds)) if before or after]
    return ["## Seconds, over the same cases", "", "| of | baseline | candidate |", "|---|---|---|", *rows, ""] if (
        rows) else []


def _run_times(summary: GateSummary) -> list[str]:
    if not summary.run_times:
        return []
    found = [one.time.quotient for one in summary.run_times]
    rows = [f"| {one.target} {one.case} | {1e6 * one.time.baseline:.1f} | {1e6 * one.time.candidate:.1f} | "
            f"{one.time.quotient:.2f} | {one.time.spread:.0%} |" for one in summary.run_times[:MOST_TIMES]]
    return ["## Run time of kernels whose code differs", "",
            f"{len(found)} kernels; candidate / baseline: {statistics.median(found):.2f} in the median, "
            f"{min(found):.2f} to {max(found):.2f}. The slowest first:", "",
            "| case | baseline (us) | candidate (us) | quotient | spread |", "|---|---|---|---|---|", *rows, ""]


def _tried(guard: Guard) -> str:
    """What else was run, as it stands in a list of guards."""
    return "".join(f"; {name}: {'also' if shows else 'not'}" for name, shows in guard.tried.items())


def _row(one: GateFinding, alike: str) -> str:
    action = f"accepted: {one.accepted}" if one.accepted else one.action
    reason = f"{one.reason} (the pattern of {alike})" if alike else one.reason
    return f"| {one.entry.case.target} {one.entry.id} | {_cell(reason)} | {_cell(action)} |"


def _list(title: str, lines: tuple[str, ...], *, raw: bool = False) -> list[str]:
    return [f"## {title}", "", *(f"- {one if raw else _cell(one)}" for one in lines), ""] if lines else []
