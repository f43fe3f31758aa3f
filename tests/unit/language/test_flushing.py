"""Subnormal fp32 numbers in calls: as they are or as zeros, and nothing else."""

import pytest
import torch

from tests.support.cases import calling
from tests.support.draws import draws
from tridiff.fuzz.judge.open_share import open_shares
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.language.row import Topic
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import torch_dtype

each = pytest.mark.parametrize

NAN, INFINITY = float("nan"), float("inf")
POWER = "8.470329472543003e-22"
"""2^-70."""
SMALLEST, NORMAL = 2.0**-149, 2.0**-126


def called(row: str, *values: str, to: str = "fp32", of: tuple[str, ...] = ()) -> Case:
    """One row of one element for each operand."""
    types = of or ("fp32",) * len(values)
    call = Call(row=row, operands=tuple(Operand(dtype=one, shape=(1,)) for one in types), stored=(to,))
    return calling(call, {f"x{number}": (value,) for number, value in enumerate(values)})


def verdicts(case: Case, *results: float) -> list[Verdict]:
    """What is said of each result."""
    rehearsal = rehearse(case)
    kind = torch_dtype(case.array("out0").dtype)
    return [rehearsal.judged({"out0": torch.tensor([[one]], dtype=torch.float64).to(kind)})[0].verdict
            for one in results]


@each("case, right, wrong", [
    (called("libdevice.sin.sin", "1e-40"), (1e-40, 0.0), (NAN, 1.0, NORMAL)),
    (called("libdevice.cbrt.cbrt", "-1e-40"), (-4.6415805e-14, -0.0), (NAN, 4.6415805e-14, -1e-14)),
    (called("libdevice.log.log", "1e-40"), (-92.103402, -INFINITY), (NAN, INFINITY, -91.0, 0.0)),
    (called("libdevice.exp.exp", "-100.0"), (3.783506e-44, 0.0), (NAN, 1e-30)),
    (called("tl.exp.exp_tl", "-100.0"), (3.783506e-44, 0.0), (NAN, 1e-30)),
    (called("libdevice.expm1.expm1", "-1e-40"), (-1e-40, -0.0, 0.0), (NAN, -NORMAL)),
    (called("libdevice.atan2.atan2", "1e-40", "1e-40"), (0.7853982, 1.5707964, 0.0), (NAN, 1.0)),
    (called("libdevice.pow.pow", "1e-40", "-0.5"), (1.0000027e20, INFINITY), (NAN, 1.3043818e19)),
    (called("libdevice.nextafter.nextafter_libdevice", "0.0", "1.0"), (SMALLEST, 0.0, NORMAL),
     (2 * SMALLEST, -SMALLEST, NAN)),
    (called("libdevice.mul_ru", POWER, POWER), (2.0**-140, 0.0), (-0.0, 2.0**-139, NAN)),
    (called("libdevice.div_rn", "1e-45", "-3e-45"), (-0.5, -INFINITY, -0.0, NAN), (0.0, 0.5, -1.0)),
    (called("libdevice.float2int_ru", "1e-40", to="i32"), (1, 0), (2, -1)),
    (called("libdevice.rcbrt", "1e-40"), (21544385607667.297, INFINITY), (NAN, -INFINITY, 0.0)),
    (called("libdevice.logb", "1e-40"), (-133.0, -INFINITY), (-150.0, NAN)),
    (called("libdevice.fast_log2f", "1e-40"), (-132.87712, -INFINITY), (NAN, -126.0)),
])
def test_subnormal_numbers_count_as_themselves_or_as_zeros(
        case: Case, right: tuple[float, ...], wrong: tuple[float, ...]):
    assert verdicts(case, *right) == [Verdict.AGREE] * len(right)
    assert verdicts(case, *wrong) == [Verdict.DISAGREE] * len(wrong)


def test_other_types_and_normal_numbers_are_not_flushed():
    assert verdicts(called("libdevice.sin.sin", "1e-310", to="fp64", of=("fp64",)), 0.0) == [
        Verdict.DISAGREE]
    assert verdicts(called("libdevice.sin.sin", "2e-38"), 0.0, -2e-38, 2e-38) == [
        Verdict.DISAGREE, Verdict.DISAGREE, Verdict.AGREE]
    assert verdicts(called("libdevice.sin.sin", "0.0"), -0.0) == [Verdict.DISAGREE]


def test_the_normal_distribution_far_out_is_0_or_1():
    """mpmath overflows there, which once counted as an infinity."""
    for x, right in (("-1.7e308", 0.0), ("-64.5", 0.0), ("1e308", 1.0)):
        case = called("libdevice.normcdf", x, to="fp64", of=("fp64",))
        assert verdicts(case, right, INFINITY, 0.5) == [Verdict.AGREE, Verdict.DISAGREE, Verdict.DISAGREE]


@each("topic", ["pointwise", "rounding"])
def test_hardly_anything_is_open(topic: Topic):
    """Of 300 draws 3.6 and 2.4 % of elements once, where subnormal numbers were open; %, `fmod` and ends of integers
    are left."""
    found = open_shares(draws(call_cases(target=f"language.{topic}", topic=topic, limits=Limits(elements=1 << 9)), 80,
                              seed=3))
    assert found.elements > 10_000 and found.of_elements < 0.002 and found.open_outputs == 0
