"""Both references of directed rounding, against values that follow from IEEE 754 by hand, and against the processor."""

import math

import numpy as np
import pytest
import torch

from tridiff.oracles.by_exact import rounding as exact
from tridiff.oracles.by_torch import rounding as by_mpmath

each = pytest.mark.parametrize

TINY, TOP = 2.0**-149, float(np.finfo(np.float32).max)
_INF = math.inf


def both(op: str, mode: str, *values: float, to: str = "fp32") -> tuple[float, float]:
    arrays = [np.array([one], dtype=np.float32 if to == "fp32" else np.float64) for one in values]
    first = exact.rounded(op, mode, to, *arrays)
    second = by_mpmath.rounded(op, mode, to, *map(torch.from_numpy, arrays))
    return float(first[0]), float(second[0])


@each("op, values, down, up", [
    ("add", (1.0, 2.0**-30), 1.0, 1 + 2.0**-23), ("sub", (1.0, 2.0**-30), 1 - 2.0**-24, 1.0),
    ("mul", (TINY, 0.5), 0.0, TINY), ("mul", (-TINY, 0.5), -TINY, -0.0), ("div", (1.0, 3.0), 11184810 / 2**25,
                                                                         11184811 / 2**25),
    ("add", (TOP, TOP), TOP, _INF), ("mul", (-TOP, 2.0), -_INF, -TOP), ("sqrt", (2.0,), 11863283 / 2**23,
                                                                       11863284 / 2**23),
    ("fma", (1 + 2.0**-12, 1 + 2.0**-12, -1.0), 2.0**-11 + 2.0**-24, 2.0**-11 + 2.0**-24),
    ("add", (1.5, -1.5), -0.0, 0.0), ("rcp", (-0.0,), -_INF, -_INF), ("div", (0.0, 0.0), math.nan, math.nan),
])
def test_directions(op: str, values: tuple[float, ...], down: float, up: float):
    for mode, expected in (("rd", down), ("ru", up)):
        for found in both(op, mode, *values):
            np.testing.assert_array_equal(found, expected)
            assert math.isnan(expected) or math.copysign(1, found) == math.copysign(1, expected)
    towards_zero = down if down > 0 or (down == 0 and up > 0) or op == "div" else up
    for found in both(op, "rz", *values):
        np.testing.assert_array_equal(found, towards_zero)


def test_nearest_is_what_the_processor_does():
    bits = np.random.default_rng(5).integers(0, 2**32, (2, 300), dtype=np.uint64).astype(np.uint32)
    a, b = bits.view(np.float32)
    with np.errstate(all="ignore"):
        natives = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b, "sqrt": np.sqrt(a)}
    for op, native in natives.items():
        given = (a, b)[: 1 if op == "sqrt" else 2]
        np.testing.assert_array_equal(exact.rounded(op, "rn", "fp32", *given), native)
        np.testing.assert_array_equal(by_mpmath.rounded(op, "rn", "fp32", *map(torch.from_numpy, given)), native)


@each("value, mode, to, whole", [
    (2.5, "rn", "i32", 2), (-2.5, "rn", "i32", -2), (2.5, "ru", "i32", 3), (-0.5, "rd", "i32", -1),
    (-0.5, "rz", "u32", 0),
    (3e9, "rn", "i32", 2**31 - 1), (-1.0, "rn", "u32", 0), (1e30, "rz", "u64", 2**64 - 1), (-_INF, "ru", "i64", -2**63),
])
def test_whole_numbers_are_rounded_and_held_within_the_range(value: float, mode: str, to: str, whole: int):
    x = np.array([value], dtype=np.float64)
    assert int(exact.whole(mode, to, x)[0]) == int(by_mpmath.whole(mode, to, torch.from_numpy(x)).numpy()[0]) == whole


def test_nan_becomes_what_cvt_makes_of_it():
    for source, to, word in ((np.float32, "i32", 0), (np.float32, "i64", -2**63), (np.float64, "i32", -2**31),
                             (np.float64, "u32", 2**31)):
        x = np.array([math.nan], dtype=source)
        second = by_mpmath.whole("rn", to, torch.from_numpy(x)).numpy()
        assert int(exact.whole("rn", to, x)[0]) == int(second[0]) == word
