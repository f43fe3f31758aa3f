"""Data movement on a real GPU: own kernels agree with both references, planted defects are caught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from fuzz.records import Verdict
from fuzz.targets import find
from fuzz.workers.pool import Pool, PoolOptions
from tests.movement.drawn import CHAIN_TARGETS, cases

pytestmark = pytest.mark.gpu

TARGETS = (*CHAIN_TARGETS, "gluon.global_scratch")
FAULTS = [(target, fault) for target in TARGETS for fault in find(target).faults]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="cuda", hang_limit=60)) as made:
        yield made


@pytest.mark.parametrize("target", TARGETS)
def test_own_kernels_agree(pool: Pool, target: str) -> None:
    """Failures to compile that the corpus explains are counted, not hidden; a wrong value is an error."""
    found: Counter[Verdict] = Counter()
    for case in cases(target, 20, 21):
        outcome = pool.execute(case, "own")
        found[outcome.verdict] += 1
        assert outcome.verdict not in (Verdict.DISAGREE, Verdict.CRASH, Verdict.HANG), (outcome.reason, case)
    assert found[Verdict.AGREE] >= 16 or found[Verdict.NOT_CHECKED] == 20, found


@pytest.mark.parametrize("target, fault", FAULTS)
def test_planted_defects_are_caught(pool: Pool, target: str, fault: str) -> None:
    verdicts: Counter[Verdict] = Counter()
    for start in (21, 22, 23):
        for case in cases(target, 40, start):
            outcome = pool.execute(case, f"own+fault:{fault}")
            verdicts[outcome.verdict] += 1
            if outcome.verdict.failed:
                return
            if outcome.verdict is Verdict.NOT_CHECKED and "no gather" in outcome.reason:
                pytest.skip("this Triton has no gather, scatter or atomics on shared memory")
    raise AssertionError(f"{fault} of {target} was not caught: {verdicts}")
