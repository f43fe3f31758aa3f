"""Conversions of generated programs that torch.compile leaves out, and others beside them."""

from typing import Literal

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_programs import wrong
from tests.unit.graphs.graphs import X, at, cast, load, matrix, op, store, vector
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.programs import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Graph, Node, Pointwise, Reduce, Scan, Schedule


def _twice_converted(source: str, between: str, to: str, *behind: Node, values: tuple[str, ...]) -> Case:
    graph = vector(load("in0"), cast(0, between), cast(1, to), *behind, store("out0", X, 2 + len(behind)),
                   length=len(values), in0=source, out0=to)
    graph = replace(graph, schedules=(Schedule(upcast=False),))
    content = Content(base=Explicit(values=values))
    case = Case(target="inductor.programs_pointwise", program=graph,
                sizes=dict.fromkeys(("n_in0", "n_out0"), len(values)), arrays=(
                    ArraySpec(name="in0", dtype=source, dims=("n_in0",), content=content),
                    ArraySpec(name="out0", dtype=to, dims=("n_out0",))))
    assert find(case.target).draw.valid(case)
    return case


@pytest.mark.parametrize(("types", "values", "right", "once"), [
    (("i32", "fp32", "fp64"), ("16777217", "3"), (2.0**24, 3.0), (2.0**24 + 1, 3.0)),
    (("fp32", "fp16", "bf16"), ("70000.0", "1.0"), (float("inf"), 1.0), (70144.0, 1.0)),
    (("fp32", "bf16", "fp32"), ("1.00390625", "1.0"), (1.0, 1.0), (1.00390625, 1.0))])
@pytest.mark.parametrize("negated", [False, True])
def test_a_value_that_is_converted_once_not_twice_is_known_and_another_one_is_new(
        types: tuple[str, str, str], values: tuple[str, ...], right: tuple[float, ...], once: tuple[float, ...],
        negated: bool) -> None:
    case = _twice_converted(*types, *[Pointwise(op="neg", args=(2,))] * negated, values=values)
    rehearsal, sign = rehearse(case), -1 if negated else 1
    out = rehearsal.outputs()["out0"]
    assert (sign * out).tolist() == list(right)
    wrong = (sign * torch.tensor(once, dtype=torch.float64)).to(out.dtype)
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ("conversions-joined",)
    wrong[1] *= 2
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ()


@pytest.mark.parametrize(("source", "between", "to", "known"), [
    ("i32", "fp32", "fp64", True), ("i16", "fp32", "fp64", False), ("fp64", "fp32", "fp64", True),
    ("fp16", "fp32", "fp16", False), ("fp16", "bf16", "fp32", True), ("fp32", "fp16", "i32", False),
    ("fp8e5", "bf16", "fp32", False), ("fp64", "fp32", "fp16", True)])
def test_conversions_that_are_joined_are_told_from_those_of_which_none_rounds(
        source: str, between: str, to: str, known: bool) -> None:
    issue = next(one for one in ISSUES if one.name == "conversions-joined")
    case = _twice_converted(source, between, to, values=("1", "2"))
    assert issue.match(case) == known
    graph = case.program
    assert isinstance(graph, Graph)
    used_twice = vector(*graph.nodes, store("out1", X, 1), length=2, in0=source, out0=to, out1=between)
    assert not issue.match(replace(case, program=used_twice))
    relative = issue.instead(case) if known and issue.instead else None
    assert not known or (relative is not None and not issue.match(relative))


@pytest.mark.parametrize(("combine", "upcast", "to", "known"), [
    ("prod", False, "fp64", True), ("prod", True, "fp64", False), ("prod", False, "bf16", False),
    ("max", False, "fp64", False)])
def test_a_scan_of_halves_that_is_not_rounded_before_a_conversion_is_known_and_another_value_is_new(
        combine: Literal["prod", "max"], upcast: bool, to: str, known: bool) -> None:
    graph = matrix(load("in0", at(2)), Scan(combine=combine, args=(0,)), store("out0", at(2), 1), rows=1, columns=2,
                   in0=("bf16", 2), out0=(to, 2))
    case = Case(target="inductor.programs_scan", sizes={"n_in0": 2, "n_out0": 2}, arrays=(
        ArraySpec(name="in0", dtype="bf16", dims=("n_in0",), content=Content(base=Explicit(values=("1.0078125",) * 2))),
        ArraySpec(name="out0", dtype=to, dims=("n_out0",))),
        program=replace(graph, schedules=(Schedule(reduction="looped", upcast=upcast),)))
    alone, spread, _ = (one for one in ISSUES if one.name == "conversions-joined")
    assert alone.match(case) == known and not spread.match(case)
    if known:
        rehearsal = rehearse(case)
        assert rehearsal.outputs()["out0"].tolist() == [1.0078125, 1.015625]
        once = torch.tensor([1.0078125, 1.0078125**2], dtype=torch.float64)
        assert rehearsal.judged({"out0": once}, subject="inductor")[1] == ("conversions-joined",)
        assert rehearsal.judged({"out0": once * 2}, subject="inductor")[1] == ()
        relative = alone.instead and alone.instead(case)
        assert relative is not None and not alone.match(relative)


@pytest.mark.parametrize(("fold", "right", "once"), [
    (Reduce(kind="sum", args=(1,)), [4.0], [4.001953125]), (Reduce(kind="max", args=(1,)), [1.0], [1.00048828125]),
    (Scan(combine="sum", args=(1,)), [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.001953125, 4.0])])
def test_a_fold_of_what_was_not_rounded_to_a_half_is_known_and_another_value_is_new(
        fold: Reduce | Scan, right: list[float], once: list[float]) -> None:
    to, row = ("fp16", at(4)) if isinstance(fold, Scan) else ("fp32", X)
    graph = matrix(load("in0", at(4)), cast(0, "fp16"), fold, store("out0", row, 2), rows=1, columns=4,
                   in0=("fp32", 4), out0=(to, len(right)))
    case = Case(target="inductor.programs_scan", sizes={"n_in0": 4, "n_out0": len(right)}, arrays=(
        ArraySpec(name="in0", dtype="fp32", dims=("n_in0",),
                  content=Content(base=Explicit(values=("1.00048828125",) * 4))),
        ArraySpec(name="out0", dtype=to, dims=("n_out0",))),
        program=replace(graph, schedules=(Schedule(reduction="looped", upcast=False),)))
    rehearsal = rehearse(case)
    out = rehearsal.outputs()["out0"]
    assert out.tolist() == right
    wrong = torch.tensor(once, dtype=out.dtype)
    assert rehearsal.judged({"out0": wrong}, subject="inductor")[1] == ("conversions-joined",)
    assert rehearsal.judged({"out0": wrong * 2}, subject="inductor")[1] == ()
    issue = next(one for one in ISSUES if one.name == "conversions-joined")
    relative = issue.instead and issue.instead(case)
    assert relative is not None and not issue.match(relative)
    widened = replace(graph, schedules=(Schedule(reduction="looped", upcast=True),))
    assert not issue.match(replace(case, program=widened))


@pytest.mark.parametrize(("upcast", "first", "to", "known"), [
    (False, "bf16", "fp32", True), (False, "bf16", "fp16", True), (True, "bf16", "fp32", False),
    (False, "bf16", "bf16", False), (False, "fp32", "bf16", True), (True, "fp32", "bf16", False)])
def test_a_sum_of_a_product_of_halves_that_are_not_rounded_before_or_behind_it_is_known_if_a_plain_sum_is_right(
        upcast: bool, first: str, to: str, known: bool) -> None:
    graph = replace(vector(load("in0"), cast(0, "bf16"), load("in1"), op("mul_add", 2, 1, 2), store("out0", X, 3),
                           in0=first, in1="bf16", out0=to), schedules=(Schedule(upcast=upcast),))
    case = Case(target="inductor.programs_pointwise", sizes=dict.fromkeys(("n_in0", "n_in1", "n_out0"), 4), arrays=(
        ArraySpec(name="in0", dtype=first, dims=("n_in0",), content=Content()),
        ArraySpec(name="in1", dtype="bf16", dims=("n_in1",), content=Content()),
        ArraySpec(name="out0", dtype=to, dims=("n_out0",))), program=graph)
    for fails, names in ((False, ("conversions-joined",) if known else ()), (True, ())):
        attribution = Attribution(lambda relative, fails=fails: wrong(relative, failed=fails))  # type: ignore[misc]
        assert attribution.issues(case, wrong(case)) == names
