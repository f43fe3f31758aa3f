"""What the contract (launch.md §9) says of descriptors of images: the arguments of cuTensorMapEncodeIm2col, and the
instruction that takes them (PTX ISA, cp.async.bulk.tensor)."""

from tridiff.fuzz.launching.due_of_events import ELEMENTS
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.oracles.dtypes import dtype

_SWIZZLES = {32: 1, 64: 2, 128: 3}
"""CUtensorMapSwizzle, by the bytes of a line."""


def images(choices: Choices, version: str) -> Answers:
    name, rank, channels = str(choices["dtype"]), int(choices["rank"]), int(choices["channels"])
    size = dtype(name).bits // 8
    extents = [2, *[8] * (rank - 2), 2 * channels]
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return {"map": "im2col", "base": "True", "swizzle": str(_SWIZZLES[channels * size]), "bytes": str(size),
            "element": str(ELEMENTS[name]), "box": str([choices["pixels"], channels]), "extents": str(extents),
            "strides": str(strides), "padding": str(int(bool(choices["nan"]) and dtype(name).is_float)),
            "lower": str([-1] * (rank - 2)), "upper": str([choices["upper"]] * (rank - 2)),
            "steps": str([1, *[choices["step"]] * (rank - 2), 1]), "axes": str(rank), "mode": "im2col",
            "offsets": str(rank - 2), "hint": str(choices["hint"] != "")}
