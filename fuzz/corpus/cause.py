"""Which signatures are one finding, because they have one cause."""

from fuzz.records import CorpusEntry, Outcome, Signature, Verdict
from fuzz.targets import find

_WRONG = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "unwritten", "nondeterministic")
"""How wrong elements of an output may look."""
_ASTRAY = ("illegal_address", "misaligned_address")
"""How a wrong address may end instead."""

_GENERATED = ("codegen", "gluon", "pipelines")
"""Families whose targets draw kernels."""


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


def same_finding(outcome: Outcome, entry: CorpusEntry) -> bool:
    """Whether a case fails as the entry does, by its cause."""
    return outcome.signature is not None and finding_of(outcome.signature) == finding_of(entry.signature)
