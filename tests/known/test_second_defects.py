"""A machine with a known defect that no value predicts: its failures are the issue, and with a second defect are new.

The machine is played on the CPU. What it makes of a case is a function of the case and its arrays, so that the relative
which controls the attribution is run on a machine with the same defects.
"""

from collections.abc import Callable

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.support.outcomes import outcome_of
from tests.unit.graphs.graphs import X, load, op, store, vector
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Outcome, Signature
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Bucketize
from tridiff.kernels.gluon.chain import Chain, Reduce

Outputs = dict[str, torch.Tensor]
Defect = Callable[[Rehearsal, Outputs], None]
"""What a defect changes in the outputs of a case."""


def attributed(case: Case, *defects: Defect, subject: str) -> tuple[str, ...]:
    """The issues for which a failure of the case is taken on a machine that has these defects and no others."""
    assert find(case.target).draw.valid(case)

    def run(one: Case) -> Outcome:
        rehearsal = rehearse(one)
        outputs = rehearsal.outputs()
        for defect in defects:
            defect(rehearsal, outputs)
        judged, names = rehearsal.judged(outputs, subject=subject)
        signature = Signature(target=one.target, subject=subject, verdict=judged.verdict, kind=judged.kind,
                              where=judged.where) if judged.verdict.failed else None
        return outcome_of(one, judged.verdict, signature, subject=subject, backend="cuda", explained_by=names)

    failure = run(case)
    assert failure.verdict.failed
    return Attribution(run).issues(case, failure)


# -- a search among sorted boundaries, under torch.compile


def searching() -> Case:
    """Where numbers of both signs lie among boundaries of which the last is NaN, and their magnitudes."""
    graph = vector(load("in0"), Bucketize(arg=0, boundaries="in1", size=4, right=True), op("abs", 0),
                   store("out0", X, 1), store("out1", X, 2), length=5, in0="fp64", in1="fp64", out0="i64", out1="fp64")
    graph = replace(graph, buffers=tuple(replace(one, length=4) if one.name == "in1" else one for one in graph.buffers))
    values = {"in0": ("-3.0", "0.5", "29.0", "-7.0", "1.0"), "in1": ("-5.5", "0.75", "1.5", "nan")}
    return Case(target="inductor.programs_sort", program=graph, sizes={f"n_{one.name}": one.length
                                                                       for one in graph.buffers}, arrays=tuple(
        ArraySpec(name=one.name, dtype=one.dtype, dims=(f"n_{one.name}",),
                  content=Content(base=Explicit(values=values[one.name])) if one.name in values else None)
        for one in graph.buffers))


def nan_above_every_value(rehearsal: Rehearsal, outputs: Outputs) -> None:
    x, edges = (rehearsal.buffers[name].typed() for name in ("in0", "in1"))
    outputs["out0"] = (edges[None] <= x[:, None]).sum(1)


def large_ones_found_too_early(rehearsal: Rehearsal, outputs: Outputs) -> None:
    """Alone it gives for the largest just what the known defect gives: the contract leaves the others open."""
    outputs["out0"] = outputs["out0"] - (rehearsal.buffers["in0"].typed() > 10).to(torch.int64)


def negative_ones_keep_their_sign(rehearsal: Rehearsal, outputs: Outputs) -> None:
    outputs["out1"] = rehearsal.buffers["in0"].typed()


@pytest.mark.parametrize("second", [large_ones_found_too_early, negative_ones_keep_their_sign])
def test_a_search_among_boundaries_with_nan_is_known_and_a_class_of_operands_that_is_wrong_too_is_new(
        second: Defect):
    case = searching()
    assert attributed(case, nan_above_every_value, subject="inductor") == ("bucketize-nan-boundary",)
    assert attributed(case, nan_above_every_value, second, subject="inductor") == ()
    assert attributed(case, second, subject="inductor") == ()


# -- a fold over lanes that are no neighbours, in Gluon

FOLDED = entry("gluon.reduce_scan_layouts/value-b42e750096").case


def folding() -> Case:
    """The sum of numbers of both signs, which is below zero."""
    values = ("1", "-2", "3", "-4", "5", "-6", "7", "-8", "9", "-10", "11", "-12", "13", "-14", "15", "-16")
    return replace(FOLDED, arrays=tuple(
        replace(one, content=Content(base=Explicit(values=values))) if one.content is not None else one
        for one in FOLDED.arrays))


def upper_half_lost(rehearsal: Rehearsal, outputs: Outputs) -> None:
    """Elements 8 to 15 never come in, where what is folded lies as in the entry."""
    chain, theirs = rehearsal.case.program, FOLDED.program
    assert isinstance(chain, Chain) and isinstance(theirs, Chain)
    fold = next(step for step in chain.steps if isinstance(step, Reduce))
    if getattr(chain.steps[fold.source], "layout", None) == theirs.steps[0].layout:
        outputs["out0"] = rehearsal.buffers["in0"].typed()[:8].sum(0, keepdim=True, dtype=torch.int32)


def sums_below_zero_lose_their_sign(rehearsal: Rehearsal, outputs: Outputs) -> None:
    outputs["out0"] = outputs["out0"].abs()


def test_a_fold_over_lanes_apart_is_known_and_a_wrong_sign_of_its_sums_is_new():
    case = folding()
    assert attributed(case, upper_half_lost, subject="own") == ("reduced-lanes-or-warps-apart",)
    assert attributed(case, upper_half_lost, sums_below_zero_lose_their_sign, subject="own") == ()
    assert attributed(case, sums_below_zero_lose_their_sign, subject="own") == ()
