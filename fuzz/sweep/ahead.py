"""Compile the kernels of a sweep ahead of time, for the cache that the launches will look into. Needs no GPU."""

from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tridiff.fuzz.backends.compile import Pointer, specialise
from tridiff.fuzz.sweep.execute import launch_options
from tridiff.fuzz.sweep.records import SweepSpec
from tridiff.fuzz.sweep.source import build
from tridiff.kernels.generated import load

_POINTERS = {
    "judge": {"counts_ptr": "i32", "worst_ptr": "fp32", "where_ptr": "i32"},
    "probe": {"pattern_ptr": "i64", "reference_ptr": "i64", "code_ptr": "i8", "error_ptr": "fp32", "index_ptr": "i64"},
}
_INTEGERS = {"judge": ("first_span", "opaque_zero"), "probe": ("count",)}


def compile_ahead(spec: SweepSpec, capability: int) -> int:
    """Compile the kernels of a spec for an architecture such as 90; how many there are."""
    built = build(spec)
    kernels = ("probe",) if built.space.on_host else ("judge", "probe")
    module = load(built.text, name="sweep_" + spec.op)
    for name in kernels:
        arguments: dict[str, Any] = {p: Pointer(d, True) for p, d in _POINTERS[name].items()}
        arguments |= dict.fromkeys(_INTEGERS[name], 0)
        arguments |= {f"deck{index}_ptr": Pointer("i64", True) for index in built.decks}
        given = specialise(getattr(module, name), arguments)
        source = ASTSource(getattr(module, name), given.signature, constexprs=given.constants, attrs=given.attributes)
        triton.compile(source, target=GPUTarget("cuda", capability, 32), options=launch_options(spec))
    return len(kernels)
