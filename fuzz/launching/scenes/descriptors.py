"""Tensor descriptors made on the host, and scratch that a kernel needs."""

import math
from typing import Any

import torch

from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import in_ptx, kernel
from tridiff.oracles.dtypes import torch_dtype

_COPY = """
@triton.jit
def kernel(source, out, at):
    out.store([at{zeros}], source.load([at{zeros}]))
"""
_NESTED = """
@triton.jit
def kernel(both, at):
    both[1].store([at{zeros}], both[0].load([at{zeros}]))
"""
_SCRATCH = """
@triton.jit
def kernel(x, n):
    one = tl.make_tensor_descriptor(x, [n, n], [n, 1], [16, 16])
    {second}
    one.store([0, 0], one.load([16, 16]))
"""
_SECOND = """two = tl.make_tensor_descriptor(x + 1024, [n, n], [n, 1], [16, 16])
    two.store([0, 0], one.load([0, 0]))"""


def on_host(choices: Choices, backend: str) -> Answers:
    """What a kernel gets of two descriptors: maps of the driver, or pointers with their extents."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    dtype = torch_dtype(str(choices["dtype"]))
    block = [int(one) for one in str(choices["block"]).split()]
    shape = [extent * 3 for extent in block[:-1]] + [64]
    strides = [math.prod(shape[place + 1:]) for place in range(len(shape))]
    source = torch.zeros(shape, dtype=dtype)
    text = (_NESTED if choices["nested"] else _COPY).format(zeros=", 0" * (len(block) - 1))
    with bench(int(choices["arch"])) as there:
        more: dict[str, Any] = {"padding": "nan"} if choices["nan"] and dtype.is_floating_point else {}
        if choices["rounded"]:
            more["round_f32_to_tf32"] = True
        made = [TensorDescriptor(source, shape, strides, block, **more), TensorDescriptor.from_tensor(source, block)]
        user = kernel(text)
        compiled = user[(1,)](tuple(made), 3) if choices["nested"] else user[(1,)](*made, 3)
        parameters = there.launches[-1].parameters
    maps = [value for _, value in parameters if isinstance(value, tuple)]
    found = {"maps": str(len(maps)), "ptx": in_ptx(compiled.asm["ptx"]),
             "types": "; ".join(kind for kind, _ in parameters),
             "values": "; ".join(_told(value, source) for _, value in parameters)}
    if maps:
        base, swizzle, size, kind, box, extents, steps, padding = maps[0][1:]
        found |= {"base": str(base == source.data_ptr()), "bytes": str(size), "element": str(kind),
                  "extents": str(list(extents)), "strides": str(list(steps)), "padding": str(padding),
                  "box": str(list(box)), "swizzle": str(swizzle)}
    return found


def _told(value: Any, source: torch.Tensor) -> str:
    if isinstance(value, tuple):
        return f"map {value[2:]}"
    return "array" if isinstance(value, torch.Tensor) or value == source.data_ptr() else repr(value)


def scratch(choices: Choices, backend: str) -> Answers:
    """A kernel that makes descriptors for itself: the allocator is asked for what every block needs."""
    grid = tuple(int(one) for one in str(choices["grid"]).split())
    user = kernel(_SCRATCH.format(second=_SECOND if choices["two"] else "pass"))
    with bench(int(choices["arch"])) as there:
        compiled = user[grid](torch.zeros(4096), 64, num_ctas=choices["num_ctas"])
        launch, asked = there.launches[-1], there.scratch
    metadata = compiled.metadata
    blocks = math.prod(grid) * int(choices["num_ctas"])
    return {"asked": "; ".join(map(str, asked)), "per block": str(metadata.global_scratch_size),
            "consistent": str(bool(asked) == bool(metadata.global_scratch_size) and all(
                one == (blocks * metadata.global_scratch_size, metadata.global_scratch_align, 5) for one in asked)),
            "handed": str(launch.scratch), "descriptors": str(metadata.global_scratch_size // 128)}
