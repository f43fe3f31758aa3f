"""Voting: who is wrong, per row, when oracles agree, contradict each other, cover subsets or leave lanes
open.
"""

import math

import pytest
import torch
from torch import tensor, zeros

from tests.oracles.agreement import refused
from tests.oracles.grids import random_patterns
from tridiff.oracles.arrays import to_torch
from tridiff.oracles.dtypes import NAMES
from tridiff.oracles.rules import BIT, NUM, SET, SUM, ULP
from tridiff.oracles.vote import Answer, Judgement, judge


def table(rows: int = 6, lanes: int = 4) -> torch.Tensor:
    return torch.arange(float(rows * lanes)).reshape(rows, lanes) + 1


def counts(j: Judgement) -> tuple[int, int, int, int, int]:
    assert j.agree + j.disagree + j.conflict + j.undefined + j.unjudged == j.rows
    return j.agree, j.disagree, j.conflict, j.undefined, j.unjudged


def two(numpy: torch.Tensor, other: torch.Tensor) -> list[Answer]:
    return [Answer("numpy", numpy), Answer("torch", other)]


@pytest.mark.parametrize("name", NAMES)
def test_equal_answers_agree_for_every_type(name: str):
    values = to_torch(random_patterns(name, (8, 5), seed=1))
    result = judge(values, two(values.clone(), values.clone()), BIT)
    assert counts(result) == (8, 0, 0, 0, 0) and result.verdict == "agree"
    assert result.judged_by == (("numpy", 8), ("torch", 8))
    assert result.examples == () and result.dominant_class is None


def test_a_wrong_value_disagrees_and_is_located():
    right, wrong = table(), table()
    wrong[4, 2] = -1.0
    result = judge(wrong, two(right, right.clone()), NUM)
    assert counts(result) == (5, 1, 0, 0, 0) and result.verdict == "disagree"
    assert result.failing_rows == (4,) and result.class_counts == (("value", 1),)
    (example,) = result.examples
    assert (example.row, example.lane, example.mismatch_class) == (4, 2, "value")
    assert example.actual_bits == 0xBF800000
    assert example.expected_bits == (("numpy", 0x41980000), ("torch", 0x41980000))


def test_two_contradicting_oracles_are_a_conflict_not_a_finding():
    actual, other = table(), table()
    other[1, 0] = math.nan
    result = judge(actual, two(actual.clone(), other), NUM)
    assert counts(result) == (5, 0, 1, 0, 0)
    assert result.verdict == "oracle_conflict" and result.conflicting_rows == (1,) and result.split == 1
    assert dict(result.examples[0].expected_bits)["numpy"] == 0x40A00000


def test_rejected_by_all_is_a_disagreement_even_if_the_oracles_differ():
    actual, first, second = table(), table(), table()
    first[2, 1], second[2, 1] = 100.0, 200.0
    result = judge(actual, [Answer("a", first), Answer("b", second)], NUM)
    assert counts(result) == (5, 1, 0, 0, 0)


def test_a_third_oracle_settles_a_conflict_both_ways():
    actual, other = table(), table()
    other[1, 0] = 50.0
    rows = tensor([1])
    sides = two(actual.clone(), other)
    acquitted = judge(actual, [*sides, Answer("exact", actual[rows], rows=rows)], NUM)
    assert counts(acquitted) == (6, 0, 0, 0, 0) and acquitted.split == 1
    convicted = judge(actual, [*sides, Answer("exact", other[rows], rows=rows)], NUM)
    assert counts(convicted) == (5, 1, 0, 0, 0) and convicted.failing_rows == (1,)
    assert convicted.judged_by == (("numpy", 6), ("torch", 6), ("exact", 1))
    third_opinion = other[rows] + 1
    assert counts(judge(actual, [*sides, Answer("exact", third_opinion, rows=rows)], NUM)) == (5, 0, 1, 0, 0)


def test_a_decisive_oracle_outvotes_two_others():
    actual, wrong = table(), table()
    wrong[3, 3] = 0.0
    rows = tensor([3])
    others = two(wrong, wrong.clone())
    assert counts(judge(actual, [*others, Answer("exact", actual[rows], rows=rows, decisive=True)], NUM)) == (
        6, 0, 0, 0, 0)
    mirrored = two(actual, actual.clone())
    verdict = judge(actual, [*mirrored, Answer("exact", wrong[rows], rows=rows, decisive=True)], NUM)
    assert counts(verdict) == (5, 1, 0, 0, 0)


def test_undefined_lanes_are_ignored_and_undefined_rows_never_agree():
    right, wrong = table(), table()
    wrong[0, 0] = math.nan
    wrong[1, :] = math.nan
    defined = torch.ones(6, 4, dtype=torch.bool)
    defined[0, 0] = False
    defined[1, :] = False
    answers = two(right, right.clone())
    assert counts(judge(wrong, answers, NUM, defined=defined)) == (5, 0, 0, 1, 0)
    assert counts(judge(wrong, answers, NUM, defined=defined[:, 1])) == (4, 1, 0, 1, 0)
    everything_open = judge(wrong, answers, NUM, defined=zeros(6, dtype=torch.bool))
    assert everything_open.verdict == "not_checked" and everything_open.undefined == 6
    defined[0, 1] = False
    wrong[0, 2] = 7.0
    assert judge(wrong, answers, NUM, defined=defined).failing_rows == (0,)


def test_rows_without_an_oracle_are_not_checked():
    values = table()
    rows = tensor([5, 0])
    result = judge(values, [Answer("exact", values[rows], rows=rows)], NUM)
    assert counts(result) == (2, 0, 0, 0, 4) and result.verdict == "agree"
    none = judge(values[:0], [Answer("exact", values[:0])], NUM)
    assert none.verdict == "not_checked" and none.rows == 0


def test_rows_of_a_subset_map_back_to_their_place():
    values = table()
    rows = tensor([5, 0, 3])
    expected = values[rows].clone()
    expected[0, 3] = -2.0
    result = judge(values, [Answer("exact", expected, rows=rows)], NUM)
    assert result.failing_rows == (5,)
    assert result.examples[0].expected_bits == (("exact", 0xC0000000),)


def test_the_dominant_class_counts_elements_of_disagreeing_rows_only():
    right, wrong = table(), table()
    wrong[0, :3] = math.nan
    wrong[1, 0] = 9.0
    result = judge(wrong, [Answer("numpy", right)], NUM)
    assert result.dominant_class == "nan_unexpected"
    assert result.class_counts == (("nan_unexpected", 3), ("value", 1))
    assert result.failing_rows == (0, 1)


def test_limits_on_what_is_reported():
    right, wrong = table(40), table(40) + 1
    result = judge(wrong, [Answer("numpy", right)], NUM, max_examples=3)
    assert result.disagree == 40 and result.failing_rows == (0, 1, 2) and len(result.examples) == 3


def test_wrong_type_or_shape_fails_every_row():
    values = table()
    for wrong, name in ((values.half(), "dtype"), (values[:, :3], "shape"), (values.reshape(6, 2, 2), "shape")):
        result = judge(wrong, [Answer("numpy", values)], NUM)
        assert counts(result) == (0, 6, 0, 0, 0) and result.dominant_class == name, name
    empty = judge(zeros(3, 0), [Answer("numpy", zeros(3, 0))], NUM)
    assert counts(empty) == (3, 0, 0, 0, 0)
    assert counts(judge(zeros(3, 0), [Answer("numpy", zeros(3, 1))], NUM)) == (0, 3, 0, 0, 0)


def test_per_answer_rules_bounds_and_sets():
    actual = table()
    actual[2, 2] += 1e-3
    exact = table().double()
    bound = torch.full((6, 4), 1e-2, dtype=torch.float64)
    rule = SUM("sum_bound", origin="oracles.md §4")
    assert counts(judge(actual, [Answer("fp64", exact, bound=bound)], rule)) == (6, 0, 0, 0, 0)
    bound[2, 2] = 1e-4
    assert judge(actual, [Answer("fp64", exact, bound=bound)], rule).failing_rows == (2,)
    rows = tensor([2])
    subset = Answer("fp64", exact[rows], rows=rows, bound=bound[rows])
    assert judge(actual, [subset], rule).failing_rows == (2,)
    either = Answer("set", torch.stack([table(), table() + 1e-3]), rule=SET(ULP(1, origin="t")))
    assert counts(judge(actual, [either], NUM)) == (6, 0, 0, 0, 0)
    assert judge(table() - 1, [either], NUM).disagree == 6


def test_one_dimensional_results_have_one_lane_per_row():
    values = tensor([1, 2, 3])
    result = judge(tensor([1, 9, 3]), [Answer("numpy", values)], BIT)
    assert result.failing_rows == (1,) and result.examples[0].lane == 0
    assert result.examples[0].expected_bits == (("numpy", 2),)


def test_misuse_names_the_fix():
    values = table()
    refused("at least one answer", judge, values, [], NUM)
    refused("own name", judge, values, [Answer("a", values), Answer("a", values)], NUM)
    refused("expected 6 rows", judge, values, [Answer("a", values[:3])], NUM)
    refused("expected 6 rows", judge, values, [Answer("a", tensor(1.0))], NUM)
    refused("unsqueeze", judge, tensor(1.0), [Answer("a", tensor(1.0))], NUM)
    refused("defined has shape", judge, values, [Answer("a", values)], NUM, defined=torch.ones(5, dtype=torch.bool))
