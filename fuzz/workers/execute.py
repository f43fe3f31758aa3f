"""One case, from description to verdict: materialise, launch, wait, check memory, judge."""

import time
from collections.abc import Callable
from typing import Any

import msgspec
import torch

from tridiff.fuzz.backends import kind, lacking_type
from tridiff.fuzz.backends.launch import Launch, LaunchReport, Runner, resolve
from tridiff.fuzz.content.place import Buffer, place
from tridiff.fuzz.content.staging import Staging, fits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.control import as_conflict
from tridiff.fuzz.judge.ir import cells as ledger_cells
from tridiff.fuzz.judge.outputs import Expectations, Judged, evidence_of_inputs, judge_outputs, same_bits
from tridiff.fuzz.judge.ptx_orders import missing_orders
from tridiff.fuzz.known.explain import explained_launch
from tridiff.fuzz.records import Case, Evidence, LaunchOptions, Outcome, RowCounts, Seconds, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import Subject, parse_subject
from tridiff.fuzz.verdicts import WrittenTwice
from tridiff.fuzz.workers import failures, sabotage
from tridiff.fuzz.workers.artefacts import KEPT_ON_DEVICE, Artefacts
from tridiff.fuzz.workers.diagnostics import Diagnostics

_NO_ROWS = RowCounts()


class Executor:
    """Runs cases on one backend of this process. Not thread-safe; one case at a time."""

    def __init__(self, *, backend: str) -> None:
        self._kind = kind(backend)
        self._device = torch.device("cuda") if self._kind == "cuda" else torch.device("cpu")
        self._runners: dict[str, Runner] = {}
        self._artefacts: Artefacts | None = None
        self._staging: Staging | None = None
        if self._kind == "cuda":
            self._poison_device()
            self._staging = Staging(self._device)
        if self._kind == "interpreter":
            from tridiff.fuzz import interpreter

            interpreter.install()
        else:
            self._artefacts = Artefacts(kept=KEPT_ON_DEVICE if self._kind == "cuda" else 0)

    def _repair(self, subject: Subject) -> None:
        """Own kernels must not use `and`, `or`, `not` on blocks: the interpreter refuses them. Upstream ones do,
        and what comes out wrong is the finding, so there Python's truth value stands."""
        from tridiff.fuzz import interpreter

        interpreter.install(interpreter.Repairs(block_truth=subject.name.startswith("own")))

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
            else:
                from tridiff.fuzz.backends.compile import CompileRunner

                made = CompileRunner(backend.partition(":")[2])
            self._runners[backend] = made
        return self._runners[backend]

    def execute(
        self, case: Case, subject_name: str, *, backend: str, stage: Callable[[str], None] = lambda name: None,
        want_inputs: bool = False, inputs_only: bool = False,
    ) -> tuple[Outcome, bool]:
        """The outcome, and whether this process must end because its device context is unusable.

        Raises TridiffError for a case that cannot be run (unknown target, too large, bad subject).
        """
        case.check()
        target = find(case.target)
        try:
            accepted = target.valid(case)
        except (KeyError, AttributeError, TypeError, ValueError):
            accepted = False  # a stranger's case may lack the very arrays that the check looks at
        if not accepted:
            raise TridiffError(f"{case.target} does not accept this case", fix="draw it with `tridiff fuzz`")
        subject = parse_subject(subject_name, target)
        if self._kind == "interpreter":
            self._repair(subject)
        staging = self._staging if fits(case.elements(), len(case.arrays)) else None
        runner = self._runner(backend)
        if self._kind == "cuda":
            runner.on_stage = stage  # type: ignore[attr-defined]
        said = Diagnostics()
        attempt = _Attempt(case, target, subject, backend, self._device, runner, stage, want_inputs, staging)
        try:
            return (attempt.describe() if inputs_only else attempt.run()), False
        except BaseException as error:
            if isinstance(error, TridiffError):
                raise
            failure = failures.classify(error, backend, said=said.first(), asserted=said.asserted())
            return attempt.failed(failure), failure.spent
        finally:
            if self._artefacts is not None:
                self._artefacts.sweep()


class _Attempt:
    """The state of one execution: what has been done so far survives an exception as counts."""

    def __init__(self, case: Case, target: Target, subject: Subject, backend: str, device: torch.device,
                 runner: Runner, stage: Callable[[str], None], want_inputs: bool, staging: Staging | None) -> None:
        self.staging = staging
        self.home = torch.device("cpu") if staging is not None else device
        """Where arrays are made and judged; the kernel sees them on `device` in any case."""
        self.case, self.target, self.subject, self.backend = case, target, subject, backend
        self.device, self.runner, self.stage, self.want_inputs = device, runner, stage, want_inputs
        self.expected = Expectations()
        self.explained: tuple[Judged, tuple[str, ...]] | None = None
        """The failure that known issues predict to the element, if a launch gave one, and their names."""
        self.reports: list[LaunchReport] = []
        self.seconds = {"materialise": 0.0, "launch": 0.0, "judge": 0.0}
        self._mark = time.perf_counter()

    def _lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] += now - self._mark
        self._mark = now

    def describe(self) -> Outcome:
        """Materialise on the CPU and report the inputs; launches nothing."""
        buffers = {spec.name: place(spec, self.case.sizes, device=torch.device("cpu")) for spec in self.case.arrays}
        return self._outcome(Verdict.NOT_CHECKED, reason="inputs only", evidence=evidence_of_inputs(self.case, buffers))

    def run(self) -> Outcome:
        options = self.case.options
        if self.subject.hook == "runtime_error":
            # The planted assertion exists only in a kernel built with assertions on.
            options = msgspec.structs.replace(options, debug=True)
        helper = resolve(self.subject.helper)
        if kind(self.backend) == "compile":
            return self._compile_only(helper, options)
        buffers = {spec.name: place(spec, self.case.sizes, device=self.home) for spec in self.case.arrays}
        self._lap("materialise")
        wrong_option = self._launch(buffers, helper, options)
        if wrong_option:
            return self._outcome(Verdict.NOT_CHECKED, reason=wrong_option)
        self.stage("judge")
        if self._must_assert():
            return self._finding("assertion_missing", where="assertion",
                                 evidence=evidence_of_inputs(self.case, buffers),
                                 reason="a device assertion that must stop the launch did not")
        unsound = self._trespassed(buffers) or self._weakly_ordered()
        if unsound is not None:
            return unsound
        judged = judge_outputs(self.case, self.target, buffers, self.expected)
        self._lap("judge")
        if judged.verdict is Verdict.NOT_CHECKED:
            return self._judged(judged)
        unstable = self._unexplained(judged, buffers) or self._repeat(buffers, helper, options, judged) or self._vary(
            buffers, helper, judged)
        if unstable is not None:
            return unstable
        if self.explained is not None:
            wrong, names = self.explained
            return msgspec.structs.replace(self._judged(wrong), explained_by=names)
        return self._judged(judged, buffers if self.want_inputs else None)

    def _unexplained(self, judged: Judged, buffers: dict[str, Buffer]) -> Outcome | None:
        """The finding of a launch with wrong elements. What known issues predict to the element is set aside, and is
        what the case gives only if none of its launches shows anything else."""
        if not judged.verdict.failed:
            return None
        names = explained_launch(self.case, self.target, self.subject.name, buffers, self.expected, judged)
        if not names:
            return self._judged(judged)
        self.explained = self.explained or (judged, names)
        return None

    def _launch(self, buffers: dict[str, Buffer], helper: Any, options: LaunchOptions, schedule: int = 0) -> str:
        """Launch and wait; returns a line when the compiler did not use the options that were asked for."""
        if self.staging is None:
            pointers = {name: buffer.pointer for name, buffer in buffers.items()}
            if self.runner.backend == "interpreter" and self.subject.name not in self.target.untraced:
                return self._traced(buffers, pointers, helper, options, schedule)
            return self._run(pointers, helper, options, schedule)
        wrong = self._run(self.staging.upload(buffers), helper, options, schedule)
        self.staging.download(buffers)
        self._lap("launch")
        return wrong

    def _run(self, pointers: dict[str, Any], helper: Any, options: LaunchOptions, schedule: int = 0) -> str:
        self.stage("compile" if kind(self.backend) == "compile" else "launch")
        launch = Launch(case=self.case, pointers=pointers, helper=helper, fault=self.subject.hook,
                        planted=self.subject.name.partition("+fault:")[2], options=options, runner=self.runner,
                        schedule=schedule, stage=self.stage)
        try:
            if self.subject.process_fault:
                sabotage.commit(self.subject.process_fault, self.runner, self.device)
            self.target.launch(launch)
            self.runner.synchronise()
        finally:
            self.reports += launch.reports
            self._lap("launch")
        for report in launch.reports:
            for name, value in (report.readback or {}).items():
                asked = getattr(options, name)
                if value != asked:
                    return f"asked for {name}={asked}, the compiled kernel has {name}={value}"
        return ""

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
        if self.target.writes_once and not self.subject.process_fault:
            for name, buffer in buffers.items():
                if buffer.is_output and 0 not in buffer.shape:
                    twice = coverage(trace, name).written_more_than_once.size
                    if twice:
                        raise WrittenTwice(f"{twice} elements of {name} were written more than once", name)
        return wrong

    def _compile_only(self, helper: Any, options: LaunchOptions) -> Outcome:
        from tridiff.fuzz.backends.compile import Pointer
        from tridiff.oracles.dtypes import dtype

        lacking = lacking_type(self.backend, {spec.dtype for spec in self.case.arrays})
        if lacking:
            return self._outcome(Verdict.NOT_CHECKED, reason=lacking)

        def pointer(name: str) -> Pointer:
            spec = self.case.array(name)
            aligned = spec.layout.offset * dtype(spec.dtype).itemsize % 16 == 0
            return Pointer(dtype="i8" if spec.dtype == "i1" else spec.dtype, aligned=aligned)

        pointers = {spec.name: pointer(spec.name) for spec in self.case.arrays}
        for schedule in range(1 + self.target.schedules(self.case)):
            wrong = self._run(pointers, helper, options, schedule)
            if wrong:
                return self._outcome(Verdict.NOT_CHECKED, reason=wrong)
        if not any(report.compiled for report in self.reports):
            return self._outcome(Verdict.NOT_CHECKED, reason="nothing to compile: the launch grid is empty")
        return self._weakly_ordered() or self._outcome(Verdict.AGREE, reason="compiled only; no value was checked")

    def _weakly_ordered(self) -> Outcome | None:
        """The finding that the compiled code lacks a memory order which the target declares. Asked before values are
        judged: it is the cause of what they may show."""
        wanted = self.target.orders(self.case)
        lacking = {order for ptx in {report.ptx for report in self.reports} for order in missing_orders(ptx, wanted)}
        if not lacking:
            return None
        return self._finding("memory_order", where="ptx",
                             reason=f"the compiled kernel does not promise {' or '.join(sorted(lacking))}")

    def _memory_violation(self, buffers: dict[str, Buffer]) -> tuple[str, str, str] | None:
        """The first array with a write where none may be; one synchronisation for all arrays."""
        names = list(buffers)
        counts = torch.stack([count for name in names for count in (
            buffers[name].trespass_count(), buffers[name].overwritten_count())]).tolist()
        for name, outside, changed in zip(names, counts[::2], counts[1::2], strict=True):
            if outside:
                return "out_of_bounds", name, f"{outside} elements outside array {name} were written"
            if changed and name not in self.target.written:
                return "input_overwritten", name, f"{changed} elements of input {name} were written"
        return None

    def _trespassed(self, buffers: dict[str, Buffer]) -> Outcome | None:
        """The finding that a launch wrote where it must not; asked after every launch."""
        found = self._memory_violation(buffers)
        if found is None:
            return None
        return self._finding(found[0], where=found[1], reason=found[2], evidence=evidence_of_inputs(self.case, buffers))

    def _repeat(self, buffers: dict[str, Buffer], helper: Any, options: LaunchOptions,
                judged: Judged) -> Outcome | None:
        """Launch again over other poison; also when an output holds the poison pattern, which a lane that was
        never written shares with a right answer (a NaN is a NaN)."""
        suspicious = any(buffer.is_output and bool((buffer.logical == buffer.poison).any())
                         for buffer in buffers.values())
        for number in range(max(self.case.repeats, int(suspicious))):
            again = self._refilled(buffers, second=number % 2 == 0)
            self._launch(again, helper, options)
            trespass = self._trespassed(again)
            if trespass is not None:
                return trespass
            if self.target.unordered(self.case):
                unexplained = self._unexplained(
                    judge_outputs(self.case, self.target, again, self.expected), again)
                if unexplained is not None:
                    return unexplained
            different = same_bits(self.case, self.target, buffers, again, bits=True)
            self._lap("judge")
            if different:
                name, count = different
                untouched = (buffers[name].logical == buffers[name].poison) & (
                    again[name].logical == again[name].poison)
                unwritten = number % 2 == 0 and bool(untouched.any())
                return self._finding(
                    "unwritten" if unwritten else "nondeterministic", where=name, rows=judged.rows,
                    evidence=evidence_of_inputs(self.case, again),
                    reason=f"{count} elements of {name} were never written" if unwritten else
                           f"the same launch gave other bits in {count} elements of {name}")
        return None

    def _refilled(self, buffers: dict[str, Buffer], *, second: bool) -> dict[str, Buffer]:
        return {name: buffer.refill(second=second, written=name in self.target.written)
                for name, buffer in buffers.items()}

    def _vary(self, buffers: dict[str, Buffer], helper: Any, judged: Judged) -> Outcome | None:
        """Launch under the case's other options and in its other schedules."""
        ways = [(options, 0, str(options)) for options in self.case.variants if self.runner.backend != "interpreter"]
        ways += [(self.case.options, number, f"schedule {number}")
                 for number in range(1, 1 + self.target.schedules(self.case))]
        for options, schedule, way in ways:
            again = self._refilled(buffers, second=True)
            wrong = self._launch(again, helper, options, schedule)
            if wrong:
                return self._outcome(Verdict.NOT_CHECKED, reason=wrong, rows=judged.rows)
            trespass = self._trespassed(again)
            if trespass is not None:
                return trespass
            # A value that is wrong under other options is a wrong value first, an option dependence second.
            unexplained = self._unexplained(judge_outputs(self.case, self.target, again, self.expected), again)
            if unexplained is not None:
                return unexplained
            # A known defect may give other elements under other options.
            different = None if self.explained else same_bits(self.case, self.target, buffers, again, bits=False)
            self._lap("judge")
            if different:
                return self._finding("option_dependent", where=different[0], rows=judged.rows,
                                     evidence=evidence_of_inputs(self.case, again),
                                     reason=f"{different[1]} elements of {different[0]} differ under {way}")
        return None

    def _must_assert(self) -> bool:
        """Whether the contract wants this launch to end in a device assertion. Works on the CPU: the device may
        be unusable by now."""
        reference = self.target.asserts(self.case)
        if reference is None or not (self.case.options.debug or self.runner.backend == "interpreter"):
            return False
        inputs = [place(self.case.array(name), self.case.sizes, device=torch.device("cpu")).values
                  for name in reference.arguments]
        return bool(resolve(reference.function)(*inputs))

    def failed(self, failure: failures.Failure) -> Outcome:
        """The outcome of a launch that raised."""
        if failure.kind == "device_assert" and self._must_assert():
            return self._outcome(Verdict.AGREE, reason="the device assertion stopped the launch, as it must",
                                 rows=RowCounts(agree=self.case.sizes.get("rows", 1)))
        if failure.verdict is Verdict.NOT_CHECKED:
            return self._outcome(failure.verdict, reason=failure.reason)
        return self._finding(failure.kind, where=failure.where, reason=failure.reason, verdict=failure.verdict)

    def _judged(self, judged: Judged, buffers: dict[str, Buffer] | None = None) -> Outcome:
        evidence = judged.evidence
        if evidence is None and buffers is not None:
            evidence = evidence_of_inputs(self.case, buffers)
        signature = None
        if judged.verdict.failed:
            signature = self._signature(judged.verdict, judged.kind, judged.where)
        return self._outcome(judged.verdict, reason=judged.reason, signature=signature, rows=judged.rows,
                             failing_rows=judged.failing_rows, evidence=evidence)

    def _signature(self, verdict: Verdict, failure_kind: str, where: str) -> Signature:
        return Signature(target=self.target.name, subject=self.subject.name, verdict=verdict, kind=failure_kind,
                         where=self.target.place(where), about=self.target.about(self.case))

    def _finding(self, failure_kind: str, *, where: str, reason: str, rows: RowCounts = _NO_ROWS,
                 verdict: Verdict = Verdict.DISAGREE, evidence: Evidence | None = None) -> Outcome:
        return self._outcome(verdict, reason=reason, rows=rows, evidence=evidence,
                             signature=self._signature(verdict, failure_kind, where))

    def _outcome(self, verdict: Verdict, **fields: Any) -> Outcome:
        if verdict.failed and self.subject.name in self.target.controls:
            verdict, fields = Verdict.NOT_CHECKED, as_conflict(fields)
        fields["reason"] = " ".join(str(fields.get("reason", "")).split())[:2000]
        launches = 0 if kind(self.backend) == "compile" else len(self.reports)
        return Outcome(
            case_digest=self.case.digest, target=self.target.name, subject=self.subject.name, backend=self.backend,
            verdict=verdict, launches=launches, compiled_kernels=sum(r.compiled for r in self.reports),
            cells=tuple(sorted({cell for report in self.reports for cell in ledger_cells(report.ttgir)})),
            seconds=Seconds(**{k: round(v, 6) for k, v in self.seconds.items()}), **fields)
