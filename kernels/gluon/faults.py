"""Kernels with one planted defect, to test the tester: the first place of the chain where it fits is broken.

Most defects are another legal chain, written in place of the right one; the rest are told to the writer, because no
legal chain does what they do. A chain without a fitting place is written as it is.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from tridiff.kernels.gluon.chain import (
    Atomic,
    Chain,
    Gather,
    Index,
    Load,
    Ramp,
    Read,
    Reduce,
    Reinterpret,
    Scan,
    Scatter,
    Step,
    Store,
    Subslice,
    Take,
    renumbered,
    with_step,
)
from tridiff.kernels.gluon.check import problem, typed
from tridiff.kernels.gluon.dialect import Dialect
from tridiff.kernels.gluon.emit import emit
from tridiff.kernels.gluon.layouts import MAX_RANK, Shared, SharedLinear, Swizzled, row_major
from tridiff.kernels.gluon.values import View

Writer = Callable[[Chain, Dialect], str]
Variant = Step | Chain
Variants = Callable[[Chain, int, Step], Iterable[Variant]]
"""From a chain, the number of a step and the step: what may stand in its place, or in that of the chain."""


def before(chain: Chain, number: int, inserted: Step) -> Chain:
    """The chain with a step more before step `number`, which then works on that step's value in place of its view."""
    numbers = {k: k + (k >= number) for k in range(len(chain.steps))}
    later = [renumbered(step, numbers) for step in chain.steps[number:]]
    later[0] = replace(later[0], view=number)
    return replace(chain, steps=(*chain.steps[:number], inserted, *later))


def _subslice(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Subslice):
        for start in (step.start + step.length, step.start - step.length):
            if start >= 0:
                yield replace(step, start=start)


def _slot(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    stored = {one.view for one in chain.steps[number + 1:] if isinstance(one, Store)}
    if isinstance(step, Index) and number not in stored:
        yield replace(step, slot=step.slot + 1)
        if step.slot:
            yield replace(step, slot=step.slot - 1)


def _unswizzled(layout: Shared, shape: tuple[int, ...]) -> list[Shared]:
    plain: list[Shared] = [row_major(len(shape)), Swizzled(1, 1, 1, tuple(range(len(shape))))]
    if isinstance(layout, SharedLinear):
        plain.append(SharedLinear(tuple(reversed(layout.offset)), layout.alignment))
    return plain


def _swizzle(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Reinterpret):
        for layout in _unswizzled(step.layout, step.shape):
            if layout != step.layout:
                yield replace(step, layout=layout)
    elif isinstance(step, Read):
        view = typed(chain)[step.view]
        assert isinstance(view, View)
        if not view.cut and not view.whole.plain and not view.whole.pairs:
            plain = Reinterpret(step.view, view.dtype, view.shape, row_major(len(view.shape)))
            yield before(chain, number, plain)


def _axis(*kinds: type[Gather | Take | Scatter | Atomic | Reduce | Scan]) -> Variants:
    """Another axis of a step of these kinds."""

    def variants(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
        if isinstance(step, kinds):
            for axis in range(MAX_RANK):
                if axis != step.axis:
                    yield replace(step, axis=axis)

    return variants


def _direction(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Scan):
        yield replace(step, reverse=not step.reverse)


def _load_mask(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Load) and step.mask is not UNSET:
        yield replace(step, mask=UNSET, other=0)


def _atomic_mask(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Atomic) and step.mask is not UNSET:
        yield replace(step, mask=UNSET)


def _atomic_kind(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    if isinstance(step, Atomic):
        other = {"max": "min", "min": "max", "and": "or", "or": "xor", "xor": "or", "add": "max", "xchg": "add"}
        yield replace(step, op=other[step.op])
        yield replace(step, op="xchg")


def _indices(chain: Chain, number: int, step: Step) -> Iterable[Variant]:
    indexing = {one.index for one in chain.steps if isinstance(one, Gather | Take | Scatter | Atomic)}
    if isinstance(step, Ramp) and number in indexing:
        yield replace(step, start=step.start + 1)


CHAINS: Mapping[str, Variants] = {
    "subslice_shifted": _subslice, "stale_slot": _slot, "swizzle_mismatch": _swizzle,
    "gather_axis_swapped": _axis(Gather, Take, Scatter, Atomic), "reduce_axis_swapped": _axis(Reduce, Scan),
    "scan_reversed": _direction, "load_mask_dropped": _load_mask, "scatter_mask_dropped": _atomic_mask,
    "atomic_kind_swapped": _atomic_kind, "indices_shifted": _indices,
}
"""Defects that are another chain: ways to break one step."""

WRITTEN = ("order_not_transposed", "fp4_nibbles_swapped", "ring_slot_off_by_one", "store_missing")
"""Defects that the writer plants itself."""


def broken(chain: Chain, fault: str) -> Chain:
    """The chain with a defect of `CHAINS` at the first place where it fits; the chain itself where there is none."""
    for number, step in enumerate(chain.steps):
        for variant in CHAINS[fault](chain, number, step):
            changed = variant if isinstance(variant, Chain) else with_step(chain, number, variant)
            if not problem(changed):
                return changed
    return chain


def _broken_kernel(fault: str, chain: Chain, dialect: Dialect) -> str:
    return emit(chain, dialect, planted=fault) if fault in WRITTEN else emit(broken(chain, fault), dialect)


FAULTS: Mapping[str, Writer] = {name: partial(_broken_kernel, name) for name in (*CHAINS, *WRITTEN)}
"""Writers of broken kernels, by the name of the fault."""
