"""What is decided from trials: one table of what was seen and the stage that is to blame for it."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.cases import addition
from tridiff.fuzz.blame import decide
from tridiff.fuzz.blame.decide import WITHOUT, Seen, decided
from tridiff.fuzz.blame.localise import _Search
from tridiff.fuzz.blame.record import shortened
from tridiff.fuzz.blame.trial import Result, Step, Trial, Values
from tridiff.fuzz.records import Blame, Outcome, Signature, Verdict
from tridiff.fuzz.records.blame import Effect, Tried

each = pytest.mark.parametrize


def outcome(verdict: Verdict) -> Outcome:
    signature = Signature(target="triton.floordiv", subject="own", verdict=verdict, kind="value")
    return Outcome(case_digest="0", target="triton.floordiv", subject="own", backend="cuda", verdict=verdict,
                   reason="r", signature=signature if verdict.failed else None)


def step(title: str, place: int = 0) -> Step:
    stage, name = title.split()
    return Step(stage=stage, place=place, name=name, changed=True)


def points(*titles: str, wrong_from: int = 99, skipped: tuple[int, ...] = ()) -> tuple[Values, ...]:
    """Values behind the front end and each step; wrong from the point with that number on."""
    return tuple(
        Values(behind=step(title, place) if title else None, problem="an operation is missing") if place in skipped else
        Values(behind=step(title, place) if title else None,
               outcome=outcome(Verdict.DISAGREE if place >= wrong_from else Verdict.AGREE))
        for place, title in enumerate(("", *titles)))


def vector(**effects: Effect) -> tuple[Tried, ...]:
    return tuple(Tried(change=getattr(decide, name), effect=effect) for name, effect in effects.items())


def on_device(values: tuple[Values, ...] = (), *more: Tried, **effects: Effect) -> Seen:
    return Seen(subject="own", backend="cuda", values=values, vector=(*vector(**effects), *more))


PASSES = ("make_ttir add_inliner", "make_ttir add_combine", "make_ttgir add_coalesce", "make_ttgir add_pipeline")
WITHOUT_PIPELINE = Tried(change="without make_ttgir add_pipeline", effect="gone")

TABLE: dict[str, tuple[Seen, tuple[str, str, str]]] = {
    "wrong as the front end made it": (on_device(points(*PASSES, wrong_from=0)), ("front-end", "", "seen")),
    "wrong behind a pass on TTIR": (
        on_device(points(*PASSES, wrong_from=2)), ("ttir", "make_ttir add_combine", "seen")),
    "wrong behind a pass on TTGIR": (
        on_device(points(*PASSES, wrong_from=4)), ("ttgir", "make_ttgir add_pipeline", "seen")),
    "wrong behind a pass, the one before it could not be evaluated": (
        on_device(points(*PASSES, wrong_from=4, skipped=(3,))), ("ttgir", "make_ttgir add_pipeline", "inferred")),
    "nothing can be evaluated and nothing helps": (
        on_device(points(*PASSES, skipped=(0, 1, 2, 3, 4)), LLVM_OFF="same", PTXAS_O0="same"),
        ("unknown", "", "not localised")),
    "right with ptxas at -O0": (on_device(LLVM_OFF="same", PTXAS_O0="gone"), ("ptxas", "", "inferred")),
    "right with ptxas at -O0 and without LLVM's optimisation": (
        on_device(LLVM_OFF="gone", PTXAS_O0="gone"), ("ptxas", "", "inferred")),
    "right with another ptxas": (
        on_device(LLVM_OFF="gone", PTXAS_O0="same", OTHER_PTXAS="gone"), ("ptxas", "", "inferred")),
    "right without LLVM's optimisation, and no time for ptxas": (
        on_device(LLVM_OFF="gone", PTXAS_O0="unknown"), ("unknown", "", "not localised")),
    "right without LLVM's optimisation only": (
        on_device(LLVM_OFF="gone", PTXAS_O0="same"), ("llvm", "", "inferred")),
    "right without contraction only": (
        on_device(LLVM_OFF="same", PTXAS_O0="same", NO_FUSION="gone"), ("llvm", "", "inferred")),
    "right without a pass": (
        on_device((), WITHOUT_PIPELINE, LLVM_OFF="same", PTXAS_O0="same", ONE_STAGE="gone"),
        ("ttgir", "make_ttgir add_pipeline", "inferred")),
    "right without a pass and without LLVM's optimisation": (
        on_device((), WITHOUT_PIPELINE, LLVM_OFF="gone", PTXAS_O0="same"),
        ("ttgir", "make_ttgir add_pipeline", "inferred")),
    "right TTGIR, wrong whatever LLVM and ptxas do": (
        on_device(points(*PASSES), LLVM_OFF="same", PTXAS_O0="same"), ("ttgir", "", "inferred")),
    "right on the interpreter, wrong whatever LLVM and ptxas do": (
        on_device(REPAIRED="gone", LLVM_OFF="same", PTXAS_O0="same"), ("ttgir", "", "inferred")),
    "torch.compile's kernel for a GPU wrong whatever LLVM and ptxas do, that for a CPU and ours right": (
        Seen(subject="inductor", backend="cuda", vector=vector(OWN="gone", REPAIRED="gone", LLVM_OFF="same",
                                                               PTXAS_O0="same")), ("inductor", "", "inferred")),
    "wrong on the interpreter, our kernel right": (
        Seen(subject="inductor", backend="interpreter", vector=vector(OWN="gone", STRICT="same")),
        ("inductor", "", "inferred")),
    "wrong on the interpreter for a truth value of a block": (
        Seen(subject="inductor", backend="interpreter", vector=vector(OWN="gone", STRICT="other")),
        ("interpreter", "", "seen")),
    "wrong on the interpreter, and so is the IR": (
        Seen(subject="own", backend="interpreter", values=points(wrong_from=0)), ("front-end", "", "seen")),
    "wrong on the interpreter, and so is the IR of a function of the library": (
        Seen(subject="own", backend="interpreter", values=points(wrong_from=0), library=("softmax",)),
        ("language", "", "inferred")),
    "wrong on the interpreter, the IR is right": (
        Seen(subject="own", backend="interpreter", values=points()), ("interpreter", "", "seen")),
}


@each("name", TABLE)
def test_what_was_seen_decides_the_stage(name: str):
    seen, expected = TABLE[name]
    found = decided(seen)
    assert (found.stage, found.step, found.confidence) == expected
    assert found.evidence


def compiled(entered: str, log: str = "", *, subject: str = "own", ended: str = "SIGABRT", ptx: str = "",
             **more: Any) -> Seen:
    return Seen(subject=subject, backend="compile:sm_90", failing_values=False,
                compiled=Result(ended=ended, entered=entered, log=log, ptx=ptx), **more)


PTX = "a\n// begin inline asm\ncvt.rn.satfinite.e4m3x2.f16x2 %rs1, %r1;\n// end inline asm\nadd.f32 x;\n"
REFUSED = "ptxas /tmp/x.ptx, line {}; error   : Feature 'cvt' requires .target sm_89 or higher"


@each("seen, expected", [
    (compiled("make_ttir add_combine"), ("ttir", "make_ttir add_combine")),
    (compiled("gluon_to_ttgir add_canonicalizer"), ("ttgir", "gluon_to_ttgir add_canonicalizer")),
    (compiled("make_llir add_to_llvmir"), ("ttgir", "make_llir add_to_llvmir")),
    (compiled("llvm optimize_module"), ("llvm", "llvm optimize_module")),
    (compiled("ptxas", ended="SIGSEGV"), ("ptxas", "")),
    (compiled("ptxas", REFUSED.format(3), ptx=PTX), ("ttgir", "")),
    (compiled("ptxas", REFUSED.format(5), ptx=PTX), ("llvm", "")),
    (compiled("llvm translate_to_asm", "LLVM ERROR: Cannot select: t34: v2bf16 = vselect t33, t12"),
     ("llvm", "llvm translate_to_asm")),
    (compiled("llvm translate_to_asm", "LLVM ERROR: Cannot select: t123: f16,ch = BUFFER_ATOMIC_FADD<(volatile)>"),
     ("ttgir", "")),
    (compiled("front-end"), ("front-end", "")),
    (compiled("front-end", "python: /x/lib/Dialect/TritonGPU/IR/Dialect.cpp:2176: f(): Assertion `a == b' failed."),
     ("ttgir", "")),
    (compiled("front-end", "k.py:7:16: error: failed to infer encoding", ended=""), ("ttgir", "")),
    (compiled("front-end", subject="inductor", vector=vector(OWN="gone")), ("inductor", "")),
    (compiled("front-end", subject="inductor", vector=vector(OWN="same")), ("front-end", "")),
])
def test_the_step_in_which_a_compilation_ends_is_to_blame(seen: Seen, expected: tuple[str, str]):
    found = decided(seen)
    assert (found.stage, found.step) == expected


def judged(kind: str, *, subject: str = "own", library: tuple[str, ...] = (), inside: str = "",
           verdict: Verdict = Verdict.DISAGREE, entered: str = "front-end", **more: Any) -> Seen:
    """A compilation that came to an end, with what was found wrong."""
    signature = Signature(target="language.refusals", subject=subject, verdict=verdict, kind=kind)
    ended = Outcome(case_digest="0", target="language.refusals", subject=subject, backend="compile:sm_90",
                    verdict=verdict, reason="r", signature=signature)
    return Seen(subject=subject, backend="compile:sm_90", failing_values=verdict is Verdict.DISAGREE,
                compiled=Result(outcome=ended, entered=entered, library=library, inside=inside), **more)


ERROR = Verdict.COMPILE_ERROR


@each("seen, expected", [
    (judged("accepted", entered="ptxas"), "front-end"),
    (judged("unclear: AssertionError in split"), "front-end"),
    (judged("no line named: RuntimeError in make_ir"), "front-end"),
    (judged("no line named: TypeError in visit_Assign", entered="compile"), "front-end"),
    (judged("unclear: IndexError in __getitem__", library=("argmax",), inside="argmax"), "language"),
    (judged("another_type", entered="ptxas"), "front-end"),
    (judged("another_type", entered="ptxas", library=("sort",)), "language"),
    (judged("another_type", entered="ptxas", subject="inductor"), "unknown"),
    (judged("'dtype' object has no attribute 'numel'", verdict=ERROR, library=("flip",), inside="flip"), "language"),
    (judged("'dtype' object has no attribute 'numel'", verdict=ERROR, library=("flip",)), "front-end"),
    (judged("hits", entered="ptxas", launching=True), "runtime"),
    (judged("hits", entered="ptxas"), "unknown"),
    (judged("same_code", entered="ptxas", launching=True), "unknown"),
    (judged("TypeError: expected string", verdict=ERROR, entered="compile"), "runtime"),
    (judged("JSONDecodeError: Unterminated string", verdict=Verdict.CRASH, entered="ptxas", launching=True), "runtime"),
    (judged("JSONDecodeError: Unterminated string", verdict=Verdict.CRASH, entered="ptxas"), "ptxas"),
    (judged("value", entered="ptxas", library=("softmax",), values=points(wrong_from=0)), "language"),
    (judged("value", entered="ptxas", library=("softmax",), values=points(*PASSES, wrong_from=2)), "ttir"),
    (judged("intrinsic call returns double", verdict=ERROR, entered="llvm to_module"), "ttgir"),
])
def test_what_a_finished_compilation_was_found_wrong_in_tells_the_stage(seen: Seen, expected: str):
    assert decided(seen).stage == expected


def test_an_exception_of_the_interpreter_is_its_own_where_the_compiler_takes_the_program():
    raising = Seen(subject="own", backend="interpreter", raised="crash ValueError", values=points(skipped=(0,)))
    assert decided(raising).stage == "interpreter"
    assert decided(Seen(subject="own", backend="interpreter", raised="crash ValueError")).stage == "unknown"
    def beside(*, ended: Seen | None = None, effect: Effect = "other") -> str:
        there = ended.compiled if ended is not None else None
        raised = "crash TypeError: unexpected type int8 and fp8"
        return decided(Seen(subject="own", backend="interpreter", raised=raised, compiled=there,
                            vector=vector(COMPILED=effect))).stage

    assert beside(effect="gone") == "interpreter"
    same = "unexpected type int16 and int16"
    assert beside(ended=judged(same, verdict=ERROR)) == "front-end"
    assert beside(ended=judged(same, verdict=ERROR, library=("sum",), inside="sum")) == "language"
    # Another reason, or a later one, says nothing of this one.
    assert beside(ended=judged("no pointer", verdict=ERROR)) == beside(
        ended=judged(same, verdict=ERROR, entered="ptxas")) == "unknown"
    builder = "compile_error 'triton._C.libtriton.ir.builder' object has no attribute 'get_fp8e5'"
    for raised, stage in (("TypeError: ufunc 'bitwise_and' not supported for the input types", "interpreter"),
                          ("TypeError: unexpected type fp8e5 and int32", "inductor")):
        generated = Seen(subject="inductor", backend="interpreter", raised=raised, vector=vector(OWN="gone"))
        assert decided(generated).stage == stage
    asked = Seen(subject="inductor", backend="interpreter", raised=builder, vector=vector(OWN="gone"))
    assert decided(asked).stage == "front-end"


@each("verdict, kind, here", [
    (Verdict.DISAGREE, "value", True), (Verdict.CRASH, "misaligned_address", True),
    (Verdict.CRASH, "illegal_instruction", True), (Verdict.CRASH, "SIGSEGV", False),
    (Verdict.COMPILE_ERROR, "PassManager::run failed", False)])
def test_what_the_device_stopped_has_run_and_is_no_failed_step(verdict: Verdict, kind: str, here: bool):
    ended = replace(outcome(verdict), signature=Signature(target="triton.floordiv", subject="own", verdict=verdict,
                                                          kind=kind))
    assert decide.ran(Result(outcome=ended, entered="launch")) == here
    assert not decide.ran(Result(ended="time", entered="llvm translate_to_asm"))


class Slow:
    """A laboratory in which no trial comes to its end."""

    left = 90.0

    def run(self, trial: Trial) -> Result:
        return Result(ended="time", entered="llvm translate_to_asm", triton="3.9.0")


def test_a_case_that_does_not_come_to_its_failure_in_time_is_not_localised():
    signature = outcome(Verdict.DISAGREE).signature
    found = _Search(addition(rows=2), "own", "cuda", signature, Slow(), "").blame()
    assert (found.stage, found.confidence) == ("unknown", "not localised")
    assert "did not come to its failure within 30 s" in found.evidence[0]


def test_a_kept_blame_says_once_how_the_case_ends():
    """Rows whose effect says it all have no words, passes without which nothing changes or compiles have no row."""
    rows = (("as it is", "same", "disagree value at tt.dot"), ("interpreter repaired", "gone", "agree"),
            ("evaluated IR behind front-end", "same", "disagree value at tt.dot"),
            ("one stage", "same", "disagree inf"), ("other warps", "gone", "not checked"),
            (f"{WITHOUT}a", "same", "disagree value at tt.dot"),
            (f"{WITHOUT}b", "other", "compile_error x"))
    found = Blame(stage="front-end", triton="3.9.0", backend="cuda", vector=tuple(
        Tried(change=change, effect=effect, said=said) for change, effect, said in rows))
    kept = shortened(found)
    assert [one.said for one in kept.vector] == ["disagree value at tt.dot", "", "", "disagree inf", "not checked"]
    assert [kept.ended(one) for one in kept.vector] == [said for _, _, said in rows[:5]]
    assert kept.operation == found.operation == "tt.dot"
    assert kept.evidence == ("it fails as before without any one of 1 other passes",
                             "nothing compiles without any one of 1 other passes")
    assert shortened(kept) == kept


def test_of_several_passes_that_help_the_first_that_needs_no_later_one_is_to_blame():
    steps = tuple(replace(step(f"make_ttgir {name}", place), place=place) for place, name in enumerate(
        ("add_convert_to_ttgpuir", "add_coalesce", "add_cse", "add_pipeline", "add_sccp")))
    asked = []

    class Room(Slow):
        def run(self, trial: Trial) -> Result:
            asked.append(trial.drop)
            if "make_ttgir#0" in trial.drop:
                return Result(outcome=outcome(Verdict.COMPILE_ERROR))
            right = {"make_ttgir#1", "make_ttgir#3"} & set(trial.drop)
            return Result(outcome=outcome(Verdict.AGREE if right else Verdict.DISAGREE))

    search = _Search(addition(rows=2), "own", "cuda", None, Room(), "")
    search._first, search._compiled = Result(outcome=outcome(Verdict.DISAGREE)), Result(steps=steps)
    search._omissions()
    assert decided(search._seen()).step == "make_ttgir add_pipeline"
    assert asked[5:] == [("make_ttgir#2", "make_ttgir#3", "make_ttgir#4"), ("make_ttgir#4",)]
