"""Pointers that are cast or negated: their known defects are predicted to the element, and anything else is new."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.recorded import rehearsed
from tests.known.test_issues import entry
from tridiff.fuzz.known.pointers import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.records import Content, Iota


@pytest.mark.parametrize("name", [one for issue in ISSUES for one in issue.entries])
def test_another_element_than_the_predicted_one_is_new(name: str) -> None:
    issue = next(one for one in ISSUES if name in one.entries)
    rehearsal, outputs = rehearsed(entry(name))
    assert rehearsal.judged(outputs, subject="own")[1] == (issue.name,)
    last = {key: one.clone() for key, one in outputs.items()}
    last["out0"].flatten()[-1] += 1
    judged, names = rehearsal.judged(last, subject="own")
    assert judged.verdict.failed and names == ()


def test_lanes_that_are_loaded_side_by_side_are_predicted_and_other_lanes_are_new() -> None:
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
    judged, names = rehearsal.judged({"out0": pairs}, subject="own")
    assert judged.verdict.failed and names == ("cast-pointers-stay-neighbours",)
    judged, names = rehearsal.judged({"out0": torch.roll(right, 1)}, subject="own")
    assert judged.verdict.failed and names == ()
