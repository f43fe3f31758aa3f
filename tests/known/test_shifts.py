"""A signed number shifted by an unsigned one: what Triton makes of it, and what is something else."""

import torch

from tests.known.test_issues import entry
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.known.shifts import ISSUES
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import rewritten
from tridiff.kernels.language.script import Node

(KNOWN,) = ISSUES


def test_bits_filled_with_the_left_operands_sign_are_known_and_others_are_new() -> None:
    case = entry(KNOWN.entries[0]).case
    rehearsal = rehearse(case)
    (right,) = rehearsal.outputs().values()
    assert right.tolist() == [2**63 - 1]
    for wrong, known in ((2**64 - 1, (KNOWN.name,)), (2**64 - 2, ()), (2**62 - 1, ())):
        assert rehearsal.judged({"out0": torch.tensor([wrong], dtype=torch.uint64)}, subject="own")[1] == known


def test_amounts_that_are_signed_are_drawn_instead() -> None:
    def of_64_bits(one: Node) -> Node:
        wide = Node(row="cast", words={"to": "u64", "function": True}, parts=(one,))
        return wide if one.word("name") == "x2" else one

    case = rewritten(entry(KNOWN.entries[0]).case, of_64_bits)
    assert case is not None and KNOWN.match(case) and KNOWN.instead is not None
    instead = KNOWN.instead(case)
    assert instead is not None and find(case.target).draw.valid(instead) and not KNOWN.match(instead)
