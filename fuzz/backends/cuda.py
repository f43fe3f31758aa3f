"""Backend `cuda`: compile just in time and launch on the GPU."""

import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import torch
import triton
from triton.runtime.jit import JITFunction

from tridiff.fuzz.backends.ir_file import ir_file
from tridiff.fuzz.backends.launch import READ_BACK, LaunchReport, asked, compiler_options, launching, resources
from tridiff.fuzz.backends.launchers import launch_without_compiler
from tridiff.fuzz.backends.shared_cache import compiled_again_if_swept
from tridiff.fuzz.records import LaunchOptions

HEAD_START = 6_000_000
"""Cycles of the device that the host has to prepare a launch: about three milliseconds."""

TEXTS_KEPT = 16
"""Compiled TTGIR texts kept for further launches of the same case."""


class CudaRunner:
    """Launches on one GPU; counts compilations with Triton's compile listener.

    on_stage is told when a launch starts to compile and when it has: a compiler may take a minute where a
    launch may take seconds.
    """

    backend = "cuda"

    def __init__(self, on_stage: Callable[[str], None] = lambda name: None) -> None:
        self._built = 0
        self._compiling = False
        """Whether what compiles now was announced here."""
        self.compile_only = False
        """Compile what is to be launched, as the launch would, and do not launch it."""
        self._texts: OrderedDict[tuple[str, LaunchOptions], Any] = OrderedDict()
        self._have_compiled: WeakValueDictionary[int, Any] = WeakValueDictionary()
        """JIT functions that have compiled in this process, by identity."""
        self.on_stage = on_stage
        self._told = triton.knobs.compilation.listener
        triton.knobs.compilation.listener = self._listen
        self._announce_compilation()
        launch_without_compiler()

    def _announce_compilation(self) -> None:
        """Tell when a compilation starts. Triton's own jit_cache_hook would do, but on 3.6.0 it first writes the
        arguments as JSON, which fails for a function passed as a constexpr."""
        compile_now = JITFunction._do_compile

        def announced(function: Any, *arguments: Any, **options: Any) -> Any:
            self.on_stage("compile")
            self._have_compiled[id(function)] = function
            self._compiling = True
            try:
                return compile_now(function, *arguments, **options)
            finally:
                self._compiling = False

        JITFunction._do_compile = announced

    @contextmanager
    def compiling_anew(self) -> Iterator[None]:
        """Launches inside begin with nothing compiled: what this process holds is forgotten, what is on disk is not
        looked at."""
        self._texts.clear()
        for function in self._have_compiled.values():
            function.device_caches.clear()
        self._have_compiled.clear()
        usual = os.environ.get("TRITON_CACHE_DIR")
        with tempfile.TemporaryDirectory(prefix="anew-", ignore_cleanup_errors=True) as empty:
            os.environ["TRITON_CACHE_DIR"] = empty
            try:
                yield
            finally:
                if usual is None:
                    del os.environ["TRITON_CACHE_DIR"]
                else:
                    os.environ["TRITON_CACHE_DIR"] = usual

    def _listen(self, *, cache_hit: bool, **about: Any) -> None:
        self._built += not cache_hit
        if self._compiling:
            # Subjects that compile by themselves (torch.compile) say when they are done: their first kernel is not
            # their last, and the time limit of a launch is not that of a compiler.
            self.on_stage("launch")
        if self._told is not None:
            # Whoever listened first: the worker notes what is to be deleted.
            self._told(cache_hit=cache_hit, **about)

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        before = self._built
        sanitized = bool(getattr(triton.knobs.compilation, "instrumentation_mode", ""))
        given = compiler_options(options, asserting=sanitized)
        compiled = compiled_again_if_swept(lambda: kernel.run(grid=grid, warmup=True, **arguments, **given) if (
            self.compile_only) else kernel[grid](**arguments, **given))
        return self._report(compiled, before)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        before = self._built
        compiled = self._texts.get((text, options))
        if compiled is None:
            self.on_stage("compile")
            target = triton.runtime.driver.active.get_current_target()
            with ir_file(text) as path:
                compiled = compiled_again_if_swept(lambda: triton.compile(path, target=target, options=asked(options)))
            self._texts[text, options] = compiled
            while len(self._texts) > TEXTS_KEPT:
                self._texts.popitem(last=False)
        self.on_stage("launch")
        if not self.compile_only:
            compiled[grid](*arguments.values())
        return self._report(compiled, before)

    def _report(self, compiled: Any, before: int) -> LaunchReport:
        metadata = compiled.metadata
        readback = {name: value for name in READ_BACK if (value := getattr(metadata, name, None)) is not None}
        built = self._built - before
        return LaunchReport(compiled=built, readback=readback,
                            ttgir=str(compiled.asm.get("ttgir", "")) if built else "",
                            ptx=str(compiled.asm.get("ptx", "")), resources=resources(compiled),
                            launching=launching(compiled))

    def timed(self, launch: Callable[[], object]) -> float:
        """As `Times` says. The device is kept busy while the host prepares the launch, which would count otherwise."""
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        torch.cuda._sleep(HEAD_START)
        first.record()
        launch()
        last.record()
        torch.cuda.synchronize()
        return float(first.elapsed_time(last)) / 1e3

    def synchronise(self) -> None:
        torch.cuda.synchronize()
