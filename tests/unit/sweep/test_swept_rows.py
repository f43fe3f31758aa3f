"""Sweeps over the rows of the language: which calls and inputs are enumerated."""

from itertools import product

import pytest

from tridiff.fuzz.content.text import to_bits
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.every import calls, case_of
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.records import Case, Explicit


def case(name: str, dtype: str) -> Case:
    row = rows()[name]
    call = next(one for one in calls(row) if one.operands[0].dtype == dtype)
    return case_of(f"language.{row.topic}", call, row)


def words(one: Case, name: str) -> list[int]:
    spec = one.array(name)
    assert spec.content is not None and isinstance(spec.content.base, Explicit)
    return [to_bits(text, spec.dtype) for text in spec.content.base.values]


@pytest.mark.parametrize(("name", "dtype", "bits"), [
    ("tl.abs", "i8", 8), ("tl.abs", "bf16", 16), ("tl.cast", "fp8e5", 8)])
def test_one_operand_takes_every_pattern_once(name: str, dtype: str, bits: int) -> None:
    one = case(name, dtype)
    assert sorted(words(one, "x0")) == list(range(1 << bits)) and cases.valid(one)


def test_two_operands_take_every_pair_once() -> None:
    one = case("operator.and", "i8")
    assert set(zip(words(one, "x0"), words(one, "x1"), strict=True)) == set(product(range(256), repeat=2))
    assert cases.valid(one)


def test_what_folds_takes_every_line_over_three_values() -> None:
    one = case("tl.argmax", "fp16")
    found = words(one, "x0")
    lines = {tuple(found[place:place + 8]) for place in range(0, len(found), 8)}
    assert len(lines) == one.sizes["rows"] == 3**8 and cases.valid(one)


def test_calls_have_every_option_in_every_way() -> None:
    found = list(calls(rows()["tl.cast"]))
    assert {one.options["way"] for one in found} == {"to", "cast", "method"}
    assert {(one.operands[0].dtype, one.stored[0]) for one in found} >= {("i8", "fp16"), ("fp8e5", "bf16")}
    assert len({repr(one) for one in found}) == len(found)


def test_operands_of_more_bits_are_left_out() -> None:
    assert not [one for one in calls(rows()["operator.add"]) if one.operands[0].dtype == "i32"]
