"""How far an output of a program may lie from its reference: as far as its bound, and not further."""

import pytest

from tests.unit.graphs.graphs import X, constant, load, op, store, vector
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import ArraySpec, Base, Case, Constant, Content, Finite, Verdict

LENGTH = 256
FINITE = Finite(seed=5, low=-9, high=9)


def _signed_by_nan(dtype: str, target: str = "codegen.pointwise", base: Base = FINITE) -> Case:
    """out0 = copysign(in0, NaN): either sign is right."""
    graph = vector(load("in0"), constant("nan", dtype), op("copysign", 0, 1), store("out0", X, 2), length=LENGTH,
                   in0=dtype, out0=dtype)
    return Case(target=target, sizes={"n_in0": LENGTH, "n_out0": LENGTH}, program=graph, arrays=(
        ArraySpec(name="in0", dtype=dtype, dims=("n_in0",), content=Content(base=base)),
        ArraySpec(name="out0", dtype=dtype, dims=("n_out0",))))


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_a_number_of_either_sign_is_right_whatever_its_last_bit(dtype: str) -> None:
    rehearsal = rehearse(_signed_by_nan(dtype))
    right = rehearsal.buffers["in0"].typed()
    larger = right.clone()
    larger[7] *= 1.5
    for values, verdict in ((right, Verdict.AGREE), (-right, Verdict.AGREE), (larger, Verdict.DISAGREE),
                            (-larger * 2, Verdict.DISAGREE)):
        assert rehearsal.judged({"out0": values}, subject="own")[0].verdict is verdict


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
@pytest.mark.parametrize("target", ["codegen.pointwise", "inductor.programs_pointwise"])
def test_a_zero_of_either_sign_is_right_whichever_sign_torch_gives_it(target: str, dtype: str) -> None:
    rehearsal = rehearse(_signed_by_nan(dtype, target, Constant(value="0")))
    zero = rehearsal.buffers["in0"].typed()
    for values, verdict in ((zero, Verdict.AGREE), (-zero, Verdict.AGREE), (zero + 1e-30, Verdict.DISAGREE)):
        assert rehearsal.judged({"out0": values}, subject="own")[0].verdict is verdict
