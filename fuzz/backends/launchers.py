"""Triton 3.6 writes a C launcher for every new signature and has the C compiler build it.

Half of all drawn programs have a signature of their own, and a launcher costs 0.1 s of a core without optimisation and
0.3 s with it, for a handful of launches. Later versions have one launcher for all signatures. So has 3.6 here:
arguments are laid out as the C launcher does and handed to the driver. One signature in `OWN_IN` still has Triton's own
launcher built, always the same ones, as have clusters, tensor descriptors, tuples and half-precision scalars.
"""

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

OWN_IN = 16
"""Triton's launchers stay under test, at a sixteenth of their cost."""

_COOPERATIVE = 2  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
_DEVICE_POINTER = 3  # CU_POINTER_ATTRIBUTE_DEVICE_POINTER
_INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE
_WARP = 32

SCALARS: dict[str, Any] = {
    "i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "fp32": ctypes.c_float, "f32": ctypes.c_float, "fp64": ctypes.c_double}
"""What a scalar parameter of each type occupies."""


class Attribute(ctypes.Structure):
    """CUlaunchAttribute of the CUDA driver interface; its value is a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint), ("rest", ctypes.c_char * 60))


class Config(ctypes.Structure):
    """CUlaunchConfig of the CUDA driver interface."""

    _fields_ = (("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint))


@cache
def _cuda() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _check(code: int) -> None:
    """Raises RuntimeError with the words of Triton's launchers, by which failures are told apart."""
    if code:
        text = ctypes.c_char_p()
        _cuda().cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"Triton Error [CUDA]: {(text.value or b'unknown error').decode()}")


def address(argument: Any, position: int) -> int:
    """The device address that a pointer argument stands for: an integer, None, or an object with `data_ptr`.

    Raises ValueError where the device cannot reach it.
    """
    if argument is None or isinstance(argument, int):
        return argument or 0
    host: int = argument.data_ptr()
    if host == 0:
        return 0
    found = ctypes.c_uint64()
    code = _cuda().cuPointerGetAttribute(ctypes.byref(found), _DEVICE_POINTER, ctypes.c_uint64(host))
    if code == _INVALID_VALUE:
        raise ValueError(f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)")
    _check(code)
    return found.value


def parameters(signature: Sequence[str], arguments: Sequence[Any],
               address: Callable[[Any, int], int] = address) -> list[Any]:
    """The kernel's parameters as C values; a constexpr has none."""
    return [ctypes.c_uint64(address(argument, position)) if kind[0] == "*" else SCALARS[kind](argument)
            for position, (kind, argument) in enumerate(zip(signature, arguments, strict=True)) if kind != "constexpr"]


def serves(signature: Sequence[Any], *, num_ctas: int, dependent: bool) -> bool:
    """Whether kernels of this signature are launched here. dependent: before the launch in front has ended."""
    plain = all(isinstance(kind, str) and (kind[0] == "*" or kind == "constexpr" or kind in SCALARS)
                for kind in signature)
    if not plain or num_ctas != 1 or dependent:
        return False
    return hashlib.sha256(" ".join(signature).encode()).digest()[0] % OWN_IN != 0


def launch(signature: Sequence[str], grid: tuple[int, int, int], stream: int, function: int, cooperative: bool,
           scratch: tuple[Any, Any], packed: tuple[int, int, int], arguments: Sequence[Any]) -> None:
    """Launch without waiting. scratch: of the kernel and of its profiler, arrays or None. packed: number of warps, of
    blocks in a cluster, bytes of shared memory. Raises RuntimeError when the driver refuses, ValueError for an array
    that the device cannot reach."""
    values = parameters((*signature, "*scratch", "*scratch"), (*arguments, *scratch))
    if 0 in grid:
        return
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    attribute = Attribute(id=_COOPERATIVE, value=1)
    config = Config(grid=grid, block=(_WARP * packed[0], 1, 1), shared_bytes=packed[2], stream=stream,
                    attributes=ctypes.pointer(attribute), count=int(cooperative))
    _check(_cuda().cuLaunchKernelEx(ctypes.byref(config), ctypes.c_void_p(function), pointers, None))


def launch_without_compiler() -> None:
    """Have this process launch most kernels without building a launcher, where the version builds any."""
    import triton
    from triton.backends.nvidia import driver

    if not hasattr(driver, "make_launcher") or not driver.CudaDriver.is_active():
        return
    active = triton.runtime.driver.active
    if active.launcher_cls is not driver.CudaLauncher:
        return

    class Launcher(driver.CudaLauncher):  # type: ignore[misc]
        """Allocates scratch as Triton's does, which calls `launch` with it."""

        def __init__(self, source: Any, metadata: Any) -> None:
            self.signature = tuple(source.signature.values())
            if not serves(self.signature, num_ctas=metadata.num_ctas, dependent=metadata.launch_pdl):
                super().__init__(source, metadata)
                return
            self.launch = self._launch
            for name in ("num_ctas", "global_scratch_size", "global_scratch_align", "profile_scratch_size",
                         "profile_scratch_align", "launch_cooperative_grid", "launch_pdl"):
                setattr(self, name, getattr(metadata, name))

        def _launch(self, x: int, y: int, z: int, stream: int, function: int, cooperative: bool, dependent: bool,
                    scratch: Any, profile: Any, packed: tuple[int, int, int], about: Any, enter: Any, leave: Any,
                    *arguments: Any) -> None:
            if enter is not None:
                enter(about)
            launch(self.signature, (x, y, z), stream, function, cooperative, (scratch, profile), packed, arguments)
            if leave is not None:
                leave(about)

    active.launcher_cls = Launcher
