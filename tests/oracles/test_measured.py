"""Tolerances of functions against the largest errors over all fp32 inputs: not below, not far above, and sharp."""

import numpy as np
import pytest
import torch

from tridiff.oracles.by_exact import functions as by_exact
from tridiff.oracles.compare import compare
from tridiff.oracles.measured import MEASURED, TRITON, Measured
from tridiff.oracles.pointwise import accuracy, row_of, rule_for
from tridiff.oracles.rules import Rule

each = pytest.mark.parametrize
OPS = sorted({one.op for one in MEASURED})


def rule_at(one: Measured) -> tuple[Rule, float]:
    x = float(np.array([one.pattern], dtype=np.uint32).view(np.float32)[0])
    return rule_for(row_of(one.op, one.dtype), one.dtype, x=x), abs(x)


def allowed(rule: Rule, size: float) -> float:
    return rule.k + 0.5 + rule.plus_per_abs_x * size


def test_every_version_has_every_row_once():
    assert sorted((one.op, one.triton) for one in MEASURED) == sorted((op, v) for op in OPS for v in TRITON)
    assert {"exp", "exp_tl", "sin", "log", "tanh", "erf", "rsqrt", "sigmoid"} <= set(OPS)


@each("one", MEASURED, ids=lambda one: f"{one.op}-{one.triton}")
def test_a_tolerance_holds_and_is_documented_or_close_to_what_was_measured(one: Measured):
    rule, size = rule_at(one)
    assert rule.kind == "ULP" and one.ulps <= allowed(rule, size)
    # A vendor's figure stands for all versions and chips; a figure of our own must not be far from the truth.
    if rule.k != accuracy(row_of(one.op, one.dtype)).doc_fp32 or rule.plus_per_abs_x:
        assert allowed(rule, size) <= 2 * one.ulps + 1


@each("op", OPS)
def test_an_argument_off_by_sixteen_ulps_is_caught(op: str):
    row = row_of(op, "fp32")
    grid = np.concatenate([np.linspace(-0.95, 0.95, 20), np.linspace(1.05, 80, 60), -np.linspace(1.05, 80, 20)])
    x = grid.astype(np.float32)
    off = x * np.float32(1 + 2.0**-19)
    right, answered = by_exact.evaluate(row, x)
    wrong, also = by_exact.evaluate(row, off)
    both = answered & also & np.isfinite(right) & (np.abs(right) < 3e38) & (np.abs(right) > 1e-37)
    expected, at = torch.from_numpy(right[both].copy()), torch.from_numpy(x[both].copy())
    rule = rule_for(row, "fp32", x=1.0)
    rounded = torch.from_numpy(right[both].astype(np.float32))
    assert both.sum() >= 10 and compare(rounded, expected, rule, x=at).clean
    assert not compare(torch.from_numpy(wrong[both].astype(np.float32)), expected, rule, x=at).clean
