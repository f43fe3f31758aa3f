"""What of a chain meets a known defect of Triton (corpus): a word in its signature."""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import UNSET

from tridiff.fuzz.kinds.chains.registers import exchanges
from tridiff.fuzz.known.chains.added import adds_mixed_offsets
from tridiff.fuzz.known.chains.forgotten import misread
from tridiff.fuzz.known.chains.misplaced import of_conversion, of_fold, of_other
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import (
    Alloc,
    Chain,
    Convert,
    Fp4,
    Load,
    Permute,
    Reduce,
    Regroup,
    Scan,
    Take,
    Transpose,
)
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.layouts import Blocked, Padded, vector
from tridiff.kernels.gluon.values import WIDTH, Tensor, Type, View, as_tensor

MANY = 1 << 14
"""Registers of the source times registers of the indices of a gather that takes half a minute and more to compile."""


def feature(case: Case) -> str:
    """The first that applies. `mixed offsets`: a part is added to an address with which it shares bits. `behind another
    axis`: bytes are decoded along an axis that is not a thread's innermost. `lanes apart`, `warps apart`: the lanes
    (warps) that hold a folded axis are not contiguous. `lanes repeated`: lanes that hold
    elements twice stand below others in a scan. `registers apart`: a scan takes registers for neighbours that are none.
    `runs in one thread`: a thread scans all of an axis, in runs. `bytes swapped twice`: a conversion within a warp
    packs bytes in an order that it applies again. `fp8 other of whole registers`: pairs of 8-bit floats that stand
    for what is masked are packed. `gather of many registers`: compiled in more than the square of their number.
    `transposition lost`: a read sees a transposed NVMMA buffer without swizzle as if it were not transposed."""
    chain = case.program
    return next(filter(None, _words(chain)), "") if isinstance(chain, Chain) else ""


@lru_cache(maxsize=64)
def words(chain: Chain) -> frozenset[str]:
    """All that apply, and `transposed slice`: a slice of a linear buffer is transposed, which ends the compiler;
    `larger than the tensor`: a scanned layout gives a thread more elements than there are."""
    types = typed(chain)
    found = {*filter(None, _words(chain))}
    if any(isinstance(step, Permute) and transposes_a_slice(types[step.view]) for step in chain.steps):
        found.add("transposed slice")
    if any(isinstance(step, Scan) and _beyond(types[step.source]) for step in chain.steps):
        found.add("larger than the tensor")
    return frozenset(found)


def transposes_a_slice(view: Type) -> bool:
    """Whether a transposition of this view is one of a slice of a buffer with a linear layout."""
    return isinstance(view, View) and view.cut and view.kind == "shared_linear"


def _words(chain: Chain) -> Iterator[str]:
    types = typed(chain)
    if any(isinstance(step, Scan) and _beyond(types[step.source]) for step in chain.steps):
        return  # the version that these words are about does not compile it
    if adds_mixed_offsets(chain):
        yield "mixed offsets"
    yield from (_of_buffer(step) for step in chain.steps if isinstance(step, Alloc))
    for step in chain.steps:
        if isinstance(step, Reduce | Scan):
            yield of_fold(step, as_tensor(types[step.source]))
        elif isinstance(step, Fp4):
            yield _of_decoded(as_tensor(types[step.source]), step.axis)
        elif isinstance(step, Take) and exchanges(
                as_tensor(types[step.source]), as_tensor(types[step.index])) >= MANY:
            yield "gather of many registers"
    yield from (of_conversion(step, types) for step in chain.steps if isinstance(step, Convert | Transpose | Regroup))
    yield from (_of_load(step, as_tensor(made), chain.arrays[step.array].dtype)
                for step, made in zip(chain.steps, types, strict=True) if isinstance(step, Load))
    if misread(chain):
        yield "transposition lost"


def _of_buffer(step: Alloc) -> str:
    if not isinstance(step.layout, Padded):
        return ""
    unit = vector(min(interval for interval, _ in step.layout.pairs), bits=WIDTH[step.dtype])
    return "padding cuts vectors" if any(padding % unit for _, padding in step.layout.pairs) else ""


def _beyond(source: Type) -> bool:
    """Whether a layout gives a thread more along an axis than there is, which 3.6.0 does not scan (corpus)."""
    tensor = as_tensor(source)
    assert isinstance(tensor.layout, Blocked)
    return any(size > extent for size, extent in zip(tensor.layout.size_per_thread, tensor.shape, strict=True))


def masks_narrow(step: Load, dtype: str) -> bool:
    """Whether a load of 8- or 16-bit integers is masked with an `other` below -1."""
    return step.mask is not UNSET and dtype in ("i8", "i16") and step.other < -1


def _of_load(step: Load, made: Tensor, dtype: str) -> str:
    return "negative other of 8 or 16 bits" if masks_narrow(step, dtype) else of_other(step, made, dtype)


def decodes_behind(source: Tensor, axis: int) -> bool:
    """Whether a thread holds several elements along axes before the one along which bytes are decoded."""
    layout = source.layout
    if not isinstance(layout, Blocked):
        return False
    inner = layout.order[:layout.order.index(axis)]
    return any(min(layout.size_per_thread[k], source.shape[k]) > 1 for k in inner)


def _of_decoded(source: Tensor, axis: int) -> str:
    return "behind another axis" if decodes_behind(source, axis) else ""
