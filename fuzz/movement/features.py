"""What of a chain meets a known defect of Triton (corpus): a word in its signature."""

from msgspec import UNSET

from fuzz.movement.added import adds_mixed_offsets
from fuzz.movement.forgotten import misread
from fuzz.movement.misplaced import of_conversion, of_other, of_scan
from fuzz.records import Case
from kernels.gluon.chain import (
    Alloc,
    Chain,
    Convert,
    Fp4,
    Load,
    Reduce,
    Regroup,
    Reinterpret,
    Ring,
    Scan,
    Take,
    Transpose,
)
from kernels.gluon.check import typed
from kernels.gluon.layouts import Blocked, Padded, Shared, vector
from kernels.gluon.ownership import lanes_apart, registers, warps_apart
from kernels.gluon.values import WIDTH, Tensor, Type

MANY = 1 << 14
"""Registers of the source times registers of the indices of a gather that takes half a minute and more to compile."""


def feature(case: Case) -> str:
    """The first that applies. `mixed offsets`: a part is added to an address with which it shares bits. `behind another
    axis`: bytes are decoded along an axis that is not a thread's innermost. `lanes apart`, `warps apart`: those along a
    folded axis are no neighbours, or warps share it and others stand between. `lanes repeated`: lanes that hold
    elements twice stand below others in a scan. `registers apart`: a scan takes registers for neighbours that are none.
    `runs in one thread`: a thread scans all of an axis, in runs. `bytes swapped twice`: a conversion within a warp
    packs bytes in an order that it applies again. `fp8 other of whole registers`: three and more, masked for every
    thread, hold 8-bit floats. `gather of many registers`: compiled in more than the square of their number.
    `transposition lost`: a read sees a transposed NVMMA buffer without swizzle as if it were not transposed."""
    chain = case.program
    if not isinstance(chain, Chain):
        return ""
    words = ["mixed offsets"] if adds_mixed_offsets(chain) else []
    words += [_of_buffer(step.layout, step.shape, WIDTH[step.dtype]) for step in chain.steps
              if isinstance(step, Alloc | Reinterpret)]
    words += [_of_buffer(step.layout, step.shape, WIDTH[chain.arrays[step.source].dtype]) for step in chain.steps
              if isinstance(step, Ring)]
    types = typed(chain)
    for step in chain.steps:
        if isinstance(step, Reduce | Fp4 | Scan | Take):
            source = types[step.source]
            if isinstance(source, Tensor) and source.layout is not None:  # otherwise inferred, or one element
                words.append(_of_value(step, source, types))
    if any(isinstance(step, Scan) and _beyond(types[step.source]) for step in chain.steps):
        return ""  # the version that these words are about does not compile it
    words += [of_conversion(step, types) for step in chain.steps if isinstance(step, Convert | Transpose | Regroup)]
    words += [_of_load(step, made, chain.arrays[step.array].dtype)
              for step, made in zip(chain.steps, types, strict=True) if isinstance(step, Load)]
    words += ["transposition lost"] if misread(chain) else []
    return next((word for word in words if word), "")


def _of_buffer(layout: Shared, shape: tuple[int, ...], bits: int) -> str:
    if isinstance(layout, Padded):
        unit = vector(min(interval for interval, _ in layout.pairs), bits=bits)
        return "padding cuts vectors" if any(padding % unit for _, padding in layout.pairs) else ""
    return ""


def _of_value(step: Reduce | Fp4 | Scan | Take, source: Tensor, types: tuple[Type, ...]) -> str:
    if isinstance(step, Reduce):
        return _of_fold(source, step.axis)
    if isinstance(step, Fp4):
        return _of_decoded(source, step.axis)
    if isinstance(step, Scan):
        return of_scan(step, source)
    index = types[step.index]
    assert isinstance(index, Tensor) and index.layout is not None and source.layout is not None
    held = registers(source.layout, shape=source.shape) * registers(index.layout, shape=index.shape)
    return "gather of many registers" if held >= MANY else ""


def _beyond(source: Type) -> bool:
    """Whether a layout gives a thread more along an axis than there is, which 3.6.0 does not scan (corpus)."""
    layout = source.layout if isinstance(source, Tensor) else None
    return isinstance(source, Tensor) and isinstance(layout, Blocked) and any(
        size > extent for size, extent in zip(layout.size_per_thread, source.shape, strict=True))


def _of_load(step: Load, made: Type, dtype: str) -> str:
    narrow = step.mask is not UNSET and dtype in ("i8", "i16") and step.other < -1
    return "negative other of 8 or 16 bits" if narrow else of_other(step, made, dtype)


def _of_fold(source: Tensor, axis: int) -> str:
    assert source.layout is not None
    if lanes_apart(source.layout, shape=source.shape, axis=axis):
        return "lanes apart"
    return "warps apart" if warps_apart(source.layout, shape=source.shape, axis=axis) else ""


def _of_decoded(source: Tensor, axis: int) -> str:
    layout = source.layout
    if not isinstance(layout, Blocked):
        return ""
    inner = layout.order[:layout.order.index(axis)]
    held = any(min(layout.size_per_thread[k], source.shape[k]) > 1 for k in inner)
    return "behind another axis" if held else ""
