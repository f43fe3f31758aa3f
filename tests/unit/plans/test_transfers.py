"""Boxes of tensor maps and exchanges in a cluster: answers by hand, what is legal, what faults change, shrinking."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.unit.plans.drawing import drawn
from tridiff.fuzz.kinds.transfers.cases import problem, transfer_of
from tridiff.fuzz.target import Target
from tridiff.fuzz.targets.pipelines_transfers import TARGETS
from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.pipelines import boxes, cluster_exchange
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.faults import NotApplicable
from tridiff.kernels.pipelines.plan import TMA_SLOT
from tridiff.oracles.by_numpy.boxes import moved
from tridiff.oracles.by_torch.boxes import moved as moved_in_torch

each = pytest.mark.parametrize
PLANE = Boxes(box=(2, 16), tiles=2, shape=(3, 18), ring=1, nan=False, to=(), swizzle=0, at=(-1, 16), axis=0, warps=4,
              dtype="fp32")
PAIR = Exchange(value="r", tiles=2, ring=1, ahead=0, every=1, rows=32, columns=64, read="", maximum=1, across=False,
                vector=16, warps=4, memory="c", dtype="fp32")


def test_boxes_over_the_edge_read_zero_or_nan_and_never_the_padding():
    assert not problem(PLANE) and PLANE.memory == (3, 20)
    x = np.arange(60, dtype=np.float32)[None]
    # Box 0 holds rows -1 and 0, box 1 rows 1 and 2; of columns 16 to 31 two exist.
    wanted = np.zeros((4, 16), np.float32)
    wanted[1:, :2] = [[16, 17], [36, 37], [56, 57]]
    assert np.array_equal(moved(x, record=PLANE)[0].reshape(4, 16), wanted)
    with_nan = replace(PLANE, nan=True)
    for got in (moved(x, record=with_nan), moved_in_torch(torch.from_numpy(x), record=with_nan).numpy()):
        assert np.isnan(got).sum() == 58 and got[0, 16] == 16


def test_boxes_are_stored_where_the_tensor_is_and_leave_the_rest():
    stored = replace(PLANE, shape=(3, 20), at=(0, 0), to=(2, 4), tiles=1)
    x, initial = np.arange(60, dtype=np.float32)[None], np.full((1, 60), -1, np.float32)
    wanted = initial.copy()
    wanted[0, 44:60] = np.arange(16)  # row 2 from column 4 on; the box's second row lies outside
    assert not problem(stored) and np.array_equal(moved(x, initial, record=stored), wanted)


def test_what_a_tensor_map_cannot_do_is_no_case():
    wrong = ({"box": (2, 2)}, {"box": (1, 16)}, {"swizzle": 128}, {"at": (0, 2)}, {"to": (-1, 0)}, {"to": (0, 0)},
             {"axis": 2}, {"box": (512, 16)})
    assert all(problem(replace(PLANE, **change)) for change in wrong)


def test_a_block_counts_what_every_owner_of_a_part_sends():
    assert PAIR.bytes == 32 * 64 * 4 // 2
    twice = replace(PAIR, value="d")
    assert twice.bytes == 2 * PAIR.bytes and replace(twice, memory="d").bytes == 2 * PAIR.bytes
    for change in ({"memory": "d"}, {"every": 2}, {"ring": 2, "ahead": 2}, {"vector": 4, "dtype": "i64"},
                   {"memory": "cc"}, {"maximum": 0, "across": True}):
        assert not problem(PAIR) and problem(replace(PAIR, **change))


@each("record, write, faults", [
    (replace(PLANE, shape=(3, 20), to=(0, 0)), boxes.source, boxes.FAULTS),
    (PAIR, cluster_exchange.source, cluster_exchange.FAULTS)], ids=["boxes", "exchange"])
def test_every_fault_changes_the_kernel_in_its_place(record: Any, write: Any, faults: Any):
    dialect = dataclasses.replace(installed(), async_store="async_store", cluster_barrier="gl.barrier(cluster=True)")
    right = write(record, dialect).splitlines()
    changed = {name: [line.strip() for line in broken(record, dialect).splitlines() if line not in right]
               for name, broken in faults.items()}
    assert [line.count("& 1 ^ 1") for line in changed.pop("wrong_phase")] == [1]
    assert "// 2)" in changed.pop("expect_half_the_bytes")[0] and "* 2)" in changed.pop("expect_twice_the_bytes")[0]
    assert len(changed) == 2 and all({*lines} == {"pass"} for lines in changed.values())
    with pytest.raises(NotApplicable):
        boxes.FAULTS["store_wait_missing"](PLANE, dialect)


@each("target", TARGETS, ids=lambda target: target.name)
def test_whatever_fails_shrinks_to_one_tile_of_the_least_size(target: Target):
    for case in drawn(target, 6, number=4):
        while step := next(iter(target.shrink.steps(case)), None):
            assert target.draw.valid(step) and target.shrink.size(step) < target.shrink.size(case)
            case = step
        record = transfer_of(case)
        assert record.tiles == record.ring == 1
        least = isinstance(record, Boxes) and math.prod(record.box) * record.itemsize == TMA_SLOT
        assert least or record.blocks == 2
