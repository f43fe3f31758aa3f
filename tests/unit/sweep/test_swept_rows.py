"""Sweeps over the rows of the language: which calls and inputs are enumerated."""

import json
from itertools import product
from pathlib import Path

import pytest

from tridiff.fuzz.content.text import to_bits
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.every import calls, cases_of, thinned
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.patterns import alphabets, chosen, size
from tridiff.fuzz.records import Case, Explicit, Verdict
from tridiff.fuzz.sweep.choose import SWEPT
from tridiff.fuzz.sweep.rows import Wish, planned, record_of, run
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.oracles.dtypes import FLOATS, FP8, INTEGERS, NAMES, dtype as info_of

each = pytest.mark.parametrize


def made(name: str, *types: str) -> list[tuple[Case, int]]:
    """The cases of the first call of a row on operands of these types."""
    row = rows()[name]
    call = next(one for one in calls(row) if tuple(part.dtype for part in one.operands) == types)
    return list(cases_of(f"language.{row.topic}", call, row))


def case(name: str, *types: str) -> Case:
    return made(name, *types)[0][0]


def words(one: Case, name: str) -> list[int]:
    spec = one.array(name)
    assert spec.content is not None and isinstance(spec.content.base, Explicit)
    return [to_bits(text, spec.dtype) for text in spec.content.base.values]


@each("name, dtype, bits", [
    ("tl.abs", "i8", 8), ("tl.abs", "bf16", 16), ("tl.cast", "fp8e5", 8)])
def test_one_operand_takes_every_pattern_once(name: str, dtype: str, bits: int):
    one = case(name, dtype)
    assert sorted(words(one, "x0")) == list(range(1 << bits)) and cases.valid(one)


@each("types", [("i8", "i8"), ("i8", "u8"), ("u8", "i8")])
def test_two_operands_of_8_bits_take_every_pair_once(types: tuple[str, str]):
    one = case("operator.add", *types)
    assert set(zip(words(one, "x0"), words(one, "x1"), strict=True)) == set(product(range(256), repeat=2))
    assert cases.valid(one)


def test_8_bit_floats_take_every_pair_once():
    one = case("fp8.add", "fp8e5", "fp8e5")
    assert set(zip(words(one, "x0"), words(one, "x1"), strict=True)) == set(product(range(256), repeat=2))


def test_a_choice_between_bytes_takes_every_triple_once():
    found = made("tl.where", "i1", "i8", "i8")
    triples = [triple for one, _ in found for triple in zip(*(words(one, f"x{k}") for k in range(3)), strict=True)]
    assert len(found) == 2 and sorted(triples) == sorted(product(range(2), range(256), range(256)))


@each("name, types", [
    ("operator.mul", ("i16", "i16")), ("operator.add", ("fp16", "fp16")), ("libdevice.div_rz", ("fp32", "fp32"))])
def test_wider_pairs_take_chosen_patterns_each_beside_each(name: str, types: tuple[str, str]):
    ((one, inputs),) = made(name, *types)
    pairs = set(zip(words(one, "x0"), words(one, "x1"), strict=True))
    sides = [{pair[side] for pair in pairs} for side in range(2)]
    assert len(pairs) == inputs == len(sides[0]) * len(sides[1]) >= 128**2 and cases.valid(one)
    info = info_of(types[0])
    wanted = ("inf", "-inf", "nan", "-0.0") if info.is_float else (str(info.min), str(info.max), "-1", "0")
    assert {to_bits(text, types[0]) for text in wanted} <= sides[0]


def test_orders_of_bessel_functions_are_those_of_the_contract():
    assert set(words(case("libdevice.jn", "i32", "fp64"), "x0")) == set(range(13))


@each("name", [one for one in NAMES if info_of(one).bits > 16])
def test_chosen_patterns_are_many_and_have_every_exponent(name: str):
    found, info = chosen(name, 1 << 16), info_of(name)
    assert len(set(found)) == 1 << 16 and max(found) < size(name)
    if info.is_float:
        assert len({word >> info.mantissa_bits for word in found}) == 2 << info.exponent_bits
        lowest = {word & ((1 << info.mantissa_bits) - 1) for word in found}
        halves = {1 << (info.mantissa_bits - kept - 1) for kept in (2, 3, 7, 10)}
        assert name == "fp64" or halves | {half + 1 for half in halves} | {half - 1 for half in halves} <= lowest


@each("name", [*INTEGERS, *FLOATS, *FP8])
def test_what_folds_takes_every_line_over_three_values_several_times(name: str):
    assert all(len({to_bits(text, name) for text in letters}) == 3 for letters in alphabets(name))
    row = "fp8.sort" if name in FP8 else "tl.argmax"
    found = made(row, name)
    assert len(found) == len(alphabets(name)) >= 3
    for one, inputs in found:
        values = words(one, "x0")
        lines = {tuple(values[place:place + 8]) for place in range(0, len(values), 8)}
        assert len(lines) == one.sizes["rows"] == inputs == 3**8 and cases.valid(one)


def test_folds_of_two_operands_take_every_two_lines():
    one, inputs = made("tl.reduce.pair", "i32", "fp32")[0]
    assert inputs == one.sizes["rows"] == 3**8 and one.sizes["n0"] == one.sizes["n1"] == 4


def test_conversions_meet_every_pair_of_types_in_every_rounding_mode():
    found = list(thinned(calls(rows()["tl.cast"])))
    pairs = {(one.operands[0].dtype, one.stored[0]) for one in found}
    numbers = ("i1", *INTEGERS, *FLOATS)
    assert pairs >= {*product(numbers, repeat=2), *product(FLOATS, FP8), *product(FP8, FLOATS)}
    rounded = {(one.stored[0], one.options["rounding"]) for one in found if "rounding" in one.options}
    assert rounded == set(product(("bf16", "fp16"), ("rtne", "rtz")))


FORMS = ("pointwise", "operators", "conversions", "rounding", "words", "special", "narrow", "reductions", "scans",
         "ordering")
LEFT_TO_DRAWS = {"tl.clamp": "its bounds may be numbers, and of mixed kinds",
                 "tl.cdiv": "its second operand is a number or one of another kind"}


def test_every_row_that_computes_folds_or_sorts_is_swept():
    left = {row.name for row in rows().values() if row.topic in FORMS and not any(True for _ in calls(row, most=2000))}
    assert left == LEFT_TO_DRAWS.keys()


def test_calls_have_every_option_in_every_way():
    found = list(calls(rows()["tl.cast"]))
    assert {one.options["way"] for one in found} == {"to", "cast", "method"}
    assert {(one.operands[0].dtype, one.stored[0]) for one in found} >= {("i8", "fp16"), ("fp8e5", "bf16")}
    assert len({repr(one) for one in found}) == len(found)


def test_32_bits_of_one_operand_are_swept_by_kernels_or_by_chosen_patterns():
    alone = {row.name: row.name.rpartition(".")[2] for row in rows().values() if row.topic in ("pointwise", "operators")
             and any(len(one.operands) == 1 and info_of(one.operands[0].dtype).bits == 32 for one in calls(row))}
    alone["operator.invert"] = "bitwise_not_operator"
    assert len(alone) > 40 and not set(alone.values()) - SWEPT.keys()


def test_thinned_calls_keep_every_type_and_option():
    found = list(calls(rows()["tl.sum"]))
    kept = list(thinned(found))
    assert len(kept) < len(found) / 5
    for option in ("axis", "keep_dims", "dtype", "way"):
        assert {one.options.get(option) for one in kept} == {one.options.get(option) for one in found}
    types, kept_types = ({(one.operands[0].dtype, one.stored) for one in some} for some in (found, kept))
    assert types == kept_types


def test_gluon_is_swept_by_its_own_name_only():
    assert not any(row.gluon for row in Wish(patterns=("*sum*", "reductions")).rows())
    assert all(row.gluon for row in Wish(patterns=("gl.sum",)).rows())


def test_a_sweep_tells_what_deviates_and_counts_the_rest(tmp_path: Path):
    wish = Wish(patterns=("fp8.max",), width=1 << 12, length=4)
    with Pool(PoolOptions(backend="interpreter", spare=False)) as pool:
        right, _ = run([pool], Wish(patterns=("operator.invert",), width=1 << 12))
        wrong, interrupted = run([pool], wish, subject="own+fault:changed_value")
    assert {one.verdict for one in right} == {Verdict.AGREE} and sum(one.inputs for one in right) > 2 * (1 << 16)
    record = record_of(wrong, wish, backend="interpreter", seconds=1.0, environment={})
    assert not interrupted and len(record["deviations"]) == len(wrong) == len(list(planned(wish)))
    assert all(one["call"] and one["seen"] and not one["issues"] for one in record["deviations"]) and json.dumps(record)
