"""What a case came to, where tests say it."""

from tridiff.fuzz.records import Case, Outcome, Signature, Verdict


def outcome(case: Case, *, failed: bool = True, subject: str = "own", kind: str = "value", where: str = "out",
            explained: tuple[str, ...] = ()) -> Outcome:
    """An outcome on a GPU with something wrong that nothing predicts, or a good one."""
    verdict = Verdict.DISAGREE if failed else Verdict.AGREE
    signature = Signature(target=case.target, subject=subject, verdict=verdict, kind=kind, where=where)
    return Outcome(case_digest=case.digest, target=case.target, subject=subject, backend="cuda", verdict=verdict,
                   signature=signature if failed else None, explained_by=explained)
