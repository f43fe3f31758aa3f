"""What a release of Triton that tridiff does not know yet asks for: the list behind `tridiff doctor --new-triton`."""

import importlib.metadata
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tridiff.fuzz.coverage.declared import DECLARED, flavour
from tridiff.fuzz.coverage.show import ledgers
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Environment
from tridiff.fuzz.versions import RELEASES, SINCE, release

ROOT = Path(__file__).resolve().parents[2]

DIALECTS = ("fuzz/versions.py", "kernels/codegen/dialect.py", "kernels/gluon/dialect.py")
"""Where versions are told apart."""

TABLES = ("oracles/measured.py", "fuzz/corpus/bugs.py")
"""Data that lists versions one by one."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing to look at. done: nothing is left to do about it for this release."""

    what: str
    where: str
    done: bool
    detail: str


def checklist(triton: str, *, entries: list[CorpusEntry], records: Path,
              environments: tuple[Environment, ...]) -> list[Item]:
    """All items for the Triton version `triton`. records: folder of campaign records. environments: of workers that ran
    here; what their interpreter repairs did not find counts."""
    number = release(triton)
    known = number in RELEASES
    missing = [one for environment in environments for one in environment.repairs_missing]
    interpreted = any(environment.backend == "interpreter" for environment in environments)
    without, partly = _without_rows(entries, triton)
    seen = _records_of(records, triton)
    column = flavour(triton)
    return [
        Item(what="release", where="fuzz/versions.py: RELEASES", done=known,
             detail=f"{triton} is {'one of' if known else 'none of'} {_numbers(RELEASES)}"),
        Item(what="pins", where="pyproject.toml: dependencies", done=_pinned(number), detail=_pins()),
        Item(what="patched names", where="fuzz/interpreter/", done=interpreted and not missing,
             detail="; ".join(missing) or ("every repair finds what it replaces" if interpreted else
                                          "no worker of the interpreter started: look at its error")),
        Item(what="version tests", where=", ".join(DIALECTS), done=known,
             detail=f"{len(SINCE)} features are told by number ({'; '.join(SINCE)}), all others by trying"),
        Item(what="versions in tables", where=", ".join(TABLES), done=all(_names(one, number) for one in TABLES),
             detail=" ".join(f"{one}: {'names it' if _names(one, number) else 'does not name it'}." for one in TABLES)),
        Item(what="operations of the IR", where="fuzz/coverage/declared.py: column " + column, done=known and seen > 0,
             detail=f"{sum(getattr(one, column) == 'run' for one in DECLARED)} of {len(DECLARED)} are expected to run; "
                    f"{seen or 'no'} ledgers of this release under {records}"),
        Item(what="corpus", where="corpus/: tridiff replay --everywhere --record", done=not without and not partly,
             detail=f"{without} of {len(entries)} entries have no row for it, {partly} only on some of the backends "
                    "that older releases have rows for"),
    ]


def _numbers(releases: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join(".".join(map(str, one)) for one in releases)


def _pins() -> str:
    """The range that tridiff may be installed with."""
    try:
        wanted = importlib.metadata.requires("tridiff") or []
    except importlib.metadata.PackageNotFoundError:
        project = ROOT / "pyproject.toml"
        wanted = re.findall(r'"((?:triton|torch)[<>=][^"]*)"', project.read_text()) if project.is_file() else []
    return ", ".join(one for one in wanted if re.match(r"(triton|torch)\b", one)) or "unknown"


def _pinned(number: tuple[int, ...]) -> bool:
    found = re.search(r"triton\s*(?=[<>=])([^,;]*,[^,;]*)", _pins())
    bounds = dict(re.findall(r"(>=|<)\s*(\d+\.\d+)", found[1])) if found else {}
    return ">=" in bounds and release(bounds[">="] + ".0") <= number and (
        "<" not in bounds or number < release(bounds["<"] + ".0"))


def _names(file: str, number: tuple[int, ...]) -> bool:
    path = ROOT / file
    return path.is_file() and re.search(rf'"{".".join(map(str, number))}\.\d+"', path.read_text()) is not None


def _without_rows(entries: list[CorpusEntry], triton: str) -> tuple[int, int]:
    """How many entries expect nothing of this version, and how many on fewer backends than of the version before."""
    tally: Counter[str] = Counter()
    for entry in entries:
        backends: dict[str, set[str]] = {}
        for one in entry.expected:
            backends.setdefault(one.triton, set()).add(one.backend)
        here = backends.get(triton, set())
        tally["without" if not here else "partly" if set().union(*backends.values()) - here else "whole"] += 1
    return tally["without"], tally["partly"]


def _records_of(records: Path, triton: str) -> int:
    try:
        return sum(release(one.triton) == release(triton) for one in ledgers(records))
    except TridiffError:
        return 0
