"""A report as a page of Markdown, for the summary of a job or a comment."""

from tridiff.fuzz.report.model import Finding, Report, Table
from tridiff.fuzz.report.text import visible

MOST = 100
"""Findings of one group that are shown."""


def cell(text: str) -> str:
    """Text from anywhere in one cell of a table or one point of a list: no markup of its own."""
    plain = visible(" ".join(text.split())).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "|*_`[]#~":
        plain = plain.replace(mark, f"\\{mark}")
    return plain


def fenced(text: str, language: str = "") -> str:
    """Text as a block of code, whatever it contains."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{visible(text.rstrip())}\n{fence}"


def markdown(report: Report) -> str:
    """The whole page: verdict, what it rests on, findings, targets, what was not checked."""
    parts = [f"# {cell(report.id)}: {cell(report.verdict)}", "", cell(report.headline) + ".", ""]
    parts += [f"- {cell(line)}" for line in report.why]
    parts += ["", *(f"- {cell(label)}: {cell(text)}" for label, text in report.facts), ""]
    for group in report.groups:
        found = report.of(group)
        if found:
            parts += [f"## {group} ({len(found)})", "", "| finding | what | facts |", "|---|---|---|",
                      *map(_finding, found[:MOST]), ""]
            if len(found) > MOST:
                parts += [f"and {len(found) - MOST} more", ""]
    for table in report.tables:
        parts += _table(table)
    parts += _table(Table(title="Targets", columns=("target", "subject", "backend", *report.row_columns),
                          rows=tuple((one.target, one.subject, one.backend, *one.cells) for one in report.rows)))
    parts += _table(Table(title="Throughput", columns=("figure", "value"), rows=report.throughput))
    parts += _table(Table(title="Not checked", columns=("what", "reason"), rows=report.not_checked))
    parts += _table(Table(title="Lost work", columns=("what went wrong",), rows=tuple((one,) for one in report.errors)))
    return "\n".join(parts).rstrip() + "\n"


def _finding(one: Finding) -> str:
    what = f"{one.title}{f': {one.reason}' if one.reason and one.reason != one.title else ''}"
    facts = "; ".join(f"{label}: {text}" for label, text in one.about if label != "explanation")
    return f"| {cell(f'{one.target} {one.id}'.strip())} | {cell(what)} | {cell(facts)} |"


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    return [f"## {cell(table.title)}", "", *((cell(table.note), "") if table.note else ()),
            f"| {' | '.join(map(cell, table.columns))} |", "|" + "---|" * len(table.columns),
            *(f"| {' | '.join(map(cell, row))} |" for row in table.rows), ""]
