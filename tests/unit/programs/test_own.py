"""How generated kernels are launched: what an architecture lacks, and Booleans of other bytes than 0 and 1."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from fuzz.programs import own
from fuzz.programs.interpret import Interpreter
from fuzz.programs.miscompiled import miscompiled, without_miscompiled
from fuzz.programs.reductions import _cut_subgraphs, _simpler_schedules
from fuzz.records import ArraySpec, Bits, Case, Content, LaunchOptions, Small
from fuzz.targets.codegen import TARGETS
from kernels.codegen.graph import (
    Asm,
    Buffer,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Num,
    Part,
    Pointwise,
    Schedule,
    Store,
    Sym,
)
from oracles.by_numpy.bounded import Real
from tests.unit.programs.graphs import apply

X = Sym("x0")


def _graph(dtype: str, *between: Asm | Cast | Part | Pointwise) -> Graph:
    nodes = (Load(buffer="in0", index=X), *between, Store(buffer="out0", index=X, value=len(between)))
    return Graph(outer=(4,), nodes=nodes, buffers=(Buffer(name="in0", dtype=dtype, length=4),
                                                   Buffer(name="out0", dtype=dtype, length=4, role="out")))


@pytest.mark.parametrize("backend, graph, word", [
    ("compile:gfx942", _graph("i32", Asm(body="popc", args=(0,))), "assembly"),
    ("compile:sm_90", _graph("i32", Asm(body="popc", args=(0,))), ""),
    ("compile:sm_80", _graph("fp32", Cast(arg=0, dtype="fp8e4nv")), "fp8e4nv"),
    ("compile:sm_80", _graph("fp8e4nv"), "fp8e4nv"), ("compile:sm_100", _graph("fp8e4nv"), ""),
    ("compile:gfx942", _graph("fp8e5"), ""), ("cuda", _graph("i32", Asm(body="popc", args=(0,))), "")])
def test_programs_are_declined_where_the_architecture_lacks_something(backend: str, graph: Graph, word: str) -> None:
    found = own.lacking_on(backend, graph)
    assert word in found and bool(found) is bool(word)


@pytest.mark.parametrize("base, during", [(Bits(seed=1), [0, 2, 2, 0]), (Small(seed=1, low=0, high=1), [0, 1, 1, 0])])
def test_truth_is_another_byte_than_one_during_the_launch_only(base: Bits | Small, during: list[int]) -> None:
    case = Case(target="codegen.pointwise", sizes={"n_in0": 4, "n_out0": 4}, program=_graph("i1"), arrays=(
        ArraySpec(name="in0", dtype="i1", dims=("n_in0",), content=Content(base=base)),
        ArraySpec(name="out0", dtype="i1", dims=("n_out0",))))
    arrays = {"in0": torch.tensor([0, 1, 1, 0], dtype=torch.int8), "out0": torch.zeros(4, dtype=torch.int8)}
    seen: list[list[int]] = []
    launch = SimpleNamespace(case=case, schedule=0, fault="", planted="", backend="cuda", options=case.options,
                             pointer=lambda name: arrays[name],
                             run=lambda kernel, grid, arguments: seen.append(arguments["in0_ptr"].tolist()))
    own.launch_graph(launch)  # type: ignore[arg-type]
    assert seen == [during]
    assert arrays["in0"].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("dtype, other, known", [
    ("i16", "-5", True), ("i16", "5", False), ("i16", "-1", False), ("u8", "128", True), ("u8", "255", False),
    ("i32", "-5", False), ("fp16", "-5.0", False)])
def test_programs_with_a_known_miscompilation_are_told_from_others(dtype: str, other: str, known: bool) -> None:
    graph = Graph(outer=(4,), buffers=(Buffer(name="in0", dtype=dtype, length=4),
                                       Buffer(name="out0", dtype=dtype, length=4, role="out")),
                  nodes=(Index(expr=apply("lt", X, Num(value=2)), dtype="i1"),
                         Load(buffer="in0", index=X, mask=0, other=other), Store(buffer="out0", index=X, value=1)))
    assert miscompiled(graph) == ("negative other of 8 or 16 bits" if known else "")
    assert miscompiled(_graph(dtype)) == ""


@pytest.mark.parametrize("exponent, known", [("-2147483648", True), ("-2147483647", False)])
def test_an_undefined_exponent_is_told_from_others(exponent: str, known: bool) -> None:
    graph = Graph(outer=(4,), buffers=(Buffer(name="in0", dtype="fp32", length=4),
                                       Buffer(name="out0", dtype="fp32", length=4, role="out")),
                  nodes=(Load(buffer="in0", index=X), Constant(value=exponent, dtype="i32"),
                         Pointwise(op="ldexp", args=(0, 1)), Store(buffer="out0", index=X, value=2)))
    assert miscompiled(graph) == ("ldexp by -2^31" if known else "")


@pytest.mark.parametrize("a, b, becomes, known", [
    ("fp16", "fp16", "bf16", True), ("fp16", "fp16", "fp16", False), ("bf16", "bf16", "fp16", True),
    ("fp16", "bf16", "bf16", True), ("fp16", "bf16", "fp16", False), ("fp16", "fp32", "bf16", False),
    ("fp8e5", "bf16", "bf16", True)])
@pytest.mark.parametrize("cast", [True, False])
def test_a_remainder_of_halves_that_ends_the_compiler_is_told_from_others(a: str, b: str, becomes: str, known: bool,
                                                                          cast: bool) -> None:
    nodes = (Load(buffer="in0", index=X), Load(buffer="in1", index=X), Cast(arg=0, dtype="fp32"),
             Cast(arg=1, dtype="fp32"), Pointwise(op="mod_operator", args=(2, 3)))
    last = (Cast(arg=4, dtype=becomes), Store(buffer="out0", index=X, value=5)) if cast else (
        Store(buffer="out0", index=X, value=4),)
    graph = Graph(outer=(4,), nodes=nodes + last, buffers=(
        Buffer(name="in0", dtype=a, length=4), Buffer(name="in1", dtype=b, length=4),
        Buffer(name="out0", dtype=becomes, length=4, role="out")))
    assert miscompiled(graph) == ("remainder of halves" if known else "")
    assert miscompiled(without_miscompiled(graph)) == ""


@pytest.mark.parametrize("node, known, drawn", [
    (Asm(body="lop3_xor", args=(0, 1, 1)), "lop3 of one register twice", Asm(body="add_s32", args=(0, 1))),
    (Asm(body="lop3_xor", args=(0, 0, 0)), "", None), (Asm(body="lop3_xor", args=(0, 1, 2)), "", None),
    (Masked(mask=3, arg=4, other="-0.0"), "choice of 1 or -0.0", Masked(mask=3, arg=4, other="0.0")),
    (Masked(mask=3, arg=4, other="0.0"), "", None)])
def test_drawn_programs_keep_clear_of_known_miscompilations(node: Asm | Masked, known: str,
                                                            drawn: Asm | Masked | None) -> None:
    loads = tuple(Load(buffer=f"in{k}", index=X) for k in range(3))
    graph = Graph(outer=(4,), buffers=tuple(Buffer(name=f"in{k}", dtype="i32", length=4) for k in range(3)), nodes=(
        *loads, Pointwise(op="eq", args=(0, 1)), Constant(value="1.0", dtype="fp32"), node))
    assert miscompiled(graph) == known
    found = without_miscompiled(graph)
    assert found.nodes[5] == (drawn or node) and miscompiled(found) == ""


@pytest.mark.parametrize("nodes, known", [
    ((Pointwise(op="abs_libdevice", args=(0,)),), "libdevice.abs of integers"),
    ((Pointwise(op="abs", args=(0,)),), ""),
    ((Pointwise(op="neg", args=(1,)), Pointwise(op="minimum", args=(0, 3)), Pointwise(op="minimum_tl", args=(4, 2))),
     "extremum of three, one negated"),
    ((Pointwise(op="neg", args=(1,)), Pointwise(op="maximum", args=(0, 3)), Pointwise(op="minimum", args=(4, 2))), ""),
    ((Pointwise(op="minimum", args=(0, 1)), Pointwise(op="minimum", args=(3, 2))), ""),
    ((Constant(value="0", dtype="i32"), Pointwise(op="sub", args=(3, 1)), Pointwise(op="maximum", args=(0, 2)),
      Pointwise(op="maximum", args=(4, 5))), "extremum of three, one negated"),
    ((Pointwise(op="eq", args=(0, 1)), Cast(arg=3, dtype="u16"), Cast(arg=4, dtype="bf16", bitcast=True),
      Cast(arg=5, dtype="fp16")), "truth as bits of bf16 to fp16"),
    ((Pointwise(op="eq", args=(0, 1)), Cast(arg=3, dtype="u16"), Cast(arg=4, dtype="bf16", bitcast=True),
      Cast(arg=5, dtype="fp32")), ""),
    ((Pointwise(op="eq", args=(0, 1)), Cast(arg=3, dtype="i16"), Cast(arg=4, dtype="fp16", bitcast=True)),
     "truth as bits of fp16"),
    ((Cast(arg=0, dtype="i16"), Cast(arg=3, dtype="fp16", bitcast=True)), ""),
    ((Pointwise(op="abs", args=(0,)), Pointwise(op="lt", args=(3, 1))), "sign of an integer's abs"),
    ((Pointwise(op="abs_tl", args=(0,)), Cast(arg=3, dtype="i64"), Cast(arg=1, dtype="i64"),
      Pointwise(op="remainder", args=(4, 5))), "sign of an integer's abs"),
    ((Pointwise(op="abs", args=(0,)), Load(buffer="in1", index=apply("python_mod", Sym("v3"), Num(value=4)),
                                           checked=True)), "sign of an integer's abs"),
    ((Pointwise(op="abs", args=(0,)), Pointwise(op="add", args=(3, 1)), Cast(arg=3, dtype="fp32")), ""),
    ((Cast(arg=0, dtype="fp32"), Pointwise(op="abs", args=(3,)), Pointwise(op="sign", args=(4,))), ""),
    ((Constant(value="1e-40", dtype="fp32"), Pointwise(op="asin", args=(3,))), "library of a subnormal constant"),
    ((Constant(value="2", dtype="i32"), Cast(arg=3, dtype="fp32", bitcast=True), Cast(arg=0, dtype="fp32"),
      Pointwise(op="atan2", args=(5, 4))), "library of a subnormal constant"),
    ((Constant(value="0.5", dtype="fp32"), Pointwise(op="asin", args=(3,))), "")])
def test_forms_that_are_compiled_wrong_are_named_and_not_drawn(nodes: tuple[Node, ...], known: str) -> None:
    loads = tuple(Load(buffer=f"in{k}", index=X) for k in range(3))
    graph = Graph(outer=(4,), nodes=(*loads, *nodes),
                  buffers=tuple(Buffer(name=f"in{k}", dtype="i32", length=4) for k in range(3)))
    assert miscompiled(graph) == known
    found = without_miscompiled(graph)
    assert miscompiled(found) == "" and (found == graph) == (known == "")


@pytest.mark.parametrize("source, between, last, becomes, known", [
    ("fp16", Pointwise(op="mul", args=(0, 0)), Pointwise(op="logical_not", args=(2,)), "i1", True),
    ("fp16", Pointwise(op="mul", args=(0, 0)), Cast(arg=2, dtype="fp32"), "i1", True),
    ("bf16", Cast(arg=0, dtype="bf16"), Pointwise(op="ne", args=(2, 4)), "i1", True),
    ("fp16", Pointwise(op="mul", args=(0, 0)), Cast(arg=2, dtype="fp32"), "fp32", False),
    ("fp16", Pointwise(op="mul", args=(0, 0)), Pointwise(op="lt", args=(2, 4)), "i1", False),
    ("fp32", Pointwise(op="mul", args=(0, 0)), Cast(arg=2, dtype="i1"), "i1", False)])
def test_bits_of_computed_halves_are_not_drawn_where_they_are_compared_with_zero(
        source: str, between: Cast | Pointwise, last: Cast | Pointwise, becomes: str, known: bool) -> None:
    other = {"fp16": "bf16", "bf16": "fp16"}.get(source, "i32")
    nodes = (Load(buffer="in0", index=X), between, Cast(arg=1, dtype=other, bitcast=True),
             Constant(value="0", dtype="i32"), Cast(arg=3, dtype=other), last, Store(buffer="out0", index=X, value=5))
    graph = Graph(outer=(4,), nodes=nodes, buffers=(Buffer(name="in0", dtype=source, length=4),
                                                    Buffer(name="out0", dtype=becomes, length=4, role="out")))
    loaded = replace(graph, nodes=(nodes[0], nodes[0], *nodes[2:]))
    assert miscompiled(graph) == ("bits of a half compared with 0" if known else "") and miscompiled(loaded) == ""
    found = without_miscompiled(graph).nodes[2]
    assert miscompiled(without_miscompiled(graph)) == "" and found == replace(nodes[2], bitcast=not known)


@pytest.mark.parametrize("dtype, fusion, known", [
    ("fp32", True, "pow, fused"), ("fp32", False, ""), ("bf16", True, "pow, fused"), ("fp64", True, ""),
    ("i32", True, "")])
def test_a_pow_of_single_precision_is_inaccurate_under_fusion_only(dtype: str, fusion: bool, known: str) -> None:
    graph = _graph(dtype, Pointwise(op="pow", args=(0, 0)))
    case = Case(target="codegen.pointwise", sizes={"n_in0": 4, "n_out0": 4}, program=graph, arrays=(
        ArraySpec(name="in0", dtype=dtype, dims=("n_in0",), content=Content()),
        ArraySpec(name="out0", dtype=dtype, dims=("n_out0",))), options=LaunchOptions(enable_fp_fusion=fusion))
    target, = (one for one in TARGETS if one.name == case.target)
    assert target.about(case) == known


@pytest.mark.parametrize("target, node, constant, known, drawn", [
    ("fp8e5", Pointwise(op="ldexp", args=(1, 2)), "0.0", "fp8 of what folds", Cast(arg=2, dtype="fp32")),
    ("fp32", Pointwise(op="ldexp", args=(1, 2)), "0.0", "", None),
    ("fp8e5", Pointwise(op="ldexp", args=(1, 2)), "1e-3", "", None),
    ("fp8e4nv", Pointwise(op="pow", args=(1, 0)), "1.0", "fp8 of what folds", Pointwise(op="add", args=(1, 0))),
    ("fp8e4nv", Pointwise(op="pow", args=(0, 1)), "1.0", "", None),
    ("fp8e4nv", Pointwise(op="pow", args=(0, 1)), "-0.0", "fp8 of what folds", Pointwise(op="add", args=(0, 1))),
    ("fp8e4nv", Pointwise(op="gt", args=(0, 0)), "1.0", "fp8 of what folds", Pointwise(op="ne", args=(0, 0))),
    ("fp8e5", Pointwise(op="le", args=(2, 1)), "2147483647", "fp8 of what folds", Pointwise(op="ne", args=(2, 1))),
    ("fp8e5", Pointwise(op="gt", args=(2, 2)), "1.0", "", None),
    ("fp8e5", Pointwise(op="add", args=(0, 1)), "nan", "fp8 of what folds", None),
    ("fp16", Pointwise(op="add", args=(0, 1)), "nan", "", None)])
def test_what_folds_is_not_drawn_beside_fp8(target: str, node: Pointwise, constant: str, known: str,
                                            drawn: Cast | Pointwise | None) -> None:
    number = Constant(value=constant, dtype="i32" if constant.isdigit() else "fp32")
    graph = Graph(outer=(4,), nodes=(Load(buffer="in0", index=X), number, Load(buffer="in1", index=X), node,
                                     Store(buffer="out0", index=X, value=3)),
                  buffers=(Buffer(name="in0", dtype="fp32", length=4), Buffer(name="in1", dtype="i32", length=4),
                           Buffer(name="out0", dtype=target, length=4, role="out")))
    found = without_miscompiled(graph)
    assert miscompiled(graph) == known and miscompiled(found) == "" and found.nodes[3] == (drawn or node)


@pytest.mark.parametrize("float_bits, known", [(True, True), (False, False)])
def test_integer_products_of_float_bits_are_not_drawn(float_bits: bool, known: bool) -> None:
    computed = Pointwise(op="mul", args=(0, 0)) if float_bits else Load(buffer="in0", index=X)
    graph = Graph(outer=(4,), nodes=(
        Load(buffer="in0", index=X), computed, Cast(arg=1, dtype="i32", bitcast=True), Load(buffer="in1", index=X),
        Pointwise(op="minimum", args=(2, 2)), Pointwise(op="mul", args=(3, 4)),
        Store(buffer="out0", index=X, value=5)),
        buffers=(Buffer(name="in0", dtype="fp32", length=4), Buffer(name="in1", dtype="i32", length=4),
                 Buffer(name="out0", dtype="i32", length=4, role="out")))
    found = without_miscompiled(graph)
    assert miscompiled(graph) == ("integer product of a float product" if known else "") and miscompiled(found) == ""
    assert found.nodes[5] == (Pointwise(op="bitwise_xor", args=(3, 4)) if known else graph.nodes[5])


@pytest.mark.parametrize("held, added", [(5e-45, 0.0), (0.0, -1e-39), (2e-38, -1.5e-38)])
def test_additions_of_single_precision_in_memory_may_flush(held: float, added: float) -> None:
    graph = Graph(outer=(1,), nodes=(Load(buffer="in0", index=X), Store(
        buffer="io0", index=Num(value=0), value=0, mode="atomic_add")), buffers=(
            Buffer(name="in0", dtype="fp32", length=1), Buffer(name="io0", dtype="fp32", length=1, role="inout")))
    first, second = np.array([held], dtype=np.float32), np.array([added], dtype=np.float32)
    found = Interpreter(graph, {"io0": first, "in0": second}).run()["io0"]
    assert isinstance(found, Real)
    for answer in (float(first[0] + second[0]), 0.0):
        assert abs(answer - found.value[0]) <= found.error[0]
    assert abs(4e-38 - found.value[0]) > found.error[0]


@pytest.mark.parametrize("dtype, held, added", [("fp32", 1.5, 2.0**-20), ("fp64", 5e-324, 0.0), ("fp16", 6e-8, 0.0)])
def test_additions_in_memory_are_certain_where_nothing_flushes(dtype: str, held: float, added: float) -> None:
    graph = Graph(outer=(1,), nodes=(Load(buffer="in0", index=X), Store(
        buffer="io0", index=Num(value=0), value=0, mode="atomic_add")), buffers=(
            Buffer(name="in0", dtype=dtype, length=1), Buffer(name="io0", dtype=dtype, length=1, role="inout")))
    kind = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[dtype]
    found = Interpreter(graph, {"io0": np.array([held], kind), "in0": np.array([added], kind)}).run()["io0"]
    assert isinstance(found, Real) and found.exact.all() and found.value[0] == float(kind(held)) + added


def test_no_simpler_schedule_has_a_block_of_nothing() -> None:
    graph = replace(_graph("i32"), schedules=(Schedule(x_blocks=(1,), r_block=1), Schedule(x_blocks=(2,), r_block=2)))
    found = [one for simpler in _simpler_schedules(graph) for one in simpler.schedules]
    assert found and all(min(*one.x_blocks, one.r_block) >= 1 for one in found)


def test_one_of_several_results_gives_way_to_an_operand() -> None:
    graph = _graph("fp32", Pointwise(op="frexp", args=(0,)), Part(of=1, item=0))
    assert any(isinstance(node, Store) and node.value == 0
               for found, _ in _cut_subgraphs(graph) for node in found.nodes)
