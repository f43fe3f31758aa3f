"""What is asked of the neighbours of a small case, and what is told of them."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.support.cases import addition, division, ramp
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.records import Case, Content, Evidence, Explicit, Outcome, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.beside import beside
from tridiff.fuzz.shrink.explicit import minimise
from tridiff.fuzz.shrink.slots import slots, value_at

Wrong = tuple[str, str] | None
"""What is right and what comes out instead."""


def asked(case: Case, gives: Callable[[Case], Wrong], *, late: bool = False) -> dict[str, str]:
    """What `beside` says where `gives` is told each neighbour."""
    target = find(case.target)

    def run(one: Case) -> Outcome:
        assert target.draw.valid(one)
        wrong = gives(one)
        signature = wrong_in(one, "out")
        evidence = Evidence(expected={"numpy": {"out": (wrong[0],)}}, actual={"out": (wrong[1],)}) if wrong else None
        return outcome_of(one, Verdict.DISAGREE if wrong else Verdict.AGREE, signature if wrong else None,
                          evidence=evidence)

    return beside(case, run, target.draw.valid, simplest=target.shrink.simplest, exhausted=lambda: late)


def values(case: Case) -> list[float]:
    return [float(value_at(case, slot)[0]) for slot in slots(case)]


def floored(case: Case) -> Wrong:
    """A quotient that is rounded down and not to zero."""
    a, b = values(case)[:2]
    return ("0", "-1") if a * b < 0 else None


def narrow(case: Case) -> Wrong:
    """The same, and what is too large for 32 bits is 0."""
    return ("1", "0") if max(map(abs, values(case))) >= 2**31 else floored(case)


def test_two_faults_of_one_smallest_case_part_one_step_away():
    case = division((-1,), (2,), dtype="i32")
    one, other = asked(case, floored), asked(case, narrow)
    assert one["a.0 = 1"] == other["a.0 = 1"] == "" and one["a.0 = -1"] == other["a.0 = -1"] == "0 > -1"
    apart = {name for name in one if one[name] != other[name]}
    assert apart == {f"{slot} = {value}" for slot in ("a.0", "b.0") for value in (2**63 - 1, -2**63)} | {
        f"{slot} = {-2**31}" for slot in ("a.0", "b.0")}


def test_one_fault_says_the_same_in_every_dtype():
    found = [asked(division((-1,), (2,), dtype=dtype), floored) for dtype in ("i8", "i32", "i64")]
    assert all(one.get(name, said) == said for one in found for other in found for name, said in other.items())
    assert set.intersection(*(set(one) for one in found)) > {"a.0 = 1", "b.0 = -2", f"a.0 = {2**63 - 1}"}


def test_values_with_and_without_a_sign_are_one_and_floats_are_none_of_integers():
    def sums(dtype: str, value: str, wrong: str) -> dict[str, str]:
        case = addition(rows=1, dtype=dtype)
        arrays = tuple(spec if spec.content is None else replace(spec, content=Content(base=Explicit(values=(value,))))
                       for spec in case.arrays)
        return asked(replace(case, arrays=arrays), lambda one: ("0", wrong))

    assert sums("u8", "1", "255")["a.0 = 2"] == sums("i16", "1", "-1")["a.0 = 2"] == "0 > -1"
    assert not {name for name in sums("fp32", "1.0", "5.0") if name.startswith("a.0")} & set(sums("i16", "1", "5"))


def test_longer_axes_and_simpler_settings_are_neighbours():
    found = asked(division((-1,), (2,)), lambda one: ("0", "-1") if one.sizes["rows"] == 1 else None)
    assert found["1 more rows"] == found["3 more rows"] == found["1 more rows, a.1 = 0"] == ""
    settings = asked(ramp(start=-1, divisor=2, block=2), lambda one: None if one.params["block"] == 1 else ("0", "-1"))
    assert settings["block"] == ""


def test_nothing_is_asked_without_time():
    assert asked(division((-1,), (2,)), floored, late=True) == {}


@pytest.mark.parametrize("verdict, backend, told", [
    (Verdict.DISAGREE, "interpreter", True), (Verdict.DISAGREE, "cuda", True), (Verdict.CRASH, "interpreter", False),
    (Verdict.HANG, "interpreter", False)])
def test_neighbours_are_asked_of_wrong_results_and_not_of_what_ends_a_process(
    verdict: Verdict, backend: str, told: bool,
):
    case, target = division((-1,), (2,)), find("helpers.div_floor_integer")

    def run(one: Case) -> Outcome:
        wrong = floored(one)
        signature = Signature(target=one.target, subject="own", verdict=verdict, kind="value") if wrong else None
        return outcome_of(one, verdict if wrong else Verdict.AGREE, signature, backend=backend, evidence=Evidence())

    found = minimise(case, run(case), target=target, run=run, inputs=lambda one: Evidence()).outcome.evidence
    assert found is not None and (found.beside.get("a.0 = 0") == "") is told and bool(found.beside) is told
