"""Tensor descriptors of images, made on the host: what a kernel of Gluon's gets, and how it reads a box of pixels."""

import re
from typing import Any

import torch

from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.kernels.generated import load
from tridiff.oracles.dtypes import dtype, torch_dtype

_TEXT = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

@gluon.jit
def kernel(image, out, shift):
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [gl.num_warps(), 1], [1, 0])
    shared = gl.allocate_shared_memory(image.dtype, image.block_shape, image.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, image.nbytes_per_cta)
    tma.async_load_im2col(image, {place}, {offsets}, barrier, shared{hint})
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    row = gl.arange(0, image.block_shape[0], layout=gl.SliceLayout(1, layout))
    column = gl.arange(0, image.block_shape[1], layout=gl.SliceLayout(0, layout))
    gl.store(out + row[:, None] * image.block_shape[1] + column[None, :], shared.load(layout))
"""
_HINTS = {"": "", "plain": ', cache_policy=gl.CachePolicy("none", "evict_first")',
          "parts": ', cache_policy=gl.nvidia.ampere.CachePolicy('
                   'l2=gl.nvidia.ampere.FractionalEvictionPolicy("evict_last", 0.5))'}
_LOAD = re.compile(r"cp\.async\.bulk\.tensor\.(\d)d\.[\w:.]*?global\.(\w+)[\w:.]*(.*)")


def images(choices: Choices, backend: str) -> Answers:
    """One load of a box of pixels with all their channels."""
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col

    name, rank, channels = str(choices["dtype"]), int(choices["rank"]), int(choices["channels"])
    bits = dtype(name).bits
    image = torch.zeros([2, *[8] * (rank - 2), 2 * channels], dtype=torch_dtype(name))
    layout = gl.NVMMASharedLayout(swizzle_byte_width=channels * bits // 8, element_bitwidth=bits, rank=2)
    more: dict[str, Any] = {"padding": "nan"} if choices["nan"] and dtype(name).is_float else {}
    if int(choices["step"]) > 1:
        more["element_strides"] = [1, *[int(choices["step"])] * (rank - 2), 1]
    offsets: list[int | str] = [*range(rank - 2)]
    if choices["shifted"]:
        offsets = ["shift.to(gl.int16)", *offsets[1:]]
    text = _TEXT.format(place=[0] * rank, offsets="[" + ", ".join(map(str, offsets)) + "]",
                        hint=_HINTS[str(choices["hint"])])
    user = load(text, name="user").kernel
    user.device_caches.clear()
    with bench() as there:
        made = TensorDescriptorIm2Col.from_tensor(
            image, [int(choices["pixels"]), channels], layout, pixel_box_lower_corner=[-1] * (rank - 2),
            pixel_box_upper_corner=[int(choices["upper"])] * (rank - 2), **more)
        compiled = user[(1,)](made, torch.zeros_like(image), 2)
        handed = there.launches[-1].parameters[0][1]
    word, base, swizzle, size, kind, box, extents, steps, padding, lower, upper, strides = handed
    found = _LOAD.search(compiled.asm["ptx"])
    axes, mode, given = found.groups() if found else ("", "", "")
    return {"map": word, "base": str(base == image.data_ptr()), "swizzle": str(swizzle), "bytes": str(size),
            "element": str(kind), "box": str(list(box)), "extents": str(list(extents)), "strides": str(list(steps)),
            "padding": str(padding), "lower": str(list(lower)), "upper": str(list(upper)),
            "steps": str(list(strides)), "axes": axes, "mode": mode,
            "offsets": str(len(given.rpartition("{")[2].partition("}")[0].split(","))),
            "type": "".join(re.findall("tensordesc_im2col<[^,]*", compiled.asm["source"])[:1]),
            "hint": str(".L2::cache_hint" in (found[0] if found else ""))}
