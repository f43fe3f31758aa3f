"""Specialised loops: what the known defects put in place of a product, and what is something else beside it."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_attribution import outcome
from tests.known.test_issues import entry
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find

each = pytest.mark.parametrize
NAN_ROWS = "loops.warp_specialize/nan-unexpected-451c818b3e"
MOVED = "loops.warp_specialize/unwritten-d21c1bfc0f"
ONE_STAGE = "loops.warp_specialize/value-1ca4fb2ee7"


def product(name: str, *, n: int, inner: int = 192, block: int = 64) -> Rehearsal:
    """The case of an entry with so many columns and terms, and slots of `block` terms."""
    case = entry(name).case
    case = replace(case, sizes={**case.sizes, "n": n, "k": inner},
                   program=replace(case.program, n=n, inner=inner, block=block))
    assert find(case.target).draw.valid(case)
    return rehearse(case)


def test_rows_of_nan_are_the_known_issue_and_a_wrong_sign_beside_them_is_new():
    rehearsal = product(NAN_ROWS, n=16)
    out = rehearsal.outputs()["out"]
    out[:, 0] = float("nan")
    assert rehearsal.judged({"out": out})[1] == ("dead-barriers-below-a-ring",)
    planted = torch.where(out < -3, -out, out)
    assert rehearsal.judged({"out": planted})[1] == ()


def test_columns_of_nan_are_the_known_issue_where_the_second_ring_is_the_larger_one():
    """In the PTX of 3.6.0 for 128 columns the ring of the second operand begins where four times five barriers lie."""
    for n, names in ((128, ("dead-barriers-below-a-ring",)), (16, ())):
        rehearsal = product(NAN_ROWS, n=n, inner=96, block=32)
        right = rehearsal.outputs()["out"]
        out = right.clone()
        out[:, :, 0] = float("nan")
        assert rehearsal.judged({"out": out})[1] == names
        out[:, 64:, 0] = right[:, 64:, 0]
        assert rehearsal.judged({"out": out})[1] == ()


def test_one_nan_in_a_row_is_new():
    rehearsal = product(NAN_ROWS, n=16)
    out = rehearsal.outputs()["out"]
    out[0, 5, 3] = float("nan")
    assert rehearsal.judged({"out": out})[1] == ()


@each("n", [16, 128])
def test_a_second_half_64_columns_further_is_the_known_issue_and_a_wrong_sign_beside_it_is_new(n: int):
    rehearsal = product(MOVED, n=n)
    right = rehearsal.outputs()["out"]
    moved = right.clone()
    poison = torch.tensor(rehearsal.buffers["out"].poison, dtype=torch.int32).view(torch.float32)
    moved[:, 64:, :64] = poison
    if n > 64:
        moved[:, 64:, 64:] = right[:, 64:, :n - 64]
    assert rehearsal.judged({"out": moved})[1] == ("split-store-moves-both-coordinates",)
    planted = moved.clone()
    planted[:, :64] = torch.where(right[:, :64] < -3, -right[:, :64], right[:, :64])
    assert rehearsal.judged({"out": planted})[1] == ()


def test_a_product_that_is_wrong_in_one_partition_too_is_not_the_issue_of_specialisation():
    case = entry(ONE_STAGE).case
    ran: list[Case] = []

    def plain(relative: Case) -> Outcome:
        ran.append(relative)
        return outcome(relative, failed=len(ran) > 1)

    assert Attribution(plain).issues(case, outcome(case)) == ("uniform-registers-of-another-partition",)
    assert [one.program for one in ran] == [replace(case.program, specialised=False)]
    assert Attribution(outcome).issues(case, outcome(case)) == ()


@each("name, issue", [
    ("loops.options/assertion--detail--ispre-876fd9b5b4", "specialised-fold-without-partition"),
    ("loops.options/assertion--op--hasattr-k-0364a370ae", "specialised-nest-without-partition-outputs")])
def test_an_assertion_for_want_of_partitions_is_known_only_where_the_loop_compiles_without(
        name: str, issue: str):
    kept = entry(name)

    def refused(case: Case, kind: str = kept.signature.kind) -> Outcome:
        return replace(outcome(case, kind=kind), verdict=Verdict.COMPILE_ERROR)

    def compiled(case: Case) -> Outcome:
        assert case.program == replace(kept.case.program, specialised=False)
        return outcome(case, failed=False)

    assert Attribution(compiled).issues(kept.case, refused(kept.case)) == (issue,)
    assert Attribution(refused).issues(kept.case, refused(kept.case)) == ()
    assert Attribution(compiled).issues(kept.case, refused(kept.case, "another assertion")) == ()
    fails = refused(kept.case, "Failures have been detected while processing an MLIR pass pipeline")  # so 3.6.0 says it
    assert Attribution(compiled).issues(kept.case, fails) == (issue,)
    assert Attribution(refused).issues(kept.case, fails) == ()
    assert Attribution(compiled).issues(kept.case, outcome(kept.case)) == ()
