"""Which programs have a form that is known to be compiled wrong, and what near relatives lack it."""

from typing import Literal

import pytest
from msgspec.structs import replace

from tests.unit.graphs.graphs import (
    R,
    X,
    apply,
    at,
    case_of,
    cast,
    constant,
    linear,
    load,
    matrix,
    num,
    of_three,
    op,
    store,
    vector,
)
from tridiff.fuzz.known.graphs import forms, index_forms
from tridiff.fuzz.known.graphs.form import Changes, changed
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.targets.codegen import TARGETS
from tridiff.kernels.codegen.graph import (
    Apply,
    Asm,
    Cast,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Part,
    Pointwise,
    Reduce,
    Scan,
    Schedule,
    Sort,
    Sym,
)

each = pytest.mark.parametrize
named = forms.named


def without(graph: Graph) -> Graph:
    """The graph with near relatives of all nodes of a known form."""
    while True:
        found: Changes = {}
        for form in forms.FORMS:
            for _, _, changes in form.found(graph):
                found |= changes
        relative = changed(graph, found)
        if relative == graph:
            return graph
        graph = relative


def check_named(graph: Graph, name: str, known: bool) -> None:
    """The name is the graph's where it is known, and its relative has none."""
    assert named(graph) == (name if known else "")
    assert named(without(graph)) == ""


@each("dtype, other, known", [
    ("i16", "-5", True), ("i16", "5", False), ("i16", "-1", False), ("u8", "128", True), ("u8", "255", False),
    ("i32", "-5", False), ("fp16", "-5.0", False)])
def test_negative_others_of_narrow_integers_are_told_from_others(dtype: str, other: str, known: bool):
    graph = vector(Index(expr=apply("lt", X, num(2)), dtype="i1"),
                   Load(buffer="in0", index=X, mask=0, other=other), store("out0", X, 1), in0=dtype, out0=dtype)
    assert named(graph) == ("negative other of 8 or 16 bits" if known else "")
    assert named(linear(dtype)) == ""


@each("exponent, known", [("-2147483648", True), ("-2147483647", False)])
def test_an_undefined_exponent_is_told_from_others(exponent: str, known: bool):
    graph = linear("fp32", constant(exponent, "i32"), op("ldexp", 0, 1))
    assert named(graph) == ("ldexp by -2^31" if known else "")


@each("a, b, becomes, known", [
    ("fp16", "fp16", "bf16", True), ("fp16", "fp16", "fp16", False), ("bf16", "bf16", "fp16", True),
    ("fp16", "bf16", "bf16", True), ("fp16", "bf16", "fp16", False), ("fp16", "fp32", "bf16", False),
    ("fp8e5", "bf16", "bf16", True)])
@each("converted", [True, False])
def test_a_remainder_of_halves_that_ends_the_compiler_is_told_from_others(
        a: str, b: str, becomes: str, known: bool, converted: bool):
    last = (cast(4, becomes), store("out0", X, 5)) if converted else (store("out0", X, 4),)
    graph = vector(load("in0"), load("in1"), cast(0, "fp32"), cast(1, "fp32"), op("mod_operator", 2, 3), *last,
                   in0=a, in1=b, out0=becomes)
    check_named(graph, "remainder of halves", known)


@each("between, known", [
    (op("abs_tl", 2), True), (op("neg", 2), True), (Masked(mask=3, arg=2, other="0"), True),
    (op("where", 3, 2, 0), True), (op("sqrt", 2), False), (Masked(mask=4, arg=0, other="0"), False)])
def test_such_a_remainder_may_become_the_other_half_behind_a_sign_or_a_choice(between: Node, known: bool):
    graph = vector(load("in0"), load("in1"), op("mod_operator", 0, 1), load("in2"), op("lt", 2, 0), between,
                   store("out0", X, 5), in0="fp16", in1="fp16", in2="i1", out0="bf16")
    check_named(graph, "remainder of halves", known)


@each("node, known, drawn", [
    (Asm(body="lop3_xor", args=(0, 1, 1)), "lop3 of one register twice", Asm(body="add_s32", args=(0, 1))),
    (Asm(body="lop3_xor", args=(0, 0, 0)), "", None), (Asm(body="lop3_xor", args=(0, 1, 2)), "", None),
    (Masked(mask=3, arg=4, other="-0.0"), "choice of 1 or -0.0", Masked(mask=3, arg=4, other="0.0")),
    (Masked(mask=3, arg=4, other="0.0"), "", None)])
def test_the_relative_of_a_form_differs_in_the_node_that_makes_it(
    node: Asm | Masked, known: str, drawn: Asm | Masked | None
):
    graph = of_three(op("eq", 0, 1), constant("1.0", "fp32"), node)
    assert named(graph) == known
    found = without(graph)
    assert found.nodes[5] == (drawn or node) and named(found) == ""


@each("nodes, known", [
    ((op("abs_libdevice", 0),), "libdevice.abs of integers"), ((op("abs", 0),), ""),
    ((op("neg", 1), op("minimum", 0, 3), op("minimum_tl", 4, 2)),
     "extremum of three, one negated"),
    ((op("neg", 1), op("maximum", 0, 3), op("minimum", 4, 2)), ""), ((op("minimum", 0, 1), op("minimum", 3, 2)), ""),
    ((constant("0", "i32"), op("sub", 3, 1), op("maximum", 0, 2),
      op("maximum", 4, 5)), "extremum of three, one negated"),
    ((op("eq", 0, 1), cast(3, "u16"), cast(4, "bf16", bitcast=True),
      cast(5, "fp16")), "truth as bits of bf16 to fp16"),
    ((op("eq", 0, 1), cast(3, "u16"), cast(4, "bf16", bitcast=True),
      cast(5, "fp32")), ""),
    ((op("eq", 0, 1), cast(3, "i16"), cast(4, "fp16", bitcast=True)),
     "truth as bits of fp16"),
    ((cast(0, "i16"), cast(3, "fp16", bitcast=True)), ""), ((op("abs", 0), op("lt", 3, 1)), "sign of an integer's abs"),
    ((op("abs_tl", 0), cast(3, "i64"), cast(1, "i64"),
      op("remainder", 4, 5)), "sign of an integer's abs"),
    ((op("abs", 0), Load(buffer="in1", index=apply("python_mod", Sym("v3"), num(4)),
                                           checked=True)), "sign of an integer's abs"),
    ((constant("9", "i32"), op("abs", 0), op("minimum", 4, 3), op("remainder", 5, 1)), "sign of an integer's abs"),
    ((constant("9", "i32"), op("abs", 0), op("lt", 0, 1), op("where", 5, 4, 3), op("lt", 6, 1)),
     "sign of an integer's abs"),
    ((op("abs", 0), op("lt", 0, 1), Masked(mask=4, arg=3, other="7"), op("sign", 5)), "sign of an integer's abs"),
    ((op("abs", 0), op("minimum", 3, 1), op("lt", 0, 1), op("where", 5, 3, 1), op("remainder", 4, 6)), ""),
    ((cast(0, "i16"), op("abs", 3), cast(4, "i32")), "sign of an integer's abs"),
    ((cast(0, "i16"), op("abs", 3), cast(4, "u16"), cast(5, "i32"), cast(4, "fp32"), op("add", 4, 3)), ""),
    ((cast(0, "i16"), constant("9", "i16"), op("abs", 3), op("minimum", 5, 4), cast(6, "i32")), ""),
    ((cast(0, "i16"), op("neg", 3), cast(4, "i64")), "sign of a negated i16"),
    ((op("abs", 0), op("add", 3, 1), cast(3, "fp32"), cast(3, "i64")), ""),
    ((cast(0, "fp32"), op("abs", 3), op("sign", 4)), ""),
    ((constant("1e-40", "fp32"), op("asin", 3)), "library of a subnormal constant"),
    ((constant("2", "i32"), cast(3, "fp32", bitcast=True), cast(0, "fp32"),
      op("atan2", 5, 4)), "library of a subnormal constant"),
    ((constant("0.5", "fp32"), op("asin", 3)), ""), ((cast(0, "fp32", bitcast=True), op("asin", 3)), ""),
    ((Index(expr=apply("pow_by_natural", X, num(0)), dtype="i32"), cast(3, "fp32", bitcast=True),
      op("asin", 4)), "library of a subnormal constant"),
    ((constant("2", "i32"), op("logical_or", 0, 3), cast(4, "i32"), cast(5, "fp32", bitcast=True),
      op("y0", 6)), "library of a subnormal constant"),
    ((op("logical_or", 0, 1), cast(3, "i32"), cast(4, "fp32", bitcast=True), op("y0", 5)), ""),
    ((cast(0, "i16"), op("neg", 3), cast(1, "i16"), op("lt", 4, 5)), "sign of a negated i16"),
    ((cast(0, "i16"), constant("0", "i16"), op("sub", 4, 3), op("right_shift", 5, 4)), "sign of a negated i16"),
    ((cast(0, "i16"), op("neg", 3), cast(1, "i16"), op("eq", 4, 5)), ""),
    ((cast(0, "i16"), op("neg", 3), op("minimum", 4, 3), op("signbit", 5)), "sign of a negated i16"),
    ((cast(0, "i8"), op("neg", 3), cast(1, "i8"), op("lt", 4, 5)), ""),
    ((cast(0, "i8"), cast(1, "i8"), op("maximum", 3, 4), op("relu", 5)), "relu of a narrow extremum"),
    ((cast(0, "i16"), cast(1, "i16"), op("minimum", 3, 4), constant("0", "i16"), op("maximum", 5, 6)),
     "relu of a narrow extremum"),
    ((op("maximum", 0, 1), op("relu", 3)), ""), ((cast(0, "i8"), op("relu", 3)), ""),
    ((cast(0, "i8"), op("relu", 3), op("lt", 0, 1), Masked(mask=5, arg=4, other="3"), op("where", 5, 3, 6),
      op("maximum", 3, 7)), "relu of a narrow extremum"),
    ((cast(0, "i8"), cast(1, "i8"), op("relu", 3), op("minimum", 4, 5)), "")])
def test_forms_that_are_compiled_wrong_are_named_and_have_relatives(nodes: tuple[Node, ...], known: str):
    graph = of_three(*nodes)
    assert named(graph) == known
    found = without(graph)
    assert named(found) == "" and (found == graph) == (known == "")


@each("dtype, columns, node, known", [
    ("i16", 4, Reduce(kind="argmin", args=(1,)), True), ("i16", 4, Scan(combine="max", args=(1,)), True),
    ("i16", 4, Sort(arg=1), True), ("i32", 4, Reduce(kind="min", args=(1,)), False),
    ("i32", 1, Reduce(kind="min", args=(1,)), True)])
def test_folds_compare_absolute_numbers_of_16_bits_and_hand_one_number_on(dtype: str, columns: int, node: Node,
                                                                          known: bool):
    graph = matrix(load("in0", at(columns)), op("abs", 0), node, op("sign", 2), rows=1, columns=columns,
                   in0=(dtype, columns))
    assert [place for place, _, _ in forms.SIGN_OF_ABSOLUTE.found(graph)] == ([1] if known else [])


@each("dtype, kind, nodes, known", [
    ("i32", "min", (op("neg", 0),), True), ("i16", "max", (op("abs", 0),), True),
    ("i32", "min", (op("abs", 0),), False), ("i32", "min", (op("neg", 0), op("minimum", 0, 1)), True),
    ("i64", "min", (op("neg", 0),), False), ("i32", "sum", (op("neg", 0),), False)])
def test_an_extremum_of_a_row_loses_signs_too(dtype: str, kind: str, nodes: tuple[Node, ...], known: bool):
    place = len(nodes)
    graph = matrix(load("in0", at(4)), *nodes, Reduce(kind=kind, args=(place,)), store("out0", X, place + 1), rows=2,
                   columns=4, in0=(dtype, 8), out0=("i64", 2))
    check_named(graph, "extremum of a row, negated", known)


@each("source, between, last, becomes, known", [
    ("fp16", op("mul", 0, 0), op("logical_not", 2), "i1", True), ("fp16", op("mul", 0, 0), cast(2, "fp32"), "i1", True),
    ("bf16", cast(0, "bf16"), op("ne", 2, 4), "i1", True), ("fp16", op("mul", 0, 0), cast(2, "fp32"), "fp32", False),
    ("fp16", op("mul", 0, 0), op("lt", 2, 4), "i1", False),
    ("fp32", op("mul", 0, 0), cast(2, "i1"), "i1", False)])
def test_bits_of_computed_halves_are_converted_where_they_are_compared_with_zero(
        source: str, between: Cast | Pointwise, last: Cast | Pointwise, becomes: str, known: bool):
    other = {"fp16": "bf16", "bf16": "fp16"}.get(source, "i32")
    nodes = (load("in0"), between, cast(1, other, bitcast=True), constant("0", "i32"), cast(3, other), last,
             store("out0", X, 5))
    graph = vector(*nodes, in0=source, out0=becomes)
    loaded = replace(graph, nodes=(nodes[0], nodes[0], *nodes[2:]))
    assert named(graph) == ("bits of a half compared with 0" if known else "") and named(loaded) == ""
    found = without(graph).nodes[2]
    assert named(without(graph)) == "" and found == replace(nodes[2], bitcast=not known)


@each("stored, known", [("fp32", True), ("fp16", False), ("", False)])
@each("between, same", [((), True), ((op("fmin", 1, 1),), True), ((op("add", 1, 1),), False)])
def test_bits_of_a_loaded_half_are_too_where_it_is_used_as_a_number_as_well(
        stored: str, known: bool, between: tuple[Node, ...], same: bool):
    nodes = (load("in0"), cast(0, "bf16", bitcast=True), *between, op("logical_not", 1 + len(between)),
             store("out0", X, 2 + len(between)))
    kinds = {"in0": "fp16", "out0": "i1"}
    graph = vector(*nodes, store("out1", X, 0), **kinds, out1=stored) if stored else vector(*nodes, **kinds)
    assert named(graph) == ("bits of a half compared with 0" if known and same else "")


@each("dtype, product, known", [
    ("fp32", op("mul", 0, 1), True), ("fp64", op("mul", 0, 1), True), ("fp32", op("mul", 0, 0), False),
    ("fp32", op("add", 0, 1), False), ("i32", op("mul", 0, 1), False), ("fp16", op("mul", 0, 1), False)])
def test_the_absolute_value_of_a_product_of_two_floats_may_be_the_product(dtype: str, product: Node,
                                                                          known: bool):
    graph = vector(load("in0"), load("in1"), product, op("abs", 2), store("out0", X, 3), in0=dtype, in1=dtype,
                   out0=dtype)
    found = list(forms.ABS_OF_PRODUCT.found(graph))
    assert [place for place, _, _ in found] == ([3] if known else [])
    made = list(forms.ABS_OF_PRODUCT.defective(graph))
    assert [one.nodes[3] for one in made] == ([op("maximum", 2, 2)] if known else [])


@each("name, comes", [("fmod", [op("maximum", 2, 2)]), ("remainder", [op("maximum", 2, 2), op("add", 2, 0)]),
                      ("mod_operator", [])])
def test_a_remainder_of_a_product_of_two_floats_may_be_the_product(name: str, comes: list[Node]):
    graph = vector(load("in0"), load("in1"), op("mul", 0, 1), op(name, 2, 0), store("out0", X, 3), in0="fp32",
                   in1="fp32", out0="fp32")
    assert [one.nodes[3] for one in forms.ABS_OF_PRODUCT.defective(graph)] == comes


@each("kind, asks, known", [
    ("fp64", op("frexp", 2), True), ("fp64", cast(2, "i64", bitcast=True), True),
    ("fp32", op("frexp", 2), False), ("fp64", cast(2, "i64"), False)])
def test_bits_of_an_absolute_double_are_told_from_others(kind: str, asks: Node, known: bool):
    last = (Part(of=3, item=1), store("out0", X, 4)) if isinstance(asks, Pointwise) else (store("out0", X, 3),)
    graph = vector(load("in0"), op("add", 0, 0), op("abs_tl", 1), asks, *last, in0=kind,
                   out0="i32" if isinstance(asks, Pointwise) else "i64")
    assert named(graph) == ("bits of an abs of fp64" if known else "")
    relative = without(graph)
    assert named(relative) == "" and relative.nodes[2] == (op("neg", 1) if known else op("abs_tl", 1))


@each("dtype, fusion, known", [
    ("fp32", True, "pow, fused"), ("fp32", False, ""), ("bf16", True, "pow, fused"), ("fp64", True, ""),
    ("i32", True, "")])
def test_a_pow_of_single_precision_is_inaccurate_under_fusion_only(dtype: str, fusion: bool, known: str):
    case = case_of(linear(dtype, op("pow", 0, 0)), dtype, options=LaunchOptions(enable_fp_fusion=fusion))
    target, = (one for one in TARGETS if one.name == case.target)
    assert target.judge.label(case) == known


@each("dtype, node, block, warps, known", [
    ("i64", op("trunc_divide", 0, 0), 2048, 1, True), ("i64", op("trunc_divide", 0, 0), 2048, 2, False),
    ("i64", op("trunc_divide", 0, 0), 1024, 1, False), ("i32", op("trunc_divide", 0, 0), 2048, 1, False),
    ("i64", op("mul", 0, 0), 2048, 1, False)])
def test_divisions_in_threads_that_hold_many_elements_are_named(dtype: str, node: Pointwise, block: int, warps: int,
                                                                known: bool):
    graph = replace(linear(dtype, node), schedules=(Schedule(x_blocks=(block,)),))
    target, = (one for one in TARGETS if one.name == "codegen.pointwise")
    about = target.judge.label(case_of(graph, dtype, options=LaunchOptions(num_warps=warps)))
    assert about == ("calls among spilled registers" if known else "")


@each("target, node, value, known, drawn", [
    ("fp8e5", op("ldexp", 1, 2), "0.0", "fp8 of what folds", cast(2, "fp32")),
    ("fp32", op("ldexp", 1, 2), "0.0", "", None), ("fp8e5", op("ldexp", 1, 2), "1e-3", "", None),
    ("fp8e4nv", op("pow", 1, 0), "1.0", "fp8 of what folds", op("add", 1, 0)),
    ("fp8e4nv", op("pow", 0, 1), "1.0", "", None),
    ("fp8e4nv", op("pow", 0, 1), "-0.0", "fp8 of what folds", op("add", 0, 1)),
    ("fp8e4nv", op("gt", 0, 0), "1.0", "fp8 of what folds", op("ne", 0, 0)),
    ("fp8e5", op("le", 2, 1), "2147483647", "fp8 of what folds", op("ne", 2, 1)),
    ("fp8e5", op("gt", 2, 2), "1.0", "", None), ("fp8e5", op("add", 0, 1), "nan", "fp8 of what folds", None),
    ("fp16", op("add", 0, 1), "nan", "", None)])
def test_what_folds_beside_fp8_has_a_relative_that_does_not(target: str, node: Pointwise, value: str, known: str,
                                            drawn: Cast | Pointwise | None):
    number = constant(value, "i32" if value.isdigit() else "fp32")
    graph = vector(load("in0"), number, load("in1"), node, store("out0", X, 3), in0="fp32", in1="i32", out0=target)
    found = without(graph)
    assert named(graph) == known and named(found) == "" and found.nodes[3] == (drawn or node)


_ZERO = Index(expr=apply("mul", apply("floordiv", Sym("n0"), num(8)), X), dtype="i32")


@each("node, value, known", [
    (op("floor_divide", 1, 2), "0", True), (op("remainder", 1, 2), "0", True), (op("right_shift", 1, 0), "0", True),
    (op("pow", 1, 0), "1", True), (op("maximum", 1, 0), "2147483647", True), (op("trunc_divide", 2, 2), "7", True),
    (op("floor_divide", 3, 2), "7", True), (op("where", 4, 1, 2), "2147483647", True),
    (op("where", 4, 1, 3), "7", False), (op("floor_divide", 1, 2), "7", False), (op("maximum", 1, 0), "7", False),
    (op("eq", 0, 1), "7", False), (op("add", 1, 0), "0", False),
    (op("mul", 1, 0), "0", False), (op("sub", 0, 0), "0", False), (op("bitwise_xor", 0, 0), "0", False),
    (op("sub", 1, 3), "7", False)])
@each("target", ["fp8e4nv", "bf16"])
def test_one_number_whatever_is_loaded_makes_equal_pairs_of_fp8_unless_triton_folds_it(
        node: Pointwise, value: str, known: bool, target: str):
    """By the code that 3.6.0 makes of them: one cvt.rn.satfinite.e4m3x2.f32, and PACK_AB_MERGE_C with R1."""
    graph = vector(load("in0"), constant(value, "i32"), op("maximum", 0, 1), _ZERO, op("lt", 0, 1), node,
                   store("out0", X, 5), in0="i32", out0=target)
    assert named(graph) == ("fp8 of what folds" if known and target == "fp8e4nv" else "")


@each("mask, known", [(Index(expr=apply("ge", X, num(2)), dtype="i1"), "fp8 of what folds"), (op("ne", 0, 0), "")])
def test_truth_that_axes_decide_is_named_where_it_becomes_fp8(mask: Node, known: str):
    graph = vector(load("in0"), mask, op("eq", 0, 0), Masked(mask=1, arg=2, other="true"), cast(3, "fp8e5"),
                   store("out0", X, 4), in0="i32", out0="fp8e5")
    assert named(graph) == known and without(graph) == graph


@each("between, known", [(cast(0, "fp8e5"), True), (load("in1"), False)])
def test_powers_to_the_bits_of_an_fp8_have_a_sum_as_relative(between: Node, known: bool):
    graph = vector(load("in0"), between, cast(1, "i8", bitcast=True), cast(2, "i32"), op("pow", 0, 3),
                   store("out0", X, 4), in0="i32", in1="fp8e5", out0="i32")
    assert named(graph) == ("power to the bits of an fp8" if known else "")
    assert without(graph).nodes[4] == (op("add", 0, 3) if known else graph.nodes[4])


@each("dtype, block, known", [("i8", 8, True), ("i16", 8, True), ("i16", 4, False), ("i32", 8, False)])
def test_16_bit_sums_of_lanes_beyond_an_axis_are_named(dtype: str, block: int, known: bool):
    gather = vector(load("in0"), Load(buffer="in1", index=Sym(name="v0"), checked=True), store("out0", X, 1),
                    in0=dtype, in1="fp32", out0="fp32")
    total = linear(dtype, constant("2", dtype), op("add", 0, 1))
    for graph in (gather, total):
        graph = replace(graph, schedules=(Schedule(x_blocks=(block,), static=True),))
        assert named(graph) == ("half of a 16-bit sum" if known else "") and without(graph) == graph


@each("node, users, known", [
    (op("add", 0, 1), 2, True), (op("sub", 0, 1), 2, True), (op("sub", 1, 0), 2, False), (op("add", 0, 1), 1, False),
    (op("add", 0, 0), 2, False), (op("mul", 0, 1), 2, False)])
def test_a_16_bit_sum_with_a_constant_and_several_users_has_a_relative_that_is_no_sum(node: Pointwise, users: int,
                                                                                      known: bool):
    graph = vector(load("in0"), constant("2", "i16"), node, op("relu", 2), store("out0", X, 3),
                   store("out1", X, 2 if users == 2 else 0), in0="i16", out0="i16", out1="i16")
    assert named(graph) == ("16-bit sum with several users" if known else "")
    assert without(graph).nodes[2] == (replace(node, op="bitwise_xor") if known else node)


@each("dtype, limit, between, last, known", [
    ("i64", "-2", "neg", "maximum_tl", True), ("i64", "-2", "neg", "minimum", True),
    ("i32", "-2", "neg", "maximum_tl", False), ("i64", "2", "neg", "maximum_tl", False),
    ("i64", "-2", "bitwise_not", "maximum_tl", False), ("i64", "-2", "neg", "add", False)])
def test_the_limit_of_a_negated_abs_of_64_bits_is_told_from_others(dtype: str, limit: str, between: str, last: str,
                                                                   known: bool):
    graph = linear(dtype, op("abs", 0), op(between, 1), constant(limit, dtype), op(last, 2, 3))
    assert [position for position, _, _ in forms.LIMIT.found(graph)] == ([4] if known else [])


@each("expr, known", [
    (apply("min", apply("min", apply("neg", X), num(5)), num(3)), True),
    (apply("max", num(3), apply("max", apply("mul", X, num(-1)), num(5))), True),
    (apply("max", apply("min", apply("neg", X), num(5)), num(3)), False),
    (apply("min", apply("neg", X), num(5)), False), (apply("min", apply("min", X, num(5)), num(3)), False)])
def test_an_extremum_of_three_with_a_negation_in_an_index_is_told_from_others(expr: Apply, known: bool):
    graph = vector(Index(expr=expr, dtype="i32"), store("out0", X, 0), out0="i32")
    assert named(graph) == ("extremum of three, one negated" if known else "")
    ((_, _, made),) = index_forms.EXTREMUM_IN_INDEX.found(graph) if known else ((0, None, {0: graph.nodes[0]}),)
    assert (made[0] != graph.nodes[0]) == known and not any(index_forms.EXTREMUM_IN_INDEX.found(changed(graph, made)))


@each("length, known", [(129, True), (135, True), (136, False), (192, False), (255, False)])
def test_16_bit_sums_are_paired_where_an_axis_ends_within_a_thread(length: int, known: bool):
    """Also those of a range, of which the compiler makes a difference and one comparison."""
    within = apply("and", apply("ge", Sym(name="v0"), num(-16)), apply("lt", Sym(name="v0"), num(16)))
    asked = vector(load("in0"), Index(expr=within, dtype="i1"), store("out0", X, 1), length=length, in0="i16",
                   out0="i1")
    asked = replace(asked, schedules=(Schedule(x_blocks=(256,), static=True),))
    assert named(asked) == ("half of a 16-bit sum" if known else "")
    told = replace(asked, schedules=(Schedule(x_blocks=(256,), static=False),))
    assert named(told) == ""


@each("float_bits, known", [(True, True), (False, False)])
def test_integer_products_of_float_bits_have_a_relative(float_bits: bool, known: bool):
    computed = op("mul", 0, 0) if float_bits else load("in0")
    graph = vector(load("in0"), computed, cast(1, "i32", bitcast=True), load("in1"), op("minimum", 2, 2),
                   op("mul", 3, 4), store("out0", X, 5), in0="fp32", in1="i32", out0="i32")
    found = without(graph)
    assert named(graph) == ("integer product of a float product" if known else "") and named(found) == ""
    assert found.nodes[5] == (op("bitwise_xor", 3, 4) if known else graph.nodes[5])


@each("dtype, name, known", [("i16", "pow", True), ("u16", "pow", True), ("i32", "pow", False), ("i16", "mul", False)])
def test_a_power_of_16_bit_integers_loops_and_a_product_does_not(dtype: str, name: str, known: bool):
    graph = linear(dtype, load("in0"), op(name, 0, 0))
    check_named(graph, "power of 16-bit integers", known)


@each("length, dtype, known", [(1, "fp8e4nv", True), (4, "fp8e4nv", False), (1, "bf16", False)])
def test_what_all_load_from_one_element_makes_equal_pairs_of_fp8(length: int, dtype: str, known: bool):
    graph = vector(load("in0", num(0)), store("out0", X, 0), length=8, in0="bf16", out0=dtype)
    graph = replace(graph, buffers=tuple(replace(one, length=length) if one.name == "in0" else one
                                         for one in graph.buffers))
    assert (named(graph) != "") == known


@each("of, to, known", [("fp8e5", "bf16", True), ("fp8e5", "fp16", False), ("fp8e4nv", "bf16", False)])
@each("converted", [True, False])
def test_fp8e5_that_becomes_bf16_is_named_and_fp16_takes_its_place(of: str, to: str, known: bool,
                                                                   converted: bool):
    nodes = (cast(0, to),) if converted else ()
    graph = vector(load("in0"), *nodes, store("out0", X, len(nodes)), in0=of, out0=to)
    check_named(graph, "fp8e5 to bf16", known)


def _few(value: int, name: str, *, of: int = 0) -> tuple[Node, ...]:
    return constant(str(value), "i32"), op(name, of, of + 1)


@each("nodes, upcast, known", [
    (_few(-(2**31), "bitwise_and"), False, True), (_few(-(2**31), "bitwise_and"), True, False),
    (_few(2**27 - 2**16, "bitwise_and"), False, True), (_few(2**27 - 2**15, "bitwise_and"), False, False),
    (_few(2**16 - 2**5, "bitwise_and"), False, False), (_few(22, "left_shift"), False, True),
    (_few(20, "left_shift"), False, False), ((*_few(7, "bitwise_and"), *_few(2**20, "mul", of=2)), False, True),
    ((cast(0, "i8"), cast(1, "i32"), *_few(20, "left_shift", of=2)), False, True),
    ((cast(0, "i8"), cast(1, "i32"), *_few(3, "left_shift", of=2)), False, False),
    (_few(22, "right_shift"), False, False)])
def test_a_half_of_an_integer_of_few_bits_is_told_from_others(nodes: tuple[Node, ...], upcast: bool,
                                                              known: bool):
    """Of 11 bits at most, of which the highest exceeds 65504."""
    last = len(nodes)
    graph = vector(load("in0"), *nodes, cast(last, "fp16"), cast(last + 1, "fp32"), store("out0", X, last + 2),
                   in0="i32", out0="fp32")
    graph = replace(graph, schedules=(Schedule(upcast=upcast),))
    assert named(graph) == ("half of an integer of few bits" if known else "") and named(without(graph)) == ""


@each("of, to, by, reduction, along, known", [
    ("fp32", "i8", "lt", "looped", X, True), ("bf16", "u16", "eq", "cooperative", X, True),
    ("fp32", "i8", "lt", "persistent", X, False), ("fp32", "i32", "lt", "looped", X, False),
    ("i32", "i8", "lt", "looped", X, False), ("fp32", "i8", "bitwise_and", "looped", X, False),
    ("fp32", "i8", "lt", "looped", R, False)])
def test_a_float_that_becomes_a_narrow_integer_once_and_is_compared_in_a_loop_is_told_from_others(
        of: str, to: str, by: str, reduction: Literal["looped", "cooperative", "persistent"], along: Sym,
        known: bool):
    graph = matrix(load("in0", along), cast(0, to), load("in1", at(8)), op(by, 1, 2), store("out0", at(8), 3), rows=4,
                   columns=8, in0=(of, 8), in1=(to, 32), out0=(to if by == "bitwise_and" else "i1", 32))
    graph = replace(graph, schedules=(Schedule(reduction=reduction, r_block=2),))
    check_named(graph, "float as a narrow integer, compared in a loop", known)


_REST = apply("python_mod", Sym("v0"), num(7))


@each("expr, known", [
    (apply("ceildiv", _REST, num(2)), True), (apply("floordiv", apply("add", _REST, num(1)), num(2)), True),
    (apply("floordiv", _REST, num(2)), False), (apply("ceildiv", apply("mul", _REST, num(99)), num(2)), False),
    (apply("ceildiv", X, num(2)), False)])
def test_a_divided_sum_of_a_byte_is_told_from_others(expr: Apply, known: bool):
    """x0 is none to a compiler that does not know how many blocks there are."""
    graph = vector(load("in0"), Index(expr=expr), store("out0", X, 1), in0="i32", out0="i64")
    assert named(graph) == ("divided sum of a byte" if known else "") and named(without(graph)) == ""
