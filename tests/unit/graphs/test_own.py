"""How generated kernels are launched: what an architecture lacks, and Booleans of other bytes than 0 and 1."""

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.unit.graphs.graphs import (
    at,
    case_of,
    cast,
    linear,
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
from tridiff.fuzz.kinds.graphs.steps import _cut_subgraphs, _simpler_schedules
from tridiff.fuzz.records import ArraySpec, Base, Bits, Small
from tridiff.fuzz.targets.codegen import TARGETS
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels.codegen.graph import Asm, Graph, Part, Scan, Schedule, Store
from tridiff.oracles.by_numpy.bounded import Real

each = pytest.mark.parametrize


@each("backend, graph, word", [
    ("compile:gfx942", linear("i32", Asm(body="popc", args=(0,))), "assembly"),
    ("compile:sm_90", linear("i32", Asm(body="popc", args=(0,))), ""),
    ("compile:sm_80", linear("fp32", cast(0, "fp8e4nv")), "fp8e4nv"),
    ("compile:sm_80", linear("fp8e4nv"), "fp8e4nv"), ("compile:sm_100", linear("fp8e4nv"), ""),
    ("compile:gfx942", linear("fp8e5"), ""), ("cuda", linear("i32", Asm(body="popc", args=(0,))), "")])
def test_programs_are_declined_where_the_architecture_lacks_something(backend: str, graph: Graph, word: str):
    found = own.lacking_on(backend, graph)
    assert word in found and bool(found) is bool(word)


@each("base, during", [(Bits(seed=1), [0, 2, 2, 0]), (Small(seed=1, low=0, high=1), [0, 1, 1, 0])])
def test_truth_is_another_byte_than_one_during_the_launch_only(base: Base, during: list[int]):
    case = case_of(linear("i1"), "i1", base=base)
    arrays = {"in0": torch.tensor([0, 1, 1, 0], dtype=torch.int8), "out0": torch.zeros(4, dtype=torch.int8)}
    seen: list[list[int]] = []
    launch = SimpleNamespace(case=case, schedule=0, fault="", planted="", backend="cuda", options=case.options,
                             pointer=lambda name: arrays[name],
                             run=lambda kernel, grid, arguments: seen.append(arguments["in0_ptr"].tolist()))
    own.launch_graph(launch)
    assert seen == [during]
    assert arrays["in0"].tolist() == [0, 1, 1, 0]


@each("indices, strays", [
    ([9, 0, 1, -9, 2, 3], False), ([0, 4, 0, 0, 0, 0], True), ([0, 0, 0, 0, -5, 0], True),
    ([0, -4, 3, 0, 0, 0], False)])
def test_contents_whose_indices_leave_the_buffer_are_declined_where_the_load_is_active(
        indices: list[int], strays: bool):
    arrays = {"in0": np.arange(4, dtype=np.float32), "in1": np.array(indices)}
    with pytest.raises(Declined, match="index of node 2") if strays else contextlib.nullcontext():
        Interpreter(row_sums_of_a_masked_gather(), arrays).run()


@each("combine, dtype, reduction, unordered", [
    ("sum", "fp32", "split", ("out0",)), ("sum", "i32", "split", ()), ("max", "fp32", "split", ()),
    ("sum", "fp32", "looped", ())])
def test_scans_of_floats_over_programs_have_no_fixed_order(combine: Any, dtype: str, reduction: Any,
                                                           unordered: tuple[str, ...]):
    graph = matrix(load("in0", at(8)), Scan(combine=combine, args=(0,)), op("neg", 1), store("out0", at(8), 2),
                   store("out1", at(8), 0), rows=2, columns=8, **dict.fromkeys(("in0", "out0", "out1"), (dtype, 16)))
    graph = replace(graph, schedules=(Schedule(x_blocks=(1,), r_block=4, reduction=reduction),))
    target, = (one for one in TARGETS if one.name == "codegen.scan")
    case = case_of(graph, dtype)
    outputs = tuple(ArraySpec(name=name, dtype=dtype, dims=(f"n_{name}",)) for name in ("out0", "out1"))
    assert target.judge.unordered(replace(case, arrays=(case.arrays[0], *outputs))) == unordered


def _added_in_memory(dtype: str, held: float, added: float) -> Real:
    graph = vector(load("in0"), Store(buffer="io0", index=num(0), value=0, mode="atomic_add"), length=1,
                   in0=dtype, io0=dtype)
    kind = FLOATS[dtype]
    return Interpreter(graph, {"io0": np.array([held], kind), "in0": np.array([added], kind)}).run()["io0"]


FLOATS = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


@each("held, added", [(5e-45, 0.0), (0.0, -1e-39), (2e-38, -1.5e-38)])
def test_additions_of_single_precision_in_memory_may_flush(held: float, added: float):
    found = _added_in_memory("fp32", held, added)
    for answer in (float(np.float32(held) + np.float32(added)), 0.0):
        assert abs(answer - found.value[0]) <= found.error[0]
    assert abs(4e-38 - found.value[0]) > found.error[0]


@each("dtype, held, added", [("fp32", 1.5, 2.0**-20), ("fp64", 5e-324, 0.0), ("fp16", 6e-8, 0.0)])
def test_additions_in_memory_are_certain_where_nothing_flushes(dtype: str, held: float, added: float):
    found = _added_in_memory(dtype, held, added)
    assert found.exact.all() and found.value[0] == float(FLOATS[dtype](held)) + added


def test_no_simpler_schedule_has_a_block_of_nothing():
    graph = replace(linear("i32"), schedules=(Schedule(x_blocks=(1,), r_block=1), Schedule(x_blocks=(2,), r_block=2)))
    found = [one for simpler in _simpler_schedules(graph) for one in simpler.schedules]
    assert found and all(min(*one.x_blocks, one.r_block) >= 1 for one in found)


def test_one_of_several_results_gives_way_to_an_operand():
    graph = linear("fp32", op("frexp", 0), Part(of=1, item=0))
    assert any(isinstance(node, Store) and node.value == 0
               for found, _ in _cut_subgraphs(graph) for node in found.nodes)
