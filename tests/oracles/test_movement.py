"""The two oracles of data movement: hand-made cases with known answers, and against each other."""

import numpy as np
import pytest
import torch

from tests.oracles.agreement import on_torch, refused, same_bits
from tridiff.oracles.arrays import bits_of_array, to_numpy, to_torch
from tridiff.oracles.by_numpy import mailbox as numpy_mailbox, movement as by_numpy
from tridiff.oracles.by_torch import mailbox as torch_mailbox, movement as by_torch
from tridiff.oracles.dtypes import NAMES, numpy_dtype

GRID = np.arange(16, dtype=np.int16).reshape(4, 4)
PLAIN = np.arange(16, dtype=np.int64).reshape(4, 4) * 2
"""Byte offsets of a plain 4 x 4 buffer of 16-bit elements."""


def filled(places: np.ndarray = PLAIN, value: np.ndarray = GRID, dtype: str = "i16") -> tuple:
    one, other = by_numpy.buffer(places, dtype), by_torch.buffer(to_torch(places), dtype)
    by_numpy.store(one, value)
    by_torch.store(other, to_torch(value))
    return one, other


def both(one: by_numpy.View, other: by_torch.View) -> list[list[int]]:
    """What both oracles read; they must agree."""
    read = by_numpy.read(one)
    assert same_bits(read, by_torch.read(other))
    return read.tolist()


def test_four_bit_floats_come_low_nibble_first_with_all_sixteen_values():
    packed = np.array([16 * ((2 * k + 1) % 16) + 2 * k % 16 for k in range(8)], np.uint8)
    expected = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]
    for dtype in ("fp16", "bf16"):
        for decoded in (by_numpy.fp4(packed, 0, dtype), to_numpy(by_torch.fp4(to_torch(packed), 0, dtype))):
            assert np.array_equal(decoded.astype(np.float64), expected)
            assert np.signbit(decoded.astype(np.float64)).tolist() == [False] * 8 + [True] * 8
    rows = by_numpy.fp4(np.array([[0x21, 0x43]], np.uint8).view(np.int8), 0, "fp16")
    assert rows.tolist() == [[0.5, 1.5], [1, 2]]


def test_views_of_a_buffer_are_numpys_views():
    one, other = filled()
    assert both(by_numpy.subslice(one, 1, 2, 2), by_torch.subslice(other, 1, 2, 2)) == GRID[:, 2:].tolist()
    assert both(by_numpy.permute(one, (1, 0)), by_torch.permute(other, (1, 0))) == GRID.T.tolist()
    assert both(by_numpy.reshape(one, (2, 8)), by_torch.reshape(other, (2, 8))) == GRID.reshape(2, 8).tolist()
    nested = by_numpy.permute(by_numpy.subslice(one, 0, 2, 2), (1, 0))
    assert by_numpy.read(nested).tolist() == GRID[2:].T.tolist()


def test_a_store_through_a_view_changes_the_buffer():
    one, other = filled()
    by_numpy.store(by_numpy.permute(by_numpy.subslice(one, 1, 0, 1), (1, 0)), np.full((1, 4), -1, np.int16))
    column = by_torch.permute(by_torch.subslice(other, 1, 0, 1), (1, 0))
    by_torch.store(column, torch.full((1, 4), -1, dtype=torch.int16))
    assert both(one, other) == [[-1, *row[1:]] for row in GRID.tolist()]


def test_a_plain_buffer_reinterpreted_is_numpys_view_of_another_type():
    for dtype, width, shape in (("i32", 4, (4, 2)), ("i8", 1, (4, 8)), ("i64", 8, (4, 1)), ("fp16", 2, (16,))):
        places = (np.arange(np.prod(shape), dtype=np.int64) * width).reshape(shape)
        one, other = filled()
        again = by_torch.reinterpret(other, dtype, to_torch(places))
        seen = both(by_numpy.reinterpret(one, dtype, places), again)
        assert np.array_equal(seen, GRID.view(numpy_dtype(dtype)).reshape(shape), equal_nan=True)


def test_a_swizzled_buffer_reinterpreted_as_plain_shows_the_swizzle():
    swizzled = np.array([[row * 4 + (column ^ row) for column in range(4)] for row in range(4)], np.int64) * 2
    one, other = filled(swizzled)
    seen = both(by_numpy.reinterpret(one, "i16", PLAIN), by_torch.reinterpret(other, "i16", to_torch(PLAIN)))
    assert seen == [[0, 1, 2, 3], [5, 4, 7, 6], [10, 11, 8, 9], [15, 14, 13, 12]]


def test_masked_elements_of_a_load_become_other():
    expected = [[0, 1, 7, 7], [4, 5, 7, 7], [8, 9, 7, 7], [12, 13, 7, 7]]
    assert by_numpy.load(GRID, (), (1, 2), 7).tolist() == expected
    assert by_torch.load(to_torch(GRID), (), (1, 2), 7).tolist() == expected
    assert by_numpy.load(GRID, (1, 0), (0, 1), -1).tolist() == [[0, 4, 8, 12], *[[-1] * 4] * 3]
    eight = np.array([1.0, 2.0], numpy_dtype("fp8e5"))
    assert by_torch.load(to_torch(eight), (), (0, 0), 3).to(torch.float32).tolist() == [3, 3]


def test_integers_wrap_in_folds_and_floats_stay_exact():
    bytes_ = np.array([[100, 100], [-128, -1]], np.int8)
    for found in (by_numpy.reduce(bytes_, 1, "add"), on_torch(by_torch.reduce, bytes_, 1, "add")):
        assert found.dtype == np.int8 and found.tolist() == [-56, 127]
    large = np.array([2**63, 2**63 + 5, 1], np.uint64)
    for op, expected in (("max", 2**63 + 5), ("min", 1), ("add", 6), ("xor", 4)):
        padded = np.append(large, large[:1] * 0 + (1 if op == "min" else 0)).astype(np.uint64)
        assert int(by_numpy.reduce(padded, 0, op)) == expected
        assert int(on_torch(by_torch.reduce, padded, 0, op)) == expected
    halves = np.array([1, 2, 3, 4], numpy_dtype("bf16"))
    for reverse, expected in ((False, [1, 3, 6, 10]), (True, [10, 9, 7, 4])):
        for found in (by_numpy.scan(halves, 0, "add", reverse), on_torch(by_torch.scan, halves, 0, "add", reverse)):
            assert found.astype(np.float64).tolist() == expected


def test_atomics_return_what_stood_there_in_row_major_order():
    one, other = filled()
    index = np.zeros((4, 4), np.int32)
    added = np.full((4, 4), 3, np.int16)
    found = by_numpy.atomic(one, added, index, 1, "add", (1, 2))
    again = by_torch.atomic(other, to_torch(added), to_torch(index), 1, "add", (1, 2))
    assert found.old.tolist() == again.old.tolist() == [[0, 3, 0, 0], [4, 7, 0, 0], [8, 11, 0, 0], [12, 15, 0, 0]]
    assert both(one, other) == [[6, 1, 2, 3], [10, 5, 6, 7], [14, 9, 10, 11], [18, 13, 14, 15]]
    assert found.before.reshape(4, 4).tolist() == [[row * 4] * 4 for row in range(4)]


def test_two_values_for_one_target_have_no_answer():
    one, _ = filled()
    refused("one target", by_numpy.scatter, one, GRID, np.zeros((4, 4), np.int32), 1)


def test_scatter_broadcasts_both_operands():
    one, other = filled()
    values, index = np.array([[7], [8], [9], [10]], np.int16), np.array([[3, 1]], np.int32)
    by_numpy.scatter(one, values, index, 1)
    by_torch.scatter(other, to_torch(values), to_torch(index), 1)
    assert both(one, other) == [[0, 7, 2, 7], [4, 8, 6, 8], [8, 9, 10, 9], [12, 10, 14, 10]]


@pytest.mark.parametrize("dtype", [name for name in NAMES if name != "i1"])
def test_moving_keeps_every_bit(dtype: str):
    raw = np.random.default_rng(5).integers(0, 256, (4, 8, numpy_dtype(dtype).itemsize), dtype=np.uint8)
    value = raw.view(numpy_dtype(dtype)).reshape(4, 8)
    places = np.random.default_rng(6).permutation(32).reshape(4, 8).astype(np.int64) * numpy_dtype(dtype).itemsize
    one, other = filled(places, value, dtype)
    index = np.random.default_rng(7).integers(0, 8, (4, 8)).astype(np.int32)
    for found in (by_numpy.read(one), to_numpy(by_torch.read(other))):
        assert same_bits(found, value)
    gathered = by_numpy.gather(one, index, 1)
    assert np.array_equal(bits_of_array(gathered), np.take_along_axis(bits_of_array(value), index.astype(int), 1))
    assert same_bits(gathered, by_torch.gather(other, to_torch(index), 1))


def test_rows_exchange_elements_by_exclusive_or():
    rows = np.arange(64, dtype=np.int32).reshape(2, 32)
    for flip in (0, 1, 5, 31):
        expected = [[row * 32 + (k ^ flip) for k in range(32)] for row in range(2)]
        assert numpy_mailbox.exchanged(rows, flip=flip).tolist() == expected
        assert torch_mailbox.exchanged(to_torch(rows), flip=flip).tolist() == expected
