"""Data movement on a real GPU: own kernels agree with both references, planted defects are caught."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.chains.drawn import CHAIN_TARGETS, cases
from tests.gpu.known import explained
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.workers.pool import Pool, PoolOptions

each = pytest.mark.parametrize
pytestmark = pytest.mark.gpu

TARGETS = (*CHAIN_TARGETS, "gluon.global_scratch")
FAULTS = [(target, fault) for target in TARGETS for fault in find(target).faults.planted]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="cuda", hang_limit=60)) as made:
        yield made


def _needs(pool: Pool, target: str) -> None:
    lacking = find(target).run.lacking(pool.environment)
    if lacking:
        pytest.skip(lacking)


@each("target", TARGETS)
def test_own_kernels_agree(pool: Pool, target: str):
    """What fails is explained in the corpus, and is rare."""
    _needs(pool, target)
    found: Counter[Verdict] = Counter()
    for case in cases(target, 20, 21):
        outcome = pool.execute(case, "own")
        found[outcome.verdict] += 1
        assert not outcome.verdict.failed or explained(outcome), (outcome.signature, outcome.reason, case)
    assert found[Verdict.AGREE] >= 14 and not found[Verdict.NOT_CHECKED], found


@each("target, fault", FAULTS)
def test_planted_defects_are_caught(pool: Pool, target: str, fault: str):
    """A case counts where the right kernel agrees and the broken one fails."""
    _needs(pool, target)
    verdicts: Counter[Verdict] = Counter()
    for start in (21, 22, 23):
        for case in cases(target, 40, start):
            outcome = pool.execute(case, f"own+fault:{fault}")
            verdicts[outcome.verdict] += 1
            if outcome.verdict.failed and pool.execute(case, "own").verdict is Verdict.AGREE:
                return
    raise AssertionError(f"{fault} of {target} was not caught: {verdicts}")
