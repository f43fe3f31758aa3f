"""The ledger of committed records against the declared operations: what has been seen, and what never."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.backends import kind
from fuzz.campaign.record import Ledger
from fuzz.errors import TridiffError
from fuzz.ledger.declared import DECLARED, Declared, Reach, flavour
from fuzz.ledger.parse import PREFIX
from fuzz.records.codec import decode_file

WANTED_CELLS = 20
"""Distinct cells that an operation with parameters should have."""


@dataclass
class Seen:
    """What one version's records say about one operation."""

    reach: Reach
    run: set[str] = field(default_factory=set)
    """Cells of kernels that ran on a device and were judged."""
    compiled: set[str] = field(default_factory=set)
    cases: int = 0

    @property
    def cells(self) -> int:
        return len(self.run | self.compiled)

    @property
    def status(self) -> str:
        """In a word: run, compiled, passes only, absent, or never seen."""
        if self.run:
            return "run"
        if self.compiled:
            return "compiled"
        return {"absent": "absent", "passes": "between passes"}.get(self.reach, "never seen")


def ledgers(folder: Path) -> list[Ledger]:
    """All ledgers below a folder of records. Raises TridiffError where there is none."""
    found = [decode_file(path.read_bytes(), Ledger, source=str(path)) for path in sorted(folder.rglob("ledger.json"))]
    if not found:
        raise TridiffError(f"no ledger.json below {folder}", fix="run `tridiff fuzz`, or give --records")
    return found


def seen(records: Iterable[Ledger]) -> dict[str, dict[str, Seen]]:
    """Operation -> Triton version -> what was seen, for every declared operation and every version in the records."""
    records = list(records)
    versions = sorted({record.triton for record in records})
    table = {one.name: {version: Seen(_reach(one, version)) for version in versions} for one in DECLARED}
    for record in records:
        for backend, targets in record.reached.items():
            for cells in targets.values():
                for cell, cases in cells.items():
                    if not cell.startswith(PREFIX):
                        continue
                    name = cell.removeprefix(PREFIX).partition(" ")[0]
                    if name in table:
                        entry = table[name][record.triton]
                        (entry.run if kind(backend) == "cuda" else entry.compiled).add(cell)
                        entry.cases += cases
    return table


def different(records: Iterable[Ledger]) -> dict[str, dict[str, int]]:
    """Triton version -> what is counted -> how many different ones were judged on a device. Digests are not kept, so
    that campaigns cannot be united: the number is that of the campaign and target with the most."""
    most: dict[str, dict[str, int]] = {}
    for record in records:
        for backend, targets in record.different.items():
            if kind(backend) != "cuda":
                continue
            for counts in targets.values():
                for what, number in counts.items():
                    version = most.setdefault(record.triton, {})
                    version[what] = max(version.get(what, 0), number)
    return most


def _reach(one: Declared, version: str) -> Reach:
    return one.old if flavour(version) == "old" else one.new


def thin(one: Declared, entry: Seen) -> bool:
    """Whether an operation with parameters was seen in too few forms."""
    return one.parameters and entry.reach == "run" and entry.cells < WANTED_CELLS
