"""One case, from description to verdict: materialise, launch, wait, check memory, judge."""

import contextlib
import dataclasses
import time
from collections.abc import Callable
from typing import Any

import torch
from msgspec.structs import replace

from tridiff.fuzz.backends import kind, lacking_type
from tridiff.fuzz.backends.launch import HoldsBack, Launch, LaunchReport, Runner, Times, resolve, unlike
from tridiff.fuzz.content.place import Buffer, buffers_of
from tridiff.fuzz.content.small import fits
from tridiff.fuzz.content.staging import Staging
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.assertion import asserting_code, assertion_due, missing_assertion
from tridiff.fuzz.judge.check import Check, Found
from tridiff.fuzz.judge.control import as_conflict
from tridiff.fuzz.judge.expected_ir import expected_ir
from tridiff.fuzz.judge.ir import cells as ledger_cells
from tridiff.fuzz.judge.memory_order import memory_order
from tridiff.fuzz.judge.observed import code, observed
from tridiff.fuzz.judge.outputs import Expectations, Judged, evidence_of_inputs
from tridiff.fuzz.judge.repetition import repetition
from tridiff.fuzz.judge.trespass import trespass
from tridiff.fuzz.judge.untouched import untouched
from tridiff.fuzz.judge.values import values
from tridiff.fuzz.judge.variation import variation
from tridiff.fuzz.known.explain import explained_launch, wrong_in
from tridiff.fuzz.records import (
    Case,
    Evidence,
    Launched,
    LaunchOptions,
    Outcome,
    RowCounts,
    Seconds,
    Signature,
    Verdict,
)
from tridiff.fuzz.records.observed import Observe, Observed
from tridiff.fuzz.records.outcome import PERHAPS_TRAPPED, SOURCE_READ, TRAPPED
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import PLAIN, Subject, parse_subject
from tridiff.fuzz.verdicts import WrittenTwice
from tridiff.fuzz.workers import failures, sabotage
from tridiff.fuzz.workers.artefacts import KEPT_ON_DEVICE, Artefacts
from tridiff.fuzz.workers.diagnostics import Diagnostics
from tridiff.kernels import generated

CHECKS: tuple[Check, ...] = (missing_assertion, trespass, memory_order, values, untouched, expected_ir,
                             asserting_code, repetition, variation)
"""What is asked of every launch, in this order: a new oracle that looks at more than values is one file and its name
here."""

COMPILED_CHECKS: tuple[Check, ...] = (memory_order, expected_ir, asserting_code)
"""What is asked of a case that is compiled and not launched."""


class Executor:
    """Runs cases on one backend of this process. Not thread-safe; one case at a time."""

    def __init__(self, *, backend: str) -> None:
        self._kind = kind(backend)
        self._device = torch.device("cuda") if self._kind == "cuda" else torch.device("cpu")
        self._runners: dict[str, Runner] = {}
        self._artefacts: Artefacts | None = None
        self._staging: Staging | None = None
        self.observed: Observed | None = None
        """What the last case gave bit for bit, if that was asked for."""
        self.on_error: Callable[[BaseException], None] = lambda error: None
        """Called with what a case raises, before it is sorted into a verdict."""
        if self._kind == "cuda":
            self._poison_device()
            self._staging = Staging(self._device)
        if self._kind == "interpreter":
            from tridiff.fuzz import interpreter

            interpreter.install()
        else:
            self._artefacts = Artefacts(kept=KEPT_ON_DEVICE if self._kind == "cuda" else 0)

    def _repair(self, subject: Subject) -> None:
        """Put the repairs for the subject in force."""
        from tridiff.fuzz.interpreter import Repairs, install

        install(Repairs.none() if subject.name == PLAIN else Repairs.of(subject.name))

    def _lacking(self, attempt: Callable[[], "Attempt"]) -> tuple[str, ...]:
        """The known issues of the repairs that a case of the plain interpreter lacks."""
        from tridiff.fuzz import interpreter
        from tridiff.fuzz.workers.plain import lacking

        def agrees(repairs: interpreter.Repairs) -> bool:
            interpreter.install(repairs)
            try:
                return attempt().run().verdict is Verdict.AGREE
            except interpreter.NoStandIn:  # a refusal instead of a result that is none
                return True
            except Exception:
                return False

        return lacking(agrees)

    def _told(self, outcome: Outcome, attempt: Callable[[], "Attempt"]) -> Outcome:
        """The outcome, with the repairs that it lacks if it is a failure of the plain interpreter."""
        if outcome.subject != PLAIN or not outcome.verdict.failed:
            return outcome
        return replace(outcome, explained_by=self._lacking(attempt), explained_too=())

    def _poison_device(self) -> None:
        """Dirty fresh device memory and every scratch allocation, so that reads of either show."""
        import triton

        torch.full((64 << 20,), 0xAB, dtype=torch.uint8, device=self._device)

        def poisoned(size: int, alignment: int, stream: int | None) -> torch.Tensor:
            return torch.full((size,), 0xAB, dtype=torch.uint8, device=self._device)

        triton.set_allocator(poisoned)

    def _runner(self, backend: str) -> Runner:
        if backend not in self._runners:
            made: Runner
            if self._kind == "cuda":
                from tridiff.fuzz.backends.cuda import CudaRunner

                made = CudaRunner()
            elif self._kind == "interpreter":
                from tridiff.fuzz.backends.interpreter import InterpreterRunner

                made = InterpreterRunner()
            elif self._kind == "evaluated":
                from tridiff.fuzz.backends.evaluated import EvaluatingRunner

                made = EvaluatingRunner(backend.partition(":")[2])
            else:
                from tridiff.fuzz.backends.compile import CompileRunner

                made = CompileRunner(backend.partition(":")[2])
            self._runners[backend] = made
        return self._runners[backend]

    def _sources(self, backend: str) -> Runner:
        """What stops at the source IR of kernels for the chip of a backend."""
        name = f"source of {backend}"
        if name not in self._runners:
            from tridiff.fuzz.backends.compile import target_of
            from tridiff.fuzz.backends.source import SourceRunner

            chip = target_of(backend.partition(":")[2])
            self._runners[name] = SourceRunner(f"compile:{chip.arch}", chip)
        return self._runners[name]

    def execute(
        self, case: Case, subject_name: str, *, backend: str, stage: Callable[[str], None] = lambda name: None,
        want_inputs: bool = False, inputs_only: bool = False, observe: Observe | None = None,
    ) -> tuple[Outcome, bool]:
        """The outcome, and whether this process must end because its device context is unusable. Raises TridiffError
        for a case that cannot be run (unknown target, too large, bad subject)."""
        self.observed = None
        case.check()
        target = find(case.target)
        try:
            accepted = target.draw.valid(case)
        except (KeyError, AttributeError, TypeError, ValueError):
            accepted = False  # a stranger's case may lack the very arrays that the check looks at
        if not accepted:
            raise TridiffError(f"{case.target} does not accept this case", fix="draw it with `tridiff fuzz`")
        subject = parse_subject(subject_name, target)
        if self._kind == "interpreter":
            self._repair(subject)
        staging = self._staging if case.arrays and fits(case.elements(), len(case.arrays)) else None
        runner = self._runner(backend)
        if self._kind in ("cuda", "evaluated"):
            runner.on_stage = stage  # type: ignore[attr-defined]
        said = Diagnostics()

        def begun() -> Attempt:
            return Attempt(case, target, subject, backend, self._device, runner, stage, want_inputs, staging)

        attempt, compiling = begun(), contextlib.ExitStack()
        try:
            if observe is not None and observe.anew and self._kind == "cuda":
                compiling.enter_context(runner.compiling_anew())  # type: ignore[attr-defined]
            if observe is not None and observe.stop == "source":
                attempt.runner = self._sources(backend)
                outcome = attempt.read_sources()
            elif observe is not None and observe.stop == "code":
                outcome = attempt.compile_launches()
            elif observe is not None and observe.timed:
                outcome = attempt.time_launches(observe.timed)
            else:
                outcome = attempt.describe() if inputs_only else attempt.run()
            if observe is not None:
                self.observed = replace(observed(attempt, observe), seconds=attempt.times)
            return self._told(outcome, begun), False
        except BaseException as error:
            failure = self._failure(error, backend, said)
            if observe is not None and attempt.reports:
                self.observed = Observed(code=code(attempt.reports))
            return self._told(attempt.failed(failure), begun), failure.spent
        finally:
            compiling.close()
            if isinstance(attempt.runner, HoldsBack):
                attempt.runner.compile_only = False
            if self._artefacts is not None:
                self._artefacts.sweep()

    def _failure(self, error: BaseException, backend: str, said: Diagnostics) -> failures.Failure:
        """How a launch ended. Raises the error where it is no launch's."""
        if isinstance(error, TridiffError):
            raise error
        self.on_error(error)
        found = failures.classify(error, backend, said=said.first(), asserted=said.asserted())
        generated.forget()
        return found


class Attempt:
    """The state of one execution, and the `Trial` of its checks: what has been done so far survives an exception as
    counts."""

    def __init__(self, case: Case, target: Target, subject: Subject, backend: str, device: torch.device,
                 runner: Runner, stage: Callable[[str], None], want_inputs: bool, staging: Staging | None) -> None:
        self.staging = staging
        self.home = torch.device("cpu") if staging is not None else device
        """Where arrays are made and judged; the kernel sees them on `device` in any case."""
        self.case, self.target, self.subject, self.backend = case, target, subject, backend
        self.device, self.runner, self.stage, self.want_inputs = device, runner, stage, want_inputs
        self.planted, self.ttgir = subject.fault, ""
        self.expected = Expectations()
        self.buffers: dict[str, Buffer] = {}
        self.judged: Judged | None = None
        self.explained: Found | None = None
        self.explained_elements: dict[str, torch.Tensor] = {}
        self.options, self.helper = case.options, None
        self.way: Launched | None = None
        """The last launch, where it was not as the first."""
        self.reports: list[LaunchReport] = []
        self.further_cells: set[str] = set()
        self.times: tuple[float, ...] = ()
        """Seconds of timed launches."""
        self.seconds = {"materialise": 0.0, "launch": 0.0, "judge": 0.0}
        self._mark = time.perf_counter()

    def _lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] += now - self._mark
        self._mark = now

    def describe(self) -> Outcome:
        """Materialise on the CPU and report the inputs; launches nothing."""
        buffers = buffers_of(self.case)
        return self._outcome(Verdict.NOT_CHECKED, reason="inputs only", evidence=evidence_of_inputs(self.case, buffers))

    def compile_launches(self) -> Outcome:
        """Compile what `run` would launch first and as other schedules, and launch nothing. For subjects and targets
        whose launches do not depend on what earlier ones gave: those that can be compiled ahead of time."""
        if not isinstance(self.runner, HoldsBack):
            return self._outcome(Verdict.NOT_CHECKED, reason=f"{self.backend} cannot compile a launch alone")
        helper = resolve(self.subject.helper)
        pointers = self._placed()
        self.runner.compile_only = True
        for schedule in range(1 + self.target.run.schedules(self.case)):
            self._run(pointers, helper, self.case.options, schedule)
        self.buffers = {}
        return self._outcome(Verdict.NOT_CHECKED, reason="compiled and not launched")

    def place(self) -> None:
        """Make the arrays."""
        self.buffers = buffers_of(self.case, self.home)
        self._lap("materialise")

    def _placed(self) -> dict[str, Any]:
        """Make the arrays; what a launch gets to point to them."""
        self.place()
        if self.staging is not None:
            return self.staging.upload(self.buffers)
        return {name: buffer.pointer for name, buffer in self.buffers.items()}

    def read_sources(self) -> Outcome:
        """The source IR of what `run` would launch first and as other schedules; no array is made. For subjects and
        targets as `compile_launches` says."""
        helper, pointers = resolve(self.subject.helper), self.stand_ins()
        for schedule in range(1 + self.target.run.schedules(self.case)):
            self._run(pointers, helper, self.case.options, schedule)
        return self._outcome(Verdict.NOT_CHECKED, reason=SOURCE_READ)

    def time_launches(self, number: int) -> Outcome:
        """Launch so many times after a first one, which compiles, and note how long each takes on the device."""
        if not isinstance(self.runner, Times):
            return self._outcome(Verdict.NOT_CHECKED, reason=f"{self.backend} has no clock")
        helper = resolve(self.subject.helper)
        pointers = self._placed()
        self._run(pointers, helper, self.case.options)
        self.times = tuple(self.runner.timed(lambda: self._run(pointers, helper, self.case.options, wait=False))
                           for _ in range(number))
        self.buffers = {}
        return self._outcome(Verdict.NOT_CHECKED, reason="timed and not judged")

    def run(self) -> Outcome:
        options = self.case.options
        if self.subject.hook == "runtime_error":
            # The planted assertion exists only in a kernel built with assertions on.
            options = replace(options, debug=True)
        helper = resolve(self.subject.helper)
        self.options, self.helper = options, helper
        if not self.case.arrays:
            return self._without_arrays(helper, options)
        if kind(self.backend) == "compile":
            return self._compile_only(helper, options)
        lacking = lacking_type(self.backend, {spec.dtype for spec in self.case.arrays})
        if lacking:
            return self._outcome(Verdict.NOT_CHECKED, reason=lacking)
        self.place()
        wrong_option = self._launch(self.buffers, helper, options)
        if wrong_option:
            return self._outcome(Verdict.NOT_CHECKED, reason=wrong_option)
        return self._answer()

    def _answer(self) -> Outcome:
        """What the checks say behind the first launch."""
        self.stage("judge")
        found = self._ask(CHECKS) or self.explained
        if found is not None:
            return self._found(found)
        assert self.judged is not None
        evidence = evidence_of_inputs(self.case, self.buffers) if self.want_inputs else self.judged.evidence
        return self._outcome(self.judged.verdict, reason=self.judged.reason, rows=self.judged.rows, evidence=evidence)

    def _without_arrays(self, helper: Any, options: LaunchOptions) -> Outcome:
        """A case that has no outputs judges what it observes itself (`Refuted`)."""
        self._run({}, helper, options)
        return self._outcome(Verdict.AGREE, rows=RowCounts(agree=1))

    def _ask(self, checks: tuple[Check, ...]) -> Found | None:
        """The first that a check finds and no known issue explains; the first that one explains becomes `explained`."""
        for check in checks:
            for found in map(self._of_launch, check(self)):
                if not found.explained_by:
                    return found
                self.explained = self.explained or found
        return None

    def _of_launch(self, found: Found) -> Found:
        """What was found of the last launch, with the launch that it was."""
        if self.way is None or not found.verdict.failed:
            return found
        return dataclasses.replace(found, evidence=replace(
            found.evidence or Evidence(), launched=self.way))

    def launch_again(self, *, options: LaunchOptions | None = None, schedule: int = 0,
                     second: bool = True) -> tuple[dict[str, Buffer], str]:
        """As `Trial` says."""
        again = {name: buffer.refill(second=second, written=name in self.target.run.written)
                 for name, buffer in self.buffers.items()}
        return again, self._launch(again, self.helper, self.options if options is None else options, schedule)

    def explanation(self, judged: Judged, buffers: dict[str, Buffer]) -> tuple[tuple[str, ...], ...]:
        """As `Trial` says."""
        launched = self.case if self.way is None else self.case.under(self.way.options)
        names = explained_launch(launched, self.target, self.subject.name, buffers, self.expected, judged)
        if names:
            for output, mask in wrong_in(launched, self.target, buffers, self.expected).wrong.items():
                before = self.explained_elements.get(output)
                self.explained_elements[output] = mask if before is None else mask | before
        return names

    def judging_done(self) -> None:
        """As `Trial` says."""
        self._lap("judge")

    def _launch(self, buffers: dict[str, Buffer], helper: Any, options: LaunchOptions, schedule: int = 0) -> str:
        """Launch and wait; returns a line when the compiler did not use the options that were asked for."""
        if self.staging is None:
            pointers = {name: buffer.pointer for name, buffer in buffers.items()}
            if self.runner.backend == "interpreter" and self.subject.name not in self.target.run.untraced:
                return self._traced(buffers, pointers, helper, options, schedule)
            return self._run(pointers, helper, options, schedule)
        wrong = self._run(self.staging.upload(buffers), helper, options, schedule)
        self.staging.download(buffers)
        self._lap("launch")
        return wrong

    def _run(self, pointers: dict[str, Any], helper: Any, options: LaunchOptions, schedule: int = 0, *,
             wait: bool = True) -> str:
        self.stage("compile" if kind(self.backend) == "compile" else "launch")
        self.way = None if (options, schedule) == (self.options, 0) else Launched(options=options, schedule=schedule)
        launch = Launch(case=self.case, pointers=pointers, helper=helper, fault=self.subject.hook,
                        planted=self.planted, options=options, runner=self.runner,
                        schedule=schedule, stage=self.stage)
        try:
            if self.subject.process_fault:
                sabotage.commit(self.subject.process_fault, self.runner, self.device)
            self.target.run.launch(launch)
            if wait:
                self.runner.synchronise()
        finally:
            if launch.reports and not self.reports:
                self.ttgir = launch.reports[-1].ttgir
            self.reports += launch.reports
            self._lap("launch")
        return unlike(launch.reports, options)

    def _traced(self, buffers: dict[str, Buffer], pointers: dict[str, Any], helper: Any,
                options: LaunchOptions, schedule: int) -> str:
        """Run interpreted with every access checked before it happens, and writes counted."""
        from tridiff.fuzz.interpreter import buffers as traced
        from tridiff.fuzz.interpreter.trace import recording
        from tridiff.fuzz.interpreter.views import coverage

        watched = []
        for name, buffer in buffers.items():
            size = buffer.storage.element_size()
            watched.append(traced.Buffer(
                name=name, address=pointers[name].data_ptr(), element_bytes=size,
                size_bytes=buffer.spec.span(self.case.sizes) * size, initialised=not buffer.is_output))
        with recording(watched) as trace:
            wrong = self._run(pointers, helper, options, schedule)
        if self.target.run.writes_once and not self.subject.process_fault:
            for name, buffer in buffers.items():
                if buffer.is_output and 0 not in buffer.shape:
                    twice = coverage(trace, name).written_more_than_once.size
                    if twice:
                        raise WrittenTwice(f"{twice} elements of {name} were written more than once", name)
        return wrong

    def _compile_only(self, helper: Any, options: LaunchOptions) -> Outcome:
        lacking = lacking_type(self.backend, {spec.dtype for spec in self.case.arrays})
        if lacking:
            return self._outcome(Verdict.NOT_CHECKED, reason=lacking)
        pointers = self.stand_ins()
        for schedule in range(1 + self.target.run.schedules(self.case)):
            wrong = self._run(pointers, helper, options, schedule)
            if wrong:
                return self._outcome(Verdict.NOT_CHECKED, reason=wrong)
        if not any(report.compiled for report in self.reports):
            return self._outcome(Verdict.NOT_CHECKED, reason="nothing to compile: the launch grid is empty")
        return self._answer_of_code()

    def _answer_of_code(self) -> Outcome:
        """What the checks say of a case that is compiled only."""
        found = self._ask(COMPILED_CHECKS)
        if found is not None:
            return self._found(found)
        return self._outcome(Verdict.AGREE, reason="compiled only; no value was checked")

    def stand_ins(self) -> dict[str, Any]:
        """For each array what its pointer tells the compiler."""
        from tridiff.fuzz.backends.compile import stand_ins

        return stand_ins(self.case)

    def failed(self, failure: failures.Failure) -> Outcome:
        """The outcome of a launch that raised."""
        due = assertion_due(self) if failure.kind in ("device_assert", "launch_failure") else False
        rows = RowCounts(agree=self.case.sizes.get("rows", 1))
        if failure.kind == "device_assert" and due is not False:
            return self._outcome(Verdict.AGREE, reason="the device assertion stopped the launch, as it must", rows=rows)
        if failure.kind == "launch_failure" and due:
            # Behind an assertion stands a trap, which CUDA names now and then in its place.
            self.further_cells.add(TRAPPED)
            return self._outcome(Verdict.AGREE, reason="the trap behind a device assertion stopped the launch, as it "
                                 "must", rows=rows)
        if failure.kind == "launch_failure" and due is None:
            return self._found(Found(kind=failure.kind, where=failure.where, verdict=failure.verdict,
                                     reason=f"{PERHAPS_TRAPPED}: {failure.reason}"))
        if failure.verdict is Verdict.NOT_CHECKED:
            return self._outcome(failure.verdict, reason=failure.reason)
        return self._found(self._of_launch(Found(kind=failure.kind, where=failure.where, reason=failure.reason,
                                                 verdict=failure.verdict)))

    def _found(self, found: Found) -> Outcome:
        signature = self._signature(found.verdict, found.kind, found.where) if found.verdict.failed else None
        return self._outcome(found.verdict, reason=found.reason, signature=signature, rows=found.rows,
                             failing_rows=found.failing_rows, evidence=found.evidence, explained_by=found.explained_by,
                             explained_too=found.explained_too)

    def _signature(self, verdict: Verdict, failure_kind: str, where: str) -> Signature:
        return Signature(target=self.target.name, subject=self.subject.name, verdict=verdict, kind=failure_kind,
                         where=self.target.judge.output_class(where), about=self.target.judge.label(self.case))

    def _outcome(self, verdict: Verdict, **fields: Any) -> Outcome:
        if verdict.failed and self.subject.name in self.target.controls:
            verdict, fields = Verdict.NOT_CHECKED, as_conflict(fields)
        fields["reason"] = " ".join(str(fields.get("reason", "")).split())[:2000]
        launches = 0 if kind(self.backend) == "compile" else len(self.reports)
        return Outcome(
            case_digest=self.case.digest, target=self.target.name, subject=self.subject.name, backend=self.backend,
            verdict=verdict, launches=launches, compiled_kernels=sum(r.compiled for r in self.reports),
            cells=tuple(sorted(self.further_cells.union(*(ledger_cells(one.ttgir) for one in self.reports)))),
            seconds=Seconds(**{k: round(v, 6) for k, v in self.seconds.items()}), **fields)
