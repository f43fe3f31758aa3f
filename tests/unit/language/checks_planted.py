"""Kernels of one call in the interpreter: right ones, and ones with planted faults."""

from dataclasses import fields

from tests.support.draws import draws
from tridiff.fuzz.interpreter import Repairs
from tridiff.fuzz.known.plain import TITLES, word
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.records import Case, Content, Small, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Call, Operand

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
        found = outcomes(topic, 15)
        assert found.count(Verdict.AGREE) >= 12 and not any(one.failed for one in found), (topic, found)


def check_another_type_or_shape_is_caught_in_every_call() -> None:
    for fault in ("another_type", "another_shape"):
        found = outcomes("operators", 12, fault)
        assert all(one is Verdict.DISAGREE for one in found), (fault, found)


def check_wrong_values_are_caught_in_most_calls() -> None:
    for fault, least in (("changed_value", 10), ("first_element", 6)):
        found = outcomes("movement", 14, fault)
        assert found.count(Verdict.DISAGREE) >= least, (fault, found)


def check_failures_of_the_plain_interpreter_name_the_repair_that_they_lack() -> None:
    with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
        for name, kind, operands, said in (("libdevice.sin.sin", "fp32", 1, "libdevice"),
                                           ("tl.add", "bf16", 2, "narrow_arithmetic"), ("tl.add", "i32", 2, "")):
            call = Call(row=name, operands=(Operand(dtype=kind, shape=(8,)),) * operands, stored=(kind,))
            given = {f"x{number}": Content(base=Small(seed=number, low=1, high=9)) for number in range(operands)}
            case = Case(target=f"language.{rows()[name].topic}", sizes=cases.sizes_of(call, 2), program=call,
                        arrays=cases.arrays_of(call, given))
            found = pool.execute(case, PLAIN)
            assert found.explained_by == ((word(said),) if said else ()), (name, found)
            assert (found.verdict is Verdict.AGREE) == (not said)


def check_every_repair_is_a_known_issue() -> None:
    assert TITLES.keys() == {one.name for one in fields(Repairs)}
