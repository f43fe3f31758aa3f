"""Runs a driver record on arrays, and compiles one ahead of time.

Test support: the smallest faithful use of `tridiff.kernels.drivers.record.Driver`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tridiff.kernels.drivers.record import Driver

SM_80, SM_90, SM_100 = (GPUTarget("cuda", capability, 32) for capability in (80, 90, 100))
GFX942 = GPUTarget("hip", "gfx942", 64)

INTEGERS = {
    "i8": tl.int8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64,
    "u8": tl.uint8, "u16": tl.uint16, "u32": tl.uint32, "u64": tl.uint64}
NUMPY: dict[str, Any] = {
    "i1": np.int8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "fp16": np.float16, "fp32": np.float32, "fp64": np.float64}
UNWRITTEN = 77
NAN, INF = float("nan"), float("inf")
_USUAL = {"FAULT": "", "BOOL": False, "DELAY": ""}
"""What compile-time arguments are unless a call says otherwise."""


def launch(
    driver: Driver, arrays: Mapping[str, torch.Tensor | None], *, options: Mapping[str, Any] | None = None,
    **values: Any,
) -> None:
    """Launches driver.kernel on arrays by name, with the strides that they have (None: no array, strides of 0).

    values: everything else by argument name; unless they say so, rows and cols are those of the first input, no fault
    is planted and nothing is Boolean. options: of the launch.
    """
    shape = getattr(arrays[driver.inputs[0].name], "shape", ())
    usual = {**_USUAL, **dict(zip(("rows", "cols"), shape, strict=False))}
    arguments: dict[str, Any] = {**{name: value for name, value in usual.items() if name in driver.arguments}, **values}
    for array in (*driver.inputs, *driver.outputs):
        tensor = arguments[array.pointer] = arrays[array.name]
        if array.axes:
            strides = (0,) * len(array.axes) if tensor is None else tensor.stride()
            arguments.update(zip(array.strides, strides, strict=True))
    wrong = sorted(set(driver.arguments) ^ set(arguments))
    if wrong:
        raise ValueError(f"{driver.name}: missing or unknown arguments {wrong}")
    sizes = {name: value for name, value in arguments.items() if isinstance(value, int)}
    driver.kernel[driver.grid(sizes)](**arguments, **(options or {}))


def run(driver: Driver, inputs: Mapping[str, Any], outputs: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Launches driver.kernel on numpy arrays or tensors; writes into `outputs` and returns them as numpy arrays.

    Outputs that numpy has no type for come back as tensors.
    """
    tensors = {name: torch.from_numpy(array) if isinstance(array, np.ndarray) else array
               for name, array in {**inputs, **outputs}.items()}
    launch(driver, tensors, **values)
    return {name: as_array(tensors[name]) for name in outputs}


def as_array(tensor: torch.Tensor | None) -> Any:
    """The tensor as a numpy array if numpy has its type."""
    without_numpy = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
    return tensor if tensor is None or tensor.dtype in without_numpy else tensor.numpy()


def compile_ahead(
    driver: Driver, dtype: str, *, target: GPUTarget = SM_90, pointers: Mapping[str, str] | None = None,
    integer: str = "i32", hinted: bool = True, options: Mapping[str, Any] | None = None, constexprs: Mapping[str, Any],
) -> Any:
    """Compiles driver.kernel; returns Triton's compiled object.

    dtype: element type of every array not named in `pointers` (by array name). Names in `constexprs` become
    compile-time constants; no fault is planted and nothing is Boolean unless they say so. hinted: declare all run-time
    ints to be multiples of 16.
    """
    constexprs = {**{name: value for name, value in _USUAL.items() if name in driver.constexprs}, **constexprs}
    pointee = {array.pointer: (pointers or {}).get(array.name, dtype) for array in (*driver.inputs, *driver.outputs)}
    signature, attributes = {}, {}
    for position, name in enumerate(driver.arguments):
        if name in constexprs:
            signature[name] = "constexpr"
        elif name in pointee:
            signature[name] = f"*{pointee[name]}"
        else:
            signature[name] = integer
        if name not in constexprs and (hinted or name in pointee):
            attributes[(position,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=driver.kernel, signature=signature, constexprs=constexprs, attrs=attributes)
    return triton.compile(source, target=target, options=dict(options or {}))


def along(axis: int, shape: tuple[int, ...], *, length: int) -> tuple[tuple[int, int], dict[str, int]]:
    """What a reduction along an axis leaves of a shape, and a tile that holds `length` elements of that axis."""
    if axis == 1:
        return (shape[0], 1), {"ROW_BLOCK": 2, "COL_BLOCK": length}
    return (1, shape[1]), {"ROW_BLOCK": length, "COL_BLOCK": 2}


def pairs(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """All ordered pairs of a 1-D array's elements, as two square arrays."""
    return np.ascontiguousarray(np.repeat(values[:, None], len(values), 1)), np.ascontiguousarray(
        np.repeat(values[None, :], len(values), 0))


def boundary_integers(dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """The extremes, zero, and small numbers of both signs."""
    info = np.iinfo(dtype)
    small = [value for value in (-16, -7, -3, -2, -1, 0, 1, 2, 3, 7, 16) if value >= info.min]
    return np.array([info.min, info.min + 1, *small, info.max - 1, info.max], dtype)


def boundary_floats(dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """NaN, infinities, zeros of both signs, subnormals, the extremes, ordinary numbers."""
    info = np.finfo(dtype)
    least = info.smallest_subnormal
    return np.array(
        [np.nan, np.inf, -np.inf, 0.0, -0.0, least, -least, info.tiny, info.max, -info.max, 1.0, -1.0, 1.5], dtype)
