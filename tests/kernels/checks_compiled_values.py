"""What compiled helpers compute, by executing their sm_90 PTX on the CPU; run by test_compiled_values.py."""

from typing import Any

import numpy as np
import triton
from numpy.testing import assert_array_equal
from torch._inductor.runtime import triton_helpers as inductor

from tests.kernels.driver_runs import (
    INTEGERS,
    NUMPY,
    UNWRITTEN,
    boundary_floats,
    boundary_integers,
    compile_ahead,
    pairs,
)
from tests.kernels.ptx_execution import launch
from tridiff.kernels.drivers.elementwise import (
    elementwise_binary,
    elementwise_pair_with_index,
    elementwise_unary,
    integer_ramp,
)
from tridiff.kernels.drivers.frexp import frexp as frexp_driver
from tridiff.kernels.drivers.ramp_gather import ramp_gather
from tridiff.kernels.drivers.record import Driver
from tridiff.kernels.drivers.welford import welford_pairs
from tridiff.kernels.helpers import extrema
from tridiff.kernels.helpers.bits import frexp
from tridiff.kernels.helpers.integer import div_floor_integer, remainder_integer
from tridiff.kernels.helpers.operators import operator_floordiv, operator_mod, operator_negate
from tridiff.kernels.helpers.welford import nan_unless_finite, welford_combine

THREADS = 128  # of the default four warps
HELPERS = {div_floor_integer: np.floor_divide, remainder_integer: np.remainder}
EXTREMA = {extrema.minimum: np.minimum, extrema.maximum: np.maximum}
TILE = {"ROW_BLOCK": 1, "COL_BLOCK": 256}


def ramp(helper: Any, dtype: str, *, start: int, divisor: int, form: str) -> Any:
    """helper(k + start, divisor) for k < 512 as compiled. form: how the divisor, or else the start, is known."""
    constexprs = {"HELPER": helper, "BLOCK": 512, "DTYPE": INTEGERS[dtype], "FAULT": ""}
    constexprs |= {"START": start, "DIVISOR": None}
    if form == "run-time start":
        constexprs["START"] = None
    if form == "literal":
        constexprs["DIVISOR"] = divisor
    if form != "loaded":
        constexprs["divisor_ptr"] = None
    compiled = compile_ahead(integer_ramp, dtype, hinted=form != "unhinted", constexprs=constexprs)
    out = np.full(512, UNWRITTEN, NUMPY[dtype])
    loaded = [np.full(512, divisor, NUMPY[dtype])] if form == "loaded" else []
    launch(compiled.asm["ptx"], [out, *loaded, start % 2**32, divisor % 2**32, 512], threads=THREADS)
    return out


def rows_of_256(*arrays: Any) -> list[Any]:
    """The arrays as one row each, padded to 256 elements with ones."""
    return [np.pad(array.reshape(-1), (0, 256 - array.size), constant_values=1)[None, :] for array in arrays]


def elementwise(driver: Driver, dtype: str, operands: list[Any], outputs: list[Any], **values: Any) -> None:
    """Compiles the driver for (1, 256) arrays and runs it; pointers in the order of the driver's arrays."""
    pointers = values.pop("pointers", {})
    compiled = compile_ahead(driver, dtype, hinted=False, pointers=pointers, constexprs={**TILE, **values, "FAULT": ""})
    arguments: list[Any] = []
    for array in (*operands, *outputs):
        arguments += [array, 256, 1]
    launch(compiled.asm["ptx"], [*arguments, 1, 256], threads=THREADS)


def binary(helper: Any, dtype: str, a: Any, b: Any, *, boolean: bool = False) -> Any:
    left, right = rows_of_256(a, b)
    out = np.full_like(left, UNWRITTEN)
    elementwise(elementwise_binary, dtype, [left, right], [out], HELPER=helper, BOOL=boolean)
    return out[0, : a.size]


def check_floor_helpers_on_contiguous_runs():
    """The shape of Triton issue 7749: no lane may take over its neighbour's quotient."""
    for dtype in INTEGERS:
        start = -256 if dtype.startswith("i") else 0
        numerator = (np.arange(512) + start).astype(NUMPY[dtype])
        forms = ("literal", "hinted", "run-time start", "unhinted", "loaded") if dtype == "i32" else ("literal",)
        for form in forms:
            for helper, reference in HELPERS.items():
                out = ramp(helper, dtype, start=start, divisor=16, form=form)
                assert_array_equal(out, reference(numerator, NUMPY[dtype](16)), err_msg=f"{dtype} {form}")


def check_the_miscompile_is_visible_here():
    """The control: bare `//`, and a correction on top of it, come out wrong below zero in the versions known for it."""
    if tuple(map(int, triton.__version__.split(".")[:2])) > (3, 9):
        return
    numerator = np.arange(512, dtype=np.int32) - 256
    bare = ramp(operator_floordiv, "i32", start=-256, divisor=16, form="literal")
    assert bare[:4].tolist() == [-16, -16, -16, -16] != np.trunc(numerator / 16)[:4].astype(int).tolist()
    corrected = ramp(inductor.div_floor_integer, "i32", start=-256, divisor=16, form="literal")
    assert corrected[:4].tolist() == [-16, -17, -17, -17] != (numerator // 16)[:4].tolist()
    rest = ramp(operator_mod, "i32", start=-256, divisor=16, form="literal")
    assert_array_equal(rest, np.fmod(numerator, 16))


def gathered(helper: Any, *, start: int, divisor: int) -> Any:
    """table[64 + helper(k + start, divisor)] for k < 512 as compiled, where table[n] is n - 64."""
    constexprs = {"HELPER": helper, "BLOCK": 512, "START": start, "DIVISOR": divisor, "FAULT": ""}
    compiled = compile_ahead(ramp_gather, "i32", constexprs=constexprs)
    table, out = np.arange(160, dtype=np.int32) - 64, np.full(512, UNWRITTEN, np.int32)
    launch(compiled.asm["ptx"], [table, out, 0, 0, 512, 64], threads=THREADS)
    return out


def check_floor_helpers_as_addresses():
    """No load may be merged with its neighbours' on the strength of a contiguity that is not there."""
    for start in (-256, -250):
        numerator = np.arange(512, dtype=np.int32) + start
        for divisor in (16, -16, 8):
            for helper, reference in HELPERS.items():
                out = gathered(helper, start=start, divisor=divisor)
                expected = reference(numerator, np.int32(divisor))
                assert_array_equal(out, expected, err_msg=f"{start} {divisor}")


def check_the_merged_load_is_visible_here():
    """The control: a bare `%` below zero as an address, in the versions known for it."""
    if tuple(map(int, triton.__version__.split(".")[:2])) > (3, 9):
        return
    assert gathered(operator_mod, start=-256, divisor=16)[:4].tolist() == [0, 1, 2, 3]
    assert np.fmod(np.arange(4) - 256, 16).tolist() == [0, -15, -14, -13]


def check_floor_helpers_at_the_boundaries_of_every_type():
    """INT_MIN // -1 among them, and zero divisors, of which none may reach the division."""
    for dtype in INTEGERS:
        a, b = pairs(boundary_integers(NUMPY[dtype]))
        for helper, reference in HELPERS.items():
            assert_array_equal(binary(helper, dtype, a, b), reference(a, b).ravel(), err_msg=dtype)


def check_extrema_of_floats():
    for dtype in ("fp16", "fp32", "fp64"):
        a, b = pairs(boundary_floats(NUMPY[dtype]))
        for helper, reference in EXTREMA.items():
            assert_array_equal(binary(helper, dtype, a, b), reference(a, b).ravel(), err_msg=dtype)


def check_negation_of_signed_zeros():
    """`-x` changes the sign of +0.0 since Triton's pull request 10270; 3.6.0 subtracts from zero."""
    for dtype in ("fp32", "fp64"):
        (row,) = rows_of_256(np.array([0, -0.0, 1.5, -np.inf, 1e-40], NUMPY[dtype]))
        out = np.full_like(row, UNWRITTEN)
        elementwise(elementwise_unary, dtype, [row], [out], HELPER=operator_negate, BOOL=False)
        assert_array_equal(out, -row)
        subtracts = triton.__version__.startswith("3.6.")
        assert np.signbit(out[0, :5]).tolist() == [not subtracts, False, True, False, True]


def check_extrema_of_bf16():
    """Through the 16-bit patterns, which numpy can hold: the upper halves of the fp32 numbers."""
    numbers = np.array([np.nan, np.inf, -np.inf, 0, 1e-40, -1e-40, 1, -1, 2], np.float32)
    patterns = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    numbers = (patterns.astype(np.uint32) << 16).view(np.float32)
    a, b = pairs(patterns)
    for helper, reference in EXTREMA.items():
        result = (binary(helper, "bf16", a, b).astype(np.uint32) << 16).view(np.float32)
        assert_array_equal(result, reference(*pairs(numbers)).ravel())


def check_extrema_of_booleans_and_unsigned():
    for dtype, boolean in (("i8", True), ("u8", False), ("u64", False)):
        values = np.array([0, 1], np.int8) if boolean else boundary_integers(NUMPY[dtype])
        a, b = pairs(values)
        out = binary(extrema.minimum, dtype, a, b, boolean=boolean)
        assert_array_equal(out, np.minimum(a, b).ravel(), err_msg=dtype)


def check_extrema_with_index():
    """NaN in either place or both, ties with the index either way."""
    a, b = pairs(boundary_floats(np.float32))
    left, right = rows_of_256(a, b)
    index = np.arange(256, dtype=np.int64)[None, :]
    other = np.where(index % 2 == 0, index + 1, index - 1)
    is_int64 = {"a_index": "i64", "b_index": "i64", "out_index": "i64"}
    for helper, wins in ((extrema.minimum_with_index, np.less), (extrema.maximum_with_index, np.greater)):
        out, out_index = np.full_like(left, UNWRITTEN), np.full_like(index, UNWRITTEN)
        elementwise(
            elementwise_pair_with_index, "fp32", [left, index, right, other], [out, out_index],
            HELPER=helper, BOOL=False, pointers=is_int64)
        both_nan = np.isnan(left) & np.isnan(right)
        tie = (left == right) | both_nan
        left_wins = wins(left, right) | (np.isnan(left) & ~both_nan) | (tie & (index < other))
        left_wins &= ~(np.isnan(right) & ~np.isnan(left))
        assert_array_equal(out_index, np.where(left_wins, index, other))
        assert_array_equal(out, np.where(left_wins, left, right))


@triton.jit
def _finiteness_of_product(a, b):
    return nan_unless_finite(a * b)


@triton.jit
def _rounding_of_product(a, b):
    x = a * b
    return x - x


def check_a_product_that_is_rounded_is_finite():
    a, b = (np.array(row, np.float32) for row in ([3.00396, 1 + 2**-23, 2.0, 1e38, np.inf, np.nan], [
        -2.5360500e-07, 1 + 2**-22, 4.0, 1e38, 1.0, 1.0]))
    assert binary(_rounding_of_product, "fp32", a, b)[1] != 0, "the difference is not fused with the product here"
    assert_array_equal(binary(_finiteness_of_product, "fp32", a, b), np.float32([0, 0, 0, np.nan, np.nan, np.nan]))


def check_welford_combine_special_values():
    """Empty partners stay neutral and infinities give NaN once the optimiser has been at the selections."""
    nan, inf = np.nan, np.inf
    cases = [  # state 1, state 2, union
        ((1, 2, 3), (inf, nan, 0), (1, 2, 3)),
        ((nan, inf, 0), (-0.0, 2, 3), (-0.0, 2, 3)),
        ((1e30, 5, 0), (1, 0, 1), (1, 0, 1)),
        ((7, 7, 0), (nan, 7, 0), (0, 0, 0)),
        ((inf, 0, 1), (inf, 0, 1), (nan, nan, 2)),
        ((1, 0, 1), (inf, 0, 1), (inf, nan, 2)),
        ((0, 0, 1), (4, 0, 3), (3, 12, 4)),
    ]
    for dtype in ("fp32", "fp64"):
        columns = np.array(cases, NUMPY[dtype]).reshape(len(cases), 9).T
        operands = rows_of_256(*columns[:6])
        outputs = [np.full_like(operands[0], UNWRITTEN) for _ in range(3)]
        elementwise(welford_pairs, dtype, operands, outputs, HELPER=welford_combine)
        for out, expected in zip(outputs, columns[6:], strict=True):
            assert_array_equal(out[0, : len(cases)], expected, err_msg=dtype)
            assert_array_equal(np.signbit(out[0, :4]), np.signbit(expected[:4]))


def check_frexp():
    """Subnormals and the sign of -0.0 included: nothing is left to floating-point arithmetic that might flush."""
    for dtype, least in (("fp32", -149), ("fp64", -1074)):
        kind = NUMPY[dtype]
        powers = np.ldexp(kind(1), np.arange(least, least + 100)).astype(kind)
        (x,) = rows_of_256(np.concatenate([powers, -powers * kind(1.5), boundary_floats(kind)]))
        mantissa, exponent = np.full_like(x, UNWRITTEN), np.full(x.shape, UNWRITTEN, np.int32)
        elementwise(frexp_driver, dtype, [x], [mantissa, exponent], HELPER=frexp, pointers={"exponent": "i32"})
        expected_mantissa, expected_exponent = np.frexp(x)
        assert_array_equal(mantissa, expected_mantissa)
        assert_array_equal(np.signbit(mantissa), np.signbit(expected_mantissa))
        assert_array_equal(exponent, expected_exponent)
