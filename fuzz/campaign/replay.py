"""Run corpus entries again and hold what happens against what each is expected to do.

An entry runs on the backends that its expectations name and the caller offers, for the subjects they name.
What comes out falls into one of five states:

* `as_expected` (ok True): verdict and kind are the expected ones, or others of the same cause (`fuzz.corpus.cause`).
* `changed` (ok False): they are not. A finding that agrees now is reported here, the day it stops.
* `new_information` (ok None): it ran, but nobody has recorded what to expect of this subject, Triton
  version and backend. The gate reads these; they never count as passes or as failures.
* `not_checked` (ok None): it could not be judged here although an answer was expected.
* `unreadable` (ok None): the file is no entry, or its case fits no target of this tridiff.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import expand, kind
from tridiff.fuzz.corpus.cause import same_finding
from tridiff.fuzz.corpus.expected import expectation
from tridiff.fuzz.corpus.vocabulary import unheard_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Expectation, Outcome, Verdict
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.workers.pool import Pool, PoolOptions

Status = Literal["as_expected", "changed", "new_information", "not_checked", "unreadable"]

UNKNOWN = "unknown"
"""In place of a verdict: none is expected, or none was reached."""

FLAKY_ATTEMPTS = 50
"""Most runs of a flaky entry before it counts as changed."""


class ReplayResult(msgspec.Struct, frozen=True, kw_only=True):
    """One entry on one subject and backend. seconds: wall time of all attempts."""

    id: str
    target: str
    subject: str = ""
    backend: str = ""
    triton: str = ""
    torch: str = ""
    expected: str = UNKNOWN
    """A verdict, or `unknown`."""
    actual: str = UNKNOWN
    ok: bool | None = None
    status: Status
    reason: str = ""
    seconds: float = 0.0
    attempts: int = 0
    outcome: Outcome | None = None
    """Of the last attempt."""


class CaseRunner(Protocol):
    """What replay needs of `tridiff.fuzz.workers.pool.Pool`."""

    @property
    def environment(self) -> Environment: ...

    def execute(self, case: Case, subject: str, *, backend: str | None = None, want_inputs: bool = False) -> Outcome:
        ...

    def close(self) -> None: ...


def _start(backend: str, device: int, hang_limit: float) -> CaseRunner:
    return Pool(PoolOptions(backend=backend, device=device, hang_limit=hang_limit, spare=False))


def replay(
    entries: Iterable[CorpusEntry | TridiffError], *, backends: tuple[str, ...],
    subjects: tuple[str, ...] | None = None, everywhere: bool = False, device: int = 0, hang_limit: float = 10.0,
    start: Callable[[str, int, float], CaseRunner] = _start,
) -> Iterator[ReplayResult]:
    """Replay `entries` in order; results come as they are reached.

    backends: those to use, `compile` standing for all architectures; usually `available_backends()`.
    subjects: instead of those that an entry's expectations name. everywhere: also run on offered backends
    that no expectation of the entry names (their results are `new_information`).
    device: number of the GPU. hang_limit: seconds. start: makes the runner of one kind of backend; each kind
    has one, started at its first use and shared by all entries.

    An element that is a TridiffError (from `Corpus.entries`) gives one `unreadable` result. Raises TridiffError
    when workers cannot be started.
    """
    offered = tuple(dict.fromkeys(one for name in backends for one in expand(name)))
    runners: dict[str, CaseRunner] = {}
    with ExitStack() as stack:

        def runner(backend: str) -> CaseRunner:
            name = kind(backend)
            if name not in runners:
                runners[name] = start(backend, device, hang_limit)
                stack.callback(runners[name].close)
            return runners[name]

        for entry in entries:
            if isinstance(entry, TridiffError):
                yield ReplayResult(id=entry.problem.partition(": ")[0], target="", status="unreadable",
                                   reason=str(entry))
                continue
            planned = plan(entry, backends=offered, subjects=subjects, everywhere=everywhere)
            if not planned:
                wanted = ", ".join(sorted({one.backend for one in entry.expected})) or "no backend"
                yield ReplayResult(id=entry.id, target=entry.case.target, status="not_checked",
                                   reason=f"expectations name {wanted}; offered: {', '.join(offered) or 'none'}")
            for subject, backend in planned:
                yield replay_one(entry, subject=subject, backend=backend, runner=runner)


def plan(
    entry: CorpusEntry, *, backends: tuple[str, ...], subjects: tuple[str, ...] | None = None, everywhere: bool = False,
) -> tuple[tuple[str, str], ...]:
    """The (subject, backend) pairs on which `replay` runs the entry."""
    pairs: dict[tuple[str, str], None] = {}
    for one in entry.expected:
        for subject in (one.subject,) if subjects is None else subjects:
            for backend in backends if everywhere else (one.backend,):
                if backend in backends:
                    pairs[subject, backend] = None
    if everywhere and not entry.expected:
        for subject in subjects or (entry.signature.subject,):
            pairs.update(dict.fromkeys((subject, backend) for backend in backends))
    return tuple(pairs)


def replay_one(entry: CorpusEntry, *, subject: str, backend: str, runner: Callable[[str], CaseRunner]) -> ReplayResult:
    """One entry on one subject and backend; a flaky one is tried until it does what is expected, or often enough
    to rule bad luck out at 1 in 1000 (at most FLAKY_ATTEMPTS times)."""
    blank = ReplayResult(id=entry.id, target=entry.case.target, subject=subject, backend=backend, status="unreadable")
    problem = misfit(entry.case, subject)
    if problem:
        return replace(blank, reason=problem)
    worker = runner(backend)
    environment = worker.environment
    wanted = expectation(entry, subject=subject, triton=environment.triton, backend=backend, torch=environment.torch)
    started = time.perf_counter()
    tried, allowed = 0, attempts(entry)
    while True:
        tried += 1
        try:
            outcome = worker.execute(entry.case, subject, backend=backend)
        except TridiffError as error:
            return replace(blank, reason=str(error))
        status, reason = compare(outcome, wanted)
        if status == "changed" and wanted and wanted.verdict.failed and same_finding(outcome, entry):
            status, reason = "as_expected", ""
        if status != "changed" or tried >= allowed:
            break
    if status == "changed" and tried > 1:
        reason += f" (in {tried} attempts at a flaky finding)"
    return replace(
        blank, triton=environment.triton, torch=environment.torch, actual=outcome.verdict.value,
        expected=wanted.verdict.value if wanted else UNKNOWN, status=status, reason=reason,
        ok={"as_expected": True, "changed": False}.get(status), seconds=round(time.perf_counter() - started, 6),
        attempts=tried, outcome=outcome)


def compare(outcome: Outcome, wanted: Expectation | None) -> tuple[Status, str]:
    """How an outcome stands to an expectation: the status, and one line unless it is `as_expected`."""
    seen = outcome.verdict.value
    detail = f": {outcome.reason}" if outcome.reason else ""
    if wanted is None:
        return "new_information", f"nothing is expected here yet; saw {seen}{detail}"
    if outcome.verdict is not wanted.verdict:
        if outcome.verdict is Verdict.NOT_CHECKED:
            return "not_checked", f"expected {wanted.verdict.value}, could not check{detail}"
        if outcome.verdict is Verdict.AGREE:
            return "changed", f"expected {wanted.verdict.value}, agrees now; if it is fixed, record the new verdict"
        return "changed", f"expected {wanted.verdict.value}, got {seen}{detail}"
    found = outcome.signature.kind if outcome.signature else ""
    if wanted.kind and found and wanted.kind != found:
        return "changed", f"still {seen}, but of kind {printable(found)} instead of {printable(wanted.kind)}"
    return "as_expected", ""


def misfit(case: Case, subject: str) -> str:
    """Why this case cannot run at all under this tridiff: one line, or nothing.

    A target reads the arrays and params that its own strategy draws; a case from elsewhere may lack them.
    """
    try:
        target = find(case.target)
        parse_subject(subject, target)
    except TridiffError as error:
        return str(error)
    try:
        why = unheard_of(case, target)
        if not why:
            target.judge.label(case)
            if target.draw.valid(case):
                return ""
            why = "its target cannot draw it"
    except Exception as error:
        why = f"{type(error).__name__}: {printable(str(error), limit=80)}"
    return str(TridiffError(f"the case does not fit {case.target} ({why})", fix="correct or delete the entry"))


def attempts(entry: CorpusEntry) -> int:
    """How often an entry is run at most until it does what is expected."""
    if entry.status != "flaky":
        return 1
    failed, _, runs = entry.reproduced.partition("/")
    k, n = int(failed[:6]), int(runs[:6])
    if k >= n or k == 0:
        return FLAKY_ATTEMPTS if k == 0 else 2
    tries, left = 0, 1.0
    while left > 1e-3 and tries < FLAKY_ATTEMPTS:
        left *= 1 - k / n
        tries += 1
    return tries
