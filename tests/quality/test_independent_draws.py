"""A campaign's draws do not copy each other: what a compilation costs should not buy the same kernel twice."""

import hypothesis
import pytest
from hypothesis import Phase, given, strategies as st

from tests.support.draws import draws
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits


@pytest.mark.parametrize("target", ["helpers.sort_with_index", "codegen.mixed", "helpers.welford_reduce"])
def test_nearly_every_draw_is_a_case_of_its_own(target: str):
    assert BACKEND == "tridiff", "this Hypothesis has no registry of backends where it is looked for"
    cases = draw_cases(target, Limits(elements=1 << 14, rows=1 << 10), 100, seed=4)
    assert len(cases) == 100
    assert len({case.digest for case in cases}) >= 97


def test_the_same_seed_draws_the_same_cases():
    one, again, other = ([case.digest for case in draw_cases("helpers.minimum", Limits(), 30, seed=seed)]
                         for seed in (8, 8, 9))
    assert one == again != other


def test_draws_do_not_depend_on_what_the_process_drew_before(monkeypatch: pytest.MonkeyPatch):
    """Hypothesis' own backend takes constants of imported modules, and remembers them for every backend."""
    providers = pytest.importorskip("hypothesis.internal.conjecture.providers")
    constants = pytest.importorskip("hypothesis.internal.constants_ast").Constants(integers={1003, 2011})
    numbers = st.integers(1000, 2500)
    before = draws(numbers, 100, seed=3)
    monkeypatch.setattr(providers, "_get_local_constants", lambda: constants)
    monkeypatch.setattr(providers, "CONSTANTS_CACHE", type(providers.CONSTANTS_CACHE)(16))
    seen: set[int] = set()

    @hypothesis.settings(database=None, max_examples=200, derandomize=True, phases=[Phase.generate])
    @given(numbers)
    def plain(value: int) -> None:
        seen.add(value)

    plain()
    assert seen > {1003, 2011}, "constants of modules are drawn here"
    assert draws(numbers, 100, seed=3) == before
