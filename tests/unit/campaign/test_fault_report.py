"""`tridiff faults`: what is planted is caught and counted; what cannot show itself is said not to be caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fuzz.campaign import shard
from fuzz.campaign.faults import Caught, plan_faults, run_faults, table
from fuzz.campaign.record import CampaignOptions
from fuzz.errors import TridiffError

OPTIONS = CampaignOptions(seconds=60.0, targets=("helpers.div_floor_integer",), subjects=(), backends=("interpreter",),
                          devices=(0,), workers=1, seed=3)


@pytest.fixture(scope="module", autouse=True)
def one_pool() -> Iterator[None]:
    yield
    shard.close_pools()


def test_every_fault_of_a_target_is_a_shard_of_its_own() -> None:
    plain = plan_faults(OPTIONS)
    every = plan_faults(OPTIONS, process=True, hooks=True)
    assert "own+fault:trunc_for_floor" in [spec.subject for spec in plain]
    assert len(every) == len(plain) + 9
    assert len({spec.seed for spec in every}) == len(every)
    assert {spec.most_findings for spec in every} == {1}


def test_targets_without_faults_are_an_error() -> None:
    with pytest.raises(TridiffError, match="no fault can be run"):
        plan_faults(replace(OPTIONS, backends=("compile",)))


def test_a_caught_fault_tells_judge_and_smallest_case(tmp_path: Path) -> None:
    wanted = [spec for spec in plan_faults(OPTIONS) if spec.subject.endswith(":trunc_for_floor")]
    seen: list[tuple[int, int, int]] = []
    (line,) = run_faults(wanted, OPTIONS, tmp_path, lambda *numbers: seen.append(numbers))
    assert (line.judge, line.rows, line.elements, line.error) == ("disagree value", 1, 2, "")
    assert 1 <= line.cases <= 60 and seen == [(1, 1, 1)]


def test_the_table_puts_what_was_missed_first() -> None:
    lines = [Caught(target="a", fault="seen", backend="cuda", judge="hang launch", cases=2),
             Caught(target="b", fault="missed", backend="cuda", cases=900),
             Caught(target="c", fault="absent", backend="cuda", left_out="no such instruction")]
    text = table(lines, budget=20)
    rows = [row for row in text.splitlines() if row.startswith("| ")][1:]
    assert "1 of 2 caught, each within 20 s of fuzzing; 1 left out" in text
    assert [row.split(" | ")[2] for row in rows] == ["NOT CAUGHT", "left out: no such instruction", "hang launch"]
