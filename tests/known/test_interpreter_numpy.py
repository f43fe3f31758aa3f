"""What numpy gives in the interpreter is known; anything else that is wrong in the same launch is new."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.cases import calling
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize


def case_of(row: str, values: tuple[str, ...]) -> Case:
    call = Call(row=row, operands=(Operand(dtype="fp32", shape=(2,)),), stored=("fp32",),
                options={"way": "function"} | ({"axis": 0} if row == "tl.sum" else {}))
    return calling(call, {"x0": values}, programs=len(values) // 2)


@each("sums, names", [
    ((0.0, 0.0), ("interpreter-sums-from-zero",)),  # of the negative zeros, and of a mixed line, which is right
    ((-0.0, -0.0), ()), ((0.0, 1.0), ()), ((1.0, 0.0), ())])
def test_only_sums_of_negative_zeros_may_lack_their_sign(sums: tuple[float, float], names: tuple[str, ...]):
    case = case_of("tl.sum", ("-0.0", "-0.0", "0.0", "-0.0"))
    judged, found = rehearse(case).judged({"out0": torch.tensor(sums)})
    assert judged.verdict.failed and found == names


@each("away, known", [(0, True), (3, False)])
@each("row, off, logarithm", [
    ("tl.log.log_tl", 1.0078125, np.log), ("tl.log2.log2_tl", 0.74908775, np.log2)])
def test_only_the_logarithms_of_numpy_are_known(
        row: str, off: float, logarithm: Callable[..., Any], away: int, known: bool):
    values = np.array([off, 3.0], np.float32)
    logarithms = logarithm(values)
    for _ in range(away):
        logarithms[1] = np.nextafter(logarithms[1], np.float32(1))
    if not away and logarithms[0] == np.float32(logarithm(np.float64(values[0]))):
        pytest.skip("numpy's logarithm is right here: it takes other instructions on this processor")
    case = case_of(row, tuple(map(str, values)))
    judged, found = rehearse(case).judged({"out0": torch.from_numpy(logarithms).reshape(1, 2)})
    assert judged.verdict.failed and found == (("interpreter-logarithms-of-numpy",) if known else ())
