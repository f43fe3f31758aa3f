"""A corpus entry made smaller: the shrinker of campaigns on a saved case, with the machine that is at hand."""

import time
from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.campaign.findings import id_of
from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.corpus.cause import finding_of, finding_of_entry, of_any_form, same_finding
from tridiff.fuzz.corpus.expected import with_verdict
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Evidence, Expectation, Outcome, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.script import default_backend
from tridiff.fuzz.shrink.explicit import minimise
from tridiff.fuzz.workers.pool import Pool, PoolOptions

CONFIRMATIONS = 5
"""Runs that confirm the smaller case."""

HANG_LIMITS = 2.0
"""Hang limits that a compiler has for a smaller case where not to end is the finding."""


class CaseRunner(Protocol):
    """What is needed of `tridiff.fuzz.workers.pool.Pool`."""

    @property
    def environment(self) -> Environment: ...

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False,
                compile_limit: float | None = None) -> Outcome: ...

    def inputs(self, case: Case, subject: str = "own") -> Evidence: ...


class Smaller(msgspec.Struct, frozen=True, kw_only=True):
    """What shrinking came to. entry: with the smaller case, and only those verdicts that were seen for it. runs: tries.
    changed: whether the case is another one. left_out: verdicts recorded for the old case that nobody has seen for the
    new one. seconds: wall time."""

    entry: CorpusEntry
    runs: int
    changed: bool
    left_out: tuple[Expectation, ...] = ()
    seconds: float = 0.0


def smaller(
    entry: CorpusEntry, *, subject: str = "", backend: str = "", seconds: float = 300.0, max_runs: int = 2000,
    hang_limit: float = 10.0, device: int = 0, start: Callable[[PoolOptions], Pool] = Pool,
) -> Smaller:
    """The simplest case with the entry's finding that single steps reach within the budget. Where a known issue
    accounts for the finding, it accounts for all that is wrong of the smaller case as well; where none does, none does
    for the smaller case, which need not have the known form that the entry's label names: its id is another one then.

    subject: default the entry's own. backend: default where it was found. seconds, max_runs: the budget. hang_limit:
    seconds of a launch. device: number of the GPU. Raises TridiffError where the finding does not show here, or does
    not fit its target any more.
    """
    subject = subject or entry.signature.subject
    backend = backend or default_backend(entry, subject)
    problem = misfit(entry.case, subject)
    if problem:
        raise TridiffError(problem, fix="check the entry with `tridiff replay`")
    with start(PoolOptions(backend=backend, device=device, hang_limit=hang_limit, spare=False)) as pool:
        return shrink(entry, pool, subject=subject, backend=backend, seconds=seconds, max_runs=max_runs,
                      hang_limit=hang_limit)


def shrink(entry: CorpusEntry, pool: CaseRunner, *, subject: str, backend: str, seconds: float, max_runs: int,
           hang_limit: float) -> Smaller:
    """As `smaller`, on a pool that runs."""
    began = time.monotonic()
    first = pool.execute(entry.case, subject, backend=backend)
    if not first.verdict.failed or first.signature is None:
        raise TridiffError(f"{entry.id} does not fail here: {first.verdict.value} on {backend} with Triton "
                           f"{pool.environment.triton}", fix="shrink it where it fails; `tridiff replay` says where")
    if not same_finding(first, entry):
        raise TridiffError(f"{entry.id} fails as another finding on {backend} "
                           f"({_differences(first.signature, entry.signature)})",
                           fix=_advice(first.signature, entry.signature))
    endless = first.verdict is Verdict.HANG and first.signature.kind == "compile"
    limit = HANG_LIMITS * hang_limit if endless else None
    attribution = Attribution(lambda case: pool.execute(case, subject, backend=backend))
    issues = attribution.issues(entry.case, first)
    known = entry.cause if entry.cause in issues else ""
    any_form = not issues and not entry.cause and finding_of_entry(entry) == finding_of(entry.signature)

    def run(case: Case) -> Outcome:
        outcome = pool.execute(case, subject, backend=backend, compile_limit=limit)
        if known and outcome.signature == first.signature and known not in attribution.issues(case, outcome):
            raise TridiffError(f"it is not {known} that is left", fix="propose another case")
        if any_form and of_any_form(outcome.signature) == of_any_form(first.signature) and (
                attribution.issues(case, outcome)):
            raise TridiffError("it is a known issue that is left", fix="propose another case")
        return outcome

    found = minimise(
        entry.case, first, target=find(entry.case.target), max_runs=max_runs, seconds=seconds, run=run,
        inputs=lambda case: pool.inputs(case, subject), any_form=any_form)
    changed = found.case != entry.case
    if not changed:
        return Smaller(entry=entry, runs=found.runs, changed=False, seconds=_since(began))
    again = [pool.execute(found.case, subject, backend=backend, want_inputs=True)
             for _ in range(1 if endless else CONFIRMATIONS)]
    shown = [one for one in again if one.signature == found.outcome.signature]
    if not shown:
        raise TridiffError(f"the smaller case failed while {entry.id} was shrunk and in none of {len(again)} runs "
                           "afterwards", fix="try again, or with another --time")
    environment = pool.environment
    fresh = replace(
        _of_form(entry, shown[0].signature, was=first.signature), case=found.case,
        evidence=shown[0].evidence or Evidence(), reproduced=f"{len(shown)}/{len(again)}",
        status="stable" if len(shown) == len(again) else "flaky", expected=())
    fresh = with_verdict(fresh, subject=subject, triton=environment.triton, backend=backend,
                         verdict=first.verdict, kind=first.signature.kind, torch=environment.torch)
    kept = {(one.subject, one.triton, one.backend) for one in fresh.expected}
    left_out = tuple(one for one in entry.expected if (one.subject, one.triton, one.backend) not in kept)
    return Smaller(entry=fresh, runs=found.runs, changed=True, left_out=left_out, seconds=_since(began))


def _of_form(entry: CorpusEntry, seen: Signature | None, *, was: Signature) -> CorpusEntry:
    """The entry, named by the known form in its smaller case if that is another one, or by none."""
    if seen is None or seen.about == was.about:
        return entry
    signature = replace(entry.signature, about=seen.about)
    title = entry.title.replace(f" ({was.about})", f" ({seen.about})" if seen.about else "", 1)
    return replace(entry, id=id_of(signature, finding_of(signature)), signature=signature, title=title)


def _differences(seen: Signature, saved: Signature) -> str:
    """In what two failures differ, part by part of their signatures."""
    parts = {field: (getattr(seen, field), getattr(saved, field)) for field in Signature.__struct_fields__}
    return ", ".join(f"{field} {_shown(new)} instead of {_shown(old)}" for field, (new, old) in parts.items()
                     if new != old)


def _shown(part: Verdict | str) -> str:
    """A part of a signature as text, in quotes where it would not be seen to be one word."""
    text = part.value if isinstance(part, Verdict) else part
    return f"'{text}'" if " " in text or not text else text


def _advice(seen: Signature, saved: Signature) -> str:
    """What to do about a failure that is not the saved one. `about` is the target's word for the case itself."""
    if replace(seen, about=saved.about) == saved:
        return "it is the same failure if its target has got another word for the case since: put that into its about"
    return "choose another --backend"


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
