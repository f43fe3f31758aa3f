"""What a target's launch function is given, and what every runner must offer it."""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from msgspec import UNSET

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, LaunchOptions


def resolve(path: str) -> Any:
    """The object that "package.module:name" or "package.module:TABLE[key][key]" names."""
    module, _, name = path.partition(":")
    name, *keys = name.replace("]", "").split("[")
    try:
        found = getattr(importlib.import_module(module), name)
        for one in keys:
            found = found[one]
    except (ImportError, AttributeError, KeyError) as error:
        raise TridiffError(f"{path} cannot be resolved ({type(error).__name__}: {error})",
                           fix="check the installed versions with `tridiff doctor`") from error
    return found


READ_BACK = ("num_warps", "num_stages", "num_ctas", "enable_fp_fusion", "debug", "launch_cooperative_grid", "maxnreg",
              "sanitize_overflow")
"""Options that the compiler is given and records in the kernel's metadata."""


def without_overflow_checks(options: LaunchOptions, *, asserting: bool = False) -> dict[str, bool]:
    """With assertions (asserting: a sanitizer turns them on), Triton checks integer operations for overflow. Arithmetic
    that wraps is part of most contracts, so that only a case that asks for the checks has them."""
    return {"sanitize_overflow": False} if options.sanitize_overflow is UNSET and (options.debug or asserting) else {}


def compiler_options(options: LaunchOptions, *, asserting: bool = False) -> dict[str, int | bool]:
    """What Triton is told to compile a kernel with."""
    return asked(options) | without_overflow_checks(options, asserting=asserting)


def asked(options: LaunchOptions) -> dict[str, int | bool]:
    """Options that are read back; those that are not set are not asked for."""
    return {name: value for name in READ_BACK if (value := getattr(options, name)) is not UNSET}


@dataclass(frozen=True, kw_only=True)
class LaunchReport:
    """What one launch did. compiled: kernels newly built (0 when cached). readback: options as the compiler
    recorded them (empty in the interpreter). ttgir: text for the IR ledger, where a kernel was newly built. ptx: of the
    kernel that ran, where it is an NVIDIA one. resources: of that kernel ("shared": bytes; "registers", "spills": of
    each thread, where a driver loaded it)."""

    compiled: int = 0
    readback: dict[str, int | bool] | None = None
    source: str = ""
    """The source IR, where nothing more was compiled."""
    ttgir: str = ""
    ptx: str = ""
    resources: dict[str, int] = field(default_factory=dict)
    launching: str = ""
    """What a launch of the kernel needs beside its code and arguments: warps, blocks, scratch and the like."""
    answers: dict[str, str] = field(default_factory=dict)
    """What Triton says of itself beside code and values, by name, lists with "; " between their members: for a
    comparison of builds."""


def unlike(reports: list[LaunchReport], options: LaunchOptions) -> str:
    """A line when the compiler did not use the options that were asked for, "" if it did."""
    for report in reports:
        for name, value in (report.readback or {}).items():
            asked = getattr(options, name)
            if asked is not UNSET and value != asked:
                return f"asked for {name}={asked}, the compiled kernel has {name}={value}"
    return ""


_LAUNCHING = ("num_warps", "num_ctas", "shared", "global_scratch_size", "global_scratch_align",
              "profile_scratch_size", "profile_scratch_align", "tmem_size", "tensordesc_meta",
              "launch_cooperative_grid", "launch_pdl")


def launching(compiled: Any) -> str:
    """That of a compiled kernel, and whether its code has an entry by the name that is loaded."""
    text = next((text for kind in ("ptx", "amdgcn") if (text := str(compiled.asm.get(kind, "")))), "")
    named = re.search(rf"^\s*(\.visible \.entry |\.globl\s+){re.escape(compiled.metadata.name)}\b", text, re.MULTILINE)
    return " ".join((*(f"{name}={getattr(compiled.metadata, name, None)}" for name in _LAUNCHING),
                     f"named={named is not None}"))


def resources(compiled: Any) -> dict[str, int]:
    """What a compiled kernel uses, as far as it is known (see `LaunchReport`)."""
    found = {"shared": getattr(compiled.metadata, "shared", None), "registers": getattr(compiled, "n_regs", None),
             "spills": getattr(compiled, "n_spills", None)}
    return {name: number for name, number in found.items() if isinstance(number, int)}


class Runner(Protocol):
    """One semantics of running a kernel: `cuda`, `interpreter`, `compile` or `evaluated`."""

    backend: str

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        """Compile if needed, launch, return without waiting for the device."""
        ...

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        """As `run`, for a kernel given as TTGIR text; arguments in the order of its parameters. The number of
        warps and blocks per cluster stands in the text and wins over the options."""
        ...

    def synchronise(self) -> None:
        """Wait until every launch has finished; device errors surface here."""
        ...


@runtime_checkable
class Times(Protocol):
    """A runner that can say how long a launch takes on the device."""

    def timed(self, launch: Callable[[], object]) -> float:
        """Seconds, from the first to the last that the device does of a launch."""
        ...


@runtime_checkable
class HoldsBack(Protocol):
    """A runner that can compile what is to be launched, as the launch would, without launching it."""

    compile_only: bool


class Launch:
    """One launch of one case: the arrays in place, the subject's helper, and the runner."""

    def __init__(self, *, case: Case, pointers: Mapping[str, Any], helper: Any, fault: str,
                 options: LaunchOptions, runner: Runner, planted: str = "", schedule: int = 0,
                 stage: Callable[[str], None] = lambda name: None) -> None:
        self.case = case
        self.helper = helper
        self.fault = fault
        self.planted = planted
        """Name of the planted fault; for faults of the caller, such as scratch that is not cleared."""
        self.schedule = schedule
        """0 for the case's main schedule, else the number of one that must give the same answer."""
        self.options = options
        self.stage = stage
        """For subjects that compile by themselves: announce "compile" before it and "launch" behind it, because the
        time limits of the two differ."""
        self.reports: list[LaunchReport] = []
        self._pointers = pointers
        self._runner = runner

    def pointer(self, name: str) -> Any:
        """The kernel argument that points to element 0 of array `name`."""
        return self._pointers[name]

    def truths(self, name: str) -> Any:
        """The kernel argument for an array of truth values as torch has them: a tensor of `torch.bool`, behind which
        Triton sees a pointer to i1."""
        pointer = self._pointers[name]
        if hasattr(pointer, "as_truths"):
            return pointer.as_truths()
        import torch

        return pointer.view(torch.bool)

    @property
    def backend(self) -> str:
        """`cuda`, `interpreter`, `compile:ARCH` or `evaluated:ARCH`."""
        return self._runner.backend

    def spec(self, name: str) -> ArraySpec:
        return self.case.array(name)

    def drive(self, driver_path: str, **given: Any) -> None:
        """Run a `tridiff.kernels.drivers` record: arrays, strides, sizes, HELPER and FAULT are filled in by name;
        everything else (block sizes, scalars, other constexprs) is given. An array that the case does not
        have is passed as None with strides 0."""
        driver = resolve(driver_path)
        arguments: dict[str, Any] = {}
        present = {spec.name: spec for spec in self.case.arrays}
        for array in (*driver.inputs, *driver.outputs):
            spec = present.get(array.name)
            arguments[array.pointer] = self._pointers[array.name] if spec else None
            strides: dict[str, int] = {}
            if spec:
                own = spec.strides(self.case.sizes)
                strides = {dim.removesuffix("s"): s for dim, s in zip(spec.dims, own, strict=True)}
            for axis, argument in zip(array.axes, array.strides, strict=True):
                arguments[argument] = strides.get(axis, 0)
        for name in driver.integers:
            if name in self.case.sizes:
                arguments[name] = self.case.sizes[name]
        for name, value in (("HELPER", self.helper), ("FAULT", self.fault)):
            if name in driver.constexprs:
                arguments[name] = value
        arguments.update(given)
        integers = {k: v for k, v in arguments.items() if isinstance(v, int) and not isinstance(v, bool)}
        grid = driver.grid(integers)
        self.run(driver.kernel, grid, {name: arguments[name] for name in driver.arguments})

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any]) -> None:
        """Run any jit function with keyword arguments. An empty grid launches nothing."""
        if 0 in grid:
            self.reports.append(LaunchReport())
            return
        self.reports.append(self._runner.run(kernel, grid, arguments, self.options))

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any]) -> None:
        """Run a kernel given as TTGIR text; arguments in the order of its parameters, by whatever names."""
        if 0 in grid:
            self.reports.append(LaunchReport())
            return
        self.reports.append(self._runner.run_ir(text, grid, arguments, self.options))

    def synchronise(self) -> None:
        """Wait until what was launched has finished; for launch functions that judge how it ended."""
        self._runner.synchronise()
