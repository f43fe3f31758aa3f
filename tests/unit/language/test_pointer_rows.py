"""Pointers of another type and to truth values: what is drawn, what it must give, and faults in it that are caught."""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
import torch

from tests.support.draws import draws
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.launching import text_of
from tridiff.fuzz.language.spoiled import FAULTS, ROWS
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.by_numpy import language as in_numpy
from tridiff.oracles.by_torch import language as in_torch
from tridiff.oracles.dtypes import dtype

TARGET = find("language.memory")
LIMITS = Limits(elements=1 << 9, rows=4, variants=False)


@cache
def drawn() -> dict[str, list[Case]]:
    """Draws of each row, as they come."""
    every = draws(call_cases(target=TARGET.name, topic="memory", limits=LIMITS), 500, seed=2)
    return {name: [one for one in every if cases.call_of(one).row == name] for name in (*ROWS, "pointer.address")}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="interpreter", spare=False)) as made:
        yield made


def test_right_calls_are_clean_but_for_known_issues(pool: Pool):
    known = Attribution(lambda case: pool.execute(case, "own"))
    found = [(case, pool.execute(case, "own")) for of_row in drawn().values() for case in of_row[:10]]
    unknown = [one.signature for case, one in found if one.verdict.failed and not known.issues(case, one)]
    assert sum(one.verdict is Verdict.AGREE for _, one in found) >= 36 and not unknown, unknown


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_planted_in_the_text_are_caught(fault: str, pool: Pool):
    tried = 0
    for case in (case for row in ROWS for case in drawn()[row]):
        if TARGET.faults.affects(case, fault) and pool.execute(case, "own").verdict is Verdict.AGREE:
            tried += 1
            if pool.execute(case, f"own+fault:{fault}").verdict is Verdict.DISAGREE:
                return
        if tried == 6:
            break
    pytest.fail(f"{fault} was not caught in {tried} calls")


def test_draws_reach_narrower_and_wider_types_in_every_form():
    """Widths, ways, by a number or not, before and behind the step from lane to lane: independent choices."""
    met: set[tuple[str, object]] = set()
    for case in (*drawn()["pointer.cast"], *drawn()["pointer.cast.store"]):
        call = cases.call_of(case)
        one = call.operands[0].dtype
        other = call.operands[1].dtype if call.row.endswith("store") else call.stored[0]
        wider = np.sign(dtype(other).bits - dtype(one).bits)
        met |= {("wider", int(wider)), ("through", call.option("through")), ("way", call.option("way")),
                ("bitcast", call.option("bitcast")), ("first", bool(call.number("first"))),
                ("second", bool(call.number("second")))}
    assert len(met) == 3 + 3 + 3 + 2 + 2 + 2, met
    truths = [cases.call_of(case) for case in (*drawn()["pointer.truth"], *drawn()["pointer.truth.store"])]
    assert {one.operands[0].dtype for one in truths} >= {"i1", "i8"}


def _read(one: str, other: str, values: list[int], **options: int) -> list[list[float]]:
    """What two lanes read of one row, by both libraries."""
    given = {"first": 0, "second": 1, "start": 0, "skip": 0} | options
    call = Call(row="pointer.cast", operands=(Operand(dtype=one, shape=(len(values),)),), stored=(other,),
                options={**given, "lanes": "2"})
    array = np.array([values]).astype(one.replace("u", "uint").replace("i8", "int8").replace("i32", "int32"))
    row = rows()["pointer.cast"]
    return [row.answer(call, lib, (operand,))[0].tolist()[0] for lib, operand in (
        (in_numpy, array), (in_torch, torch.from_numpy(array)))]


def test_memory_is_little_endian_in_both_references():
    bytes_ = [0x78, 0x56, 0x34, 0x12, 0xFF, 0xFF, 0xFF, 0xFF]
    assert _read("u8", "i32", bytes_) == [[0x12345678, -1]] * 2
    assert _read("i32", "u8", [0x12345678, -1], skip=1) == [[0x56, 0x34]] * 2
    assert _read("i32", "u8", [0x12345678, -1], first=1, second=0) == [[0x78, 0xFF]] * 2


def test_calls_whose_lanes_leave_the_row_lie_across_elements_or_meet_are_not_legal():
    memory, value = Operand(dtype="u8", shape=(16,)), Operand(dtype="i32", shape=(4,))
    steps = {"first": 0, "second": 1, "start": 0, "skip": 0}

    def legal(**changed: int) -> bool:
        return cases.legal(Call(row="pointer.cast.store", operands=(memory, value), options=steps | changed,
                                stored=("u8",)))

    assert legal() and legal(first=4, second=0)
    assert not any((legal(skip=1), legal(start=1), legal(first=2, second=0), legal(second=0)))


def test_whoever_reads_what_a_program_wrote_waits_for_all_of_its_threads():
    """Loads and stores of one place may have layouts of their own: other threads write an element than read it."""
    accesses = re.compile(r"tl\.(store)\(memory,|tl\.(load)\(memory[,)]|tl\.(debug_barrier)\(\)")
    checked = 0
    for one in (one for of_row in drawn().values() for one in of_row):
        before, *others = [next(filter(None, found)) for found in accesses.findall(text_of(one, "3.9.0"))] or [""]
        for after in others:
            assert {before, after} != {"load", "store"}, text_of(one, "3.9.0")
            checked += "debug_barrier" in (before, after)
            before = after
    assert checked > 100


def test_truth_values_are_passed_as_torch_has_them():
    from tridiff.fuzz.backends.compile import pointer_to
    from tridiff.fuzz.backends.launch import Launch

    held = torch.tensor([0, 1, 3], dtype=torch.int8)
    case = drawn()["pointer.truth"][0]
    launch = Launch(case=case, pointers={"x0": held, "x1": pointer_to("i1", aligned=True)}, helper=None, fault="",
                    options=case.options, runner=None)
    found = launch.truths("x0")
    assert found.dtype is torch.bool and found.data_ptr() == held.data_ptr()
    assert launch.truths("x1").dtype == "i1" and launch.pointer("x1").dtype == "i8"
