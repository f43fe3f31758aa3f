"""Loops and texts: what no kernel can be made of, and that shrinking reaches the entries of the corpus."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.unit.plans.drawing import drawn
from tridiff.fuzz.kinds import fields
from tridiff.fuzz.kinds.loops.cases import label
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.fuzz.targets.pipelines_loops import TARGETS as LOOPS
from tridiff.fuzz.targets.pipelines_text import TARGETS as TEXTS
from tridiff.kernels.pipelines.loop_programs import BoxCopy, BoxReduction, DescribedProduct, Hinted, Product, problem
from tridiff.kernels.ttgir import text as ttgir
from tridiff.kernels.ttgir.text import Partitions, Text, Tokens, WarpNumbers

each = pytest.mark.parametrize


@each("loop", [
    Product(inner=64, dtype="i8"), Product(inner=128, m=128, n=128, block=128, stages=5),
    DescribedProduct(inner=96), BoxReduction(rows=1, width=16, kind="xor", dtype="fp32")])
def test_what_no_loop_can_be_is_told(loop: Product | DescribedProduct | BoxReduction):
    assert problem(loop)
    plain = {"dtype": "i32"} if isinstance(loop, BoxReduction) else {"inner": 64, "dtype": "fp16", "stages": 1}
    assert problem(replace(loop, **plain)) == ""


def test_options_of_a_hinted_loop_are_said_once_and_its_work_is_looked_at():
    described = DescribedProduct(inner=64)
    assert problem(Hinted(work=described, specialised=True)) == ""
    assert problem(Hinted(work=replace(described, specialised=True)))
    assert problem(Hinted(work=replace(described, store="own_map")))
    assert problem(Hinted(work=Product(inner=64, dtype="i8"))) == problem(Product(inner=64, dtype="i8")) != ""


def test_all_pairs_of_options_are_drawn_and_no_option_stays_that_a_failure_does_not_need():
    target = find("loops.options")
    names = ("one_accumulator", "flattened", "invariants_stay", "specialised")
    seen = set()
    for case in drawn(target, 80, number=2):
        program = case.program
        values = [(name, getattr(program, name)) for name in names] + [("nested", program.lines > 1)]
        seen |= {(a, b) for a in values for b in values if a[0] < b[0]}
    assert len(seen) == 4 * len(names) * (len(names) + 1) // 2
    case = next(one for one in drawn(target, 80, number=2) if one.program.flattened and one.program.specialised)
    least = shrunk(case, target, lambda step: step.program.flattened).program
    assert least.hints == (1, False, True, False, False) and least.lines == 1


@each("text", [
    Text(form=Tokens(groups=2, pending=2)), Text(form=Partitions(), warps=2),
    Text(form=WarpNumbers(region="partition"), warps=1)])
def test_what_no_text_can_be_is_told(text: Text):
    assert ttgir.problem(text)
    right = replace(text, warps=4, form=Tokens(groups=3, pending=2) if isinstance(text.form, Tokens) else text.form)
    assert ttgir.problem(right) == ""


def test_fields_outside_of_their_types_are_told():
    assert fields.misfit(BoxCopy(rows=16, width=5)) == ""
    assert "rows" in fields.misfit(BoxCopy(rows=17, width=5)) and "width" in fields.misfit(BoxCopy(rows=16, width=0))


def shrunk(case: Case, target: Target, keeps: Callable[[Case], bool]) -> Case:
    """Greedily the first valid step that keeps the property, over and over."""
    for _ in range(500):
        step = next((one for one in target.shrink.steps(case) if target.draw.valid(one) and keeps(one)), None)
        if step is None:
            return case
        assert target.shrink.size(step) < target.shrink.size(case)
        case = step
    raise AssertionError("the steps go in circles")


@each("target", (*LOOPS, *TEXTS), ids=lambda target: target.name)
def test_every_step_is_valid_or_refused_and_smaller(target: Target):
    for case in drawn(target, 15, number=3):
        steps = list(target.shrink.steps(case))
        assert all(target.shrink.size(step) < target.shrink.size(case) for step in steps)
        assert sum(map(target.draw.valid, steps)) >= len(steps) // 2
        least = shrunk(case, target, lambda step: True)
        assert not any(map(target.draw.valid, target.shrink.steps(least)))


@each("name, words, least", [
    ("descriptors.boxes", "boxes of half a slot", {"rows": 1, "width": 1, "columns": 16, "stages": 2}),
    ("loops.warp_specialize", "product, one stage", {"inner": 32, "m": 16, "n": 16, "stages": 1, "block": 32}),
    ("loops.warp_specialize", "product, rows split",
     {"inner": 32, "m": 128, "n": 16, "stages": 2, "store": "pointers"}),
    ("loops.warp_specialize", "product, rows split, own maps",
     {"inner": 32, "m": 128, "n": 16, "stages": 2, "store": "own_map"})])
def test_findings_of_one_label_shrink_to_one_program(name: str, words: str, least: dict[str, object]):
    target, seen = find(name), 0
    for case in drawn(target, 150, number=6):
        if label(case) == words:
            program = shrunk(case, target, lambda step: label(step) == words).program
            wanted = dict(least)
            if isinstance(program, BoxReduction):
                wanted["width"] = 16
            if isinstance(program, DescribedProduct) and program.block > 32:
                wanted |= {"inner": program.block}
            assert {field: getattr(program, field) for field in wanted} == wanted
            seen += 1
    assert seen
