"""Where a subject runs: `cuda`, `interpreter`, `compile:ARCH` (ahead of time, no device), and `evaluated:ARCH` (the
compiler up to the last TTGIR, which is run over numpy arrays).

Importing this package is free; `launch` and the runners import torch and Triton and belong to workers.
"""

from collections.abc import Iterable

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "gfx942")
"""Architectures that `compile` and `evaluated` cover without a device."""

FOR_CHIPS = ("compile", "evaluated")
"""Kinds of backends of which there is one for each architecture."""

BACKENDS = ("cuda", "interpreter", *(f"{kind}:{arch}" for kind in FOR_CHIPS for arch in ARCHITECTURES))


def lacking_type(backend: str, dtypes: Iterable[str]) -> str:
    """What of the dtypes an architecture that is compiled for lacks, "" if nothing: fp8e4nv is a type of sm_89 and
    later (Triton says so in an error of its own)."""
    arch = backend.partition(":")[2]
    return f"{arch} has no fp8e4nv" if arch == "sm_80" and "fp8e4nv" in dtypes else ""


def expand(backend: str) -> tuple[str, ...]:
    """`compile` and `evaluated` stand for all architectures; other names stand for themselves."""
    if backend in FOR_CHIPS:
        return tuple(f"{backend}:{arch}" for arch in ARCHITECTURES)
    return (backend,)


def kind(backend: str) -> str:
    """`cuda`, `interpreter`, `compile` or `evaluated`."""
    return backend.partition(":")[0]


def compiler(backend: str) -> str:
    """The backend that compiles as this one does: what a chip's compiler does not take, its evaluation does not take
    either."""
    return f"compile:{backend.partition(':')[2]}" if kind(backend) in FOR_CHIPS else backend
