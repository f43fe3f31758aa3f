"""The table of pointwise accuracy, and pinned special values: what they state about libraries is true."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, tensor

from tests.oracles.agreement import refused
from tests.oracles.pinned_values import CASES, CONVERSIONS, SpecialCase
from tridiff.oracles import pointwise, tolerances
from tridiff.oracles.arrays import Array, array_of_bits, to_numpy, to_torch
from tridiff.oracles.by_exact import functions as by_exact
from tridiff.oracles.by_numpy import functions as by_numpy
from tridiff.oracles.by_torch import functions as by_torch
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import NAMES, torch_dtype
from tridiff.oracles.pointwise import TABLE, Accuracy, rule_for
from tridiff.oracles.rules import NUM, NUM0, REL, ULP, Rule
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize

# Points at which reduction and branch selection inside the routines change (oracles.md §8).
CRITICAL = [
    0.0, -0.0, 1e-30, -1e-30, 1e-8, 0.1, 0.25, 0.5, -0.5, 0.7, 1.0, -1.0, 1.0000001, 0.9999999, 1.5, 2.0, -2.5, 3.0,
    math.pi / 2, math.pi, 10 * math.pi, 4.0, 5.5, 7.9, -7.9, 10.0, -15.0, 20.0, 50.0, -50.0, 80.0, 88.7, -88.7, 1000.0,
    12345.678, 2.0**24, 2.0**31]


def points(name: str) -> Array:
    return to_numpy(tensor(CRITICAL, dtype=torch.float64).to(torch_dtype(name)))


def inputs_of(row: Accuracy, name: str) -> list[Array]:
    x = points(name)
    if row.arity == 1:
        return [x]
    count = len(x)
    return [np.repeat(x, count), np.tile(x, count)] + [np.tile(x[::-1], count)] * (row.arity - 2)


EVALUATED = [row for row in TABLE if row.op in by_exact.FUNCTIONS]
TWO_LIBRARIES = [row for row in TABLE if row.op in by_numpy.FUNCTIONS and row.op in by_torch.FUNCTIONS]


@each("row", EVALUATED, ids=lambda row: row.op)
def test_library_values_equal_high_precision_ones(row: Accuracy):
    inputs = inputs_of(row, "fp32")
    exact, answered = by_exact.evaluate(row.op, *inputs)
    assert answered.mean() > 0.2
    reference = to_torch(exact[answered])
    # Relative to the 2^-24 that matters for fp32 this is nothing; Bessel functions lose digits at their
    # roots.
    loose = 2.0**-44
    allowed = REL(loose, origin="float64 libraries, far below fp32's 2^-24")
    floor = 1e-14 if row.op == "lgamma" else 0.0  # absolute at the roots
    for evaluate, arrays in ((by_numpy.evaluate, inputs), (by_torch.evaluate, [to_torch(x) for x in inputs])):
        module: Any = by_numpy if evaluate is by_numpy.evaluate else by_torch
        if row.op not in module.FUNCTIONS:
            continue
        found = module.evaluate(row.op, *arrays)
        values = (found if isinstance(found, Tensor) else to_torch(found))[torch.from_numpy(answered)]
        tiny = reference.abs() < 1e-290  # float64's own subnormals are no reference for anything
        wrong = compare(values, reference, allowed).mismatch & ~tiny & ((values - reference).abs() > floor)
        wrong &= ~((values == 0) & (reference == 0))
        assert not wrong.any(), (row.op, [x[answered][wrong.numpy()][:3] for x in inputs], values[wrong][:3])


@each("row", TWO_LIBRARIES, ids=lambda row: row.op)
def test_numpy_and_torch_place_the_same_special_values(row: Accuracy):
    special = array_of_bits(special_bits("fp32"), "fp32")
    inputs = ([special] if row.arity == 1 else [np.repeat(special, len(special)), np.tile(special, len(special))])
    first = to_torch(by_numpy.evaluate(row.op, *inputs))
    second = by_torch.evaluate(row.op, *(to_torch(x) for x in inputs))
    differ = first.isnan() != second.isnan()
    assert not differ.any(), (row.op, [x[differ.numpy()][:4] for x in inputs], first[differ][:4], second[differ][:4])


def test_fp64_needs_more_than_fp64():
    x = np.array([0.3], np.float64)
    assert by_exact.evaluate("erf", x)[0][0] == pytest.approx(math.erf(0.3), rel=1e-15)
    refused("no better than fp64", by_numpy.evaluate, "erf", x)
    refused("no 'erfinv'", by_numpy.evaluate, "erfinv", x)
    third = by_exact.evaluate("fma", np.array([1 + 2**-52]), np.array([1 + 2**-52]), np.array([-1 - 2**-51]))[0]
    assert third.tolist() == [2.0**-104]


def test_torch_does_not_judge_bessel_functions():
    assert not {"j0", "j1", "y0", "y1"} & set(by_torch.FUNCTIONS)
    j0 = by_exact.evaluate("j0", np.array([5.5, 8.0]))[0]
    assert j0.tolist() == pytest.approx([-0.006843869417819197, 0.1716508071375539], rel=1e-15)


def test_exact_answers_leave_special_cases_alone():
    x = np.array([math.nan, math.inf, -1, 0, 2], np.float64)
    values, answered = by_exact.evaluate("log", x)
    assert answered.tolist() == [False, False, False, False, True] and values[4] == math.log(2)
    assert by_exact.evaluate("exp", np.array([1000.0, -1000.0]))[0].tolist() == [math.inf, 0]


@each("row", [r for r in TABLE if r.fp32.kind == "ULP"], ids=lambda row: row.op)
def test_every_ulp_policy_catches_an_error_just_above_it(row: Accuracy):
    for name in ("fp16", "bf16", "fp32", "fp64"):
        rule = rule_for(row.op, name)
        if rule.kind != "ULP":
            continue
        x = to_torch(np.full(1, 10.0)).to(torch_dtype(name)) if rule.plus_per_abs_x else None
        k = math.ceil(rule.k + rule.plus_per_abs_x * (0 if x is None else 10.0))
        expected = tensor([1.25], dtype=torch_dtype(name))
        bits = expected.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.element_size()])
        for steps, clean in ((k, True), (k + 1, False), (-k - 1, False)):
            actual = (bits + steps).view(expected.dtype)
            assert compare(actual, expected, rule, x=x).clean == clean, (row.op, name, steps)


def test_table_figures_match_the_policy():
    assert len(pointwise.OPS) == len(TABLE)
    for row in TABLE:
        for rule in (row.fp32, row.fp64):
            assert rule.kind in ("NUM", "NUM0", "BIT", "SET") or rule.origin
        if row.fp32.kind == "ULP" and row.doc_fp32 is not None and not row.fp32_regions:
            assert row.fp32.k >= row.doc_fp32, row.op
        if row.measured_fp32 is not None and row.doc_fp32 is not None:
            assert row.measured_fp32 <= row.doc_fp32, row.op
    for op, fp32, fp64 in (
        ("exp", 2, 1), ("pow", 8, 2), ("tan", 4, 2), ("erfc", 4, 5), ("rsqrt", 2, 2), ("acosh", 4, 3),
    ):
        row = pointwise.accuracy(op)
        assert (row.fp32.k, row.fp64.k) == (fp32, fp64)
    assert pointwise.accuracy("div").fp64 == NUM and pointwise.accuracy("maximum").fp32 == NUM0
    refused("add one", pointwise.accuracy, "gelu")


def test_half_rules_scale_to_one_ulp_and_regions_switch():
    assert rule_for("exp", "fp16").k == 1 and rule_for("exp", "bf16").k == 1
    assert pointwise.half_ulps(20000, "fp16") == 3
    assert rule_for("add", "bf16") == NUM
    assert rule_for("exp_fast", "fp16").plus_per_abs_x == pytest.approx(1.23 * 2.0**-13)
    assert rule_for("lgamma", "fp32", x=-5.0).kind == "SUM" and rule_for("lgamma", "fp32", x=3.0) == ULP(
        6, origin=rule_for("lgamma", "fp32").origin)
    assert rule_for("j0", "fp32", x=7.0).kind == "ULP" and rule_for("j0", "fp32", x=9.0).k == 2.2e-6
    refused("not a half", pointwise.half_ulps, 1, "fp32")
    refused("stated for", rule_for, "add", "fp8e5")


def test_lgamma_bound_is_absolute_near_roots():
    expected = tensor([1e-9, 100, math.inf], dtype=torch.float64)
    assert tolerances.lgamma_bound(expected).tolist() == [2.0**-18] * 3
    assert tolerances.lgamma_bound(expected, acc="fp64").tolist() == [2.0**-48, 100 * 2.0**-48, 2.0**-48]
    rule = rule_for("lgamma", "fp32", x=-3.0)
    bound = tolerances.lgamma_bound(expected[:1])
    assert compare(tensor([3.8e-6]), expected[:1], rule, bound=bound).clean
    assert not compare(tensor([3.9e-6]), expected[:1], rule, bound=bound).clean


LIBRARY: dict[str, Callable[..., Tensor]] = {
    "minimum": torch.minimum, "maximum": torch.maximum, "fmin": torch.fmin, "fmax": torch.fmax, "sign": torch.sign,
    "round": torch.round, "remainder": torch.remainder, "fmod": torch.fmod, "floor_divide": torch.floor_divide,
    "add": torch.add, "mul": torch.mul, "abs": torch.abs, "pow": torch.pow, "hypot": torch.hypot,
    "erfinv": torch.erfinv, "lgamma": torch.lgamma, "sqrt": torch.sqrt, "log": torch.log, "exp": torch.exp,
    "atan2": torch.atan2, "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor")}


def accepted(case: SpecialCase, value: Tensor, members: tuple[Any, ...]) -> bool:
    rule: Rule = NUM if case.zero_sign else NUM0
    return any(compare(value, tensor([m]).to(value.dtype), rule).clean for m in members)


@each("case", CASES, ids=lambda c: f"{c.op}{c.inputs}")
def test_pinned_special_values_are_what_torch_computes(case: SpecialCase):
    inputs = [tensor([v]).to(torch_dtype(case.dtype)) for v in case.inputs]
    value = LIBRARY[case.op](*inputs)
    assert value.dtype == inputs[0].dtype
    assert accepted(case, value, case.accepted), value
    assert not any(accepted(case, tensor([k]).to(value.dtype), case.accepted) for k in case.known_divergence)


def test_pinned_conversions():
    for conversion in CONVERSIONS:
        source = tensor([conversion.value], dtype=torch_dtype(conversion.source))
        if conversion.kind == "undefined":
            assert conversion.accepted == ()
            continue
        value = source.to(torch_dtype(conversion.target)).to(torch.float64)
        expected = [float(a) for a in conversion.accepted]
        assert float(value) in expected or (math.isnan(float(value)) and any(map(math.isnan, expected))), (conversion)


def test_cases_name_known_things_only():
    assert {case.op for case in CASES} <= set(LIBRARY)
    for conversion in CONVERSIONS:
        assert conversion.source in NAMES and conversion.target in NAMES
