"""Host-side helpers: the active backend, its default options, a compile-time logarithm (contract: helpers.md §2)."""

import warnings
from collections.abc import Callable
from typing import Any

import triton
from triton.backends import backends
from triton.compiler.compiler import make_backend

CPU = "cpu"
NO_CPU = (
    "Could not find an active CPU backend: generated kernels cannot run. Install a Triton with a backend called cpu."
)
NO_GPU = "Could not find an active GPU backend"


def _active_driver() -> Any:
    """The active driver, whatever proxy holds it; None where Triton finds no driver, or more than one."""
    try:
        active = triton.runtime.driver.active
    except RuntimeError:
        return None
    return getattr(active, "_obj", active)


def _activate(backend: Any) -> None:
    # A driver that is already active keeps its state; making a second one would load its libraries again.
    if not isinstance(_active_driver(), backend.driver):
        triton.runtime.driver.set_active(backend.driver())


def set_driver_to_cpu() -> None:
    """Makes the backend called cpu active if there is one; otherwise warns once and changes nothing. Never
    raises.

    Contract: helpers.md §2.
    """
    backend = backends.get(CPU)
    if backend is None:
        warnings.warn(NO_CPU, stacklevel=2)
    else:
        _activate(backend)


def _torch_sees_a_gpu(name: str) -> bool:
    """What torch says about a backend's GPUs. Triton's own probe can fail in worker processes where torch works."""
    import torch

    if name not in ("nvidia", "amd") or not torch.cuda.is_available():
        return False
    return (torch.version.hip is None) == (name == "nvidia")


def set_driver_to_gpu() -> None:
    """Makes the first registered backend active that is not cpu and has a device; idempotent.

    Raises RuntimeError if there is none. Contract: helpers.md §2.
    """
    for name, backend in backends.items():
        if name != CPU and (backend.driver.is_active() or _torch_sees_a_gpu(name)):
            _activate(backend)
            return
    raise RuntimeError(NO_GPU)


def get_backend_options() -> dict[str, Any]:
    """The default compiler options of the active backend: num_warps, num_stages, debug, enable_fp_fusion, ...

    Raises RuntimeError if no driver is active. Contract: helpers.md §2.
    """
    target = triton.runtime.driver.active.get_current_target()
    return dict(vars(make_backend(target).parse_options({})))


def _make_log2() -> Callable[[Any], int]:
    """The compile-time logarithm, or a function that says that this Triton cannot compute at compile time."""
    try:
        from triton.runtime.jit import constexpr_function
    except ImportError:

        def unavailable(n: Any) -> int:
            raise NotImplementedError("this Triton has no compile-time functions: upgrade to 3.6 or later")

        return unavailable

    def log2(n: Any) -> int:
        """The exponent of a power of two, at compile time or on the host; ValueError for any other number."""
        if n < 1 or n & (n - 1):
            raise ValueError(f"_log2 takes a power of two, got {n}")
        exponent: int = int(n).bit_length() - 1
        return exponent

    result: Callable[[Any], int] = constexpr_function(log2)
    return result


_log2 = _make_log2()
