"""A signed number shifted by an unsigned one: what Triton makes of it, and what is something else."""

import torch
from msgspec.structs import replace

from tests.known.relatives import is_told_by_its_control, relative_of
from tests.known.test_issues import entry
from tests.support.outcomes import outcome_of
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.known.shifts import ISSUES
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import rewritten
from tridiff.kernels.language.script import Node

KNOWN, INTERPRETED = ISSUES


def test_bits_filled_with_the_left_operands_sign_are_known_and_others_are_new():
    case = entry(KNOWN.entries[0]).case
    rehearsal = rehearse(case)
    (right,) = rehearsal.outputs().values()
    assert right.tolist() == [2**63 - 1]
    for wrong, known in ((2**64 - 1, (KNOWN.name,)), (2**64 - 2, ()), (2**62 - 1, ())):
        assert rehearsal.judged({"out0": torch.tensor([wrong], dtype=torch.uint64)})[1] == known


def test_amounts_that_are_signed_are_drawn_instead():
    def of_64_bits(one: Node) -> Node:
        wide = Node(row="cast", words={"to": "u64", "function": True}, parts=(one,))
        return wide if one.word("name") == "x2" else one

    case = rewritten(entry(KNOWN.entries[0]).case, of_64_bits)
    assert case is not None and KNOWN.match(case) and KNOWN.instead is not None
    instead = KNOWN.instead(case)
    assert instead is not None and find(case.target).draw.valid(instead) and not KNOWN.match(instead)


def test_signed_numbers_that_the_interpreter_leaves_are_known_where_signed_amounts_are_right():
    found = entry(INTERPRETED.entries[0])
    raised = replace(found.signature, verdict=Verdict.CRASH, kind="TypeError: ufunc 'bitwise_and' not supported for")
    for signature in (found.signature, raised):
        failure = outcome_of(found.case, signature.verdict, signature)
        relative_of(INTERPRETED, found.case)
        right = is_told_by_its_control(INTERPRETED.name, found.case, failure)
        assert Attribution(lambda one, right=right: right).issues(found.case, replace(failure, backend="cuda")) == ()
