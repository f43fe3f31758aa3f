"""Run functions through torch.compile in this process, one program at a time.

A function comes as source text, so that Dynamo sees a function of a module like any other and a report can show it.
Nothing of one program is left when the next is compiled: Dynamo's guards, Inductor's modules and the files of both.
"""

import contextlib
import functools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.stand_in import StandInDriver
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.verdicts import Declined
from tridiff.fuzz.versions import interpreting
from tridiff.kernels.generated import load

ENTRY = "compute"
"""Name of the function in the text of a program."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How Inductor is to compile. Every setting that keeps the meaning must keep the values, up to rounding.

    emulate_precision_casts: halves are rounded after every operation, as eager does (codegen.md §2.1).
    persistent_reductions: whole rows in one tile where that is possible. dynamic: sizes and integer
    arguments are symbols. configuration: which of the configurations that Inductor has for a kernel runs, counted from
    its first one round and round.
    """

    emulate_precision_casts: bool = False
    persistent_reductions: bool = True
    dynamic: bool = False
    configuration: int = 0


def configuration_of(options: LaunchOptions) -> int:
    """The configuration that a case with these options is about: they mean nothing else to torch.compile."""
    return options.num_warps.bit_length() + options.num_stages


@dataclass(frozen=True)
class Result:
    """What a program returned, and how many Triton kernels were generated for it (0 when they were known)."""

    tensors: tuple[torch.Tensor, ...]
    kernels: int


class _Session:
    """The one program that is compiled now."""

    def __init__(self) -> None:
        import torch._inductor.config as config

        # Read when Inductor starts its pool of compiling processes, of which every worker would have one.
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        folder = os.environ.get("TRITON_CACHE_DIR") or tempfile.gettempdir()
        self._folder = Path(folder) / f"inductor-{os.getpid()}"
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(self._folder)
        config.force_disable_caches = True
        config.compile_threads = 1
        # One configuration per kernel is quicker to compile; reductions have several all the same.
        config.triton.autotune_pointwise = False
        self._configuration = 0
        self._choose()
        self.device = torch.device("cuda")
        if interpreting():
            import triton

            from tridiff.fuzz.inductor.watched import watch_launches

            triton.runtime.driver.set_active(StandInDriver())
            config.cpu_backend = "triton"
            self.device = torch.device("cpu")
            watch_launches()
        self._key: object = None
        self._compiled: Callable[..., Any] | None = None
        self._kernels = 0

    def _choose(self) -> None:
        """Have Inductor run the configuration that is asked for, in the place of the one that it times as the fastest:
        that is chance, and another one may be right."""
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner

        def seconds(tuner: Any, launcher: Any, *arguments: Any, **options: Any) -> float:
            return float(tuner.launchers.index(launcher) != self._configuration % len(tuner.launchers))

        CachingAutotuner.bench = seconds

    def run(self, source: str, arguments: tuple[Any, ...], settings: Settings, stage: Callable[[str], None]) -> Result:
        from torch._inductor import metrics

        key = (source, settings, tuple(map(_kind, arguments)))
        fresh = key != self._key
        if fresh:
            self._forget()
            self._configuration = settings.configuration
            function = getattr(load(source, name="program"), ENTRY)
            options = {"emulate_precision_casts": settings.emulate_precision_casts,
                       "triton.persistent_reductions": settings.persistent_reductions}
            self._compiled = torch.compile(function, fullgraph=True, dynamic=settings.dynamic, options=options)
            metrics.reset()
        else:
            stage("launch")
        assert self._compiled is not None
        with _quiet():
            found = self._compiled(*arguments)
        if fresh:
            # Only now: a program that failed to compile is compiled again when it is asked for again.
            self._key, self._kernels = key, metrics.generated_kernel_count
            stage("launch")
        if not self._kernels:
            raise Declined("torch.compile generated no Triton kernel for this program")
        tensors = found if isinstance(found, tuple) else (found,)
        return Result(tensors, self._kernels if fresh else 0)

    def _forget(self) -> None:
        from torch._inductor.codecache import PyCodeCache

        self._key = self._compiled = None
        torch._dynamo.reset()
        PyCodeCache.cache_clear(purge=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def _kind(argument: Any) -> object:
    if isinstance(argument, torch.Tensor):
        return argument.dtype, argument.shape, argument.stride()
    return argument


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def _session() -> _Session:
    with _quiet():
        return _Session()


def device(stage: Callable[[str], None] = lambda name: None) -> torch.device:
    """Where arguments of programs must lie; prepares this process for torch.compile. stage: told "compile", because
    the first call imports the compiler, which takes longer than a launch may."""
    stage("compile")
    return _session().device


def refuse_ahead_of_time(backend: str) -> None:
    """Raises Declined where kernels are compiled only."""
    if kind(backend) == "compile":
        raise Declined("functions of torch are run, not compiled ahead of time; use the backend cuda or interpreter")


def run(source: str, arguments: tuple[Any, ...], *, settings: Settings | None = None,
        stage: Callable[[str], None] = lambda name: None) -> Result:
    """Compile the function `compute` of `source` unless it was the last one, and call it.

    arguments: contiguous tensors on `device()`, and Python numbers, which are compiled in unless `settings.dynamic`
    makes integers symbols. stage: told "compile" and "launch". Raises Declined where no Triton kernel comes out
    (Inductor left everything to the eager operators), and whatever torch.compile raises.
    """
    stage("compile")
    return _session().run(source, arguments, Settings() if settings is None else settings, stage)
