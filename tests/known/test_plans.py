"""Plans with a lost negation or a lost sum: the relative does the same without one."""

import pytest
from msgspec.structs import replace

from tests.known.outcomes import outcome
from tests.known.relatives import relative_of
from tests.known.test_issues import entry
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.known.plans import ISSUES
from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.pipelines.plan import Op, Plan

NEGATED = ISSUES[0]
JOINED, = (one for one in ISSUES if one.name == "packed-sum-half-used")
LIMITS = Limits(elements=1 << 10, rows=16)


def test_plans_with_a_lost_negation_are_drawn_and_their_relatives_are_valid():
    found = [case for name in ("async.copy_ring", "mbarrier.phases", "warp_specialize.ring")
             for case in draw_cases(name, LIMITS, 300, seed=2) if NEGATED.match(case)]
    assert found  # nothing keeps clear of them until one has failed
    for case in found:
        assert NEGATED.concerns(case, "own")
        relative_of(NEGATED, case)


@pytest.mark.parametrize("dtype, ops, joined", [
    ("bf16", "add row_max add", True), ("fp16", "scan add multiply row_max invert", True),
    ("fp16", "scan add mix", True), ("fp16", "add mix", False), ("fp16", "scan add xor", False),
    ("i32", "add row_max add", False), ("bf16", "add row_max stage add", False), ("bf16", "xor row_max add", False),
    ("i16", "add row_max xor", False), ("i16", "row_max add", False), ("i16", "add convert row_max add", False)])
def test_a_sum_on_either_side_of_a_maximum_of_16_bit_numbers_is_known_by_its_relative(
        dtype: str, ops: str, joined: bool):
    found = entry("mbarrier.phases/value-a40da7f7b6").case
    assert isinstance(found.program, Plan)
    steps = tuple(Op(kind=one) for one in ops.split())
    case = replace(found, program=replace(found.program, dtype=dtype, ops=steps), arrays=tuple(
        replace(one, dtype=dtype) for one in found.arrays))
    assert JOINED.match(case) == joined
    failure = outcome(case, failed=True)
    asked: list[Case] = []

    def right(relative: Case) -> Outcome:
        asked.append(relative)
        return outcome(relative, failed=False)

    assert Attribution(right).issues(case, failure) == ((JOINED.name,) if joined else ())
    assert all(find(one.target).draw.valid(one) and not JOINED.match(one) for one in asked)
    # Another defect is wrong without the sum too.
    assert Attribution(lambda relative: outcome(relative, failed=True)).issues(case, failure) == ()
