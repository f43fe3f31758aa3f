"""The compiling child: from a request to every stage of one kernel, for a machine that need not have a GPU."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import torch
import triton
from msgspec.structs import replace
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource

from tridiff.fuzz.backends.compile import target_of
from tridiff.fuzz.backends.ir_file import ir_file
from tridiff.fuzz.backends.launch import compiler_options
from tridiff.fuzz.backends.stand_in import StandInDriver
from tridiff.fuzz.blame.stepping import Stepper, stepping
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain import counters, layouts, lines, machine
from tridiff.fuzz.explain.differences import unified
from tridiff.fuzz.explain.model import Argument, Departure, Pass, Source, Specialisation, Stage, Stages
from tridiff.fuzz.explain.prepared import Prepared, chosen, made_by_torch, name_of, prepared
from tridiff.fuzz.explain.request import Compiled, Request, Setting
from tridiff.fuzz.explain.source import source_of
from tridiff.fuzz.repro.recorded import Call

LONGEST_DIFF = 400
"""Lines of one pass's difference."""


class Journal:
    """What is left when the compiler brings the process down: the answer as it was at the step that is running, in
    `partial.json`. answer: what is known before anything is compiled."""

    def __init__(self, folder: Path, answer: Compiled, *, passes: bool) -> None:
        self._file, self._passes = folder / "partial.json", passes
        self.answer = answer
        self.stepper = Stepper()

    def enter(self, name: str) -> None:
        """A step begins."""
        located = list(self.stepper.located.values())
        self.answer = replace(self.answer, stages=replace(
            self.answer.stages, failed_in=name, before=located[-1] if located else "", texts=_partial(self.stepper),
            passes=passes_of(self.stepper) if self._passes else (), departure=_departing(self.stepper, name)))
        self._file.write_bytes(msgspec.json.encode(self.answer))

    def failed(self, error: Exception) -> Compiled:
        """The answer after an exception."""
        return replace(self.answer, stages=replace(self.answer.stages, problem=_said(error)))


def compiled(request: Request, folder: Path) -> Compiled:
    """The kernel's source, specialisation and stages. folder: for the journal. Raises TridiffError where there is
    nothing to compile; a compiler that fails is an answer (`Stages.problem`)."""
    made = prepared(request)
    if made_by_torch(request):
        raise TridiffError("torch.compile makes this kernel and compiles it where it runs",
                           fix="--subject own shows the stages of our kernel of the same contract")
    calls = made.calls()
    number = chosen(calls, request, made.buffers)
    call, setting = calls[number], request.setting
    if setting.values or setting.options:
        call = _changed(call, setting)
    source = source_of(call.kernel, call.arguments.values()) if not call.text else Source(problem=(
        "the kernel is TTGIR text"))
    journal = Journal(folder, Compiled(
        launches=tuple(map(name_of, calls)), launch=number, source=source,
        specialisation=Specialisation(arguments=_given(call, made), grid=call.grid, asked=_asked(call)),
        stages=Stages(arch=setting.arch, triton=triton.__version__)), passes=request.passes)
    stepper = journal.stepper = Stepper(enter=journal.enter, edit_stage=_replaced(setting))
    started = time.monotonic()
    try:
        with stepping(stepper), _target(setting.arch) as target:
            built = _build(call, setting, target)
    except Exception as error:
        return journal.failed(error)
    seconds = time.monotonic() - started
    texts = dict(built.asm)
    sass = machine.disassembled(texts.get("cubin"))
    stages = tuple(Stage(name=name, bytes=len(text.encode()), lines=text.count("\n") + 1, text=text)
                   for name in ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")
                   if isinstance(text := texts.get(name), str) and text)
    if sass:
        stages += (Stage(name="sass", bytes=len(texts["cubin"]), lines=sass.count("\n") + 1, text=sass),)
    named = {one.name: one.text for one in stages}
    departure = around(stepper, request.step) if request.step else None
    return replace(
        journal.answer,
        specialisation=Specialisation(arguments=_arguments(call, built, made), grid=call.grid, asked=_asked(call),
                                      compiled=_metadata(built)),
        stages=Stages(
            arch=setting.arch, triton=triton.__version__, texts=stages,
            passes=passes_of(stepper) if request.passes else (), departure=departure,
            lines=lines.of_source(source.functions, named),
            counters=counters.counted(named),
            resources=machine.resources(texts.get("cubin"), setting.arch, built.metadata),
            layouts=layouts.of_text(named.get("ttgir", "")), seconds={"compile": round(seconds, 3)}))


def _changed(call: Call, setting: Setting) -> Call:
    """The launch with other options and integers."""
    import dataclasses

    known = {name: value for name, value in setting.options.items() if name in call.options.__struct_fields__}
    try:
        options = msgspec.convert(msgspec.to_builtins(call.options) | known, type(call.options))
    except msgspec.ValidationError as error:
        raise TridiffError(f"an option cannot have this value ({error})", fix="write for example num_warps=8") from None
    unknown = [name for name in setting.values if name not in call.arguments]
    if unknown:
        raise TridiffError(f"the kernel has no argument {unknown[0]}", fix=f"it takes {', '.join(call.arguments)}")
    return dataclasses.replace(call, options=options, arguments=call.arguments | setting.values)


@contextlib.contextmanager
def _target(arch: str) -> Iterator[Any]:
    """The target of an architecture, with a driver in force that says so."""
    target = target_of(arch)
    driver = triton.runtime.driver
    before = driver._active if hasattr(driver, "_active") else None
    driver.set_active(StandInDriver(target.backend, target.arch, target.warp_size))
    try:
        yield target
    finally:
        if before is not None:
            driver.set_active(before)


def _build(call: Call, setting: Setting, target: Any) -> Any:
    """The compiled kernel, as a launch with these arguments would build it."""
    given: dict[str, Any] = dict(compiler_options(call.options))
    given |= {name: value for name, value in setting.options.items() if name not in call.options.__struct_fields__}
    if target.backend != "cuda":
        given.pop("launch_cooperative_grid", None)
    if setting.stage in ("ttir", "ttgir"):
        return _from_text(setting.text, setting.stage, target, given)
    if call.text:
        return _from_text(call.text, "ttgir", target, given)
    arguments = {name: value[1:] if setting.unaligned and isinstance(value, torch.Tensor) else value
                 for name, value in call.arguments.items()}
    built = call.kernel.warmup(grid=call.grid, **arguments, **given)
    if not setting.generic:
        return built
    language = GluonASTSource if call.kernel.is_gluon() else ASTSource
    plain = language(call.kernel, built.src.signature, constexprs=built.src.constants, attrs={})
    return triton.compile(plain, target=target, options=given)


def _from_text(text: str, stage: str, target: Any, given: dict[str, Any]) -> Any:
    with ir_file(text, suffix=stage) as path:
        return triton.compile(path, target=target, options=given)


def _replaced(setting: Setting) -> Any:
    """For the stages that are text already: what takes the place of the compiler's own."""
    def edit(name: str) -> Any:
        return (lambda text: setting.text) if name == setting.stage and name in ("llir", "ptx") else None

    return edit


def passes_of(stepper: Stepper) -> tuple[Pass, ...]:
    """The passes that ran, with what each changed."""
    found, before = [], stepper.texts.get("source", "")
    for step in stepper.steps:
        now = stepper.texts.get(step.key, before)
        diff = unified(before, now, f"before {step.name}", f"behind {step.name}", most=LONGEST_DIFF) if (
            step.changed) else ""
        found.append(Pass(stage=step.stage, name=step.name, changed=step.changed, diff=diff))
        before = now
    return tuple(found)


def around(stepper: Stepper, title: str) -> Departure | None:
    """The IR before and behind the first pass of this title that changed anything; None if there is none."""
    before = stepper.texts.get("source", "")
    for step in stepper.steps:
        now = stepper.texts.get(step.key, before)
        if step.title == title and step.changed:
            return Departure(step=title, pipeline=stepper.pipelines.get(step.key, ""), before=before, after=now)
        before = now
    return None


def _departing(stepper: Stepper, name: str) -> Departure | None:
    """The IR in front of a pass that begins; None for a step that is no pass."""
    newest = list(stepper.pipelines.items())[-1:]
    texts = list(stepper.texts.values())
    if not newest or not texts or newest[0][0].partition("#")[0] != name.partition(" ")[0]:
        return None
    return Departure(step=name, pipeline=newest[0][1], before=texts[-1])


def _partial(stepper: Stepper) -> tuple[Stage, ...]:
    """The IR as far as it got."""
    found = []
    names = {"source": "source"} | {step.key: {"make_ttir": "ttir"}.get(step.stage, "ttgir") for step in stepper.steps}
    latest = {names[key]: text for key, text in stepper.located.items() if key in names}
    for name, text in latest.items():
        found.append(Stage(name=name, bytes=len(text.encode()), lines=text.count("\n") + 1, text=text))
    return tuple(found)


def _said(error: BaseException) -> str:
    """The error and what it came from: one inside a helper is told by the kernel, then by the helper."""
    chain: list[str] = []
    link: BaseException | None = error
    while link is not None and len(chain) < 20:
        chain.append(f"{type(link).__name__}: {link}")
        link = link.__cause__
    return "\n".join(chain)[:4000]


def _asked(call: Call) -> dict[str, str]:
    return {name: str(getattr(call.options, name)) for name in call.options.__struct_fields__}


def _metadata(built: Any) -> dict[str, str]:
    return {name: str(value) for name, value in built.metadata._asdict().items()}


def shown_value(value: Any, made: Prepared) -> str:
    """An argument as text: arrays by dtype and shape, functions by name."""
    if isinstance(value, torch.Tensor):
        for buffer in made.buffers.values():
            if buffer.pointer is value:
                return f"{buffer.spec.dtype}[{', '.join(map(str, buffer.shape))}]"
        return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
    return getattr(getattr(value, "fn", None), "__name__", None) or repr(value)


def _given(call: Call, made: Prepared) -> tuple[Argument, ...]:
    return tuple(Argument(name=name, value=shown_value(value, made)) for name, value in call.arguments.items())


def _arguments(call: Call, built: Any, made: Prepared) -> tuple[Argument, ...]:
    """The launch's arguments as the compiled kernel says that it takes them."""
    if call.text or not hasattr(built.src, "signature") or not hasattr(built.src, "fn"):
        return _given(call, made)
    return specialised(call.kernel, built.src, {name: shown_value(value, made)
                                                for name, value in call.arguments.items()})


def specialised(kernel: Any, source: Any, values: dict[str, str]) -> tuple[Argument, ...]:
    """One row per parameter. source: of a compiled kernel, with what Triton decided."""
    constants = {path[0]: value for path, value in source.constants.items() if len(path) == 1}
    nested = {path for path in source.constants if len(path) > 1}
    found = []
    for parameter in kernel.params:
        name, number = parameter.name, parameter.num
        kind = source.signature.get(name, "")
        attributes = {key: value for key, value in source.attrs.get((number,), ())}
        constant = number in constants
        value = constants.get(number)
        inside = sum(path[0] == number for path in nested)
        found.append(Argument(
            name=name, value=values.get(name, ""), type=str(kind), constexpr=bool(parameter.is_constexpr),
            constant=(getattr(getattr(value, "fn", None), "__name__", None) or repr(value)) if constant else (
                f"{inside} of its elements" if inside else ""),
            divisible=int(attributes.get("tt.divisibility", 0)),
            one=constant and not parameter.is_constexpr and value == 1,
            default=repr(parameter.default) if parameter.has_default else "",
            never_specialised=bool(parameter.do_not_specialize)))
    return tuple(found)
