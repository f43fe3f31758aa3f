"""Whether a failing case owes it to its dtype that it fails, and settings that go with the dtype of an output."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.support.cases import addition, division
from tests.support.outcomes import outcome_of
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.dtypes import alone, class_of_dtype, with_setting


def asked(case: Case, fails: Callable[[str], bool], *, late: bool = False) -> str:
    """What `alone` says where `fails` is told the dtype of the first array."""
    def run(one: Case) -> Outcome:
        failed = fails(one.arrays[0].dtype)
        return outcome_of(one, Verdict.DISAGREE if failed else Verdict.AGREE)

    return alone(case, run, find(case.target).draw.valid, exhausted=lambda: late)


def sum_of(value: str, dtype: str) -> Case:
    content = Content(base=Explicit(values=(value,)))
    case = addition(rows=1, dtype=dtype)
    return replace(case, arrays=tuple(
        spec if spec.content is None else replace(spec, content=content) for spec in case.arrays))


@pytest.mark.parametrize("dtype, told", [
    ("bf16", "bf16"), ("i16", "narrow int"), ("u64", "wide int"), ("i32", "int"), ("fp32", "fp32")])
def test_the_only_class_of_dtypes_that_fails_is_told(dtype: str, told: str):
    value = "1" if dtype[0] in "iu" else "1.0"
    assert asked(sum_of(value, dtype), lambda name: class_of_dtype(name) == told) == told
    assert asked(sum_of(value, dtype), lambda name: True) == ""
    assert asked(sum_of(value, dtype), lambda name: name in (dtype, "i8", "fp64", "u32")) == ""


def test_nothing_is_told_that_was_not_asked():
    only = sum_of("1.0", "bf16")
    assert asked(only, lambda name: name == "bf16", late=True) == ""
    # No other dtype of the target has the value.
    assert asked(division((1 - 2**63,), (2,), dtype="i64"), lambda name: name == "i64") == ""


def test_an_output_whose_dtype_a_setting_names_goes_with_it():
    dims = ("rows", "cols")
    case = Case(target="helpers.bucketize_binary_search", sizes={"rows": 1, "cols": 1, "edges": 1},
                params={"form": "row", "right": False, "index_dtype": "i32"}, arrays=(
                    ArraySpec(name="values", dtype="i32", dims=dims, content=Content(base=Explicit(values=("0",)))),
                    "boundaries i32[rows,edges] = 0",
                    ArraySpec(name="out", dtype="i32", dims=dims)))
    target = find(case.target)
    assert target.draw.valid(case)
    made = with_setting(case, "index_dtype", "i64")
    assert [spec.dtype for spec in made.arrays] == ["i32", "i32", "i64"]
    assert target.draw.valid(made)
    # Another setting leaves the dtypes as they are.
    assert with_setting(case, "right", True).arrays == case.arrays
