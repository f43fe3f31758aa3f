"""Testing the tester: process-level faults in a campaign, counted without a loss."""

from pathlib import Path

import pytest

from tests.support.campaigns import shard_spec
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.record import ShardResult
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import all_targets, find
from tridiff.fuzz.target.subjects import HOOK_FAULTS, PROCESS_FAULTS, fault_names, parse_subject


def run(fault: str, folder: Path, *, cases: int, shrink: bool = False) -> ShardResult:
    return shard.run_shard(shard_spec(subject=f"own+fault:{fault}", seed=2, max_cases=cases, hang_limit=60,
                                      shrink=shrink), str(folder))


@pytest.mark.slow
def test_fifty_dead_workers_are_fifty_outcomes(tmp_path: Path):
    result = run("worker_killed", tmp_path, cases=50)
    counts = result.counts
    assert (result.error, counts.executed, counts.refused) == ("", 50, 0)
    # Empty cases die as well: the fault strikes before the launch.
    assert (counts.crash, counts.agree, counts.hang) == (50, 0, 0)
    assert len(result.replacements) >= 49
    assert {e.signature.kind for e in result.findings} == {"SIGKILL"}
    assert all((e.signature.verdict, e.status) == (Verdict.CRASH, "stable") for e in result.findings)
    assert len({e.signature.about for e in result.findings}) == len(result.findings), "one finding per signature"


@pytest.mark.parametrize("fault, kind, verdict", [
    ("segfault", "SIGSEGV", "crash"), ("out_of_memory", "out_of_memory", "crash"),
    ("device_assert", "device_assert", "crash"), ("runtime_error", "device_assert", "crash"),
    ("wrong_value", None, "disagree")])
def test_a_fault_is_found_and_shrinks_to_one_element(fault: str, kind: str | None, verdict: str,
                                                     tmp_path: Path):
    result = run(fault, tmp_path, cases=4, shrink=True)
    assert result.error == "" and result.findings
    for entry in result.findings:
        assert entry.signature.verdict.value == verdict
        assert kind is None or entry.signature.kind == kind
        assert entry.case.sizes["rows"] in (0, 1)
        assert entry.reproduced == "5/5"


def test_a_planted_compile_error_is_found(tmp_path: Path):
    result = run("compile_error", tmp_path, cases=4, shrink=True)
    assert result.findings and all(e.signature.verdict is Verdict.COMPILE_ERROR for e in result.findings)


def test_every_fault_of_every_target_has_a_name_that_parses():
    for target in all_targets().values():
        names = fault_names(target)
        assert len(set(names)) == len(names)
        for name in names:
            subject = parse_subject(f"own+fault:{name}", target)
            assert subject.name == f"own+fault:{name}"
            # Exactly one of: the target's own, a hook in the kernel, a fault of the process.
            kinds = (name in target.faults.planted, bool(subject.hook), bool(subject.process_fault))
            assert sum(kinds) == 1, (target.name, name)


def test_planted_faults_never_reach_a_plain_subject():
    for name in (*HOOK_FAULTS, *PROCESS_FAULTS):
        assert name not in find("triton.vector_add").faults.planted
    plain = parse_subject("own", find("triton.vector_add"))
    assert (plain.hook, plain.process_fault) == ("", "")
