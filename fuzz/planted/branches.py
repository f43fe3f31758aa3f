"""Branches of Triton's Python layer, and which of them cases take."""

import ast
import collections
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.coverage.lines import LEFT
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.planted.choose import FILES
from tridiff.fuzz.planted.places import Function, places
from tridiff.fuzz.planted.reach import reason
from tridiff.fuzz.planted.trial import Drawn, trials
from tridiff.fuzz.registry import select

Made = TypeVar("Made")
Steps = set[tuple[int, int]]


@dataclass(frozen=True)
class Branch:
    """One way out of a condition. file: below the package; line: of the condition; way: "true" or "false"; function:
    its qualified name. tests: lines of the condition; body: lines that are run if it is true; test: its text."""

    file: str
    line: int
    way: str
    function: str
    tests: range
    body: range
    test: str = ""

    @property
    def key(self) -> str:
        """What says the same of it in other versions, too: no line."""
        return f"{self.file} {self.function}: {self.test}: {self.way}"

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.way}"

    def taken(self, steps: Steps) -> bool:
        """Whether a call went this way: from the condition into its body, or past it."""
        ahead = {after for before, after in steps if before in self.tests and after not in self.tests}
        inside = any(one in self.body for one in ahead)
        return inside if self.way == "true" else any(one == LEFT or one not in self.body for one in ahead)


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """Branches of one file, those that were taken, and the names of the others: out of reach, each with the reason
    (`fuzz.planted.reach`), or missing."""

    file: str
    branches: int
    taken: int
    missing: tuple[str, ...]
    unreachable: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What cases of targets took of the branches of a Triton's Python layer. by_target: branches that each target on
    each backend took."""

    triton: str
    cases: int
    files: tuple[Covered, ...]
    by_target: dict[str, int]


def branches(file: str, data: bytes) -> Iterator[Branch]:
    """The branches of a file: both ways of every `if` and `while` in a function whose body begins on a line of its
    own. What `fuzz.planted.places` leaves out (errors' texts, other makers' chips) has none."""
    for place in places(ast.parse(data)):
        node = place.node
        if not isinstance(node, ast.If | ast.While) or _is_kernel(place.owner):
            continue
        tests = range(node.test.lineno, (node.test.end_lineno or node.test.lineno) + 1)
        last = node.body[-1]
        body = range(node.body[0].lineno, (last.end_lineno or last.lineno) + 1)
        if body.start in tests:
            continue
        for way in ("true", "false"):
            yield Branch(file, node.lineno, way, place.function, tests, body, ast.unparse(node.test))


def _is_kernel(function: Function) -> bool:
    """Whether the compiler reads the function and nobody runs it."""
    return any("jit" in ast.unparse(one) for one in function.decorator_list)


def _wanted(package: Path) -> dict[str, tuple[Branch, ...]]:
    known = {path.relative_to(package).as_posix(): path for pattern in FILES for path in sorted(package.glob(pattern))}
    if not known:
        raise TridiffError(f"{package} holds no Python layer of Triton", fix="name the folder of triton/__init__.py")
    return {file: tuple(branches(file, path.read_bytes())) for file, path in known.items()}


def measure(package: Path, *, triton: str, targets: tuple[str, ...], backends: tuple[str, ...], cases: int, seed: int,
            at_once: int, watch: Callable[[int, int], None]) -> Report:
    """Draw `cases` for each target and backend in processes of their own, and count branches; what a gate plays of a
    target in any case (`Draw.once`) is played as well. package: the folder of `triton/__init__.py`. Raises
    TridiffError where no file of Triton's is there."""
    wanted = _wanted(package)
    every = jobs(targets, backends)

    def one(job: tuple[str, str]) -> tuple[str, int, dict[str, Steps]]:
        work = Drawn(target=job[0], number=cases, seed=seed, steps=True)
        total: dict[str, Steps] = {}
        number = 0
        for ran in trials(work, backend=job[1], build="", traced=package):
            number += 1
            for file, steps in ran.steps.items():
                total.setdefault(file, set()).update(steps)
        return f"{job[0]} on {job[1]}", number, total

    everything: dict[str, Steps] = {}
    by_target: dict[str, int] = {}
    ran = 0
    for name, number, steps in together(one, every, at_once, watch):
        ran += number
        by_target[name] = sum(len(_taken(wanted[file], found)) for file, found in steps.items() if file in wanted)
        for file, found in steps.items():
            everything.setdefault(file, set()).update(found)
    files = tuple(_covered(file, some, {one.name for one in some} - {
        one.name for one in _taken(some, everything.get(file, set()))}) for file, some in wanted.items())
    return Report(triton=triton, cases=ran, files=files, by_target=dict(sorted(by_target.items())))


def jobs(targets: tuple[str, ...], backends: tuple[str, ...]) -> list[tuple[str, str]]:
    """Targets with the backends on which our own kernels of them run."""
    return [(target.name, backend) for target in select(targets) for backend in backends
            if kind(backend) in target.backends and "own" in target.subjects]


def together(one: Callable[[tuple[str, str]], Made], every: Sequence[tuple[str, str]], at_once: int,
             watch: Callable[[int, int], None]) -> Iterator[Made]:
    """What each of the jobs makes, in their order, `at_once` of them at the same time. watch: told how many are done,
    and of how many."""
    with ThreadPoolExecutor(max_workers=at_once) as threads:
        for done, made in enumerate(threads.map(one, every), 1):
            yield made
            watch(done, len(every))


def merged(reports: Sequence[Report], package: Path) -> Report:
    """What several runs took together; reasons are those that are known now. package: as of `measure`, of the Triton
    that the runs were of. Raises TridiffError where that is another."""
    versions = {one.triton for one in reports}
    if len(versions) != 1:
        raise TridiffError(f"reports of {', '.join(sorted(versions)) or 'nothing'}", fix="merge reports of one Triton")
    files = []
    for file, wanted in _wanted(package).items():
        left = {one.name for one in wanted}
        for covered in (one for report in reports for one in report.files if one.file == file):
            left &= {*covered.missing, *covered.unreachable}
        files.append(_covered(file, wanted, left))
    by_target: dict[str, int] = {}
    for name, number in ((name, number) for report in reports for name, number in report.by_target.items()):
        by_target[name] = max(number, by_target.get(name, 0))
    return Report(triton=versions.pop(), cases=sum(one.cases for one in reports), files=tuple(files),
                  by_target=dict(sorted(by_target.items())))


def _taken(wanted: Iterable[Branch], steps: Steps) -> list[Branch]:
    return [one for one in wanted if one.taken(steps)]


def _covered(file: str, wanted: tuple[Branch, ...], left: set[str]) -> Covered:
    far = {one.name: why for one in wanted if one.name in left and (why := reason(one.key))}
    names = [one.name for one in wanted if one.name in left]
    return Covered(file=file, branches=len(wanted), taken=len(wanted) - len(names), unreachable=far,
                   missing=tuple(name for name in names if name not in far))


def markdown(report: Report) -> str:
    """Totals by file, then what is missing, and what is out of reach by reason."""
    number, taken, far = (sum(found) for found in zip(*(
        (one.branches, one.taken, len(one.unreachable)) for one in report.files), strict=True))
    lines = ["# Branches of Triton's Python layer", "",
             f"Triton {report.triton}: {report.cases:,} cases take {taken:,} of {number:,} branches "
             f"({taken / max(number, 1):.0%}). {far:,} are out of reach, with reasons: "
             f"{taken / max(number - far, 1):.0%} of the others, {number - far - taken:,} left.", "",
             "| file | branches | taken | out of reach | left | |", "|---|---|---|---|---|---|"]
    lines += [f"| {one.file} | {one.branches} | {one.taken} | {len(one.unreachable)} | {len(one.missing)} | "
              f"{one.taken / max(one.branches - len(one.unreachable), 1):.0%} |"
              for one in report.files if one.branches]
    lines += ["", "## Not taken", ""]
    for one in report.files:
        lines += [f"- {name}" for name in one.missing]
    far_of = collections.Counter(why for one in report.files for why in one.unreachable.values())
    lines += ["", "## Out of reach", "", "By reason; which they are stands in `fuzz/planted/unreachable.toml`.", ""]
    lines += [f"- {why}: {number}" for why, number in far_of.items()]
    return "\n".join(lines) + "\n"
