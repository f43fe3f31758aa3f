"""CorpusEntry: a shrunk case, why it is wrong, and what each version is expected to do with it."""

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from tridiff.fuzz.records.blame import Blame, Stage as Stage
from tridiff.fuzz.records.case import Case
from tridiff.fuzz.records.codec import SCHEMA
from tridiff.fuzz.records.environment import Environment
from tridiff.fuzz.records.outcome import Evidence, Signature, Verdict
from tridiff.kernels import lines
from tridiff.kernels.record import Record

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

_AND, _IS, _TORCH = ", ", ": ", "torch "
SPANS = {"3.6.0 to 3.8.0": "3.6.0 3.7.1 3.8.0", "3.6.0 to 3.9.0": "3.6.0 3.7.1 3.8.0 3.9.0",
         "3.7.1 to 3.9.0": "3.7.1 3.8.0 3.9.0"}
"""Versions that files name by the first and the last of them. As of `environment.NAMED`, what a name stands for never
changes: a version that comes out between them later is not in it."""
_SPAN_OF = {versions: span for span, versions in SPANS.items()}


class Expectation(Record, kw_only=True, array_like=True):
    """The verdict seen for (subject, Triton version, backend); `kind` as in the signature. A line in files, where one
    names all versions, and all backends, that do the same, with blanks between; a row where a line does not tell it."""

    subject: Line
    triton: Annotated[str, Meta(max_length=400)]
    backend: Annotated[str, Meta(max_length=400)]
    verdict: Verdict
    kind: Line = ""
    torch: Annotated[str, Meta(max_length=40)] = ""
    """Set only where the installed torch is itself the subject."""

    def line(self, found: Signature) -> str:
        """The row as `3.6.0 to 3.9.0, cuda compile:sm_80,sm_90: disagree value`, under a subject that is not the one of
        the signature as `inductor, 3.9.0, cuda, torch 2.11.0: agree`; without the kind where verdict and kind are
        those of the signature. "" where `of_line` does not read it back."""
        words = [_SPAN_OF.get(self.triton, self.triton), _shared(self.backend)]
        words += [f"{_TORCH}{self.torch}"] if self.torch else []
        head = _AND.join(words if self.subject == found.subject else [self.subject, *words])
        same = (self.verdict, self.kind) == (found.verdict, found.kind)
        text = f"{head}{_IS}{self.verdict.value}{f' {self.kind}' if self.kind and not same else ''}"
        return lines.written(self, text, lambda line: Expectation.of_line(line, found))

    @staticmethod
    def of_line(line: str, found: Signature) -> "Expectation":
        """The row that a line says in an entry of this signature; ValueError or ValidationError if it says none."""
        head, _, said = line.partition(_IS)
        words = head.split(_AND)
        torch = words.pop().removeprefix(_TORCH) if words[-1].startswith(_TORCH) else ""
        if len(words) not in (2, 3):
            raise ValueError(f"{line[:80]!r} is no line of an expectation")
        verdict, behind, kind = said.partition(" ")
        if not behind and verdict == found.verdict.value:
            kind = found.kind
        subject, versions, backends = (found.subject, *words)[-3:]
        row = subject, SPANS.get(versions, versions), _each(backends), verdict, kind, torch
        return msgspec.convert(row, Expectation)


if TYPE_CHECKING:
    WrittenExpectation = Expectation
    WrittenBlame = Blame
else:  # Files have most of them in a line, or in several.
    WrittenExpectation = Expectation | str
    WrittenBlame = Blame | tuple[str, ...]


class CorpusEntry(Record, kw_only=True, rename={"truth": "class"}):
    """One finding. The file lies at corpus/<target>/<id>.json; `truth` is the field "class" there."""

    schema: int = SCHEMA
    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_.-]{2,79}\Z")] = ""
    """Never empty but in files, where it means the id that follows from the signature."""
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
    evidence: Evidence = Evidence()
    expected: tuple[WrittenExpectation, ...]
    found_in: WrittenEnvironment
    blame: tuple[WrittenBlame, ...] = ()
    """Where it goes wrong, by version and backend, as `tridiff blame` found it."""

    def __post_init__(self) -> None:
        if isinstance(self.signature, str):
            said = Signature.of_line(self.signature, self.case.target)
            msgspec.structs.force_setattr(self, "signature", said)
        if not self.signature.target:
            of_case = replace(self.signature, target=self.case.target)
            msgspec.structs.force_setattr(self, "signature", of_case)
        if not self.id:
            msgspec.structs.force_setattr(self, "id", entry_id(self.signature))
        if isinstance(self.found_in, str):
            msgspec.structs.force_setattr(self, "found_in", Environment.of_line(self.found_in))
        if self.evidence.whole and (inputs := {**self._listed, **self.evidence.inputs}) != self.evidence.inputs:
            evidence = replace(self.evidence, inputs=inputs)
            msgspec.structs.force_setattr(self, "evidence", evidence)
        lines.read_within(self, "blame", Blame.of_lines, form=tuple)
        blame = tuple(one.behind_as_it_is(self._ended) for one in self.blame)
        if blame != self.blame:
            msgspec.structs.force_setattr(self, "blame", blame)
        lines.read_within(self, "expected", lambda line: Expectation.of_line(line, self.signature))
        if any(one.kind == _OF_SIGNATURE for one in self.expected):
            if len(self.signature.kind) > LONGEST:
                raise ValueError("the kind of its signature is too long for an expectation")
            msgspec.structs.force_setattr(self, "expected", tuple(
                replace(one, kind=self.signature.kind) if one.kind == _OF_SIGNATURE else one
                for one in self.expected))
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

    def in_files(self) -> dict[str, object]:
        """One line for all versions that do the same, and for all backends that do the same in the same versions, where
        it is read back as the rows that are there. The target once, in the case, and once, in the signature, the words
        of an error and how the case ended. The signature, and where it was found, in a line. Evidence of the whole
        without what the case lists. The id where the signature gives another one."""
        rows = _together(_together(self.expected, "triton"), "backend")
        told: dict[str, object] = {"blame": tuple(
            one.lines or one for one in (full.without_as_it_is(self._ended) for full in self.blame))}
        if replace(self, expected=rows).expected != self.expected:
            rows = self.expected
        told["expected"] = tuple(one.line(self.signature) or one for one in rows)
        if self.evidence.whole:
            listed = self._listed
            told["evidence"] = replace(self.evidence, inputs={
                name: values for name, values in self.evidence.inputs.items() if values != listed.get(name)})
        if line := self.found_in.line:
            told["found_in"] = line
        if self.signature.target == self.case.target:
            told["signature"] = self.signature.line or replace(self.signature, target="")
        if self.id == entry_id(self.signature):
            told["id"] = ""
        return told


def entry_id(signature: Signature) -> str:
    """The id of a finding with this signature: its kind in plain letters, and the signature's digest."""
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in signature.kind.lower())[:24].strip("-")
    return f"{word or signature.verdict.value.replace('_', '-')}-{signature.digest}"


_OF_SIGNATURE = "="
"""The kind of an expectation, in rows of files, that is the one of the signature."""


def _shared(backends: str) -> str:
    """`cuda compile:sm_80 compile:sm_90` with one word for all architectures of a kind: `cuda compile:sm_80,sm_90`."""
    kinds: dict[str, list[str]] = {}
    for word in backends.split(" "):
        kind, _, architecture = word.partition(":")
        kinds.setdefault(kind, []).append(architecture)
    return " ".join(kind if found == [""] else f"{kind}:{','.join(found)}" for kind, found in kinds.items())


def _each(backends: str) -> str:
    """The words that `_shared` put together."""
    split = (word.partition(":") for word in backends.split(" "))
    return " ".join(f"{kind}{colon}{one}" for kind, colon, found in split for one in found.split(","))


def _together(rows: tuple[Expectation, ...], field: str) -> tuple[Expectation, ...]:
    """One row for those that differ in one field alone."""
    values: dict[Expectation, list[str]] = {}
    for one in rows:
        values.setdefault(replace(one, **{field: ""}), []).append(getattr(one, field))
    return tuple(replace(one, **{field: " ".join(found)}) for one, found in values.items())


def _apart(rows: tuple[Expectation, ...]) -> tuple[Expectation, ...]:
    """A row for each version and backend, in the order in which the corpus keeps them."""
    found = [replace(one, triton=version, backend=backend) for one in rows
             for version in one.triton.split(" ") for backend in one.backend.split(" ")]
    return tuple(sorted(found, key=lambda one: (one.subject, one.triton, one.backend, one.torch)))
