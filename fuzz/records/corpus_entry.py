"""CorpusEntry: a shrunk case, why it is wrong, and what each version is expected to do with it."""

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from tridiff.fuzz.records.blame import Blame
from tridiff.fuzz.records.blame import Stage as Stage
from tridiff.fuzz.records.case import Case
from tridiff.fuzz.records.codec import SCHEMA
from tridiff.fuzz.records.environment import Environment
from tridiff.fuzz.records.outcome import Evidence, Signature, Verdict

LONGEST = 500
Line = Annotated[str, Meta(max_length=LONGEST)]

Truth = Literal["unclassified", "defect", "by_design", "undefined", "accuracy", "contract"]
"""What kind of difference an entry shows; only `defect` speaks against the software under test.

defect: a documented or evident promise is broken. by_design: the project concerned documents or states that it is so.
undefined: the input or the use is one for which nobody promises a result. accuracy: the value is inexact, beyond a
documented figure or our tolerance, but not another value. contract: what is right follows from our own reading alone.
unclassified: nobody has judged it yet; campaigns write this.
"""

if TYPE_CHECKING:
    WrittenEnvironment = Environment
    WrittenSignature = Signature
else:  # Files have them in a line.
    WrittenEnvironment = Environment | str
    WrittenSignature = Signature | str


class Expectation(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """The verdict seen for (subject, Triton version, backend); `kind` as in the signature. A row in files, where one
    names all versions, and all backends, that do the same, with blanks between."""

    subject: Line
    triton: Annotated[str, Meta(max_length=400)]
    backend: Annotated[str, Meta(max_length=400)]
    verdict: Verdict
    kind: Line = ""
    torch: Annotated[str, Meta(max_length=40)] = ""
    """Set only where the installed torch is itself the subject."""


class CorpusEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"truth": "class"}):
    """One finding. The file lies at corpus/<target>/<id>.json; `truth` is the field "class" there."""

    schema: int = SCHEMA
    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_.-]{2,79}\Z")]
    title: Line
    upstream: tuple[Line, ...] = ()
    """Issue references such as triton#7749; empty when none is known."""
    explanation: Annotated[str, Meta(max_length=8000)] = ""
    truth: Truth = "unclassified"
    cause: Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9-]{2,59})?\Z")] = ""
    """Slug that all entries of one cause share, across targets and dtypes; empty while nobody knows."""
    stage: Stage = "unknown"
    status: Literal["stable", "flaky"] = "stable"
    reproduced: Annotated[str, Meta(pattern=r"^[0-9]+/[0-9]+\Z")] = "0/0"
    """k/n: failing runs out of all confirming runs of the shrunk case."""
    signature: WrittenSignature
    case: Case
    evidence: Evidence
    expected: tuple[Expectation, ...]
    found_in: WrittenEnvironment
    blame: tuple[Blame, ...] = ()
    """Where it goes wrong, by version and backend, as `tridiff blame` found it."""

    def __post_init__(self) -> None:
        if isinstance(self.signature, str):
            said = Signature.of_line(self.signature, self.case.target)
            msgspec.structs.force_setattr(self, "signature", said)
        if not self.signature.target:
            of_case = msgspec.structs.replace(self.signature, target=self.case.target)
            msgspec.structs.force_setattr(self, "signature", of_case)
        if isinstance(self.found_in, str):
            msgspec.structs.force_setattr(self, "found_in", Environment.of_line(self.found_in))
        if self.evidence.whole and (inputs := {**self._listed, **self.evidence.inputs}) != self.evidence.inputs:
            evidence = msgspec.structs.replace(self.evidence, inputs=inputs)
            msgspec.structs.force_setattr(self, "evidence", evidence)
        blame = tuple(one.behind_as_it_is(self._ended) for one in self.blame)
        if blame != self.blame:
            msgspec.structs.force_setattr(self, "blame", blame)
        if any(one.kind == _OF_SIGNATURE for one in self.expected):
            if len(self.signature.kind) > LONGEST:
                raise ValueError("the kind of its signature is too long for an expectation")
            msgspec.structs.force_setattr(self, "expected", self._with_kinds(_OF_SIGNATURE, self.signature.kind))
        if any(" " in one.triton + one.backend for one in self.expected):
            msgspec.structs.force_setattr(self, "expected", _apart(self.expected))

    @property
    def _listed(self) -> dict[str, tuple[str, ...]]:
        """What the inputs are, by the case."""
        return {spec.name: values for spec in self.case.arrays if (values := spec.listed) is not None}

    @property
    def _ended(self) -> str:
        """How the case ended, as a blame puts it."""
        return f"{self.signature.verdict.value} {self.signature.kind}".strip()[:200]

    def _with_kinds(self, old: str, new: str) -> tuple[Expectation, ...]:
        return tuple(msgspec.structs.replace(one, kind=new) if one.kind == old else one for one in self.expected)

    def in_files(self) -> dict[str, object]:
        """One row for all versions that do the same, and for all backends that do the same in the same versions, where
        it is read back as the rows that are there. The target once, in the case, and once, in the signature, the words
        of an error and how the case ended. The signature, and where it was found, in a line. Evidence of the whole
        without what the case lists."""
        kind = self.signature.kind
        rows = self._with_kinds(kind, _OF_SIGNATURE) if " " in kind else self.expected
        rows = _together(_together(rows, "triton"), "backend")
        told: dict[str, object] = {"blame": tuple(one.without_as_it_is(self._ended) for one in self.blame)}
        if msgspec.structs.replace(self, expected=rows).expected == self.expected:
            told["expected"] = rows
        if self.evidence.whole:
            listed = self._listed
            told["evidence"] = msgspec.structs.replace(self.evidence, inputs={
                name: values for name, values in self.evidence.inputs.items() if values != listed.get(name)})
        if line := self.found_in.line:
            told["found_in"] = line
        if self.signature.target == self.case.target:
            told["signature"] = self.signature.line or msgspec.structs.replace(self.signature, target="")
        return told


_OF_SIGNATURE = "="
"""The kind of an expectation, in files, that is the one of the signature."""


def _together(rows: tuple[Expectation, ...], field: str) -> tuple[Expectation, ...]:
    """One row for those that differ in one field alone."""
    values: dict[Expectation, list[str]] = {}
    for one in rows:
        values.setdefault(msgspec.structs.replace(one, **{field: ""}), []).append(getattr(one, field))
    return tuple(msgspec.structs.replace(one, **{field: " ".join(found)}) for one, found in values.items())


def _apart(rows: tuple[Expectation, ...]) -> tuple[Expectation, ...]:
    """A row for each version and backend, in the order in which the corpus keeps them."""
    found = [msgspec.structs.replace(one, triton=version, backend=backend) for one in rows
             for version in one.triton.split(" ") for backend in one.backend.split(" ")]
    return tuple(sorted(found, key=lambda one: (one.subject, one.triton, one.backend, one.torch)))
