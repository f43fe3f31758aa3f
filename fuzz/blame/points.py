"""A case, compiled up to TTGIR and evaluated on the CPU with the IR behind a chosen pass, judged as on any backend."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import msgspec
import torch

from tridiff.fuzz.backends.compile import options_of
from tridiff.fuzz.backends.evaluated import KIND, EvaluatingRunner, lowered
from tridiff.fuzz.backends.launch import LaunchReport, Runner
from tridiff.fuzz.blame.departing import Trace
from tridiff.fuzz.blame.stages import FRONT_END, INLINED
from tridiff.fuzz.blame.stepping import Stepper, stepping
from tridiff.fuzz.blame.trial import Step, Values
from tridiff.fuzz.records import Case, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.workers.execute import Executor

LAST, SOURCE = "last", "source"
"""Stand for the last step of every kernel, and for the IR that another front end made."""


@dataclass(frozen=True)
class Compiled:
    """texts: the IR of the front end, and behind each step."""

    steps: tuple[Step, ...]
    texts: tuple[str, ...]

    def behind(self, step: Step | None, order: list[Step | None]) -> str:
        """The newest text that is not behind a later step. order: of all steps of all kernels."""
        limit = order.index(step)
        known = list(zip((None, *self.steps), self.texts, strict=True))
        return next(text for one, text in reversed(known) if _at(order, one) <= limit)


def _at(order: list[Step | None], step: Step | None) -> int:
    return next(place for place, one in enumerate(order) if _key(one) == _key(step))


def _key(step: Step | None) -> str:
    return step.key if step is not None else ""


class SteppedRunner(EvaluatingRunner):
    """Evaluates the IR behind a chosen step. behind: the step whose result is run; `LAST` for the last one. edits: of
    the watcher of a compilation (see `Stepper`), which may leave out passes or plant faults."""

    def __init__(self, arch: str, **edits: Any) -> None:
        super().__init__(arch)
        self.seconds = math.inf
        self._edits = edits
        self.library: tuple[str, ...] = ()
        """Functions of Triton's library that were compiled with the kernel."""
        self._compiled: dict[str, Compiled] = {}
        self.behind: Step | str | None = LAST
        self.against: Step | str | None = LAST
        """The step behind which the IR is right, to hold that behind `behind` against; `LAST` for none."""
        self.source = ""
        """The right IR of the front end, inlined, of another build; "" where that is not known."""
        self.departed = ""
        """Where they part (`fuzz.blame.departing`)."""
        self._right = ""

    @property
    def kernels(self) -> int:
        """How many came this far: torch.compile launches its own."""
        return len(self._compiled)

    def texts(self) -> dict[str, str]:
        """The IR of the first kernel, by the title of the first step that made it so; "front-end" for the source."""
        compiled = next(iter(self._compiled.values()), None)
        if compiled is None:
            return {}
        found = {FRONT_END: compiled.texts[0]}
        for step, text in zip(compiled.steps, compiled.texts[1:], strict=True):
            if step.changed:
                found.setdefault(step.title, text)
        return found

    def order(self) -> list[Step | None]:
        """Every step of every kernel that was compiled, in order; None stands for the front end."""
        found: dict[str, Step] = {}
        for one in self._compiled.values():
            for step in one.steps:
                before = found.get(step.key)
                found[step.key] = step if before is None or step.changed else before
        stages = list(dict.fromkeys(step.stage for step in found.values()))
        return [None, *sorted(found.values(), key=lambda step: (stages.index(step.stage), step.place))]

    def _made(self, key: str, source: Callable[[], AbstractContextManager[Any]], options: LaunchOptions,
              ) -> tuple[str, LaunchReport]:
        new = key not in self._compiled
        if new:
            with source() as opened:
                self._compiled[key] = self._step_through(opened, options_of(options, self.target))
        compiled = self._compiled[key]
        if self.against == SOURCE:
            self._right = self.source
        elif not isinstance(self.against, str):
            self._right = compiled.behind(self.against, self.order())
        if isinstance(self.behind, str):
            chosen = compiled.texts[-1]
        else:
            chosen = compiled.behind(self.behind, self.order())
        return chosen, LaunchReport(compiled=int(new))

    def _launch(self, text: str, report: LaunchReport, grid: tuple[int, int, int], arguments: list[Any],
                ) -> LaunchReport:
        if self.against == LAST or self.departed:
            return super()._launch(text, report, grid, arguments)
        kept = [(one, one.untyped_storage().clone()) for one in arguments if isinstance(one, torch.Tensor)]
        right = self.trace = Trace()
        try:
            super()._launch(self._right, report, grid, arguments)
            for one, storage in kept:
                one.untyped_storage().copy_(storage)
            self.trace = Trace(right)
            return super()._launch(text, report, grid, arguments)
        finally:
            self.departed, self.trace = self.trace.departed, None

    def _step_through(self, source: Any, options: dict[str, int | bool]) -> Compiled:
        stepper = Stepper(**self._edits)
        with stepping(stepper):
            text, _ = lowered(source, self.target, options)
        steps = tuple(stepper.steps)
        texts = dict(stepper.texts)
        self.library = tuple(stepper.library) or self.library
        first = texts.get("source", next(iter(texts.values()), text))
        return Compiled(steps, (first, *(texts[step.key] for step in steps)))


class Evaluation(Executor):
    """An executor whose runner evaluates. edits: of the stepper (see `Stepper`)."""

    def __init__(self, arch: str, **edits: Any) -> None:
        super().__init__(backend=f"{KIND}:{arch}")
        self.runner = SteppedRunner(arch, **edits)

    def _runner(self, backend: str) -> Runner:
        return self.runner

    def outcome(self, case: Case, subject: str, behind: Step | str | None = LAST) -> Outcome:
        """What the IR behind a step gives, judged."""
        self.runner.behind = behind
        return self.execute(case, subject, backend=self.runner.backend)[0]

    def values(self, case: Case, subject: str, *, seconds: float) -> tuple[Values, ...]:
        """Of the IR as the front end made it and behind every pass that changes it, up to the first that is wrong;
        () where no kernel is launched. seconds: behind this time no further point is evaluated."""
        self.runner.deadline = time.monotonic() + seconds
        self.outcome(case, subject)
        found: list[Values] = []
        if not self.runner.kernels:
            return ()
        for step in self.runner.order():
            if step is not None and not step.changed:
                continue
            if time.monotonic() > self.runner.deadline:
                found.append(Values(behind=step, problem="no time was left"))
                break
            one = self.outcome(case, subject, step)
            checked = one.verdict is not Verdict.NOT_CHECKED
            one = msgspec.structs.replace(one, evidence=None) if one.verdict is Verdict.AGREE else one
            before = found[-1].behind if found else SOURCE
            known = bool(found) or (bool(self.runner.source) and self.runner.kernels == 1)
            at = step if found else next((other for other in self.runner.order() if other is not None
                                          and other.changed and other.title == INLINED), step)
            operation = self._departed(case, subject, at, before) if one.verdict.failed and known else ""
            found.append(Values(behind=step, outcome=one if checked else None, problem="" if checked else one.reason,
                                operation=operation))
            if one.verdict.failed:
                break
        return tuple(found)

    def _departed(self, case: Case, subject: str, step: Step | None, before: Step | str | None) -> str:
        """Where the IR behind a step does another thing than that behind the one before."""
        self.runner.against, self.runner.departed = before, ""
        try:
            self.outcome(case, subject, step)
        finally:
            self.runner.against = LAST
        return self.runner.departed
