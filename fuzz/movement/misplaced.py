"""Elements that Triton 3.6.0, or the assembler that comes with it, gives to other places of a tensor: what of a chain's
conversions, scans and masked loads meets such a defect (corpus)."""

from itertools import product

from msgspec import UNSET

from kernels.gluon.chain import Convert, Load, Regroup, Scan, Transpose
from kernels.gluon.exchange import low_bits_swapped_twice
from kernels.gluon.layouts import Blocked
from kernels.gluon.ownership import holding
from kernels.gluon.scans import lanes_repeated, registers_apart, runs_in_one_thread
from kernels.gluon.values import WIDTH, Tensor, Type


def of_conversion(step: Convert | Transpose | Regroup, types: tuple[Type, ...]) -> str:
    """A transposition and another shape leave the elements where they are; a conversion follows them."""
    source = types[step.source]
    if not isinstance(source, Tensor) or source.layout is None or WIDTH[source.dtype] > 8:
        return ""
    before, shape = holding(source.layout, shape=source.shape, products=True), source.shape
    if before is not None and isinstance(step, Transpose):
        order = step.order
        before, shape = before.permuted(order), tuple(shape[axis] for axis in order)
    if before is not None and isinstance(step, Regroup):
        before, shape = before.reshaped(shape, step.shape), step.shape
    after = holding(step.layout, shape=shape, products=True)
    swapped = before is not None and after is not None and low_bits_swapped_twice(before, after)
    return "bytes swapped twice" if swapped else ""


def of_scan(step: Scan, source: Tensor) -> str:
    layout = source.layout
    if not isinstance(layout, Blocked):
        return ""
    words = {"registers apart": registers_apart, "runs in one thread": runs_in_one_thread,
             "lanes repeated": lanes_repeated}
    return next((word for word, applies in words.items() if applies(layout, shape=source.shape, axis=step.axis)), "")


def of_other(step: Load, made: Type, dtype: str) -> str:
    """An `other` that is no zero is converted on the device. Registers that hold nothing else, since every thread's are
    masked, lose the upper two of four bytes in ptxas 12.8 when two neighbours that were loaded together are packed with
    two more (corpus, codegen.scan/value-a9b5c5566c)."""
    if step.mask is UNSET or not step.other or not dtype.startswith("fp8"):
        return ""
    assert isinstance(made, Tensor) and made.layout is not None
    held = holding(made.layout, shape=made.shape, products=True)
    if held is None:
        return ""
    order = step.order or tuple(range(len(made.shape)))
    fastest = max((k for k, extent in enumerate(made.shape) if extent > 1), key=order.__getitem__, default=0)
    neighbours = any(basis[fastest] == 1 for basis in held.register[:1])
    bits = [basis[step.mask.axis] for basis in held.register]
    masked = sum(sum(bit for bit, taken in zip(bits, one, strict=True) if taken) >= step.mask.count
                 for one in product((False, True), repeat=len(bits)))
    return "fp8 other of whole registers" if neighbours and masked > 2 else ""
