"""Plans with a lost negation: the relative does the same without one."""

import pytest

from tridiff.fuzz.bench.draws import draw_cases
from tridiff.fuzz.known.plans import ISSUES
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits

NEGATED = ISSUES[0]


@pytest.mark.parametrize("name", ["mbarrier.phases", "warp_specialize.ring"])
def test_plans_with_a_lost_negation_are_drawn_and_their_relatives_are_valid(name: str) -> None:
    target = find(name)
    found = [case for case in draw_cases(name, Limits(elements=1 << 10, rows=16), 300, seed=2) if NEGATED.match(case)]
    assert found  # nothing keeps clear of them until one has failed
    for case in found:
        assert NEGATED.relative is not None
        relative = NEGATED.relative(case)
        assert relative is not None and target.valid(relative) and not NEGATED.match(relative)
        assert NEGATED.concerns(case, "own")
