"""The torch reference of generated programs: values worked out by hand, and agreement with the numpy one."""

import warnings

import numpy as np
import pytest
import torch

from tests.support.draws import draws
from tests.unit.graphs.graphs import (
    X,
    apply,
    halves,
    num,
    pointwise,
    row_sums_of_a_masked_gather,
    sorted_rows_transposed,
    store,
    vector,
)
from tridiff.fuzz.content.place import buffers_of
from tridiff.fuzz.kinds.graphs import by_numpy, by_torch
from tridiff.fuzz.kinds.graphs.arrays import graph_of, input_names, output_names
from tridiff.fuzz.kinds.graphs.draw import programs
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES, Family
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Index, Real
from tridiff.oracles.arrays import to_numpy
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import torch_dtype
from tridiff.oracles.rules import BIT, SUM

each = pytest.mark.parametrize

INF, NAN = float("inf"), float("nan")


def test_a_masked_gather_is_summed_with_what_stands_for_the_rest():
    found = by_torch.evaluate(row_sums_of_a_masked_gather(), {
        "in0": torch.tensor([1.0, 10.0, 100.0, 1000.0]), "in1": torch.tensor([0, -1, 2, 3, 0, 1])})
    assert found["out0"].tolist() == [-1 + 1000 + 100, -1 + 1 + 10]


def test_sorting_scanning_and_scattered_sums():
    found = by_torch.evaluate(sorted_rows_transposed(), {
        "in0": torch.tensor([1, 3, 2, 5, NAN, 4]), "io0": torch.tensor([100, 7], dtype=torch.int32)})
    assert found["out0"].tolist()[0::2] == [3.0, 2.0, 1.0]
    assert found["out0"][1::2].isnan().tolist() == [True, False, False] and found["out0"].tolist()[3::2] == [5.0, 4.0]
    assert found["out1"].tolist()[:3] == [3.0, 5.0, 6.0] and bool(found["out1"][3:].isnan().all())
    # Two rows add r = 0 and r = 2 to the first cell, r = 1 to the second.
    assert found["io0"].tolist() == [100 + 2 * (0 + 2), 7 + 2 * 1]


def test_halves_are_rounded_at_the_store_or_after_every_operation():
    x = {"in0": torch.tensor([300, 2], dtype=torch.float16)}
    assert by_torch.evaluate(halves(upcast=True), x)["out0"].tolist() == [300, 2]
    assert by_torch.evaluate(halves(upcast=False), x)["out0"].tolist() == [INF, 2]
    assert by_torch.evaluate(halves(upcast=True), x)["out1"].tolist() == [0x5CB0 + 1, 0x4000 + 1]


@each("op, dtype, result, inputs, expected", [
    ("floor_divide", "fp32", "fp32", ([1.0, 5.0, -1.0], [0.1, -INF, 3.0]), [9.0, -1.0, -1.0]),
    ("signbit", "fp64", "i1", ([-0.0, 0.0, -2.0],), [True, False, True]),
    ("nextafter", "bf16", "bf16", ([0.0, 1.0], [1.0, 2.0]), [2.0**-133, 1.0078125]),
    ("left_shift", "i32", "i32", ([1, 1, 3], [31, 32, -1]), [-(2**31), 0, 0]),
    ("floor_divide", "i8", "i8", ([-128, 7, -7], [-1, 0, 2]), [-128, 0, -4]),
    ("fma", "fp64", "fp64", ([1 + 2.0**-52], [1 - 2.0**-52], [-1.0]), [-(2.0**-104)]),
    ("fma", "fp64", "fp64", ([-2.7e303, 1e200], [-2.7e303, -1e200], [1.0, 1.0]), [INF, -INF])])
def test_single_operations(
    op: str, dtype: str, result: str, inputs: tuple[list[float], ...], expected: list[float]
):
    graph = pointwise(op, dtype, result, length=len(expected), arity=len(inputs))
    given_values = {f"in{k}": torch.tensor(one, dtype=torch_dtype(dtype)) for k, one in enumerate(inputs)}
    assert by_torch.evaluate(graph, given_values)["out0"].tolist() == expected


@each("expr, expected", [
    (apply("int_true_div", num(2**60 + 129), num(1)), float(2**60 + 256)),
    (apply("round_decimal", Real(value="2.675"), num(2)), 2.67),
    (apply("to_float", apply("floordiv", num(-7), num(2))), -4.0),
    (apply("to_float", apply("ceildiv", num(-7), num(2))), -3.0),
    (apply("max", Real(value="inf"), Real(value="-1.5")), INF)])
def test_index_expressions_follow_python(expr: object, expected: float):
    graph = vector(Index(expr=expr, dtype="fp64"), store("out0", X, 0), length=1, out0="fp64")
    assert by_torch.evaluate(graph, {})["out0"].tolist() == [expected]


def _disagreements(case: Case) -> list[str]:
    """Outputs on which the two references differ by more than the numpy one's bound."""
    buffers = buffers_of(case)
    values = [one for name in input_names(case) if (one := buffers[name].values) is not None]
    answers = by_numpy.answers(case, *(to_numpy(one) for one in values))
    rule = SUM("program_bound", origin="derived by the numpy interpreter")
    found = []
    for name, actual in zip(output_names(case), by_torch.outputs(case, *values), strict=True):
        answer = answers[name]
        keep = torch.from_numpy(np.ascontiguousarray(answer.defined))
        expected = torch.from_numpy(np.ascontiguousarray(answer.values))[keep]
        if answer.bound is None:
            mismatch = compare(actual[keep], expected.to(actual.dtype), BIT).mismatch
        else:
            # The torch reference rounds for itself: one more step of its own.
            bound = torch.from_numpy(np.ascontiguousarray(answer.bound))[keep]
            step = actual[keep].double().abs().nan_to_num(0.0, 0.0, 0.0) * 2.0**-7 if actual.element_size() < 4 else (
                expected.abs().nan_to_num(0.0, 0.0, 0.0) * torch.finfo(actual.dtype).eps)
            mismatch = compare(actual[keep], expected, rule, bound=bound + step).mismatch
        if bool(mismatch.any()):
            found.append(name)
    return found


@each("family", FAMILIES)
def test_both_references_agree_on_drawn_programs(family: Family):
    limits = Limits(elements=512, variants=False)
    cases = draws(programs(family, target=f"codegen.{family}", limits=limits), 40, seed=17)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wrong = [(len(graph_of(case).nodes), name) for case in cases for name in _disagreements(case)]
    assert len(cases) == 40 and wrong == []
