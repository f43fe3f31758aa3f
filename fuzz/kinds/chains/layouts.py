"""Hypothesis strategies for layouts: any legal one for a tensor or buffer of a given shape."""

import math
from collections.abc import Collection
from typing import Literal

from hypothesis import strategies as st

from tridiff.kernels.gluon.layouts import (
    LANES,
    Bases,
    Bits,
    Blocked,
    Distributed,
    DotOperand,
    Linear,
    Mma,
    Nvmma,
    NvmmaRow,
    Padded,
    Shared,
    SharedLinear,
    Slice,
    Swizzled,
    distributed_problem,
    log2,
    row_major,
)
from tridiff.kernels.gluon.memory import shared_problem


def shares(draw: st.DrawFn, bits: int, rank: int) -> tuple[int, ...]:
    """Extents whose product is 2^bits."""
    extents = [1] * rank
    for _ in range(bits):
        extents[draw(st.integers(0, rank - 1))] *= 2
    return tuple(extents)


@st.composite
def blocked(draw: st.DrawFn, *, rank: int, warps: int, elements: int = 8) -> Blocked:
    """A blocked layout with at most `elements` elements per thread."""
    size = shares(draw, draw(st.integers(0, log2(elements))), rank)
    order = tuple(draw(st.permutations(range(rank))))
    return Blocked(size, shares(draw, log2(LANES), rank), shares(draw, log2(warps), rank), order)


def _axis_bits(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """What each bit of a row-major number adds to the coordinate, lowest first."""
    rank = len(shape)
    return [tuple(1 << bit if k == axis else 0 for k in range(rank))
            for axis in reversed(range(rank)) for bit in range(log2(shape[axis]))]


@st.composite
def linear(draw: st.DrawFn, *, shape: tuple[int, ...], warps: int) -> Linear:
    """The bits of the axes dealt out to registers, lanes and warps in any order; zero bases where there are more
    lanes and warps than elements, and at times although there are not."""
    bits, zero = _axis_bits(shape), (0,) * len(shape)
    threads = log2(LANES) + log2(warps)
    spare = max(threads - len(bits), 0) + draw(st.sampled_from((0, 0, 0, 1, 2)))
    dealt = draw(st.permutations([*bits, *[zero] * spare]))
    if draw(st.booleans()):
        dealt = sorted(dealt, key=lambda basis: (basis == zero, [dealt.index(basis)]))
    lanes, warp = dealt[:log2(LANES)], dealt[log2(LANES):threads]
    # A zero basis in registers makes a thread hold an element twice, which only costs.
    register = [basis for basis in dealt[threads:] if any(basis) or draw(st.booleans())]
    return Linear(tuple(register), tuple(lanes), tuple(warp), shape)


@st.composite
def mma(draw: st.DrawFn, *, warps: int, version: int) -> Mma:
    """An accumulator layout of rank 2."""
    if version == 2:
        return Mma(2, shares(draw, log2(warps), 2), (16, 8))
    columns = draw(st.sampled_from((8, 16, 32, 64)))
    along = shares(draw, log2(warps // 4), 2)
    return Mma(3, (4 * along[0], along[1]), (16, columns, draw(st.sampled_from((16, 8, 32)))))


_TAGS = {"mma2": "mma", "mma3": "mma", "dot": "dot_operand"}
"""How layouts are named in files, where that is not the word for drawing them."""


@st.composite
def _proposed(draw: st.DrawFn, *, shape: tuple[int, ...], warps: int, slices: bool,
              only: Collection[str] = ()) -> Distributed:
    rank = len(shape)
    kinds = ["blocked", "blocked", "linear"]
    if slices and rank < 4:
        kinds.append("slice")
    if rank == 2:
        kinds += ["mma2", "dot"]
        if warps % 4 == 0:
            kinds.append("mma3")
    kind = draw(st.sampled_from([one for one in kinds if _TAGS.get(one, one) in only] or kinds))
    if kind == "linear":
        return draw(linear(shape=shape, warps=warps))
    if kind == "slice":
        axis = draw(st.integers(0, rank))
        wide = (*shape[:axis], draw(st.sampled_from((1, 2, 8))), *shape[axis:])
        return Slice(axis, draw(_proposed(shape=wide, warps=warps, slices=False)))
    if kind in ("mma2", "mma3"):
        return draw(mma(warps=warps, version=2 if kind == "mma2" else 3))
    if kind == "dot":
        return draw(_dot_operand(warps=warps))
    return draw(blocked(rank=rank, warps=warps))


@st.composite
def _dot_operand(draw: st.DrawFn, *, warps: int) -> Distributed:
    if draw(st.integers(0, 3)) == 3:
        return DotOperand(draw(st.sampled_from((0, 1))), draw(blocked(rank=2, warps=warps)), 0)
    version = draw(st.sampled_from((2, 2, 3) if warps % 4 == 0 else (2,)))
    operand: Literal[0, 1] = 0 if version == 3 else draw(st.sampled_from((0, 1)))
    return DotOperand(operand, draw(mma(warps=warps, version=version)), draw(st.sampled_from((1, 2, 4))))


@st.composite
def distributed(draw: st.DrawFn, *, shape: tuple[int, ...], warps: int, only: Collection[str] = ()) -> Distributed:
    """Any layout that a tensor of `shape` may have, of kinds among `only` if it names any; shrinks towards blocked
    ones."""
    found = draw(_proposed(shape=shape, warps=warps, slices=True, only=only))
    if distributed_problem(found, shape=shape, warps=warps):
        return draw(blocked(rank=len(shape), warps=warps))
    return found


@st.composite
def _offset_bases(draw: st.DrawFn, *, shape: tuple[int, ...], mixed: bool) -> Bases:
    """Bases of an invertible map: the axes' bits in any order; mixed: with others added to them."""
    bases = list(draw(st.permutations(_axis_bits(shape))))
    if mixed and len(bases) > 1:
        for _ in range(draw(st.integers(0, 3))):
            into, other = draw(st.integers(0, len(bases) - 1)), draw(st.integers(0, len(bases) - 1))
            if into != other:
                bases[into] = tuple(a ^ b for a, b in zip(bases[into], bases[other], strict=True))
    return tuple(bases)


@st.composite
def shared(draw: st.DrawFn, *, shape: tuple[int, ...], bits: Bits, padded: bool = True, plain: bool = False) -> Shared:
    """Any layout that a buffer of `shape` may have; shrinks towards plain memory. plain: only memory without
    swizzle and padding, in row-major order."""
    rank, size = len(shape), math.prod(shape)
    simplest = row_major(rank)
    if plain:
        return simplest
    kinds = ["plain", "swizzled", "swizzled", "nvmma", "linear"] + (["padded"] if padded else [])
    kind = draw(st.sampled_from(kinds))
    natural = simplest.order
    found: Shared = Swizzled(1, 1, 1, tuple(draw(st.permutations(natural))))
    power = st.sampled_from((1, 2, 4, 8, 16))
    if kind == "swizzled":
        found = Swizzled(draw(power), draw(power), draw(power), tuple(draw(st.permutations(natural))))
    elif kind == "nvmma":
        turned = rank == 2 and draw(st.booleans())
        swizzle: NvmmaRow = draw(st.sampled_from((32, 64, 128, 0)))
        found = Nvmma(swizzle, bits, rank, turned and swizzle > 0)
    elif kind == "padded" and size > 1:
        intervals = draw(st.lists(st.sampled_from([1 << k for k in range(1, log2(size) + 1)]), min_size=1, max_size=2,
                                  unique=True))
        pairs = tuple((interval, draw(st.sampled_from((1, 2, 4, 8)))) for interval in sorted(intervals))
        found = Padded(pairs, draw(_offset_bases(shape=shape, mixed=False)), shape)
    elif kind == "linear" and size > 1:
        found = SharedLinear(draw(_offset_bases(shape=shape, mixed=True)), draw(st.sampled_from((16, 4, 128))))
    return simplest if shared_problem(found, shape=shape, bits=bits) else found
