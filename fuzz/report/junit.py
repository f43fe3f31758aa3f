"""A report as JUnit XML, for continuous integration: one test per target, subject and backend, the same names every
night, so that a server shows since when one fails.

The format is the one that Jenkins and GitLab document (testsuites, testsuite, testcase with failure, error or skipped).
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable

from tridiff.fuzz.report.model import Finding, Lines, Report, Row
from tridiff.fuzz.report.text import visible

LONGEST = 20_000
"""Characters of one failure's text."""

SHORTEST = 200
"""Characters that are left of it, or half of them, however large the file is."""

MOST_BYTES = 16 << 20
"""Of a file that nobody wants to be smaller."""


def junit(report: Report, *, largest: int = MOST_BYTES) -> str:
    """The whole file. A target with new findings (of a gate: with differences that block or need a guard) is a failure,
    one of which nothing was checked is skipped, lost work is an error. Findings that no target of the report has stand
    for themselves, in the suite "findings". largest: bytes beyond which the texts of failures are
    cut, and what is said of tests that passed."""
    suites: dict[str, list[ElementTree.Element]] = {}
    told: set[str] = set()
    by_place: dict[tuple[str, str, str], list[Finding]] = {}
    for one in report.findings:
        if one.level != "note":
            subject = one.subject if report.kind == "campaign" else ""
            by_place.setdefault((one.target, subject, one.backend), []).append(one)
    for row in report.rows:
        findings = by_place.get((row.target, row.subject, row.backend), [])
        told |= {one.id for one in findings}
        suites.setdefault(row.backend, []).append(_row(row, findings, report))
    others = [one for found in by_place.values() for one in found if one.id not in told]
    if others:
        suites["findings"] = [_other(one) for one in others]
    if report.beside:
        suites["beside cases"] = [_beside(name, lines) for name, lines in report.beside]
    suites["work"] = [_work(report)]
    root = ElementTree.Element("testsuites", _totals(report.id, [one for made in suites.values() for one in made]))
    for name, made in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", _totals(name, made))
        suite.extend(made)
        properties = ElementTree.Element("properties")
        for label, text in (("verdict", report.verdict), ("headline", report.headline), *report.facts):
            ElementTree.SubElement(properties, "property", name=visible(label), value=visible(text))
        suite.insert(0, properties)
    longest = LONGEST
    while len((text := _written(root)).encode()) > largest and longest > SHORTEST:
        longest //= 2
        for failure in (one for kind in ("failure", "error") for one in root.iter(kind)):
            failure.text = (failure.text or "")[:longest]
    if len(text.encode()) > largest:
        _leave_results(root)
        text = _written(root)
    return text


def _written(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _leave_results(root: ElementTree.Element) -> None:
    """Leave out what tests that passed printed, and what stands in the first suite already."""
    for test in root.iter("testcase"):
        if [part.tag for part in test] == ["system-out"]:
            test.remove(test[0])
            test.text = None
    for suite in root[1:]:
        for part in suite.findall("properties"):
            suite.remove(part)


def _totals(name: str, made: Iterable[ElementTree.Element]) -> dict[str, str]:
    made = list(made)

    def number(kind: str) -> str:
        return str(sum(one.find(kind) is not None for one in made))

    return {"name": visible(name), "tests": str(len(made)), "failures": number("failure"), "errors": number("error"),
            "skipped": number("skipped"), "time": f"{sum(float(one.get('time', '0')) for one in made):.3f}"}


def _case(name: str, classname: str, seconds: float = 0.0) -> ElementTree.Element:
    return ElementTree.Element("testcase", {"name": visible(name), "classname": visible(classname),
                                            "time": f"{seconds:.3f}"})


def _say(case: ElementTree.Element, kind: str, message: str, text: str = "", *, sort: str = "") -> None:
    said = ElementTree.SubElement(case, kind, {"message": visible(message)[:500]})
    if sort:
        said.set("type", visible(sort))
    if text:
        said.text = visible(text)[:LONGEST]


def _row(row: Row, findings: list[Finding], report: Report) -> ElementTree.Element:
    family = row.target.partition(".")[0]
    case = _case(" ".join(filter(None, (row.target, row.subject))), f"tridiff.{row.backend}.{family}", row.seconds)
    if findings:
        message = findings[0].title if len(findings) == 1 else f"{len(findings)} findings: " + ", ".join(
            one.id for one in findings)
        _say(case, "failure", message, "\n\n".join(map(text_of, findings)), sort=findings[0].kind or "finding")
    elif row.skipped:
        _say(case, "skipped", row.skipped)
    numbers = ", ".join(f"{name} {value}" for name, value in zip(report.row_columns, row.cells, strict=True))
    ElementTree.SubElement(case, "system-out").text = visible(numbers)
    return case


def _other(one: Finding) -> ElementTree.Element:
    case = _case(one.id, f"tridiff.{one.backend or 'findings'}")
    _say(case, "failure", one.title, text_of(one), sort=one.kind or "finding")
    return case


def _beside(name: str, lines: Lines) -> ElementTree.Element:
    case = _case(name, "tridiff.gate")
    if lines:
        _say(case, "failure", lines[0], "\n".join(lines), sort=name)
    return case


def _work(report: Report) -> ElementTree.Element:
    case = _case("all work came to its end", "tridiff.work")
    if report.errors or report.status == 2:
        _say(case, "error", report.errors[0] if report.errors else report.verdict,
             "\n".join((*report.why, *report.errors)), sort="could not check")
    return case


def text_of(one: Finding) -> str:
    """A finding as plain text: what, why, the case, the evidence, how to run it again."""
    facts = [f"{label}: {text}" for label, text in one.about]
    parts = [f"{one.id}: {one.title}", one.reason, "\n".join(facts), "\n".join(one.case), "\n".join(one.evidence),
             f"run it again: {one.command}" if one.command else "", one.script.text]
    return "\n\n".join(part for part in parts if part)
