"""Which signatures are one finding, because they have one cause."""

from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issues import issue_of_entry
from tridiff.fuzz.records import CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.registry import find

_WRONG = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "unwritten", "nondeterministic")
"""How wrong elements of an output may look."""
_ASTRAY = ("illegal_address", "misaligned_address")
"""How a wrong address may end instead."""

_GENERATED = ("codegen", "gluon", "pipelines")
"""Families whose targets draw kernels."""


def findings_of(signature: Signature, issues: tuple[str, ...]) -> tuple[str, ...]:
    """Keys of the findings that a failure shows: one for each known issue that it is one of (`fuzz.known.Attribution`),
    else that of its signature."""
    return tuple(map(cause, issues)) or (finding_of(signature),)


def finding_of(signature: Signature) -> str:
    """Key of the finding that a signature belongs to: its own, unless other signatures have the same cause.

    A cause that the target's word names is one finding in all targets of its family and, if elements or addresses are
    wrong, in every output and however that shows. What a compiler pass complains of, with a message, does not depend on
    the kind of generated program either.
    """
    target = find(signature.target)
    parts = (target.family, signature.subject)
    said = signature.verdict is Verdict.COMPILE_ERROR and signature.where == "passes" and (
        "PassManager" not in signature.kind)
    if said and target.family in _GENERATED:
        return " | ".join((*parts, signature.verdict.value, signature.kind))
    if signature.about and target.about_causes:
        shown = "wrong" if signature.kind in (*_WRONG, *_ASTRAY) else f"{signature.verdict.value} | {signature.kind}"
        return " | ".join((*parts, shown, signature.about))
    return signature.key


def finding_of_entry(entry: CorpusEntry) -> str:
    """The finding that a corpus entry is: the issue that it proves, or that of its signature."""
    issue = issue_of_entry(entry.case.target, entry.id)
    return findings_of(entry.signature, (issue,) if issue else ())[0]


def same_finding(outcome: Outcome, entry: CorpusEntry) -> bool:
    """Whether a case fails as the entry does, by its cause."""
    if outcome.signature is None:
        return False
    issue = issue_of_entry(entry.case.target, entry.id)
    return (issue != "" and issue in outcome.explained_by) or (
        finding_of(outcome.signature) == finding_of(entry.signature))
