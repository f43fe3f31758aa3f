"""Single operations under torch.compile: what compiled code gives is known, another value beside it is not."""

import pytest
import torch
from msgspec.structs import replace

from tridiff.fuzz.inductor.operations import OPERATIONS
from tridiff.fuzz.known.inductor import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Signature, Verdict
from tridiff.oracles.dtypes import torch_dtype

each = pytest.mark.parametrize
LEAST = -(2**31)
INFINITY, NAN = float("inf"), float("nan")


def of_operation(name: str, *operands: tuple[str, ...], dtype: str) -> Case:
    """One operation on listed values."""
    operation = OPERATIONS[name]
    arrays = [ArraySpec(name=one, dtype=dtype, dims=("rows",), content=Content(base=Explicit(values=values)))
              for one, values in zip("ab", operands, strict=False)]
    arrays += [f"out {operation.result_dtype((dtype,) * len(operands))}[rows]", "dtype i32[one]"]
    return Case(target=f"inductor.{operation.family}", sizes={"one": 1, "rows": len(operands[0])},
                arrays=tuple(arrays), params={"op": name, "dynamic": False})


def of_row(name: str, row: tuple[str, ...], *, dtype: str) -> Case:
    """One operation along one row."""
    case = of_operation(name, row, dtype=dtype)
    return replace(case, sizes={"one": 1, "rows": 1, "cols": len(row)}, params={**case.params, "persistent": True},
                   arrays=(replace(case.arrays[0], dims=("rows", "cols")), *case.arrays[1:]))


def taken(case: Case, *results: float) -> tuple[str, ...]:
    """The issues for which a launch with these wrong results is taken."""
    given = torch.tensor(results, dtype=torch.float64).to(torch_dtype(case.array("out").dtype))
    judged, names = rehearse(case).judged({"out": given}, subject="inductor")
    assert judged.verdict is Verdict.DISAGREE
    return names


def right(case: Case, *results: float) -> bool:
    """Whether a launch with these results is right."""
    given = torch.tensor(results, dtype=torch.float64).to(torch_dtype(case.array("out").dtype))
    return rehearse(case).judged({"out": given}, subject="inductor")[0].verdict is Verdict.AGREE


@each("dtype, a, b, quotient, step", [
    ("u8", "3", "7", 0.42857143, 2.0**-25), ("i64", "-9223372036854775807", "3", -3.0744574e18, 2.0**38),
])
def test_a_quotient_of_integers_is_judged_as_one_of_floats_is(
        dtype: str, a: str, b: str, quotient: float, step: float):
    """`/` is div.full, which gives 3 / 7 an ulp above (H100)."""
    case = of_operation("truediv_integer", (a,), (b,), dtype=dtype)
    assert right(case, quotient) and right(case, quotient + step) and right(case, quotient - step)
    assert not right(case, quotient + 3 * step) and not right(case, quotient - 3 * step)
    assert not right(case, -quotient)


@each("dtype, a, b, given, other", [
    ("fp64", "1.0", "7e-309", 2.1271893177338163e-17, 2.127189317733817e-17),
    ("fp64", "2.0", "7e-309", -INFINITY, INFINITY), ("fp64", "-2.0", "7e-309", INFINITY, -INFINITY),
    ("fp64", "-1e20", "0.7", -3066.631569286609, -3067.331569286609), ("fp32", "1e30", "3e-5", -2.5367687e22, 0.0),
])
def test_the_rest_of_a_rounded_quotient_is_known_and_another_rest_is_not(
        dtype: str, a: str, b: str, given: float, other: float):
    case = of_operation("remainder", (a,), (b,), dtype=dtype)
    assert taken(case, other) == ()
    assert taken(case, given) == ("remainder-of-a-rounded-quotient",)


@each("results, known", [
    ((0.0, -1.0, 16777216.0, INFINITY, 0.0), True), ((0.0, -0.0, 16777214.0, INFINITY, 0.0), True),
    ((0.0, -1.0, 16777213.0, INFINITY, 0.0), False), ((2.0, -1.0, 16777216.0, INFINITY, 0.0), False),
    ((0.0, 0.0, 16777216.0, INFINITY, 0.0), False), ((0.0, -1.0, 16777216.0, 3.4028235e38, 0.0), False),
    ((0.0, -1.0, 16777216.0, INFINITY, -0.0), False)])
def test_a_quotient_that_is_cut_off_within_two_steps_is_known_and_one_further_off_is_not(
        results: tuple[float, ...], known: bool):
    a, b = ("33.0", "-33.0", "50331648.0", "1.0", "0.0"), ("33.0", "33.0", "3.0", "0.0", "5.0")
    found = taken(of_operation("trunc_divide", a, b, dtype="fp32"), *results)
    assert found == (("truncated-quotient-within-two-steps",) if known else ())
    assert taken(of_operation("trunc_divide", a, b, dtype="fp64"), *results) == (), "fp64 is divided exactly"


@each("op, right_one, says", [
    ("to_i1", 1, ("TypeError: unexpected type fp8e5 and int32", "PassManager::run failed",
                  "'llvm.fcmp' op operand #N must be floating point LLVM type or LLVM dialect-compatible vector")),
    ("to_i32_of_float", 3, ("AssertionError: cannot cast [ N  N N N] to <['N'], int32>",
                            "cannot cast fp8e5[constexpr[N]] to <['N'], int32>"))])
def test_fp8_does_not_become_an_integer_and_a_wrong_integer_or_other_refusal_is_new(
        op: str, right_one: int, says: tuple[str, ...]):
    case = of_operation(op, ("3.0",), dtype="fp8e5")
    issue, = (one for one in ISSUES if one.name == "fp8-to-integers")
    assert issue.concerns(case, "inductor") and not issue.concerns(of_operation(op, ("3.0",), dtype="fp16"), "inductor")
    told = Signature(target=case.target, subject="inductor", verdict=Verdict.COMPILE_ERROR, kind="")
    assert all(issue.tells(replace(told, kind=one)) for one in says)
    assert not issue.tells(replace(told, kind="cannot cast fp8e5[constexpr[N]] to <['N'], fp32>"))
    assert not issue.tells(replace(told, kind="Cannot bitcast data-type of size 8 to data-type of size 32"))
    assert right(case, right_one) and taken(case, 1 - right_one) == ()


def test_frexp_of_a_subnormal_number_is_known_in_both_parts_and_of_another_number_in_none():
    mantissas = of_operation("frexp_mantissa", ("1e-45", "3.0"), dtype="fp32")
    assert taken(mantissas, 2.0**-148, 0.75) == ("frexp-of-subnormals",)
    assert taken(mantissas, 2.0**-147, 0.75) == taken(mantissas, 2.0**-148, 6.0) == ()
    exponents = of_operation("frexp_exponent", ("1e-45", "3.0"), dtype="fp32")
    assert taken(exponents, LEAST + 1, 2) == ("frexp-of-subnormals",)
    assert taken(exponents, LEAST, 2) == taken(exponents, LEAST + 1, LEAST + 1) == ()
    doubles = of_operation("frexp_mantissa", ("5e-324",), dtype="fp64")
    assert taken(doubles, 1e-323) == (), "fp64 is not flushed"


def test_the_sign_of_an_fp16_nan_is_lost_on_the_device_before_signbit_asks_for_it_and_no_other_sign_is():
    nans = ("-nan", "-nan:0x1", "nan", "-2.0")
    halves = of_operation("signbit", nans, dtype="fp16")
    assert taken(halves, 0, 0, 0, 1) == ("signbit-of-fp16-nan",)
    assert taken(halves, 0, 0, 0, 0) == taken(halves, 0, 0, 1, 1) == ()
    for dtype in ("bf16", "fp32"):
        assert taken(of_operation("signbit", nans, dtype=dtype), 0, 0, 0, 1) == (), "these keep it on the way"
    assert taken(of_operation("copysign", ("1.0",), ("-nan",), dtype="fp16"), 1.0) == (), "it is taken from the half"
    issue, = (one for one in ISSUES if one.name == "signbit-of-fp16-nan")
    assert issue.shows_on("cuda") and not issue.shows_on("interpreter")


@each("row, eager, other", [
    (("1.0", "inf"), INFINITY, NAN), (("-inf",), -INFINITY, NAN), (("inf", "1.0"), NAN, INFINITY),
    (("1.0", "-inf", "-inf"), NAN, -INFINITY), (("-inf", "inf"), NAN, None), (("nan", "inf"), NAN, None),
])
def test_the_mean_of_infinities_is_judged_as_eager_torch_folds_and_known_in_another_order(
        row: tuple[str, ...], eager: float, other: float | None):
    case = of_row("var_mean_mean", row, dtype="fp64")
    assert right(case, eager)
    if other is not None:
        assert taken(case, other) == ("mean-of-infinities",)
    for wrong in {1.0, INFINITY, -INFINITY} - {eager, other}:
        assert taken(case, wrong) == ()


def test_a_mean_below_the_least_number_is_a_zero_of_either_sign():
    case = of_row("var_mean_mean", ("0.0", "-5e-324", "0.0"), dtype="fp64")
    assert right(case, 0.0) and right(case, -0.0) and taken(case, -1e-300) == ()
