"""The search for the first bad build: its ends are tried first, and what fails now and then is not taken for bad."""

import itertools

import pytest

from tridiff.fuzz.builds.search import MOST_RUNS, RUNS, FirstBad, Judge, first_bad

BUILDS = ("a", "b", "c", "d", "e")


def search(bad: str, *, builds: tuple[str, ...] = BUILDS, flaky: str = "") -> tuple[FirstBad, list[str]]:
    """Builds in `bad` fail each time, those in `flaky` every other time. Also which builds were tried."""
    tried: list[str] = []

    def judge(build: str) -> Judge:
        tried.append(build)
        turns = itertools.count()

        def fails() -> bool:
            return next(turns) % 2 == 0 if build in flaky else build in bad

        return Judge(fails=fails, close=lambda: tried.append(f"-{build}"))

    return first_bad(builds, judge), tried


@pytest.mark.parametrize("bad, first, last_good", [
    ("bcde", "b", "a"), ("cde", "c", "b"), ("de", "d", "c"), ("e", "e", "d")])
def test_the_first_bad_build_and_its_neighbour(bad: str, first: str, last_good: str):
    found, _ = search(bad)
    assert (found.first_bad, found.last_good, found.problem) == (first, last_good, "")
    assert found.runs[first] == f"{RUNS}/{RUNS}" and found.runs[last_good] == f"0/{RUNS}"


def test_what_was_repaired_is_found_from_the_other_end():
    found, _ = search("abc")
    assert (found.first_good, found.first_bad) == ("d", "")


@pytest.mark.parametrize("bad, problem", [("", "neither end fails"), ("abcde", "both ends fail"), ("ace", "both ends")])
def test_both_ends_are_tried_before_anything_else(bad: str, problem: str):
    found, tried = search(bad)
    assert found.problem.startswith(problem) and not found.first_bad
    assert tried == ["a", "-a", "e", "-e"], "and their processes are ended"


@pytest.mark.parametrize("flaky", ["a", "e", "c"])
def test_a_build_that_fails_now_and_then_is_named_and_blamed_for_nothing(flaky: str):
    found, _ = search("de", flaky=flaky)
    assert found.problem == f"{flaky} fails now and then" and found.runs[flaky].endswith(f"/{MOST_RUNS}")
    assert not found.first_bad


def test_rare_failures_are_outvoted():
    turns = itertools.count()

    def judge(build: str) -> Judge:
        return Judge(fails=(lambda: next(turns) == 1) if build == "a" else (lambda: build == "c"))

    found = first_bad(("a", "b", "c"), judge)
    assert (found.first_bad, found.runs["a"]) == ("c", f"1/{MOST_RUNS}")


def test_one_build_is_no_history():
    assert search("a", builds=("a",))[0].problem
