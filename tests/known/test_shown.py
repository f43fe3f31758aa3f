"""A known issue has an entry that fails wherever campaigns met it: it comes back as new where none of its entries
fails when it is replayed."""

from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.repository import ENTRIES
from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import Summary
from tridiff.fuzz.known import all_issues, issue_of_entry
from tridiff.fuzz.records import CorpusEntry
from tridiff.fuzz.records.codec import decode_file

RECORDS = Path(__file__).parents[2] / "reports"


def _met(records: Path) -> dict[tuple[str, str], int]:
    """How many failures campaigns took for an issue, by its name and the kind of backend, where a campaign had one."""
    found: dict[tuple[str, str], int] = defaultdict(int)
    for path in records.glob("*/summary.json"):
        summary = decode_file(path.read_bytes(), Summary, source=str(path))
        kinds = {kind(one) for one in summary.options.backends}
        if len(kinds) == 1:
            for issues in summary.issues.values():
                for name, counts in issues.items():
                    found[name, *kinds] += counts.explained
    return found


def _told() -> dict[tuple[str, str], bool]:
    """Whether an entry of an issue fails, by the issue and the kind of backend that expectations name."""
    found: dict[tuple[str, str], bool] = defaultdict(bool)
    for entry in ENTRIES.entries():
        name = issue_of_entry(entry.case.target, entry.id) if isinstance(entry, CorpusEntry) else ""
        if name and isinstance(entry, CorpusEntry):
            for row in entry.expected:
                found[name, kind(row.backend)] |= row.verdict.failed
    return found


def test_an_issue_has_an_entry_that_fails_where_campaigns_met_it():
    if not RECORDS.is_dir():
        pytest.skip("no records beside these tests")
    names, told = {one.name for one in all_issues()}, _told()
    seen = (Path(__file__).parent / "met_on_cuda.txt").read_text().split()  # by nights of 3.6.0 and 3.9.0 on an H200
    met = {place for place, count in _met(RECORDS).items() if count and place[0] in names} | {
        (name, "cuda") for name in seen if name in names}
    assert len(met) > 50, "the records say something"
    assert not {place for place in met if not told.get(place, True)}, "every entry agrees there"
    assert not {place for place in met if place not in told}, "tridiff replay --everywhere --record fills the gap"
