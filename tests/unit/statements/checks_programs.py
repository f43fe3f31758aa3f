"""Drawn programs in the interpreter and through the compiler: right ones, and ones with planted faults."""

from tests.support.draws import draws
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.faults import affects
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions

LIMITS = Limits(elements=1 << 8, rows=8, variants=False)


def drawn(number: int, seed: int = 3, topic: str = "statements") -> list[Case]:
    target = find(f"language.{topic}")
    return draws(target.draw.cases(LIMITS), number, seed=seed, backend=BACKEND)


def check_right_programs_are_clean_but_for_known_issues() -> None:
    pool = Pool(PoolOptions(backend="interpreter", spare=False))
    try:
        known = Attribution(lambda case: pool.execute(case, "own"))
        cases = [*drawn(24), *drawn(16, topic="pointers")]
        found = [(case, pool.execute(case, "own")) for case in cases]
        unknown = [one.signature for case, one in found if one.verdict.failed and not known.issues(case, one)]
        assert sum(one.verdict is Verdict.AGREE for _, one in found) >= 24 and not unknown, unknown
    finally:
        pool.close()


def check_programs_compile() -> None:
    pool = Pool(PoolOptions(backend="compile:sm_90", spare=False))
    try:
        for topic in ("statements", "functions", "pointers"):
            found = [pool.execute(case, "own") for case in drawn(6, seed=4, topic=topic)]
            assert not any(one.verdict.failed for one in found), [one.signature for one in found]
    finally:
        pool.close()


def check_planted_faults_are_caught() -> None:
    cases = drawn(60, seed=5)
    pool = Pool(PoolOptions(backend="interpreter", spare=False))
    try:
        right = [case for case in cases if pool.execute(case, "own").verdict is Verdict.AGREE]
        for fault in ("other_branch", "one_trip_more", "lost_carry", "other_update", "other_operator"):
            tried = [case for case in right if affects(case, fault)][:8]
            caught = [pool.execute(case, f"own+fault:{fault}").verdict.failed for case in tried]
            assert any(caught), (fault, len(tried))
    finally:
        pool.close()
