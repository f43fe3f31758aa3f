"""The torch references and the comparison on a GPU: the same bits as on the CPU, at the size of a large
batch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.oracles.grids import mixed_patterns
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.bits import from_bits, to_bits, ulp_distance
from tridiff.oracles.by_torch import (
    elementwise,
    extrema,
    floats,
    integer,
    philox,
    reductions,
    scan,
    search,
    sorting,
    welford,
)
from tridiff.oracles.compare import compare, same
from tridiff.oracles.dtypes import FLOATS, INTEGERS, NAMES
from tridiff.oracles.rules import ABS, BIT, NUM, NUM0, REL, ULP
from tridiff.oracles.vote import Answer, judge

each = pytest.mark.parametrize

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]

Function = Callable[..., Any]


def agree(function: Function, *inputs: torch.Tensor, **options: Any) -> None:
    """The function gives one answer on both devices (NaN payloads aside)."""
    on_cpu = function(*inputs, **options)
    on_gpu = function(*(x.cuda() for x in inputs), **options)
    pairs = zip(on_cpu, on_gpu, strict=True) if isinstance(on_cpu, tuple) else [(on_cpu, on_gpu)]
    for expected, found in pairs:
        assert found.is_cuda and same(found.cpu(), expected, NUM), function.__name__


@each("name", (*INTEGERS, *FLOATS))
def test_references_agree_with_the_cpu(name: str):
    a = to_torch(mixed_patterns(name, (64, 33), seed=1))
    b = to_torch(mixed_patterns(name, (64, 33), seed=2))
    index = torch.arange(33, dtype=torch.int32).expand(64, 33).contiguous()
    agree(elementwise.vector_add, a, b)
    for two in (extrema.minimum, extrema.maximum):
        agree(two, a, b)
    for fold in (extrema.min_with_index, extrema.max_with_index):
        agree(fold, a, index)
    for descending in (False, True):
        agree(sorting.sort_with_index, a, index, rnumel=20, descending=descending)
    edges = sorting.sort_with_index(b, index)[0]
    defined = search.bucketize_defined(a, edges)
    found = search.bucketize(a.cuda(), edges.cuda()).cpu()
    assert torch.equal(found[defined], search.bucketize(a, edges)[defined])
    for combine in ("maximum", "second", "first"):
        agree(scan.exclusive_scan, a, combine=combine)
    if name in INTEGERS:
        for operation in (integer.div_trunc, integer.rem_trunc, integer.div_floor_integer, integer.remainder_integer):
            agree(operation, a, b)
        agree(reductions.sum, a)
        agree(reductions.prod, a)
    if name in ("fp32", "fp64"):
        agree(floats.frexp, a)
        agree(welford.welford, a.clamp(-4, 4), torch.zeros_like(a), torch.ones_like(a))


def test_philox_agrees_with_the_cpu():
    offset = torch.arange(4096, dtype=torch.int32)
    for seed in (0, 2**40 + 7):
        expected = philox.randint64(seed, offset, -5, 2**62)
        assert torch.equal(philox.randint64(seed, offset.cuda(), -5, 2**62).cpu(), expected)
        assert torch.equal(philox.rand(seed, offset.cuda()).cpu(), philox.rand(seed, offset))


@each("name", NAMES)
def test_comparison_agrees_with_the_cpu(name: str):
    a, b = (to_torch(mixed_patterns(name, (64, 65), seed=s, special_share=0.9)) for s in (3, 4))
    for rule in (BIT, NUM, NUM0, ULP(3, origin="t"), ABS(1.0, origin="t"), REL(0.1, origin="t")):
        expected = compare(a, b, rule)
        found = compare(a.cuda(), b.cuda(), rule)
        assert found.mismatch.is_cuda and torch.equal(found.mismatch.cpu(), expected.mismatch)
        assert found.counts() == expected.counts()
    assert torch.equal(ulp_distance(a.cuda(), b.cuda()).cpu(), ulp_distance(a, b))


@each("name", ("fp32", "u32", "bf16"))
def test_one_wrong_bit_among_two_to_the_27_elements_is_found(name: str):
    rows, lanes = 1 << 15, 1 << 12
    pattern = to_torch(mixed_patterns(name, (lanes,), seed=5)).cuda()
    expected = from_bits(to_bits(pattern).expand(rows, lanes).contiguous(), name)
    actual = from_bits(to_bits(expected).clone(), name)
    clean = judge(actual, [Answer("first", expected), Answer("second", expected)], BIT)
    assert clean.verdict == "agree" and clean.agree == rows
    to_bits(actual)[rows - 3, 77] ^= 1
    found = judge(actual, [Answer("first", expected), Answer("second", expected)], BIT)
    assert found.failing_rows == (rows - 3,) and found.examples[0].lane == 77 and found.disagree == 1


@each("name", NAMES)
def test_conversion_from_the_device_keeps_bits(name: str):
    array = mixed_patterns(name, (17, 5), seed=6)
    back = to_numpy(to_torch(array, device="cuda"))
    assert np.array_equal(back.view(np.uint8), array.view(np.uint8))
