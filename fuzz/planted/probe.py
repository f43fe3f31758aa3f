"""One edit through the cases that run the changed lines, of a set that was drawn once.

A gate asks whether its time was enough; this asks whether anything that the targets draw shows the fault at all, in
seconds: with a miss it is known whether no case ran the changed line, or all that did gave the same.
"""

import ast
import functools
import hashlib
import itertools
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.builds import Build
from tridiff.fuzz.coverage.lines import imported
from tridiff.fuzz.gate import api
from tridiff.fuzz.pair.relate import EXACT, relate
from tridiff.fuzz.planted import hidden
from tridiff.fuzz.planted.branches import jobs, together
from tridiff.fuzz.planted.copy import plant
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.loud import loud
from tridiff.fuzz.planted.measure import tried
from tridiff.fuzz.planted.record import Settings, Tried
from tridiff.fuzz.planted.trial import MODULES, Drawn, Ran, trials
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.pair import Relation

MOST = 16
"""Drawn cases of one backend that an edit is tried with, of as many targets as there are."""

MOST_ONCE = 320
"""Of those that a gate plays whatever it draws (`Draw.once`), which are cheap, behind the others."""


def draw(settings: Settings, package: Path, path: Path, *, cases: int, at_once: int,
         watch: Callable[[int, int], None]) -> list[Ran]:
    """The cases with what the original makes of them and the lines they run, from the file `path` if this code wrote
    it; else `cases` are drawn for each target and backend, and kept there. Those that die on the original are left
    out."""
    # Another version of this code draws other cases, or describes the same ones in other words.
    header = msgspec.json.encode({"code": _own_code(), "triton": settings.triton, "targets": settings.targets,
                                  "backends": settings.backends, "seed": settings.seed, "cases": cases})
    if path.exists():
        first, *rest = path.read_bytes().splitlines() or [b""]
        if first == header:
            return [msgspec.json.decode(line, type=Ran) for line in rest]

    def one(job: tuple[str, str]) -> list[Ran]:
        work = Drawn(target=job[0], number=cases, seed=settings.seed)
        return [ran for ran in trials(work, backend=job[1], build="", traced=package) if ran.outcome is not None]

    found = [ran for some in together(one, jobs(settings.targets, settings.backends), at_once, watch) for ran in some]
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(b"".join(line + b"\n" for line in (header, *map(msgspec.json.encode, found))))
    unfinished.rename(path)
    return found


def _own_code() -> str:
    """A digest of tridiff's own Python files."""
    digest = hashlib.blake2b(digest_size=8)
    root = Path(__file__).resolve().parents[2]
    for folder in ("fuzz", "kernels", "oracles"):
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Probe:
    """Measures edits with cases that were drawn before (`fuzz.planted.run` takes it as `measured`)."""

    def __init__(self, drawn: Sequence[Ran], package: Path) -> None:
        self._drawn = drawn
        self._names = api.names(Build(name="installed"))
        self._functions: dict[str, list[range]] = {}
        self._package = package
        self._imported = functools.cache(lambda: imported(package, MODULES))

    def __call__(self, edit: Edit, settings: Settings, package: Path, folder: Path, *,
                 stop: threading.Event) -> Tried:
        began = time.monotonic()
        try:
            folder.mkdir(parents=True)
            build = plant(edit, package, folder / "build")
            why = loud(build, folder / "cache")
            if why:
                return tried(edit, "loud", how=why, seconds=time.monotonic() - began)
            return hidden.told(edit, self._probed(edit, build, began, stop), package)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _probed(self, edit: Edit, build: Path, began: float, stop: threading.Event) -> Tried:
        reaching, exact = self.reaching(edit)
        pairs = 0
        numeric = ""
        if edit.operator == "other_default" or self._at_import(edit):
            changes = api.changes(self._names, api.names(Build(name=edit.name, folders=(str(build),))))
            if changes:
                return tried(edit, "caught", how=f"API: {changes[0].name} changed", seconds=time.monotonic() - began)
        for backend, before in _by_backend(reaching):
            for was, now in zip(before, trials([ran.case for ran in before], backend=backend, build=str(build)),
                                strict=False):
                if stop.is_set():
                    return tried(edit, "not tried", how="interrupted")
                pairs += 1
                relation, reason, changed = compare(was, now)
                if relation.different:
                    return tried(edit, "caught", how=f"{relation.value}: {was.case.target} on {backend}: {reason}",
                                 pairs=pairs, seconds=time.monotonic() - began)
                if relation is Relation.NUMERIC:
                    numeric = f"other bits within the tolerance: {was.case.target} on {backend}"
                if changed:
                    # Of two builds of one release that blocks (`policy.toml`, [code]).
                    where = f"{was.case.target} on {backend}"
                    return tried(edit, "caught", how=f"other code of one release: {where}: {_about(was.case)}",
                                 pairs=pairs, code_changed=(where,), seconds=time.monotonic() - began)
        seconds = time.monotonic() - began
        if numeric:
            return tried(edit, "changed code", how=numeric, pairs=pairs, seconds=seconds)
        if not reaching:
            return tried(edit, "not reached", how="no case calls the function", seconds=seconds)
        if not exact:
            return tried(edit, "not reached", how=f"{pairs} cases call the function, none runs the line", pairs=pairs,
                         seconds=seconds)
        return tried(edit, "missed", how=f"{pairs} cases run the line", pairs=pairs, seconds=seconds)

    def reaching(self, edit: Edit) -> tuple[list[Ran], bool]:
        """Cases that run a changed line, targets in turn and at most MOST and MOST_ONCE for each backend, and True;
        where there are none, cases that call the function, and whether that says as much (the defaults of a function
        are not run). A line that runs when Triton is imported, and in no case, is asked of cases of all targets."""
        found = self._running(edit.file, self._lines_of(edit))
        if not found and self._at_import(edit):
            # Whatever is made then may show in any case.
            return _in_turn([ran for ran in self._drawn if not ran.once]), True
        if found:
            return _in_turn(found), True
        within = [one for one in self._spans(edit.file) if edit.line in one]
        called = self._running(edit.file, min(within, key=len)) if within else []
        return _in_turn(called), edit.operator == "other_default"

    def _lines_of(self, edit: Edit) -> range:
        text = (self._package / edit.file).read_bytes()
        return range(edit.line, edit.line + 1 + max(text.count(b"\n", one.start, one.end) for one in edit.replacements))

    def _at_import(self, edit: Edit) -> bool:
        """Whether a changed line runs when Triton is imported; that a default is bound then says nothing."""
        found = self._imported().get(edit.file, set())
        return edit.operator != "other_default" and not found.isdisjoint(self._lines_of(edit))

    def _running(self, file: str, lines: range) -> list[Ran]:
        return [ran for ran in self._drawn if any(one in lines for one in ran.lines.get(file, ()))]

    def _spans(self, file: str) -> list[range]:
        """The lines of each function of a file."""
        if file not in self._functions:
            tree = ast.parse((self._package / file).read_bytes())
            self._functions[file] = [range(one.lineno, (one.end_lineno or one.lineno) + 1) for one in ast.walk(tree)
                                     if isinstance(one, ast.FunctionDef)]
        return self._functions[file]


def compare(was: Ran, now: Ran) -> tuple[Relation, str, bool]:
    """How the copy stands to the original in one case, why, and whether its code differs."""
    assert was.outcome is not None
    if now.outcome is None:
        return Relation.REGRESSION, now.died, False
    pair = relate(was.case, was.outcome, now.outcome, (was.observed, now.observed), lambda chunks: (None, None))
    relation = pair.relation
    if relation is Relation.FLAKY and was.observed is not None:
        # Other bits, whose values nobody fetched.
        tolerant = was.observed.outputs[pair.where].rule not in EXACT
        relation = Relation.NUMERIC if tolerant else Relation.CHANGED
    reason = pair.reason if pair.relation is not Relation.FLAKY else f"other bits of {pair.where}"
    return relation, reason, bool(pair.code_changed)


def _about(case: Case) -> str:
    """The first two choices of a case."""
    return ", ".join(f"{one}" for one in itertools.islice(case.params.values(), 2))


def _in_turn(found: Iterable[Ran]) -> list[Ran]:
    """At most MOST for each backend, a case of each target before the second of any; then at most MOST_ONCE of those
    that are always played, a case of each scene before the second of any."""
    by_target: dict[tuple[str, str], list[Ran]] = {}
    by_scene: dict[tuple[str, str], list[Ran]] = {}
    for ran in found:
        if ran.once:
            by_scene.setdefault((ran.backend, str(ran.case.params.get("scene"))), []).append(ran)
        else:
            by_target.setdefault((ran.backend, ran.case.target), []).append(ran)
    return _first(by_target, MOST) + _first(by_scene, MOST_ONCE)


def _first(groups: dict[tuple[str, str], list[Ran]], most: int) -> list[Ran]:
    """At most `most` for each backend, the groups in turn."""
    taken: dict[str, list[Ran]] = {}
    for turn in itertools.zip_longest(*groups.values()):
        for ran in turn:
            if ran is not None and len(taken.setdefault(ran.backend, [])) < most:
                taken[ran.backend].append(ran)
    return [ran for some in taken.values() for ran in some]


def _by_backend(found: Sequence[Ran]) -> Iterator[tuple[str, list[Ran]]]:
    for backend in dict.fromkeys(ran.backend for ran in found):
        yield backend, [ran for ran in found if ran.backend == backend]
