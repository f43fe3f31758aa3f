"""Conversions of generated programs that torch.compile leaves out, and others beside them."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import compiled
from tests.known.test_programs import wrong
from tests.unit.graphs.graphs import X, at, cast, load, matrix, op, store, vector
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.programs import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Graph, Node, Reduce, Scan, Schedule

each = pytest.mark.parametrize
JOINED = next(one for one in ISSUES if one.name == "conversions-joined")


def _twice_converted(source: str, between: str, to: str, *behind: Node, values: tuple[str, ...]) -> Case:
    graph = vector(load("in0"), cast(0, between), cast(1, to), *behind, store("out0", X, 2 + len(behind)),
                   length=len(values), in0=source, out0=to)
    case = compiled(replace(graph, schedules=(Schedule(upcast=False),)), "pointwise", *values)
    assert find(case.target).draw.valid(case)
    return case


@each("types, values, right, once", [
    (("i32", "fp32", "fp64"), ("16777217", "3"), (2.0**24, 3.0), (2.0**24 + 1, 3.0)),
    (("fp32", "fp16", "bf16"), ("70000.0", "1.0"), (float("inf"), 1.0), (70144.0, 1.0)),
    (("fp32", "bf16", "fp32"), ("1.00390625", "1.0"), (1.0, 1.0), (1.00390625, 1.0))])
@each("negated", [False, True])
def test_a_value_that_is_converted_once_not_twice_is_known_and_another_one_is_new(
        types: tuple[str, str, str], values: tuple[str, ...], right: tuple[float, ...], once: tuple[float, ...],
        negated: bool):
    case = _twice_converted(*types, *[op("neg", 2)] * negated, values=values)
    rehearsal, sign = rehearse(case), -1 if negated else 1
    out = rehearsal.outputs()["out0"]
    assert (sign * out).tolist() == list(right)
    wrong = (sign * torch.tensor(once, dtype=torch.float64)).to(out.dtype)
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ("conversions-joined",)
    wrong[1] *= 2
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ()


@each("source, between, to, known", [
    ("i32", "fp32", "fp64", True), ("i16", "fp32", "fp64", False), ("fp64", "fp32", "fp64", True),
    ("fp16", "fp32", "fp16", False), ("fp16", "bf16", "fp32", True), ("fp32", "fp16", "i32", False),
    ("fp8e5", "bf16", "fp32", False), ("fp64", "fp32", "fp16", True)])
def test_conversions_that_are_joined_are_told_from_those_of_which_none_rounds(
        source: str, between: str, to: str, known: bool):
    case = _twice_converted(source, between, to, values=("1", "2"))
    assert JOINED.match(case) == known
    graph = case.program
    assert isinstance(graph, Graph)
    used_twice = vector(*graph.nodes, store("out1", X, 1), length=2, in0=source, out0=to, out1=between)
    assert not JOINED.match(replace(case, program=used_twice))
    relative = JOINED.instead(case) if known and JOINED.instead else None
    assert not known or (relative is not None and not JOINED.match(relative))


@each("nodes, to, right, once", [
    ((Scan(combine="prod", args=(0,)),), "fp64", (1.0078125, 1.015625), (1.0078125, 1.0078125**2)),
    ((cast(0, "bf16"), Scan(combine="sum", args=(1,))), "bf16", (1.0, 2.0, 3.0), (1.0, 2.0, 3.015625)),
    ((cast(0, "bf16"), Reduce(kind="sum", args=(1,))), "fp32", (2.0,), (2.0078125,)),
    ((cast(0, "bf16"), Reduce(kind="max", args=(1,))), "fp32", (1.0,), (1.00390625,))])
def test_a_half_that_is_not_rounded_before_or_behind_a_fold_is_known_and_another_value_is_new(
        nodes: tuple[Node, ...], to: str, right: tuple[float, ...], once: tuple[float, ...]):
    scans, length = isinstance(nodes[-1], Scan), max(len(right), 2)
    graph = matrix(load("in0", at(length)), *nodes, store("out0", at(length) if scans else X, len(nodes)), rows=1,
                   columns=length, in0=("fp32" if nodes[1:] else "bf16", length), out0=(to, len(right)))
    case, widened = (
        compiled(replace(graph, schedules=(Schedule(reduction="looped", upcast=upcast),)), "scan",
                 *["1.00390625" if nodes[1:] else "1.0078125"] * length) for upcast in (False, True))
    rehearsal = rehearse(case)
    out = rehearsal.outputs()["out0"]
    assert out.tolist() == list(right)
    wrong = torch.tensor(once, dtype=out.dtype)
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ("conversions-joined",)
    assert rehearsal.judged({"out0": wrong * 2}, subject="inductor")[1] == ()
    relative = JOINED.instead and JOINED.instead(case)
    assert relative is not None and not any(map(JOINED.match, (relative, widened)))


@each("upcast, first, to, known", [
    (False, "bf16", "fp32", True), (True, "bf16", "fp32", False), (False, "bf16", "bf16", False),
    (False, "fp32", "bf16", True), (True, "fp32", "bf16", False)])
def test_a_sum_of_a_product_of_halves_that_are_not_rounded_before_or_behind_it_is_known_if_a_plain_sum_is_right(
        upcast: bool, first: str, to: str, known: bool):
    graph = vector(load("in0"), cast(0, "bf16"), load("in1"), op("mul_add", 2, 1, 2), store("out0", X, 3),
                   in0=first, in1="bf16", out0=to)
    case = compiled(replace(graph, schedules=(Schedule(upcast=upcast),)), "pointwise")
    for fails in (False, True):
        attribution = Attribution(lambda relative, fails=fails: wrong(relative, failed=fails))
        assert attribution.issues(case, wrong(case)) == (("conversions-joined",) if known and not fails else ())
