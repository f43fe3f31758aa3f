"""Generated programs as torch functions: their text, what has none, what is drawn; and how torch.compile runs them."""

import re
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from tests.support.draws import draws
from tests.support.in_subprocess import Checks
from tests.support.nights import by_day
from tests.unit.graphs.graphs import (
    R,
    X,
    apply,
    at,
    constant,
    halves,
    load,
    matrix,
    num,
    op,
    pointwise,
    row_sums_of_a_masked_gather,
    sorted_rows_transposed,
    store,
    vector,
)
from tridiff.fuzz.inductor.programs.draw import torch_programs
from tridiff.fuzz.inductor.programs.expressible import expressible, suspect
from tridiff.fuzz.inductor.programs.idioms import OUTPUT
from tridiff.fuzz.inductor.programs.size_text import symbolic
from tridiff.fuzz.inductor.programs.text import number_text, torch_program
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.swarm import Family
from tridiff.fuzz.kinds.graphs.validity import valid
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Index, Load, Masked, Real, Scan, Schedule, Sym
from tridiff.kernels.generated import load as generated

each = pytest.mark.parametrize
test_upstream = Checks(Path(__file__).with_name("checks_upstream.py")).tests()


def test_the_function_reads_like_one_written_by_hand():
    graph = matrix(load("in0", at(3)), op("exp", 0), store("out0", apply("add", apply("mul", R, num(2)), X), 1),
                   rows=2, columns=3, in0=("fp32", 6), out0=("fp32", 6))
    assert torch_program(graph).text == (
        "import torch\n\n\n"
        "def compute(in0, out0):\n"
        "    v0 = in0.view(2, 3)\n"
        "    v1 = torch.exp(v0)\n"
        "    out0 = v1.expand(2, 3).permute(1, 0).reshape(-1)\n"
        "    return (out0,)\n")


@each("used", ["load", "index", "store"])
def test_an_index_may_name_a_constant(used: str):
    """As a gather, a computed index and a scattered store do; beside it the constant is a number in an operation."""
    v0 = Sym(name="v0")
    read = {"load": Load(buffer="in0", index=v0, checked=True), "index": Index(expr=apply("add", v0, X), dtype="i64"),
            "store": load("in0")}[used]
    graph = matrix(constant("2", "i64"), op("add", 0, 0), read, store("out0", v0 if used == "store" else X, 2), rows=4,
                   in0=("i64", 4), out0=("i64", 4))
    compute = generated(torch_program(graph).text, name="named").compute
    assert not [name for name in compute.__code__.co_names if re.fullmatch(r"v\d+", name)]
    found = compute(torch.tensor([5, 6, 7, 8]), torch.zeros(4, dtype=torch.int64))[0].tolist()
    assert found == {"load": [7, 7, 7, 7], "index": [2, 3, 4, 5], "store": [0, 0, found[2], 0]}[used]


def test_the_product_of_a_product_and_sum_is_not_rounded_to_a_half():
    """49 * 49 + 42 is 2444 as fp16, and 2442 if 49 * 49 is one before."""
    graph = vector(load("in0"), load("in1"), op("mul_add", 0, 0, 1), store("out0", X, 2), length=1,
                   in0="fp16", in1="fp16", out0="fp16")
    graph = replace(graph, schedules=(Schedule(upcast=False),))
    compute = generated(torch_program(graph).text, name="rounded").compute
    assert compute(*(torch.tensor([one], dtype=torch.float16) for one in (49, 42, 0)))[0].tolist() == [2444]


@each("dtype", ["fp8e4nv", "fp8e5"])
@each("chosen", ["load", "masked", "where", "constants"])
def test_a_choice_of_numbers_of_8_bits_converts_none(dtype: str, chosen: str):
    """So which NaN it is stays, and so do infinities, which Triton's conversion to fp8e5 loses."""
    node = {"load": Load(buffer="in1", index=X, mask=0, other="0.5"), "masked": Masked(arg=1, mask=0, other="0.5"),
            "where": op("where", 0, 1, 2), "constants": op("where", 0, 2, 2)}[chosen]
    graph = vector(load("in0"), load("in1"), constant("0.5", dtype), node, store("out0", X, 3), length=4,
                   in0="i1", in1=dtype, out0=dtype)
    of = torch.float8_e5m2 if dtype == "fp8e5" else torch.float8_e4m3fn
    bits = torch.tensor([0x7C, 0xFD, 0x7F, 0], dtype=torch.uint8)
    compute = generated(torch_program(graph).text, name="chosen").compute
    found = compute(torch.arange(4) < 3, bits.view(of), torch.zeros(4).to(of))[0].view(torch.uint8)
    half = torch.tensor(0.5).to(of).view(torch.uint8).item()
    assert found.tolist() == ([half] * 4 if chosen == "constants" else [0x7C, 0xFD, 0x7F, half])


@each("dtype, values, fill", [("u8", [255, 128, 4, 255], 0), ("i8", [-1, -128, 4, -1], -1)])
def test_a_shift_beyond_the_width_leaves_zeros_of_an_unsigned_number(dtype: str, values: list[int], fill: int):
    of = torch.uint8 if dtype == "u8" else torch.int8
    compute = generated(torch_program(pointwise("right_shift", dtype, dtype, arity=2)).text, name="shifted").compute
    found = compute(torch.tensor(values, dtype=of), torch.tensor([8, 7, 1, 100], dtype=of), torch.zeros(4, dtype=of))
    assert found[0].tolist() == [fill, values[1] >> 7, 2, fill]


def test_constants_are_rounded_to_their_type_and_whole_ones_stay_whole():
    assert [number_text(*one) for one in (("0", "fp32"), ("0.0", "fp32"), ("-0.0", "fp64"), ("0.1", "fp16"),
                                          ("inf", "fp32"), ("1e9", "fp16"), ("true", "i1"), ("-128", "i8"))] == [
        "0", "0.0", "-0.0", "0.0999755859375", 'float("inf")', 'float("inf")', "True", "-128"]


def test_what_has_no_torch_expression_is_named():
    assert expressible(pointwise("fma", "fp32", "fp32", arity=3)) == "torch has no fma of the same meaning"
    assert expressible(pointwise("add", "u32", "u32", arity=2)) == "torch does not compute with u32"
    scan = matrix(load("in0", at(3)), Scan(combine="second", args=(0,)), store("out0", at(3), 1),
                  rows=2, columns=3, in0=("fp32", 6), out0=("fp32", 6))
    assert expressible(scan) == "torch has no scan second"
    for graph in (row_sums_of_a_masked_gather(), sorted_rows_transposed(), halves(upcast=True)):
        assert expressible(graph) == ""


def test_known_suspects_are_told_from_programs_without_one():
    for name, dtype, result, arity, known in (
        ("signbit", "fp64", "i1", 1, "signbit fp64"), ("signbit", "fp32", "i1", 1, ""),
        ("floor_divide", "i32", "i32", 2, ""), ("floor_divide", "fp32", "fp32", 2, "floor_divide"),
        ("abs", "fp32", "fp8e5", 1, "to_fp8e5"),
    ):
        assert suspect(pointwise(name, dtype, result, arity=arity)) == known


def _drawn(family: Family, number: int) -> list[Case]:
    """Programs of three seeds."""
    strategy = torch_programs(family, target=f"inductor.programs_{family}", limits=Limits(elements=512, variants=False))
    return [case for seed in range(5, 8) for case in draws(strategy, number, seed=seed)]


def test_programs_end_in_idioms_that_are_legal_and_told_apart():
    ends: set[str] = set()
    for case in _drawn("reduction", 80):
        graph = graph_of(case)
        if graph.buffers[-1].name == OUTPUT:
            assert valid(case)
            ends.add(suspect(graph))
    assert {"quotient of sizes", "round_decimal", "any u8"} <= ends


def test_an_expression_of_sizes_stands_only_where_python_agrees():
    n0 = Sym(name="n0")
    half = apply("int_true_div", n0, num(2))
    assert symbolic(half, {"n0": 7}, 3.5) == "(n0 / 2)"
    assert symbolic(half, {"n0": 7}, 3) is None
    truncated = apply("mod", apply("neg", n0), num(4))
    assert symbolic(truncated, {"n0": 7}, -3) is None
    assert symbolic(apply("tan", n0), {"n0": 7}, 0.87) is None


def test_an_expression_of_sizes_is_plain_python_that_dynamo_can_trace():
    """torch.sym_min of two numbers is none of a tensor's, which a graph cannot hold."""
    least = apply("min", apply("floor_to_int", Real(value="-1.0")), num(5))
    assert symbolic(apply("mul", least, Sym(name="n0")), {"n0": 7}, -7) == "(min(math.floor(-1.0), 5) * n0)"


@each("family", by_day(["pointwise", "reduction", "scan", "sort", "memory", "mixed"],
                                           only=["sort", "memory", "mixed"]))
def test_nearly_all_drawn_programs_are_expressible_and_large(family: Family):
    declined, sizes = [], []
    for case in _drawn(family, 40):
        graph = graph_of(case)
        sizes.append(len(graph.nodes))
        problem = expressible(graph)
        if problem:
            declined.append(problem)
        else:
            compile(torch_program(graph).text, "<program>", "exec")
    assert len(declined) <= 0.05 * len(sizes), declined
    assert sorted(sizes)[len(sizes) // 2] >= 15
