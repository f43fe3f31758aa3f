"""A case, compiled up to TTGIR and evaluated on the CPU with the IR behind a chosen pass, judged as on any backend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
import triton

from tridiff.fuzz.backends.compile import Pointer, options_of, pointer_to, source_of, target_of
from tridiff.fuzz.backends.ir_file import ir_file
from tridiff.fuzz.backends.launch import LaunchReport, Runner
from tridiff.fuzz.blame.stages import FRONT_END
from tridiff.fuzz.blame.stepping import Stepper, stepping
from tridiff.fuzz.blame.trial import Step, Values
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Module
from tridiff.fuzz.evaluate.machine import Machine
from tridiff.fuzz.evaluate.memory import Memory
from tridiff.fuzz.evaluate.parse import parse
from tridiff.fuzz.records import Case, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.verdicts import Declined
from tridiff.fuzz.workers.execute import Executor
from tridiff.oracles.dtypes import name_of_tensor

KIND = "evaluated"
"""The kind of the backend `evaluated:ARCH`, which runs a case's TTIR or TTGIR here."""


LAST = "last"
"""Stands for the last step of every kernel."""


class _Enough(Exception):
    """The compilation has come to what is not evaluated."""


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


class EvaluatingRunner:
    """Runs kernels by evaluating their IR. behind: the step whose result is run; `LAST` for the last one. stepper:
    makes the watcher of a compilation, which may leave out passes or plant faults."""

    def __init__(self, arch: str, stepper: Callable[[Callable[[str], None]], Stepper]) -> None:
        self.backend = f"{KIND}:{arch}"
        self._target, self._stepper = target_of(arch), stepper
        self.library: tuple[str, ...] = ()
        """Functions of Triton's library that were compiled with the kernel."""
        self._compiled: dict[str, Compiled] = {}
        self._parsed: dict[str, Module] = {}
        self.behind: Step | str | None = LAST
        self.deadline = math.inf

    @property
    def launched(self) -> bool:
        """Whether any kernel came this far: torch.compile launches its own."""
        return bool(self._compiled)

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

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        given = {name: _pointer(value) if isinstance(value, torch.Tensor) else value
                 for name, value in arguments.items()}
        source = source_of(kernel, given)
        key = f"{kernel.fn.__module__}.{kernel.fn.__qualname__} {source.signature} {source.constants} {source.attrs} " \
              f"{options}"
        kept = [arguments[one.name] for one in kernel.params if source.signature[one.name] != "constexpr"]
        return self._launch(key, lambda: source, "", grid, kept, options)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        return self._launch(f"{text} {options}", None, text, grid, list(arguments.values()), options)

    def synchronise(self) -> None:
        return None

    def _launch(self, key: str, source: Callable[[], Any] | None, text: str, grid: tuple[int, int, int],
                arguments: list[Any], options: LaunchOptions) -> LaunchReport:
        new = key not in self._compiled
        if new:
            given = options_of(options, self._target)
            if source is not None:
                self._compiled[key] = self._compile(source(), given)
            else:
                with ir_file(text) as path:
                    self._compiled[key] = self._compile(path, given)
        compiled = self._compiled[key]
        if isinstance(self.behind, str):
            chosen = compiled.texts[-1]
        else:
            chosen = compiled.behind(self.behind, self.order())
        spans = [(one.untyped_storage().data_ptr(), one.untyped_storage().nbytes()) for one in arguments
                 if isinstance(one, torch.Tensor)]
        try:
            if chosen not in self._parsed:
                self._parsed[chosen] = parse(chosen)
            Machine(self._parsed[chosen], Memory(spans), grid, deadline=self.deadline).launch(
                [one.data_ptr() if isinstance(one, torch.Tensor) else one for one in arguments])
        except NotEvaluated as error:
            raise Declined(str(error)) from None
        return LaunchReport(compiled=int(new))

    def _compile(self, source: Any, options: dict[str, int | bool]) -> Compiled:
        stepper = self._stepper(_stopping)
        try:
            with stepping(stepper):
                triton.compile(source, target=self._target, options=options)
        except _Enough:
            pass
        steps = tuple(stepper.steps)
        texts = dict(stepper.texts)
        self.library = tuple(stepper.library) or self.library
        first = texts.get("source", next(iter(texts.values()), ""))
        return Compiled(steps, (first, *(texts[step.key] for step in steps)))


def _pointer(array: torch.Tensor) -> Pointer:
    return pointer_to(name_of_tensor(array), aligned=array.data_ptr() % 16 == 0)


def _stopping(name: str) -> None:
    if name == "stage llir":
        raise _Enough


class Evaluation(Executor):
    """An executor whose runner evaluates. edits: of the stepper (see `Stepper`)."""

    def __init__(self, arch: str, **edits: Any) -> None:
        super().__init__(backend=f"{KIND}:{arch}")
        self.runner = EvaluatingRunner(arch, lambda enter: Stepper(enter=enter, **edits))

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
        if not self.runner.launched:
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
            found.append(Values(behind=step, outcome=one if checked else None, problem="" if checked else one.reason))
            if one.verdict.failed:
                break
        return tuple(found)
