"""Own layout maps against what the installed Triton draws of the same layouts."""

import itertools
import random
import re
from typing import Any

from triton._C.libtriton import gluon_ir
from triton.experimental.gluon import language as gl

from tridiff.fuzz.language.row import installed
from tridiff.fuzz.versions import before
from tridiff.kernels.gluon.layouts import (
    Blocked,
    DotOperand,
    Mma,
    Nvmma,
    Shared,
    SharedLinear,
    Slice,
    Swizzled,
    constructor,
    distributed_problem,
    log2,
)
from tridiff.kernels.gluon.memory import placement, shared_problem
from tridiff.kernels.gluon.ownership import holding

DRAWS = hasattr(gluon_ir, "get_layout_view")
"""Whether this Triton draws layouts; elsewhere only the constructors are checked."""


def drawn(text: str, shape: tuple[int, ...]) -> str:
    layout = eval(text, {"gl": gl})
    return str(gluon_ir.get_layout_view(layout, list(shape), True)) if DRAWS else ""


def shares(chance: random.Random, bits: int, rank: int) -> tuple[int, ...]:
    extents = [1] * rank
    for _ in range(bits):
        extents[chance.randrange(rank)] *= 2
    return tuple(extents)


def shared_layouts(chance: random.Random) -> tuple[Shared, tuple[int, ...], int]:
    rank = chance.choice((1, 2, 2, 3))
    shape = tuple(1 << chance.randrange(6) for _ in range(rank))
    kind, bits = chance.choice(("swizzled", "nvmma", "linear")), chance.choice((8, 16, 32, 64))
    power = [1 << chance.randrange(5) for _ in range(3)]
    if kind == "swizzled":
        return Swizzled(*power, tuple(chance.sample(range(rank), rank))), shape, bits
    if kind == "nvmma":
        shape = tuple(1 << chance.randrange(2, 8) for _ in range(rank)) if rank == 2 else shape
        return Nvmma(chance.choice((0, 32, 64, 128)), bits, rank, chance.random() < 0.4), shape, bits
    total = sum(log2(extent) for extent in shape)
    return SharedLinear(tuple(tuple(chance.randrange(extent) for extent in shape) for _ in range(total))), shape, bits


def check_shared_memory_lies_where_triton_puts_it():
    chance, compared = random.Random(7), {"Swizzled": 0, "Nvmma": 0, "SharedLinear": 0}
    while min(compared.values()) < 25:
        layout, shape, bits = shared_layouts(chance)
        if shared_problem(layout, shape=shape, bits=bits) or not sum(log2(n) for n in shape):
            continue
        compared[type(layout).__name__] += 1
        text = drawn(constructor(layout), shape)
        if DRAWS:
            own = placement(layout, shape=shape)
            theirs = {tuple(int(n) for n in found[2].split(",")): int(found[1])
                      for found in re.finditer(r"Offset:\s*(\d+) -> \(([^)]*)\)", text)}
            mine = {place: own.offset(place) for place in itertools.product(*map(range, shape))}
            assert mine == theirs, (layout, shape)


def held_by_triton(text: str) -> list[list[list[tuple[int, ...]]]]:
    """The elements by warp, register and lane."""
    return [[[tuple(int(n) for n in one.split(",")) for one in re.findall(r"\(([^)]*)\)", line)]
             for line in block.strip().splitlines()] for block in re.split(r"Warp\d+:\n", text)[1:]]


def check_matrices_of_products_lie_where_triton_puts_them():
    """Registers that hold the same again are left out of our own."""
    chance = random.Random(9)
    for _ in range(60):
        shape, warps = (1 << chance.randrange(1, 7), 1 << chance.randrange(1, 7)), chance.choice((1, 4, 8))
        third = warps > 1 and chance.random() < 0.5
        grid = shares(chance, log2(warps // 4), 2) if third else shares(chance, log2(warps), 2)
        product = Mma(3, (4 * grid[0], grid[1]), (16, chance.choice((8, 32)), 16)) if third else Mma(2, grid, (16, 8))
        plain = Blocked(shares(chance, 2, 2), shares(chance, 5, 2), shares(chance, log2(warps), 2),
                        tuple(chance.sample((0, 1), 2)))
        layout: Any = chance.choice((product, DotOperand(0 if third else chance.randrange(2), product, 2),
                                     DotOperand(chance.randrange(2), plain, 0)))
        assert not distributed_problem(layout, shape=shape, warps=warps)
        own = holding(layout, shape=shape, products=True)
        assert own is not None
        for warp, registers in enumerate(held_by_triton(drawn(constructor(layout), shape))):
            theirs = list(dict.fromkeys(map(tuple, registers)))
            assert theirs == [tuple(own.coordinate(register, lane, warp) for lane in range(32))
                              for register in range(own.registers)], (layout, shape)


def check_threads_hold_what_triton_gives_them():
    chance = random.Random(8)
    for number in range(80):
        rank = chance.choice((1, 2, 2, 3))
        shape = tuple(1 << chance.randrange(6) for _ in range(rank))
        warps = chance.choice((1, 2, 4))

        def blocked(rank: int, warps: int = warps) -> Blocked:
            return Blocked(shares(chance, chance.randrange(4), rank), shares(chance, 5, rank),
                           shares(chance, log2(warps), rank), tuple(chance.sample(range(rank), rank)))

        layout: Any = blocked(rank) if number % 3 else Slice(chance.randrange(rank + 1), blocked(rank + 1))
        text = drawn(constructor(layout), shape)
        own = holding(layout, shape=shape)
        assert own is not None
        mine = [[[own.coordinate(register, lane, warp) for lane in range(32)]
                 for register in range(1 << len(own.register))] for warp in range(warps)]
        theirs = held_by_triton(text)
        if before(installed(), "3.9.0"):
            # These draw registers that hold the same again.
            theirs = [list(map(list, dict.fromkeys(map(tuple, registers)))) for registers in theirs]
        assert not DRAWS or mine == theirs, (layout, shape)
