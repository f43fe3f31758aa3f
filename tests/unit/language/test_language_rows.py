"""Every row of the language: its draws are valid, its kernels parse, and its two references agree with each other."""

import ast
import math
import re
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.draws import draws
from tridiff.fuzz.backends.libdevice import amd_lacks
from tridiff.fuzz.campaign.plan import shard_of
from tridiff.fuzz.content.place import buffers_of
from tridiff.fuzz.judge.outputs import Inputs, call as ask
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.aims import cell, sampled
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.language.index import TOPICS, of_topic, rows
from tridiff.fuzz.language.launching import text_of
from tridiff.fuzz.language.row import Row, Topic
from tridiff.fuzz.language.rows.gluon import MOST_HELD, held
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.versions import interprets_scaled_products
from tridiff.kernels.language.call import Call, Operand
from tridiff.kernels.language.emit import FAULTS
from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.by_numpy import language as by_numpy
from tridiff.oracles.by_torch import language as by_torch
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import dtype, name_of_tensor, torch_dtype
from tridiff.oracles.rules import NUM0, REL

each = pytest.mark.parametrize
LIMITS = Limits(elements=1 << 8, rows=8)


@cache
def drawn(topic: Topic, number: int = 60) -> list[Case]:
    return draws(call_cases(target=f"language.{topic}", topic=topic, limits=LIMITS), number, seed=11)


@each("topic", TOPICS)
def test_draws_are_valid_and_their_kernels_parse_for_every_version(topic: Topic):
    target = find(f"language.{topic}")
    for case in drawn(topic):
        assert target.draw.valid(case) and cases.cells(case) and cases.label(case) in rows()
        for version in ("3.6.0", "3.9.0"):
            for fault in ("", *FAULTS):
                ast.parse(text_of(case, version, fault=fault))


@each("topic", TOPICS)
def test_the_references_agree_with_each_other(topic: Topic):
    target = find(f"language.{topic}")
    for case in drawn(topic):
        inputs = Inputs(case, buffers_of(case))
        first, second = (ask(one, case, inputs, None) for one in target.judge.oracles(case))
        known = target.judge.defined(case)
        masks = {} if known is None else _masks(case, inputs, known)
        for number, (left, right) in enumerate(zip(first, second, strict=True)):
            name = f"out{number}"
            assert left.shape == right.shape and left.dtype == right.dtype, (case.program, left, right)
            if name in masks:
                right = from_bits(torch.where(masks[name], to_bits(right), to_bits(left)), name_of_tensor(left))
            # What tolerant rules compare with is float64 from both.
            whole = target.judge.rules(case)[name]
            rule = whole.member or whole
            near = REL(1e-6, origin="two evaluations in float64") if rule.kind in ("SUM", "ULP", "ABS") else NUM0
            assert compare(left, right, near).clean, (case.program, left, right)


def _masks(case: Case, inputs: Inputs, known: tuple[str, tuple[str, ...]]) -> dict[str, torch.Tensor]:
    from tridiff.fuzz.backends.launch import resolve

    path, arguments = known
    found: dict[str, torch.Tensor] = resolve(path)(*(
        case if one == "@case" else inputs.take(one, None) for one in arguments))
    return found


def test_simpler_calls_are_valid_and_smaller():
    for topic in ("reductions", "operators", "movement"):
        target = find(f"language.{topic}")
        for case in drawn(topic, 30):
            for step in cases.steps(case):
                assert target.draw.valid(step), step.program
                assert cases.size(step) < cases.size(case)


def test_options_from_a_stranger_cannot_become_source():
    case = drawn("reductions")[0]
    program = case.program
    assert isinstance(program, Call)
    for text in ("x)\nimport os", "__import__('os')", "__import__", "exec", 'x"'):
        hostile = Call(row="tl.reduce", operands=program.operands, stored=program.stored,
                       options={"axis": "None", "function": text})
        assert not cases.legal(hostile)
    assert not cases.legal(Call(row="no.row"))


def test_functions_that_amd_does_not_have_are_no_findings_there():
    text = "r0 = libdevice.exp10(x0) + libdevice.sin(x0)"
    assert amd_lacks(text, "compile:gfx942") == "AMD's libdevice has no exp10"
    assert amd_lacks(text, "compile:sm_90") == amd_lacks("libdevice.sin(x0)", "compile:gfx942") == ""


def test_no_thread_holds_so_much_that_compiling_takes_minutes_but_some_hold_hundreds_of_elements():
    random, row = Random(5), rows()["gl.associative_scan.affine"]
    found = [held(call) for call, _ in (sampled(row, random) for _ in range(400)) if call is not None]
    assert len(found) > 200 and max(found) <= MOST_HELD and sum(one > MOST_HELD // 4 for one in found) > 10
    block = Operand(dtype="u32", shape=(64, 64, 1))
    along_one_element = Call(row=row.name, operands=(block, block), options={"axis": 0, "layout": 1})
    assert held(along_one_element) == 2 * 64 * 64 > MOST_HELD


def test_what_is_packed_has_so_many_elements_that_each_thread_has_some_when_it_is_shrunk_too():
    random, row = Random(3), rows()["tl.map_elementwise"]
    calls = [call for call, _ in (sampled(row, random) for _ in range(80)) if call is not None]
    packed = [call for call in calls if "packed" in str(call.options["mapping"])]
    assert len(packed) > 10 and all(cases.legal(call) for call in packed)
    for call in packed:
        short = replace(call, operands=tuple(replace(one, shape=(1024,)) for one in call.operands))
        assert not cases.legal(short) and cases.legal(replace(short, options={"mapping": "pair"}, stored=("i32",) * 2))


def test_the_interpreter_sorts_half_as_many_elements_as_it_has_for_other_calls():
    """It sorts 4096 for half of the time that a launch has, on a machine with nothing else to do."""
    target, options = find("language.ordering"), campaign_options()

    def largest(backend: str) -> int:
        spec = shard_of(options, target, "own", backend, index=0, seconds=1.0)
        return max(array.span(case.sizes) for aims in ((), ((cell("tl.bitonic_merge", "fp32"), 1),))
                   for case in draws(target.draw.cases(Limits(elements=spec.elements, rows=spec.rows, aims=aims)), 300,
                                     seed=4) for array in case.arrays)

    assert 1 << 10 < largest("interpreter") <= 1 << 11 < largest("cuda")


def test_the_table_is_broad():
    assert len(rows()) == sum(len(of_topic(topic)) for topic in TOPICS) >= 150


def test_a_sum_of_negative_zeros_only_is_a_negative_zero():
    lines = np.array([[-0.0, -0.0], [0.0, -0.0], [1.0, -1.0]], dtype=np.float32)
    found = (by_numpy.fold(lines, kind="sum", axis=0, keep=False),
             by_torch.fold(torch.from_numpy(lines), kind="sum", axis=0, keep=False).numpy())
    for one in found:
        assert one.tolist() == [0, 0, 0] and np.signbit(one).tolist() == [True, False, False]


def test_blocks_of_descriptors_begin_at_multiples_of_sixteen_bytes_and_not_at_the_first_column_alone():
    """The docstrings of load and store ask for it; an H200 ends a kernel that breaks it with an illegal instruction."""
    places = []
    for case in drawn("descriptors", 150):
        assert isinstance(case.program, Call)
        steps = re.findall(r"[mp](\d+)", str(case.program.options.get("steps", "")))
        column = case.program.options.get("right", steps[-1] if steps else 0)
        places.append(int(column) * dtype(case.program.operands[0].dtype).bits // 8)
    assert sum(place > 0 for place in places) > 20 and all(place % 16 == 0 for place in places)


def test_scaled_products_need_the_types_that_their_formats_name_and_an_interpreter_that_knows_them():
    row = rows()["tl.dot_scaled"]

    def declined(lhs: str, backend: str, *, as_it_is: bool = False) -> str:
        call = Call(row="tl.dot_scaled", operands=(), options={"lhs": lhs, "rhs": "e5m2"}, stored=("fp32",))
        return row.declined(call, "3.9.0", backend, as_it_is=as_it_is)

    assert "fp8e4nv" in declined("e4m3", "compile:sm_80")
    assert not declined("e2m1", "compile:sm_80") and not declined("e4m3", "compile:sm_90")
    assert bool(declined("e2m1", "interpreter")) is not interprets_scaled_products()
    assert not declined("e2m1", "interpreter", as_it_is=True)
    assert declined("e4m3", "compile:sm_80", as_it_is=True)


def _saturating(a: torch.Tensor, b: torch.Tensor, acc: torch.Tensor, step: int) -> torch.Tensor:
    """i32: what tensor cores make of it that add the products of `step` places at a time."""
    found = acc.to(torch.int64)
    for k in range(0, a.shape[-1], step):
        part = by_torch.dot(a[..., k:k + step], b[..., k:k + step, :])
        found = (found + part).clamp(-1 << 31, (1 << 31) - 1)
    return found.to(torch.int32)


def test_products_of_integers_wrap_or_saturate_as_an_instruction_does_and_most_do_neither():
    row = rows()["tl.dot"]
    generator = torch.Generator().manual_seed(5)
    shapes = ((1, 16, 64), (1, 64, 32))
    a, b = (torch.randint(-128, 128, shape, generator=generator).to(torch.int8) for shape in shapes)
    acc = torch.randint(-(1 << 31), -(1 << 31) + 200_000, (1, 16, 32), generator=generator, dtype=torch.int32)
    call = Call(row="tl.dot", stored=("i32",), operands=tuple(
        Operand(dtype=name, shape=tuple(one.shape[1:])) for name, one in (("i8", a), ("i8", b), ("i32", acc))))
    for sign in (1, -1):
        ends = acc if sign > 0 else -1 - acc
        left = a if sign > 0 else -a.clamp(min=-127)
        (found,) = row.answer(call, by_torch, (left, b, ends))
        right = by_torch.dot(left, b, ends)
        saturated = [_saturating(left, b, ends, step) for step in (16, 32, 64)]
        assert (saturated[1] != right).sum() > (saturated[2] != right).sum() > 0, "some end within i32"
        for one in (right, *saturated):
            assert (found == one).any(0).all()
        several = (found != right).any(0)
        assert several.sum() < several.numel() // 2, "most accumulators near the end of i32 have one right sum"
    # Far from the ends of i32 all do.
    assert all((one == one[:1]).all() for one in row.answer(call, by_torch, (a, b, acc + (1 << 30))))


def _dot_of(name: str, **options: str | int) -> tuple[Row, Call]:
    """tl.dot of (64, 32) and (32, 64) onto an fp32 accumulator."""
    blocks = ((name, (64, 32)), (name, (32, 64)), ("fp32", (64, 64)))
    return rows()["tl.dot"], Call(row="tl.dot", stored=("fp32",), options=dict(options), operands=tuple(
        Operand(dtype=one, shape=shape) for one, shape in blocks))


@each("name, options, cut", [
    ("fp8e5", {}, True), ("fp8e5", {"max_num_imprecise_acc": 32}, False), ("fp16", {}, False)])
def test_an_accumulator_is_cut_as_short_as_products_of_8_bit_floats_that_are_added_to_it(
        name: str, options: dict[str, int], cut: bool):
    row, call = _dot_of(name, **options)
    a, b = (torch.zeros(1, *one.shape).to(torch_dtype(name)) for one in call.operands[:2])
    (bound,) = row.bounds(call, (a, b, torch.full((1, 64, 64), 1000.0)))
    # Of 1000 an instruction takes off up to an eighth, of 32 places at most two; and all of what is less than that.
    assert 0.24 < float(bound.max()) < 0.26 if cut else float(bound.max()) < 0.01
    small = [torch.full_like(a, 2.0**-6), torch.full_like(b, 2.0**-6)]
    (beside,) = row.bounds(call, (*small, torch.full((1, 64, 64), 1000.0)))
    lost = 32 * 2.0**-12 if cut else 0.0
    assert lost <= float((beside - bound).max()) < lost + 0.01


@each("lib", [by_torch, by_numpy])
@each("precision", ["tf32", "tf32x3", "ieee"])
def test_an_infinity_times_what_may_be_flushed_is_an_infinity_or_nan(lib: Any, precision: str):
    row, call = _dot_of("fp32", input_precision=precision)
    for factor, flushed in ((1e-40, precision != "ieee"), (1e-30, False)):
        operands = [torch.full((1, *one.shape), value)
                    for one, value in zip(call.operands, (factor, math.inf, 0.0), strict=True)]
        if lib is by_numpy:
            operands = [one.numpy() for one in operands]
        (found,) = row.answer(call, lib, tuple(operands))
        values = np.asarray(found)
        assert values[0].min() == math.inf and bool(np.isnan(values).any()) == flushed


@each("lib", [by_torch, by_numpy])
@each("name", ["tl.cdiv", "gl.cdiv"])
def test_a_quotient_rounded_up_is_judged_where_neither_sign_nor_sum_is_in_the_way(lib: Any, name: str):
    """Contents may be anything once a case shrinks: cdiv is (x + 6) // 7, which truncates, for these too."""
    call = Call(row=name, operands=(Operand(dtype="i32", shape=(4,)), Operand(kind="number", dtype="i32", number="7")),
                options={"way": "function", "layout": 0}, stored=("i32",))
    values = [-1, 0, 2**31 - 7, 2**31 - 6]
    given = torch.tensor([values], dtype=torch.int32)
    row, x = rows()[name], given.numpy() if lib is by_numpy else given
    assert row.defined is not None
    (known,), (right,) = row.defined(call, lib, (x, 7)), row.answer(call, lib, (x, 7))
    assert known.tolist() == [[False, True, True, False]]
    assert right.tolist()[0][1:3] == [math.trunc((one + 6) / 7) for one in values[1:3]]
