"""Backend `compile:ARCH`: ahead-of-time compilation for a named architecture, no device.

Arguments are specialised as a launch would do it (contract: jit.md §2.2): an int equal to 1 becomes a
constant, a multiple of 16 and a 16-byte aligned pointer carry the divisibility hint, ints beyond 32 bits
become i64.
"""

from dataclasses import dataclass, replace
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource

from tridiff.fuzz.backends.ir_file import ir_file
from tridiff.fuzz.backends.launch import READ_BACK, LaunchReport, compiler_options, launching, resources
from tridiff.fuzz.backends.shared_cache import compiled_again_if_swept
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.verdicts import Declined
from tridiff.oracles.dtypes import dtype as dtype_info

_TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),
    "sm_90": GPUTarget("cuda", 90, 32),
    "sm_100": GPUTarget("cuda", 100, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
_CLUSTERS = 90
"""Compute capability from which on blocks form clusters."""
_NVIDIA_ONLY = ("launch_cooperative_grid", "maxnreg")
_DIVISIBLE = [["tt.divisibility", 16]]


@dataclass(frozen=True)
class Pointer:
    """A kernel argument that stands for an array nobody allocated."""

    dtype: str
    aligned: bool

    def as_truths(self) -> "Pointer":
        """The same array as one of `torch.bool`."""
        return replace(self, dtype="i1")


def pointer_to(dtype: str, *, aligned: bool) -> Pointer:
    """The argument for an array of a dtype; truth values lie in memory as bytes."""
    return Pointer(dtype="i8" if dtype == "i1" else dtype, aligned=aligned)


def _integer_type(value: int) -> str:
    if -(2**31) <= value < 2**31:
        return "i32"
    return "i64" if value < 2**63 else "u64"


def stand_ins(case: Case) -> dict[str, Pointer]:
    """For each array of a case what its pointer tells the compiler."""
    return {spec.name: pointer_to(spec.dtype, aligned=spec.layout.offset * dtype_info(spec.dtype).itemsize % 16 == 0)
            for spec in case.arrays}


@dataclass(frozen=True)
class Specialisation:
    """What a launch tells the compiler about its arguments, as `ASTSource` takes it."""

    signature: dict[str, str]
    constants: dict[str, Any]
    attributes: dict[tuple[int], Any]


def specialise(kernel: Any, arguments: dict[str, Any]) -> Specialisation:
    """The specialisation of a kernel's arguments by name; arrays are `Pointer`s."""
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    attributes: dict[tuple[int], Any] = {}
    for parameter in kernel.params:
        name, value = parameter.name, arguments[parameter.name]
        hinted = False
        if parameter.is_constexpr or value is None:
            signature[name], constants[name] = "constexpr", value
        elif isinstance(value, Pointer):
            signature[name], hinted = "*" + value.dtype, value.aligned
        elif isinstance(value, bool):
            signature[name] = "u1"
        elif isinstance(value, float):
            signature[name] = "fp32"
        elif value == 1 and not parameter.do_not_specialize:
            signature[name], constants[name] = "constexpr", 1
        else:
            signature[name] = _integer_type(value)
            hinted = value % 16 == 0 and not parameter.do_not_specialize
        if hinted:
            attributes[(parameter.num,)] = _DIVISIBLE
    return Specialisation(signature, constants, attributes)


def target_of(arch: str) -> GPUTarget:
    """What Triton calls an architecture; "" for that of the device at hand."""
    return _TARGETS[arch] if arch else triton.runtime.driver.active.get_current_target()


def source_of(kernel: Any, arguments: dict[str, Any]) -> ASTSource:
    """A kernel with its arguments' specialisation, as Triton's `compile` takes it."""
    given = specialise(kernel, arguments)
    language = GluonASTSource if kernel.is_gluon() else ASTSource
    return language(kernel, given.signature, constexprs=given.constants, attrs=given.attributes)


def options_of(options: LaunchOptions, target: GPUTarget) -> dict[str, int | bool]:
    """What Triton is told to compile a kernel with for a chip."""
    given = compiler_options(options)
    if target.backend != "cuda":
        for name in _NVIDIA_ONLY:
            given.pop(name, None)
    return given


def clusters_lacking(target: GPUTarget, options: LaunchOptions) -> str:
    """That a chip has no clusters of blocks, where they are asked for; "" otherwise."""
    lacking = options.num_ctas > 1 and (target.backend != "cuda" or target.arch < _CLUSTERS)
    return "has no clusters of blocks" if lacking else ""


class CompileRunner:
    """Compiles down to machine code and stops there; outputs are never checked."""

    def __init__(self, arch: str) -> None:
        self.backend = f"compile:{arch}"
        self._target = target_of(arch)

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        return self._compile(source_of(kernel, arguments), options)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        with ir_file(text) as path:
            return self._compile(path, options)

    def _compile(self, source: Any, options: LaunchOptions) -> LaunchReport:
        given = options_of(options, self._target)
        if lacking := clusters_lacking(self._target, options):
            raise Declined(f"{self.backend} {lacking}")
        compiled = compiled_again_if_swept(lambda: triton.compile(source, target=self._target, options=given))
        readback = {name: value for name in READ_BACK
                    if name in given and (value := getattr(compiled.metadata, name, None)) is not None}
        return LaunchReport(compiled=1, readback=readback, ttgir=str(compiled.asm.get("ttgir", "")),
                            ptx=str(compiled.asm.get("ptx", "")), resources=resources(compiled),
                            launching=launching(compiled))

    def synchronise(self) -> None:
        return None
