"""Ways round a finding: for whom it is wrong, and which changes of the launch make it right, each shown by a run.

A change is one that a user can make: another option of the launch, a variable of the environment, another value of a
parameter, the program without the pattern of a known issue, another implementation of the same contract.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame.laboratory import Laboratory, OutOfTime
from tridiff.fuzz.blame.localise import TRIAL_SECONDS, NotFailing, effect_of, failed, told
from tridiff.fuzz.blame.trial import Trial
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case, CorpusEntry, Expectation, LaunchOptions
from tridiff.fuzz.records.blame import Effect
from tridiff.fuzz.registry import find

SECONDS = 60.0

_OPTIONS: dict[str, tuple[int | bool, ...]] = {
    "num_warps": (4, 1, 8), "num_stages": (3, 1), "enable_fp_fusion": (True, False), "num_ctas": (1,),
    "debug": (False,)}
"""Values that are tried, the usual one first."""

MOST_VALUES = 3
"""Other values of one parameter that are tried."""

What = Literal["option", "environment", "parameter", "program", "subject"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change and what became of the failure. change: as a user would say it."""

    what: What
    change: Annotated[str, Meta(max_length=300)]
    effect: Effect
    said: str = ""


class WayRound(msgspec.Struct, frozen=True, kw_only=True):
    """guard: for whom it is wrong. tried: every change that was run, on `backend` with `triton`. problem: why none was
    run."""

    guard: str
    backend: str = ""
    triton: str = ""
    tried: tuple[Change, ...] = ()
    problem: str = ""

    @property
    def right(self) -> tuple[Change, ...]:
        """Those that make the case right."""
        return tuple(one for one in self.tried if one.effect == "gone")


def guard(entry: CorpusEntry, tried: tuple[Change, ...] = ()) -> str:
    """For whom it is wrong: versions, backends, types, options that are not the usual ones. By the entry's verdicts; an
    option that was `tried` at its usual value without any effect does not matter."""
    rows = [row for row in entry.expected if row.subject == entry.signature.subject]
    where = "; ".join(f"{backend}: {versions}" for backend, versions in _by_backend(rows).items())
    case, usual = entry.case, LaunchOptions()
    dtypes = " ".join(dict.fromkeys(spec.dtype for spec in case.arrays))
    idle = {one.change for one in tried if one.what == "option" and one.effect == "same"}
    options = " ".join(f"{name}={getattr(case.options, name)}" for name in case.options.__struct_fields__
                       if getattr(case.options, name) != getattr(usual, name)
                       and f"{name}={getattr(usual, name)}" not in idle)
    operation = f"{case.target} ({entry.signature.about})" if entry.signature.about else case.target
    parts = [where or f"triton=={entry.found_in.triton} on {entry.found_in.backend}", f"op={operation}",
             f"dtype={dtypes}"]
    return "; ".join([*parts, f"options={options}"] if options else parts)


def _by_backend(rows: list[Expectation]) -> dict[str, str]:
    """Versions that fail, and those that do not, by backend; backends on which none fails are left out."""
    found = {}
    for backend in dict.fromkeys(row.backend for row in rows):
        bad = [row.triton for row in rows if row.backend == backend and row.verdict.failed]
        good = [row.triton for row in rows if row.backend == backend and row.verdict.value == "agree"]
        if bad:
            found[backend] = f"triton=={' '.join(dict.fromkeys(bad))}" + (
                f" (right: {' '.join(dict.fromkeys(good))})" if good else "")
    return found


def changes(case: Case, subject: str, backend: str) -> Iterator[tuple[What, str, dict[str, object]]]:
    """What is tried, the cheapest to adopt first: kind, words, and fields of a trial."""
    options = case.options
    if kind(backend) != "interpreter":
        for name, values in _OPTIONS.items():
            for value in values:
                if getattr(options, name) != value:
                    changed = replace(case, options=replace(options, **{name: value}))
                    yield "option", f"{name}={value}", {"case": changed}
        for variable in ("DISABLE_PTXAS_OPT", "DISABLE_LLVM_OPT"):
            if variable == "DISABLE_LLVM_OPT" or kind(backend) == "cuda":
                yield "environment", f"{variable}=1", {"environment": {variable: "1"}}
    yield from _programs(case, subject)
    yield from _parameters(case)
    target = find(case.target)
    for other in target.subjects:
        if other != subject and other not in target.controls:
            yield "subject", f"the subject {other} in place of {subject}", {"subject": other}


def _programs(case: Case, subject: str) -> Iterator[tuple[What, str, dict[str, object]]]:
    """The nearest programs without the pattern of a known issue."""
    for issue in issues_of(case, subject):
        relative = issue.relative(case) if issue.relative is not None else None
        if relative is not None and relative != case:
            yield "program", f"the nearest program without: {issue.title}", {"case": relative}


def _parameters(case: Case) -> Iterator[tuple[What, str, dict[str, object]]]:
    """Other values of what the case's target lets a case choose."""
    target = find(case.target)
    for name, values in target.shrink.simplest.items():
        if name not in case.params:
            continue
        others = [value for value in values if value != case.params[name]][:MOST_VALUES]
        for value in others:
            changed = replace(case, params=case.params | {name: value})
            with suppress(KeyError, ValueError, TypeError, AttributeError):
                if target.draw.valid(changed):
                    yield "parameter", f"{name}={value}", {"case": changed}


def way_round(entry: CorpusEntry, backend: str, *, seconds: float = SECONDS,
              laboratory: Laboratory | None = None) -> WayRound:
    """Run the changes. backend: where the entry fails here, "" for nowhere: then only the guard is told. Raises
    NotFailing where the case does not fail there."""
    said = guard(entry)
    if not backend:
        return WayRound(guard=said, problem="it was not seen to fail on a backend of this machine")
    used = laboratory or Laboratory(seconds=seconds)
    subject = entry.signature.subject
    try:
        first = used.run(_trial("as it is", entry, backend))
        if first.refused:
            return WayRound(guard=said, backend=backend, problem=first.refused)
        if not failed(first):
            raise NotFailing(f"the case does not fail on {backend} with Triton {first.triton} ({told(first)})",
                             fix="name a backend on which it fails")
        tried: list[Change] = []
        with suppress(OutOfTime):
            for what, words, fields in changes(entry.case, subject, backend):
                result = used.run(_trial(words, entry, backend, **fields))
                effect, how = effect_of(result, first)
                tried.append(Change(what=what, change=words[:300], effect=effect, said=how))
        return WayRound(guard=guard(entry, tuple(tried)), backend=backend, triton=first.triton, tried=tuple(tried))
    except OutOfTime:
        return WayRound(guard=said, backend=backend, problem="no time was left to run anything")
    finally:
        if laboratory is None:
            used.close()


def _trial(name: str, entry: CorpusEntry, backend: str, **fields: object) -> Trial:
    given = {"case": entry.case, "subject": entry.signature.subject, "backend": backend, "seconds": TRIAL_SECONDS,
             **fields}
    return Trial(name=name, **given)  # type: ignore[arg-type]


def lines(found: WayRound) -> Iterator[str]:
    """As text."""
    yield f"wrong for: {found.guard}"
    if found.problem:
        yield f"no change was run: {found.problem}"
        return
    yield f"run on {found.backend}, Triton {found.triton}; right with:"
    for one in found.right:
        yield f"  {one.what}: {one.change}"
    if not found.right:
        yield "  none of what was tried"
    rest = [one for one in found.tried if one.effect != "gone"]
    if rest:
        yield "no help:"
    for one in rest:
        yield f"  {one.what}: {one.change} ({one.said})"


