"""`tridiff faults`: what is planted is caught and counted; what cannot show itself is said not to be caught."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.refusals import refused
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.faults import Caught, Hunt, plan_faults, run_faults, sizes, table
from tridiff.fuzz.kinds.graphs.faults import families, names
from tridiff.fuzz.records import ArraySpec, Bits, Case, Constant, Content, Explicit, Iota, Put
from tridiff.fuzz.registry import find

OPTIONS = campaign_options(targets=("helpers.div_floor_integer",), backends=("interpreter",), seed=3)


def planned(*faults: str) -> list[Hunt]:
    return plan_faults(OPTIONS, only=faults)


@pytest.fixture(scope="module", autouse=True)
def one_pool() -> Iterator[None]:
    yield
    shard.close_pools()


def test_every_fault_of_a_target_is_a_shard_of_its_own():
    plain = plan_faults(OPTIONS)
    every = plan_faults(OPTIONS, process=True, hooks=True)
    assert "own+fault:trunc_for_floor" in [spec.subject for (spec,) in plain]
    assert len(every) == len(plain) + 9
    assert len({spec.seed for (spec,) in every}) == len(every)
    assert {(spec.most_findings, spec.control, spec.seconds) for (spec,) in every} == {(1, "own", 60.0)}


def test_targets_that_share_a_fault_share_its_time_the_narrowest_first():
    hunts = plan_faults(replace(OPTIONS, targets=("codegen.*",)))
    faults = [{spec.subject.partition(":")[2] for spec in hunt} for hunt in hunts]
    assert sorted(name for (name,) in faults) == sorted(names())
    assert all(sum(spec.seconds for spec in hunt) == pytest.approx(60) for hunt in hunts)
    for hunt in hunts:
        name = hunt[0].subject.partition(":")[2]
        assert {spec.target for spec in hunt} == {f"codegen.{family}" for family in families(name)}
        assert hunt[-1].target == "codegen.mixed" or len({spec.target for spec in hunt}) == 1
    indices = [spec.index for hunt in hunts for spec in hunt]
    assert indices == list(range(len(indices)))


def test_targets_without_faults_are_an_error():
    with refused("no fault can be run"):
        plan_faults(replace(OPTIONS, backends=("compile",)))
    with refused("none of these targets has a fault 'no_such_fault'"):
        plan_faults(OPTIONS, only=("no_such_fault", "trunc_for_floor"))


def test_a_caught_fault_tells_judge_and_smallest_case(tmp_path: Path):
    wanted = planned("trunc_for_floor")
    seen: list[tuple[list[Caught], int]] = []
    (line,) = run_faults(wanted, OPTIONS, tmp_path, lambda *what: seen.append(what))
    assert (line.judge, line.rows, line.elements, line.error) == ("disagree value", 1, 2, "")
    assert (line.cleared, line.values, line.programs) == (0, 2, 0)
    assert 1 <= line.cases <= 60 and seen == [([line], 1)]
    # What compilers write went where that of a campaign does, and is gone.
    assert not (tmp_path / "cache").is_symlink()
    assert (tmp_path / f"{wanted[0][0].index:04}" / "cache").readlink() == Path("../cache")


def test_ctrl_c_keeps_what_is_known_and_counts_nothing_half_done(tmp_path: Path):
    wanted = planned("trunc_for_floor", "in_32_bits")

    pressed: list[int] = []

    def interrupt(lines: list[Caught], number: int) -> None:
        if not pressed:
            pressed.append(number)
            os.kill(os.getpid(), signal.SIGINT)

    assert len(wanted) == 2
    lines = run_faults(wanted, OPTIONS, tmp_path, interrupt)
    assert [line.judge for line in lines] == ["disagree value"]


def test_what_goes_wrong_in_one_hunt_is_its_line_and_no_other_s(tmp_path: Path):
    first, good = planned("trunc_for_floor", "in_32_bits")
    broken = tuple(replace(spec, target="helpers.no_such") for spec in first)
    lost, line = run_faults([broken, good], OPTIONS, tmp_path, lambda lines, number: None)
    assert "no_such" in lost.error and lost.judge == "" and line.judge == "disagree value"


def test_sizes_leave_out_cleared_memory_and_count_what_a_seed_stands_for():
    def array(name: str, content: Content | None) -> ArraySpec:
        return ArraySpec(name=name, dtype="u64", dims=("rows", "cols"), content=content)

    zero = Content(base=Constant())
    scan = find("helpers.exclusive_scan_decoupled_lookback")
    for content, values in ((zero, 1), (Content(base=Iota()), 2), (Content(base=Bits(seed=3)), 12),
                            (Content(base=Explicit(values=("7",) * 12)), 12),
                            (Content(base=Constant(), overrides=(Put(value="1", column=3),)), 2)):
        case = Case(target=scan.name, sizes={"rows": 2, "cols": 6}, arrays=(
            array("values", content), array("scratch", zero), array("prefix", None)))
        assert sizes(case, scan) == {"elements": 12, "cleared": 12, "values": values, "programs": 12}
    barrier = find("helpers.x_grid_barrier")
    sem = ArraySpec(name="sem", dtype="u32", dims=("z", "y"), content=Content(base=Constant(value=str(2**31))))
    marks = ArraySpec(name="marks", dtype="i32", dims=("rounds", "z", "y", "x"), content=zero)
    case = Case(target=barrier.name, sizes={"rounds": 3, "z": 1, "y": 2, "x": 5}, arrays=(sem, marks))
    assert sizes(case, barrier) == {"elements": 2, "cleared": 30, "values": 1, "programs": 10}


def test_the_table_puts_what_was_missed_first():
    lines = [Caught(target="a", fault="seen", backend="cuda", judge="hang launch", cases=2, steps=4, drawn_steps=31,
                    control_failed=2),
             Caught(target="b", fault="missed", backend="cuda", cases=900),
             Caught(target="c", fault="absent", backend="cuda", left_out="no such instruction")]
    text = table(lines, budget=20)
    rows = [row for row in text.splitlines() if row.startswith("| ")][1:]
    assert "1 of 2 caught, each within 20 s of fuzzing; 1 left out" in text
    assert "Steps of shrunk programs: median 4" in text and "2 failing cases did not count" in text
    assert rows[2].endswith("| 31 to 4 |")
    assert [row.split(" | ")[2] for row in rows] == ["NOT CAUGHT", "left out: no such instruction", "hang launch"]
