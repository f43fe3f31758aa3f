"""Kernels of one call in the interpreter: right calls are clean, and faults planted in their text are caught where they
change anything."""

from collections.abc import Iterator
from dataclasses import fields

import pytest

from tests.support.cases import calling
from tests.support.draws import draws
from tridiff.fuzz.interpreter import Repairs
from tridiff.fuzz.known.plain import TITLES, word
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.records import Content, Small, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize
LIMITS = Limits(elements=1 << 8, rows=8, variants=False)
CLEAN = ("operators", "movement", "conversions", "creation", "random")
"""Topics in which the interpreter is right in every form that is drawn here."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="interpreter", spare=False)) as made:
        yield made


def outcomes(pool: Pool, topic: str, number: int, fault: str = "") -> list[Verdict]:
    """Of calls that the installed Triton has."""
    target, version = find(f"language.{topic}"), pool.environment.triton
    cases = draws(call_cases(target=target.name, topic=topic, limits=LIMITS).filter(
        lambda case: rows()[case.program.row].offered(version)), number, seed=3)
    return [pool.execute(case, f"own+fault:{fault}" if fault else "own").verdict for case in cases]


@each("topic", CLEAN)
def test_right_calls_are_clean(topic: str, pool: Pool):
    found = outcomes(pool, topic, 15)
    assert found.count(Verdict.AGREE) >= 12 and not any(one.failed for one in found), found


@each("fault", ["another_type", "another_shape"])
def test_another_type_or_shape_is_caught_in_every_call(fault: str, pool: Pool):
    found = outcomes(pool, "operators", 12, fault)
    assert found and all(one is Verdict.DISAGREE for one in found), found


@each("fault, least", [("changed_value", 10), ("first_element", 6)])
def test_wrong_values_are_caught_in_most_calls(fault: str, least: int, pool: Pool):
    found = outcomes(pool, "movement", 14, fault)
    assert found.count(Verdict.DISAGREE) >= least, found


@each("name, kind, operands, said", [
    ("libdevice.sin.sin", "fp32", 1, "libdevice"), ("tl.add", "bf16", 2, "narrow_arithmetic"),
    ("tl.add", "i32", 2, "")])
def test_failures_of_the_plain_interpreter_name_the_repair_that_they_lack(name: str, kind: str, operands: int,
                                                                          said: str, pool: Pool):
    call = Call(row=name, operands=(Operand(dtype=kind, shape=(8,)),) * operands, stored=(kind,))
    given = {f"x{number}": Content(base=Small(seed=number, low=1, high=9)) for number in range(operands)}
    case = calling(call, given, programs=2)
    found = pool.execute(case, PLAIN)
    assert found.explained_by == ((word(said),) if said else ())
    assert (found.verdict is Verdict.AGREE) == (not said)


def test_every_repair_is_a_known_issue():
    assert TITLES.keys() == {one.name for one in fields(Repairs)}
