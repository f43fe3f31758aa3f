"""Philox against published vectors and between three implementations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.oracles.agreement import refused
from tridiff.oracles import philox
from tridiff.oracles.bounded import RANDN_RULE
from tridiff.oracles.by_exact import rows as by_exact
from tridiff.oracles.by_torch import philox as by_torch

INT64 = st.integers(-(2**63), 2**63 - 1)

# Known answers published with the Random123 library for philox4x32-10: (counter, key, output).
VECTORS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)))


@pytest.mark.parametrize("counter, key, output", VECTORS)
def test_published_vectors(counter: tuple[int, int, int, int], key: tuple[int, int], output: tuple[int, ...]):
    words = philox.philox4x32(key[0] | key[1] << 32, *counter)
    assert tuple(int(w) for w in words) == output
    assert by_exact.philox4x32(key, counter) == output


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=5))
@settings(max_examples=100)
def test_three_implementations_agree(seed: int, offsets: list[int]):
    by_numpy = philox.randint4x(seed, np.array(offsets, np.uint32))
    on_torch = by_torch.philox4x32(seed, torch.tensor(offsets))
    for i, offset in enumerate(offsets):
        words = by_exact.philox4x32((seed & 0xFFFFFFFF, seed >> 32), (offset, 0, 0, 0))
        assert tuple(int(w[i]) for w in by_numpy) == words
        assert tuple(int(w[i]) for w in on_torch) == words


def test_offsets_repeat_after_two_to_the_32_and_ignore_signedness():
    signed, unsigned = np.array([-1, -5, 7], np.int32), np.array([2**32 - 1, 2**32 - 5, 7], np.uint32)
    wide = unsigned.astype(np.int64) + (3 << 32)
    expected = philox.rand(11, unsigned)
    for offset in (signed, wide):
        assert np.array_equal(philox.rand(11, offset), expected)
        assert by_torch.rand(11, torch.from_numpy(offset)).tolist() == expected.tolist()
    assert by_torch.rand(-1, torch.arange(3)).tolist() == philox.rand(2**64 - 1, np.arange(3)).tolist()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), INT64, INT64)
@settings(max_examples=200)
def test_randint64_agrees_and_stays_in_range(seed: int, offset: int, a: int, b: int):
    offsets = np.arange(offset, offset + 4, dtype=np.int64)
    found = philox.randint64(seed, offsets, a, b)
    assert by_torch.randint64(seed, torch.from_numpy(offsets), a, b).tolist() == found.tolist()
    assert by_exact.randint64(seed, offsets, np.array(a), np.array(b)).tolist() == found.tolist()
    defined = bool(philox.randint64_defined(a, b))
    assert defined == (a < b) == bool(by_torch.randint64_defined(a, b))
    if defined:
        assert all(a <= int(v) < b for v in found)
    if a == b:
        assert found.tolist() == [a] * 4


def test_randint64_uses_both_words():
    offsets = np.arange(2000)
    full = philox.randint64(3, offsets, -(2**63), 2**63 - 1)
    assert (np.abs(full.astype(np.float64)) > 2**33).all()
    assert len(np.unique(full & 0xFFFFFFFF)) > 1990


def test_uniform_extremes_and_collisions():
    words = np.array([0, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 1], np.uint32)
    values = philox.uniform(words)
    assert values.dtype == np.float32
    assert values.tolist()[:2] == [0.0, 0.0]
    assert values[2] == values[3] == np.float32(0.99999994)
    assert values[4] == philox.UNIFORM_SCALE
    rand = philox.rand(5, np.arange(10000))
    assert rand.min() >= 0 and rand.max() < 1
    assert np.array_equal(by_torch.rand(5, torch.arange(10000)).numpy(), rand)


def test_randn_moments_and_limit():
    z = philox.randn(9, np.arange(200_000))
    assert abs(z.mean()) < 5 / math.sqrt(len(z)) and abs(z.var() - 1) < 5 * math.sqrt(2 / len(z))
    assert np.abs(z).max() <= 5.68
    assert RANDN_RULE.kind == "ABS" and RANDN_RULE.k < 1e-4


def test_offsets_are_integers():
    refused("integers", philox.rand, 1, np.zeros(3))
