"""CorpusEntry: a shrunk case, why it is wrong, and what each version is expected to do with it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from fuzz.records.case import Case
from fuzz.records.codec import SCHEMA
from fuzz.records.environment import Environment
from fuzz.records.outcome import Evidence, Signature, Verdict

Line = Annotated[str, Meta(max_length=500)]


class Expectation(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """The verdict seen for (subject, Triton version, backend); `kind` as in the signature. A row in files."""

    subject: Line
    triton: Annotated[str, Meta(max_length=40)]
    backend: Annotated[str, Meta(max_length=40)]
    verdict: Verdict
    kind: Line = ""
    torch: Annotated[str, Meta(max_length=40)] = ""
    """Set only where the installed torch is itself the subject."""


class CorpusEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finding. The file lies at corpus/<target>/<id>.json."""

    schema: int = SCHEMA
    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_.-]{2,79}\Z")]
    title: Line
    upstream: tuple[Line, ...] = ()
    """Issue references such as triton#7749; empty when none is known."""
    explanation: Annotated[str, Meta(max_length=8000)] = ""
    status: Literal["stable", "flaky"] = "stable"
    reproduced: Annotated[str, Meta(pattern=r"^[0-9]+/[0-9]+\Z")] = "0/0"
    """k/n: failing runs out of all confirming runs of the shrunk case."""
    signature: Signature
    case: Case
    evidence: Evidence
    expected: tuple[Expectation, ...]
    found_in: Environment
