"""Chains in registers: conversions between any two layouts, reductions and scans in any layout, fp4, gathers."""

import math
from collections.abc import Collection

from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from tridiff.fuzz.kinds.chains import layouts
from tridiff.fuzz.kinds.chains.draft import EVERY, REGISTER_ONLY, Draft
from tridiff.kernels.gluon.chain import (
    Chain,
    Combine,
    Convert,
    Decoded,
    DType,
    Fp4,
    Load,
    Operator,
    Ramp,
    Reduce,
    Regroup,
    Scan,
    Take,
    Transpose,
)
from tridiff.kernels.gluon.layouts import Blocked, Distributed, log2, strides
from tridiff.kernels.gluon.ownership import registers
from tridiff.kernels.gluon.values import EXACT, Tensor

FOLDED: tuple[DType, ...] = ("i32", "i64", "u32", "u64", "i16", "i8", "u8", "u16", "fp32", "fp16", "bf16", "fp64")
"""Element types that reductions and scans are tried with."""


MOST_CONVERSIONS = 20
MOST_REGISTERS = 320
"""Of one kernel: another pair of layouts in it costs less to compile than a kernel for it, as long as threads hold few
elements in both; behind a conversion that takes the sum of registers beyond this there is no other (notes.md)."""
MOST_EXCHANGES = 1024
"""Registers of the source times registers of the indices of a gather: the compiler emits a shuffle for each pair, and
takes more than its square of time for them (corpus, notes.md)."""


@st.composite
def conversion_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """A tensor, or the numbers of its elements, from layout to layout of a few, no pair of them twice. The compiler
    merges two conversions behind one another, so every pair starts from a load of its own, or the value is changed
    between."""
    draft = Draft(draw, elements=min(elements, 4096), only=only)
    dtype = draft.one((*EVERY, *REGISTER_ONLY))
    shape = draft.shape(elements=min(draft.elements, 2048))
    array = draft.array(dtype, shape)
    few = list(dict.fromkeys(draft.layout(shape) for _ in range(draw(st.sampled_from((5, 3, 6, 8, 4))))))
    chained = dtype[0] in "iu" and dtype != "i1" and draw(st.booleans())
    here = few[0]
    value = draft.step(Load(array, here))
    cost = 0
    left = {(a, b) for a in range(len(few)) for b in range(len(few)) if a != b or len(few) == 1}
    for _ in range(MOST_CONVERSIONS):
        onward = [there for start, there in sorted(left) if start == few.index(here)]
        if not onward or cost > MOST_REGISTERS:
            break
        place = draw(st.sampled_from(onward))
        left.remove((few.index(here), place))
        there = few[place]
        cost += registers(here, shape=shape) + registers(there, shape=shape)
        if draw(st.integers(0, 2)) == 2:
            draft.out(draft.step(Convert(draft.step(Ramp(shape, here, strides(shape))), there)))
        else:
            value = draft.step(Convert(value, there))
            draft.out(value)
        here = there
        if draft.tensor(value).layout == here and chained:
            value = draft.step(Combine(value, draft.step(Load(array, here)), "add"))
        else:
            mask = draft.limit(shape) if draw(st.booleans()) else UNSET
            value = draft.step(Load(array, here, mask=mask))
    return draft.chain()


@st.composite
def fold_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Reductions or scans of a tensor in any layout, along any axis; a reduction of a reduction at times. No chain has
    both: a scan that does not compile would take the reductions beside it with it."""
    draft = Draft(draw, elements=min(elements, 4096), only=only)
    scans = draft.one(("reduce", "reduce", "scan")) == "scan"
    for _ in range(draw(st.integers(1, 2))):
        dtype = draft.one(FOLDED)
        shape = draft.shape(elements=min(draft.elements, 2048))
        # Whole numbers of floats that sum up exactly; integers wrap.
        most = min(EXACT.get(dtype, 0) // (math.prod(shape) + 1), 8)
        if dtype in EXACT and not most:
            dtype = "i32"
        source = draft.load(dtype, shape, between=(-most, most) if most else UNSET)
        for _ in range(draw(st.integers(1, 2))):
            ops: tuple[Operator, ...] = (
                ("add", "max", "min") if dtype in EXACT else ("add", "max", "xor", "min", "or", "and"))
            axis, op = draft.axis(shape), draw(st.sampled_from(ops))
            if scans:
                scanned = source
                if not isinstance(draft.tensor(source).layout, Blocked):
                    scanned = draft.converted(source, draw(layouts.blocked(rank=len(shape), warps=draft.warps)))
                draft.out(draft.step(Scan(scanned, axis, op, draw(st.booleans()))))
                continue
            reduced = draft.step(Reduce(source, axis, op))
            if bool(draft.tensor(reduced).shape) and draw(st.booleans()):
                step = Reduce(reduced, draft.axis(draft.tensor(reduced).shape), op)
                reduced = draft.step(step) if draft.fits(step) else reduced
            if bool(draft.tensor(reduced).shape) and draw(st.booleans()):
                reduced = draft.converted(reduced)
            draft.out(reduced)
    return draft.chain()


@st.composite
def fp4_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Bytes decoded to two four-bit floats each, in any layout, along any axis."""
    draft = Draft(draw, elements=min(elements, 2048), only=only)
    for _ in range(draw(st.integers(1, 3))):
        shape = draft.shape(elements=min(draft.elements, 1024))
        shape = (*shape[:-1], max(shape[-1], 4))
        packed = draft.load(draft.one(("i8", "u8")), shape)
        axis = draft.axis(shape)
        wide = (*shape[:axis], 2 * shape[axis], *shape[axis + 1:])
        dtype: Decoded = draft.one(("fp16", "bf16"))
        there = draft.layout(wide)
        if not draft.fits(Fp4(packed, dtype, axis, there)):
            packed = draft.converted(packed, _four_each(draft, shape))
        draft.out(draft.step(Fp4(packed, dtype, axis, there)))
    return draft.chain()


def _four_each(draft: Draft, shape: tuple[int, ...]) -> Blocked:
    """A blocked layout in which every thread holds at least four elements along one axis."""
    made = draft.draw(layouts.blocked(rank=len(shape), warps=draft.warps, elements=1))
    axis = draft.draw(st.sampled_from([k for k, extent in enumerate(shape) if extent >= 4]))
    return replace(made, size_per_thread=tuple(4 if k == axis else 1 for k in range(len(shape))))


@st.composite
def register_view_chains(draw: st.DrawFn, *, elements: int, only: Collection[str] = ()) -> Chain:
    """Transpositions, reshapes and gathers of tensors, whose layouts the compiler infers."""
    draft = Draft(draw, elements=min(elements, 4096), only=only)
    dtype = draft.one(EVERY)
    shape = draft.shape(elements=min(draft.elements, 2048))
    value = draft.load(dtype, shape)
    for _ in range(draw(st.integers(1, 4))):
        shape = draft.tensor(value).shape
        kind = draft.one(("transpose", "regroup", "take"))
        if kind == "take":
            axis = draft.axis(shape)
            index = indices(draft, shape, axis, shape[axis])
            if exchanges(draft.tensor(value), draft.tensor(index)) <= MOST_EXCHANGES:
                value = draft.step(Take(value, index, axis))
        elif kind == "transpose":
            order = tuple(draw(st.permutations(range(len(shape)))))
            turned = tuple(shape[k] for k in order)
            value = draft.step(Transpose(value, order, draft.layout(turned)))
        else:
            other = layouts.shares(draw, log2(math.prod(shape)), draw(st.integers(1, 4)))
            value = draft.step(Regroup(value, other, draft.layout(other)))
        if draw(st.booleans()):
            draft.out(value)
    draft.out(value)
    return draft.chain()


def exchanges(source: Tensor, index: Tensor) -> int:
    """Pairs of a register of the source and one of the indices of a gather."""
    return registers(source.held, shape=source.shape) * registers(index.held, shape=index.shape)


def indices(draft: Draft, shape: tuple[int, ...], axis: int, extent: int, *, distinct: bool = False,
            layout: Distributed | None = None) -> int:
    """A tensor of indices in [0, extent). distinct: along `axis`, whose length must not exceed the extent, no two
    are equal; otherwise at times loaded, at times with repetitions."""
    draw = draft.draw
    largest: tuple[tuple[DType, int], ...] = (
        ("i32", 1 << 31), ("i64", 1 << 62), ("i16", 1 << 15), ("i8", 127), ("u32", 1 << 32))
    dtype = draw(st.sampled_from([name for name, most in largest if extent - 1 <= most]))
    made = draft.layout(shape) if layout is None else layout
    if not distinct and extent <= 256 and draw(st.booleans()) and draft.room:
        return draft.load(dtype, shape, layout=made, between=(0, extent - 1))
    steps = draw(st.sampled_from((1, 3, 5, 7) if distinct else (1, 3, 2, 4, 0)))
    moves = tuple(steps if k == axis else draw(st.integers(0, 3)) for k in range(len(shape)))
    return draft.step(Ramp(shape, made, moves, dtype, draw(st.integers(0, 8)), draw(st.integers(0, extent - 1)),
                           extent - 1))
