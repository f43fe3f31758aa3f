"""Blame: the stage and the pass of the compiler at which a case goes wrong, with what was tried to find out."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from tridiff.kernels import lines
from tridiff.kernels.record import Record

Stage = Literal[
    "language", "front-end", "interpreter", "ttir", "ttgir", "llvm", "ptxas", "runtime", "inductor", "eager",
    "hardware", "unknown",
]
"""The first stage whose result is wrong although what it was given is right.

language: what triton.language means by an operation or an option, and its functions that are written in the language
itself. front-end: from Python to Triton IR, with the checks and conversions on the way. interpreter:
Triton's own. ttir, ttgir: the passes on that IR; ttgir includes its lowering to LLVM IR. llvm: from there to PTX or GPU
assembly. ptxas: from PTX to machine code. runtime: launching. inductor: torch.compile's generator and its helpers.
eager: the other side, torch without a compiler. hardware: the device itself.
"""

Effect = Literal["same", "gone", "other", "unknown"]
"""What became of a failure under a change. same: it fails as before. gone: the case is right. other: it fails in
another way. unknown: the change could not be tried, or nothing was checked."""

Confidence = Literal["seen", "inferred", "not localised"]
"""seen: the step was watched going wrong (it failed there, or values were right before it and wrong behind). inferred:
changes of the compiler make the failure go away. not localised: neither."""

BEHIND = "the innermost line of its stack that no right case runs is in "
"""How a sentence of the evidence begins that names who is behind an error (`fuzz.blame.raised`)."""

RAISED = "it is raised in "
"""How a sentence of the evidence begins that names the function of Triton's which raises an error, whoever is behind
it."""

ALONE = "right cases run every line on the way there"
"""A sentence of the evidence: nobody else is behind such an error."""

DEPARTS = "of what a right build is given as well, another thing is made first in "
"""How a sentence of the evidence begins that names the function of Triton's Python layer which departs from a build
with which the case is right (`fuzz.blame.calls`)."""

# Changes on which a usual sentence rests.
REPAIRED, OWN, LLVM_OFF, PTXAS_O0 = "interpreter repaired", "own subject", "llvm optimisation off", "ptxas -O0"

# Sentences that mostly follow from the stage and from what was tried (`Blame.usual`).
RIGHT_AT_O0 = "ptxas at -O0 makes a right kernel of the same PTX"
RIGHT_UNOPTIMISED = "it is right without LLVM's optimisation, and ptxas at -O0 does not help"
LOWERING_IS_LEFT = ("the last TTGIR computes the right values, and neither LLVM's optimisation nor that of ptxas "
                    "matters: the lowering between them is left")
RIGHT_IR = "the IR that the front end makes computes the right values, the interpreter does not"
OURS_IS_RIGHT = "our kernel of the same contract is right on the same interpreter"
OURS_ALONE_IS_RIGHT = "our kernel of the same contract is right, and this one is wrong on the interpreter too"

LONGEST = 500
Text = Annotated[str, Meta(max_length=LONGEST)]

AS_IT_IS = "as it is"
"""The change that is none: how the case ended in the first place."""


class Tried(Record, kw_only=True, array_like=True):
    """One change and its effect. said: how the case ended then, in a few words; "" where the effect says it, which
    `Blame.ended` puts into words. A row in files, where one names all changes in a row that end alike, as
    `"ptxas -O0; other ptxas"`."""

    change: Text
    effect: Effect
    said: Text = ""


class Blame(Record, kw_only=True, rename={"step": "pass"}):
    """What one version of Triton does wrong with a case on one backend. `step` is the field "pass" in files.

    step: the pass, as "make_ttgir add_pipeline"; "" where no pass is to blame, or none was found. vector: every change
    that was tried, in order, behind `AS_IT_IS`. evidence: sentences on what was seen. Lines in files; an object where
    they do not tell it.
    """

    stage: Stage = "unknown"
    step: Text = ""
    confidence: Confidence = "not localised"
    triton: Text
    backend: Text
    subject: Text = "own"
    vector: tuple[Tried, ...] = ()
    evidence: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        if any(_AND in one.change for one in self.vector):
            msgspec.structs.force_setattr(self, "vector", _apart(self.vector))

    def in_files(self) -> dict[str, object]:
        """One row for neighbours that end alike, where it is read back as the rows that are there."""
        rows = _together(self.vector)
        return {"vector": rows} if _apart(rows) == self.vector else {}

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for where and what, as `3.9.0 cuda inductor: ttgir, make_ttgir add_pipeline (seen)`, one for each row
        of the vector, as `other: own subject: crash SIGSEGV`, and the evidence without a usual first sentence; () where
        `of_lines` does not read them back."""
        where = f"{self.triton} {self.backend}" + (f" {self.subject}" if self.subject != _OWN else "")
        rows = (_IS.join((one.effect, one.change, *([one.said] if one.said else []))) for one in _together(self.vector))
        evidence = self.evidence[self.evidence[:1] == (self.usual,):]
        return lines.written(self, (f"{where}{_IS}{self.line}", *rows, *evidence), Blame.of_lines)

    @staticmethod
    def of_lines(told: tuple[str, ...]) -> "Blame":
        """The blame that lines say; ValueError or ValidationError if they say none."""
        where, _, place = (told or ("",))[0].partition(_IS)
        words = where.split(" ")
        if len(words) not in (2, 3):
            raise ValueError(f"{where[:80]!r} is not where a blame is of")
        fields: dict[str, object] = dict(zip(("triton", "backend", "subject"), words, strict=False))
        if place != _NOT_LOCALISED:
            front, _, confidence = place.removesuffix(")").rpartition(" (")
            stage, _, step = front.partition(", ")
            fields |= {"stage": stage, "pass": step, "confidence": confidence}
        rows, evidence = [], []
        for one in told[1:]:
            effect, _, rest = one.partition(_IS)
            if effect in get_args(Effect):
                change, _, said = rest.partition(_IS)
                rows.append((change, effect, said))
            else:
                evidence.append(one)
        found = msgspec.convert({**fields, "vector": rows, "evidence": evidence}, Blame)
        return replace(found, evidence=(found.usual, *evidence)) if found.usual else found

    @property
    def usual(self) -> str:
        """The first sentence of the evidence as it usually is of such a stage and vector; "" where nothing is usual."""
        effects = {one.change: one.effect for one in self.vector}
        unoptimised, ours = (effects.get(LLVM_OFF), effects.get(PTXAS_O0)), effects.get(OWN)
        interpreted = self.backend == "interpreter"
        said = {
            RIGHT_AT_O0: self.stage == "ptxas" and unoptimised[1] == "gone",
            RIGHT_UNOPTIMISED: self.stage == "llvm" and unoptimised == ("gone", "same"),
            LOWERING_IS_LEFT: self.stage == "ttgir" and not self.step and unoptimised == ("same", "same"),
            RIGHT_IR: (self.stage, self.confidence, self.subject) == ("interpreter", "seen", _OWN),
            OURS_IS_RIGHT: self.stage == "inductor" and interpreted and ours == "gone",
            OURS_ALONE_IS_RIGHT: (self.stage, self.confidence, ours, effects.get(REPAIRED)) == (
                "inductor", "inferred", "gone", "same"),
        }
        return next((sentence for sentence, usual in said.items() if usual), "")

    def ended(self, tried: Tried) -> str:
        """How the case ended under a change: right where the failure is gone, as without any where it is the same."""
        if tried.said:
            return tried.said
        return {"gone": "agree", "same": self.vector[0].said}.get(tried.effect, "")

    def behind_as_it_is(self, said: str) -> "Blame":
        """The blame with how the case ended as it is; itself where it says that, or tells of no change at all."""
        unsaid = self.vector[:1] == (_UNSAID,)
        if not self.vector or (self.vector[0].change == AS_IT_IS and not unsaid):
            return self
        first = replace(_UNSAID, said=said)
        return replace(self, vector=(first, *self.vector[unsaid:]))

    def without_as_it_is(self, said: str) -> "Blame":
        """The blame without that, or with that row alone without its words, where `behind_as_it_is` gives it back."""
        rest = replace(self, vector=self.vector[1:] or (_UNSAID,))
        return rest if rest.behind_as_it_is(said) == self else self

    @property
    def localised(self) -> bool:
        return self.confidence != _NOT_LOCALISED

    @property
    def gone(self) -> tuple[str, ...]:
        """The changes under which the case is right, in order."""
        return tuple(one.change for one in self.vector if one.effect == "gone")

    @property
    def operation(self) -> str:
        """At which operation the IR behind the pass departs from the IR before it, and that of the front end from a
        right build's; "" where that is not known."""
        place = self.step or "front-end"
        behind = (one for one in self.vector if one.effect == "same" and one.change.endswith(f"IR behind {place}"))
        return next(filter(None, (self.ended(one).partition(" at ")[2] for one in behind)), "")

    @property
    def behind(self) -> str:
        """Which function of Triton's Python layer is behind the failure, "FILE FUNCTION"; "" where none is known."""
        return self._told(DEPARTS) or self._told(BEHIND)

    @property
    def raised(self) -> str:
        """The function that raises the error; "" where a right build tells who departs."""
        return "" if self._told(DEPARTS) else self._told(RAISED)

    @property
    def alone(self) -> bool:
        """Whether nobody else is behind the error."""
        return bool(self.raised) and (ALONE in self.evidence or self.behind == self.raised)

    def _told(self, begin: str) -> str:
        return next((one.removeprefix(begin) for one in self.evidence if one.startswith(begin)), "")

    @property
    def named(self) -> bool:
        """Whether it names what is wrong, in whatever target that shows."""
        return bool(self.operation or self.behind)

    @property
    def line(self) -> str:
        """The blame in a line."""
        where = f"{self.stage}, {self.step}" if self.step else self.stage
        return f"{where} ({self.confidence})" if self.localised else _NOT_LOCALISED


_AND, _IS, _OWN = "; ", ": ", "own"
_NOT_LOCALISED: Confidence = "not localised"
_UNSAID = Tried(change=AS_IT_IS, effect="same")


def _together(rows: tuple[Tried, ...]) -> tuple[Tried, ...]:
    found: list[Tried] = []
    for one in rows:
        change = f"{found[-1].change}{_AND}{one.change}" if found else ""
        if found and (found[-1].effect, found[-1].said) == (one.effect, one.said) and len(change) <= LONGEST:
            found[-1] = replace(one, change=change)
        else:
            found.append(one)
    return tuple(found)


def _apart(rows: tuple[Tried, ...]) -> tuple[Tried, ...]:
    return tuple(replace(one, change=change) for one in rows for change in one.change.split(_AND))
