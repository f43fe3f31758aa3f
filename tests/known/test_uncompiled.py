"""Generated programs that torch.compile makes kernels of that do not compile."""

from typing import Literal

import pytest
from msgspec.structs import replace

from tests.known.outcomes import compiled
from tests.known.test_issues import entry
from tests.known.test_programs import check_told, told, wrong
from tests.unit.graphs.graphs import X, apply, at, cast, constant, load, matrix, num, op, store, vector
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.uncompiled import ISSUES
from tridiff.fuzz.records import Verdict
from tridiff.kernels.codegen.graph import Apply, Graph, Index, Node, Real, Reduce, Sym

each = pytest.mark.parametrize


def test_an_index_of_an_extremum_is_known_where_it_is_folded_again():
    found = entry("inductor.programs_reduction/loop-carried-variable--t-9812ae584a")
    issue, = (one for one in ISSUES if one.name == "index-of-an-extremum-as-a-float")
    assert issue.concerns(found.case, "inductor") and issue.tells(found.signature)
    kind = found.signature.kind
    assert issue.tells(replace(found.signature, kind=kind.replace("fp32", "fp64"))), "where doubles are searched"
    assert not issue.tells(replace(found.signature, kind=kind.replace("fp32", "int32")))
    assert not issue.tells(replace(found.signature, kind=kind.replace("int64", "int32")))
    assert isinstance(found.case.program, Graph)
    loaded = replace(found.case.program, nodes=tuple(
        one if place != 2 else replace(one, args=(0,)) for place, one in enumerate(found.case.program.nodes)))
    assert not issue.match(replace(found.case, program=loaded))


@each("dtype, known", [("fp8e4nv", True), ("fp8e5", True), ("bf16", False)])
def test_a_constant_of_fp8_is_known_not_to_compile_also_where_only_its_bits_are_taken(dtype: str, known: bool):
    bits = "i16" if dtype == "bf16" else "i8"
    graph = vector(constant("0.5", dtype), cast(0, bits, bitcast=True), store("out0", X, 1), out0=bits)
    case = compiled(graph, "pointwise")
    error = "'triton._C.libtriton.ir.builder' object has no attribute 'get_fp8e5'"
    assert told(case, error) == (("constants-of-fp8",) if known else ())
    assert told(case, error.replace("get_fp8e5", "get_bf16")) == ()


@each("first, second, combined, known", [
    ("max", "max", "bitwise_or", True), ("any", "max", "logical_and", True), ("max", "any", "bitwise_or", False),
    ("min", "max", "bitwise_or", False), ("max", "max", "ne", True)])
def test_a_fold_of_a_folded_truth_is_known_if_any_of_it_compiles(
        first: Literal["max", "any", "min"], second: Literal["max", "any"], combined: str, known: bool):
    graph = matrix(load("in0", at(3)), Reduce(kind=first, args=(0,)), op(combined, 0, 1),
                   Reduce(kind=second, args=(2,)), store("out0", X, 3), rows=2, columns=3,
                   in0=("i1", 6), out0=("i1", 2))
    case = compiled(graph, "reduction")
    error = ("Loop-carried variable _tmp14 has initial type <['N', 'N'], int1> but is re-assigned to <['N', 'N'], "
             "int8> in loop! Pleas")
    check_told(case, error, error.replace("int8", "int32"), "folded-truth-of-eight-bits", known)
    assert Attribution(lambda relative: wrong(relative, failed=False)).issues(case, wrong(case)) == ()


@each("other, op_name, known", [
    (Index(expr=X, dtype="i64"), "trunc_divide", True), (load("in0"), "trunc_divide", False),
    (Index(expr=X, dtype="i64"), "floor_divide", False)])
def test_bounds_of_a_truncated_quotient_of_coordinates_are_known_if_its_floor_compiles(
        other: Node, op_name: str, known: bool):
    graph = vector(Index(expr=X, dtype="i64"), other, op(op_name, 0, 1), load("in0"), op("add", 2, 3),
                   store("out0", X, 4), in0="i64", out0="i64")
    case, error = compiled(graph, "pointwise"), "Invalid NaN comparison"
    check_told(case, error, "Invalid comparison", "bounds-of-a-truncated-quotient", known)


def test_logic_of_a_scalar_truth_is_known_in_the_interpreter_if_a_comparison_in_its_place_runs():
    found = entry("inductor.programs_pointwise/typeerror--ufunc--bitwis-209e00aa7d")
    signature = found.signature

    def named(*, failed: bool, backend: str = "interpreter", kind: str = signature.kind) -> tuple[str, ...]:
        ended = replace(wrong(found.case), backend=backend, verdict=Verdict.CRASH,
                        signature=replace(signature, kind=kind))
        return Attribution(lambda relative: replace(wrong(relative, failed=failed), backend=backend)).issues(
            found.case, ended)

    assert named(failed=False) == ("interpreter-comparisons-of-floats-are-floats",)
    assert named(failed=True) == named(failed=False, backend="cuda") == ()
    assert named(failed=False, kind=signature.kind.replace("bitwise_and", "add")) == ()


_BELOW = apply("add", X, num(-1))


@each("cut, known", [
    (apply("max", _BELOW, num(0)), True), (apply("max", num(1), _BELOW), True), (apply("max", _BELOW, num(2)), False),
    (apply("min", _BELOW, num(0)), False)])
@each("loads", [False, True])
def test_a_quotient_of_coordinates_that_are_cut_at_0_or_1_is_known_if_it_compiles_cut_elsewhere(
        cut: Apply, known: bool, loads: bool):
    index = apply("abs", apply("floordiv", cut, num(2)))
    graph = vector(load("in0", index) if loads else Index(expr=index, dtype="i64"), store("out0", X, 0), length=3,
                   out0="i64", **{"in0": "i64"} if loads else {})
    case, error = compiled(graph, "indexing"), "vr must not be None for symbol q0"
    check_told(case, error, "no range for symbol q0", "ranges-lost-in-simplify", known)


def test_coordinates_that_an_operation_cuts_at_0_are_known_and_elements_are_not():
    for node, known in ((Index(expr=X, dtype="i64"), True), (load("in0"), False)):
        graph = vector(node, constant("0", "i64"), op("maximum", 0, 1), store("out0", X, 2),
                       out0="i64", **{} if known else {"in0": "i64"})
        found = told(compiled(graph, "indexing"), "vr must not be None for symbol q0", relatives_fail=False)
        assert found == (("ranges-lost-in-simplify",) if known else ())


@each("function, name, known", [
    ("python_mod", "n0", True), ("floordiv", "n0", False), ("python_mod", "x0", False)])
def test_a_float_of_a_remainder_of_sizes_does_not_compile(function: str, name: str, known: bool):
    expr = apply("float_true_div", apply("to_float", apply(function, Sym(name=name), num(3))), Real(value="2.0"))
    graph = vector(Index(expr=expr, dtype="fp64"), store("out0", X, 0), out0="fp64")
    error = "type object 'TensorReferenceAnalysis' has no attribute 'python_mod'"
    assert told(compiled(graph, "memory"), error) == (("float-of-a-remainder-of-sizes",) if known else ())
    assert told(compiled(graph, "memory"), error.replace("python_mod", "floordiv")) == ()
