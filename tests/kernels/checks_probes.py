"""Interpreter checks of the type probes (contract: helpers.md §3)."""

from typing import Any

import numpy as np
import torch

from tests.kernels.driver_runs import INTEGERS, UNWRITTEN, run
from tridiff.kernels.drivers.probes import classify, promote
from tridiff.kernels.helpers.mutants_probes import MUTANTS
from tridiff.kernels.helpers.probes import is_floating, promote_to_tensor
from tridiff.oracles.dtypes import dtype as kind, torch_dtype

FLOATS = ("fp64", "fp32", "fp16", "bf16", "fp8e4nv", "fp8e5")

# Type, scalar or block, and what helper and broken variant say: (same dtype, rank, width).
PROMOTE_DIFFERENCES: dict[str, tuple[str, bool, tuple[int, int, int], tuple[int, int, int]]] = {
    "bf16_widened": ("bf16", False, (1, 2, 16), (0, 2, 32)), "bool_widened": ("i1", False, (1, 2, 1), (0, 2, 32)),
    "rank_kept": ("fp32", True, (1, 1, 32), (1, 0, 32)),
    "narrow_integers_widened": ("i16", False, (1, 2, 16), (0, 2, 32))}
CLASSIFY_DIFFERENCES: dict[str, tuple[str, int, int]] = {
    "fp8_forgotten": ("fp8e5", 1, 0), "bf16_forgotten": ("bf16", 1, 0), "fp64_forgotten": ("fp64", 1, 0),
    "bool_counted": ("i1", 0, 1), "inverted": ("i32", 0, 1)}


def operand(dtype: str, *, scalar: bool) -> torch.Tensor:
    """-0.0 and 1 as the dtype (0 and 1 where there is no -0.0), shape (1, 2), or (1, 1) for a scalar."""
    values = torch.tensor([[-0.0, 1.0]], dtype=torch.float32).to(torch_dtype("i8" if dtype == "i1" else dtype))
    return values[:, :1].contiguous() if scalar else values


def promoted(helper: Any, dtype: str, *, scalar: bool) -> tuple[bytes, tuple[int, int, int]]:
    """The bytes that come back, and (same dtype, rank, width) of the result."""
    a = operand(dtype, scalar=scalar)
    out = torch.full(a.shape, UNWRITTEN).to(a.dtype)
    facts = np.full((3, 1), UNWRITTEN, np.int32)
    values = {"ROW_BLOCK": 1, "COL_BLOCK": 2, "BOOL": dtype == "i1"}
    run(promote, {"a": a}, {"out": out, "facts": facts}, HELPER=helper, SCALAR=scalar, **values)
    same, rank, width = facts[:, 0].tolist()
    return out.view(torch.uint8).numpy().tobytes(), (same, rank, width)


def classified(helper: Any, dtype: str, *, scalar: bool = False) -> int:
    out = np.full((1, 1), UNWRITTEN, np.int8)
    a = operand(dtype, scalar=scalar)
    values = {"ROW_BLOCK": 1, "COL_BLOCK": 2, "BOOL": dtype == "i1"}
    return int(run(classify, {"a": a}, {"out": out}, HELPER=helper, SCALAR=scalar, **values)["out"][0, 0])


def check_promotion_keeps_bits_and_dtype():
    for dtype in ("i1", *INTEGERS, *FLOATS):
        for scalar, rank in ((False, 2), (True, 1)):
            content, facts = promoted(promote_to_tensor, dtype, scalar=scalar)
            assert content == operand(dtype, scalar=scalar).view(torch.uint8).numpy().tobytes(), dtype
            assert facts == (1, rank, kind(dtype).bits), (dtype, facts)


def check_floats_are_floating_and_nothing_else_is():
    for scalar in (False, True):
        assert {dtype for dtype in FLOATS if classified(is_floating, dtype, scalar=scalar)} == set(FLOATS)
        assert not [dtype for dtype in ("i1", *INTEGERS) if classified(is_floating, dtype, scalar=scalar)]


def check_mutants_differ_as_stated():
    assert set(MUTANTS["promote_to_tensor"]) == {*PROMOTE_DIFFERENCES, "minus_zero_lost"}
    for fault, (dtype, scalar, right, wrong) in PROMOTE_DIFFERENCES.items():
        assert promoted(promote_to_tensor, dtype, scalar=scalar)[1] == right, fault
        assert promoted(MUTANTS["promote_to_tensor"][fault], dtype, scalar=scalar)[1] == wrong, fault
    minus_zero = np.array([-0.0, 1], np.float32)
    assert promoted(promote_to_tensor, "fp32", scalar=False)[0] == minus_zero.tobytes()
    lost = MUTANTS["promote_to_tensor"]["minus_zero_lost"]
    assert promoted(lost, "fp32", scalar=False)[0] == np.abs(minus_zero).tobytes()
    assert set(MUTANTS["is_floating"]) == set(CLASSIFY_DIFFERENCES)
    for fault, (dtype, is_one, says_one) in CLASSIFY_DIFFERENCES.items():
        assert classified(is_floating, dtype) == is_one, fault
        assert classified(MUTANTS["is_floating"][fault], dtype) == says_one, fault
