"""Sets of inputs: runs become boxes, boxes are subtracted, both held against sets of indices."""

import itertools

import numpy as np
from hypothesis import given, settings, strategies as st

from tridiff.fuzz.sweep.boxes import Runs, as_records, boxes, contains, joined
from tridiff.fuzz.sweep.compare import subtract
from tridiff.fuzz.sweep.records import Box
from tridiff.fuzz.sweep.space import Operand, Space

SPACE = Space((Operand("i8", 2, True), Operand("i8", 2, True), Operand("i8", 3, True)), False)
PLACES = Space((Operand("i8", 2, False), Operand("i8", 2, False), Operand("i8", 3, False)), False)


def runs_of(chosen: set[int], row: int) -> Runs:
    """Maximal runs within rows."""
    first, last = [], []
    for index in sorted(chosen):
        if last and last[-1] == index - 1 and index % row:
            last[-1] = index
        else:
            first.append(index)
            last.append(index)
    return Runs(np.array(first, np.int64), np.array(last, np.int64), np.ones(len(first), np.int8))


def inputs_of(listed: tuple[Box, ...]) -> list[tuple[int, ...]]:
    return [point for box in listed for point in itertools.product(*(range(a, b + 1) for a, b in box.ranges))]


@settings(max_examples=150)
@given(st.sets(st.integers(0, PLACES.size - 1)))
def test_boxes_hold_exactly_the_inputs_of_the_runs(chosen: set[int]):
    columns, _ = boxes(runs_of(chosen, 8), PLACES)
    points = inputs_of(as_records(columns, PLACES))
    wanted = {(index >> 5, index >> 3 & 3, index & 7) for index in chosen}
    assert len(points) == len(set(points)) and set(points) == wanted


def test_regular_sets_are_few_boxes():
    divisor_zero = {index for index in range(PLACES.size) if index & 7 == 0}
    columns, digest = boxes(runs_of(divisor_zero, 8), PLACES)
    assert as_records(columns, PLACES) == (Box(((0, 3), (0, 3), (0, 0))),)
    halves = [runs_of({i for i in divisor_zero if i < 64}, 8), runs_of({i for i in divisor_zero if i >= 64}, 8)]
    assert boxes(joined(halves), PLACES)[1] == digest
    assert boxes(Runs.none(), PLACES)[0].shape == (0, 3, 2)


def test_entries_of_a_deck_become_their_patterns():
    columns, _ = boxes(runs_of({0}, 8), SPACE)
    (box,) = as_records(columns, SPACE)
    from tridiff.fuzz.sweep.space import deck

    assert [first for first, _ in box.ranges] == [int(deck("i8", 2)[0]), int(deck("i8", 2)[0]), int(deck("i8", 3)[0])]


ranges = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (min(pair), max(pair)))
one_box = st.tuples(ranges, ranges).map(Box)


@settings(max_examples=200)
@given(one_box, st.lists(one_box, max_size=3))
def test_subtraction_is_set_difference(box: Box, others: list[Box]):
    left = subtract((box,), tuple(others))
    points = inputs_of(left)
    assert len(points) == len(set(points))
    assert set(points) == {p for p in inputs_of((box,)) if not contains(tuple(others), p)}
