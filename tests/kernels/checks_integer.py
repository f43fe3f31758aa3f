"""Interpreter checks of floor division and floor remainder (contract: helpers.md §4)."""

from typing import Any

import numpy as np
import torch
from numpy.testing import assert_array_equal

from tests.kernels.driver_runs import INTEGERS, NUMPY, UNWRITTEN, boundary_integers, pairs, run
from tridiff.kernels.drivers.elementwise import (
    elementwise_binary,
    elementwise_scalar,
    integer_ramp,
    integer_ramp_unspecialised,
)
from tridiff.kernels.helpers.integer import div_floor_integer, remainder_integer
from tridiff.kernels.helpers.mutants_integer import MUTANTS
from tridiff.kernels.helpers.operators import operator_floordiv, operator_mod

TILE = {"ROW_BLOCK": 4, "COL_BLOCK": 16}
FLOOR, REST = "div_floor_integer", "remainder_integer"
HELPERS = {FLOOR: div_floor_integer, REST: remainder_integer}
REFERENCES = {FLOOR: np.floor_divide, REST: np.remainder}

# The operands on which each broken variant differs from its helper: (dtype, a, b, right, wrong).
LEAST = np.iinfo(np.int32).min
DIFFERENCES = {
    (FLOOR, "trunc_for_floor"): ("i32", -7, 2, -4, -3), (FLOOR, "ceil_for_floor"): ("i32", 7, 2, 3, 4),
    (FLOOR, "exact_multiple_decremented"): ("i32", -6, 2, -3, -4),
    (FLOOR, "divisor_sign_ignored"): ("i32", 7, -2, -4, -3),
    (FLOOR, "unsigned_operands"): ("i32", -4, 2, -2, 2**31 - 2),
    (FLOOR, "int_min_saturated"): ("i32", LEAST, 1, LEAST, LEAST + 1),
    (FLOOR, "in_32_bits"): ("i64", 2**32, 1, 2**32, 0), (REST, "trunc_for_floor"): ("i32", -7, 2, 1, -1),
    (REST, "exact_multiple_gives_divisor"): ("i32", 6, -3, 0, -3), (REST, "never_negative"): ("i32", 7, -4, -1, 3),
    (REST, "of_magnitudes"): ("i32", -7, 4, 1, 3), (REST, "through_fp32"): ("i32", 2**31 - 1, 2, 1, -1),
    (REST, "in_32_bits"): ("i64", 2**32, 3, 1, 0)}


def apply(helper: Any, a: Any, b: Any, **tile: int) -> Any:
    """helper(a, b) on whole 2-D arrays through the driver."""
    outputs = {"out": np.full_like(a, UNWRITTEN)}
    return run(elementwise_binary, {"a": a, "b": b}, outputs, HELPER=helper, **{**TILE, **tile})["out"]


def check_all_8_bit_pairs():
    """Every pair of int8 and of uint8, a zero divisor giving 0 like numpy's."""
    for dtype in (np.int8, np.uint8):
        info = np.iinfo(dtype)
        a, b = pairs(np.arange(info.min, info.max + 1).astype(dtype))
        for name, helper in HELPERS.items():
            out = apply(helper, a, b, ROW_BLOCK=256, COL_BLOCK=256)
            assert_array_equal(out, REFERENCES[name](a, b), err_msg=f"{name} {dtype}")


def check_boundaries_of_every_type():
    for dtype in INTEGERS:
        a, b = pairs(boundary_integers(NUMPY[dtype]))
        for name, helper in HELPERS.items():
            assert_array_equal(apply(helper, a, b), REFERENCES[name](a, b), err_msg=f"{name} {dtype}")


def check_quotient_and_remainder_recombine():
    """a == q * b + r modulo 2**width for every non-zero divisor."""
    generator = np.random.default_rng(7)
    for dtype in INTEGERS:
        info = np.iinfo(NUMPY[dtype])
        a, b = generator.integers(info.min, info.max, (2, 8, 33), NUMPY[dtype], endpoint=True)
        b = np.where(generator.random(b.shape) < 0.5, b >> (info.bits - 4), b)
        b[b == 0] = 1
        q, r = apply(div_floor_integer, a, b), apply(remainder_integer, a, b)
        assert_array_equal(q * b + r, a, err_msg=dtype)
        assert ((r == 0) | ((r < 0) == (b < 0))).all(), dtype


def check_scalar_operands_agree_with_blocks():
    """A literal, a run-time scalar and a block of one divisor give the same values and leave the type alone."""
    a = np.ascontiguousarray(np.broadcast_to(boundary_integers(np.int32), (3, 15)))
    for name, helper in HELPERS.items():
        for divisor in (-7, -1, 1, 16):
            expected = REFERENCES[name](a, np.int32(divisor))
            for literal in (None, divisor):
                out = np.full_like(a, UNWRITTEN)
                run(elementwise_scalar, {"a": a}, {"out": out}, b=divisor, B=literal, HELPER=helper,
                    SCALAR_FIRST=False, **TILE)
                assert_array_equal(out, expected, err_msg=f"{name} {divisor} {literal}")


def check_scalar_dividend():
    b = np.ascontiguousarray(boundary_integers(np.int64)[None, :])
    out = np.full_like(b, UNWRITTEN)
    run(elementwise_scalar, {"a": b}, {"out": out}, b=0, B=-7, HELPER=div_floor_integer, SCALAR_FIRST=True, **TILE)
    assert_array_equal(out, np.floor_divide(np.int64(-7), b))


def ramp(driver: Any, helper: Any, dtype: str, *, start: int, divisor: int, form: str) -> Any:
    """helper(k + start, divisor) for k in 0..499, the divisor given in one of four forms."""
    out = np.full(500, UNWRITTEN, NUMPY[dtype])
    loaded = np.full(500, divisor, NUMPY[dtype]) if form == "loaded" else None
    run(
        driver, {"divisor": loaded}, {"out": out}, start=start, divisor=divisor, count=500, HELPER=helper,
        BLOCK=256, DTYPE=INTEGERS[dtype], START=None if form == "run-time start" else start,
        DIVISOR=divisor if form == "literal" else None)
    return out


def check_ramps_in_every_form():
    for dtype in INTEGERS:
        start = -256 if dtype.startswith("i") else 0
        numerator = (np.arange(500) + start).astype(NUMPY[dtype])
        for name, helper in HELPERS.items():
            expected = REFERENCES[name](numerator, NUMPY[dtype](16))
            for form in ("literal", "scalar", "loaded", "run-time start"):
                for driver in (integer_ramp, integer_ramp_unspecialised):
                    out = ramp(driver, helper, dtype, start=start, divisor=16, form=form)
                    assert_array_equal(out, expected, err_msg=f"{name} {dtype} {form}")


def check_bare_operators_truncate():
    numerator = np.arange(500, dtype=np.int32) - 256
    for helper, expected in ((operator_floordiv, np.trunc(numerator / 16)), (operator_mod, np.fmod(numerator, 16))):
        out = ramp(integer_ramp, helper, "i32", start=-256, divisor=16, form="scalar")
        assert_array_equal(out, expected)


def check_strides_and_tails():
    """Negative strides cannot come from torch; transposed, broadcast (stride 0) and sliced operands can."""
    a = torch.arange(-35, 35, dtype=torch.int32).reshape(10, 7).T
    b = torch.tensor([[3], [-3], [5], [-5], [7], [-7], [2]], dtype=torch.int32).expand(7, 10)
    backing = torch.full((7, 20), UNWRITTEN, dtype=torch.int32)
    tile = {"ROW_BLOCK": 4, "COL_BLOCK": 8}
    run(elementwise_binary, {"a": a, "b": b}, {"out": backing[:, ::2]}, HELPER=div_floor_integer, **tile)
    assert_array_equal(backing[:, ::2].numpy(), np.floor_divide(a.numpy(), b.numpy()))
    assert (backing[:, 1::2] == UNWRITTEN).all()


def check_mutants_differ_as_stated():
    assert {(helper, fault) for helper, faults in MUTANTS.items() for fault in faults} == set(DIFFERENCES)
    for (helper, fault), (dtype, a, b, right, wrong) in DIFFERENCES.items():
        left, divisor = np.array([[a]], NUMPY[dtype]), np.array([[b]], NUMPY[dtype])
        assert apply(HELPERS[helper], left, divisor)[0, 0] == right, (helper, fault)
        assert apply(MUTANTS[helper][fault], left, divisor)[0, 0] == wrong, (helper, fault)
