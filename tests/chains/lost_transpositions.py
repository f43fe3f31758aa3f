"""Chains that transpose a buffer, and the steps whose reads Triton 3.6.0 gets wrong."""

from tridiff.kernels.gluon.chain import (
    Alloc,
    Chain,
    Global,
    Index,
    Load,
    Out,
    Permute,
    Read,
    Reshape,
    Step,
    Store,
    Subslice,
)
from tridiff.kernels.gluon.layouts import Blocked, Nvmma, Shared, Swizzled

BARE = Nvmma(swizzle=0, bits=32, rank=2)
ROWS = Blocked((1, 1), (4, 8), (1, 1), (1, 0))
LINE = Blocked((1,), (32,), (1,), (0,))
TURN = (1, 0)


def chain(layout: Shared, *views: Step, outs: tuple[tuple[int, ...], ...]) -> Chain:
    """Stores 16 x 32 elements to a buffer, which is step 2, takes `views`, the first of which is step 4, and puts out
    what its reads see, of shapes `outs`."""
    steps: list[Step] = [Load(0, ROWS), Alloc("i32", (16, 32), layout, slots=1), Index(1, 0), Store(2, 0), *views]
    reads = [number for number, step in enumerate(steps) if isinstance(step, Read)]
    arrays = [Global("in0", "i32", (16, 32))]
    for number, shape in zip(reads, outs, strict=True):
        steps.append(Out(number, len(arrays)))
        arrays.append(Global(f"out{number}", "i32", shape, output=True))
    return Chain(1, tuple(arrays), tuple(steps))


CHAINS: dict[str, tuple[Chain, tuple[int, ...]]] = {
    "whole": (chain(BARE, Permute(2, TURN), Read(4, ROWS), Read(2, ROWS), outs=((32, 16), (16, 32))), (5,)),
    "twice": (chain(BARE, Permute(2, TURN), Permute(4, TURN), Read(5, ROWS), outs=((16, 32),)), ()),
    "a row": (chain(BARE, Subslice(2, 0, 7, 1), Permute(4, TURN), Read(5, ROWS), outs=((32, 1),)), (6,)),
    "the first element": (chain(BARE, Permute(2, TURN), Subslice(4, 0, 0, 1), Subslice(5, 1, 0, 1), Read(6, ROWS),
                                outs=((1, 1),)), ()),
    "back behind a slice": (chain(BARE, Permute(2, TURN), Subslice(4, 0, 8, 8), Permute(5, TURN), Read(6, ROWS),
                                  Read(5, ROWS), outs=((16, 8), (8, 16))), (8,)),
    "reshaped": (chain(BARE, Permute(2, TURN), Reshape(4, (512,)), Read(5, LINE), outs=((512,),)), (6,)),
    "behind a reshape": (chain(BARE, Reshape(2, (2, 8, 32)), Reshape(4, (16, 32)), Permute(5, TURN), Read(6, ROWS),
                               outs=((32, 16),)), (7,)),
    "behind a linear layout": (chain(BARE, Reshape(2, (8, 64)), Permute(4, TURN), Read(5, ROWS), outs=((64, 8),)), ()),
    "stored and read through": (chain(BARE, Permute(2, TURN), Load(0, ROWS, order=TURN), Store(4, 5), Read(4, ROWS),
                                      Read(2, ROWS), outs=((32, 16), (16, 32))), (8,)),
    "swizzled for TMA": (chain(Nvmma(32, 32, 2), Permute(2, TURN), Read(4, ROWS), outs=((32, 16),)), ()),
    "swizzled otherwise": (chain(Swizzled(1, 1, 8, (1, 0)), Permute(2, TURN), Read(4, ROWS), outs=((32, 16),)), ()),
}
