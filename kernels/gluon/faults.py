"""Kernels with one planted defect, to test the tester: the first place of the chain where it fits is broken.

Most defects are another legal chain, written in place of the right one; the rest are told to the writer, because no
legal chain does what they do. A chain without a fitting place is written as it is.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from kernels.gluon.chain import (
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
)
from kernels.gluon.check import problem, typed
from kernels.gluon.dialect import Dialect
from kernels.gluon.emit import emit
from kernels.gluon.layouts import Shared, SharedLinear, Swizzled
from kernels.gluon.values import View

Writer = Callable[[Chain, Dialect], str]
Variants = Callable[[Chain, int, Step], Iterable[Chain]]


def with_step(chain: Chain, number: int, step: Step) -> Chain:
    """The chain with one step replaced."""
    return replace(chain, steps=(*chain.steps[:number], step, *chain.steps[number + 1:]))


def before(chain: Chain, number: int, inserted: Step) -> Chain:
    """The chain with a step more before step `number`, which then works on that step's value in place of its view."""
    numbers = {k: k + (k >= number) for k in range(len(chain.steps))}
    later = [renumbered(step, numbers) for step in chain.steps[number:]]
    later[0] = replace(later[0], view=number)
    return replace(chain, steps=(*chain.steps[:number], inserted, *later))


def _subslice(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Subslice):
        for start in (step.start + step.length, step.start - step.length):
            if start >= 0:
                yield with_step(chain, number, replace(step, start=start))


def _slot(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Index) and not _stored_next(chain, number):
        yield with_step(chain, number, replace(step, slot=step.slot + 1))
        if step.slot:
            yield with_step(chain, number, replace(step, slot=step.slot - 1))


def _stored_next(chain: Chain, number: int) -> bool:
    return any(isinstance(step, Store) and step.view == number for step in chain.steps[number + 1:])


def _unswizzled(layout: Shared, shape: tuple[int, ...]) -> list[Shared]:
    natural = tuple(reversed(range(len(shape))))
    plain: list[Shared] = [Swizzled(1, 1, 1, natural), Swizzled(1, 1, 1, tuple(reversed(natural)))]
    if isinstance(layout, SharedLinear):
        plain.append(SharedLinear(tuple(reversed(layout.offset)), layout.alignment))
    return plain


def _swizzle(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Reinterpret):
        for layout in _unswizzled(step.layout, step.shape):
            if layout != step.layout:
                yield with_step(chain, number, replace(step, layout=layout))
    elif isinstance(step, Read):
        view = typed(chain)[step.view]
        assert isinstance(view, View)
        if not view.cut and not view.whole.plain and not view.whole.pairs:
            layout = _unswizzled(Swizzled(1, 1, 1, (0,)), view.shape)[0]
            yield before(chain, number, Reinterpret(step.view, view.dtype, view.shape, layout))


def _axis(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Gather | Take | Scatter | Atomic):
        for axis in range(5):
            if axis != step.axis:
                yield with_step(chain, number, replace(step, axis=axis))


def _reduced(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Reduce | Scan):
        for axis in range(5):
            if axis != step.axis:
                yield with_step(chain, number, replace(step, axis=axis))


def _direction(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Scan):
        yield with_step(chain, number, replace(step, reverse=not step.reverse))


def _load_mask(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Load) and step.mask is not UNSET:
        yield with_step(chain, number, replace(step, mask=UNSET, other=0))


def _atomic_mask(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Atomic) and step.mask is not UNSET:
        yield with_step(chain, number, replace(step, mask=UNSET))


def _atomic_kind(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    if isinstance(step, Atomic):
        other = {"max": "min", "min": "max", "and": "or", "or": "xor", "xor": "or", "add": "max", "xchg": "add"}
        yield with_step(chain, number, replace(step, op=other[step.op]))
        yield with_step(chain, number, replace(step, op="xchg"))


def _indices(chain: Chain, number: int, step: Step) -> Iterable[Chain]:
    indexing = {one.index for one in chain.steps if isinstance(one, Gather | Take | Scatter | Atomic)}
    if isinstance(step, Ramp) and number in indexing:
        yield with_step(chain, number, replace(step, start=step.start + 1))


CHAINS: Mapping[str, Variants] = {
    "subslice_shifted": _subslice, "stale_slot": _slot, "swizzle_mismatch": _swizzle, "gather_axis_swapped": _axis,
    "reduce_axis_swapped": _reduced, "scan_reversed": _direction, "load_mask_dropped": _load_mask,
    "scatter_mask_dropped": _atomic_mask, "atomic_kind_swapped": _atomic_kind, "indices_shifted": _indices,
}
"""Defects that are another chain: ways to break one step."""

WRITTEN = ("order_not_transposed", "fp4_nibbles_swapped", "ring_slot_off_by_one", "store_missing")
"""Defects that the writer plants itself."""


def broken(chain: Chain, fault: str) -> Chain:
    """The chain with a defect of `CHAINS` at the first place where it fits; the chain itself where there is none."""
    for number, step in enumerate(chain.steps):
        for variant in CHAINS[fault](chain, number, step):
            if not problem(variant):
                return variant
    return chain


def _emit_broken(fault: str, chain: Chain, dialect: Dialect) -> str:
    return emit(broken(chain, fault), dialect)


def _emit_planted(fault: str, chain: Chain, dialect: Dialect) -> str:
    return emit(chain, dialect, planted=fault)


FAULTS: Mapping[str, Writer] = {
    **{name: partial(_emit_broken, name) for name in CHAINS},
    **{name: partial(_emit_planted, name) for name in WRITTEN},
}
"""Writers of broken kernels, by the name of the fault."""
