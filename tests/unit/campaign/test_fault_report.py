"""`tridiff faults`: what is planted is caught and counted; what cannot show itself is said not to be caught."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from fuzz.campaign import shard
from fuzz.campaign.faults import Caught, plan_faults, run_faults, sizes, table
from fuzz.campaign.record import CampaignOptions
from fuzz.errors import TridiffError
from fuzz.records import ArraySpec, Bits, Case, Constant, Content, Explicit, Iota, Put
from fuzz.targets import find

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
    assert (line.cleared, line.values, line.programs) == (0, 2, 0)
    assert 1 <= line.cases <= 60 and seen == [(1, 1, 1)]
    # What compilers write went where that of a campaign does, and is gone.
    assert not (tmp_path / "cache").is_symlink()
    assert (tmp_path / f"{wanted[0].index:04}" / "cache").readlink() == Path("../cache")


def test_ctrl_c_keeps_what_is_known_and_counts_nothing_half_done(tmp_path: Path) -> None:
    wanted = [spec for spec in plan_faults(OPTIONS) if spec.subject.endswith((":trunc_for_floor", ":in_32_bits"))]

    pressed: list[int] = []

    def interrupt(done: int, number: int, caught: int) -> None:
        if not pressed:
            pressed.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    assert len(wanted) == 2
    lines = run_faults(wanted, OPTIONS, tmp_path, interrupt)
    assert [line.judge for line in lines] == ["disagree value"]


def _case(name: str, *arrays: ArraySpec, **lengths: int) -> Case:
    return Case(target=name, sizes=lengths, arrays=arrays)


def test_sizes_leave_out_cleared_memory_and_count_what_a_seed_stands_for() -> None:
    def array(name: str, content: Content | None) -> ArraySpec:
        return ArraySpec(name=name, dtype="u64", dims=("rows", "cols"), content=content)

    zero = Content(base=Constant())
    scan = find("helpers.exclusive_scan_decoupled_lookback")
    for content, values in ((zero, 1), (Content(base=Iota()), 2), (Content(base=Bits(seed=3)), 12),
                            (Content(base=Explicit(values=("7",) * 12)), 12),
                            (Content(base=Constant(), overrides=(Put(value="1", column=3),)), 2)):
        case = _case(scan.name, array("values", content), array("scratch", zero), array("prefix", None), rows=2, cols=6)
        assert sizes(case, scan) == {"elements": 12, "cleared": 12, "values": values, "programs": 12}
    barrier = find("helpers.x_grid_barrier")
    sem = ArraySpec(name="sem", dtype="u32", dims=("z", "y"), content=Content(base=Constant(value=str(2**31))))
    marks = ArraySpec(name="marks", dtype="i32", dims=("rounds", "z", "y", "x"), content=zero)
    case = _case(barrier.name, sem, marks, rounds=3, z=1, y=2, x=5)
    assert sizes(case, barrier) == {"elements": 2, "cleared": 30, "values": 1, "programs": 10}


def test_the_table_puts_what_was_missed_first() -> None:
    lines = [Caught(target="a", fault="seen", backend="cuda", judge="hang launch", cases=2),
             Caught(target="b", fault="missed", backend="cuda", cases=900),
             Caught(target="c", fault="absent", backend="cuda", left_out="no such instruction")]
    text = table(lines, budget=20)
    rows = [row for row in text.splitlines() if row.startswith("| ")][1:]
    assert "1 of 2 caught, each within 20 s of fuzzing; 1 left out" in text
    assert [row.split(" | ")[2] for row in rows] == ["NOT CAUGHT", "left out: no such instruction", "hang launch"]
