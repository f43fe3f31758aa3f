"""The absolute value of a NaN: the NaN that PTX makes of it is known, and anything else is new."""

import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tridiff.fuzz.known.absolute import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Content, Explicit
from tridiff.kernels.language.call import Call

(KNOWN,) = ISSUES


def test_the_nan_that_an_instruction_makes_is_known_for_a_nan_alone():
    case = entry(KNOWN.entries[0]).case
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert right[0].isnan().nonzero().tolist() == [[40]] and KNOWN.match(case)

    def taken(bits: int, place: int = 40) -> tuple[str, ...]:
        wrong = right.clone()
        wrong.view(torch.int16)[0, place] = bits
        judged, names = rehearsal.judged({"out0": wrong})
        assert judged.verdict.failed
        return names

    assert taken(0x7FFF) == (KNOWN.name,)
    assert taken(0x7FC1) == () and taken(0x7F80) == () and taken(0x7FFF, place=3) == ()


def test_of_doubles_the_sign_that_stays_is_known():
    case = entry(KNOWN.entries[0]).case
    call = case.program
    assert isinstance(call, Call)
    block = replace(call.operands[0], dtype="fp64")
    arrays = tuple(replace(one, dtype="fp64", content=Content(base=Explicit(values=("-nan",) * 64)) if one.content
                           else None) for one in case.arrays)
    rehearsal = rehearse(replace(case, arrays=arrays, program=replace(call, operands=(block,), stored=("fp64",))))
    right = rehearsal.outputs()["out0"]
    assert rehearsal.judged({"out0": -right})[1] == (KNOWN.name,)
    assert rehearsal.judged({"out0": torch.zeros_like(right)})[1] == ()
    assert not KNOWN.match(replace(case, program=replace(call, operands=(replace(block, dtype="i32"),))))
