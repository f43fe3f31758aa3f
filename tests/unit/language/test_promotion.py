"""The type that operands of mixed types are computed in (language.md §1)."""

import pytest

from tests.support.draws import draws
from tests.support.refusals import refused
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.promotion import of_argument, of_number, of_types, promoted, same_signedness
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize


def tensor(dtype: str) -> Operand:
    return Operand(dtype=dtype, shape=(4,))


def number(text: str) -> Operand:
    value = Operand(kind="number", dtype="i32", number=text).value
    return Operand(kind="number", dtype=of_number(value), number=text)


@each("first, second, computed", [
    ("i8", "i16", "i16"), ("i8", "u8", "u8"), ("i16", "u8", "i16"), ("i32", "u32", "u32"), ("i64", "u32", "i64"),
    ("i1", "i8", "i8"), ("i1", "u8", "u8"), ("fp16", "i64", "fp16"), ("bf16", "i8", "fp32"), ("bf16", "bf16", "bf16"),
    ("bf16", "fp16", "fp16"), ("fp32", "fp16", "fp32"), ("fp64", "u8", "fp64"), ("fp8e5", "fp8e4nv", "fp16"),
])
def test_of_two_tensors_in_either_order(first: str, second: str, computed: str):
    assert of_types(first, second) == of_types(second, first) == computed


def test_division_widens_halves():
    assert of_types("fp16", "fp16", division=True) == of_types("bf16", "i32", division=True) == "fp32"
    assert of_types("fp64", "fp16", division=True) == "fp64" and of_types("i8", "i8", division=True) == "i8"


@each("dtype, text, computed", [
    ("i8", "100", "i8"), ("i8", "0.5", "fp32"), ("fp16", "0.5", "fp16"), ("fp16", "3", "fp16"), ("i1", "1", "i32"),
    ("u64", "1", "u64"), ("i8", "1.0e-300", "fp64"), ("bf16", 'float("nan")', "bf16"), ("i32", "True", "i32"),
])
def test_a_number_takes_part_only_if_it_is_of_a_higher_kind(dtype: str, text: str, computed: str):
    assert promoted(tensor(dtype), number(text)) == promoted(number(text), tensor(dtype)) == computed


def test_numbers_have_the_first_type_that_holds_them():
    assert [of_number(one) for one in (True, -1, 2**31, 2**32, 2**63, -(2**31) - 1)] == [
        "i1", "i32", "u32", "i64", "u64", "i64"]
    assert [of_number(one) for one in (0.0, 1e-40, float("inf"), 1e300)] == ["fp32", "fp64", "fp32", "fp64"]
    with refused("fits no integer type"):
        of_number(2**64)


def test_what_is_passed_at_launch_takes_part_as_a_tensor():
    assert [of_argument(one) for one in (True, -1, 2**31, 2**32, 2**63, -(2**31) - 1, 1e300)] == [
        "i1", "i32", "i64", "i64", "u64", "i64", "fp32"]
    passed = Operand(kind="argument", dtype=of_argument(0.5), number="0.5")
    assert promoted(tensor("fp16"), passed) == promoted(passed, tensor("i64")) == "fp32"
    assert promoted(tensor("i8"), Operand(kind="argument", dtype=of_argument(2**31), number=str(2**31))) == "i64"


def test_operators_meet_arguments_of_every_width():
    found = {(one.dtype, one.number) for case in draws(find("language.operators").draw.cases(Limits()), 800, seed=1)
             for one in case.program.operands if one.kind == "argument"}
    assert {"i32", "i64", "u64", "fp32"} <= {kind for kind, _ in found}
    assert ("i64", str(2**31)) in found and ("i32", "1") not in found


def test_division_refuses_integers_of_unlike_signedness():
    assert not same_signedness(tensor("i8"), tensor("u8")) and not same_signedness(tensor("i1"), tensor("i32"))
    assert same_signedness(tensor("i8"), tensor("i64")) and same_signedness(tensor("u8"), tensor("fp32"))
    assert same_signedness(tensor("u8"), number("3"))


@each("version, bf16, bytes_", [
    ("3.6.0", "fp32", "i8"), ("3.7.1", "fp32", "i8"), ("3.8.0", "fp32", "i8"), ("3.9.0", "bf16", "i32"),
])
def test_extrema_and_scans_have_the_types_of_each_release(version: str, bf16: str, bytes_: str):
    def given(row: str, *operands: Operand, to: str) -> str:
        call = Call(row=row, operands=operands, stored=(to,), options={"axis": 0})
        return rows()[row].results(call, version)[0].dtype

    assert given("tl.minimum", tensor("bf16"), tensor("bf16"), to="bf16") == bf16
    assert given("tl.max.indices", tensor("bf16"), to="bf16") == bf16
    assert given("tl.cumprod", tensor("i8"), to="i32") == bytes_
    assert given("tl.cumsum", tensor("i8"), to="i32") == "i32"
