"""Faults in the text of programs: a short campaign finds each, and nothing in the right text."""

from pathlib import Path

import pytest

from tests.support.campaigns import shard_spec
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.registry import select
from tridiff.kernels.ttgir.faults import NEEDS_A_GPU

TARGETS = {one.name: one for one in select(("inductor.*", "loops.*", "descriptors.*", "ttgir.*"))
           if not one.faults.shared_as}


@pytest.mark.parametrize("target, fault", [(name, fault) for name, one in TARGETS.items() for fault in (
    "", *one.faults.planted) if fault not in NEEDS_A_GPU])
def test_a_fault_is_found_and_nothing_without_one(target: str, fault: str, tmp_path: Path):
    backend = "interpreter" if "interpreter" in TARGETS[target].backends else (
        "evaluated:sm_100" if target == "descriptors.gather" else "evaluated:sm_90")
    found = shard.run_shard(shard_spec(
        target=target, subject=f"own+fault:{fault}" if fault else "own", backend=backend, seed=3, elements=1 << 11,
        max_cases=400 if fault else 12, most_findings=1, shrink=False, control="own" if fault else ""), str(tmp_path))
    assert bool(found.findings) == bool(fault) and (fault or found.counts.agree > 6)
