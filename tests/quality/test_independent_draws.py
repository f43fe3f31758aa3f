"""A campaign's draws do not copy each other: what a compilation costs should not buy the same kernel twice."""

import pytest

from tridiff.fuzz.bench.draws import draw_cases
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits


@pytest.mark.parametrize("target", ["helpers.sort_with_index", "codegen.mixed", "helpers.welford_reduce"])
def test_nearly_every_draw_is_a_case_of_its_own(target: str) -> None:
    assert BACKEND == "tridiff", "this Hypothesis has no registry of backends where it is looked for"
    cases = draw_cases(target, Limits(elements=1 << 14, rows=1 << 10), 100, seed=4)
    assert len(cases) == 100
    assert len({case.digest for case in cases}) >= 97


def test_the_same_seed_draws_the_same_cases() -> None:
    one, again, other = ([case.digest for case in draw_cases("helpers.minimum", Limits(), 30, seed=seed)]
                         for seed in (8, 8, 9))
    assert one == again != other
