"""From what trials showed to the stage and the pass: rules over data, nothing is run here.

A stage is to blame if its result is wrong although what it was given is right. So a step that fails, or behind which
the evaluated IR is wrong for the first time, is to blame at once. Where only the device shows the failure, changes that
make it go away speak: with ptxas at -O0 the PTX is the same, so if the failure is gone then, the PTX was right.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tridiff.fuzz.blame.stages import FRONT_END, stage_of
from tridiff.fuzz.blame.trial import Result, Step, Values
from tridiff.fuzz.corpus.cause import message
from tridiff.fuzz.crashes import signature
from tridiff.fuzz.records import Verdict, blame
from tridiff.fuzz.records.blame import (
    LLVM_OFF as LLVM_OFF,
    OWN as OWN,
    PTXAS_O0 as PTXAS_O0,
    REPAIRED as REPAIRED,
    Confidence,
    Effect,
    Stage,
    Tried,
)
from tridiff.fuzz.workers.failures import DEVICE

# Names of changes, as vectors have them.
PLAIN, STRICT = "interpreter plain", "interpreter strict"
OTHER_PTXAS, NO_FUSION = "other ptxas", "no fp fusion"
ONE_STAGE, OTHER_WARPS = "one stage", "other warps"
EVALUATED, COMPILED = "evaluated IR", "compiled"
WITHOUT, PREFIX = "without ", "up to "

ANOTHER_CODE = ("codes", "same_code")
"""Kinds of failures in which compilations of one source give several codes."""

TO_LLVM = "llvm to_module"
"""The step that reads the lowered module as LLVM IR, and refuses one that is none."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    stage: Stage = "unknown"
    step: str = ""
    confidence: Confidence = "not localised"
    evidence: tuple[str, ...] = ()


def _seen(stage: Stage, *evidence: str, step: str = "") -> Decision:
    return Decision(stage=stage, step=step, confidence="seen", evidence=evidence)


def _inferred(stage: Stage, *evidence: str, step: str = "") -> Decision:
    return Decision(stage=stage, step=step, confidence="inferred", evidence=evidence)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Everything that is known of one failure. compiled: the stepped compilation, where there was one. values: of the
    IR behind every pass. subject: under which it fails. launching: whether the case is about launching and caches, not
    about a kernel. raised: the exception that the interpreter ended with, if it did. library: functions of Triton's own
    that the evaluated kernel was compiled with."""

    subject: str
    backend: str
    vector: tuple[Tried, ...] = ()
    compiled: Result | None = None
    values: tuple[Values, ...] = ()
    failing_values: bool = True
    launching: bool = False
    raised: str = ""
    library: tuple[str, ...] = ()
    steps: tuple[Step, ...] = field(default=())

    def effect(self, change: str) -> Effect:
        return next((one.effect for one in self.vector if one.change == change), "unknown")


def ran(result: Result) -> bool:
    """Whether the kernel ran: its values are wrong, or the device stopped it. Both may come of any stage."""
    outcome = result.outcome
    if outcome is None or outcome.signature is None:
        return False
    return outcome.verdict is Verdict.DISAGREE or outcome.signature.kind in {kind for _, kind in DEVICE}


def decided(seen: Seen) -> Decision:
    """The stage, the pass and how sure that is."""
    if another_code(seen):
        return Decision(evidence=("compilations of one source give several codes: which pass makes them differ is not "
                                  "found by leaving passes out, which changes the chance as well",))
    for rule in (_interpreted, _refusal, _launching, _failed_step, _wrong_values, _subject, _device):
        found = rule(seen)
        if found is not None:
            return _of_library(seen, found)
    return Decision(evidence=("no step was seen going wrong, and no change made the failure go away",))


_OF_NUMPY = "ufunc '"
"""What numpy says of operands that it does not take: ufunc 'bitwise_and' not supported for the input types."""


def _interpreted(seen: Seen) -> Decision | None:
    """A failure on the interpreter."""
    if seen.backend != "interpreter":
        return None
    if "triton._C." in seen.raised:
        return _inferred(
            "front-end", f"Triton's language asks Triton's own builder for what it has not: {seen.raised}"[:500])
    if seen.effect(OWN) == "gone" and seen.subject.startswith("inductor"):
        if seen.effect(STRICT) == "other":
            return _seen(
                "interpreter", "the kernel takes a truth value of a block, which the interpreter reads as Python does")
        if _OF_NUMPY in seen.raised:
            return _inferred(
                "interpreter", ("the language takes the kernel, and numpy, with which the interpreter computes, does "
                                f"not: {seen.raised}")[:500])
        return _inferred("inductor", blame.OURS_IS_RIGHT)
    if seen.effect(REPAIRED) == "gone":
        return _inferred("interpreter", "the repaired interpreter is right")
    wrong = _first_wrong(seen.values)
    if wrong is not None and wrong.behind is None:
        stage: Stage = "inductor" if seen.subject.startswith("inductor") else "front-end"
        return _seen(stage, "the IR that the front end makes computes the wrong values as well")
    if seen.values and wrong is None and all(one.outcome is not None for one in seen.values[:1]):
        return _seen("interpreter", blame.RIGHT_IR)
    if seen.raised and _front_end_says_so_too(seen):
        return _inferred(
            "front-end",
            f"the front end of the compiler, which goes through the same functions, says so too: {seen.raised}"[:500])
    taken = seen.values or seen.effect(COMPILED) == "gone"
    if seen.raised and taken and not seen.subject.startswith("inductor"):
        return _inferred(
            "interpreter", f"the compiler takes the same program, the interpreter raises {seen.raised}"[:500])
    if seen.subject.startswith("inductor"):
        return _inferred(
            "inductor", "it fails before anything is compiled, and there is no kernel of ours to compare with")
    return None


def _front_end_says_so_too(seen: Seen) -> bool:
    result = seen.compiled
    if result is None or result.entered != FRONT_END or result.outcome is None or result.outcome.signature is None:
        return False
    said = message(result.outcome.signature.kind)
    return bool(said) and said == message(seen.raised.partition(" ")[2])


def _of_library(seen: Seen, found: Decision) -> Decision:
    """A fault of the front end's result is the library's where a function of it, written in the language itself, is
    what the case cannot do without: it was shrunk."""
    result = seen.compiled
    library = seen.library or (result.library if result is not None else ())
    if found.stage != "front-end" or not library:
        return found
    inside = result.inside if result is not None else ""
    if not inside and result is not None and result.outcome is not None and (
            result.outcome.verdict is not Verdict.DISAGREE):
        return found
    said = f"it ends inside of {inside}" if inside else f"the kernel goes through {', '.join(library[:4])}"
    return _inferred("language", *found.evidence, f"{said}, which Triton's library writes in its own language")


def _kind(seen: Seen) -> str:
    """How the first trial failed, where it came to its end and was found wrong."""
    outcome = seen.compiled.outcome if seen.compiled is not None else None
    if outcome is None or outcome.verdict is not Verdict.DISAGREE or outcome.signature is None:
        return ""
    return outcome.signature.kind


def another_code(seen: Seen) -> bool:
    """Whether what fails is that compilations of one source differ."""
    return _kind(seen) in ANOTHER_CODE


def _refusal(seen: Seen) -> Decision | None:
    """A program that must be refused and is not, or not with a reason; a result of another type. All of that is settled
    when the front end is done, whatever the passes behind it do."""
    kind = "" if seen.subject.startswith("inductor") else _kind(seen)
    if kind == "accepted":
        return _inferred(
            "front-end", "a program that must be refused passes the front end, which is where programs are refused")
    if kind in ("another_type", "another_shape"):
        return _seen("front-end", f"the front end gives the result {kind.replace('_', ' ')}; no pass changes that")
    if kind.startswith(("another reason", "unclear", "no line named")):
        entered = seen.compiled.entered if seen.compiled is not None else ""
        if entered in (FRONT_END, "compile", ""):
            return _seen("front-end", f"the front end refuses the program, and what it says is wrong ({kind})"[:500])
    return None


def _launching(seen: Seen) -> Decision | None:
    """What launching counts and keeps (launches, hits of the cache, keys) is of no pass; nor is an exception that no
    compiler's words go with. Code that is another each time is the compiler's."""
    result = seen.compiled
    if not seen.launching or result is None or result.outcome is None or result.ended:
        return None
    told = result.outcome.signature.kind if result.outcome.signature is not None else ""
    if _kind(seen):
        return _inferred(
            "runtime",
            f"what is wrong is what launching keeps and counts ({told}); the compiler comes to its end"[:500])
    if not _kind(seen) and result.outcome.verdict.failed and signature(result.log) is None:
        return _inferred("runtime", f"launching raises {told}; the compiler says nothing"[:500])
    return None


def _failed_step(seen: Seen) -> Decision | None:
    """A compilation that did not come to its end."""
    result = seen.compiled
    if result is None or seen.failing_values:
        return None
    outcome = result.outcome
    if outcome is not None and not outcome.verdict.failed:
        return None
    entered = result.entered
    if not entered:
        return None
    how = result.ended or (outcome.verdict.value if outcome is not None else "")
    crash = signature(result.log)
    message = outcome.signature.kind if outcome is not None and outcome.signature is not None else ""
    said = f" ({crash.rule}: {crash.key})" if crash is not None else f" ({message})" if message else ""
    stage, step = stage_of(entered)
    evidence = [f"run step by step, the compiler ends in {entered} with {how}{said}"[:500]]
    if stage == "front-end":
        if seen.subject.startswith("inductor") and seen.effect(OWN) in ("gone", "unknown"):
            evidence.append("our kernel of the same contract compiles" if seen.effect(OWN) == "gone"
                            else "the kernel's text is torch.compile's")
            return Decision(stage="inductor", confidence="seen" if seen.effect(OWN) == "gone" else "inferred",
                            evidence=tuple(evidence))
        of_dialect = crash is not None and re.search(r"/Dialect/Triton(?:Nvidia)?GPU", crash.line)
        if crash is not None and crash.rule == "triton-assertion" and of_dialect:
            evidence.append("the assertion is one of the dialect of TTGIR, whose operations Gluon's front end builds")
            return _seen("ttgir", *evidence)
        if crash is not None and crash.rule == "layout-not-inferred":
            evidence.append("layouts are inferred by the dialect of TTGIR, whose operations Gluon's front end builds")
            return _seen("ttgir", *evidence)
        return _seen("front-end", *evidence)
    if stage == "ptxas" and crash is not None and crash.rule in ("ptxas-refusal", "ptxas-aborted"):
        inline = _inside_inline_assembly(result.ptx, crash.line + "\n" + result.log)
        evidence.append(f"ptxas refuses the PTX; the line it names was written by "
                        f"{'the lowering, as inline assembly' if inline else 'LLVM'}")
        return _inferred("ttgir" if inline else "llvm", *evidence)
    if crash is not None and crash.rule == "llvm-fatal" and re.search(r"Cannot select: .*= ?[A-Z]+_[A-Z_]+", crash.key):
        evidence.append("what cannot be selected is an instruction of the target, which the lowering asked for by name")
        return _inferred("ttgir", *evidence)
    if entered == "compile" and not result.ended and not seen.launching:
        evidence.append("that is before the front end begins, where options and arguments are read")
        return _inferred("runtime", *evidence)
    if entered == TO_LLVM and not result.ended:
        evidence.append("what is refused there is the module that the lowering made")
        return _inferred("ttgir", *evidence)
    return Decision(stage=stage, step=step, confidence="not localised" if stage == "unknown" else "seen",
                    evidence=tuple(evidence))


def _inside_inline_assembly(ptx: str, said: str) -> bool:
    found = re.search(r"line (\d+)", said)
    if not found or not ptx:
        return False
    inside = False
    for line in ptx.splitlines()[:int(found[1])]:
        inside = (inside and "end inline asm" not in line) or "begin inline asm" in line
    return inside


def _first_wrong(values: Sequence[Values]) -> Values | None:
    return next((one for one in values if one.outcome is not None and one.outcome.verdict.failed), None)


def _wrong_values(seen: Seen) -> Decision | None:
    """IR that computes wrong values behind a pass and right ones before it."""
    last_right: Values | None = None
    skipped: list[str] = []
    for one in seen.values:
        if one.outcome is None:
            skipped.append(one.behind.title if one.behind else FRONT_END)
            continue
        if not one.outcome.verdict.failed:
            last_right, skipped = one, []
            continue
        if one.behind is None:
            stage: Stage = "inductor" if seen.subject.startswith("inductor") else "front-end"
            if stage == "front-end" and seen.effect(REPAIRED) == "gone":
                return _seen(
                    "front-end", "the IR that the front end makes computes wrong values; the interpreter, which does "
                                 "not make it, computes the right ones")
            return _seen(stage, "the IR that the front end makes computes wrong values already")
        if last_right is None:
            return None
        stage, step = stage_of(one.behind.title)
        before = last_right.behind.title if last_right.behind else "the front end"
        between = f"; not evaluated between them: {', '.join(skipped)}" if skipped else ""
        return Decision(stage=stage, step=step, confidence="inferred" if skipped else "seen", evidence=(
            f"evaluated on the case's inputs, the IR is right behind {before} and wrong behind "
            f"{one.behind.title}{between}"[:500],))
    return None


def _subject(seen: Seen) -> Decision | None:
    if seen.subject.startswith("inductor") and seen.effect(OWN) == "gone" and seen.effect(REPAIRED) == "same":
        return _inferred("inductor", blame.OURS_ALONE_IS_RIGHT)
    return None


def beside_a_baseline(found: Decision, effect: Effect) -> Decision:
    """What is decided of a failure once the same torch had another Triton, and what that changed: where it is right
    there, Inductor is not to blame on its own."""
    if found.stage != "inductor" or effect != "gone":
        return found
    return Decision(evidence=(*found.evidence, "with the baseline's Triton the same torch is right: what is wrong is "
                              "Triton's, or what torch.compile writes for this release of it alone"))


def _device(seen: Seen) -> Decision | None:
    """A failure that only the device shows, by the changes that make it go away."""
    gone = seen.effect
    right_ir = bool(seen.values) and all(one.outcome is not None and not one.outcome.verdict.failed
                                         for one in seen.values[-1:])
    if gone(PTXAS_O0) == "gone":
        return _inferred("ptxas", blame.RIGHT_AT_O0)
    if gone(OTHER_PTXAS) == "gone":
        return _inferred("ptxas", "another release of ptxas makes a right kernel of the same PTX")
    omitted = [one.change.removeprefix(WITHOUT) for one in seen.vector
               if one.change.startswith(WITHOUT) and one.effect == "gone"]
    prefix = [one.change.removeprefix(PREFIX) for one in seen.vector
              if one.change.startswith(PREFIX) and one.effect == "same"]
    if gone(LLVM_OFF) == "gone" and gone(PTXAS_O0) == "unknown":
        # Less optimised code may only be code that ptxas makes nothing wrong of.
        return Decision(evidence=("it is right without LLVM's optimisation; what ptxas at -O0 makes was not seen",))
    if gone(LLVM_OFF) == "gone" and not omitted:
        return _inferred("llvm", blame.RIGHT_UNOPTIMISED)
    if gone(NO_FUSION) == "gone" and not omitted:
        return _inferred("llvm", "it is right where nothing is contracted")
    if omitted:
        named = [one for one in omitted if prefix and one == prefix[0]] or omitted
        stage, step = stage_of(named[0])
        return _inferred(
            stage, f"it is right without {' or without '.join(omitted)}, all else as it was"[:500], step=step)
    if gone(ONE_STAGE) == "gone":
        return _inferred("ttgir", "it is right where loops are not pipelined", step="make_ttgir add_pipeline")
    if right_ir and gone(LLVM_OFF) in ("same", "other") and gone(PTXAS_O0) in ("same", "other"):
        return _inferred("ttgir", blame.LOWERING_IS_LEFT)
    if gone(REPAIRED) == "gone" and gone(LLVM_OFF) in ("same", "other") and gone(PTXAS_O0) in ("same", "other"):
        if seen.subject.startswith("inductor") and gone(OWN) == "gone":
            # The interpreter runs what torch.compile writes for a CPU, which need not be what it writes for a GPU.
            return _inferred(
                "inductor",
                "our kernel of the same contract is right, and neither LLVM's optimisation nor that of ptxas matters")
        return _inferred("ttgir", "the interpreter is right, and neither LLVM's optimisation nor that of ptxas matters")
    return None
