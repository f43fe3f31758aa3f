"""Gluon's layouts as Python objects: what they compute about themselves on the host."""

from collections.abc import Callable
from typing import Any

from triton.experimental.gluon import language as gl

from tridiff.fuzz.launching.scene import Answers, Choices


def _blocked(wide: bool) -> Any:
    return gl.BlockedLayout([1, 4 if wide else 2], [4, 8], [2, 2], [1, 0])


def _products() -> Any:
    return gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])


_LAYOUTS: dict[str, Callable[[bool], Any]] = {
    "blocked": _blocked,
    "slice 0": lambda wide: gl.SliceLayout(0, _blocked(wide)),
    "slice 1": lambda wide: gl.SliceLayout(1, _blocked(wide)),
    "mma 2": lambda wide: _products(),
    "mma 3": lambda wide: gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64 if wide else 32, 16]),
    "operand 0": lambda wide: gl.DotOperandLayout(0, _products(), 2 if wide else 4),
    "operand 1": lambda wide: gl.DotOperandLayout(1, _products(), 2),
    "linear": lambda wide: gl.DistributedLinearLayout(
        reg_bases=[[0, 1], [0, 2]], lane_bases=[[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp_bases=[[8, 0], [0, 16]],
        block_bases=[], shape=[16, 32]),
    "shared": lambda wide: gl.NVMMASharedLayout(swizzle_byte_width=128 if wide else 32, element_bitwidth=16, rank=2),
    "transposed": lambda wide: gl.NVMMASharedLayout(64, 32 if wide else 8, 2, transposed=True),
    "swizzled": lambda wide: gl.SwizzledSharedLayout(8 if wide else 1, 2, 4, order=[1, 0]),
    "padded": lambda wide: gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64 if wide else 32], [1, 0]),
    "shared linear": lambda wide: gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], alignment=32 if wide else 16),
    "default 16": lambda wide: gl.NVMMASharedLayout.get_default_for([64, 64 if wide else 16], gl.float16),
    "default 8": lambda wide: gl.NVMMASharedLayout.get_default_for([16, 32, 128 if wide else 32], gl.int8),
    "auto": lambda wide: gl.AutoLayout(),
    "coalesced": lambda wide: gl.CoalescedLayout(),
}

_SHAPES = {"slice 0": [32], "slice 1": [32], "shared": [64, 64], "transposed": [64, 64], "default 16": [64, 64],
           "default 8": [4, 64, 128], "shared linear": [4, 4], "padded": [16, 64]}


def layouts(choices: Choices, backend: str) -> Answers:
    """One layout: its fields, names, derived properties and views; whether equal ones are equal."""
    make = _LAYOUTS[str(choices["layout"])]
    wide = bool(choices["wide"])
    one, same = make(wide), make(wide)
    found = {"equal": str(one == same and hash(one) == hash(same)), "text": repr(one), "mangled": _of(one.mangle)}
    for name in ("rank", "cga_layout", "dim", "parent", "operand_index", "k_width", "block_bases"):
        if hasattr(type(one), name) or name in getattr(one, "__dict__", {}):
            found[name] = _of(lambda name=name: getattr(one, name))  # type: ignore[misc]
    for name in ("format_tensor_view", "format_hardware_view"):
        if hasattr(one, name):
            # Of another rank than the layout's, or a shape that is too narrow for it, libtriton ends the process.
            shape = _SHAPES.get(str(choices["layout"]), [16, 32])
            found[name] = _of(lambda name=name, shape=shape: getattr(one, name)(shape))  # type: ignore[misc]
    return found


def _of(ask: Callable[[], Any]) -> str:
    try:
        return str(ask())
    except Exception as error:
        return f"refused {type(error).__name__}: {str(error)[:80]}"
