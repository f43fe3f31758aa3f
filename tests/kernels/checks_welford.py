"""Interpreter checks of Welford's algorithm (contract: helpers.md §7). States are (mean, m2, weight)."""

from typing import Any

import numpy as np
import triton.language as tl
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import INF, NAN, NUMPY, UNWRITTEN, along, run
from tridiff.fuzz.interpreter import repaired
from tridiff.kernels.drivers.welford import welford_pairs, welford_rows, welford_states, welford_step
from tridiff.kernels.helpers import welford
from tridiff.kernels.helpers.mutants_welford import MUTANTS

NAMES = ("mean", "m2", "weight")
State = tuple[float, float, float]
TILE = {"ROW_BLOCK": 2, "COL_BLOCK": 4}
FLOATS = ("fp32", "fp64")

# The step (state, value, first iteration) on which each broken variant differs: right and wrong states.
STEP_DIFFERENCES: dict[str, tuple[State, float, bool, State, State]] = {
    "weight_not_reset": ((9, 9, 3), 5, True, (5, 0, 1), (5, 0, 4)),
    "m2_not_reset": ((9, 9, 3), 5, True, (5, 0, 1), (5, 9, 1)),
    "m2_with_old_mean": ((1, 0, 1), 3, False, (2, 2, 2), (2, 4, 2)),
    "m2_sign": ((1, 0, 1), 3, False, (2, 2, 2), (2, -2, 2)),
    "mean_over_old_weight": ((1, 0, 1), 3, False, (2, 2, 2), (3, 0, 2))}
# The two states whose union each broken variant gets wrong: right and wrong unions.
UNION_DIFFERENCES: dict[str, tuple[State, State, State, State]] = {
    "zero_weight_unguarded": ((1, 0, 1), (INF, 0, 0), (1, 0, 1), (NAN, NAN, 1)),
    "cross_term_missing": ((0, 0, 1), (2, 0, 1), (1, 2, 2), (1, 0, 2)),
    "cross_term_sign": ((0, 0, 1), (2, 0, 1), (1, 2, 2), (1, -2, 2)),
    "mean_unweighted": ((0, 0, 1), (4, 0, 3), (3, 12, 4), (2, 12, 4)),
    "weights_swapped": ((0, 0, 1), (4, 0, 3), (3, 12, 4), (1, 12, 4)),
    "weight_not_added": ((0, 0, 1), (4, 0, 3), (3, 12, 4), (3, 12, 1)),
    "equal_infinities": ((INF, 0, 1), (INF, 0, 1), (NAN, NAN, 2), (INF, 0, 2))}


def outputs(shape: tuple[int, ...], dtype: Any, *, prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}{name}": np.full(shape, UNWRITTEN, dtype) for name in NAMES}


def step(helper: Any, value: Any, state: Any, *, first: bool, literal: bool, dtype: str = "fp32") -> Any:
    """The states after one element, as rows of (mean, m2, weight). value: [N], state: [N, 3]."""
    cell = [np.array([column], NUMPY[dtype]) for column in np.array(state, np.float64).T]
    inputs = {"value": np.array([value], NUMPY[dtype]), "mean": cell[0], "m2": cell[1], "weight": cell[2]}
    values = {"first_iteration": int(first), "FIRST": first if literal else None, **TILE}
    result = run(welford_step, inputs, outputs(cell[0].shape, NUMPY[dtype], prefix="out_"), HELPER=helper, **values)
    return np.stack([result[f"out_{name}"][0] for name in NAMES], axis=1)


def union(helper: Any, first: Any, second: Any, *, dtype: str = "fp32") -> Any:
    """The unions of states given as rows of (mean, m2, weight)."""
    inputs = {}
    for side, states in (("a", first), ("b", second)):
        for name, column in zip(NAMES, np.array(states, NUMPY[dtype]).T, strict=True):
            inputs[f"{side}_{name}"] = column[None, :].copy()
    result = run(welford_pairs, inputs, outputs((1, len(first)), NUMPY[dtype]), HELPER=helper, **TILE)
    return np.stack([result[name][0] for name in NAMES], axis=1)


def merged(helper: Any, states: Any, *, dtype: str = "fp32", axis: int = 1, length: int = 4) -> list[float]:
    """The union of all given states along an axis."""
    columns = np.array(states, NUMPY[dtype]).T
    inputs = {
        f"a_{name}": (column[None, :] if axis == 1 else column[:, None]).copy()
        for name, column in zip(NAMES, columns, strict=True)}
    kept, tile = along(axis, inputs["a_mean"].shape, length=length)
    result = run(welford_states, inputs, outputs(kept, NUMPY[dtype]), HELPER=helper, AXIS=axis, **tile)
    return [float(result[name][0, 0]) for name in NAMES]


def row_states(a: Any, *, accumulator: Any, peeled: bool) -> Any:
    """(mean, m2, weight) of every row of a."""
    dtype = np.float64 if accumulator == tl.float64 else np.float32
    values = {"HELPER": welford.welford_reduce, "MERGE": welford.welford, "ACCUMULATOR": accumulator, "PEELED": peeled}
    with repaired():  # loops with a run-time bound do not run in the bare interpreter of 3.6.0
        result = run(welford_rows, {"a": a}, outputs((a.shape[0], 1), dtype), **values, **TILE)
    return np.hstack([result[name] for name in NAMES])


def check_first_iteration_ignores_the_state():
    """An uninitialised state may hold anything, NaN included; literal and run-time flags agree."""
    states = [(NAN, NAN, NAN), (INF, -INF, 7), (1, 2, 3)]
    for dtype in FLOATS:
        for literal in (True, False):
            out = step(welford.welford_reduce, [5, -0.0, NAN], states, first=True, literal=literal, dtype=dtype)
            assert_array_equal(out, [[5, 0, 1], [-0.0, 0, 1], [NAN, 0, 1]])
            assert np.signbit(out[1, 0])


def check_one_more_element():
    for dtype in FLOATS:
        for literal in (True, False):
            out = step(
                welford.welford_reduce, [3, 6], [(1, 0, 1), (2, 8, 3)],
                first=False, literal=literal, dtype=dtype)
            assert_array_equal(out, [[2, 2, 2], [3, 20, 4]])


def check_empty_partners_are_neutral_bit_for_bit():
    """Whatever garbage an empty set holds, the other state comes back unchanged; two empty sets give zeros."""
    garbage = [(NAN, NAN, 0), (INF, 5, 0), (1e30, -1, 0), (-INF, INF, 0), (0, 0, 0)]
    full = [(-0.0, 0.1, 1), (1.5, 2.5, 3), (INF, 0, 1), (1e30, 7, 2), (NAN, NAN, 4)]
    for dtype in FLOATS:
        expected = np.array(full, NUMPY[dtype])
        for states in (
            union(welford.welford_combine, full, garbage, dtype=dtype),
            union(welford.welford_combine, garbage, full, dtype=dtype),
        ):
            assert_array_equal(states, expected)
            assert_array_equal(np.signbit(states[:, 0]), np.signbit(expected[:, 0]))
        both = union(welford.welford_combine, garbage, garbage[::-1], dtype=dtype)
        assert_array_equal(both, np.zeros((5, 3)))


def check_infinities_give_nan_variance():
    first = [(INF, 0, 1), (INF, 0, 1), (1, 0, 1), (-INF, 0, 1), (NAN, 0, 1)]
    second = [(INF, 0, 1), (1, 0, 1), (INF, 0, 1), (INF, 0, 1), (1, 0, 1)]
    out = union(welford.welford_combine, first, second)
    assert np.isnan(out[:, 1]).all() and not np.isfinite(out[:, 0]).any()
    assert out[:, 2].tolist() == [2] * 5


def check_huge_distances_overflow_to_infinity_not_nan():
    out = union(welford.welford_combine, [(1e30, 0, 1)], [(-1e30, 0, 1)])
    assert out[0, 1] == INF and abs(out[0, 0]) < 1e24


def check_unions_along_an_axis():
    """1, 2, 3 as one-element sets, garbage of weight 0 between them; then a lone infinity among empty sets."""
    states = [(1, 0, 1), (NAN, INF, 0), (2, 0, 1), (3, 0, 1)]
    for dtype in FLOATS:
        for axis in (0, 1):
            assert merged(welford.welford, states, dtype=dtype, axis=axis) == [2, 2, 3]
            # The first lane is empty and holds a large mean: 1e30 squared times 0 must not turn into NaN.
            large = [(1e30, 0, 0), (1, 0, 1)]
            assert merged(welford.welford, large, dtype=dtype, axis=axis) == [1, 0, 1]
    mean, m2, weight = merged(welford.welford, [(INF, 0, 1), (0, 0, 0)])
    assert mean == INF and np.isnan(m2) and weight == 1.0
    assert merged(welford.welford, [(5, 9, 0), (7, 9, 0)]) == [0, 0, 0]


def check_rows_against_two_pass_statistics():
    """Tails, rows shorter than a tile, a large offset; mean and variance to a few units in the last place."""
    generator = np.random.default_rng(31)
    for cols in (1, 3, 4, 5, 11):
        for accumulator, dtype in ((tl.float32, np.float32), (tl.float64, np.float64)):
            a = (generator.standard_normal((3, cols)) + 100).astype(dtype)
            exact = a.astype(np.longdouble)
            expected_m2 = ((exact - exact.mean(1, keepdims=True)) ** 2).sum(1)
            unit = float(np.finfo(dtype).eps)
            for peeled in (True, False):
                states = row_states(a, accumulator=accumulator, peeled=peeled)
                np.testing.assert_allclose(states[:, 0], exact.mean(1), rtol=4 * unit)
                np.testing.assert_allclose(states[:, 1], expected_m2, rtol=0, atol=cols * 100 * 4 * unit)
                assert (states[:, 2] == cols).all()


def check_rows_of_short_floats_accumulate_in_fp32():
    """60000 + 60000 overflows fp16, not the accumulator."""
    states = row_states(np.array([[60000, 60000, 60000]], np.float16), accumulator=tl.float32, peeled=False)
    assert_array_equal(states, [[60000, 0, 3]])


def check_mutants_differ_as_stated():
    assert set(MUTANTS) == {"welford_reduce", "welford_combine", "welford"}
    assert set(MUTANTS["welford_reduce"]) == set(STEP_DIFFERENCES)
    for fault, (state, value, first, right, wrong) in STEP_DIFFERENCES.items():
        for helper, expected in ((welford.welford_reduce, right), (MUTANTS["welford_reduce"][fault], wrong)):
            out = step(helper, [value], [state], first=first, literal=False)
            assert_array_equal(out, [expected], err_msg=fault)
    assert set(MUTANTS["welford_combine"]) == set(MUTANTS["welford"]) == set(UNION_DIFFERENCES)
    for fault, (one, two, right, wrong) in UNION_DIFFERENCES.items():
        for helper, expected in ((welford.welford_combine, right), (MUTANTS["welford_combine"][fault], wrong)):
            assert_array_equal(union(helper, [one], [two]), [expected], err_msg=fault)
        for helper, expected in ((welford.welford, right), (MUTANTS["welford"][fault], wrong)):
            assert_array_equal(merged(helper, [one, two], length=2), expected, err_msg=fault)
