"""Arrays written as expressions come back bit for bit."""

import base64
import zlib

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from tridiff.fuzz.repro import literals
from tridiff.oracles import arrays
from tridiff.oracles.bits import to_bits
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info, torch_dtype
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize
SHAPES = ((), (1,), (5,), (2, 3), (17,), (3, 7), (2, 1, 3))


@st.composite
def tensors(draw: st.DrawFn) -> tuple[str, torch.Tensor]:
    """An array of any type: random bits, special values, ramps and constants."""
    dtype = draw(st.sampled_from(NAMES))
    info, shape = dtype_info(dtype), draw(st.sampled_from(SHAPES))
    count = int(np.prod(shape))
    top = 1 << info.bits
    kind = draw(st.integers(0, 3))
    if kind == 0:
        found = draw(st.lists(st.integers(0, top - 1), min_size=count, max_size=count))
    elif kind == 1:
        found = draw(st.lists(st.sampled_from(special_bits(dtype)), min_size=count, max_size=count))
    elif kind == 2:
        start, step = draw(st.integers(0, top - 1)), draw(st.integers(-3, 3))
        found = [(start + step * k) % top for k in range(count)]
    else:
        found = [draw(st.sampled_from(special_bits(dtype)))] * count
    flat = arrays.tensor_of_bits([one % top for one in found], dtype)
    return dtype, flat.reshape(shape)


def run(expression: str) -> torch.Tensor:
    return eval(expression, {"torch": torch, "np": np, "base64": base64, "zlib": zlib})


@given(tensors())
def test_torch_expressions_rebuild_the_bits(drawn: tuple[str, torch.Tensor]):
    dtype, values = drawn
    expression = literals.torch_expression(values, dtype) + literals.view(dtype)
    found = run(expression)
    own = torch.int8 if dtype == "i1" else torch_dtype(dtype)
    assert (found.dtype, tuple(found.shape)) == (own, tuple(values.shape))
    wanted = values.view(torch.int8) if dtype == "i1" else values
    assert literals.patterns(found) == literals.patterns(wanted), expression


@each("dtype", NAMES)
def test_many_small_numbers_come_back(dtype: str):
    values = (torch.arange(99) ** 3 % 101 % 9).to(torch_dtype(dtype))
    found = run(literals.torch_expression(values, dtype) + literals.view(dtype))
    assert found.double().tolist() == values.double().tolist()


@each("values, shortest", [(torch.arange(1 << 16) ** 3 % 65521, False), (torch.arange(1 << 16) * 3, True),
                           (torch.zeros(1 << 16, dtype=torch.int64), True)])
def test_of_very_many_values_no_list_is_written(monkeypatch: pytest.MonkeyPatch, values: torch.Tensor, shortest: bool):
    def refuse(*_: object) -> str:
        raise AssertionError("listed")

    monkeypatch.setattr(literals, "_nested", refuse)
    text = literals.torch_expression(values, "i64")
    assert run(text).tolist() == values.tolist() and (len(text) < literals.READABLE) == shortest


@given(tensors())
def test_numpy_expressions_equal_what_is_fetched(drawn: tuple[str, torch.Tensor]):
    """Expected values against an output that holds exactly them: equal, signs of zero included, NaNs as NaNs."""
    dtype, values = drawn
    out = values.view(torch.int8) if dtype == "i1" else values
    actual = eval(literals.fetch("out", dtype), {"out": out})
    expected = eval(literals.numpy_expression(values, dtype), {"np": np, "base64": base64, "zlib": zlib})
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f")
    if actual.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        assert np.array_equal(np.signbit(actual[numbers]), np.signbit(expected[numbers]))


@each("values, expression", [
    (torch.arange(-8, 24), "torch.arange(-8, 24, 1, dtype=torch.int64)"),
    (torch.arange(40, 0, -2).reshape(4, 5), "torch.arange(40, 1, -2, dtype=torch.int64).reshape(4, 5)"),
    (torch.full((3, 9), 4), "torch.full((3, 9), 4, dtype=torch.int64)"),
    (torch.tensor([[1, -2]]), "torch.tensor([[1, -2]], dtype=torch.int64)"),
])
def test_ramps_and_constants_are_said_shortly(values: torch.Tensor, expression: str):
    assert literals.torch_expression(values, "i64") == expression


def test_payloads_of_nans_are_kept():
    values = arrays.tensor_of_bits([0x7FC00001, 0xFFC00000, 0x80000000], "fp32")
    assert literals.torch_expression(values, "fp32") == (
        "torch.tensor([2143289345, -4194304, -2147483648], dtype=torch.int32).view(torch.float32)")
    plain = arrays.tensor_of_bits([0x7FC00000, 0x80000000, 0x7F800000], "fp32")
    assert literals.torch_expression(plain, "fp32") == "torch.tensor([np.nan, -0.0, np.inf], dtype=torch.float32)"
    assert to_bits(run(literals.torch_expression(plain, "fp32"))).tolist() == to_bits(plain).tolist()
