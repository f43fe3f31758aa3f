"""Blame for one failing case: which trials are run, in which order, and what was decided."""

import dataclasses
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame import decide
from tridiff.fuzz.blame.calls import departing
from tridiff.fuzz.blame.jobs import backends_of
from tridiff.fuzz.blame.laboratory import Laboratory, OutOfTime
from tridiff.fuzz.blame.raised import innermost
from tridiff.fuzz.blame.stages import FRONT_END, INLINED
from tridiff.fuzz.blame.trial import Result, Trial, Values
from tridiff.fuzz.builds import Build
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame, Case, CorpusEntry, Outcome, Signature, Verdict
from tridiff.fuzz.records.blame import ALONE, AS_IT_IS, BEHIND, DEPARTS, RAISED, Effect, Tried
from tridiff.fuzz.registry import find

SECONDS = 120.0
"""The budget of one blame."""

MOST_OMISSIONS = 24
"""Passes left out one at a time, the ones that change the IR first to last."""

TRIAL_SECONDS = 60.0

EVALUATION_SECONDS = 30.0
"""The longest that the IR is evaluated, all passes together."""


BASELINE = "with the baseline"

RIGHT_SECONDS = 7.0
"""The longest that right cases may take to be drawn and run (`fuzz.blame.right`), once for many findings; where less is
left of a budget, none is spent on them."""


class NotFailing(TridiffError):
    """The case does not fail here, so there is nothing to blame."""


class _InCompiler(Exception):
    """What was to be evaluated is not compiled."""


def blame(case: Case, subject: str, backend: str, *, signature: Signature | None = None, seconds: float = SECONDS,
          build: Build | None = None, baseline: Build | None = None, plant: str = "",
          laboratory: Laboratory | None = None) -> Blame:
    """Where the case goes wrong. signature: how it fails; default as it does in the first trial. baseline: a build in
    which it may be right.

    Raises NotFailing where it does not fail here, and TridiffError where it cannot be run."""
    own = laboratory is None
    used = laboratory or Laboratory(seconds=seconds, build=build, baseline=baseline)
    try:
        return _Search(case, subject, backend, signature, used, plant).blame()
    except _InCompiler:
        compiling = f"compile:{backend.partition(':')[2]}"
        found = _Search(case, subject, compiling, signature, used, plant).blame()
        return replace(found, backend=backend)
    finally:
        if own:
            used.close()


def backend_here(entry: CorpusEntry, backends: tuple[str, ...], triton: str = "") -> str:
    """The backend on which an entry can be blamed here with a version of Triton (`jobs.backends_of`), "" if there is
    none."""
    return next(iter(backends_of(entry, backends, triton)), "")


_LIBRARY = re.compile(r"/_?(?:standard|math|random)\.py ")
"""Files of functions that Triton writes in its own language."""

LAUNCHING = ("launch.caches", "launch.events", "launch.sources")
"""Targets whose cases are about launching, caches and hooks: what they compile is right, and is not watched, because a
compilation that is watched is never taken from the cache."""


class _Search:
    def __init__(self, case: Case, subject: str, backend: str, signature: Signature | None, laboratory: Laboratory,
                 plant: str) -> None:
        self._case, self._subject, self._backend, self._plant = case, subject, backend, plant
        self._signature = signature
        self._laboratory = laboratory
        self._vector: list[Tried] = []
        self._values: tuple[Values, ...] = ()
        self._library: tuple[str, ...] = ()
        self._compiled: Result | None = None
        self._longest = min(TRIAL_SECONDS, laboratory.left / 3)
        """Seconds of one trial: one that does not end leaves time for others."""

    def _trial(self, name: str, **more: object) -> Trial:
        given = {"case": self._case, "subject": self._subject, "backend": self._backend, "plant": self._plant,
                 "seconds": self._longest, **more}
        return Trial(name=name, **given)  # type: ignore[arg-type]

    def _note(self, name: str, result: Result) -> Effect:
        effect, said = effect_of(result, self._first)
        self._vector.append(Tried(change=name, effect=effect, said=said))
        return effect

    def _try(self, name: str, **more: object) -> Effect:
        return self._note(name, self._laboratory.run(self._trial(name, **more)))

    def blame(self) -> Blame:
        compiled = kind(self._backend) != "interpreter"
        stepped = compiled and self._case.target not in LAUNCHING
        first = self._laboratory.run(self._trial(AS_IT_IS, stepped=stepped, texts=False))
        if first.refused:
            raise TridiffError(first.refused, fix="check the case with `tridiff replay`")
        self._first = first
        if not failed(first):
            reason = first.outcome.reason if first.outcome else first.ended
            raise NotFailing(f"the case does not fail on {self._backend} with Triton {first.triton}"
                             f"{f' ({reason})' if reason else ''}", fix="name a backend on which it fails")
        self._compiled = first if compiled else None
        if first.ended == "time" and (self._signature is None or self._signature.verdict is not Verdict.HANG):
            # Another failure than the one that is asked about: nothing follows from where it was then.
            return Blame(triton=first.triton, backend=self._backend, subject=self._subject, vector=(
                Tried(change=AS_IT_IS, effect="unknown", said=told(first)),), evidence=(
                f"compiled pass by pass it did not come to its failure within {self._longest:.0f} s",))
        values = decide.ran(first)
        if kind(self._backend) == "evaluated" and not values:
            if first.outcome is not None and first.outcome.verdict is Verdict.COMPILE_ERROR:
                raise _InCompiler
            raise NotFailing(f"it does not come to values on {self._backend} ({told(first)})",
                             fix="name a backend on which it fails")
        self._vector.append(Tried(change=AS_IT_IS, effect="same", said=told(first)))
        with suppress(OutOfTime):
            self._search(values)
        raised = told(first) if kind(self._backend) == "interpreter" and not values else ""
        seen = self._seen(failing_values=values or kind(self._backend) == "interpreter", steps=first.steps,
                          raised=raised)
        found = decide.decided(seen)
        departed = tuple(self._departing(found))
        found = decide.beside_a_baseline(
            found, dataclasses.replace(seen, vector=tuple(self._vector)).effect(BASELINE))
        made = Blame(stage=found.stage, step=found.step, confidence=found.confidence, triton=first.triton,
                     backend=self._backend, subject=self._subject, vector=tuple(self._vector),
                     evidence=(*found.evidence, *departed, *self._behind(first)))
        if made.behind and made.stage in ("front-end", "language"):
            # Who is behind it says more than what the kernel goes through.
            return replace(made, stage="language" if _LIBRARY.search(made.behind) else "front-end")
        return made

    def _departing(self, found: decide.Decision) -> Iterator[str]:
        """A sentence on which function departs from the baseline, if the case is right there; else, where the IR of the
        front end is wrong, at which operation it departs from that of the baseline."""
        baseline = self._laboratory.baseline
        if baseline is None or found.step or found.stage in ("ttir", "ttgir", "llvm", "ptxas", "hardware"):
            return
        with suppress(OutOfTime):
            there = baseline.run(self._trial(AS_IT_IS, plant=""))
            self._note(BASELINE, there)
            if there.outcome is None or failed(there):
                return
            name = self._function()
            if name:
                yield f"{DEPARTS}{name}"[:500]
            elif self._values and self._values[0].outcome is not None and self._values[0].outcome.verdict.failed:
                texts = baseline.run(self._trial("IR", evaluated=True, texts=True, plant="")).texts
                self._evaluate(texts.get(INLINED) or texts.get(FRONT_END, ""))

    def _function(self) -> str:
        """The function that departs from the baseline, "" where none does."""
        baseline = self._laboratory.baseline
        assert baseline is not None
        evaluated = kind(self._backend) == "evaluated"
        backend = f"compile:{self._backend.partition(':')[2]}" if evaluated else self._backend
        trial = self._trial("calls", calls=True, plant="", backend=backend)
        ours, theirs = self._laboratory.run(trial), baseline.run(trial)
        if not ours.calls or not theirs.calls or failed(theirs):
            return ""
        usual = self._laboratory.usual(self._trial("right cases", right=True, calls=True, plant="", backend=backend,
                                                   seconds=2 * RIGHT_SECONDS))
        stack = [f"{one.file} {one.function}" for one in self._first.stack]
        return departing(ours.calls, theirs.calls, usual, stack, only=self._laboratory.triton != baseline.triton)

    def _behind(self, first: Result) -> Iterator[str]:
        """Sentences on who raises the error with which the first trial ended, and on who is behind it."""
        if not first.stack:
            return
        yield f"{RAISED}{first.stack[0].file} {first.stack[0].function}"[:500]
        with suppress(OutOfTime):
            lines = self._laboratory.lines(self._trial("right cases", right=True, plant="",
                                                       seconds=RIGHT_SECONDS))
            if lines is not None:
                name = innermost(first.stack, lines)
                yield f"{BEHIND}{name}"[:500] if name else ALONE

    def _seen(self, **more: object) -> decide.Seen:
        given = {"subject": self._subject, "backend": self._backend, "vector": tuple(self._vector),
                 "compiled": self._compiled, "values": self._values, "library": self._library,
                 "launching": self._case.target in LAUNCHING, **more}
        return decide.Seen(**given)  # type: ignore[arg-type]

    def _search(self, values: bool) -> None:
        other = self._other_subject()
        if other:
            self._try(decide.OWN, subject=other)
        if kind(self._backend) == "interpreter":
            self._on_interpreter()
        elif values:
            self._on_device()
        else:
            self._in_compiler()

    def _other_subject(self) -> str:
        """Our kernel of the same contract, for a failure of torch's."""
        target = find(self._case.target)
        return "own" if self._subject.startswith("inductor") and "own" in target.subjects else ""

    def _evaluate(self, source: str = "") -> None:
        """Values of the IR behind every pass, on the CPU. source: the right IR of the front end, of the baseline."""
        result = self._laboratory.run(self._trial("evaluated", evaluated=True, source=source,
                                                    seconds=min(EVALUATION_SECONDS, self._longest)))
        self._values = result.values
        self._library = result.library
        if result.refused or result.ended:
            self._vector.append(Tried(change=decide.EVALUATED, effect="unknown", said=told(result)))
            return
        for one in (next((one for one in result.values if one.outcome is None), None), *result.values[-1:]):
            if one is None:
                continue
            behind = one.behind.title if one.behind else FRONT_END
            if one.outcome is None:
                tried = Tried(change=f"{decide.EVALUATED} behind {behind}", effect="unknown", said=one.problem[:200])
            else:
                failed_ = one.outcome.verdict.failed
                tried = Tried(change=f"{decide.EVALUATED} behind {behind}", effect="same" if failed_ else "gone",
                              said=" at ".join(filter(None, (one.outcome.verdict.value, one.operation)))[:200])
            if tried not in self._vector:
                self._vector.append(tried)

    def _on_interpreter(self) -> None:
        self._try(decide.PLAIN, repairs="none")
        self._try(decide.STRICT, repairs="strict")
        self._evaluate()
        if not self._values and self._case.target not in LAUNCHING and not self._subject.startswith("inductor"):
            result = self._laboratory.run(self._trial(decide.COMPILED, backend="compile:sm_90", stepped=True))
            effect = self._note(decide.COMPILED, result)
            there, first = (one.outcome.signature if one.outcome else None for one in (result, self._first))
            alike = there and first and (effect, there.kind) == ("same", first.kind)
            if alike or (there and there.verdict is Verdict.COMPILE_ERROR):
                self._compiled = result

    def _in_compiler(self) -> None:
        """A pass failed, and which one is known: what makes it go away tells findings of one cause."""
        if self._compiled is not None and self._compiled.entered == "front-end":
            return
        for name, more in self._changes(run=False):
            self._try(name, stepped=True, **more)

    def _on_device(self) -> None:
        self._interpret()
        seen = self._seen()
        if decide.another_code(seen) or decide.decided(seen).stage in ("front-end", "language", "runtime"):
            return  # Not a matter of values.
        self._evaluate()
        if decide.decided(self._seen()).confidence == "seen":
            return
        for name, more in self._changes(run=kind(self._backend) == "cuda"):
            self._try(name, **more)
        self._omissions()

    def _interpret(self) -> None:
        try:
            self._try(decide.REPAIRED, backend="interpreter", plant="")
        except TridiffError:
            return

    def _changes(self, *, run: bool) -> Iterator[tuple[str, dict[str, object]]]:
        """Changes of options and stages. run: the kernel runs, so that changes below the IR show."""
        options = self._case.options
        amd = self._backend.endswith("gfx942")
        yield decide.LLVM_OFF, {"environment": {"DISABLE_LLVM_OPT": "1"}}
        if run and not amd:
            yield decide.PTXAS_O0, {"environment": {"DISABLE_PTXAS_OPT": "1"}}
            for path in other_assemblers():
                yield decide.OTHER_PTXAS, {"environment": {"TRITON_PTXAS_PATH": path,
                                                           "TRITON_PTXAS_BLACKWELL_PATH": path}}
        if options.enable_fp_fusion:
            yield decide.NO_FUSION, {"case": self._with(enable_fp_fusion=False)}
        if options.num_stages != 1:
            yield decide.ONE_STAGE, {"case": self._with(num_stages=1)}
        yield decide.OTHER_WARPS, {"case": self._with(num_warps=1 if options.num_warps != 1 else 4)}

    def _with(self, **options: object) -> Case:
        return replace(self._case, options=replace(self._case.options, **options))

    def _omissions(self) -> None:
        """Passes that change the IR, left out one at a time. Where several of them help, the first behind which it is
        wrong without any later one that can be left out is to blame."""
        first = self._compiled
        changing = [step for step in first.steps if step.changed] if first is not None else []
        effects = {step: self._try(f"{decide.WITHOUT}{step.title}", drop=(step.key,))
                   for step in changing[:MOST_OMISSIONS]}
        free = [step for step, effect in effects.items() if effect in ("gone", "same")]
        helping = [step for step in free if effects[step] == "gone"]
        for step in helping if len(helping) > 1 else ():
            later = tuple(one.key for one in free[free.index(step) + 1:])
            if self._try(f"{decide.PREFIX}{step.title}", drop=later) == "same":
                return


def failed(result: Result) -> bool:
    """Whether a trial speaks against the subject."""
    if result.refused or result.ended == "lost":
        return False
    return bool(result.ended) or (result.outcome is not None and result.outcome.verdict.failed)


def told(result: Result) -> str:
    """How a trial ended, in a few words."""
    if result.refused:
        return result.refused[:200]
    if result.ended:
        return f"{result.ended} in {result.entered}"[:200] if result.entered else result.ended
    outcome = result.outcome
    if outcome is None:
        return "no answer"
    kind_ = outcome.signature.kind if outcome.signature is not None else ""
    return f"{outcome.verdict.value} {kind_}".strip()[:200]


def effect_of(result: Result, first: Result) -> tuple[Effect, str]:
    """How a trial stands to the failure."""
    said = told(result)
    if result.refused or (result.ended in ("lost", "time") and first.ended != "time"):
        return "unknown", said
    outcome = result.outcome
    if outcome is not None and outcome.verdict is Verdict.AGREE:
        return "gone", said
    if outcome is not None and outcome.verdict is Verdict.NOT_CHECKED:
        return "unknown", f"{said}: {outcome.reason}"[:200]
    return ("same" if _alike(result, first) else "other"), said


def _alike(result: Result, first: Result) -> bool:
    if (result.outcome is None) != (first.outcome is None) or result.ended != first.ended:
        return False
    if result.outcome is None or first.outcome is None:
        return result.entered == first.entered
    return _way(result.outcome) == _way(first.outcome)


def _way(outcome: Outcome) -> tuple[str, str]:
    """How an outcome fails; values may be wrong in other ways and be the same failure."""
    return outcome.verdict.value, "" if outcome.verdict is Verdict.DISAGREE else (
        outcome.signature.kind if outcome.signature is not None else "")


def other_assemblers() -> Iterator[str]:
    """Programs `ptxas` at hand beside the one that Triton takes: in TRIDIFF_PTXAS, and of a CUDA toolkit."""
    places = [*os.environ.get("TRIDIFF_PTXAS", "").split(os.pathsep), "/usr/local/cuda/bin/ptxas"]
    for place in dict.fromkeys(filter(None, places)):
        if Path(place).is_file() and os.access(place, os.X_OK):
            yield place
