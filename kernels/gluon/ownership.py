"""Which element of a tensor each register of each lane of each warp holds.

Covers blocked and linear layouts and slices of them; those of matrix products (the fragments of mma.sync and wgmma in
PTX's pages on them, and what a blocked dot reads) where they are asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tridiff.kernels.gluon.layouts import Basis, Blocked, Distributed, DotOperand, Linear, Mma, Slice


@dataclass(frozen=True)
class Holding:
    """Bases: bit k of a register, lane or warp number adds (exclusive or) basis k to the coordinate. A zero basis
    means that the same elements are held twice."""

    register: tuple[Basis, ...]
    lane: tuple[Basis, ...]
    warp: tuple[Basis, ...]

    def coordinate(self, register: int, lane: int, warp: int) -> tuple[int, ...]:
        """The element that is held there."""
        found: list[int] = [0] * len((*self.register, *self.lane, *self.warp)[0])
        for number, bases in ((register, self.register), (lane, self.lane), (warp, self.warp)):
            for bit, basis in enumerate(bases):
                if number >> bit & 1:
                    found = [a ^ b for a, b in zip(found, basis, strict=True)]
        return tuple(found)

    @property
    def registers(self) -> int:
        """Different elements that a thread holds."""
        return 1 << sum(any(basis) for basis in self.register)

    def permuted(self, order: tuple[int, ...]) -> "Holding":
        """Of the same tensor with its axes in this order."""
        return self._each(lambda basis: tuple(basis[axis] for axis in order))

    def reshaped(self, shape: tuple[int, ...], to: tuple[int, ...]) -> "Holding":
        """Of the same elements, in row-major order, of a tensor of another shape."""
        return self._each(lambda basis: tuple(int(n) for n in np.unravel_index(
            int(np.ravel_multi_index(basis, shape)), to)))

    def without(self, dim: int) -> "Holding":
        """Of the tensor with this axis taken out: the coordinates along it do not count."""
        return self._each(lambda basis: (*basis[:dim], *basis[dim + 1:]))

    def _each(self, moved: Callable[[Basis], Basis]) -> "Holding":
        register, lane, warp = (tuple(moved(basis) for basis in bases)
                                for bases in (self.register, self.lane, self.warp))
        return Holding(register, lane, warp)


def holding(layout: Distributed, *, shape: tuple[int, ...], products: bool = False) -> Holding | None:
    """Who holds what of a tensor of `shape`; None for layouts that are not covered. products: cover those of matrices
    in front of and behind a product as well."""
    match layout:
        case Linear():
            return Holding(layout.register, layout.lane, layout.warp)
        case Blocked():
            return _blocked(layout, shape)
        case Mma() | DotOperand() if products and len(shape) == 2:
            return _of_product(layout, shape)
        case Slice(dim=dim, parent=parent):
            whole = holding(parent, shape=layout.whole(shape), products=products)
            if whole is None:
                return None
            cut = whole.without(dim)
            return replace(cut, register=tuple(basis for basis in cut.register if any(basis)))
        case _:
            return None


def registers(layout: Distributed, *, shape: tuple[int, ...]) -> int:
    """About how many registers of 32 bits or less a thread gives to a tensor of `shape`: what compiling it costs."""
    found = 1
    match layout:
        case Linear():
            found = 1 << len(layout.register)
        case Blocked():
            for size, lanes, warps, extent in zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta,
                                                  shape, strict=True):
                found *= size * max(extent // (size * lanes * warps), 1)
        case Slice(parent=parent):
            found = registers(parent, shape=layout.whole(shape))
        case Mma():
            rows, columns = layout.instruction[-2:] if layout.version == 2 else layout.instruction[:2]
            for tile, warps, extent in zip((rows, columns), layout.warps_per_cta[-2:], shape[-2:], strict=True):
                found *= max(extent // (tile * warps), 1)
            found *= columns // 2
        case DotOperand(operand=operand, parent=parent):
            # A warp holds all of the inner axis: each of four lanes a part of it in front of tensor cores, else each.
            outer, inner = (shape[-2], shape[-1]) if operand == 0 else (shape[-1], shape[-2])
            lanes, quads = (8, 4) if isinstance(parent, Mma) else (parent.threads_per_warp[operand - 2], 1)
            found = max(outer // (lanes * parent.warps_per_cta[operand - 2]), 1) * max(inner // quads, 1)
    return found


def lanes_apart(layout: Distributed, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether Triton 3.6.0 folds other lanes than those along `axis`: it takes their bits for neighbours, and where
    warps share the fold, for numbered axis by axis."""
    held = holding(layout, shape=shape)
    if held is None:
        return False
    moving = [bit for bit, basis in enumerate(held.lane) if basis[axis]]
    apart = bool(moving) and moving[-1] - moving[0] >= len(moving)
    return apart or (any(basis[axis] for basis in held.warp) and _misnumbered(held.lane, axis))


def warps_apart(layout: Distributed, *, shape: tuple[int, ...], axis: int) -> bool:
    """As `lanes_apart`, of warps that share the fold."""
    held = holding(layout, shape=shape)
    return held is not None and _misnumbered(held.warp, axis)


def _misnumbered(bases: tuple[Basis, ...], axis: int) -> bool:
    """Whether bits along `axis` stand elsewhere than they would if those of each axis were neighbours, in the order in
    which the axes come up; bits that move nothing do not count."""
    moved = [next(k for k, step in enumerate(basis) if step) for basis in bases if any(basis)]
    return any((one == axis) != (other == axis)
               for one, other in zip(moved, sorted(moved, key=moved.index), strict=True))


_Part = tuple[int, int, bool]
"""An axis, an extent along it, and whether all of these threads hold the same instead."""


def _blocked(layout: Blocked, shape: tuple[int, ...], *, whole: int = -1) -> Holding:
    """whole: an axis of which each thread holds everything."""
    def parts(extents: tuple[int, ...]) -> list[_Part]:
        return [(axis, extents[axis], axis == whole) for axis in layout.order]

    sizes = [(axis, shape[axis] if axis == whole else layout.size_per_thread[axis], False) for axis in layout.order]
    return _grown(shape, sizes, parts(layout.threads_per_warp), parts(layout.warps_per_cta), rest=layout.order)


def _of_product(layout: Mma | DotOperand, shape: tuple[int, ...]) -> Holding:
    inner = 1 - layout.operand if isinstance(layout, DotOperand) else 1
    parent = layout.parent if isinstance(layout, DotOperand) else layout
    if isinstance(parent, Blocked):
        return _blocked(parent, shape, whole=inner)
    outer, same = 1 - inner, inner if isinstance(layout, DotOperand) else -1
    together = layout.k_width if isinstance(layout, DotOperand) else 2
    first, after = [(inner, together, False)], [(0, 2, False)]
    if isinstance(layout, DotOperand):
        after += [(1, 2, False)] if inner == 1 else []
    elif parent.version == 3:
        after += [(1, parent.instruction[1] // 8, False)]
    warps = [(axis, parent.warps_per_cta[axis], axis == same) for axis in ((1, 0) if parent.version == 2 else (0, 1))]
    return _grown(shape, first, [(inner, 4, False), (outer, 8, False)], warps, after=after, rest=(inner, outer))


def _grown(shape: tuple[int, ...], first: Sequence[_Part], lanes: Sequence[_Part], warps: Sequence[_Part], *,
           after: Sequence[_Part] = (), rest: Sequence[int]) -> Holding:
    """Grows a tile to `shape`: elements of a thread, lanes, more elements, warps, and what is left along the axes
    `rest` again in registers."""
    rank = len(shape)
    reached = [1] * rank

    def bases(parts: Sequence[_Part]) -> list[Basis]:
        found: list[Basis] = []
        for axis, extent, same in parts:
            for _ in range(extent.bit_length() - 1):
                # Beyond the tensor the same elements come again.
                moves = not same and reached[axis] < shape[axis]
                found.append(tuple(reached[axis] if k == axis and moves else 0 for k in range(rank)))
                reached[axis] *= 1 if same else 2
        return found

    register, lane, again, warp = bases(first), bases(lanes), bases(after), bases(warps)
    left = [(axis, max(shape[axis] // reached[axis], 1), False) for axis in rest]
    register += [*again, *bases(left)]
    return Holding(tuple(basis for basis in register if any(basis)), tuple(lane), tuple(warp))
