"""Which conversions, scans and masked loads are told apart as known defects, and what they are derived from."""

import random

import pytest

from tests.chains.drawn import about
from tridiff.kernels.gluon.chain import Convert, Limit, Load, Out, Regroup, Scan, Transpose
from tridiff.kernels.gluon.layouts import Blocked, DotOperand, Linear, Mma
from tridiff.kernels.gluon.ownership import Holding, holding
from tridiff.kernels.gluon.warp_conversions import moves

each = pytest.mark.parametrize


def linear(register: tuple[int, ...], lane: tuple[int, ...], warp: tuple[int, ...] = ()) -> Linear:
    """Of one axis, by the numbers that its bits add."""
    every = (*register, *lane, *warp)
    bases = (tuple((number,) for number in part) for part in (register, lane, warp))
    return Linear(*bases, (2 * max(every),))


HELD = linear((1, 2, 4), (8, 16, 32, 64, 128))


@each("register, lane, dtype, word", [
    ((2, 1, 8), (4, 16, 32, 64, 128), "i8", "bytes swapped twice"),
    ((2, 1, 8), (16, 4, 32, 64, 128), "fp8e5", "bytes swapped twice"),
    ((2, 1, 8), (4, 16, 32, 64, 128), "i16", ""),  # only two of a register
    ((1, 2, 8), (4, 16, 32, 64, 128), "i8", ""),  # the low bits stay
    ((2, 1, 4), (16, 8, 32, 64, 128), "i8", ""),  # nothing crosses
    ((2, 16, 8), (4, 1, 32, 64, 128), "i8", ""),  # two bits cross: by way of shared memory
    ((2, 8, 4), (1, 16, 32, 64, 128), "i8", "bytes swapped twice"),  # a low bit crosses, one lane bit moves
    ((2, 8, 4), (16, 1, 32, 64, 128), "i8", ""),  # two lane bits move: the selectors are right
])
def test_conversions_that_exchange_the_low_registers_are_told_apart(
        register: tuple[int, ...], lane: tuple[int, ...], dtype: str, word: str):
    assert about(Load(0, HELD), Convert(0, linear(register, lane)), Out(1, 1), shape=(256,), dtype=dtype) == word


def test_conversions_between_warps_and_of_few_registers_are_not_told_apart():
    first, second = (linear((*low, last), (8, 16, 32, 64, 128), (other,))
                     for low, last, other in (((1, 2), 4, 256), ((2, 1), 256, 4)))
    assert about(Load(0, first), Convert(0, second), Out(1, 1), shape=(512,), dtype="i8", warps=2) == ""
    few, swapped = linear((1, 2), (4, 8, 16, 32, 64)), linear((2, 1), (8, 4, 16, 32, 64))
    assert about(Load(0, few), Convert(0, swapped), Out(1, 1), shape=(128,), dtype="i8") == ""


def test_transpositions_and_other_shapes_are_seen_through():
    square = Blocked((2, 1, 1, 1), (4, 1, 8, 1), (1, 1, 1, 1), (1, 3, 2, 0))
    turned = Blocked((2, 2, 1, 1), (1, 2, 4, 4), (1, 1, 1, 1), (0, 3, 2, 1))
    steps = (Load(0, square), Transpose(0, (1, 0, 2, 3), turned), Out(1, 1))
    assert about(*steps, shape=(2, 2, 2, 2), dtype="u8") == "bytes swapped twice"
    wide = Linear(((0, 2), (0, 1), (0, 8)), ((0, 4), (1, 0), (2, 0), (4, 0), (8, 0)), (), (16, 16))
    assert about(Load(0, HELD), Regroup(0, (16, 16), wide), Out(1, 1), shape=(256,), to=(16, 16),
                 dtype="i8") == "bytes swapped twice"


def test_a_conversion_moves_every_bit_to_one_place():
    chance = random.Random(5)
    for _ in range(50):
        numbers = [1 << bit for bit in range(8)] + [0, 0]
        one, other = ([(n,) for n in chance.sample(numbers, len(numbers))] for _ in range(2))
        found = moves(*(Holding(tuple(some[5:]), tuple(some[:5]), ()) for some in (one, other)))
        assert found is not None and sorted(found) == sorted(found.values())


@each("size, order, shape, axis, word", [
    ((2, 1), (1, 0), (2, 2), 1, "registers apart"), ((2, 1), (1, 0), (2, 2), 0, "registers apart"),
    ((1, 2), (1, 0), (2, 2), 1, ""), ((2, 1), (0, 1), (2, 2), 1, ""),
    ((2, 2), (1, 0), (2, 4), 1, "runs in one thread"), ((1, 2), (1, 0), (1, 4), 1, ""), ((2, 2), (1, 0), (2, 2), 1, ""),
])
def test_scans_within_a_thread_are_told_apart(size: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...],
                                              axis: int, word: str):
    layout = Blocked(size, (32, 1), (1, 1), order)
    assert about(Load(0, layout), Scan(0, axis, "xor"), Out(1, 1), shape=shape, dtype="i32") == word


def test_lanes_that_repeat_below_others_are_told_apart_where_totals_are_fetched():
    # Rows twice, between the two lanes of the columns and those of the planes.
    layout = Blocked((2, 2, 2), (8, 2, 2), (1, 1, 1), (1, 2, 0))
    about_lanes = [about(Load(0, layout), Scan(0, 1, "xor"), Out(1, 1), shape=(16, columns, 2), dtype="i32")
                   for columns in (4, 64)]
    assert about_lanes == ["", "lanes repeated"]


FILLED = "fp8 other of whole registers"


@each("other, count, dtype, word", [
    (1, 0, "fp8e4nv", FILLED), (1, 2, "fp8e5", FILLED),  # rows lie in lanes
    (1, 4, "fp8e4nv", ""), (0, 0, "fp8e4nv", ""), (1, 0, "i8", "")])
def test_masked_floats_of_8_bits_that_are_loaded_by_four_are_told_apart(
        other: int, count: int, dtype: str, word: str):
    layout = Blocked((1, 2), (32, 1), (1, 1), (0, 1))
    assert about(Load(0, layout, mask=Limit(0, count), other=other), Out(0, 1), shape=(4, 4), dtype=dtype) == word


@each("lanes, count, word", [
    (1, 4, FILLED), (1, 1, ""),  # a mask that parts what is loaded together parts the load
    (1, 2, FILLED), (1, 6, ""),  # three pairs are packed for the store, or one is left
    (4, 2, ""),  # another lane's mask is not known
])
def test_masked_pairs_that_every_thread_packs_are_told_apart(lanes: int, count: int, word: str):
    layout = Blocked((1, 8 // lanes), (32 // lanes, lanes), (1, 1), (1, 0))
    assert about(Load(0, layout, mask=Limit(1, count), other=1), Out(0, 1), shape=(4, 8), dtype="fp8e4nv") == word


@each("rows, word", [(8, FILLED), (2, "")])
def test_loads_that_triton_leaves_out_are_told_apart_where_there_is_enough_to_pack(rows: int, word: str):
    load = Load(0, Blocked((1, 1, 1), (1, 32, 1), (1, 1, 1), (0, 1, 2)), mask=Limit(2, 0), other=2)
    turned = Transpose(0, (2, 1, 0), Blocked((1, 1, 4), (1, 32, 1), (1, 1, 1), (2, 1, 0)))
    assert about(load, turned, Out(1, 1), shape=(rows, 4, 1), to=(1, 4, rows), dtype="fp8e4nv") == word


def test_matrices_of_products_lie_as_ptx_says():
    lanes = ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0))
    accumulator = Mma(2, (1, 1), (16, 8))
    assert holding(accumulator, shape=(16, 8), products=True) == Holding(((0, 1), (8, 0)), lanes, ())
    assert holding(DotOperand(1, accumulator, 2), shape=(16, 8), products=True) == Holding(
        ((1, 0), (8, 0)), tuple((b, a) for a, b in lanes), ())
    assert holding(accumulator, shape=(16, 8)) is None
