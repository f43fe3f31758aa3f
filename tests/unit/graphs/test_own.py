"""How generated kernels are launched: what an architecture lacks, and Booleans of other bytes than 0 and 1."""

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.unit.graphs.graphs import (
    X,
    apply,
    at,
    cast,
    constant,
    load,
    matrix,
    num,
    op,
    row_sums_of_a_masked_gather,
    store,
    vector,
)
from tridiff.fuzz.kinds.graphs import launching as own
from tridiff.fuzz.kinds.graphs.evaluate import Interpreter
from tridiff.fuzz.kinds.graphs.miscompiled import miscompiled, without_miscompiled
from tridiff.fuzz.kinds.graphs.steps import _cut_subgraphs, _simpler_schedules
from tridiff.fuzz.records import ArraySpec, Base, Bits, Case, Content, LaunchOptions, Small
from tridiff.fuzz.targets.codegen import TARGETS
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.graph import (
    Asm,
    Cast,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Part,
    Pointwise,
    Scan,
    Schedule,
    Store,
    Sym,
)
from tridiff.oracles.by_numpy.bounded import Real

each = pytest.mark.parametrize


def _graph(dtype: str, *between: Asm | Cast | Part | Pointwise) -> Graph:
    return vector(load("in0"), *between, store("out0", X, len(between)), in0=dtype, out0=dtype)


def _of_three(*nodes: Node) -> Graph:
    """A graph that loads three vectors of i32 and stores nothing."""
    return vector(*(load(f"in{k}") for k in range(3)), *nodes, **{f"in{k}": "i32" for k in range(3)})


def _case(graph: Graph, dtype: str, *, base: Base | None = None, options: LaunchOptions | None = None) -> Case:
    content = Content() if base is None else Content(base=base)
    return Case(target="codegen.pointwise", sizes={"n_in0": 4, "n_out0": 4}, program=graph, arrays=(
        ArraySpec(name="in0", dtype=dtype, dims=("n_in0",), content=content),
        ArraySpec(name="out0", dtype=dtype, dims=("n_out0",))), options=options or LaunchOptions())


@each("backend, graph, word", [
    ("compile:gfx942", _graph("i32", Asm(body="popc", args=(0,))), "assembly"),
    ("compile:sm_90", _graph("i32", Asm(body="popc", args=(0,))), ""),
    ("compile:sm_80", _graph("fp32", cast(0, "fp8e4nv")), "fp8e4nv"),
    ("compile:sm_80", _graph("fp8e4nv"), "fp8e4nv"), ("compile:sm_100", _graph("fp8e4nv"), ""),
    ("compile:gfx942", _graph("fp8e5"), ""), ("cuda", _graph("i32", Asm(body="popc", args=(0,))), "")])
def test_programs_are_declined_where_the_architecture_lacks_something(backend: str, graph: Graph, word: str) -> None:
    found = own.lacking_on(backend, graph)
    assert word in found and bool(found) is bool(word)


@each("base, during", [(Bits(seed=1), [0, 2, 2, 0]), (Small(seed=1, low=0, high=1), [0, 1, 1, 0])])
def test_truth_is_another_byte_than_one_during_the_launch_only(base: Base, during: list[int]) -> None:
    case = _case(_graph("i1"), "i1", base=base)
    arrays = {"in0": torch.tensor([0, 1, 1, 0], dtype=torch.int8), "out0": torch.zeros(4, dtype=torch.int8)}
    seen: list[list[int]] = []
    launch = SimpleNamespace(case=case, schedule=0, fault="", planted="", backend="cuda", options=case.options,
                             pointer=lambda name: arrays[name],
                             run=lambda kernel, grid, arguments: seen.append(arguments["in0_ptr"].tolist()))
    own.launch_graph(launch)
    assert seen == [during]
    assert arrays["in0"].tolist() == [0, 1, 1, 0]


@each("dtype, other, known", [
    ("i16", "-5", True), ("i16", "5", False), ("i16", "-1", False), ("u8", "128", True), ("u8", "255", False),
    ("i32", "-5", False), ("fp16", "-5.0", False)])
def test_programs_with_a_known_miscompilation_are_told_from_others(dtype: str, other: str, known: bool) -> None:
    graph = vector(Index(expr=apply("lt", X, num(2)), dtype="i1"),
                   Load(buffer="in0", index=X, mask=0, other=other), store("out0", X, 1), in0=dtype, out0=dtype)
    assert miscompiled(graph) == ("negative other of 8 or 16 bits" if known else "")
    assert miscompiled(_graph(dtype)) == ""


@each("exponent, known", [("-2147483648", True), ("-2147483647", False)])
def test_an_undefined_exponent_is_told_from_others(exponent: str, known: bool) -> None:
    graph = _graph("fp32", constant(exponent, "i32"), op("ldexp", 0, 1))
    assert miscompiled(graph) == ("ldexp by -2^31" if known else "")


@each("a, b, becomes, known", [
    ("fp16", "fp16", "bf16", True), ("fp16", "fp16", "fp16", False), ("bf16", "bf16", "fp16", True),
    ("fp16", "bf16", "bf16", True), ("fp16", "bf16", "fp16", False), ("fp16", "fp32", "bf16", False),
    ("fp8e5", "bf16", "bf16", True)])
@each("converted", [True, False])
def test_a_remainder_of_halves_that_ends_the_compiler_is_told_from_others(
        a: str, b: str, becomes: str, known: bool, converted: bool) -> None:
    last = (cast(4, becomes), store("out0", X, 5)) if converted else (store("out0", X, 4),)
    graph = vector(load("in0"), load("in1"), cast(0, "fp32"), cast(1, "fp32"), op("mod_operator", 2, 3), *last,
                   in0=a, in1=b, out0=becomes)
    assert miscompiled(graph) == ("remainder of halves" if known else "")
    assert miscompiled(without_miscompiled(graph)) == ""


@each("node, known, drawn", [
    (Asm(body="lop3_xor", args=(0, 1, 1)), "lop3 of one register twice", Asm(body="add_s32", args=(0, 1))),
    (Asm(body="lop3_xor", args=(0, 0, 0)), "", None), (Asm(body="lop3_xor", args=(0, 1, 2)), "", None),
    (Masked(mask=3, arg=4, other="-0.0"), "choice of 1 or -0.0", Masked(mask=3, arg=4, other="0.0")),
    (Masked(mask=3, arg=4, other="0.0"), "", None)])
def test_drawn_programs_keep_clear_of_known_miscompilations(
    node: Asm | Masked, known: str, drawn: Asm | Masked | None
) -> None:
    graph = _of_three(op("eq", 0, 1), constant("1.0", "fp32"), node)
    assert miscompiled(graph) == known
    found = without_miscompiled(graph)
    assert found.nodes[5] == (drawn or node) and miscompiled(found) == ""


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
    ((op("abs", 0), op("add", 3, 1), cast(3, "fp32")), ""), ((cast(0, "fp32"), op("abs", 3), op("sign", 4)), ""),
    ((constant("1e-40", "fp32"), op("asin", 3)), "library of a subnormal constant"),
    ((constant("2", "i32"), cast(3, "fp32", bitcast=True), cast(0, "fp32"),
      op("atan2", 5, 4)), "library of a subnormal constant"),
    ((constant("0.5", "fp32"), op("asin", 3)), ""),
    ((cast(0, "i16"), op("neg", 3), cast(1, "i16"), op("lt", 4, 5)), "sign of a negated i16"),
    ((cast(0, "i16"), constant("0", "i16"), op("sub", 4, 3), op("right_shift", 5, 4)), "sign of a negated i16"),
    ((cast(0, "i16"), op("neg", 3), cast(1, "i16"), op("eq", 4, 5)), ""),
    ((cast(0, "i8"), op("neg", 3), cast(1, "i8"), op("lt", 4, 5)), ""),
    ((cast(0, "i8"), cast(1, "i8"), op("maximum", 3, 4), op("relu", 5)), "relu of a narrow extremum"),
    ((cast(0, "i16"), cast(1, "i16"), op("minimum", 3, 4), constant("0", "i16"), op("maximum", 5, 6)),
     "relu of a narrow extremum"),
    ((op("maximum", 0, 1), op("relu", 3)), ""), ((cast(0, "i8"), op("relu", 3)), "")])
def test_forms_that_are_compiled_wrong_are_named_and_not_drawn(nodes: tuple[Node, ...], known: str) -> None:
    graph = _of_three(*nodes)
    assert miscompiled(graph) == known
    found = without_miscompiled(graph)
    assert miscompiled(found) == "" and (found == graph) == (known == "")


@each("source, between, last, becomes, known", [
    ("fp16", op("mul", 0, 0), op("logical_not", 2), "i1", True), ("fp16", op("mul", 0, 0), cast(2, "fp32"), "i1", True),
    ("bf16", cast(0, "bf16"), op("ne", 2, 4), "i1", True), ("fp16", op("mul", 0, 0), cast(2, "fp32"), "fp32", False),
    ("fp16", op("mul", 0, 0), op("lt", 2, 4), "i1", False),
    ("fp32", op("mul", 0, 0), cast(2, "i1"), "i1", False)])
def test_bits_of_computed_halves_are_not_drawn_where_they_are_compared_with_zero(
        source: str, between: Cast | Pointwise, last: Cast | Pointwise, becomes: str, known: bool) -> None:
    other = {"fp16": "bf16", "bf16": "fp16"}.get(source, "i32")
    nodes = (load("in0"), between, cast(1, other, bitcast=True), constant("0", "i32"), cast(3, other), last,
             store("out0", X, 5))
    graph = vector(*nodes, in0=source, out0=becomes)
    loaded = replace(graph, nodes=(nodes[0], nodes[0], *nodes[2:]))
    assert miscompiled(graph) == ("bits of a half compared with 0" if known else "") and miscompiled(loaded) == ""
    found = without_miscompiled(graph).nodes[2]
    assert miscompiled(without_miscompiled(graph)) == "" and found == replace(nodes[2], bitcast=not known)


@each("dtype, fusion, known", [
    ("fp32", True, "pow, fused"), ("fp32", False, ""), ("bf16", True, "pow, fused"), ("fp64", True, ""),
    ("i32", True, "")])
def test_a_pow_of_single_precision_is_inaccurate_under_fusion_only(dtype: str, fusion: bool, known: str) -> None:
    case = _case(_graph(dtype, op("pow", 0, 0)), dtype, options=LaunchOptions(enable_fp_fusion=fusion))
    target, = (one for one in TARGETS if one.name == case.target)
    assert target.about(case) == known


@each("dtype, node, block, warps, known", [
    ("i64", op("trunc_divide", 0, 0), 2048, 1, True), ("i64", op("trunc_divide", 0, 0), 2048, 2, False),
    ("i64", op("trunc_divide", 0, 0), 1024, 1, False), ("i32", op("trunc_divide", 0, 0), 2048, 1, False),
    ("i64", op("mul", 0, 0), 2048, 1, False)])
def test_divisions_in_threads_that_hold_many_elements_are_named(dtype: str, node: Pointwise, block: int, warps: int,
                                                                known: bool) -> None:
    graph = replace(_graph(dtype, node), schedules=(Schedule(x_blocks=(block,)),))
    target, = (one for one in TARGETS if one.name == "codegen.pointwise")
    about = target.about(_case(graph, dtype, options=LaunchOptions(num_warps=warps)))
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
def test_what_folds_is_not_drawn_beside_fp8(target: str, node: Pointwise, value: str, known: str,
                                            drawn: Cast | Pointwise | None) -> None:
    number = constant(value, "i32" if value.isdigit() else "fp32")
    graph = vector(load("in0"), number, load("in1"), node, store("out0", X, 3), in0="fp32", in1="i32", out0=target)
    found = without_miscompiled(graph)
    assert miscompiled(graph) == known and miscompiled(found) == "" and found.nodes[3] == (drawn or node)


@each("mask, known", [(Index(expr=apply("ge", X, num(2)), dtype="i1"), "fp8 of what folds"), (op("ne", 0, 0), "")])
def test_truth_that_axes_decide_is_named_where_it_becomes_fp8_and_still_drawn(mask: Node, known: str) -> None:
    graph = vector(load("in0"), mask, op("eq", 0, 0), Masked(mask=1, arg=2, other="true"), cast(3, "fp8e5"),
                   store("out0", X, 4), in0="i32", out0="fp8e5")
    assert miscompiled(graph) == known and without_miscompiled(graph) == graph


@each("between, known", [(cast(0, "fp8e5"), True), (load("in1"), False)])
def test_powers_to_the_bits_of_an_fp8_are_named_and_still_drawn(between: Node, known: bool) -> None:
    graph = vector(load("in0"), between, cast(1, "i8", bitcast=True), cast(2, "i16"), op("pow", 0, 3),
                   store("out0", X, 4), in0="i16", in1="fp8e5", out0="i16")
    assert miscompiled(graph) == ("power to the bits of an fp8" if known else "")
    assert without_miscompiled(graph) == graph


@each("dtype, block, known", [("i8", 8, True), ("i16", 8, True), ("i16", 4, False), ("i32", 8, False)])
def test_16_bit_sums_of_lanes_beyond_an_axis_are_named_and_still_drawn(dtype: str, block: int, known: bool) -> None:
    gather = vector(load("in0"), Load(buffer="in1", index=Sym(name="v0"), checked=True), store("out0", X, 1),
                    in0=dtype, in1="fp32", out0="fp32")
    total = _graph(dtype, constant("2", dtype), op("add", 0, 1))
    for graph in (gather, total):
        graph = replace(graph, schedules=(Schedule(x_blocks=(block,), static=True),))
        assert miscompiled(graph) == ("half of a 16-bit sum" if known else "") and without_miscompiled(graph) == graph


@each("float_bits, known", [(True, True), (False, False)])
def test_integer_products_of_float_bits_are_not_drawn(float_bits: bool, known: bool) -> None:
    computed = op("mul", 0, 0) if float_bits else load("in0")
    graph = vector(load("in0"), computed, cast(1, "i32", bitcast=True), load("in1"), op("minimum", 2, 2),
                   op("mul", 3, 4), store("out0", X, 5), in0="fp32", in1="i32", out0="i32")
    found = without_miscompiled(graph)
    assert miscompiled(graph) == ("integer product of a float product" if known else "") and miscompiled(found) == ""
    assert found.nodes[5] == (op("bitwise_xor", 3, 4) if known else graph.nodes[5])


@each("indices, strays", [
    ([9, 0, 1, -9, 2, 3], False), ([0, 4, 0, 0, 0, 0], True), ([0, 0, 0, 0, -5, 0], True),
    ([0, -4, 3, 0, 0, 0], False)])
def test_contents_whose_indices_leave_the_buffer_are_declined_where_the_load_is_active(
        indices: list[int], strays: bool) -> None:
    arrays = {"in0": np.arange(4, dtype=np.float32), "in1": np.array(indices)}
    with pytest.raises(Declined, match="index of node 2") if strays else contextlib.nullcontext():
        Interpreter(row_sums_of_a_masked_gather(), arrays).run()


@each("combine, dtype, reduction, unordered", [
    ("sum", "fp32", "split", ("out0",)), ("sum", "i32", "split", ()), ("max", "fp32", "split", ()),
    ("sum", "fp32", "looped", ())])
def test_scans_of_floats_over_programs_have_no_fixed_order(combine: Any, dtype: str, reduction: Any,
                                                           unordered: tuple[str, ...]) -> None:
    graph = matrix(load("in0", at(8)), Scan(combine=combine, args=(0,)), op("neg", 1), store("out0", at(8), 2),
                   store("out1", at(8), 0), rows=2, columns=8, **dict.fromkeys(("in0", "out0", "out1"), (dtype, 16)))
    graph = replace(graph, schedules=(Schedule(x_blocks=(1,), r_block=4, reduction=reduction),))
    target, = (one for one in TARGETS if one.name == "codegen.scan")
    case = _case(graph, dtype)
    outputs = tuple(ArraySpec(name=name, dtype=dtype, dims=(f"n_{name}",)) for name in ("out0", "out1"))
    assert target.unordered(replace(case, arrays=(case.arrays[0], *outputs))) == unordered


def _added_in_memory(dtype: str, held: float, added: float) -> Real:
    graph = vector(load("in0"), Store(buffer="io0", index=num(0), value=0, mode="atomic_add"), length=1,
                   in0=dtype, io0=dtype)
    kind = FLOATS[dtype]
    return Interpreter(graph, {"io0": np.array([held], kind), "in0": np.array([added], kind)}).run()["io0"]


FLOATS = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


@each("held, added", [(5e-45, 0.0), (0.0, -1e-39), (2e-38, -1.5e-38)])
def test_additions_of_single_precision_in_memory_may_flush(held: float, added: float) -> None:
    found = _added_in_memory("fp32", held, added)
    for answer in (float(np.float32(held) + np.float32(added)), 0.0):
        assert abs(answer - found.value[0]) <= found.error[0]
    assert abs(4e-38 - found.value[0]) > found.error[0]


@each("dtype, held, added", [("fp32", 1.5, 2.0**-20), ("fp64", 5e-324, 0.0), ("fp16", 6e-8, 0.0)])
def test_additions_in_memory_are_certain_where_nothing_flushes(dtype: str, held: float, added: float) -> None:
    found = _added_in_memory(dtype, held, added)
    assert found.exact.all() and found.value[0] == float(FLOATS[dtype](held)) + added


def test_no_simpler_schedule_has_a_block_of_nothing() -> None:
    graph = replace(_graph("i32"), schedules=(Schedule(x_blocks=(1,), r_block=1), Schedule(x_blocks=(2,), r_block=2)))
    found = [one for simpler in _simpler_schedules(graph) for one in simpler.schedules]
    assert found and all(min(*one.x_blocks, one.r_block) >= 1 for one in found)


def test_one_of_several_results_gives_way_to_an_operand() -> None:
    graph = _graph("fp32", op("frexp", 0), Part(of=1, item=0))
    assert any(isinstance(node, Store) and node.value == 0
               for found, _ in _cut_subgraphs(graph) for node in found.nodes)
