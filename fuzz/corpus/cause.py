"""Which signatures are one finding, because they have one cause."""

import re

from msgspec.structs import replace

from tridiff.fuzz.backends import kind as place
from tridiff.fuzz.crashes import signature as last_words
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issue import ASTRAY
from tridiff.fuzz.known.issues import issue_of_entry, issues_of
from tridiff.fuzz.records import CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.registry import find

_WRONG = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "unwritten", "nondeterministic")
"""How wrong elements of an output may look."""
_VALUES = ("value", "nan_missing", "nan_unexpected", "inf")

_ON = " | on "

_GENERATED = ("codegen", "gluon", "pipelines")
"""Families whose targets draw kernels."""
_SINGLE = ("triton", "helpers", "inductor")
"""Families whose targets draw operands for a text that stays the same: one defect of it shows under every dtype, on
either side and with every width of an index."""

_KINDS = ("int", "uint", "float", "bool", "half", "fp8")
_DTYPE = re.compile(r"""\b(?:tl\.|triton\.language\.|torch\.)?(?:
    i1|[iu](?:8|16|32|64)|u?int(?:1|8|16|32|64)|bool|bf16|bfloat16|half|
    f(?:p|loat)?(?:8|16|32|64)(?:e\w+)?|f8E\w+|float8_?e\w+)\b""", re.VERBOSE)
_SHAPE = re.compile(r"\[(?:'?N'?|constexpr\[N\])?(?:, (?:'?N'?|constexpr\[N\]))*\]")
_ERROR = re.compile(r"^\w+(?:Error|Exception|ErrorImpl): ")
_VARIANT = re.compile(r"_(?:left|right|[iu](?:8|16|32|64))(?![a-z0-9])")


def findings_of(signature: Signature, issues: tuple[str, ...], log: str = "") -> tuple[str, ...]:
    """Keys of the findings that a failure shows: one for each known issue that it is one of (`fuzz.known.Attribution`),
    else that of the assertion in its log, else that of its signature."""
    return tuple(map(cause, issues)) or (assertion_of(signature, log) or finding_of(signature),)


def assertion_of(signature: Signature, log: str) -> str:
    """Key of the finding that an assertion of LLVM, MLIR or Triton is which ended a process, "" if the log has none: by
    its file and its text, whatever was compiled. One assertion may have two causes, which upstream tells by it too."""
    crash = last_words(log) if signature.verdict is Verdict.CRASH else None
    return f"assertion {crash.key}" if crash is not None and crash.rule.endswith("-assertion") else ""


def finding_of(signature: Signature) -> str:
    """Key of the finding that a signature belongs to: its own, unless other signatures have the same cause.

    A cause that the target's word names is one finding in all targets of its family and, if elements or addresses are
    wrong, in every output and however that shows. What a compiler pass complains of, with a message, does not depend on
    the kind of generated program either. Of helpers and single operations a finding has no dtype, no side and no width
    of an index, and what the compiler says is one finding whatever was asked.
    """
    target = find(signature.target)
    parts = (target.family, signature.subject)
    if target.family in _SINGLE:
        text = message(signature.kind)
        if text and signature.verdict in (Verdict.COMPILE_ERROR, Verdict.CRASH):
            return " | ".join((*parts, "error", text))
        if not target.judge.label_is_issue:
            shown = "wrong" if signature.kind in _VALUES else signature.kind
            return " | ".join((signature.target, signature.subject, signature.verdict.value, shown, signature.where,
                               undetailed(signature.about)))
    said = signature.verdict is Verdict.COMPILE_ERROR and signature.where == "passes" and (
        "PassManager" not in signature.kind)
    if said and target.family in _GENERATED:
        return " | ".join((*parts, signature.verdict.value, signature.kind))
    if signature.about and target.judge.label_is_issue:
        shown = "wrong" if signature.kind in (*_WRONG, *ASTRAY) else f"{signature.verdict.value} | {signature.kind}"
        return " | ".join((*parts, shown, signature.about))
    return signature.key


def of_any_form(signature: Signature | None) -> Signature | None:
    """The signature without the known form that its label names (`Judge.label_is_form`)."""
    if signature is None or not find(signature.target).judge.label_is_form:
        return signature
    return replace(signature, about="")


def finding_of_pair(signature: Signature, backend: str) -> str:
    """Key of the finding that a difference between two builds belongs to: that of its signature on a kind of backend.
    The interpreter and the compiler of a build change apart: a difference of one does not stand for one of the other.
    """
    return f"{finding_of(signature)}{_ON}{place(backend)}"


def backend_of_pair(finding: str) -> str:
    """The kind of backend in a key that `finding_of_pair` made, "" in another key."""
    return finding.rpartition(_ON)[2] if _ON in finding else ""


def message(kind: str) -> str:
    """What an error says, without its class, dtypes and shapes; "" for one that says nothing of its own."""
    text = _ERROR.sub("", kind)
    if " " not in text or "PassManager" in text:
        return ""
    text = _SHAPE.sub("", _DTYPE.sub("T", text))
    return re.sub(r"<(?:, )?T>", "T", text)


def undetailed(about: str) -> str:
    """A target's word without dtypes, sides and widths of an index."""
    words = (word for word in about.split() if word not in _KINDS and not _DTYPE.fullmatch(word))
    return " ".join(_VARIANT.sub("", word) for word in words)


def finding_of_entry(entry: CorpusEntry) -> str:
    """The finding that a corpus entry is: the issue that it proves, or that of its signature."""
    issue = issue_of_entry(entry.case.target, entry.id)
    return findings_of(entry.signature, (issue,) if issue else (), entry.evidence.log)[0]


def same_finding(outcome: Outcome, entry: CorpusEntry) -> bool:
    """Whether a case fails as the entry does, by its cause. One known issue may end in other errors elsewhere: that of
    pointers to pointers is taken by one version, and ends the process in another. So may one entry: what is an access
    astray in the interpreter is a wrong value on a GPU, as its rows say."""
    if outcome.signature is None:
        return False
    words, recorded = assertion_of(outcome.signature, outcome.log), assertion_of(entry.signature, entry.evidence.log)
    if words and recorded and words != recorded:
        return False  # Of one signature, yet another assertion: campaigns tell these apart as well.
    issue = issue_of_entry(entry.case.target, entry.id)
    told = any(one.name == issue and not one.kinds and one.shows_on(outcome.backend) and one.tells(outcome.signature)
               for one in issues_of(entry.case, outcome.subject))
    if told or (issue != "" and issue in (*outcome.explained_by, *outcome.explained_too)):
        return True
    ways = {(one.verdict, one.kind) for one in entry.expected
            if one.verdict.failed and one.kind and one.subject == outcome.subject}
    return (issue != "" and (outcome.signature.verdict, outcome.signature.kind) in ways) or (
        findings_of(outcome.signature, (), outcome.log) == findings_of(entry.signature, (), entry.evidence.log)) or (
        finding_of(outcome.signature) == finding_of(entry.signature))
