"""The ledger of committed records against the declared operations: what has been seen, and what never."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.coverage.declared import DECLARED, Declared, Reach, flavour
from tridiff.fuzz.coverage.record import DIGEST_CHARACTERS, Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.ir import PREFIX
from tridiff.fuzz.records import pretty_json
from tridiff.fuzz.records.codec import decode_file, printable
from tridiff.fuzz.records.reading import read_bytes, unpack_xz

_LEDGER, _DIGESTS = "ledger.json", "digests.json"

MOST_PACKED, MOST_BYTES = 4 << 20, 32 << 20
"""Largest file that is read, packed and as it is; the ledger of five minutes takes 50 KB, digests as much."""

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
        """In a word: run, compiled, passes only, absent, needs sm_100, or never seen."""
        if self.run:
            return "run"
        if self.compiled:
            return "compiled"
        return {"absent": "absent", "passes": "between passes", "sm_100": "needs sm_100"}.get(self.reach, "never seen")


def write_ledger(folder: Path, ledger: Ledger) -> None:
    """Keep a ledger with its campaign's record. Its digests, which tell a reader nothing, lie in a file of their own:
    without it the record still says how many there were. Equal ledgers give equal files."""
    only = Ledger(triton=ledger.triton, reached={}, digests=ledger.digests)
    for name, one in ((_LEDGER, replace(ledger, digests={})), (_DIGESTS, only)):
        if one.reached or one.digests:
            (folder / name).write_text(pretty_json(one))


def ledgers(folder: Path) -> list[Ledger]:
    """All ledgers below a folder of records, also packed ones as older releases wrote them. Raises TridiffError where
    there is none, and for a file that is none."""
    found = [_with_digests(_read(path), path.parent) for path in sorted(folder.rglob("ledger.json*"))
             if path.suffix in (".json", ".xz")]
    if not found:
        raise TridiffError(f"no ledger.json below {folder}", fix="run `tridiff fuzz`, or give --records")
    return found


def _read(path: Path) -> Ledger:
    source = printable(str(path))
    data = read_bytes(path, most=MOST_PACKED if path.suffix == ".xz" else MOST_BYTES)
    if path.suffix == ".xz":
        data = unpack_xz(data, most=MOST_BYTES, source=source)
    return decode_file(data, Ledger, source=source)


def _with_digests(ledger: Ledger, folder: Path) -> Ledger:
    for path in (folder / _DIGESTS, folder / f"{_DIGESTS}.xz"):
        if path.exists():
            return replace(ledger, digests=_read(path).digests)
    return ledger


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
    """Triton version -> what is counted -> how many different ones all records together judged on a device. A record
    without digests cannot be united with others: then at least as many as its target with the most."""
    most: dict[str, dict[str, int]] = {}
    listed: dict[tuple[str, str], set[str]] = {}
    for record in records:
        for backend, targets in record.different.items():
            if kind(backend) != "cuda":
                continue
            for target, counts in targets.items():
                for what, number in counts.items():
                    version = most.setdefault(record.triton, {})
                    version[what] = max(version.get(what, 0), number)
                    text = record.digests.get(backend, {}).get(target, {}).get(what, "")
                    listed.setdefault((record.triton, what), set()).update(
                        text[k:k + DIGEST_CHARACTERS] for k in range(0, len(text), DIGEST_CHARACTERS))
    for (version_name, what), digests in listed.items():
        most[version_name][what] = max(most[version_name][what], len(digests))
    return most


def _reach(one: Declared, version: str) -> Reach:
    return one.old if flavour(version) == "old" else one.new


def thin(one: Declared, entry: Seen) -> bool:
    """Whether an operation with parameters was seen in too few forms."""
    return one.parameters and entry.reach == "run" and entry.cells < WANTED_CELLS
