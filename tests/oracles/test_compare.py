"""Every comparison class catches the fault it exists for, at the smallest size, and leaves a clean control
alone.
"""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import exact
from oracles.arrays import tensor_of_bits, to_torch
from oracles.bits import from_bits, to_bits
from oracles.compare import compare, same, ulp_at
from oracles.dtypes import DTYPES, FP8, NAMES, dtype, name_of_torch
from oracles.errors import OracleError
from oracles.rules import ABS, BIT, META, NUM, NUM0, REL, SET, STAT, SUM, ULP, Rule
from oracles.special_values import special_bits
from tests.oracles.agreement import refused
from tests.oracles.grids import random_patterns

FLOAT_NAMES = [d.name for d in DTYPES if d.is_float]
EXACT_RULES = (BIT, NUM, NUM0)
EVERY_RULE = (*EXACT_RULES, ULP(2, origin="test"), ABS(0.0, origin="test"), REL(0.0, origin="test"))


def clean_rows(name: str, count: int = 4096) -> torch.Tensor:
    """Finite nonzero values of a type, many of them."""
    tensor = to_torch(random_patterns(name, (count,), seed=3))
    if not dtype(name).is_float:
        return tensor
    # Clear the top exponent bit: everything is finite; set the lowest exponent bit: nothing is zero or
    # subnormal.
    kind = dtype(name)
    keep = ~(1 << (kind.bits - 2)) if kind.bits < 64 else ~(1 << 62)
    return from_bits(to_bits(tensor) & keep | (1 << kind.mantissa_bits), name)


def plant(tensor: torch.Tensor, position: int, pattern: int) -> torch.Tensor:
    """A copy with one unsigned bit pattern planted."""
    faulty = tensor.clone()
    one = tensor_of_bits([pattern], name_of_torch(tensor.dtype))
    to_bits(faulty)[position : position + 1] = to_bits(one)
    return faulty


@pytest.mark.parametrize("rule", EVERY_RULE, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_a_clean_control_stays_clean(name: str, rule: Rule) -> None:
    specials = tensor_of_bits(special_bits(name), name)
    result = compare(specials, specials.clone(), rule)
    assert result.clean and result.counts() == {} and not result.mismatch.any()
    assert result.mismatch.shape == specials.shape


@pytest.mark.parametrize("rule", EXACT_RULES, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", (8, 4096))
def test_one_wrong_bit_is_caught(name: str, rule: Rule, count: int) -> None:
    expected = clean_rows(name, count)
    pattern = int(to_bits(expected)[5]) & ((1 << dtype(name).bits) - 1)
    result = compare(plant(expected, 5, pattern ^ 1), expected, rule)
    assert result.counts() == {"value": 1}
    assert result.mismatch.nonzero().tolist() == [[5]]


@pytest.mark.parametrize("name", FLOAT_NAMES)
@pytest.mark.parametrize("count", (8, 4096))
def test_each_special_fault_gets_its_class(name: str, count: int) -> None:
    kind = dtype(name)
    nan, sign = exact.quiet_nan(name), 1 << (kind.bits - 1)
    base = clean_rows(name, count)
    with_zero, with_nan = plant(base, 6, 0), plant(base, 6, nan)
    ulp = ULP(4, origin="test")
    wide = ABS(1e300, origin="test")
    for rule in (*EXACT_RULES, ulp, wide):
        assert compare(with_nan, base, rule).counts() == {"nan_unexpected": 1}
        assert compare(base, with_nan, rule).counts() == {"nan_missing": 1}
        moved = plant(base, 7, nan)
        assert compare(moved, with_nan, rule).counts() == {"nan_missing": 1, "nan_unexpected": 1}
    for rule in (BIT, NUM, ulp, wide):
        assert compare(plant(base, 6, sign), with_zero, rule).counts() == {"zero_sign": 1}
    assert compare(plant(base, 6, sign), with_zero, NUM0).clean
    assert compare(plant(base, 6, nan | sign), with_nan, BIT).counts() == {"nan_payload": 1}
    for rule in (NUM, NUM0, ulp, wide):
        assert compare(plant(base, 6, nan | sign), with_nan, rule).clean
    if kind.has_inf:
        with_inf = plant(base, 6, kind.infinity_bits)
        largest = plant(base, 6, kind.infinity_bits - 1)
        for rule in (*EXACT_RULES, ulp, wide):
            assert compare(with_inf, largest, rule).counts() == {"inf": 1}
            assert compare(largest, with_inf, rule).counts() == {"inf": 1}
            assert compare(plant(base, 6, kind.infinity_bits | sign), with_inf, rule).counts() == {"inf": 1}


@pytest.mark.parametrize("name", FLOAT_NAMES)
@pytest.mark.parametrize("k", (0, 1, 4))
def test_ulp_limit_is_sharp_for_rounded_references(name: str, k: int) -> None:
    rule = ULP(k, origin="test")
    # A step across a binade, a step across zero and one inside the subnormals all count alike.
    starts = [1 << dtype(name).mantissa_bits, (dtype(name).bias << dtype(name).mantissa_bits) - 1, 1]
    expected = tensor_of_bits(starts, name)
    inside, outside = (tensor_of_bits([s + k for s in starts], name), tensor_of_bits([s + k + 1 for s in starts], name))
    assert compare(inside, expected, rule).clean and compare(expected, inside, rule).clean
    assert compare(outside, expected, rule).counts() == {"value": 3}
    assert compare(expected, outside, rule).counts() == {"value": 3}


@pytest.mark.parametrize("name", [n for n in FLOAT_NAMES if n != "fp64"])
def test_ulp_at_is_the_spacing_of_the_type(name: str) -> None:
    kind = dtype(name)
    candidates = range(1 << 16) if kind.bits <= 16 else special_bits(name)
    patterns = [p for p in candidates if p < kind.infinity_bits - 1][:: 1 if kind.bits <= 8 else 37]
    spacing = [float(exact.to_fraction(name, p + 1) - exact.to_fraction(name, p)) for p in patterns]
    values = torch.tensor([float(exact.to_fraction(name, p)) for p in patterns], dtype=torch.float64)
    assert ulp_at(values, kind).tolist() == spacing


def test_ulp_at_for_float64_reaches_its_own_subnormals() -> None:
    values = torch.tensor([0.0, 5e-324, 2.0**-1022, 2.0**-970, 1.0, math.inf], dtype=torch.float64)
    assert ulp_at(values, dtype("fp64")).tolist() == [
        math.ulp(0.0), math.ulp(0.0), math.ulp(2.0**-1022), math.ulp(2.0**-970), math.ulp(1.0), math.ulp(1.7e308),
    ]


@pytest.mark.parametrize("name", ("bf16", "fp16", "fp32"))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_ulp_against_an_unrounded_reference_equals_exact_arithmetic(name: str, data: st.DataObject) -> None:
    kind = dtype(name)
    k = data.draw(st.sampled_from((0.0, 1.0, 2.5)))
    reference = data.draw(st.floats(-float(kind.max) / 4, float(kind.max) / 4, allow_nan=False))
    centre = exact.round_fraction(name, Fraction(reference))
    pattern = max(0, (centre & ~(1 << (kind.bits - 1))) + data.draw(st.integers(-4, 4))) | (
        centre & 1 << (kind.bits - 1)
    )
    value = exact.to_fraction(name, pattern)
    spacing = Fraction(float(ulp_at(torch.tensor([reference], dtype=torch.float64), kind)[0]))
    allowed = (Fraction(k) + Fraction(1, 2)) * spacing
    error = abs(value - Fraction(reference))
    if value == 0 or abs(error - allowed) < allowed / 2**40:
        return  # signed zeros have their own test; float64 cannot place an error this close to its limit
    result = compare(
        tensor_of_bits([pattern], name), torch.tensor([reference], dtype=torch.float64), ULP(k, origin="test")
    )
    assert result.clean == (error <= allowed)


def test_overflow_near_the_threshold_is_judged_by_distance() -> None:
    rule = ULP(2, origin="test")
    largest = float(torch.finfo(torch.float32).max)
    step = 2.0**104
    inf, top = torch.tensor([math.inf]), torch.tensor([largest])

    def reference(steps: float) -> torch.Tensor:
        return torch.tensor([largest + steps * step], dtype=torch.float64)

    assert compare(inf, reference(-1), rule).clean  # two ulps and a half reach over the threshold
    assert compare(inf, reference(-3), rule).counts() == {"inf": 1}
    assert compare(top, reference(1), rule).clean
    assert compare(top, reference(3), rule).counts() == {"inf": 1}
    assert compare(-inf, reference(1), rule).counts() == {"inf": 1}
    assert compare(top, torch.tensor([math.inf], dtype=torch.float64), rule).counts() == {"inf": 1}


def test_growing_tolerance_follows_the_input() -> None:
    rule = ULP(3, plus_per_abs_x=0.4, origin="oracles.md §3")
    expected = torch.ones(2)
    off_by_eight = 1 + 8 * 2.0**-23
    actual = torch.tensor([off_by_eight, off_by_eight])
    x = torch.tensor([1.0, -40.0])
    assert compare(actual, expected, rule, x=x).mismatch.tolist() == [True, False]
    assert compare(actual, expected.double(), rule, x=x).mismatch.tolist() == [True, False]
    refused("pass x=", compare, actual, expected, rule)


def test_flush_to_zero_accepts_only_zero_of_the_right_sign() -> None:
    tiny = torch.tensor([1e-39, -1e-39, 1e-39, 2e-38])
    flushed = torch.tensor([0.0, -0.0, -0.0, 0.0])
    rule = ULP(1, origin="test")
    assert compare(flushed, tiny, rule).mismatch.tolist() == [True] * 4
    assert compare(flushed, tiny, rule, inputs_flush_to_zero=True).mismatch.tolist() == [False, False, True, True]
    result = compare(flushed, tiny.double(), rule, inputs_flush_to_zero=True)
    assert result.mismatch.tolist() == [False, False, True, True]


def test_absolute_and_relative_limits_are_sharp() -> None:
    expected = torch.tensor([100.0, -100.0], dtype=torch.float64)
    actual = torch.tensor([100.5, -100.5])
    assert compare(actual, expected, ABS(0.5, origin="t")).clean
    assert compare(actual, expected, ABS(0.4999, origin="t")).counts() == {"value": 2}
    assert compare(actual, expected, REL(0.005, origin="t")).clean
    assert compare(actual, expected, REL(0.00499, origin="t")).counts() == {"value": 2}
    integers = torch.tensor([100]), torch.tensor([103])
    assert compare(*integers, ABS(3, origin="t")).clean
    assert compare(*integers, ABS(2, origin="t")).counts() == {"value": 1}
    assert compare(*integers, REL(0.02, origin="t")).counts() == {"value": 1}


def test_sum_bound_is_per_element_and_infinity_leaves_a_lane_open() -> None:
    rule = SUM("sum_bound", origin="oracles.md §4")
    expected = torch.zeros(4, dtype=torch.float64) + 1.0
    actual = torch.tensor([1.001, 1.001, math.nan, math.inf])
    bound = torch.tensor([2e-3, 5e-4, math.inf, 1.0], dtype=torch.float64)
    result = compare(actual, expected, rule, bound=bound)
    assert result.mismatch.tolist() == [False, True, False, True]
    assert result.counts() == {"value": 1, "inf": 1}
    refused("SUM needs bound", compare, actual, expected, rule)
    refused("SUM needs bound", compare, actual, expected, NUM, bound=bound)


def test_sets_accept_any_candidate_and_nothing_else() -> None:
    candidates = torch.stack([torch.tensor([1.0, 2.0, math.nan]), torch.tensor([5.0, 6.0, math.inf])])
    assert compare(torch.tensor([5.0, 2.0, math.inf]), candidates, SET(NUM)).clean
    assert compare(torch.tensor([1.0, 6.0, math.nan]), candidates, SET(NUM)).clean
    result = compare(torch.tensor([2.0, 2.0, -math.inf]), candidates, SET(NUM))
    assert result.mismatch.tolist() == [True, False, True]
    assert compare(torch.zeros(2), candidates, SET(NUM)).counts() == {"shape": 3}
    refused("at least one candidate", compare, torch.zeros(2), torch.zeros(0, 2), SET(NUM))


def test_shape_and_dtype_faults_are_whole() -> None:
    for rule in (BIT, META):
        assert compare(torch.zeros(3), torch.zeros(4), rule).counts() == {"shape": 4}
        assert compare(torch.zeros(3), torch.zeros(3, dtype=torch.int32), rule).counts() == {"dtype": 3}
        assert compare(torch.zeros(0), torch.zeros(0, 1), rule).counts() == {"shape": 1}
    assert compare(torch.zeros(3), torch.ones(3), META).clean
    assert compare(torch.zeros(3), torch.zeros(3, dtype=torch.float64), NUM).counts() == {"dtype": 3}
    # A tolerance rule takes a wider reference, never a narrower or merely different one.
    assert compare(torch.zeros(3), torch.zeros(3).half(), ULP(1, origin="t")).counts() == {"dtype": 3}
    assert compare(torch.zeros(3).bfloat16(), torch.zeros(3).half(), ULP(1, origin="t")).counts() == {"dtype": 3}


def test_strided_broadcast_and_scalar_tensors() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    assert compare(base.T, base.T.contiguous(), BIT).clean
    assert compare(torch.ones(1).expand(5), torch.ones(5), BIT).clean
    assert compare(torch.tensor(1.0), torch.tensor(2.0), NUM).counts() == {"value": 1}
    assert compare(base[:, ::2], base[:, 1::2], NUM).counts() == {"value": 6}


@pytest.mark.parametrize("name", FP8)
def test_every_fp8_pair_is_classified_like_exact(name: str) -> None:
    every = tensor_of_bits(range(256), name)
    for shift in (1, 128):
        other = from_bits(to_bits(every).roll(shift), name)
        result = compare(every, other, NUM)
        for p, wrong in enumerate(result.mismatch.tolist()):
            q = (p - shift) % 256
            equal = p == q or (exact.is_nan(name, p) and exact.is_nan(name, q))
            assert wrong == (not equal), (p, q)


def test_sparse_and_dense_paths_give_one_answer() -> None:
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


@pytest.mark.parametrize(
    "rule",
    (
        BIT, NUM0, ULP(3, plus_per_abs_x=0.4, origin="o"), ABS(1e-3, origin="o"), SUM("sum_bound", origin="o"),
        SET(ULP(2, origin="o"), origin="p"), STAT(origin="o"),
    ),
)
def test_rules_survive_json(rule: Rule) -> None:
    assert Rule.from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    "text",
    (
        "", "[]", '{"kind": "ULP", "k": 1}', '{"kind": "XOR"}', '{"kind": "BIT", "extra": 1}',
        '{"kind": "ULP", "k": "2", "origin": "o"}', '{"kind": "ULP", "k": NaN, "origin": "o"}',
        '{"kind": "SET", "origin": "o"}', '{"kind": "SET", "member": {"kind": "META"}}',
    ),
)
def test_broken_rules_are_refused(text: str) -> None:
    with pytest.raises(OracleError):
        Rule.from_json(text)


def test_a_tolerance_without_a_source_is_refused() -> None:
    for kind in ("ULP", "ABS", "REL", "SUM", "STAT"):
        with pytest.raises(OracleError, match="origin"):
            Rule(kind, k=1.0, bound="b" if kind == "SUM" else "")  # type: ignore[arg-type]


def test_stat_and_device_misuse_name_the_fix() -> None:
    refused(r"oracles\.statistics", compare, torch.zeros(1), torch.zeros(1), STAT(origin="o"))
    refused("move one", compare, torch.zeros(1), torch.zeros(1, device="meta"), NUM)


def test_same_is_sign_sensitive_by_default() -> None:
    assert not same(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert same(torch.tensor([0.0]), torch.tensor([-0.0]), NUM0)
