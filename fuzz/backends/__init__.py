"""Where a subject runs: `cuda`, `interpreter`, and `compile:ARCH` (ahead of time, no device).

Importing this package is free; `launch` and the runners import torch and Triton and belong to workers.
"""

from collections.abc import Iterable

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "gfx942")
"""Architectures that `compile` covers without a device."""

BACKENDS = ("cuda", "interpreter", *(f"compile:{arch}" for arch in ARCHITECTURES))


def lacking_type(backend: str, dtypes: Iterable[str]) -> str:
    """What of the dtypes an architecture that is compiled for lacks, "" if nothing: fp8e4nv is a type of sm_89 and
    later (Triton says so in an error of its own)."""
    arch = backend.partition(":")[2]
    return f"{arch} has no fp8e4nv" if arch == "sm_80" and "fp8e4nv" in dtypes else ""


def expand(backend: str) -> tuple[str, ...]:
    """`compile` stands for all architectures; other names stand for themselves."""
    if backend == "compile":
        return tuple(f"compile:{arch}" for arch in ARCHITECTURES)
    return (backend,)


def kind(backend: str) -> str:
    """`cuda`, `interpreter` or `compile`."""
    return backend.partition(":")[0]
