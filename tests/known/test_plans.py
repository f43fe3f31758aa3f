"""Plans with a lost negation: the relative does the same without one."""

from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.known.plans import ISSUES
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits

NEGATED = ISSUES[0]
LIMITS = Limits(elements=1 << 10, rows=16)


def test_plans_with_a_lost_negation_are_drawn_and_their_relatives_are_valid() -> None:
    found = [case for name in ("async.copy_ring", "mbarrier.phases", "warp_specialize.ring")
             for case in draw_cases(name, LIMITS, 300, seed=2) if NEGATED.match(case)]
    assert found  # nothing keeps clear of them until one has failed
    for case in found:
        assert NEGATED.concerns(case, "own") and NEGATED.relative is not None
        relative = NEGATED.relative(case)
        assert relative is not None and find(case.target).draw.valid(relative) and not NEGATED.match(relative)
