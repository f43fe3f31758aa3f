"""Generated programs under torch.compile: relatives are programs that can be run, and controls."""

from functools import partial
from typing import Literal

import pytest
import torch
import triton.language as tl
from msgspec.structs import replace
from triton.language.semantic import TritonSemantic

from tests.known.outcomes import compiled, outcome
from tests.known.recorded import rehearsed, taken_for
from tests.known.relatives import relative_of
from tests.known.test_issues import entry
from tests.unit.graphs.graphs import R, X, apply, at, cast, constant, load, matrix, num, op, store, vector
from tridiff.fuzz.kinds.graphs import by_torch
from tridiff.fuzz.known import Attribution, KnownIssue
from tridiff.fuzz.known.coordinates import cell_of_a_sum
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.known.programs import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.known.rewriting import without
from tridiff.fuzz.known.searched import searches_for_floats, without_searched_nan
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.failures import normalise
from tridiff.kernels.codegen.graph import (
    Apply,
    Bucketize,
    Buffer,
    Graph,
    Index,
    Load,
    Node,
    Num,
    Pointwise,
    Real,
    Reduce,
    Scan,
    Schedule,
    Store,
    Sym,
)

each = pytest.mark.parametrize
R_AXIS = Sym(name="r")
SEARCH = "inductor.programs_sort/value-7848f174d2"
LIMITS = Limits(elements=1 << 10, rows=1 << 6)
wrong = partial(outcome, subject="inductor", where="out1")
"""Of torch.compile."""


def named(name: str) -> KnownIssue:
    """The only issue of that name."""
    issue, = (one for one in ISSUES if one.name == name)
    return issue


def of_expression(expr: Apply | Num | Sym, dtype: str, *, length: int = 3) -> Case:
    """A program that stores an index expression along x0."""
    graph = vector(Index(expr=expr, dtype=dtype), store("out0", X, 0), length=length, out0=dtype)
    return compiled(graph, "indexing")


def check_known_and_left_out(name: str, case: Case, known: bool) -> None:
    """Whether the issue is met, which then has a relative without it, and explains what only that gets right."""
    issue = named(name)
    assert issue.match(case) == known
    if known:
        relative_of(issue, case)
        right = Attribution(lambda one: wrong(one, failed=False)).issues(case, wrong(case))
        assert right == (name,) and Attribution(wrong).issues(case, wrong(case)) == ()


@each("rounded", [Sym(name="n0"), apply("to_float", X), X])
def test_what_is_not_rounded_to_decimals_is_real_as_well(rounded: Sym | Apply):
    case = of_expression(apply("round_decimal", rounded, num(2)), "fp64")
    issue = named("round-to-decimals")
    relative_of(issue, case)


def test_a_search_that_is_right_without_nan_boundaries_is_the_known_issue():
    case = entry(SEARCH).case
    asked: list[Case] = []

    def right(relative: Case) -> Outcome:
        asked.append(relative)
        return wrong(relative, failed=False)

    assert Attribution(right).issues(case, wrong(case)) == ("bucketize-nan-boundary",)
    assert isinstance(case.program, Graph)
    assert any(isinstance(node, Bucketize) for node in case.program.nodes)
    # Only what the boundaries hold is another; before it, NaNs are not searched for either.
    assert len(asked) == 2 and asked[1].program == case.program != asked[0].program
    assert all(sum(one != other for one, other in zip(relative.arrays, case.arrays, strict=True)) == 1
               for relative in asked)


def test_nan_is_not_searched_for_wherever_it_comes_from():
    """Here from the bits of negative integers. What is found for infinity instead is what eager torch finds for NaN."""
    graph = vector(load("in0"), cast(0, "fp32", bitcast=True), Bucketize(arg=1, boundaries="in1", size=4),
                   store("out0", X, 2), in0="i32", in1="fp32", out0="i64")
    values = {"in0": torch.tensor([-1, 0, -7, 1 << 30], dtype=torch.int32), "in1": torch.tensor([-1.0, 0.0, 1.0, 5.0])}
    case = compiled(graph, "sort")
    assert searches_for_floats(case)
    relative = without_searched_nan(case)
    assert relative is not None and relative.arrays == case.arrays and not searches_for_floats(relative)
    assert isinstance(relative.program, Graph)
    found = [by_torch.evaluate(one, values)["out0"].tolist() for one in (graph, relative.program)]
    assert found == [[4, 1, 4, 3]] * 2


def test_a_search_that_is_wrong_among_plain_boundaries_too_is_new():
    case = entry(SEARCH).case
    assert Attribution(wrong).issues(case, wrong(case)) == ()


def test_the_own_generator_has_none_of_these_issues():
    case = entry(SEARCH).case
    assert Attribution(lambda relative: wrong(relative, failed=False)).issues(case, wrong(case, subject="own")) == ()


def test_the_control_of_our_own_has_the_issues_of_launches_that_the_generator_has():
    """A power is contracted by the options of a launch, whichever target drew it; torch.compile has its own options."""
    case = replace(entry("codegen.pointwise/value-580f48d91e").case, target="inductor.programs_pointwise")
    for subject, names in (("own", ("library-pow-contracted",)), ("inductor", ())):
        right = Attribution(lambda relative, by=subject: wrong(relative, failed=False, subject=by))
        assert right.issues(case, wrong(case, subject=subject)) == names
        still = Attribution(lambda relative, by=subject: wrong(relative, subject=by))
        assert still.issues(case, wrong(case, subject=subject)) == ()


def test_a_sum_in_one_cell_is_one_by_its_index_or_by_the_length_of_its_buffer():
    remainder = apply("mod", X, num(1))
    buffers = (Buffer(name="one", dtype="fp32", length=1, role="inout"),
               Buffer(name="more", dtype="fp32", length=9, role="inout"))
    nodes = (constant("2", "i32"), cast(0, "i64"), op("add", 1, 1), load("one"), Index(expr=X), op("sub", 4, 4),
             op("sub", 3, 3))
    graph = Graph(outer=(15,), buffers=buffers, nodes=nodes, schedules=())

    def added(buffer: str, index: Num | Apply | Sym, mode: str = "atomic_add") -> int | None:
        return cell_of_a_sum(graph, Store(buffer=buffer, index=index, value=0, mode=mode))

    assert added("one", remainder) == 0 and added("more", num(7)) == 7
    assert added("more", X) is None and added("one", remainder, "set") is None
    sizes = apply("mod", Sym(name="n0"), num(9))
    assert added("more", sizes) == 6 and added("more", remainder) == 0
    assert added("more", apply("floordiv", X, num(15))) == 0 and added("more", Sym(name="v2")) == 4
    beyond = apply("floordiv", X, num(14))
    assert added("more", beyond) is None and added("more", Sym(name="v3")) is None
    # Terms cancel, also those of values; nothing is known of a choice, or of what is loaded.
    assert added("more", apply("add", beyond, num(3), apply("neg", beyond))) == 3
    assert added("more", Sym(name="v5")) == 0 and added("more", Sym(name="v6")) is None
    assert added("more", apply("add", apply("where", apply("lt", X, num(20)), num(3), X), num(1))) is None


@each("family", ["pointwise", "sort", "mixed"])
def test_relatives_of_drawn_programs_can_be_run_and_lack_the_pattern(family: str):
    target = find(f"inductor.programs_{family}")
    made = 0
    for case in draw_cases(target.name, LIMITS, 40, seed=5):
        for issue in ISSUES:
            relative = _relative(issue, case)
            if relative is None or case.program.r == 0:
                continue
            made += 1
            assert target.draw.valid(relative)
            assert not issue.match(relative)
    assert made > 20


def _relative(issue: KnownIssue, case: Case) -> Case | None:
    return issue.relative(case) if issue.relative is not None and issue.match(case) else None


@each("name", ["value-8a5e3e9d32", "value-941e28c89c"])
def test_another_place_than_the_first_among_repeated_boundaries_is_new(name: str):
    rehearsal, outputs = rehearsed(entry(f"inductor.bucketize/{name}"))
    assert rehearsal.judged(outputs, subject="inductor")[1] == ("bucketize-of-repeated-boundaries",)
    assert taken_for(rehearsal, outputs | {"out": outputs["out"] + 2}, subject="inductor") == ()


COORDINATE = apply("mul", X, num(2**31 - 1))


@each("expr, length, dtype, beyond", [
    (COORDINATE, 3, "i64", True), (COORDINATE, 2, "i64", False),
    (apply("to_float", X), 3, "fp64", False),
    (apply("mod", COORDINATE, num(7)), 3, "i32", True),
    (apply("mod", apply("mul", X, num(2**30)), num(7)), 2, "i32", False),
    (apply("int_true_div", COORDINATE, num(16)), 3, "fp64", True),
    (apply("pow_by_natural", apply("mod", X, num(99)), num(5)), 99, "i64", True),
    (apply("mul", Sym(name="n0"), num(2**31 - 1)), 3, "i64", False)])
def test_integers_of_coordinates_beyond_int32_are_found_and_left_out(
        expr: Apply, length: int, dtype: str, beyond: bool):
    case = of_expression(expr, dtype, length=length)
    check_known_and_left_out("index-in-int32", case, beyond)


SIZE = apply("python_mod", Sym(name="n0"), num(97))


@each("expr, dtype, wide", [
    (SIZE, "i32", True), (SIZE, "i64", False), (apply("add", SIZE, X), "i32", True),
    (X, "i32", False), (num(7), "i32", False)])
def test_integers_of_sizes_are_found_and_left_out(expr: Apply | Num | Sym, dtype: str, wide: bool):
    case = of_expression(expr, dtype, length=3)
    check_known_and_left_out("sizes-are-of-64-bits", case, wide)


def test_tensors_of_coordinates_are_carried_on_until_something_is_loaded():
    issue = named("index-in-int32")

    def product(first: Index | Load) -> Case:
        """Of an i64 that is first with a constant; in0 is there whether it is loaded or not."""
        graph = vector(first, constant(str(2**31 - 1), "i64"), Pointwise(op="mul", args=(0, 1)),
                       store("out0", X, 2), in0="i64", out0="i64")
        return compiled(graph, "indexing")

    assert issue.match(product(Index(expr=X, dtype="i64"))) and not issue.match(product(load("in0")))


@each("kind, nodes, wide", [
    ("prod", (Index(expr=apply("add", R_AXIS, num(1))),), True),
    ("prod", (Index(expr=apply("python_mod", R_AXIS, num(2))),), False),
    ("sum", (Index(expr=R_AXIS),), False), ("max", (Index(expr=R_AXIS),), False),
    ("sum", (Index(expr=apply("mul", R_AXIS, num(2**26))),), True),
    ("prod", (Load(buffer="in0", index=X),), False),
    ("prod", (Index(expr=R_AXIS, dtype="i32"), cast(0, "i64")), True),
    ("prod", (Index(expr=R_AXIS), constant("5", "i64"), Pointwise(op="bitwise_xor", args=(0, 1))), False),
    ("max", (Index(expr=R_AXIS), Pointwise(op="bitwise_not", args=(0,)), Pointwise(op="mul", args=(1, 1))), False)])
def test_folds_of_coordinates_beyond_int32_are_found_and_left_out(
        kind: Literal["sum", "prod", "max"], nodes: tuple[Node, ...], wide: bool):
    """33 of them: torch 2.11 multiplies 1 to 33 in int32. A constant or a loaded number makes a sum one of 64 bits."""
    buffers = (Buffer(name="in0", dtype="i64", length=1), Buffer(name="out0", dtype="i64", length=1, role="out"))
    graph = Graph(outer=(1,), r=33, schedules=(Schedule(static=True),), buffers=buffers, nodes=(
        *nodes, Reduce(kind=kind, args=(len(nodes) - 1,)), store("out0", X, len(nodes))))
    case = compiled(graph, "reduction")
    check_known_and_left_out("index-in-int32", case, wide)


def told(case: Case, error: str, *, relatives_fail: bool = True) -> tuple[str, ...]:
    """What an error of the compiler is taken for; nothing is run, and every relative fails, or none."""
    failure = wrong(case)
    assert failure.signature is not None
    signature = replace(failure.signature, verdict=Verdict.COMPILE_ERROR, kind=error, where="")
    found = replace(failure, verdict=Verdict.COMPILE_ERROR, signature=signature)
    return Attribution(lambda relative: wrong(relative, failed=relatives_fail)).issues(case, found)


def check_told(case: Case, error: str, other: str, name: str, known: bool) -> None:
    """Where relatives compile, and there alone, the error is the issue's; another error never is."""
    assert told(case, error, relatives_fail=False) == ((name,) if known else ())
    assert told(case, error) == told(case, other, relatives_fail=False) == ()


def test_doubles_that_are_stored_as_fp8_do_not_compile_and_other_floats_do():
    def stored(dtype: str) -> Case:
        graph = vector(load("in0"), store("out0", X, 0), in0=dtype, out0="fp8e5")
        return compiled(graph, "memory")

    assert told(stored("fp64"), "Unsupported rounding mode for conversion.") == ("fp64-to-fp8",)
    assert told(stored("fp32"), "Unsupported rounding mode for conversion.") == ()
    assert told(stored("fp64"), "Unsupported anything else") == ()
    assert told(stored("i8"), "AssertionError: cannot cast [ N  N -N") == ("bool-to-fp8",)
    assert told(stored("i8"), "AssertionError: cannot cast int8") == ()


@each("columns, combine, place, known", [
    (129, "sum", X, True), (129, "prod", X, True), (128, "sum", X, False), (129, "max", X, False),
    (129, "sum", R, False)])
def test_a_split_scan_of_the_number_of_a_row_does_not_compile_and_other_scans_do(
        columns: int, combine: Literal["sum", "prod", "max"], place: Sym, known: bool):
    graph = matrix(Index(expr=place, dtype="i32"), Scan(combine=combine, args=(0,)), store("out0", at(columns), 1),
                   rows=2, columns=columns, out0=("i32", 2 * columns))
    case = compiled(graph, "scan")
    says = "list indices must be integers or slices, not NoneType"
    assert told(case, says) == (("row-number-in-a-split-scan",) if known else ())
    assert told(case, says.replace("NoneType", "str")) == ()


@each("op, dtype, one, other, known", [
    ("relu", "u8", tl.int32, tl.uint8, True), ("relu", "u8", tl.uint8, tl.int32, True),
    ("relu", "u8", tl.uint8, tl.int64, False), ("relu", "u8", tl.int16, tl.uint8, False),
    ("relu", "i32", tl.uint8, tl.int32, False), ("abs", "u8", tl.uint8, tl.int32, False)])
def test_quotients_of_bytes_and_of_relu_of_bytes_are_known_in_either_order(
        op: str, dtype: str, one: tl.dtype, other: tl.dtype, known: bool):
    """uint8 is the one unsigned type of these programs, and relu of it the one int32 beside it."""
    with pytest.raises(TypeError, match="different signedness") as refusal:
        TritonSemantic(None).computation_type_impl(one, False, other, False, True)
    graph = vector(load("in0"), Pointwise(op=op, args=(0,)), Pointwise(op="trunc_divide", args=(0, 1)),
                   store("out0", X, 2), in0=dtype, out0=dtype)
    case = compiled(graph, "pointwise")
    error = normalise(str(refusal.value))
    check_told(case, error, error.replace("use", "use for bits"), "relu-of-narrow-integers", known)


@each("op, was, becomes, known", [
    ("relu", "uint8", "int32", True), ("relu", "int32", "uint8", False), ("relu", "uint8", "fp32", False),
    ("abs", "uint8", "int32", False)])
def test_a_looped_fold_of_relu_of_bytes_does_not_compile(op: str, was: str, becomes: str, known: bool):
    """As Triton 3.6.0 and 3.9.0 say of the largest, smallest, sum, product and place of it, which torch 2.13 writes."""
    graph = matrix(load("in0", at(3)), Pointwise(op=op, args=(0,)), Reduce(kind="max", args=(1,)), store("out0", X, 2),
                   rows=2, columns=3, in0=("u8", 6), out0=("u8", 2))
    case = compiled(graph, "reduction")
    error = (f"Loop-carried variable _tmp4 has initial type <['N', 'N'], {was}> but is re-assigned to "
             f"<['N', 'N'], {becomes}> in loop! P")
    assert told(case, error, relatives_fail=False) == (("relu-of-narrow-integers",) if known else ())
    assert told(case, error) == ()


@each("converted, to, known", [
    (("fp64",), "fp64", True), (("fp32", "fp64"), "fp64", True), (("bf16",), "fp64", True), ((), "fp64", True),
    (("fp32",), "fp32", False), (("i8", "fp64"), "fp64", False), (("i8",), "fp64", False),
])
def test_fp8_that_becomes_fp64_at_once_or_step_by_step_does_not_compile(
        converted: tuple[str, ...], to: str, known: bool):
    casts = [cast(place, dtype) for place, dtype in enumerate(("fp8e5", *converted))]
    graph = vector(load("in0"), *casts, store("out0", X, len(casts)), in0="bf16", out0=to)
    case = compiled(graph, "memory")
    assert told(case, "Unsupported rounding mode for conversion.") == (
        ("casts-between-8-bit-floats-and-fp64",) if known else ())
    assert told(case, "Unsupported anything else") == ()


def test_a_sum_of_truths_is_no_sum_of_positions_and_what_rewriting_makes_illegal_is_no_control():
    issue = next(one for one in ISSUES if one.name == "positions-in-another-type")
    nodes = (load("in0", at(3)), Reduce(kind="argmin", args=(0,)), op("eq", 1, 1), Reduce(kind="sum", args=(2,)))
    case = compiled(matrix(*nodes, op("minimum", 3, 3), store("out0", X, 4), rows=2, columns=3, in0=("fp32", 6),
                           out0=("i32", 2)), "reduction")
    assert not issue.match(case)
    of_truths = without(lambda analysis, place, node: (
        {3: replace(node, kind="max")} if place == 3 and analysis.dtype(4) == "i32" else {}))
    assert of_truths(case) is None, "minimum takes no truths, and asking for its type is an error"


@each("found, then, fold, known", [
    ("argmin", (), "prod", True), ("argmax", ("relu",), "sum", True), ("argmin", ("abs", "neg"), "sum", True),
    ("argmin", (), "max", False), ("min", (), "prod", False), ("argmin", ("to_fp32",), "sum", False),
])
def test_sums_and_products_of_positions_are_right_as_their_largest(
        found: str, then: tuple[str, ...], fold: str, known: bool):
    issue = next(one for one in ISSUES if one.name == "positions-in-another-type")
    case = entry(issue.entries[0]).case
    assert isinstance(case.program, Graph)
    load, search, last, stored = case.program.nodes
    between = [cast(1, "fp32") if op == "to_fp32" else Pointwise(op=op, args=(1 + place,))
               for place, op in enumerate(then)]
    at = 2 + len(between)
    nodes = (load, replace(search, kind=found), *between, replace(last, kind=fold, args=(at - 1,)),
             replace(stored, value=at))
    made = replace(case, program=replace(case.program, nodes=nodes))
    assert issue.match(made) is known
    if known:
        relative_of(issue, made)
        good = Attribution(lambda one: wrong(one, failed=False))
        assert good.issues(made, wrong(made)) == ("positions-in-another-type",)
        assert Attribution(wrong).issues(made, wrong(made)) == ()


@each("name, issue", [
    ("folding/zero-sign-45a944be94", "negation-by-subtraction"),
    ("folding/value-d90adf04e4", "quotient-of-full-range")])
def test_another_number_than_the_predicted_one_is_new(name: str, issue: str):
    rehearsal, outputs = rehearsed(entry(f"inductor.{name}"))
    assert rehearsal.judged(outputs, subject="inductor")[1] == (issue,)
    assert taken_for(rehearsal, outputs | {"out": outputs["out"] - 2.0**-23}, subject="inductor") == ()


def test_a_negated_expression_of_floats_is_rid_of_its_sign_and_one_of_integers_is_not():
    issue = named("negation-by-subtraction")
    negated = apply("neg", apply("to_float", X))
    case = of_expression(negated, "fp64")
    relative_of(issue, case)
    assert not issue.match(of_expression(apply("neg", X), "i64"))


@each("dtype, op, known", [
    ("fp32", "trunc_divide", True), ("fp16", "trunc_divide", True), ("fp64", "trunc_divide", False),
    ("i32", "trunc_divide", False), ("fp32", "div_rn", False)])
def test_a_quotient_that_is_cut_off_may_be_one_too_small_where_division_is_not_exact(
        dtype: str, op: str, known: bool):
    graph = vector(load("in0"), load("in1"), Pointwise(op=op, args=(0, 1)), store("out0", X, 2),
                   in0=dtype, in1=dtype, out0=dtype)
    case = replace(entry("inductor.programs_pointwise/value-2ac289db77").case, program=graph)
    issue = named("truncated-quotient-within-two-steps")
    assert issue.match(case) == known
    relative = _relative(issue, case) if known else None
    assert not known or (relative is not None and not issue.match(relative))


@each("divisors", [
    (num(5),), (Real(value="-7.0"),), (Real(value="0.7"),), (num(5), Real(value="-7.0"))])
def test_a_product_with_the_reciprocal_for_a_quotient_by_a_number_is_known_and_another_value_is_new(
        divisors: tuple[Num | Real, ...]):
    quotient = apply("mul", X, num(33554433))
    wrong = torch.arange(64, dtype=torch.float64) * 33554433
    for divisor in divisors:
        if isinstance(divisor, Num):
            quotient = apply("int_true_div", quotient, divisor)
        else:
            dividend = quotient if len(divisors) > 1 else apply("to_float", quotient)
            quotient = apply("float_true_div", dividend, divisor)
        wrong = wrong * (1 / float(divisor.value))
    case = of_expression(quotient, "fp64", length=64)
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert not torch.equal(wrong, right) and torch.allclose(wrong, right, rtol=2.0**-51, atol=0)
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ("quotient-by-a-number",)
    wrong[3] *= 1 + 2.0**-50
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ()
    issue = next(one for one in ISSUES if one.name == "quotient-by-a-number" and one.instead)
    relative = issue.instead and issue.instead(case)
    assert relative is not None and not issue.match(relative)


@each("nodes, out, known", [
    ((cast(0, "fp8e5"), cast(1, "fp32"), op("isinf", 2)), "i1", True),
    ((cast(0, "fp8e5"), cast(1, "fp16")), "fp16", True),
    ((cast(0, "fp8e4nv"), cast(1, "fp32"), op("isinf", 2)), "i1", False), ((op("exp", 0),), "fp8e5", False)])
def test_what_is_computed_of_an_overflow_to_fp8e5_is_right_where_nothing_overflows(
        nodes: tuple[Node, ...], out: str, known: bool):
    graph = vector(load("in0"), *nodes, store("out0", X, len(nodes)), in0="fp32", out0=out)
    case = compiled(graph, "mixed")
    issue, = (one for one in ISSUES if one.name == "fp8e5-overflow-saturates" and one.relative)
    relative = _relative(issue, case)
    assert (relative is not None) == known
    if relative is not None:
        assert find(case.target).draw.valid(relative) and not issue.match(relative)
        good = Attribution(lambda one: wrong(one, failed=False))
        assert good.issues(case, wrong(case)) == (issue.name,) and Attribution(wrong).issues(case, wrong(case)) == ()
        assert isinstance(relative.program, Graph)
        found = by_torch.evaluate(relative.program, {"in0": torch.tensor([1e9, -1e9, 2.0, 61440.0])})["out0"]
        assert found.tolist() == ([False] * 4 if out == "i1" else [57344.0, -57344.0, 2.0, 57344.0])
