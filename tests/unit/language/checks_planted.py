"""Kernels of one call in the interpreter: right ones, and ones with planted faults."""

from tests.support.draws import draws
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions

LIMITS = Limits(elements=1 << 8, rows=8, variants=False)
CLEAN = ("operators", "movement", "conversions", "creation", "random")
"""Topics in which the interpreter is right in every form that is drawn here."""


def outcomes(topic: str, number: int, fault: str = "") -> list[Verdict]:
    target = find(f"language.{topic}")
    cases = draws(call_cases(target=target.name, topic=topic, limits=LIMITS), number, seed=3, backend=BACKEND)
    pool = Pool(PoolOptions(backend="interpreter", spare=False))
    try:
        return [pool.execute(case, f"own+fault:{fault}" if fault else "own").verdict for case in cases]
    finally:
        pool.close()


def check_right_calls_are_clean() -> None:
    for topic in CLEAN:
        found = outcomes(topic, 25)
        assert found.count(Verdict.AGREE) >= 22 and not any(one.failed for one in found), (topic, found)


def check_another_type_or_shape_is_caught_in_every_call() -> None:
    for fault in ("another_type", "another_shape"):
        found = outcomes("operators", 12, fault)
        assert all(one is Verdict.DISAGREE for one in found), (fault, found)


def check_wrong_values_are_caught_in_most_calls() -> None:
    for fault, least in (("changed_value", 10), ("first_element", 6)):
        found = outcomes("movement", 14, fault)
        assert found.count(Verdict.DISAGREE) >= least, (fault, found)
