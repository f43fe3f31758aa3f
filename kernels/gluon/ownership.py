"""Which element of a tensor each register of each lane of each warp holds. Pure Python.

Covers blocked and linear layouts and slices of them; the layouts of tensor cores are the compiler's own business.
"""

from dataclasses import dataclass

from kernels.gluon.layouts import Basis, Blocked, Distributed, DotOperand, Linear, Mma, Slice


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


def holding(layout: Distributed, *, shape: tuple[int, ...]) -> Holding | None:
    """Who holds what of a tensor of `shape`; None for layouts that are not covered."""
    match layout:
        case Linear():
            return Holding(layout.register, layout.lane, layout.warp)
        case Blocked():
            return _blocked(layout, shape)
        case Slice(dim=dim, parent=parent):
            extent = parent.shape[dim] if isinstance(parent, Linear) else 1
            whole = holding(parent, shape=(*shape[:dim], extent, *shape[dim:]))
            if whole is None:
                return None
            register, lane, warp = (tuple((*basis[:dim], *basis[dim + 1:]) for basis in bases)
                                    for bases in (whole.register, whole.lane, whole.warp))
            return Holding(tuple(basis for basis in register if any(basis)), lane, warp)
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
        case Slice(dim=dim, parent=parent):
            extent = parent.shape[dim] if isinstance(parent, Linear) else 1
            found = registers(parent, shape=(*shape[:dim], extent, *shape[dim:]))
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


def repeated_before(layout: Blocked, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether lanes that come before those along `axis` hold the same elements as others, because the tensor is shorter
    than the layout along an axis that comes earlier in its order."""
    earlier = layout.order[:layout.order.index(axis)]
    return any(layout.threads_per_warp[k] > max(shape[k] // layout.size_per_thread[k], 1) for k in earlier)


def lanes_apart(layout: Distributed, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether the bits of the lane's number that move along `axis` are not neighbours: the others between them move
    along other axes, or hold elements twice."""
    held = holding(layout, shape=shape)
    if held is None:
        return False
    return _apart(held.lane, axis)


def warps_apart(layout: Distributed, *, shape: tuple[int, ...], axis: int) -> bool:
    """As `lanes_apart`, of the warp's number."""
    held = holding(layout, shape=shape)
    return held is not None and _apart(held.warp, axis)


def _apart(bases: tuple[Basis, ...], axis: int) -> bool:
    moving = [bit for bit, basis in enumerate(bases) if basis[axis]]
    return bool(moving) and moving[-1] - moving[0] >= len(moving)


def _blocked(layout: Blocked, shape: tuple[int, ...]) -> Holding:
    rank = len(shape)
    reached = [1] * rank

    def bases(extents: tuple[int, ...]) -> list[Basis]:
        found: list[Basis] = []
        for axis in layout.order:
            for _ in range(extents[axis].bit_length() - 1):
                # Beyond the tensor the same elements come again.
                found.append(tuple(reached[axis] if k == axis and reached[axis] < shape[axis] else 0
                                   for k in range(rank)))
                reached[axis] *= 2
        return found

    register, lane, warp = (bases(one) for one in (layout.size_per_thread, layout.threads_per_warp,
                                                   layout.warps_per_cta))
    for axis in layout.order:
        while reached[axis] < shape[axis]:
            register.append(tuple(reached[axis] if k == axis else 0 for k in range(rank)))
            reached[axis] *= 2
    return Holding(tuple(basis for basis in register if any(basis)), tuple(lane), tuple(warp))
