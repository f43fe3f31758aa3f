"""Alternatives of Triton's expressions that no case of any target notices: where faults would be missed for want of a
case that makes them matter."""

import collections
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.planted import weak
from tridiff.fuzz.planted.branches import jobs, together
from tridiff.fuzz.planted.choose import FILES
from tridiff.fuzz.planted.trial import Drawn, trials
from tridiff.fuzz.workers.leftovers import OwnFolder

MORE = ("_utils.py", "knobs.py", "compiler/*.py", "runtime/*.py", "backends/*.py", "tools/*.py",
        "experimental/gluon/language/nvidia/blackwell/__init__.py", "language/extra/cuda/*.py")
"""Globs of files beside those in which faults are planted by themselves."""

_PREFIX = "tridiff-weak-"


class OfFile(msgspec.Struct, frozen=True, kw_only=True):
    """Alternatives of one file: how many there are, how many came to something else in a case, the names of those that
    ran and never did, and those of which no case ran the expression."""

    file: str
    number: int
    noticed: int
    unnoticed: tuple[str, ...]
    not_run: tuple[str, ...]


class Unnoticed(msgspec.Struct, frozen=True, kw_only=True):
    """What cases make of the alternatives of a Triton's Python layer."""

    triton: str
    cases: int
    files: tuple[OfFile, ...]


def measure(package: Path, *, triton: str, targets: tuple[str, ...], backends: tuple[str, ...], cases: int, seed: int,
            at_once: int, watch: Callable[[int, int], None], files: Sequence[str] = (*FILES, *MORE)) -> Unnoticed:
    """Draw `cases` for each target and backend, and play what a gate plays of it in any case, as
    `fuzz.planted.branches.measure` does, with alternatives beside the expressions of the files that fit a glob. What
    processes that a case starts by itself make of them is not seen. Raises TridiffError where no file fits."""
    names = sorted({path.relative_to(package).as_posix() for glob in files for path in package.glob(glob)})
    if not names:
        raise TridiffError(f"{package} holds no Python layer of Triton", fix="name the folder of triton/__init__.py")
    folder = OwnFolder(_PREFIX)
    try:
        found = weak.prepare(package, names, folder.path)

        def one(job: tuple[str, str]) -> int:
            work = Drawn(target=job[0], number=cases, seed=seed)
            return sum(1 for _ in trials(work, backend=job[1], build="", weak=folder.path))

        ran = sum(together(one, jobs(targets, backends), at_once, watch))
        return Unnoticed(triton=triton, cases=ran, files=_by_file(*weak.seen(folder.path, found)))
    finally:
        folder.remove()


def _by_file(*several: Iterable[weak.Alternative]) -> tuple[OfFile, ...]:
    noticed, unnoticed, not_run = ([*some] for some in several)
    names: list[dict[str, list[str]]] = [collections.defaultdict(list) for _ in range(3)]
    for some, of_file in zip((noticed, unnoticed, not_run), names, strict=True):
        for one in some:
            of_file[one.file].append(one.name)
    return tuple(OfFile(file=file, number=sum(len(one[file]) for one in names), noticed=len(names[0][file]),
                        unnoticed=tuple(names[1][file]), not_run=tuple(names[2][file]))
                 for file in sorted({one.file for one in (*noticed, *unnoticed, *not_run)}))


def markdown(found: Unnoticed) -> str:
    """Totals by file, then what ran and was not noticed. Many of these are as good as what stands there."""
    number, noticed, ran = (sum(some) for some in zip(*(
        (one.number, one.noticed, one.number - len(one.not_run)) for one in found.files), strict=True))
    lines = ["# Wrong expressions that no case notices", "",
             f"Triton {found.triton}: {found.cases:,} cases run expressions with {ran:,} of {number:,} small wrong "
             f"alternatives; {noticed:,} of these come to something else in a case ({noticed / max(ran, 1):.0%}).", "",
             "| file | alternatives | noticed | run, and never anything else | not run |", "|---|---|---|---|---|"]
    lines += [f"| {one.file} | {one.number} | {one.noticed} | {len(one.unnoticed)} | {len(one.not_run)} |"
              for one in found.files]
    lines += ["", "## Never anything else", "", "Some mean the same, whatever is run; others lack a case.", ""]
    lines += [f"- {name}" for one in found.files for name in one.unnoticed]
    return "\n".join(lines) + "\n"
