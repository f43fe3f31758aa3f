"""Backend `evaluated:ARCH`: the compiler up to the last TTGIR, which is then run over numpy arrays (`fuzz.evaluate`).

Values without a device: what the front end and the passes on TTIR and TTGIR made of a kernel, for any chip. Not what
comes behind them: LLVM, the assembler, the hardware.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import IRSource, make_backend

from tridiff.fuzz.backends.compile import Pointer, clusters_lacking, options_of, pointer_to, source_of, target_of
from tridiff.fuzz.backends.ir_file import ir_file
from tridiff.fuzz.backends.launch import READ_BACK, LaunchReport
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Module
from tridiff.fuzz.evaluate.machine import Machine
from tridiff.fuzz.evaluate.memory import Memory
from tridiff.fuzz.evaluate.parse import parse
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.verdicts import Declined
from tridiff.oracles.dtypes import name_of_tensor

KIND = "evaluated"
"""The kind of the backends `evaluated:ARCH`."""

SECONDS = 6.0
"""The longest that one launch is evaluated: less than a launch may take before it is a hang (`PoolOptions`)."""

STAGE = "evaluate"
"""What a worker announces when it evaluates: where that takes too long, the evaluator is to blame."""

KEPT = 16
"""Kernels whose IR is kept for further launches."""

BEHIND = "llir"
"""The first stage that is not run."""


def plain_text(module: Any) -> str:
    """A module's text without locations."""
    try:
        return str(module.str_nodebug())
    except AttributeError:
        return str(module)


def lowered(source: Any, target: GPUTarget, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The IR in front of LLVM, and what the compiler noted of the kernel meanwhile. source: as Triton's `compile` takes
    it. Nothing is taken from the cache or put there."""
    backend = make_backend(target)
    context = ir.context()
    given = isinstance(source, str)
    if given:
        source = IRSource(source, context, backend)
    else:
        ir.load_dialects(context)
        backend.load_dialects(context)
    parsed = backend.parse_options({**options, **source.parse_options()})
    stages: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    backend.add_stages(stages, parsed, source.language)
    module = source.make_ir(target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(),
                            context)
    metadata: dict[str, Any] = {"target": target, **vars(parsed)}
    names = list(stages)
    for name in names[names.index(source.ext) + given:]:
        if name == BEHIND:
            break
        module = stages[name](module, metadata)
    return plain_text(module), metadata


class EvaluatingRunner:
    """Runs kernels on CPU tensors by evaluating their IR. on_stage is told when a kernel is compiled, and when its
    evaluation begins."""

    def __init__(self, arch: str) -> None:
        self.backend = f"{KIND}:{arch}"
        self.target = target_of(arch)
        self.on_stage: Callable[[str], None] = lambda name: None
        self.seconds = SECONDS
        self.deadline = math.inf
        """On the monotonic clock: no launch is evaluated any longer."""
        self.trace: Any = None
        self._kept: OrderedDict[str, tuple[str, dict[str, Any]]] = OrderedDict()
        self._parsed: OrderedDict[str, Module] = OrderedDict()

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        given = {name: _pointer(value) if isinstance(value, torch.Tensor) else value
                 for name, value in arguments.items()}
        source = source_of(kernel, given)
        kept = [arguments[one.name] for one in kernel.params if source.signature[one.name] != "constexpr"]
        key = f"{type(source).__name__} {source.hash()} {options}"
        return self._launch(*self._made(key, lambda: nullcontext(source), options), grid, kept)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        return self._launch(*self._made(f"{text} {options}", lambda: ir_file(text), options), grid,
                            list(arguments.values()))

    def synchronise(self) -> None:
        return None

    def _made(self, key: str, source: Callable[[], AbstractContextManager[Any]], options: LaunchOptions,
              ) -> tuple[str, LaunchReport]:
        """The IR to be run, and what is known of its compilation."""
        new = key not in self._kept
        given = options_of(options, self.target)
        if new:
            if lacking := clusters_lacking(self.target, options):
                raise Declined(f"{self.backend} {lacking}")
            self.on_stage("compile")
            with source() as opened:
                self._kept[key] = lowered(opened, self.target, given)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        text, metadata = self._kept[key]
        readback = {name: value for name in READ_BACK
                    if name in given and (value := metadata.get(name)) is not None}
        if "ttg.warp_specialize(" in text:
            # The warps of partitions are added up behind TTGIR.
            readback.pop("num_warps", None)
        return text, LaunchReport(compiled=int(new), readback=readback, ttgir=text)

    def _launch(self, text: str, report: LaunchReport, grid: tuple[int, int, int], arguments: list[Any],
                ) -> LaunchReport:
        self.on_stage(STAGE)
        # Boundaries of whole storages: what lies between an array and the next one is the harness's.
        spans = [(one.untyped_storage().data_ptr(), one.untyped_storage().nbytes()) for one in arguments
                 if isinstance(one, torch.Tensor)]
        try:
            machine = Machine(self._module(text), Memory(spans), grid,
                              deadline=min(self.deadline, time.monotonic() + self.seconds))
            machine.trace = self.trace
            machine.launch([one.data_ptr() if isinstance(one, torch.Tensor) else one for one in arguments])
        except NotEvaluated as error:
            raise Declined(str(error)) from None
        except MemoryError:
            raise Declined("not evaluated: a launch that takes more memory than there is") from None
        return report

    def _module(self, text: str) -> Module:
        if text not in self._parsed:
            self._parsed[text] = parse(text)
            while len(self._parsed) > KEPT:
                self._parsed.popitem(last=False)
        return self._parsed[text]


def _pointer(array: torch.Tensor) -> Pointer:
    found = pointer_to(name_of_tensor(array), aligned=array.data_ptr() % 16 == 0)
    return found.as_truths() if array.dtype is torch.bool else found
