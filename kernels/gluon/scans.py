"""How Triton 3.6.0 divides the elements of a scan among registers and lanes, and where that is not how they lie.

Its lowering counts, along each axis, the neighbours that a thread holds together (a run), the lanes and warps with
different elements, and how often these repeat (blocks). It reads runs off the registers' bases, in the order in which
the axes come there; but where a run and its repetitions lie among the registers it takes from the order of the blocked
layout. Pure Python; source: what its PTX computes, executed for drawn layouts.
"""

from dataclasses import dataclass

from tridiff.kernels.gluon.layouts import Blocked, log2
from tridiff.kernels.gluon.ownership import Holding, holding


@dataclass(frozen=True)
class Division:
    """Per axis, powers of two as their exponents: run, lanes, warps, blocks."""

    held: Holding
    runs: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]
    blocks: tuple[int, ...]


def division(layout: Blocked, shape: tuple[int, ...]) -> Division:
    held = holding(layout, shape=shape)
    assert held is not None
    rank = range(len(shape))
    axes = [next(k for k in rank if basis[k]) for basis in held.register]
    runs, position = [0 for _ in rank], 0
    for axis in dict.fromkeys([*axes, *reversed(rank)]):
        while axes[position:position + 1] == [axis] and held.register[position][axis] == 1 << runs[axis]:
            runs[axis], position = runs[axis] + 1, position + 1
    lanes, warps = (tuple(sum(bool(basis[k]) for basis in bases) for k in rank) for bases in (held.lane, held.warp))
    blocks = tuple(max(log2(shape[k]) - runs[k] - lanes[k] - warps[k], 0) for k in rank)
    return Division(held, tuple(runs), lanes, warps, blocks)


def registers_apart(layout: Blocked, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether the registers that the lowering takes for a thread's successive elements along `axis` hold others."""
    found = division(layout, shape)
    before = layout.order[:layout.order.index(axis)]
    first = sum(found.runs[k] for k in before)
    run = list(range(first, first + found.runs[axis]))
    others = [k for k in range(len(found.held.register)) if k not in run]
    first = len(others) - sum(found.blocks) + sum(found.blocks[k] for k in before)
    taken = run + others[first:first + found.blocks[axis]]
    held = {k: basis[axis] for k, basis in enumerate(found.held.register) if basis[axis]}
    return taken != sorted(held, key=held.__getitem__)


def runs_in_one_thread(layout: Blocked, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether one thread holds all of `axis`, in several runs of two elements and more: to all but the last of a run
    the lowering adds the total behind the run, where that in front of it belongs."""
    found = division(layout, shape)
    return not found.lanes[axis] and not found.warps[axis] and found.runs[axis] > 0 and found.blocks[axis] > 0


def lanes_repeated(layout: Blocked, *, shape: tuple[int, ...], axis: int) -> bool:
    """Whether lanes that hold the same elements stand below others, so that their numbers are not those of the
    elements: before the lanes along `axis`, or before any when totals are fetched from the last of those."""
    found = division(layout, shape)
    if not found.lanes[axis]:
        return False
    moving = [any(basis) for basis in found.held.lane]
    along = min(k for k, basis in enumerate(found.held.lane) if basis[axis])
    return False in moving[:along] or (
        found.blocks[axis] > 0 and not found.warps[axis] and moving != sorted(moving, reverse=True))
