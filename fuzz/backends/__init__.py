"""Where a subject runs: `cuda`, `interpreter`, and `compile:ARCH` (ahead of time, no device).

Importing this package is free; `launch` and the runners import torch and Triton and belong to workers.
"""

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "gfx942")
"""Architectures that `compile` covers without a device."""

BACKENDS = ("cuda", "interpreter", *(f"compile:{arch}" for arch in ARCHITECTURES))


def expand(backend: str) -> tuple[str, ...]:
    """`compile` stands for all architectures; other names stand for themselves."""
    if backend == "compile":
        return tuple(f"compile:{arch}" for arch in ARCHITECTURES)
    return (backend,)


def kind(backend: str) -> str:
    """`cuda`, `interpreter` or `compile`."""
    return backend.partition(":")[0]
