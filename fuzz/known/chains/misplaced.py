"""Elements that Triton 3.6.0, or the assembler that comes with it, gives to other places of a tensor: what of a chain's
conversions, folds and masked loads meets such a defect (corpus)."""

from itertools import product

from msgspec import UNSET

from tridiff.kernels.gluon.chain import Convert, Load, Reduce, Regroup, Scan, Transpose
from tridiff.kernels.gluon.layouts import Blocked
from tridiff.kernels.gluon.ownership import Holding, holding, lanes_apart, warps_apart
from tridiff.kernels.gluon.scans import lanes_repeated, registers_apart, runs_in_one_thread
from tridiff.kernels.gluon.values import WIDTH, Tensor, Type, as_tensor
from tridiff.kernels.gluon.warp_conversions import low_bits_swapped_twice


def conversion_of(step: Convert | Transpose | Regroup,
                  types: tuple[Type, ...]) -> tuple[Holding | None, Holding | None]:
    """Who holds what before and after, of the tensor as it is afterwards. A transposition and another shape leave the
    elements where they are; a conversion follows them."""
    source = as_tensor(types[step.source])
    before, shape = holding(source.held, shape=source.shape, products=True), source.shape
    if before is not None and isinstance(step, Transpose):
        before = before.permuted(step.order)
    if isinstance(step, Transpose):
        shape = tuple(shape[axis] for axis in step.order)
    if before is not None and isinstance(step, Regroup):
        before = before.reshaped(shape, step.shape)
    if isinstance(step, Regroup):
        shape = step.shape
    return before, holding(step.layout, shape=shape, products=True)


def of_conversion(step: Convert | Transpose | Regroup, types: tuple[Type, ...]) -> str:
    if WIDTH[as_tensor(types[step.source]).dtype] > 8:
        return ""
    before, after = conversion_of(step, types)
    swapped = before is not None and after is not None and low_bits_swapped_twice(before, after)
    return "bytes swapped twice" if swapped else ""


def of_fold(step: Reduce | Scan, source: Tensor) -> str:
    layout, shape, axis = source.held, source.shape, step.axis
    if isinstance(step, Reduce):
        return ("lanes apart" if lanes_apart(layout, shape=shape, axis=axis) else
                "warps apart" if warps_apart(layout, shape=shape, axis=axis) else "")
    words = {
        "registers apart": registers_apart, "runs in one thread": runs_in_one_thread, "lanes repeated": lanes_repeated}
    assert isinstance(layout, Blocked)
    return next((word for word, applies in words.items() if applies(layout, shape=shape, axis=axis)), "")


def of_other(step: Load, made: Tensor, dtype: str) -> str:
    """An `other` that is no zero is converted on the device, to a pair. ptxas 12.8 loses the upper two of four bytes
    where it packs that pair twice (corpus, codegen.scan/value-a9b5c5566c): in a masked load of four neighbours, and of
    pairs and of what Triton need not load at all behind it, if it sees that every thread's are masked. Whether these
    are packed is not looked at, nor how the array is aligned: the word may stand where nothing is wrong."""
    if step.mask is UNSET or not step.other or not dtype.startswith("fp8"):
        return ""
    axis, count, shape = step.mask.axis, step.mask.count, made.shape
    held = holding(made.held, shape=shape, products=True)
    if held is None or count >= shape[axis]:
        return ""
    order = step.order or tuple(range(len(shape)))
    fastest = max((k for k, extent in enumerate(shape) if extent > 1), key=order.__getitem__, default=0)
    together = next((k for k, basis in enumerate(held.register) if basis[fastest] != 1 << k), len(held.register))
    if axis == fastest and count:  # a load is masked as a whole
        together = min(together, (count & -count).bit_length() - 1)
    bits = [basis[axis] for basis in held.register]
    masked = sum(sum(bit for bit, taken in zip(bits, one, strict=True) if taken) >= count
                 for one in product((False, True), repeat=len(bits)))
    packed = together > 1 or (masked > 2 and (together == 1 or shape[axis] == 1))
    return "fp8 other of whole registers" if packed else ""
