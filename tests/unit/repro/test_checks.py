"""What scripts compare is what the oracles decide, element by element."""

import numpy as np
import pytest
import torch

from tests.unit.repro.findings import output
from tridiff.fuzz.content.place import Buffer, place
from tridiff.fuzz.repro import literals
from tridiff.fuzz.repro.checks import Expected, check
from tridiff.fuzz.repro.intervals import accepted
from tridiff.oracles import bits
from tridiff.oracles.compare import compare
from tridiff.oracles.rules import ABS, BIT, NUM, NUM0, REL, SUM, ULP, Rule

each = pytest.mark.parametrize
NEAR = (0.0, -0.0, 1.0, 2.0, -4.0, 0.1, 1e-3, float("inf"), float("-inf"), float("nan"), 1e-46, 3.0e38, -65519.0)
TYPES = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
         "fp8e5": torch.float8_e5m2}
ULPS = ULP(2.3, origin="a test")
BOUNDED = SUM("sum_bound", origin="a test")


def _neighbours(values: torch.Tensor, step: int) -> torch.Tensor:
    """The numbers `step` places away in the order of the type; infinities stay."""
    pattern = bits.to_bits(values).to(torch.int64)
    width = 8 * values.element_size()
    place_of = torch.where(pattern < 0, -(pattern & ((1 << (width - 1)) - 1)), pattern) + step
    largest = bits.to_bits(torch.tensor([float("inf")]).to(values.dtype)).to(torch.int64).item()
    place_of = place_of.clamp(-largest, largest)
    moved = torch.where(place_of < 0, -place_of + -(1 << (width - 1)), place_of)
    return moved.to(bits.to_bits(values).dtype).view(values.dtype)


@each("dtype", TYPES)
@each("rule", [ULPS, REL(0.5, origin="a test"), ABS(1e-4, origin="a test"), BOUNDED])
def test_intervals_accept_what_the_oracles_accept(dtype: str, rule: Rule):
    """Below a power of two, at zeros, subnormal numbers and the edge of overflow; rounded and unrounded references."""
    wide = torch.tensor(NEAR, dtype=torch.float64)
    bound = torch.full_like(wide, 1e-3) if rule.kind == "SUM" else None
    for wanted in (wide, wide.to(TYPES[dtype])):
        low, high = accepted([wanted], rule, dtype, bound=bound)
        for step in range(-6, 7):
            number = _neighbours(wide.to(TYPES[dtype]), step)
            good = ~compare(number, wanted, rule, bound=bound).mismatch
            x, expected = number.double(), wanted.double()
            inside = (low.double() <= x) & (x <= high.double())
            inside &= ~((x == 0) & (expected == 0) & (torch.signbit(x) != torch.signbit(expected)))
            # Where the rule accepts no number of the type at all, the rounded reference stands for it.
            some = ~torch.isnan(expected) & ~torch.isnan(x) & ~(low.double() == high.double())
            assert torch.equal(good[some], inside[some]), (step, number[some][good[some] != inside[some]])


def _verdict(actual: torch.Tensor, one: Expected, dtype: str) -> bool:
    """What the statements of a script say about an output."""
    buffer = place(output("out", dtype, dims=("n",)), {"n": actual.numel()}, device=torch.device("cpu"))
    buffers: dict[str, Buffer] = {"out": buffer}
    statements, _, condition = check("out", one, buffers)
    scope: dict[str, object] = {"np": np, "torch": torch, "out": actual}
    exec("\n".join(statements), scope)
    return bool(eval(condition, scope))


def _expected(values: torch.Tensor, rule: Rule, dtype: str, bound: torch.Tensor | None = None) -> Expected:
    tolerant = rule.kind in ("ULP", "ABS", "REL", "SUM")
    return Expected(values, rule, None, "a test", accepted([values], rule, dtype, bound=bound) if tolerant else None)


def test_a_zero_of_the_wrong_sign_is_seen_under_every_rule_that_has_signs():
    """np.isclose(0.0, -0.0) is true: a script for a lost sign could never print BUG."""
    minus, plus = torch.tensor([-0.0]), torch.tensor([0.0])
    exactly = torch.full((1,), -7.0e-46, dtype=torch.float64)  # a negative bound: the value is certain, its sign too
    for one in (_expected(minus.double(), BOUNDED, "fp32", exactly), _expected(minus, NUM, "fp32"),
                _expected(minus, ULPS, "fp32"), _expected(minus, BIT, "fp32")):
        assert _verdict(minus, one, "fp32") and not _verdict(plus, one, "fp32"), one.rule
    assert _verdict(plus, _expected(minus, NUM0, "fp32"), "fp32")


def test_the_step_below_a_power_of_two_is_half_the_step_above():
    """A relative tolerance of k ulp accepts 2k of them just below a power of two."""
    one = _expected(torch.tensor([1.0]), ULP(2, origin="a test"), "fp32")
    for steps in range(-6, 7):
        assert _verdict(_neighbours(torch.tensor([1.0]), steps), one, "fp32") == (abs(steps) <= 2)


def test_a_nan_keeps_its_payload_where_bits_are_asked_for():
    wanted = torch.tensor([0x7FC00001], dtype=torch.int32).view(torch.float32)
    other = torch.tensor([0x7FC00002], dtype=torch.int32).view(torch.float32)
    assert _verdict(wanted, _expected(wanted, BIT, "fp32"), "fp32")
    assert not _verdict(other, _expected(wanted, BIT, "fp32"), "fp32")
    assert _verdict(other, _expected(wanted, NUM, "fp32"), "fp32")
    assert not _verdict(torch.tensor([1.0]), _expected(wanted, NUM, "fp32"), "fp32")


@each("dtype", ["fp64", "fp16", "bf16", "fp8e5", "i8", "i64", "u8"])
def test_long_literals_are_packed_and_give_the_same_bits(dtype: str):
    import base64
    import zlib

    random = torch.randint(-128, 127, (3, 200), generator=torch.Generator().manual_seed(1), dtype=torch.int8)
    kind = literals.torch_dtype(dtype)
    for values in (random.to(kind), (random % 5).to(kind)):
        text = literals.torch_expression(values, dtype)
        assert len(text) < 6000
        found = eval(text, {"torch": torch, "np": np, "base64": base64, "zlib": zlib})
        assert torch.equal(bits.to_bits(found.view(kind)), bits.to_bits(values))
        array = eval(literals.numpy_expression(values, dtype), {"np": np, "base64": base64, "zlib": zlib})
        assert array.shape == (3, 200) and np.array_equal(array, values.double().numpy())
