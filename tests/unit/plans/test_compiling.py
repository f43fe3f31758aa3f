"""Drawn cases compile for sm_90, with the operations in their IR that their plans declare."""

import collections
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from tests.unit.plans.drawing import ALL, drawn
from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.judge.expected_ir import expected_ir
from tridiff.fuzz.judge.ir import operations as operations_of
from tridiff.fuzz.kinds.plans.expected_ir import check_registers, operations
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.fuzz.verdicts import Refuted
from tridiff.fuzz.versions import offers
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.pipelines.plan import Plan, Source, TmaStore, Worker

each = pytest.mark.parametrize
LACKING = ("this version has no store into another block's shared memory",
           "this version has no Gluon function for TMA reductions",
           "tensor maps gather and scatter rows from sm_100 on",
           "tl.range: warp specialisation is for Blackwell; sm_90 has it for some products only")
"""Why a case may be left out on one of the versions, or for one of the chips."""
COUNTS = {"loops.warp_specialize": 3, "descriptors.gather": 4, "wgmma.chain": 10, "ttgir.text": 14}


def pool_for(backend: str, cache: Path) -> Pool:
    return Pool(PoolOptions(backend=backend, spare=False, compile_limit=240, start_limit=240,
                            cache_directory=str(cache)))


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pool_for("compile:sm_90", tmp_path_factory.mktemp("cache")) as opened:
        yield opened


@each("target", ALL, ids=lambda target: target.name)
def test_drawn_cases_compile_for_sm_90(target: Target, pool: Pool):
    verdicts: collections.Counter[str] = collections.Counter()
    for case in drawn(target, COUNTS.get(target.name, 8), number=11):
        outcome = pool.execute(case, "own")
        if outcome.verdict is Verdict.NOT_CHECKED:
            assert outcome.reason in LACKING, outcome.reason
        else:
            assert outcome.verdict is Verdict.AGREE, (outcome.signature, outcome.reason, case.program, case.params)
        verdicts[outcome.verdict.value] += 1
    if target.name not in ("tma.reduce", "descriptors.gather", "cluster.exchange"):
        assert verdicts["agree"] >= 1


def test_gather_and_scatter_compile_for_the_chip_that_has_them(tmp_path: Path):
    with pool_for("compile:sm_100", tmp_path) as pool:
        for case in drawn(find("descriptors.gather"), 4, number=2):
            assert pool.execute(case, "own").verdict is Verdict.AGREE


def test_an_ignored_register_request_is_read_back(pool: Pool):
    target = find("warp_specialize.ring")
    kinds = set()
    for case in drawn(target, 12, number=4):
        if all(worker.registers for worker in case.program.workers):
            outcome = pool.execute(case, "own+fault:register_request_ignored")
            kinds.add((outcome.verdict, outcome.signature.kind))
            if len(kinds) and case.program.workers:
                break
    assert kinds == {(Verdict.DISAGREE, "register_request")}


def test_planted_faults_compile_like_the_kernel_they_break(pool: Pool):
    target = find("tma.load_store")
    case = next(case for case in drawn(target, 30, number=9) if isinstance(case.program.sink, TmaStore))
    outcomes = {fault: pool.execute(case, f"own+fault:{fault}") for fault in target.faults.planted}
    lacks = dict.fromkeys(("store_wait_missing", "store_wait_one_too_shallow"), "completion")
    if not offers(pool.environment.triton, "proxy fences that a kernel lacks"):
        lacks["missing_proxy_fence"] = "fence of writes"
    for fault, order in lacks.items():  # can be read off the instructions
        short = outcomes.pop(fault)
        assert (short.verdict, short.reason) == (Verdict.DISAGREE, f"the compiled kernel does not promise {order}")
    for fault, outcome in outcomes.items():
        assert outcome.verdict in (Verdict.AGREE, Verdict.NOT_CHECKED), (fault, outcome.reason)
    assert pool.execute(case, "own+fault:compile_error").verdict is Verdict.COMPILE_ERROR


def test_ir_without_a_declared_operation_is_refuted():
    plan = Plan(tiles=3, ring=2, ahead=1, sources=(Source(copy="tma"),), sink=TmaStore())
    names = operations(plan)
    assert {"ttng.async_tma_copy_global_to_local", "ttng.fence_async_shared"} <= names
    text = "\n".join(f"  {name} %0" for name in sorted(names))
    target = find("tma.load_store")
    case = replace(drawn(target, 1, number=9)[0], program=plan)

    def found(ttgir: str, planted: str = "", folds: bool = False) -> list[tuple[Verdict, str, str]]:
        judge = dataclasses.replace(target.judge, expected_ir_may_fold=folds)
        judged = dataclasses.replace(target, judge=judge)
        trial = SimpleNamespace(target=judged, case=case, planted=planted, ttgir=ttgir)
        return [(one.verdict, one.kind, one.where) for one in expected_ir(trial)]

    assert found(text) == found("") == []
    for name in names:
        without = "\n".join(line for line in text.splitlines() if line != f"  {name} %0")
        assert found(without) == [(Verdict.DISAGREE, "missing_operation", name)]
        assert found(without, folds=True) == [(Verdict.NOT_CHECKED, "missing_operation", name)]
        assert found(without, planted="any") == []


@each("name, folds", [("async.copy_ring", False), ("cluster.exchange", False),
                                         ("gluon.view_chain", True), ("ttgir.text", False)])
def test_kinds_say_what_their_kernels_must_contain(name: str, folds: bool):
    judge = find(name).judge
    assert judge.expected_ir_may_fold is folds
    asked = {one for case in drawn(find(name), 20, number=3) for one in resolve(judge.expected_ir)(case)}
    assert asked and asked == operations_of("\n".join(f"  {one} %0" for one in asked)), "the IR is read by such names"


def test_ir_with_other_registers_than_asked_is_refuted():
    plan = Plan(tiles=3, ring=2, ahead=0, workers=(Worker(role="load", registers=56),))
    text = "\n".join(operations(plan))
    check_registers(plan, text + "\nrequestedRegisters = array<i32: 56>")
    for wrong in ("requestedRegisters = array<i32: 48>", ""):
        with pytest.raises(Refuted, match="registers"):
            check_registers(plan, f"{text}\n{wrong}")
