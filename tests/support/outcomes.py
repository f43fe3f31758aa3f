"""What a case came to, where tests say it."""

from typing import Any

from tridiff.fuzz.records import Case, Outcome, Signature, Verdict


def outcome_of(case: Case, verdict: Verdict, signature: Signature | None = None, *, subject: str = "own",
               backend: str = "interpreter", **more: Any) -> Outcome:
    """An outcome of a case. more: further fields."""
    return Outcome(case_digest=case.digest, target=case.target, subject=subject, backend=backend, verdict=verdict,
                   signature=signature, **more)


def wrong_in(case: Case, where: str, *, kind: str = "value", subject: str = "own") -> Signature:
    """The signature of wrong elements in an output."""
    return Signature(target=case.target, subject=subject, verdict=Verdict.DISAGREE, kind=kind, where=where)
