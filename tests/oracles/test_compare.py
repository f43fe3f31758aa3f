"""Every comparison class catches the fault it exists for, at the smallest size, and leaves a clean control
alone.
"""

import math
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor, tensor, zeros

from tests.oracles.agreement import refused
from tests.oracles.grids import random_patterns
from tridiff.oracles import exact
from tridiff.oracles.arrays import tensor_of_bits, to_torch
from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.compare import compare, same, ulp_at
from tridiff.oracles.dtypes import DTYPES, FP8, NAMES, dtype, name_of_torch
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import ABS, BIT, META, NUM, NUM0, REL, SET, SUM, ULP, Rule
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize
FLOAT_NAMES = [d.name for d in DTYPES if d.is_float]
EXACT_RULES = (BIT, NUM, NUM0)
EVERY_RULE = (*EXACT_RULES, ULP(2, origin="test"), ABS(0.0, origin="test"), REL(0.0, origin="test"))


def clean_rows(name: str, count: int = 4096) -> Tensor:
    """Finite nonzero values of a type, many of them."""
    x = to_torch(random_patterns(name, (count,), seed=3))
    if not dtype(name).is_float:
        return x
    # Clear the top exponent bit: everything is finite; set the lowest exponent bit: nothing is zero or
    # subnormal.
    kind = dtype(name)
    keep = ~(1 << (kind.bits - 2)) if kind.bits < 64 else ~(1 << 62)
    return from_bits(to_bits(x) & keep | (1 << kind.mantissa_bits), name)


def f64(values: list[float]) -> Tensor:
    return tensor(values, dtype=torch.float64)


def counts(*arguments: Any, **options: Any) -> dict[str, int]:
    return compare(*arguments, **options).counts()


def clean(*arguments: Any, **options: Any) -> bool:
    return compare(*arguments, **options).clean


def plant(x: Tensor, position: int, pattern: int) -> Tensor:
    """A copy with one unsigned bit pattern planted."""
    faulty = x.clone()
    one = tensor_of_bits([pattern], name_of_torch(x.dtype))
    to_bits(faulty)[position : position + 1] = to_bits(one)
    return faulty


@each("rule", EVERY_RULE, ids=str)
@each("name", NAMES)
def test_a_clean_control_stays_clean(name: str, rule: Rule):
    specials = tensor_of_bits(special_bits(name), name)
    result = compare(specials, specials.clone(), rule)
    assert result.clean and result.counts() == {} and not result.mismatch.any()
    assert result.mismatch.shape == specials.shape


@each("rule", EXACT_RULES, ids=str)
@each("name", NAMES)
@each("count", (8, 4096))
def test_one_wrong_bit_is_caught(name: str, rule: Rule, count: int):
    expected = clean_rows(name, count)
    pattern = int(to_bits(expected)[5]) & ((1 << dtype(name).bits) - 1)
    result = compare(plant(expected, 5, pattern ^ 1), expected, rule)
    assert result.counts() == {"value": 1}
    assert result.mismatch.nonzero().tolist() == [[5]]


@each("name", FLOAT_NAMES)
@each("count", (8, 4096))
def test_each_special_fault_gets_its_class(name: str, count: int):
    kind = dtype(name)
    nan, sign = exact.quiet_nan(name), 1 << (kind.bits - 1)
    base = clean_rows(name, count)
    with_zero, with_nan = plant(base, 6, 0), plant(base, 6, nan)
    ulp = ULP(4, origin="test")
    wide = ABS(1e300, origin="test")
    for rule in (*EXACT_RULES, ulp, wide):
        assert counts(with_nan, base, rule) == {"nan_unexpected": 1}
        assert counts(base, with_nan, rule) == {"nan_missing": 1}
        moved = plant(base, 7, nan)
        assert counts(moved, with_nan, rule) == {"nan_missing": 1, "nan_unexpected": 1}
    for rule in (BIT, NUM, ulp, wide):
        assert counts(plant(base, 6, sign), with_zero, rule) == {"zero_sign": 1}
    assert clean(plant(base, 6, sign), with_zero, NUM0)
    assert counts(plant(base, 6, nan | sign), with_nan, BIT) == {"nan_payload": 1}
    for rule in (NUM, NUM0, ulp, wide):
        assert clean(plant(base, 6, nan | sign), with_nan, rule)
    if kind.has_inf:
        with_inf = plant(base, 6, kind.infinity_bits)
        largest = plant(base, 6, kind.infinity_bits - 1)
        # No reference of fp64 is wider than it: infinity is one step from the largest number.
        for rule in (*EXACT_RULES, wide) if name == "fp64" else (*EXACT_RULES, ulp, wide):
            assert counts(with_inf, largest, rule) == {"inf": 1}
            assert counts(largest, with_inf, rule) == {"inf": 1}
            assert counts(plant(base, 6, kind.infinity_bits | sign), with_inf, rule) == {"inf": 1}


@each("name", FLOAT_NAMES)
@each("k", (0, 1, 4))
def test_ulp_limit_is_sharp_for_rounded_references(name: str, k: int):
    rule = ULP(k, origin="test")
    # A step across a binade, a step across zero and one inside the subnormals all count alike.
    starts = [1 << dtype(name).mantissa_bits, (dtype(name).bias << dtype(name).mantissa_bits) - 1, 1]
    expected = tensor_of_bits(starts, name)
    inside, outside = (tensor_of_bits([s + k for s in starts], name), tensor_of_bits([s + k + 1 for s in starts], name))
    assert clean(inside, expected, rule) and clean(expected, inside, rule)
    assert counts(outside, expected, rule) == {"value": 3}
    assert counts(expected, outside, rule) == {"value": 3}


@each("name", [n for n in FLOAT_NAMES if n != "fp64"])
def test_ulp_at_is_the_spacing_of_the_type(name: str):
    kind = dtype(name)
    candidates = range(1 << 16) if kind.bits <= 16 else special_bits(name)
    patterns = [p for p in candidates if p < kind.infinity_bits - 1][:: 1 if kind.bits <= 8 else 37]
    spacing = [float(exact.to_fraction(name, p + 1) - exact.to_fraction(name, p)) for p in patterns]
    values = f64([float(exact.to_fraction(name, p)) for p in patterns])
    assert ulp_at(values, kind).tolist() == spacing


def test_ulp_at_for_float64_reaches_its_own_subnormals():
    values = f64([0.0, 5e-324, 2.0**-1022, 2.0**-970, 1.0, math.inf])
    assert ulp_at(values, dtype("fp64")).tolist() == [
        math.ulp(0.0), math.ulp(0.0), math.ulp(2.0**-1022), math.ulp(2.0**-970), math.ulp(1.0), math.ulp(1.7e308)]


@each("name", ("bf16", "fp16", "fp32"))
@given(data=st.data())
@settings(max_examples=60)
def test_ulp_against_an_unrounded_reference_equals_exact_arithmetic(name: str, data: st.DataObject):
    kind = dtype(name)
    k = data.draw(st.sampled_from((0.0, 1.0, 2.5)))
    reference = data.draw(st.floats(-float(kind.max) / 4, float(kind.max) / 4, allow_nan=False))
    centre = exact.round_fraction(name, Fraction(reference))
    pattern = max(0, (centre & ~(1 << (kind.bits - 1))) + data.draw(st.integers(-4, 4))) | (
        centre & 1 << (kind.bits - 1))
    value = exact.to_fraction(name, pattern)
    spacing = Fraction(float(ulp_at(f64([reference]), kind)[0]))
    allowed = (Fraction(k) + Fraction(1, 2)) * spacing
    error = abs(value - Fraction(reference))
    if value == 0 or abs(error - allowed) < allowed / 2**40:
        return  # signed zeros have their own test; float64 cannot place an error this close to its limit
    result = compare(tensor_of_bits([pattern], name), f64([reference]), ULP(k, origin="test"))
    assert result.clean == (error <= allowed)


def test_overflow_near_the_threshold_is_judged_by_distance():
    rule = ULP(2, origin="test")
    largest = float(torch.finfo(torch.float32).max)
    step = 2.0**104
    inf, top = tensor([math.inf]), tensor([largest])

    def reference(steps: float) -> Tensor:
        return f64([largest + steps * step])

    assert clean(inf, reference(-1), rule)  # two ulps and a half reach over the threshold
    assert counts(inf, reference(-3), rule) == {"inf": 1}
    assert clean(top, reference(1), rule)
    assert counts(top, reference(3), rule) == {"inf": 1}
    assert counts(-inf, reference(1), rule) == {"inf": 1}
    assert counts(top, f64([math.inf]), rule) == {"inf": 1}


@pytest.mark.parametrize("below, known", [(0, True), (1, True), (2, False)])
def test_infinity_is_one_step_beyond_the_largest_number_of_a_rounded_reference(below: int, known: bool):
    """A library function within 2 ulp may overflow next to the largest fp64; an infinite result is still infinite."""
    largest = torch.tensor([torch.finfo(torch.float64).max], dtype=torch.float64)
    for _ in range(below):
        largest = torch.nextafter(largest, torch.zeros(1, dtype=torch.float64))
    inf, rule = torch.tensor([math.inf], dtype=torch.float64), ULP(2, origin="test")
    assert clean(inf, largest, rule) == known and not clean(-inf, largest, rule)
    assert not clean(largest, inf, rule)



def test_growing_tolerance_follows_the_input():
    rule = ULP(3, plus_per_abs_x=0.4, origin="oracles.md §3")
    expected = torch.ones(2)
    off_by_eight = 1 + 8 * 2.0**-23
    actual = tensor([off_by_eight, off_by_eight])
    x = tensor([1.0, -40.0])
    assert compare(actual, expected, rule, x=x).mismatch.tolist() == [True, False]
    assert compare(actual, expected.double(), rule, x=x).mismatch.tolist() == [True, False]
    refused("pass x=", compare, actual, expected, rule)


def test_flush_to_zero_accepts_only_zero_of_the_right_sign():
    tiny = tensor([1e-39, -1e-39, 1e-39, 2e-38])
    flushed = tensor([0, -0.0, -0.0, 0])
    rule = ULP(1, origin="test")
    assert compare(flushed, tiny, rule).mismatch.tolist() == [True] * 4
    assert compare(flushed, tiny, rule, inputs_flush_to_zero=True).mismatch.tolist() == [False, False, True, True]
    result = compare(flushed, tiny.double(), rule, inputs_flush_to_zero=True)
    assert result.mismatch.tolist() == [False, False, True, True]


def test_absolute_and_relative_limits_are_sharp():
    expected = f64([100, -100])
    actual = tensor([100.5, -100.5])
    assert clean(actual, expected, ABS(0.5, origin="t"))
    assert counts(actual, expected, ABS(0.4999, origin="t")) == {"value": 2}
    assert clean(actual, expected, REL(0.005, origin="t"))
    assert counts(actual, expected, REL(0.00499, origin="t")) == {"value": 2}
    integers = tensor([100]), tensor([103])
    assert clean(*integers, ABS(3, origin="t"))
    assert counts(*integers, ABS(2, origin="t")) == {"value": 1}
    assert counts(*integers, REL(0.02, origin="t")) == {"value": 1}


def test_sum_bound_is_per_element_and_infinity_leaves_a_lane_open():
    rule = SUM("sum_bound", origin="oracles.md §4")
    expected = zeros(4, dtype=torch.float64) + 1.0
    actual = tensor([1.001, 1.001, math.nan, math.inf])
    bound = f64([2e-3, 5e-4, math.inf, 1])
    result = compare(actual, expected, rule, bound=bound)
    assert result.mismatch.tolist() == [False, True, False, True]
    assert result.counts() == {"value": 1, "inf": 1}
    refused("SUM needs bound", compare, actual, expected, rule)
    refused("SUM needs bound", compare, actual, expected, NUM, bound=bound)


def test_sets_accept_any_candidate_and_nothing_else():
    candidates = torch.stack([tensor([1, 2, math.nan]), tensor([5, 6, math.inf])])
    assert clean(tensor([5, 2, math.inf]), candidates, SET(NUM))
    assert clean(tensor([1, 6, math.nan]), candidates, SET(NUM))
    result = compare(tensor([2, 2, -math.inf]), candidates, SET(NUM))
    assert result.mismatch.tolist() == [True, False, True]
    assert counts(zeros(2), candidates, SET(NUM)) == {"shape": 3}
    refused("at least one candidate", compare, zeros(2), zeros(0, 2), SET(NUM))


def test_shape_and_dtype_faults_are_whole():
    for rule in (BIT, META):
        assert counts(zeros(3), zeros(4), rule) == {"shape": 4}
        assert counts(zeros(3), zeros(3, dtype=torch.int32), rule) == {"dtype": 3}
        assert counts(zeros(0), zeros(0, 1), rule) == {"shape": 1}
    assert clean(zeros(3), torch.ones(3), META)
    assert counts(zeros(3), zeros(3, dtype=torch.float64), NUM) == {"dtype": 3}
    # A tolerance rule takes a wider reference, never a narrower or merely different one.
    assert counts(zeros(3), zeros(3).half(), ULP(1, origin="t")) == {"dtype": 3}
    assert counts(zeros(3).bfloat16(), zeros(3).half(), ULP(1, origin="t")) == {"dtype": 3}


def test_strided_broadcast_and_scalar_tensors():
    base = torch.arange(12.0).reshape(3, 4)
    assert clean(base.T, base.T.contiguous(), BIT)
    assert clean(torch.ones(1).expand(5), torch.ones(5), BIT)
    assert counts(tensor(1.0), tensor(2.0), NUM) == {"value": 1}
    assert counts(base[:, ::2], base[:, 1::2], NUM) == {"value": 6}


@each("name", FP8)
def test_every_fp8_pair_is_classified_like_exact(name: str):
    every = tensor_of_bits(range(256), name)
    for shift in (1, 128):
        other = from_bits(to_bits(every).roll(shift), name)
        result = compare(every, other, NUM)
        for p, wrong in enumerate(result.mismatch.tolist()):
            q = (p - shift) % 256
            equal = p == q or (exact.is_nan(name, p) and exact.is_nan(name, q))
            assert wrong == (not equal), (p, q)


def test_sparse_and_dense_paths_give_one_answer():
    expected = clean_rows("fp32", 1 << 12)
    many = expected.clone()
    generator = torch.Generator().manual_seed(0)
    hit = torch.rand(1 << 12, generator=generator) < 0.5
    many[hit] = many[hit] * (1 + 2.0**-20)
    dense = compare(many, expected, ULP(2, origin="t"))
    for start in range(0, 1 << 12, 256):
        few = expected.clone()
        few[start : start + 32] = many[start : start + 32]
        sparse = compare(few, expected, ULP(2, origin="t"))
        assert sparse.mismatch[start : start + 32].tolist() == dense.mismatch[start : start + 32].tolist()


@each("fields", (
    {"kind": "ULP", "k": 1.0}, {"kind": "XOR"}, {"kind": "ULP", "k": math.nan, "origin": "o"},
    {"kind": "SET", "origin": "o"}, {"kind": "SET", "member": META}))
def test_broken_rules_are_refused(fields: dict[str, Any]):
    with pytest.raises(OracleError):
        Rule(**fields)


def test_a_tolerance_without_a_source_is_refused():
    for kind in ("ULP", "ABS", "REL", "SUM"):
        with pytest.raises(OracleError, match="origin"):
            Rule(kind, k=1.0, bound="b" if kind == "SUM" else "")


def test_device_misuse_names_the_fix():
    refused("move one", compare, zeros(1), zeros(1, device="meta"), NUM)


def test_same_is_sign_sensitive_by_default():
    assert not same(tensor([0.0]), tensor([-0.0]))
    assert same(tensor([0.0]), tensor([-0.0]), NUM0)
