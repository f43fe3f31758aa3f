"""A report as one self-contained page: no network, no file beside it, less than a megabyte."""

import base64
import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2
from markupsafe import Markup

from tridiff.fuzz.report.model import Finding, Heat, HeatMap, Report, Table
from tridiff.fuzz.report.plots import plot
from tridiff.fuzz.report.text import visible

LARGEST = 950_000
"""Bytes of a page."""

DETAILED = 450_000
"""Characters of cases, evidence and scripts on a page; findings beyond are listed by title."""

MOST_FINDINGS, MOST_ROWS, LONGEST = 600, 400, 1200
"""Findings on a page, rows of one table, characters of one text. Where the page is too large all the same, as marks and
foreign letters take several bytes each, all of these are cut by HALF again and again."""

HALF = 0.5
READABLE = 150
"""Characters of a text that are left, however small the page is to be."""

SHADES = 5


def html(report: Report, *, refresh: int = 0, largest: int = LARGEST) -> str:
    """The page, of so many bytes at most. refresh: seconds after which the page of a running campaign asks its server
    again, 0 for never."""
    share = 1.0
    while True:
        page = _rendered(*trimmed(report, share=share), refresh=refresh)
        if len(page.encode(errors="replace")) <= largest or share < HALF ** 10:
            return page
        share *= HALF


def _rendered(report: Report, cut: str, *, refresh: int) -> str:
    style, program = part("page.css"), part("page.js")
    allowed = {"default-src": "'none'", "style-src": digest(style), "script-src": digest(program),
               "base-uri": "'none'", "form-action": "'none'", **({"connect-src": "'self'"} if refresh else {})}
    plots = [plot(one) for one in report.trends]
    return template("page.html.jinja").render(
        report=replace(report, running=bool(refresh) and report.running), cut=cut, refresh=refresh, plots=plots,
        style=Markup(style), program=Markup(program), sections=_sections(report), took=_took(report.seconds),
        policy="; ".join(f"{name} {value}" for name, value in allowed.items()),
        backends=sorted({*(one.backend for one in report.rows), *(one.backend for one in report.findings)} - {""}),
        heat=_shaded(report.heat) if report.heat is not None else (),
        numbers=[(name, *(one.values[place] for one in plots)) for place, name in enumerate(plots[0].names)]
        if plots else [],
        places={one: _place(one) for one in report.findings})


def _place(one: Finding) -> str:
    """What a finding is called on every page that shows it: a link to it leads there again."""
    return f"f-{hashlib.blake2b(f'{one.group} {one.id}'.encode(errors='replace'), digest_size=5).hexdigest()}"


@dataclass(frozen=True)
class _Room:
    """What a page holds: the figures above, or a share of them."""

    share: float

    def of(self, most: int) -> int:
        return max(int(most * self.share), 1)

    def titles(self, most: int) -> int:
        """Of what is listed by its name, more is kept than of details."""
        return max(int(most * self.share ** 0.5), 1)

    def text(self, text: str, most: int = LONGEST) -> str:
        limit = max(self.of(most), min(most, READABLE))
        return text if len(text) <= limit else f"{text[:limit]} ..."

    def texts(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self.text, texts[:self.of(MOST_ROWS)]))

    def lines(self, lines: tuple[str, ...], most: int = 120) -> tuple[str, ...]:
        found = [self.text(line, 400) for line in lines[:self.of(most)]]
        more = len(lines) - len(found)
        return (*found, *((f"and {more:,} lines more",) if more > 0 else ()))

    def finding(self, one: Finding) -> Finding:
        return replace(one, id=self.text(one.id), title=self.text(one.title), reason=self.text(one.reason),
                       kind=self.text(one.kind), case=self.lines(one.case), evidence=self.lines(one.evidence),
                       about=tuple((label, self.text(text, 2 * LONGEST)) for label, text in one.about))

    def table(self, table: Table) -> Table:
        rows = tuple(tuple(map(self.text, row)) for row in table.rows[:self.of(MOST_ROWS)])
        more = len(table.rows) - len(rows)
        return replace(table, rows=rows,
                       note=f"{table.note} The record has {more:,} more.".strip() if more else table.note)


def trimmed(report: Report, *, share: float = 1.0) -> tuple[Report, str]:
    """The report with as much as a page holds, and what is left out in a sentence, "" for nothing. What decides the
    verdict stands in full first. share: of the usual limits."""
    room = _Room(share)
    order = {"error": 0, "warning": 1, "note": 2}
    ranked = sorted(report.findings, key=lambda one: order[one.level])[:room.titles(MOST_FINDINGS)]
    left, bare, kept = room.of(DETAILED), 0, []
    for one in map(room.finding, ranked):
        left -= sum(map(len, (*one.case, *one.evidence, one.script.text, *(text for _, text in one.about))))
        if left < 0:
            bare += 1
            one = replace(one, case=(), evidence=(), about=one.about[:2], script=replace(one.script, text="", note=(
                "left out here, as the case is: the page would be too large")))
        kept.append(one)
    rows = tuple(replace(one, problem=room.text(one.problem), skipped=room.text(one.skipped))
                 for one in report.rows[:room.titles(MOST_ROWS)])
    said = [f"{number:,} {what}" for number, what in (
        (bare, "findings without their cases and scripts"), (len(report.findings) - len(kept), "findings not at all"),
        (len(report.rows) - len(rows), "targets not at all")) if number]
    groups = {group: place for place, group in enumerate(report.groups)}
    kept.sort(key=lambda one: groups.get(one.group, len(groups)))
    return replace(
        report, findings=tuple(kept), rows=rows, tables=tuple(map(room.table, report.tables)),
        headline=room.text(report.headline), why=room.texts(report.why), errors=room.texts(report.errors),
        facts=tuple((label, room.text(text)) for label, text in report.facts), heat=_heat(report.heat, room),
        not_checked=tuple((room.text(what), room.text(reason))
                          for what, reason in report.not_checked[:room.of(MOST_ROWS)]),
    ), f"On this page, to keep it small: {'; '.join(said)}. The record has them all." if said else ""


def _heat(heat: HeatMap | None, room: _Room) -> HeatMap | None:
    if heat is None:
        return None
    return replace(heat, rows=heat.rows[:room.of(MOST_ROWS)], gained=room.texts(heat.gained),
                   lost=room.texts(heat.lost))


def _sections(report: Report) -> list[tuple[str, str]]:
    found = [("findings", "Findings"), *([("coverage", report.heat.title)] if report.heat is not None else []),
             ("throughput", "Throughput"), *([("trends", "Trends")] if report.trends else []), ("targets", "Targets")]
    found += [(f"table-{place}", one.title) for place, one in enumerate(report.tables, start=1)]
    return [*found, ("not-checked", "Not checked")]


def _shaded(heat: HeatMap) -> list[tuple[str, list[tuple[int, Heat]]]]:
    """The rows with the shade of each field: by the logarithm of its number, within its column."""
    most = [max((fields[place].number for _, fields in heat.rows), default=0) for place in range(len(heat.columns))]

    def shade(number: int, largest: int) -> int:
        return 0 if number <= 0 else 1 + round((SHADES - 1) * math.log1p(number) / math.log1p(largest))

    return [(name, [(shade(one.number, largest), one) for one, largest in zip(fields, most, strict=True)])
            for name, fields in heat.rows]


def _took(seconds: float) -> str:
    whole = round(seconds)
    if whole < 120:
        return f"{seconds:,.0f} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 7200 else f"{whole // 3600} h {whole // 60 % 60} min"


def part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """What a page's policy says of the one script or style that it lets pass: nothing that slipped in is run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _visible(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def template(name: str) -> jinja2.Template:
    """What a page is made of, in which no text of a stranger does anything."""
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_visible,
                                     undefined=jinja2.StrictUndefined)
    return environment.from_string(part(name))
