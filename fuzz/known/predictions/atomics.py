"""What defects of atomic operations give back and leave in memory."""

import torch

from tridiff.fuzz.known.issue import Masks, Wrong
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.kernels.language.call import Call
from tridiff.oracles.bits import is_nan, to_bits


def _call(seen: Wrong) -> Call:
    assert isinstance(seen.case.program, Call)
    return seen.case.program


def _value(seen: Wrong, like: torch.Tensor) -> torch.Tensor:
    """The second operand in the type of the memory."""
    operand = _call(seen).operands[1]
    if operand.number:
        return torch.full_like(like, float(operand.number.removeprefix('float("').removesuffix('")')))
    return seen.inputs["x1"].to(like.dtype).reshape(like.shape[0], -1).expand(like.shape)


def _again(seen: Wrong, once: torch.Tensor) -> torch.Tensor:
    """The memory after an operation on `once`, which is what the same operation left.

    Extrema, `and`, `or` and exchanges leave it as it is, and so does a second comparison.
    """
    row = _call(seen).row
    if row == "gl.atomic_xor":
        return seen.inputs["x0"].reshape(once.shape)
    if row != "gl.atomic_add":
        return once
    if once.is_floating_point():
        return once + _value(seen, once)
    bits = to_bits(once)  # a sum of integers wraps
    return (2 * bits - to_bits(seen.inputs["x0"].reshape(once.shape))).view(once.dtype)


def _same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    equal = to_bits(one) == to_bits(other)
    return equal | (is_nan(one) & is_nan(other)) if one.is_floating_point() else equal


def done_twice(seen: Wrong) -> Masks:
    """Given back is what the first of two operations left; in memory is what the second one left."""
    if set(seen.expected) < {"out0", "out1"}:
        return {}
    old, once = seen.expected["out0"], seen.expected["out1"]
    masked = _call(seen).row != "gl.atomic_cas" and len(_call(seen).operands) > 2
    acts = seen.inputs["x2"].reshape(once.shape).to(torch.bool) if masked else torch.ones_like(once, dtype=torch.bool)
    twice = torch.where(acts, to_bits(_again(seen, once)), to_bits(once)).view(once.dtype)
    given = {"out0": (old, once), "out1": (once, twice)}
    return {name: where_it_shows(_same(seen.actual[name], wrong), acts & ~_same(right, wrong))
            for name, (right, wrong) in given.items()}


def bits_as_a_number(seen: Wrong) -> Masks:
    """Given back are the bits of the old number as a number, signed or not."""
    if "out0" not in seen.expected:
        return {}
    bits = to_bits(seen.expected["out0"]).cpu().numpy()
    actual = seen.actual["out0"].cpu()
    signed, unsigned = (torch.from_numpy(bits.view(kind).astype("float64")) for kind in ("int64", "uint64"))
    return {"out0": (_same(actual, signed) | _same(actual, unsigned)).to(seen.actual["out0"].device)}
