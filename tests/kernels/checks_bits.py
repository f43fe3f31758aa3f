"""Interpreter checks of frexp (contract: helpers.md §12)."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import INF, NAN, NUMPY, UNWRITTEN, boundary_floats, run
from tridiff.kernels.drivers.frexp import frexp as frexp_driver
from tridiff.kernels.helpers.bits import frexp
from tridiff.kernels.helpers.mutants_bits import MUTANTS

# The fp32 number on which each broken variant differs: (x, right (m, e), wrong (m, e)); -0.0 is told from 0.0.
LEAST = 2.0**-149
DIFFERENCES: dict[str, tuple[float, tuple[float, int], tuple[float, int]]] = {
    "minus_zero_lost": (-0.0, (-0.0, 0), (0, 0)), "subnormal_flushed": (LEAST, (0.5, -148), (LEAST, 0)),
    "mantissa_from_one": (1, (0.5, 1), (1, 0)), "powers_of_two_up": (1, (0.5, 1), (1, 0)),
    "exponent_of_infinity": (INF, (INF, 0), (INF, 129)), "sign_lost": (-1, (-0.5, 1), (0.5, 1))}


def taken_apart(helper: Any, x: Any) -> tuple[Any, Any]:
    outputs = {"mantissa": np.full_like(x, UNWRITTEN), "exponent": np.full(x.shape, UNWRITTEN, np.int32)}
    result = run(frexp_driver, {"a": x}, outputs, HELPER=helper, ROW_BLOCK=1, COL_BLOCK=1024)
    return result["mantissa"], result["exponent"]


def bits(x: Any) -> Any:
    return x.view(np.int32 if x.dtype == np.float32 else np.int64)


def check_every_exponent_against_numpy():
    """Every power of two of the type and its neighbours, subnormal ones included, with both signs."""
    for dtype, exponents in ((np.float32, np.arange(-149, 128)), (np.float64, np.arange(-1074, 1024))):
        powers = np.ldexp(dtype(1), exponents).astype(dtype)
        x = np.stack([powers, -powers, np.nextafter(powers, dtype(INF)), np.nextafter(powers, dtype(0))])
        mantissa, exponent = taken_apart(frexp, x)
        expected_mantissa, expected_exponent = np.frexp(x)
        assert_array_equal(bits(mantissa), bits(expected_mantissa))
        assert_array_equal(exponent, expected_exponent)


def check_special_values_come_back_unchanged():
    """Signs of zeros and payloads of NaNs included; the exponent is 0."""
    for dtype in (np.float32, np.float64):
        x = np.array([[0.0, -0.0, INF, -INF, NAN, -NAN]], dtype)
        bits(x)[0, 4] |= 0x1234
        mantissa, exponent = taken_apart(frexp, x)
        assert_array_equal(bits(mantissa), bits(x))
        assert exponent.tolist() == [[0] * 6]


def check_random_bit_patterns_round_trip():
    generator = np.random.default_rng(41)
    for dtype, words in ((np.float32, np.uint32), (np.float64, np.uint64)):
        x = generator.integers(0, np.iinfo(words).max, (2, 1000), words, endpoint=True).view(dtype)
        x[0, :13] = boundary_floats(dtype)
        mantissa, exponent = taken_apart(frexp, x)
        assert_array_equal(np.ldexp(mantissa, exponent), x)
        ordinary = np.isfinite(x) & (x != 0)
        assert ((np.abs(mantissa[ordinary]) >= 0.5) & (np.abs(mantissa[ordinary]) < 1)).all()
        assert (exponent[~ordinary] == 0).all()


def check_mutants_differ_as_stated():
    assert set(MUTANTS) == {"frexp"} and set(MUTANTS["frexp"]) == set(DIFFERENCES)
    for fault, (x, right, wrong) in DIFFERENCES.items():
        operand = np.array([[x]], NUMPY["fp32"])
        for helper, (m, e) in ((frexp, right), (MUTANTS["frexp"][fault], wrong)):
            mantissa, exponent = taken_apart(helper, operand)
            assert_array_equal(bits(mantissa), bits(np.array([[m]], np.float32)), err_msg=fault)
            assert exponent.tolist() == [[e]], fault
