"""How far an output of a program may lie from its reference: as far as its bound, and not further."""

import math
from fractions import Fraction

import pytest
import torch

from tests.unit.graphs.graphs import X, constant, load, op, store, vector
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import ArraySpec, Base, Case, Constant, Content, Explicit, Finite, Verdict
from tridiff.kernels.codegen.graph import Node

each = pytest.mark.parametrize
LENGTH = 256
FINITE = Finite(seed=5, low=-9, high=9)


def _signed_by_nan(dtype: str, target: str = "codegen.pointwise", base: Base = FINITE) -> Case:
    """out0 = copysign(in0, NaN): either sign is right."""
    graph = vector(load("in0"), constant("nan", dtype), op("copysign", 0, 1), store("out0", X, 2), length=LENGTH,
                   in0=dtype, out0=dtype)
    return Case(target=target, sizes={"n_in0": LENGTH, "n_out0": LENGTH}, program=graph, arrays=(
        ArraySpec(name="in0", dtype=dtype, dims=("n_in0",), content=Content(base=base)),
        f"out0 {dtype}[n_out0]"))


@each("dtype", ["fp32", "fp64"])
def test_a_number_of_either_sign_is_right_whatever_its_last_bit(dtype: str):
    rehearsal = rehearse(_signed_by_nan(dtype))
    right = rehearsal.buffers["in0"].typed()
    larger = right.clone()
    larger[7] *= 1.5
    for values, verdict in ((right, Verdict.AGREE), (-right, Verdict.AGREE), (larger, Verdict.DISAGREE),
                            (-larger * 2, Verdict.DISAGREE)):
        assert rehearsal.judged({"out0": values})[0].verdict is verdict


@each("dtype", ["fp32", "fp64"])
@each("target", ["codegen.pointwise", "inductor.programs_pointwise"])
def test_a_zero_of_either_sign_is_right_whichever_sign_torch_gives_it(target: str, dtype: str):
    rehearsal = rehearse(_signed_by_nan(dtype, target, Constant(value="0")))
    zero = rehearsal.buffers["in0"].typed()
    for values, verdict in ((zero, Verdict.AGREE), (-zero, Verdict.AGREE), (zero + 1e-30, Verdict.DISAGREE)):
        assert rehearsal.judged({"out0": values})[0].verdict is verdict


def test_a_power_of_two_may_have_an_unrounded_product_as_exponent_and_no_other_one():
    """libdevice's exp2 of doubles is 2^(x - rint(x)) times a power; the difference is fused with a product x."""
    values = (-15.243711458004935, 11.471173881359301)
    products = [Fraction(one) * Fraction(one) for one in values]
    missing = [float(exact - Fraction(one * one)) for one, exact in zip(values, products, strict=True)]
    content = Content(base=Explicit(values=tuple(map(repr, values))))

    def verdict(*between: Node, moved: float) -> Verdict:
        graph = vector(load("in0"), *between, op("exp2", len(between)), store("out0", X, len(between) + 1), length=2,
                       in0="fp64", out0="fp64")
        rehearsal = rehearse(Case(target="codegen.pointwise", sizes={"n_in0": 2, "n_out0": 2}, program=graph, arrays=(
            ArraySpec(name="in0", dtype="fp64", dims=("n_in0",), content=content),
            "out0 fp64[n_out0]")))
        right = rehearsal.outputs()["out0"]
        by = torch.tensor([math.expm1(moved * math.log(2) * one) for one in missing], dtype=torch.float64)
        return rehearsal.judged({"out0": right + right * by})[0].verdict

    assert max(map(abs, missing)) > 8 * 2**-52
    assert verdict(op("square", 0), moved=0) is verdict(op("square", 0), moved=1) is Verdict.AGREE
    assert verdict(op("square", 0), moved=8) is verdict(op("abs", 0), moved=1) is Verdict.DISAGREE
