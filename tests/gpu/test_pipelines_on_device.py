"""Pipelined kernels on a GPU: own kernels agree, every planted fault is caught, and by what.

The table of judges goes to standard output (`pytest -s`) and, where TRIDIFF_FAULT_TABLE names a file, into it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fuzz.backends.available import gpu_count
from fuzz.records import Case, Verdict
from fuzz.target import Target
from fuzz.targets import find
from fuzz.workers.pool import Pool, PoolOptions
from kernels.pipelines.plan import Plan
from tests.unit.pipelines.drawing import ALL, PLANS, drawn

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not gpu_count(), reason="no NVIDIA GPU")]

TRIES = 40
"""Cases drawn per target and fault until one judge catches it."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    opened = Pool(PoolOptions(backend="cuda", compile_limit=240))
    yield opened
    opened.close()


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_own_kernels_agree(target: Target, pool: Pool) -> None:
    agreed = 0
    for case in drawn(target, 25, number=21, elements=1 << 14, rows=264):
        outcome = pool.execute(case, "own")
        assert outcome.verdict in (Verdict.AGREE, Verdict.NOT_CHECKED), (outcome.signature, outcome.reason, case)
        agreed += outcome.verdict is Verdict.AGREE
    assert agreed or target.name in ("descriptors.gather", "tma.reduce")


def _sanitized(case: Case) -> Case:
    return msgspec.structs.replace(case, params={"sanitize": True}, repeats=2)


def _judge(target: Target, fault: str, pool: Pool) -> tuple[str, int]:
    """Which judge catches a fault first, and after how many cases; plain launches before the sanitizer."""
    tried = 0
    for sanitize in (False, True):
        for case in drawn(target, TRIES, number=31, elements=1 << 13, rows=132):
            plan = case.program
            assert isinstance(plan, Plan)
            if sanitize and (len(plan.workers) > 2 or plan.loop == "static"):
                continue
            outcome = pool.execute(_sanitized(case) if sanitize else msgspec.structs.replace(
                case, params={"sanitize": False}, repeats=2), f"own+fault:{fault}")
            if outcome.verdict is Verdict.NOT_CHECKED:
                continue
            tried += 1
            if outcome.verdict.failed:
                found = outcome.signature.kind if outcome.signature else ""
                return "hang" if outcome.verdict is Verdict.HANG else found, tried
    return "", tried


def test_every_fault_is_caught_and_the_table_says_by_what(pool: Pool) -> None:
    lines, missed = [f"{'target':24}{'fault':30}{'judge':20}cases"], []
    for target in PLANS:
        for fault in target.faults:
            judge, tried = _judge(target, fault, pool)
            lines.append(f"{target.name:24}{fault:30}{judge or ('not caught' if tried else 'no place'):20}{tried}")
            if tried and not judge:
                missed.append((target.name, fault))
    table = "\n".join(lines) + "\n"
    print(table)
    if "TRIDIFF_FAULT_TABLE" in os.environ:
        Path(os.environ["TRIDIFF_FAULT_TABLE"]).write_text(table, encoding="utf-8")
    # A fault that one target's kernels hide (a fence that happens not to matter) must be caught in another's.
    everywhere = {fault for target in PLANS for fault in target.faults if all(
        (other.name, fault) in missed for other in PLANS if fault in other.faults)}
    assert not everywhere, f"caught nowhere: {sorted(everywhere)}"


def test_the_sanitizer_accepts_correct_kernels(pool: Pool) -> None:
    for name in ("async.copy_ring", "tma.load_store", "mbarrier.phases"):
        for case in drawn(find(name), 4, number=41):
            plan = case.program
            if isinstance(plan, Plan) and not plan.workers and plan.loop != "static":
                outcome = pool.execute(_sanitized(case), "own")
                assert outcome.verdict in (Verdict.AGREE, Verdict.NOT_CHECKED), (outcome.signature, case)
