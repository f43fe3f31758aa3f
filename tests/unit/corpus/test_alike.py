"""Failures of two smallest cases that are one, because the case of one is a neighbour of the other's."""

import pytest
from msgspec.structs import replace

from tridiff.fuzz.corpus.alike import Alike
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Evidence
from tridiff.fuzz.target import Limits

AROUND = {"a.1 = 0": "", "a.1 = 1": "", "a.1 = -1": "-1 > 1", "a.1 = 2": "2 > 1", "a.1 = 3": "3 > 1",
          "a.0 = 1": "3 > 1"}
"""Of a truth value in place of bits that are joined, beside 0 and 2, and beside 0 and -1 but for the last."""


@pytest.fixture(scope="module")
def case() -> Case:
    return draw_cases("helpers.any", Limits(elements=2, rows=1, variants=False), 1)[0]


def failure(values: tuple[str, ...], wrong: tuple[str, str], beside: dict[str, str]) -> Evidence:
    right, got = wrong
    return Evidence(inputs={"a": values}, expected={"numpy": {"out": (right,)}}, actual={"out": (got,)}, beside=beside)


TWO = failure(("0", "2"), ("2", "1"), AROUND)


def together(case: Case, one: Evidence, other: Evidence) -> bool:
    """Whether they are, whichever comes first; under different keys."""
    found = []
    for first, second in ((one, other), (other, one)):
        alike: Alike[str] = Alike()
        alike.first("a key", first, "first", case=case)
        found.append(alike.first("another key", second, "second", case=case) == "first")
        # Another setting is another kernel.
        assert alike.first("a third key", second, "third", case=replace(case, params={"axis": 7})) == "third"
    assert found[0] == found[1]
    return found[0]


def test_a_case_that_is_a_neighbour_of_another_and_gives_what_that_one_gives_is_one_with_it(case: Case):
    beside = {**AROUND, "a.0 = 1": "-1 > 1"}
    assert together(case, TWO, failure(("0", "-1"), ("-1", "1"), beside))
    # Whatever has the second one's key is one with both.
    alike: Alike[int] = Alike()
    minus = failure(("0", "-1"), ("-1", "1"), beside)
    assert [alike.first(key, one, number, case=case) for number, (key, one) in enumerate(
        (("two", TWO), ("minus", minus), ("minus", minus), ("two", TWO)))] == [0, 0, 0, 0]


@pytest.mark.parametrize("values, wrong, more", [
    (("0", "-1"), ("-1", "1"), {"a.1 = 1": "1 > 0"}),  # right for the one, wrong for the other
    (("0", "-1"), ("-1", "0"), {}),  # another wrong value than the neighbour gives
    (("1", "-1"), ("-1", "1"), {}),  # two values lie between them
    (("0", "-1", "0"), ("-1", "1"), {}),  # another shape
])
def test_what_another_cause_gives_stays_apart(case: Case, values: tuple[str, ...], wrong: tuple[str, str],
                                              more: dict[str, str]):
    assert not together(case, TWO, failure(values, wrong, {**AROUND, **more}))


def test_few_neighbours_in_common_say_nothing(case: Case):
    few = dict(list(AROUND.items())[2:])
    assert not together(case, TWO, failure(("0", "-1"), ("-1", "1"), dict(list(few.items())[:3])))
    assert together(case, TWO, failure(("0", "-1"), ("-1", "1"), dict(list(AROUND.items())[:4])))
