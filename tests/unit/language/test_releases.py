"""What is drawn for a release of Triton is what that release has."""

import pytest

from tests.support.draws import draws
from tridiff.fuzz.language import cases as calls
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.launching.cases import choices_of, scene_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.cases import script_of
from tridiff.fuzz.statements.launching import declined
from tridiff.fuzz.target import Limits
from tridiff.fuzz.versions import within

each = pytest.mark.parametrize


def _drawn(target: str, *releases: str, number: int = 150) -> list[Case]:
    limits = Limits(elements=1 << 8, rows=8, variants=False, releases=releases)
    return draws(find(target).draw.cases(limits), number, seed=5)


@each("target", ["language.statements", "language.functions", "language.pointers"])
def test_programs_have_no_construct_that_their_release_does_not_take(target: str):
    """On 3.6.0 four of five programs of functions were refused for one."""
    assert not [reason for case in _drawn(target, "3.6.0") if (reason := declined(script_of(case), "3.6.0"))]
    assert any(declined(script_of(case), "3.6.0") for case in _drawn(target, "3.9.0", number=30))


@each("releases, block_pointers, newer", [
    (("3.6.0",), True, False), (("3.9.0",), False, True), (("3.6.0", "3.9.0"), False, False), ((), True, True)])
def test_rows_and_scenes_are_those_of_all_releases_that_run_them(
        releases: tuple[str, ...], block_pointers: bool, newer: bool):
    met = {calls.call_of(case).row for case in _drawn("language.memory", *releases)}
    assert ("tl.make_block_ptr" in met) == block_pointers
    found = {calls.call_of(case).row for case in _drawn("language.movement", *releases)}
    assert any(rows()[name].since for name in found) == newer
    for case in _drawn("launch.descriptors", *releases):
        scene, choices = scene_of(case), choices_of(case)
        asked = [scene.since, *(first for name, first in scene.newer.items()
                                if choices[name] != next(iter(scene.vocabulary[name])))]
        assert all(within(one, since=first) for one in releases for first in asked)


def test_what_is_asked_for_and_not_there_is_drawn_and_told():
    there = {"tl.load": ("", ""), "tl.make_block_ptr": ("", "3.8.0")}
    assert Limits(releases=("3.9.0",)).among(there) == ["tl.load"]
    asked = Limits(releases=("3.9.0",), only=frozenset(("tl.make_block_ptr",)))
    assert asked.among(there) == ["tl.make_block_ptr"]


@each("triton, since, until, there", [
    ("3.6.0", "3.7.0", "", False), ("3.7.1", "3.7.0", "", True), ("3.9.0", "", "3.8.0", False),
    ("3.8.2", "", "3.8.0", True), ("a checkout", "3.9.0", "", True), ("3.10.0", "3.9.0", "", True)])
def test_a_release_is_within_what_came_with_one_and_went_after_another(
        triton: str, since: str, until: str, there: bool):
    assert within(triton, since=since, until=until) == there
