"""Where Triton 3.6.0 adds parts of a shared memory address that it must combine with exclusive or.

An address is the exclusive or of what each bit of the register, lane and warp number moves. 3.6.0 adds the part of
a register bit whose offset shares no bits with those of lanes, warps and a slice, or is one of them, and does not ask
about the register bits that it keeps for exclusive or (triton#10122).
"""

from collections.abc import Iterator

from msgspec import UNSET

from tridiff.kernels.gluon.chain import Alloc, Chain, Read, Ring, Store
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.layouts import Distributed, log2, power_of_two
from tridiff.kernels.gluon.memory import Placement, placement
from tridiff.kernels.gluon.ownership import holding
from tridiff.kernels.gluon.values import View, as_tensor


def _accesses(chain: Chain) -> Iterator[tuple[Placement, tuple[int, ...], Distributed]]:
    """Where the uncut view lies, the shape of the view, and the layout in registers, of every store and read."""
    types = typed(chain)
    for number, step in enumerate(chain.steps):
        match step:
            case Ring():
                whole = placement(step.layout, shape=step.shape)
                yield from ((whole, step.shape, layout) for layout in (step.written, step.read))
                continue
            case Store(view=view, source=held):
                pass
            case Alloc(source=held) if held is not UNSET:
                view = number
            case Read(view=view):
                held = number
            case _:
                continue
        seen = types[view]
        assert isinstance(seen, View)
        yield seen.whole, seen.shape, as_tensor(types[held]).held


def _wrong(whole: Placement, shape: tuple[int, ...], layout: Distributed) -> bool:
    own = holding(layout, shape=shape, products=True)
    if own is None:  # not covered: whether it could be
        return not all(power_of_two(image) for axis in whole.images for image in axis)
    plain = Placement(whole.shape, whole.images)
    registers = [plain.offset(basis) for basis in own.register]
    threads = [plain.offset(basis) for basis in (*own.lane, *own.warp)]
    fixed = 0
    for offset in threads:
        fixed |= offset
    for extent, images in zip(shape, whole.images, strict=True):
        for image in images[log2(extent):]:  # of a slice's start
            fixed |= image
    added, kept = 0, fixed
    for offset in registers:
        if not offset & fixed or offset in threads:
            added |= offset
        else:
            kept |= offset
    return bool(added & kept)


def adds_mixed_offsets(chain: Chain) -> bool:
    """Whether some store or read goes to other places than it must."""
    return any(_wrong(*access) for access in _accesses(chain))
