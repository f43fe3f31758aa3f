"""What the hardware asks of copies by TMA, and what sums of narrow floats ask of their number."""

import pytest

from tridiff.fuzz.kinds.plans import cases
from tridiff.fuzz.kinds.plans.launching import old_sanitizer_judges
from tridiff.kernels.pipelines.legal import problem
from tridiff.kernels.pipelines.plan import Dot, Fold, Op, Plan, Sink, Source, Store, TmaStore, Worker

each = pytest.mark.parametrize
_TMA = Source(copy="tma")


@each("rows, columns, ring, legal", [
    (1, 16, 2, False), (1, 16, 1, True), (1, 32, 2, True), (2, 16, 3, True)])
def test_slots_that_tma_fills_begin_at_multiples_of_128_bytes(rows: int, columns: int, ring: int, legal: bool):
    plan = Plan(dtype="i32", rows=rows, columns=columns, tiles=3, ring=ring, sources=(_TMA,))
    assert (problem(plan) == "") is legal
    assert legal or "128" in problem(plan)


@each("buffers, legal", [(1, True), (2, False)])
def test_buffers_that_tma_empties_begin_at_multiples_of_128_bytes(buffers: int, legal: bool):
    plan = Plan(dtype="i32", rows=1, columns=16, tiles=3, sink=TmaStore(buffers=buffers))
    assert (problem(plan) == "") is legal


@each("cut, sink, legal", [
    (1, Store(), True), (1, TmaStore(), False), (4, TmaStore(), True), (6, TmaStore(reduce="add"), False)])
def test_tma_stores_lines_of_whole_units(cut: int, sink: Sink, legal: bool):
    plan = Plan(dtype="i32", rows=16, columns=32, tiles=2, ring=2, cut=cut, sources=(_TMA,), sink=sink)
    assert (problem(plan) == "") is legal
    assert legal or "16 bytes" in problem(plan)


@each("sink, legal", [(Store(), True), (TmaStore(), False), (TmaStore(reduce="add"), False)])
def test_tma_stores_begin_at_no_negative_column(sink: Sink, legal: bool):
    plan = Plan(dtype="i32", rows=16, columns=32, tiles=2, ring=2, before=16, sources=(_TMA,), sink=sink)
    assert (problem(plan) == "") is legal
    assert legal or "negative" in problem(plan)


@each("plan, judged", [
    (Plan(sources=(_TMA,), sink=TmaStore()), True), (Plan(sources=(Source(copy="cp_arrive_counted"),)), False),
    (Plan(ring=2, workers=(Worker(role="load"),)), False), (Plan(sources=(_TMA, _TMA), sink=Dot()), False)])
def test_what_the_sanitizer_of_3_6_judges(plan: Plan, judged: bool):
    assert old_sanitizer_judges(plan) is judged


def test_as_many_programs_add_floats_as_keep_every_sum_exact():
    assert {dtype: cases.most_programs(Plan(dtype=dtype, sources=(_TMA,), sink=TmaStore(reduce="add")))
            for dtype in ("bf16", "fp16", "fp32", "i32")} == {"bf16": 63, "fp16": 264, "fp32": 264, "i32": 264}
    assert cases.most_programs(Plan(dtype="bf16")) == 264


_NEGATED, _ROW_MAX, _STAGE = Op(kind="multiply", constant=-1), Op(kind="row_max"), Op(kind="stage")


@each("dtype, ops, sink, named", [
    ("fp32", (_STAGE, _NEGATED, _ROW_MAX), Store(), True), ("i32", (_NEGATED,), Fold(op="max"), True),
    ("i32", (Op(kind="invert"), Op(kind="add", constant=1), _STAGE, Op(kind="second_max")), Store(), True),
    ("i32", (Op(kind="invert"), _ROW_MAX), Fold(op="max"), False), ("i8", (_NEGATED, _ROW_MAX), Store(), False),
    ("i32", (_ROW_MAX, _NEGATED), Store(), False), ("i32", (_NEGATED,), Fold(), False)])
def test_a_negation_in_front_of_a_maximum_is_a_finding_of_its_own(
        dtype: str, ops: tuple[Op, ...], sink: Sink, named: bool):
    assert cases.negated_extremum(Plan(dtype=dtype, ops=ops, sink=sink)) is named
