"""Generated programs as torch functions: their text, what has none, what is drawn; and how torch.compile runs them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.programs.arrays import graph_of
from fuzz.programs.draw_torch import torch_programs
from fuzz.programs.expressible import expressible, suspect
from fuzz.programs.swarm import Family
from fuzz.programs.torch_idioms import OUTPUT
from fuzz.programs.torch_size_text import symbolic
from fuzz.programs.torch_text import number_text, torch_program
from fuzz.programs.validity import valid
from fuzz.records import Case
from fuzz.strategies.independent import BACKEND
from fuzz.target import Limits
from kernels.codegen.graph import Load, Pointwise, Real, Scan, Store, Sym
from tests.support.in_subprocess import Checks
from tests.unit.programs import graphs

CHECKS = Checks(Path(__file__).with_name("checks_upstream.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_upstream(name: str) -> None:
    CHECKS.require(name)


def test_the_function_reads_like_one_written_by_hand() -> None:
    graph = graphs.graph(
        Load(buffer="in0", index=graphs.at(3)), Pointwise(op="exp", args=(0,)),
        Store(buffer="out0", index=graphs.apply("add", graphs.apply("mul", graphs.R, graphs.Num(value=2)), graphs.X),
              value=1), rows=2, columns=3, buffers=(graphs.buffer("in0", "fp32", 6), graphs.buffer("out0", "fp32", 6)))
    assert torch_program(graph).text == (
        "import torch\n\n\n"
        "def compute(in0, out0):\n"
        "    v0 = in0.view(2, 3)\n"
        "    v1 = torch.exp(v0)\n"
        "    out0 = v1.expand(2, 3).permute(1, 0).reshape(-1)\n"
        "    return (out0,)\n")


def test_constants_are_rounded_to_their_type_and_whole_ones_stay_whole() -> None:
    assert [number_text(*one) for one in (("0", "fp32"), ("0.0", "fp32"), ("-0.0", "fp64"), ("0.1", "fp16"),
                                          ("inf", "fp32"), ("1e9", "fp16"), ("true", "i1"), ("-128", "i8"))] == [
        "0", "0.0", "-0.0", "0.0999755859375", 'float("inf")', 'float("inf")', "True", "-128"]


def test_what_has_no_torch_expression_is_named() -> None:
    fused = graphs.pointwise("fma", "fp32", "fp32", length=4, arity=3)
    assert expressible(fused) == "torch has no fma of the same meaning"
    assert expressible(graphs.pointwise("add", "u32", "u32", length=4, arity=2)) == "torch does not compute with u32"
    scan = graphs.graph(
        Load(buffer="in0", index=graphs.at(3)), Scan(combine="second", args=(0,)),
        Store(buffer="out0", index=graphs.at(3), value=1), rows=2, columns=3,
        buffers=(graphs.buffer("in0", "fp32", 6), graphs.buffer("out0", "fp32", 6)))
    assert expressible(scan) == "torch has no scan second"
    for graph in (graphs.row_sums_of_a_masked_gather(), graphs.sorted_rows_transposed(), graphs.halves(upcast=True)):
        assert expressible(graph) == ""


def test_known_suspects_are_told_from_programs_without_one() -> None:
    assert suspect(graphs.pointwise("signbit", "fp64", "i1", length=4, arity=1)) == "signbit fp64"
    assert suspect(graphs.pointwise("signbit", "fp32", "i1", length=4, arity=1)) == ""
    assert suspect(graphs.pointwise("floor_divide", "i32", "i32", length=4, arity=2)) == ""
    assert suspect(graphs.pointwise("floor_divide", "fp32", "fp32", length=4, arity=2)) == "floor_divide"
    assert suspect(graphs.pointwise("abs", "fp32", "fp8e5", length=4, arity=1)) == "to_fp8e5"


def test_programs_end_in_idioms_that_are_legal_and_told_apart() -> None:
    ends: set[str] = set()

    @settings(max_examples=80, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(torch_programs("reduction", target="inductor.programs_reduction",
                          limits=Limits(elements=512, variants=False)))
    def look(case: Case) -> None:
        graph = graph_of(case)
        if graph.buffers[-1].name == OUTPUT:
            assert valid(case)
            ends.add(suspect(graph))

    for number in range(5, 8):
        seed(number)(look)()
    assert {"quotient of sizes", "product of sizes", "round_decimal", "any u8"} <= ends


def test_an_expression_of_sizes_stands_only_where_python_agrees() -> None:
    half = graphs.apply("int_true_div", Sym(name="n0"), graphs.Num(value=2))
    assert symbolic(half, {"n0": 7}, 3.5) == "(n0 / 2)"
    assert symbolic(half, {"n0": 7}, 3) is None
    truncated = graphs.apply("mod", graphs.apply("neg", Sym(name="n0")), graphs.Num(value=4))
    assert symbolic(truncated, {"n0": 7}, -3) is None
    assert symbolic(graphs.apply("tan", Sym(name="n0")), {"n0": 7}, 0.87) is None


def test_an_expression_of_sizes_is_plain_python_that_dynamo_can_trace() -> None:
    """torch.sym_min of two numbers is none of a tensor's, which a graph cannot hold."""
    least = graphs.apply("min", graphs.apply("floor_to_int", Real(value="-1.0")), graphs.Num(value=5))
    assert symbolic(graphs.apply("mul", least, Sym(name="n0")), {"n0": 7}, -7) == "(min(math.floor(-1.0), 5) * n0)"


@pytest.mark.parametrize("family", ["pointwise", "reduction", "scan", "sort", "memory", "mixed"])
def test_nearly_all_drawn_programs_are_expressible_and_large(family: Family) -> None:
    declined, sizes = [], []

    # As a campaign draws: Hypothesis's own draws repeat each other, and then how many are declined is a matter of luck.
    @settings(max_examples=70, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate], backend=BACKEND)
    @given(torch_programs(family, target=f"inductor.programs_{family}", limits=Limits(elements=512, variants=False)))
    def look(case: Case) -> None:
        graph = graph_of(case)
        sizes.append(len(graph.nodes))
        problem = expressible(graph)
        if problem:
            declined.append(problem)
        else:
            compile(torch_program(graph).text, "<program>", "exec")

    for number in range(5, 8):
        seed(number)(look)()
    assert len(declined) <= 0.05 * len(sizes), declined
    assert sorted(sizes)[len(sizes) // 2] >= 15
