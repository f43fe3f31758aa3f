"""The two sources of every pointwise operation, held against each other, and what is missing named."""

import numpy as np
import pytest
import torch

from tridiff.kernels.pointwise.table import HELPERS, OPS, Signature, result_dtype
from tridiff.oracles.arrays import Array, array_of_bits, to_numpy, to_torch
from tridiff.oracles.by_exact import functions as by_exact
from tridiff.oracles.by_numpy import pointwise as by_numpy
from tridiff.oracles.by_torch import conversions, pointwise as by_torch
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import bits_dtype, dtype, numpy_dtype
from tridiff.oracles.pointwise import meaning, row_of, rule_of
from tridiff.oracles.rules import ULP
from tridiff.oracles.special_values import special_bits

# fp64 has no second source beyond fp64 here; Bessel functions have none in torch (test_pinned_values_and_accuracy).
TO_MPMATH = {"numpy": {("erf", "fp64"), ("erfc", "fp64"), ("lgamma", "fp64"), ("erfinv", "fp64"), ("erfcx", "fp64"),
                       *((f"{kind}{n}", "fp64") for kind in "ijy" for n in "01")},
             "torch": {*((f"{kind}{n}", name) for kind in "jy" for n in "01"
                         for name in ("bf16", "fp16", "fp32", "fp64")), ("fma", "fp64")}}
ALL_OPS = {**OPS, **HELPERS}


ONE_STEP = ULP(1, origin="two float64 references rounded to the result's type")


def trusted(op: str, signature: Signature, arrays: list[Array]) -> torch.Tensor:
    """Where float64 libraries are a reference at all: everywhere but next to the roots of lgamma."""
    if op != "lgamma":
        return torch.ones(arrays[0].shape, dtype=torch.bool)
    with np.errstate(all="ignore"):
        x = arrays[0].astype(np.float64)
    return torch.from_numpy(~((x > -24) & (x < 0)))


def by_numpy_rounded(x: torch.Tensor, name: str) -> torch.Tensor:
    return conversions.convert(x, to=name) if name != "fp64" else x


def operands(signature: Signature) -> list[Array]:
    """Special values crossed with each other, then random patterns."""
    generator = np.random.default_rng(5)
    special = [array_of_bits(special_bits(name), name) for name in signature]
    if len(signature) == 3:
        special = [values[generator.permutation(len(values))[:14]] for values in special]
    grids = [grid.reshape(-1) for grid in np.meshgrid(*special, indexing="ij")]
    found = []
    for name, grid in zip(signature, grids, strict=True):
        if name == "i1":
            noise = generator.integers(0, 2, 300).astype(np.bool_)
        else:
            width = dtype(name).storage_bits // 8
            noise = np.frombuffer(generator.bytes(300 * width), bits_dtype(name)).view(numpy_dtype(name))
        found.append(np.concatenate([grid, noise]))
    return found


@pytest.mark.parametrize("op", sorted(ALL_OPS))
def test_every_operation_has_a_rule_and_two_sources_that_agree(op: str):
    missing = []
    for signature in ALL_OPS[op].signatures:
        result = result_dtype(op, signature)
        rule = rule_of(op, signature, result)
        arrays = operands(signature)
        tensors = [to_torch(x) for x in arrays]
        if any((meaning(op), signature[0]) in without for without in TO_MPMATH.values()):
            if row_of(op, signature[0]) not in by_exact.FUNCTIONS:
                missing.append((op, signature))
            continue
        defined = by_torch.defined(op, *tensors)
        assert (to_numpy(defined) == by_numpy.defined(op, *arrays)).all(), (op, signature)
        first, second = to_torch(by_numpy.evaluate(op, *arrays)), by_torch.evaluate(op, *tensors)
        wanted = result if rule.kind in ("BIT", "NUM", "NUM0", "SET") else "fp64"
        assert first.dtype == second.dtype == to_torch(np.zeros(0, numpy_dtype(wanted))).dtype, (op, signature)
        if wanted != result:
            # Two float64 references: rounded to the result's type they must be one step apart at most.
            first, second = by_numpy_rounded(first, result), by_numpy_rounded(second, result)
            bad = (compare(first, second, ONE_STEP).mismatch & defined & trusted(op, signature, arrays)).numpy()
        elif rule.kind == "SET":
            apart = compare(second[0], first, rule).mismatch & compare(first[0], second, rule).mismatch
            bad = (apart & defined).numpy()
        else:
            bad = (compare(second, first, rule).mismatch & defined).numpy()
        assert not bad.any(), (op, signature, int(bad.sum()), [x[bad][:4] for x in arrays],
                               first[..., bad][..., :4], second[..., bad][..., :4])
    assert not missing, f"no oracle at all for {missing}"
