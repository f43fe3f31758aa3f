"""Interpreter checks of device_assert_then (contract: helpers.md §8)."""

from typing import Any

import numpy as np
from triton.runtime.errors import InterpreterError

from tests.kernels.driver_runs import UNWRITTEN, run
from tridiff.fuzz.interpreter import DeviceAssertFailed, Repairs, repaired
from tridiff.kernels.drivers.assertions import assert_then
from tridiff.kernels.helpers.assertions import device_assert_then
from tridiff.kernels.helpers.mutants_assertions import MUTANTS

TILE = {"ROW_BLOCK": 1, "COL_BLOCK": 2}
TRUE, MIXED, FALSE = [[1, 1]], [[1, 0]], [[0, 0]]

# The condition on which each broken variant differs, with assertions enabled or not: right and wrong outcome for r = 5,
# None meaning that the launch fails.
DIFFERENCES: dict[str, tuple[list[list[int]], bool, list[int] | None, list[int] | None]] = {
    "assertion_dropped": (FALSE, True, None, [5, 5]), "condition_inverted": (TRUE, True, [5, 5], None),
    "all_lanes_must_fail": (MIXED, True, None, [5, 5]), "result_off_by_one": (TRUE, True, [5, 5], [6, 6]),
    "result_replaced_where_false": (MIXED, False, [5, 5], [5, 0])}


def passed_through(helper: Any, condition: Any, r: Any, *, enabled: bool, cols: int | None = None) -> Any:
    """What comes back for r, or None if the assertion failed."""
    inputs = {"condition": np.array(condition, np.int8), "a": r}
    values = {"cols": r.shape[1] if cols is None else cols, **TILE}
    try:
        with repaired(Repairs().but(assertions=enabled)):
            return run(assert_then, inputs, {"out": np.full_like(r, UNWRITTEN)}, HELPER=helper, **values)["out"]
    except (DeviceAssertFailed, InterpreterError) as error:
        assert "condition is False" in str(error), error
        return None


def check_values_pass_bit_for_bit():
    for r in (
        np.array([[np.nan, -0.0]], np.float32), np.array([[-1, 2**63 - 1]], np.int64), np.array([[-128, 1]], np.int8)
    ):
        for enabled in (True, False):
            out = passed_through(device_assert_then, TRUE, r, enabled=enabled)
            assert out.tobytes() == r.tobytes()


def check_booleans_pass():
    flags = np.array([[1, 0]], np.int8)
    inputs, outputs = {"condition": np.ones((1, 2), np.int8), "a": flags}, {"out": np.full_like(flags, UNWRITTEN)}
    assert run(assert_then, inputs, outputs, HELPER=device_assert_then, BOOL=True, **TILE)["out"].tolist() == [[1, 0]]


def check_one_false_lane_fails_the_launch():
    assert passed_through(device_assert_then, MIXED, np.array([[5, 5]], np.int32), enabled=True) is None


def check_disabled_assertions_have_no_effect():
    out = passed_through(device_assert_then, FALSE, np.array([[5, 5]], np.int32), enabled=False)
    assert out.tolist() == [[5, 5]]


def check_false_in_masked_lanes_only_passes():
    out = passed_through(device_assert_then, MIXED, np.array([[5, 5]], np.int32), enabled=True, cols=1)
    assert out.tolist() == [[5, UNWRITTEN]]


def check_mutants_differ_as_stated():
    assert set(MUTANTS) == {"device_assert_then"} and set(MUTANTS["device_assert_then"]) == set(DIFFERENCES)
    for fault, (condition, enabled, right, wrong) in DIFFERENCES.items():
        for helper, expected in ((device_assert_then, right), (MUTANTS["device_assert_then"][fault], wrong)):
            out = passed_through(helper, condition, np.array([[5, 5]], np.int32), enabled=enabled)
            assert (None if out is None else out[0].tolist()) == expected, (fault, out)
