"""Defects whose values cannot be predicted show in the outputs behind them alone: another wrong output is new."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.recorded import rehearsed, taken_for
from tests.known.test_graphs import case_of as programs
from tests.known.test_issues import entry
from tests.known.test_programs import wrong
from tests.unit.graphs.graphs import X, apply, constant, load, num, op, store, vector
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import (
    Buffer,
    Graph,
    Index,
    Part,
    Reduce,
    Sym,
)

SEARCH, ROOT = "codegen.sort/value-3cf93dba58", "codegen.pointwise/nan-unexpected-a2318c74fe"


def beside(case: Case, *, value: int, dtype: str) -> Case:
    """The case whose program stores another of its nodes as well."""
    graph = case.program
    assert isinstance(graph, Graph)
    length = graph.outer[0]
    index = X if length > 1 else num(0)
    made = replace(graph, buffers=(*graph.buffers, Buffer(name="other", dtype=dtype, length=length, role="out")),
                   nodes=(*graph.nodes, store("other", index, value)))
    out = next(one for one in case.arrays if one.name.startswith("out"))
    return replace(case, program=made, arrays=(*case.arrays, ArraySpec(
        **{name: getattr(out, name) for name in out.__struct_fields__} | {"name": "other", "dtype": dtype})))


def test_a_searched_place_that_is_wrong_itself_is_new():
    found = entry(SEARCH)
    _, recorded = rehearsed(found)
    case = beside(found.case, value=3, dtype="i32")
    rehearsal = rehearse(case)
    right = rehearsal.outputs()
    assert taken_for(rehearsal, right | recorded) == ("place-of-a-search-as-truth",)
    assert taken_for(rehearsal, right | recorded | {"other": right["other"] + 1}) == ()
    assert taken_for(rehearsal, right | {"other": right["other"] + 1}) == ()


def test_a_cube_root_is_nan_and_nothing_else_of_a_program_is_wrong():
    found = entry(ROOT)
    rehearsal, recorded = rehearsed(found)
    assert rehearsal.judged(recorded)[1] == ("cube-root-of-subnormals",)
    doubled = {"out4": torch.where(recorded["out4"].isnan(), 2.0, recorded["out4"])}
    assert taken_for(rehearsal, doubled) == ()


def test_another_sign_beside_a_cube_root_is_new():
    found = entry(ROOT)
    _, recorded = rehearsed(found)
    graph = found.case.program
    assert isinstance(graph, Graph)
    negated = replace(found.case, program=replace(graph, nodes=(*graph.nodes, op("neg", 0))))
    rehearsal = rehearse(beside(negated, value=len(graph.nodes), dtype="fp32"))
    right = rehearsal.outputs()
    assert rehearsal.judged(right | recorded)[1] == ("cube-root-of-subnormals",)
    assert taken_for(rehearsal, right | recorded | {"other": -right["other"]}) == ()


def fp8_beside_infinities(*, folded: bool) -> Case:
    """A row's values as fp8, and the mean of those and of infinity in its last element, which is stored as fp8 too, as
    the first element is, if that may fold."""
    last = Index(expr=apply("eq", Sym(name="r"), num(2)), dtype="i1")
    nodes = [load("in0", Sym(name="r")), last, constant("inf", "fp32"),
             op("where", 1, 2, 0), Reduce(kind="welford", args=(3,)), Part(of=4, item=0),
             store("out0", Sym(name="r"), 3 if folded else 0),
             store("out1", num(0), 5)]
    buffers = (Buffer(name="in0", dtype="fp32", length=3), Buffer(name="out0", dtype="fp8e4nv", length=3, role="out"),
               Buffer(name="out1", dtype="fp32", length=1, role="out"))
    graph = Graph(outer=(1,), r=3, buffers=buffers, nodes=tuple(nodes))
    return Case(target="inductor.programs_reduction", sizes={f"n_{one.name}": one.length for one in buffers},
                program=graph, arrays=tuple(ArraySpec(
                    name=one.name, dtype=one.dtype, dims=(f"n_{one.name}",),
                    content=None if one.role == "out" else Content(base=Explicit(values=("448.0", "2.0", "3.0"))))
                    for one in buffers))


def test_a_pair_of_fp8_is_wrong_in_what_is_stored_of_it_alone():
    """The mean of a row with infinities beside an fp8 belonged to the pair: its control has no infinity."""
    pair = "fp8-pair-merged-with-a-stale-register"
    nan = torch.full((1,), float("nan"))
    for folded in (False, True):
        case = fp8_beside_infinities(folded=folded)
        assert find(case.target).draw.valid(case)
        right = {name: values.clone() for name, values in rehearse(case).outputs().items()}
        assert taken_for(rehearse(case), right | {"out1": nan}, subject="inductor") == ()
        for sign, known in ([0, 0, 0x80], folded), ([0x80, 0, 0], False), ([0x80, 0, 0x80], False):
            negated = right["out0"].view(torch.uint8) ^ torch.tensor(sign, dtype=torch.uint8)
            outputs = right | {"out0": negated.view(right["out0"].dtype)}
            assert taken_for(rehearse(case), outputs, subject="inductor") == ((pair,) if known else ())
        mean, passes = "mean-of-infinities", wrong(case, failed=False)
        assert Attribution(lambda relative, good=passes: good).issues(case, wrong(case)) == (mean,)


@pytest.mark.parametrize("bits, known", [
    ([0, 0, 1, 0, 0, 0, 5, 0], True), ([0, 0, 1, 0x80, 0, 0, 0, 9], True), ([0, 0, 1, 0, 1, 0, 0, 0], False),
    ([0, 0, 0, 0, 1, 0, 1, 0], False)])
def test_a_quotient_of_zero_as_fp8_is_wrong_in_upper_pairs_alone(bits: list[int], known: bool):
    """div_floor_integer(0, x): ptxas 12.8 makes `F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R41, RZ, RZ, R0` of it."""
    graph = vector(load("in0"), constant("0", "i32"), constant("9", "i32"), op("maximum", 0, 2),
                   op("floor_divide", 1, 3), store("out0", X, 4), length=8, in0="i32", out0="fp8e4nv")
    case = programs(graph)
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert not right.view(torch.uint8).any()
    stale = torch.tensor(bits, dtype=torch.uint8).view(right.dtype)
    names = ("fp8-pair-merged-with-a-stale-register",) if known else ()
    assert taken_for(rehearsal, {"out0": stale}) == names
    failure = replace(wrong(case, subject="own"), explained_by=names)
    passes, fails = (wrong(case, failed=failed, subject="own") for failed in (False, True))
    assert Attribution(lambda relative: passes).issues(case, failure) == names
    assert Attribution(lambda relative: fails).issues(case, failure) == ()


def test_what_shows_behind_a_search_must_be_right_without_it():
    case = entry(SEARCH).case
    failure = replace(wrong(case, subject="own"), explained_by=("place-of-a-search-as-truth",))
    right = Attribution(lambda relative: wrong(relative, failed=False, subject="own"))
    assert right.issues(case, failure) == ("place-of-a-search-as-truth",)
    assert Attribution(lambda relative: wrong(relative, subject="own")).issues(case, failure) == ()
    # Wrong values that do not lie behind it alone are explained by nothing, and no control is asked.
    assert right.issues(case, wrong(case, subject="own")) == ()
