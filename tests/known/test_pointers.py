"""Pointers that are cast or negated: their known defects are predicted to the element, and anything else is new."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.recorded import rehearsed
from tests.known.test_issues import entry
from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.pointers import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.records import Case, Constant, Content, Iota, Small, Verdict
from tridiff.kernels.language.call import Call, Operand


@pytest.mark.parametrize("name", [one for issue in ISSUES for one in issue.entries])
def test_another_element_than_the_predicted_one_is_new(name: str):
    issue = next(one for one in ISSUES if name in one.entries)
    rehearsal, outputs = rehearsed(entry(name))
    assert rehearsal.judged(outputs)[1] == (issue.name,)
    last = {key: one.clone() for key, one in outputs.items()}
    last["out0"].flatten()[-1] += 1
    judged, names = rehearsal.judged(last)
    assert judged.verdict.failed and names == ()


def test_lanes_that_are_loaded_side_by_side_are_predicted_and_other_lanes_are_new():
    found = entry("language.memory/value-c86fceb7c4").case
    call = call_of(found)
    memory = next(one for one in found.arrays if one.name == "x0")
    case = replace(
        found, sizes={"m0": 256, "n0": 256, "rows": 1},
        arrays=(replace(memory, content=Content(base=Iota())),
                replace(found.arrays[-1], dtype="i8")),
        program=replace(call, row="pointer.cast", operands=call.operands[:1], stored=("i8",),
                        options=call.options | {"lanes": "256"}))
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    bytes_of = torch.arange(256).view(torch.int8).reshape(256, 8)
    pairs = torch.stack([bytes_of[::2, 0], bytes_of[::2, 1]], dim=1).reshape(right.shape)
    judged, names = rehearsal.judged({"out0": pairs})
    assert judged.verdict.failed and names == ("cast-pointers-stay-neighbours",)
    judged, names = rehearsal.judged({"out0": torch.roll(right, 1)})
    assert judged.verdict.failed and names == ()


def test_what_is_stored_side_by_side_is_known_where_it_changes_no_more_than_the_payload_of_a_nan():
    call = Call(row="pointer.cast.store", stored=("fp64",), operands=(
        Operand(dtype="fp64", shape=(8,)), Operand(dtype="fp16", shape=(8,))), options={
        "bitcast": False, "first": 1, "second": 0, "skip": 0, "spread": True, "start": 0,
        "through": "", "way": "method"})
    case = calling(call, {"x0": Content(base=Constant(value="nan")),
                          "x1": ("1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "8.0")})
    words = torch.arange(1, 9).to(torch.float16).view(torch.int16).to(torch.int64)
    memory = torch.full((8,), float("nan"), dtype=torch.float64).view(torch.int64)
    pairs = (memory & ~0xFFFFFFFF)[::2] | (words[1::2] << 16) | words[::2]
    memory[::2] = pairs
    outputs = {"out0": memory.view(torch.float64).reshape(1, 8)}
    judged, names = rehearse(case).judged(outputs)
    assert (judged.kind, names) == ("nan_payload", ("cast-pointers-stay-neighbours",))
    failed = outcome_of(case, Verdict.DISAGREE, wrong_in(case, "out0", kind=judged.kind), backend="cuda",
                        explained_by=names)
    agrees = replace(failed, verdict=Verdict.AGREE, signature=None, explained_by=())
    assert Attribution(lambda relative: agrees).issues(case, failed) == names
    outputs["out0"].view(torch.int64)[0, 3] += 1
    assert rehearse(case).judged(outputs)[1] == ()


def test_a_negated_number_of_16_bits_in_statements_is_known_in_its_row_and_where_small_numbers_are_right():
    found = entry("language.statements/value-f0caa24195")
    rehearsal, outputs = rehearsed(found)
    name = "negated-16-bit-integer-not-cut"
    assert rehearsal.judged(outputs)[1] == (name,)
    another_row = {"out0": outputs["out0"].clone()}
    another_row["out0"].flatten()[1] += 1
    assert rehearsal.judged(another_row)[1] == ()
    failed = outcome_of(found.case, Verdict.DISAGREE, found.signature, backend="cuda", explained_by=(name,))
    controls = {Verdict.AGREE: replace(failed, verdict=Verdict.AGREE, signature=None, explained_by=()),
                Verdict.DISAGREE: replace(failed, explained_by=())}
    run: list[Case] = []
    for verdict, names in ((Verdict.AGREE, (name,)), (Verdict.DISAGREE, ())):
        assert Attribution(lambda case, verdict=verdict: (
            run.append(case) or controls[verdict])).issues(found.case, failed) == names
    assert [one.array("x0").content for one in run] == [Content(base=Small(low=-4, high=4))] * 2
