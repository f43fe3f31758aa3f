"""Sweeps over the rows of the language: every call with every input, and what explains those that fail."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.language.every import LENGTH, WIDTH, calls, cases_of, form_of, thinned
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.row import Row
from tridiff.fuzz.records import Case, Outcome, Verdict, encode
from tridiff.fuzz.workers.pool import Pool
from tridiff.kernels.language.call import Call

INTERPRETED = {"width": 1 << 12, "length": 4}
"""Blocks and lines in the interpreter, where each program takes milliseconds."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """One case of a call. inputs: how many; issues: known issues that explain a failure; of one that nothing explains,
    call: in JSON, of which the sweep makes the same cases again; seen: some of its wrong elements."""

    row: str
    topic: str
    form: str
    types: tuple[str, ...]
    options: str
    inputs: int
    verdict: Verdict
    reason: str
    issues: tuple[str, ...]
    seconds: float
    call: str = ""
    seen: tuple[str, ...] = ()

    @property
    def news(self) -> bool:
        """Whether it fails and nothing explains it."""
        return self.verdict.failed and not self.issues


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What to sweep. patterns: globs over the names and topics of rows. every: each combination of options; else those
    that show something for the first time."""

    patterns: tuple[str, ...] = ("*",)
    every: bool = False
    width: int = WIDTH
    length: int = LENGTH

    def rows(self) -> list[Row]:
        """The rows that it names. Gluon's only if they are named as such: they are many times as many calls."""
        return [row for row in rows().values() if any(
            fnmatchcase(row.name, one) or fnmatchcase(row.topic, one) for one in self.patterns if
            not row.gluon or one.startswith(("gl", "smem")))]

    def calls(self, row: Row) -> Iterator[Call]:
        found = calls(row, width=self.width, length=self.length)
        return found if self.every else thinned(found)


def planned(wish: Wish) -> Iterator[tuple[Case, int]]:
    """The cases of the rows that are wished for, each with its number of inputs."""
    for row in wish.rows():
        for call in wish.calls(row):
            yield from cases_of(f"language.{row.topic}", call, row)


def run(pools: list[Pool], wish: Wish, *, subject: str = "own",
        watch: Callable[[Swept], None] = lambda one: None) -> tuple[list[Swept], bool]:
    """Sweep on the pools' backend, all at once; one that cannot go on ends the sweep. With it, whether Ctrl-C did."""
    left, lock, found = planned(wish), threading.Lock(), list[Swept]()
    stop = threading.Event()

    def work(pool: Pool) -> None:
        def execute(case: Case) -> Outcome:
            return pool.execute(case, subject)

        attribution = Attribution(execute)
        while True:
            with lock:
                drawn = None if stop.is_set() else next(left, None)
            if drawn is None:
                return
            one = _swept(*drawn, execute, attribution)
            with lock:
                found.append(one)
                watch(one)

    with ThreadPoolExecutor(len(pools)) as threads:
        working = [threads.submit(work, pool) for pool in pools]
        try:
            for one in working:
                one.result()
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
    return found, stop.is_set()


def _seen(outcome: Outcome, most: int = 6) -> tuple[str, ...]:
    """Wrong elements of the first failing row, as `out0[3]: 1.0, 2.0 gave 5, not 3`: inputs of as many elements at the
    same place, what came out, what the first oracle says."""
    evidence = outcome.evidence
    if evidence is None:
        return ()
    expected, found = next(iter(evidence.expected.values()), {}), []
    for name, values in evidence.actual.items():
        right = expected.get(name, ())
        for place, (one, other) in enumerate(zip(values, right, strict=False)):
            if one != other:
                given = ", ".join(held[place] for held in evidence.inputs.values() if len(held) == len(values))
                found.append(f"{name}[{place}]: {given} gave {one}, not {other}")
    return tuple(found[:: max(len(found) // most, 1)][:most])


def _swept(case: Case, inputs: int, execute: Callable[[Case], Outcome], attribution: Attribution) -> Swept:
    begun = time.monotonic()
    outcome, call = execute(case), case.program
    assert isinstance(call, Call)
    issues = attribution.issues(case, outcome) if outcome.verdict.failed else ()
    row = rows()[call.row]
    return Swept(
        row=call.row, topic=row.topic, form=form_of(row, call), types=tuple(array.dtype for array in case.arrays),
        options=" ".join(f"{name}={value}" for name, value in call.options.items()), inputs=inputs,
        verdict=outcome.verdict, reason=outcome.reason, issues=issues, seconds=time.monotonic() - begun,
        call=encode(call).decode() if outcome.verdict.failed and not issues else "",
        seen=_seen(outcome) if outcome.verdict.failed and not issues else ())


def record_of(found: list[Swept], wish: Wish, *, backend: str, seconds: float, environment: dict[str, Any],
              interrupted: bool = False) -> dict[str, Any]:
    """A sweep as data: counts for each row, and every deviation with what explains it."""
    by_row: dict[str, dict[str, Any]] = {}
    for one in found:
        entry = by_row.setdefault(one.row, {"form": one.form, "calls": 0, "types": 0, "inputs": 0, "seconds": 0.0,
                                            "not_checked": 0, "_types": set()})
        entry["calls"] += 1
        entry["_types"].add(one.types)
        entry["inputs"] += one.inputs if one.verdict is not Verdict.NOT_CHECKED else 0
        entry["seconds"] = round(entry["seconds"] + one.seconds, 3)
        entry["not_checked"] += one.verdict is Verdict.NOT_CHECKED
    for entry in by_row.values():
        entry["types"] = len(entry.pop("_types"))
    deviations = [asdict(one) | {"verdict": one.verdict.value, "seconds": round(one.seconds, 3)}
                  for one in found if one.verdict.failed]
    unchecked: dict[str, int] = {}
    for one in found:
        if one.verdict is Verdict.NOT_CHECKED:
            unchecked[one.reason] = unchecked.get(one.reason, 0) + 1
    return {"backend": backend, "environment": environment, "patterns": list(wish.patterns), "every": wish.every,
            "width": wish.width, "length": wish.length, "seconds": round(seconds, 1),
            "interrupted": interrupted, "rows": by_row,
            "not_checked": unchecked, "deviations": deviations,
            "left_out": [] if interrupted else sorted(row.name for row in wish.rows() if row.name not in by_row)}
