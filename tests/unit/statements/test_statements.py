"""Drawn programs are right in the interpreter, compile, and show planted faults."""

from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.draws import draws
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import script_of
from tridiff.fuzz.statements.faults import affects
from tridiff.fuzz.statements.launching import declined
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions

each = pytest.mark.parametrize
LIMITS = Limits(elements=1 << 8, rows=8, variants=False)


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="interpreter", spare=False)) as made:
        yield made


@cache
def drawn(number: int, seed: int, topic: str = "statements") -> list[Case]:
    target = find(f"language.{topic}")
    return draws(target.draw.cases(LIMITS), number, seed=seed)


def taken(number: int, version: str, topic: str = "statements") -> list[Case]:
    """Programs that the front end of a Triton version takes."""
    cases = find(f"language.{topic}").draw.cases(LIMITS)
    return draws(cases.filter(lambda case: not declined(script_of(case), version)), number, seed=3)


def test_right_programs_are_clean_but_for_known_issues(interpreter: Pool):
    known = Attribution(lambda case: interpreter.execute(case, "own"))
    version = interpreter.environment.triton
    found = [(case, interpreter.execute(case, "own"))
             for case in (*taken(24, version), *taken(16, version, topic="pointers"))]
    unknown = [one.signature for case, one in found if one.verdict.failed and not known.issues(case, one)]
    assert sum(one.verdict is Verdict.AGREE for _, one in found) >= 24 and not unknown, unknown


@each("topic", ["statements", "functions", "pointers"])
def test_programs_compile(topic: str):
    with Pool(PoolOptions(backend="compile:sm_90", spare=False)) as pool:
        found = [pool.execute(case, "own") for case in drawn(4, seed=4, topic=topic)]
    assert not any(one.verdict.failed for one in found), [one.signature for one in found]


@each("fault", ["other_branch", "one_trip_more", "lost_carry", "other_update", "other_operator"])
def test_planted_faults_are_caught(fault: str, interpreter: Pool):
    """Among the first eight programs that are right without the fault and have a place for it, as a rule at once."""
    tried = 0
    for case in drawn(60, seed=5):
        if affects(case, fault) and interpreter.execute(case, "own").verdict is Verdict.AGREE:
            tried += 1
            if interpreter.execute(case, f"own+fault:{fault}").verdict.failed:
                return
        if tried == 8:
            break
    pytest.fail(f"not caught in {tried} programs")
