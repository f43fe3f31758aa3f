"""Run one entry or case again and keep everything that can be shown about it."""

import msgspec

from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.corpus.expected import expectation
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Expectation, Outcome
from tridiff.fuzz.repro.script import default_backend
from tridiff.fuzz.workers.pool import Pool, PoolOptions


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """What one more run gave. expected: what the entry says about this subject, version and backend."""

    case: Case
    subject: str
    backend: str
    outcome: Outcome
    environment: Environment
    expected: Expectation | None = None


def rerun(what: CorpusEntry | Case, *, subject: str = "", backend: str = "") -> Rerun:
    """Run an entry or a case once in a fresh worker, with its inputs and outputs reported even when all agree.

    subject: default the entry's own, `own` for a case. backend: default where the entry was found, `interpreter` for
    a case. Raises TridiffError for a case that does not fit its target or a backend that this machine lacks.
    """
    entry = what if isinstance(what, CorpusEntry) else None
    case = what.case if isinstance(what, CorpusEntry) else what
    subject = subject or (entry.signature.subject if entry else "own")
    backend = backend or (default_backend(entry, subject) if entry else "interpreter")
    case.check()
    problem = misfit(case, subject)
    if problem:
        raise TridiffError(problem, fix="check the entry with `tridiff replay`")
    with Pool(PoolOptions(backend=backend, spare=False)) as pool:
        environment = pool.environment
        outcome = pool.execute(case, subject, backend=backend, want_inputs=True)
    wanted = expectation(entry, subject=subject, triton=environment.triton, backend=backend,
                         torch=environment.torch) if entry else None
    return Rerun(case=case, subject=subject, backend=backend, outcome=outcome, environment=environment, expected=wanted)
