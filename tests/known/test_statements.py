"""Programs of statements in Triton's interpreter: which failures are known, and what their controls compute."""

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from tests.known.relatives import is_told_by_its_control, relative_of
from tests.known.test_issues import entry
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.extrema import ISSUES as EXTREMA
from tridiff.fuzz.known.statements import ISSUES
from tridiff.fuzz.records import Case, Content, Explicit, LaunchOptions, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements import cases
from tridiff.fuzz.statements.answers import numpy_answer
from tridiff.fuzz.statements.draft import literal, node, variable as name
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.language.script import Node, Script
from tridiff.oracles.dtypes import numpy_dtype

each = pytest.mark.parametrize
PLAIN = LaunchOptions()
KNOWN = {one.name: one for one in ISSUES}


def program(*body: Node, of: Sequence[str], result: str, options: LaunchOptions = PLAIN,
            functions: tuple[Node, ...] = (), constants: tuple[Operand, ...] = ()) -> Case:
    """A case with scalars x0, x1, ... whose program assigns v0. Constants are the last operands."""
    scalars = tuple(Operand(kind="scalar", dtype=one) for one in of)
    script = Script(operands=scalars + constants, body=body, stored=("v0",),
                    results=(Result(dtype=result),), functions=functions)
    given = {f"x{place}": Content(base=Explicit(values=("0",))) for place in range(len(of))}
    case = Case(target="language.functions", sizes=cases.sizes_of(script, 1), program=script,
                arrays=cases.arrays_of(script, given), options=options)
    assert find(case.target).draw.valid(case)
    return case


def same_without(issue: str, case: Case, *inputs: int) -> Case:
    """The relative of a case, which lacks the pattern and computes the same."""
    known = KNOWN[issue]
    relative = relative_of(known, case)
    operands = cases.script_of(case).operands
    given = [np.array([value], numpy_dtype(one.dtype)) for value, one in zip(inputs, operands, strict=True)]
    before, after = ([one.tolist() for one in numpy_answer(of, *given)] for of in (case, relative))
    assert before == after
    return relative


@each("method, second, result", [
    ("aggregate_constant", (), "i32"), ("aggregate_changed", ("x1",), "i8"), ("aggregate_method", ("x1",), "i8")])
def test_what_a_method_does_is_done_to_the_field_in_the_relative(
        method: str, second: Sequence[str], result: str):
    """`Sized(x == x, 3).grown()` is of i32, the field alone of i1: the relative was no legal program."""
    first = name("x0") if second else node("compare", name("x0"), name("x0"), op="==")
    made = node("idiom", first, *map(name, second), name=method)
    case = program(node("assign", made, name="v0"), of=("i8", "i8"), result=result)
    relative = same_without("interpreter-aggregates-have-no-methods", case, 100, 100)
    assert any(one.word("name") == "aggregate" for one in cases.every(relative))


@each("issue", [
    "interpreter-truth-values-are-pythons", "interpreter-loop-variables-are-numbers", "interpreter-choices-are-numbers",
    "interpreter-walrus-names-numbers", "interpreter-min-and-max-are-pythons", "interpreter-unpacks-numbers"])
def test_a_number_that_a_record_refuses_is_known_where_the_control_agrees(issue: str):
    """`Duo(not x, y)`: whatever is a Python number in the interpreter is no tensor for a field."""
    found = entry(KNOWN[issue].entries[0])
    refused = replace(found.signature, verdict=Verdict.CRASH, kind=(
        "TypeError: Expected <class 'triton.language.core.tensor'> for attribute 'a', got <class 'bool'>"))
    failure = outcome_of(found.case, Verdict.CRASH, refused)
    right = is_told_by_its_control(issue, found.case, failure)
    assert Attribution(lambda one: right).issues(found.case, replace(failure, backend="cuda")) == ()


def test_a_truth_value_of_python_is_known_where_a_number_decides_for_the_compiler():
    """`(x0 <= x0 and False) % 1` is 0 when compiled; the remainder of a tensor of truth values is refused."""
    truth = node("compare", name("x0"), name("x0"), op="<=")
    case = program(node("assign", node("binary", node("logic", truth, literal(False), op="and"), literal(1), op="%"),
                        name="v0"), of=("i32",), result="i32")
    relative = relative_of(KNOWN["interpreter-truth-values-are-pythons"], case)
    assert not any(one.row in ("logic", "compare") for one in cases.every(relative))


def test_a_remainder_that_an_answer_of_another_type_does_not_have_is_known():
    """`(Number(x, x) > Backward(x, x)) % 3`: the base on the left answers with truth values."""
    known = KNOWN["aggregates-ask-heirs-last"]
    found = entry(known.entries[0])
    refused = replace(found.signature, verdict=Verdict.COMPILE_ERROR, kind="Cannot use /, #, or % with int1 and int32")
    failure = outcome_of(found.case, Verdict.COMPILE_ERROR, refused, backend="cuda")
    is_told_by_its_control(known.name, found.case, failure)


def test_failures_in_the_interpreter_are_told_by_controls_that_run_there():
    """The walrus also where it names a parameter that is given a number, truth values also where `and` is part of a
    chain: `v1, v2 = x0, x0 != 3 > 3`, `v2.to(tl.int8)`."""
    issues = [one for one in ISSUES if one.stage == "interpreter" and "launch" not in one.errors]
    found = [(one.name, entry(one.entries[0]).case) for one in issues]
    body = node("return", node("cast", node("walrus", name("a1"), name="w2"), to="i8"))
    called = program(node("assign", node("invoke", literal(3), name="f1"), name="v0"), of=("i8",), result="i8",
                     functions=(node("define", node("block", body), name="f1", parameters="a1"),))
    chain = node("compare", name("x0"), name("C1"), name("C1"), op="!= >")
    chained = program(node("unpack", node("tuple", name("x0"), chain), names="v1 v2"), node("assign", node(
        "cast", name("v2"), to="i8"), name="v0"), of=("i8",), result="i8", constants=(
            Operand(kind="constexpr", dtype="i32", number="3"),))
    with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
        for issue, case in (*found, ("interpreter-walrus-names-numbers", called),
                            ("interpreter-truth-values-are-pythons", chained)):
            failed = pool.execute(case, "own")
            if "is taken from Triton" not in failed.reason:
                assert Attribution(lambda one: pool.execute(one, "own")).issues(case, failed) == (issue,)


def test_methods_of_an_heir_that_give_the_type_of_its_second_part_have_a_control():
    made = node("record", name("x0"), name("x1"), names="v0 s1 i2", form="Further", turn="method", carry="",
                take="method")
    relative_of(KNOWN["interpreter-aggregates-have-no-methods"], program(made, of=("i32", "i8"), result="i8"))


def loop(*bounds: Node, of: Sequence[str], dtype: str) -> Case:
    """A loop that adds its variable, converted to i32, to x0."""
    added = node("cast", name("i1"), to="i32", function=True)
    body = node("block", node("augment", added, name="v0", op="+"))
    counted = node("for", *bounds, body, name="i1", loop="range", dtype=dtype)
    first = program(node("assign", name("x0"), name="v0"), of=("i32", *of), result="i32")
    case = cases.with_script(first, replace(cases.script_of(first), body=(*cases.script_of(first).body, counted)))
    assert case is not None and find(case.target).draw.valid(case)
    return case


def test_bounds_that_are_other_numbers_in_the_type_of_the_variable_are_known_and_others_are_not():
    """`range(-1, x)` for an x of u64 begins at 2^64 - 1, and in the interpreter at -1."""
    known = KNOWN["interpreter-loop-variables-are-numbers"]
    for case in (loop(literal(-1), name("x1"), of=("u64",), dtype="u64"),
                 loop(name("x1"), literal(-1), literal(-1), of=("u32",), dtype="u32"),
                 loop(name("x1"), name("x2"), of=("i32", "u32"), dtype="u32")):
        same_without(known.name, case, 5, *[0] * (len(cases.script_of(case).operands) - 1))
    assert not any(map(known.match, (
        loop(literal(-1), name("x1"), of=("i64",), dtype="i64"), loop(literal(0), name("x1"), of=("u64",), dtype="u64"),
        loop(name("x1"), of=("u8",), dtype="i32"), loop(name("x1"), name("x2"), of=("u8", "u32"), dtype="u32"))))


def test_an_unpacked_number_is_known_and_unpacked_tensors_are_not():
    def unpacked(first: Node) -> Case:
        pair = node("tuple", first, name("x0"))
        return program(node("unpack", pair, names="v0 v1"), of=("i32",), result="i32")

    small = node("binary", literal(5), literal(2), op="+")
    for first in (literal(5), small):
        same_without("interpreter-unpacks-numbers", unpacked(first), 3)
    assert not KNOWN["interpreter-unpacks-numbers"].match(unpacked(name("x0")))


@each("outer, inner, op, known", [
    ("tl.minimum", "min", "-", True), ("max", "tl.maximum", "-", True), ("min", "max", "-", False),
    ("min", "min", "~", False)])
def test_a_negation_lost_in_an_extremum_of_three_is_controlled_by_a_complement(outer: str, inner: str, op: str,
                                                                               known: bool):
    negated = node("unary", name("x1"), op=op)
    made = node("call", name("x0"), negated, function=inner)
    made = node("call", made, name("x2"), function=outer)
    case = program(node("assign", made, name="v0"), of=("i32",) * 3, result="i32")
    issue = next(one for one in EXTREMA if one.name == "negation-lost-in-extremum-of-three")
    assert issue.match(case) == known
    if known and issue.relative is not None:
        relative_of(issue, case)
        signature = wrong_in(case, "out0")
        failure = outcome_of(case, Verdict.DISAGREE, signature, backend="cuda")
        is_told_by_its_control(issue.name, case, failure)


def test_the_number_beside_bits_that_are_nan_is_the_extremum_in_the_relative_too():
    issue = next(one for one in EXTREMA if one.name == "interpreter-extrema-give-nan")
    bits = node("cast", name("x0"), to="fp64", bitcast=True)
    for function in ("tl.minimum", "tl.maximum"):
        made = node("call", bits, name("x1"), function=function)
        case = program(node("assign", made, name="v0"), of=("i64", "fp64"), result="fp64")
        relative = relative_of(issue, case)
        for given in ((-1, 5.0), (0, float("nan")), (0, 5.0), (2**62, -3.0)):
            inputs = np.array([given[0]]), np.array([given[1]])
            assert numpy_answer(relative, *inputs) == numpy_answer(case, *inputs)
        is_told_by_its_control(issue.name, case, outcome_of(case, Verdict.DISAGREE, wrong_in(case, "out0")))
