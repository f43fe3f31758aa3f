"""Run the compiler's own pipelines one pass at a time; note, leave out or change single passes.

No pipeline is copied here. While a compilation runs, the names `ir`, `passes`, `nvidia`, `amd` and `llvm` of the
backends' compiler modules stand for proxies: each `passes.<group>.add_<pass>(pm, ...)` is noted and, when the pass
manager runs, every noted pass runs in one of its own. What comes out is byte for byte what the whole pipeline gives.
"""

import contextlib
import hashlib
import importlib
import re
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import triton
from triton._C.libtriton import ir as real_ir

from tridiff.fuzz.backends.evaluated import plain_text
from tridiff.fuzz.blame.stages import FRONT_END
from tridiff.fuzz.blame.trial import Step

_LLVM = ("to_module", "link_extern_libs", "optimize_module", "translate_to_asm", "translate_to_mir",
         "attach_datalayout")
"""Functions of Triton's binding to LLVM that run code of LLVM's."""

Edit = Callable[[str], str]


class Stepper:
    """One watched compilation or several. enter: told of every step before it runs. drop: as in `Trial`. edit: a
    change of the IR behind a step: gets the step's title and key and returns a function on the text, or None."""

    def __init__(self, *, enter: Callable[[str], None] = lambda name: None, drop: tuple[str, ...] = (),
                 edit: Callable[[str, str], Edit | None] | None = None,
                 edit_stage: Callable[[str], Edit | None] | None = None) -> None:
        self.enter, self._drop, self._edit, self._edit_stage = enter, frozenset(drop), edit, edit_stage
        self.steps: list[Step] = []
        self.texts: dict[str, str] = {}
        """IR without locations, by step key; "source": as the front end made it."""
        self.located: dict[str, str] = {}
        """The same with locations, for those who read it."""
        self.pipelines: dict[str, str] = {}
        """By step key: the pass with its options, as MLIR spells pipelines."""
        self.ptx = ""
        self.library: list[str] = []
        """Functions of Triton's library that are written in Triton's language and were compiled with the kernel."""
        self.inside = ""
        """The innermost of them that an exception left."""
        self._places: dict[str, int] = {}
        self._instead: dict[int, Any] = {}
        self._alive: list[Any] = []

    def compiling(self, function: Any, call: Callable[[], Any]) -> Any:
        """Note a jit function that the front end goes through, if it is one of the library's."""
        module, name = str(getattr(function, "__module__", "")), str(getattr(function, "__name__", "?"))
        if not re.match(r"triton\.(language|experimental\.gluon\.language)\b", module):
            return call()
        if name not in self.library:
            self.library.append(name)
        try:
            return call()
        except Exception:
            self.inside = self.inside or name
            raise

    def begin(self) -> None:
        """A further kernel is compiled: what is known is of that one."""
        self.steps.clear()
        self.texts.clear()
        self.located.clear()
        self.pipelines.clear()
        self.library.clear()
        self.inside = ""
        self._places.clear()
        self._instead.clear()

    def dropped(self, stage: str, place: int, name: str) -> bool:
        return f"{stage} {name}" in self._drop or f"{stage}#{place}" in self._drop

    def instead(self, module: Any) -> Any:
        """The module that took the place of one whose text was changed."""
        return self._instead.get(id(module), module)

    def _keep(self, key: str, module: Any) -> None:
        self.texts[key] = plain_text(module)
        self.located[key] = str(module)

    def source(self, module: Any) -> Any:
        """The IR of the front end."""
        changed = self._changed(module, FRONT_END, FRONT_END)
        module = module if changed is None else changed
        self._keep("source", module)
        return module

    def _changed(self, module: Any, title: str, key: str) -> Any | None:
        edit = self._edit(title, key) if self._edit else None
        if edit is None:
            return None
        before = plain_text(module)
        after = edit(before)
        if after == before:
            return None
        with tempfile.TemporaryDirectory(prefix="tridiff-ir-") as folder:
            path = Path(folder) / "kernel.mlir"
            path.write_text(after)
            made = real_ir.parse_mlir_module(str(path), module.context)
            made.context = module.context
        self._alive += [module, made]
        return made

    def run(self, pending: list[tuple[str, Callable[..., Any], tuple[Any, ...]]], module: Any, stage: str) -> None:
        """Run noted passes one by one on the module, and on the one that took its place."""
        current = self.instead(module)
        before = self.texts.get(self.steps[-1].key) if self.steps else self.texts.get("source")
        before = before if before is not None else plain_text(current)
        for name, add, arguments in pending:
            place = self._places.get(stage, 0)
            self._places[stage] = place + 1
            if self.dropped(stage, place, name):
                continue
            for one in (current,) if current is module else (module, current):
                manager = real_ir.pass_manager(one.context)
                manager.enable_debug()
                add(manager, *arguments)
                if one is current:
                    self.pipelines[f"{stage}#{place}"] = str(manager.get_pipeline_str())
                    self.enter(f"{stage} {name}")
                manager.run(one, stage)
            step = Step(stage=stage, place=place, name=name, changed=True)
            made = self._changed(current, step.title, step.key)
            if made is not None:
                current = made
                self._instead[id(module)] = made
            self._keep(step.key, current)
            now = self.texts[step.key]
            self.steps.append(Step(stage=stage, place=place, name=name, changed=now != before))
            before = now


class _Manager:
    """In the place of a pass manager: notes what is added, and runs it pass by pass."""

    def __init__(self, context: Any, stepper: Stepper) -> None:
        self.context, self._stepper = context, stepper
        self.pending: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = []

    def enable_debug(self) -> Any:
        return real_ir.pass_manager(self.context).enable_debug()

    def get_pipeline_str(self) -> str:
        manager = real_ir.pass_manager(self.context)
        for _, add, arguments in self.pending:
            add(manager, *arguments)
        return str(manager.get_pipeline_str())

    def run(self, module: Any, stage: str = "", *more: Any) -> None:
        pending, self.pending = self.pending, []
        self._stepper.run(pending, module, stage)


class _Passes(types.ModuleType):
    """A module of passes: what is added to a `_Manager` is noted, everything else goes through."""

    def __init__(self, real: Any, stepper: Stepper) -> None:
        super().__init__(real.__name__)
        self.__dict__["_real"], self.__dict__["_stepper"] = real, stepper

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_real"], name)
        if isinstance(value, types.ModuleType):
            return _Passes(value, self.__dict__["_stepper"])
        if callable(value) and (name.startswith("add_") or name == "print_ir"):
            def note(manager: Any, *arguments: Any) -> None:
                if isinstance(manager, _Manager):
                    manager.pending.append((name, value, arguments))
                else:
                    value(manager, *arguments)

            return note
        return value


class _Ir(types.ModuleType):
    """Triton's binding `ir` with `_Manager` for its pass managers."""

    def __init__(self, real: Any, stepper: Stepper) -> None:
        super().__init__("ir")
        self.__dict__["_real"] = real
        self.__dict__["pass_manager"] = lambda context: _Manager(context, stepper)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)


class _Llvm(types.ModuleType):
    """Triton's binding to LLVM, with a note of each function of LLVM's that runs."""

    def __init__(self, real: Any, stepper: Stepper) -> None:
        super().__init__("llvm")
        self.__dict__["_real"], self.__dict__["_stepper"] = real, stepper

    def __getattr__(self, name: str) -> Any:
        value, stepper = getattr(self.__dict__["_real"], name), self.__dict__["_stepper"]
        if name not in _LLVM:
            return value

        def entered(first: Any, *arguments: Any, **named: Any) -> Any:
            stepper.enter(f"llvm {name}")
            return value(stepper.instead(first), *arguments, **named)

        return entered


@contextlib.contextmanager
def stepping(stepper: Stepper) -> Iterator[Stepper]:
    """Every compilation of this process goes through `stepper`, and none is taken from the cache."""
    modules = []
    for backend in ("nvidia", "amd"):
        with contextlib.suppress(ImportError):
            modules.append(importlib.import_module(f"triton.backends.{backend}.compiler"))
    saved = [(module, name, getattr(module, name)) for module in modules
             for name in ("ir", "passes", "nvidia", "amd", "llvm") if hasattr(module, name)]
    before = triton.knobs.runtime.add_stages_inspection_hook
    try:
        triton.knobs.runtime.add_stages_inspection_hook = _hook(stepper)
        for module, name, real in saved:
            proxy = {"ir": _Ir, "llvm": _Llvm}.get(name, _Passes)
            setattr(module, name, proxy(real, stepper))
        with triton.knobs.compilation.scope(), _generating(stepper):
            triton.knobs.compilation.always_compile = True  # No key of the cache tells that the passes were others.
            yield stepper
    finally:
        for module, name, real in saved:
            setattr(module, name, real)
        triton.knobs.runtime.add_stages_inspection_hook = before


@contextlib.contextmanager
def _generating(stepper: Stepper) -> Iterator[None]:
    """The front end tells the stepper of each jit function that a kernel calls."""
    from triton.compiler.code_generator import CodeGenerator

    real = CodeGenerator.call_JitFunction

    def watched(self: Any, fn: Any, *arguments: Any, **named: Any) -> Any:
        return stepper.compiling(fn, lambda: real(self, fn, *arguments, **named))

    CodeGenerator.call_JitFunction = watched
    try:
        yield
    finally:
        CodeGenerator.call_JitFunction = real


def _hook(stepper: Stepper) -> Callable[..., Any]:
    def hook(backend: Any = None, stages: Any = None, options: Any = None, language: Any = None,
             capability: Any = None) -> Any:
        if stages is None:
            return "tridiff-blame", hashlib.sha256(b"tridiff-blame").hexdigest()
        stepper.begin()
        stepper.enter(FRONT_END)
        first = next(iter(stages))
        for name, function in list(stages.items()):
            stages[name] = _watched(stepper, name, function, first=name == first)
        return None

    return hook


def _watched(stepper: Stepper, name: str, function: Callable[..., Any], *, first: bool) -> Callable[..., Any]:
    def stage(source: Any, metadata: Any) -> Any:
        if first and not isinstance(source, str | bytes):
            source = stepper.source(source)
        stepper.enter(f"stage {name}")
        if name in ("cubin", "hsaco"):
            stepper.ptx = str(source)
            stepper.enter("ptxas" if name == "cubin" else "llvm assemble")
        made = stepper.instead(function(source, metadata))
        edit = stepper._edit_stage(name) if stepper._edit_stage else None
        if edit is not None and isinstance(made, str):
            made = edit(made)
        return made

    return stage
