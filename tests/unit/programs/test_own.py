"""How generated kernels are launched: what an architecture lacks, and Booleans of other bytes than 0 and 1."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from fuzz.programs import own
from fuzz.programs.miscompiled import miscompiled
from fuzz.records import ArraySpec, Bits, Case, Content, Small
from kernels.codegen.graph import Asm, Buffer, Cast, Constant, Graph, Index, Load, Num, Pointwise, Store, Sym
from tests.unit.programs.graphs import apply

X = Sym("x0")


def _graph(dtype: str, *between: Asm | Cast) -> Graph:
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
