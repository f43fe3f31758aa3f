"""`tridiff targets --language --record DIR`: how many cases reached each row of the language with each element type."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tridiff.fuzz.campaign.lacking import barren, hopeless
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.campaign.records import CAMPAIGN
from tridiff.fuzz.coverage.record import WANTED_CASES, Ledger
from tridiff.fuzz.coverage.show import ledgers
from tridiff.fuzz.language.aims import aims_of, parts, type_in
from tridiff.fuzz.language.index import TOPICS, rows
from tridiff.fuzz.language.left_out import NO_STAND_INS, left_out
from tridiff.fuzz.language.row import NOT_INTERPRETED
from tridiff.fuzz.records.codec import decode_file
from tridiff.fuzz.records.reading import read_bytes

SELDOM, NOT_HERE = "drawn too seldom", "not in this version of Triton"

MOST_LISTED = 40
"""Rows that are listed by name; of more it is said how many cells each topic has."""

MOST_BYTES = 8 << 20
"""Largest summary that is read."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of the language with an element type, under one Triton on one backend. cases: judged ones that reached it.
    missed: why others were not judged, with their number. why: what kept it below WANTED_CASES, "" for enough. dropped:
    why draws are no more aimed at it (`fuzz.campaign.lacking`), as far as these records say, "" if they are."""

    triton: str
    backend: str
    topic: str
    row: str
    dtype: str
    cases: int
    missed: dict[str, int]
    why: str
    dropped: str = ""

    @property
    def enough(self) -> bool:
        return self.cases >= WANTED_CASES


def cells(records: Iterable[Ledger]) -> Iterator[Cell]:
    """Every cell of every backend and Triton version that has cases of the language in the records, taken together."""
    reached: dict[tuple[str, str], Counter[str]] = {}
    missed: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    names = {f"language.{topic}" for topic in TOPICS}
    for one in records:
        for backend, targets in one.reached.items():
            for target in names & targets.keys():
                reached.setdefault((one.triton, backend), Counter()).update(targets[target])
        for backend, targets_missed in one.missed.items():
            for target in names & targets_missed.keys():
                for cell, reasons in targets_missed[target].items():
                    missed.setdefault((one.triton, backend), {}).setdefault(cell, Counter()).update(reasons)
    for (triton, backend), cases in sorted(reached.items()):
        for topic in TOPICS:
            for name, of_row in aims_of(topic, "").items():
                every = {cell: missed.get((triton, backend), {}).get(cell, Counter[str]()) for cell in of_row}
                of_all = _of_row(of_row, cases, every)
                whole = f"no case of its row was judged: {of_all.most_common(1)[0][0]}" if of_all else ""
                for cell in of_row:
                    reasons = every[cell]
                    yield Cell(triton=triton, backend=backend, topic=topic, row=name,
                               dtype=type_in(parts(cell)[1]), cases=cases[cell], missed=dict(reasons),
                               why=_why(name, triton, backend, cases[cell], reasons or of_all),
                               dropped=whole or _dropped(cases[cell], reasons))


def _of_row(cells: Collection[str], cases: Counter[str], missed: dict[str, Counter[str]]) -> Counter[str]:
    """Why no case of a row could be judged, where none could."""
    in_vain = {cell: reasons.total() for cell, reasons in missed.items()}
    return sum(missed.values(), Counter[str]()) if barren(cells, cases, in_vain) else Counter()


def _dropped(cases: int, missed: Counter[str]) -> str:
    if not hopeless(cases, missed.total()):
        return ""
    return f"{missed.total()} of its cases were not judged beside {cases}: {missed.most_common(1)[0][0]}"


def _why(name: str, triton: str, backend: str, cases: int, missed: Counter[str]) -> str:
    row = rows()[name]
    if cases >= WANTED_CASES:
        return ""
    if not row.offered(triton):
        return NOT_HERE
    if why := left_out(name, triton, backend):
        return why
    if missed.total() > cases:
        reason = missed.most_common(1)[0][0]
        # What names the row says the same of every row.
        return NO_STAND_INS if reason.startswith("NoStandIn") else reason.replace(name, "it")
    return SELDOM


def show(record: Path, *, as_json: bool) -> None:
    """Print the cells of the records in a folder: as JSON one by one, else as a Markdown page."""
    found = list(cells(ledgers(record)))
    if as_json:
        print(json.dumps([asdict(one) for one in found]))
        return
    print("\n".join(page(found, [_summary(path) for path in sorted(record.rglob(CAMPAIGN))])))


def _summary(path: Path) -> Summary:
    return decode_file(read_bytes(path, most=MOST_BYTES), Summary, source=str(path))


def page(found: list[Cell], campaigns: Iterable[Summary]) -> Iterator[str]:
    """The page, line by line."""
    yield "# Rows of the language by element type"
    yield ""
    yield f"A cell is a row with an element type; it is to be reached by {WANTED_CASES} judged cases."
    yield ""
    yield "| campaign | backends | workers | seconds | cases of the language | judged | draws accepted |"
    yield "|---|---|---|---|---|---|---|"
    for one in campaigns:
        yield _campaign(one)
    for triton, backend in dict.fromkeys((one.triton, one.backend) for one in found):
        yield from _column(f"Triton {triton}, {backend}",
                           [one for one in found if (one.triton, one.backend) == (triton, backend)])


def _campaign(one: Summary) -> str:
    total = Counts()
    for counts in one.by_target:
        if counts.target.startswith("language."):
            total = total.plus(counts.counts)
    drawn = total.executed + total.given_up
    told = (one.id, " ".join(one.options.backends), str(one.options.workers), f"{one.seconds:.0f}",
            f"{total.executed:,}", f"{total.agree + total.disagree:,}",
            f"{total.executed / max(drawn, 1):.2%} of {drawn:,}")
    return f"| {' | '.join(told)} |"


def _column(title: str, found: list[Cell]) -> Iterator[str]:
    """One version on one backend: totals by topic, and by reason what lacks cases."""
    can = [one for one in found if one.enough or one.why == SELDOM]
    enough, least = sum(one.enough for one in found), min((one.cases for one in can), default=0)
    yield ""
    yield f"## {title}"
    yield ""
    yield (f"{enough} of {len(found)} cells were reached by {WANTED_CASES} cases; of the {len(can)} that can be "
           f"reached {enough} ({enough / max(len(can), 1):.1%}), the least by {least}.")
    yield ""
    yield f"| topic | cells | with {WANTED_CASES} | {SELDOM} | not to be reached | cases of the median cell |"
    yield "|---|---|---|---|---|---|"
    for topic in dict.fromkeys(one.topic for one in found):
        of = [one for one in found if one.topic == topic]
        ranked, reached = sorted(one.cases for one in of), sum(one.enough for one in of)
        seldom = sum(one.why == SELDOM for one in of)
        yield f"| {topic} | {len(of)} | {reached} | {seldom} | {len(of) - reached - seldom} | {ranked[len(of) // 2]} |"
    reasons = Counter(one.why for one in found if one.why)
    for reason, number in reasons.most_common():
        yield ""
        yield f"{number} cells: {reason}"
        if reason not in (NOT_INTERPRETED, NOT_HERE):
            yield ""
            yield _listed([one for one in found if one.why == reason])
    dropped = [one for one in found if one.dropped and not one.enough]
    if dropped:
        yield ""
        yield f"{len(dropped)} cells that draws are no more aimed at:"
        yield ""
        for one in dropped[:MOST_LISTED]:
            yield f"- `{one.row}` {one.dtype}: {one.dropped}"
        if len(dropped) > MOST_LISTED:
            yield f"- and {len(dropped) - MOST_LISTED} more: `--json` lists them"


def _listed(found: list[Cell]) -> str:
    """Rows with their element types, and with how many cases where there were some; topics of many rows."""
    by_row: dict[str, list[str]] = {}
    for one in found:
        by_row.setdefault(one.row, []).append(f"{one.dtype} {one.cases}" if one.cases else one.dtype)
    if len(by_row) > MOST_LISTED:
        return ", ".join(f"{topic} {number}" for topic, number in Counter(one.topic for one in found).most_common())
    return "; ".join(f"`{row}` ({', '.join(types)})" for row, types in by_row.items())
