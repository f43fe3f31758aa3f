"""What one fault comes to in several forms and dtypes, and that two faults come to two cases."""

from collections.abc import Callable

import pytest

from tests.support.cases import division, ramp, reduction
from tests.support.outcomes import outcome_of
from tridiff.fuzz.corpus.pattern import key_of
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Evidence, Explicit, Outcome, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.dtypes import plainer
from tridiff.fuzz.shrink.explicit import minimise
from tridiff.fuzz.shrink.slots import slots, value_at
from tridiff.fuzz.target import Limits

each = pytest.mark.parametrize
Gives = Callable[[list[float], Case], tuple[float, float]]
"""What is right and what comes out, of the values of a case."""


def small(case: Case, gives: Gives, *, kind: str = "") -> tuple[Case | None, str]:
    """The plainest relative of what is left of a case, and the key under which it is proposed. kind: of failures in any
    form but `blocks`."""
    target = find(case.target)

    def run(one: Case) -> Outcome:
        values = [float(value_at(one, slot)[0]) for slot in slots(one)]
        right, got = gives(values, one)
        said = None
        if right != got:
            shown = kind if kind and one.params["form"] != "blocks" else "inf" if "inf" in str(got) else "value"
            said = Signature(target=one.target, subject="own", kind=shown, where="out", about=target.judge.label(one),
                             verdict=Verdict.DISAGREE)
        return outcome_of(one, Verdict.DISAGREE if said else Verdict.AGREE, said,
                          evidence=Evidence(inputs={spec.name: spec.content.base.values for spec in one.arrays if
                              spec.content is not None and isinstance(spec.content.base, Explicit)}, expected={"numpy":
                              {"out": (f"{right:g}",)}}, actual={"out": (f"{got:g}",)}))

    first = run(case)
    found = minimise(case, first, target=target, run=run, inputs=lambda one: Evidence(), max_runs=300)
    assert found.outcome.signature == first.signature  # What is stored shows what was found.
    evidence = found.outcome.evidence
    assert found.outcome.signature is not None and evidence is not None
    key = key_of(found.outcome.signature, found.case, evidence)
    return evidence.plainest.case if evidence.plainest is not None else None, key


def least(values: list[float], case: Case) -> tuple[float, float]:
    """The smaller of two in place of the greater."""
    return max(values), min(values)


def with_padding(values: list[float], case: Case) -> tuple[float, float]:
    """The same, of lanes that are filled up to a power of two with what is less than anything."""
    lowest = float("-inf") if case.array("a").dtype.startswith("fp") else -128.0
    return max(values), min(values if len(values) in (1, 2, 4) else [*values, lowest])


def of_nan(values: list[float], case: Case) -> tuple[float, float]:
    """An infinity that is lost."""
    return (0, 1) if any(abs(one) == float("inf") for one in values) else (0, 0)


def maximum(*texts: str, dtype: str) -> Case:
    return reduction("helpers.max2", Explicit(values=texts), cols=len(texts), dtype=dtype)


@each("case", [
    maximum("0", "1", dtype="u8"), maximum("0", "-1", dtype="i64"), maximum("0.0", "-inf", dtype="fp16"),
    maximum("0.0", "0.0", "0.0", dtype="fp32")])
def test_one_fault_comes_to_one_case_in_every_dtype(case: Case):
    plain, key = small(maximum("0", "1", dtype="i32"), with_padding)
    assert plain is None
    found, of_other = small(case, with_padding)
    assert of_other == key
    assert found == maximum("0", "1", dtype="i32")


def test_what_needs_its_dtype_or_its_value_keeps_it():
    case = maximum("0.0", "inf", dtype="fp64")
    assert small(case, of_nan)[1] != small(case, least)[1]
    found, _ = small(case, of_nan)
    assert found is not None and {one.dtype for one in found.arrays} == {"fp32"}

    def of_half(values: list[float], case: Case) -> tuple[float, float]:
        return least(values, case) if case.arrays[0].dtype == "bf16" else (0, 0)

    assert small(maximum("0.0", "1.0", dtype="bf16"), of_half)[0] is None


def floored(values: list[float], case: Case) -> tuple[float, float]:
    return (0, -1) if values[0] * values[1] < 0 else (0, 0)


def of_sign(values: list[float], case: Case) -> tuple[float, float]:
    return (-1, 0) if values[0] > 0 > values[1] else (0, 0)


def test_an_access_astray_is_a_wrong_value_where_no_address_is_made_of_it():
    loaded = small(division((1,), (-1,)), of_sign)
    computed = small(ramp(start=1, divisor=-1), of_sign, kind="out_of_bounds")
    assert computed[1] == loaded[1]
    assert computed[0] is not None and computed[0].params == {"form": "blocks"}
    # Another fault of the same kernel, in either form.
    for case, kind in ((division((-1,), (2,)), ""), (ramp(start=-1, divisor=2), "out_of_bounds")):
        assert small(case, floored, kind=kind)[1] != loaded[1]


def test_what_goes_astray_in_one_form_alone_is_told_as_such():
    def of_ramps(values: list[float], case: Case) -> tuple[float, float]:
        return floored(values, case) if case.params["form"] != "blocks" else (0, 0)

    found, key = small(ramp(start=-1, divisor=2), of_ramps, kind="out_of_bounds")
    assert found is None
    assert key != small(division((-1,), (2,)), floored)[1]


@each("name", ["helpers.bucketize_binary_search", "triton.mod"])
def test_plainer_forms_are_cases_of_their_target(name: str):
    target = find(name)
    forms = set()
    for case in draw_cases(name, Limits(elements=32, rows=4), 30):
        for plain in target.shrink.forms(case):
            assert target.draw.valid(plain)
            forms.add((case.params["form"], plain.params["form"]))
    assert forms == {("sorter", "row"), ("copies", "row")} if "search" in name else {("ramp", "blocks"),
                                                                                     ("gather", "blocks")}


def test_plainer_dtypes_have_the_same_values_or_the_same_bits():
    case = division((1,), (2,), dtype="u8")
    assert list(plainer(case, ("i32", "u8"))) == [division((1,), (2,))]
    assert not list(plainer(division((2**40,), (1,), dtype="i64"), ("i32", "i64")))
    assert list(plainer(division((2**32 - 1,), (2**31,), dtype="u32"), ("i32", "u32"))) == [division((-1,), (-2**31,))]
    assert list(plainer(maximum("5e-324", dtype="fp64"), ("fp32", "fp64"))) == [maximum("1e-45", dtype="fp32")]
    # What goes with another array's dtype is none of those that may be asked for.
    assert not list(plainer(division((1,), (1,), dtype="u64"), ("i32",)))


def test_words_that_go_with_a_value_get_its_width():
    for name in ("helpers.pack_value_flag", "helpers.unpack_value", "helpers.unpack_flag"):
        target = find(name)
        for case in draw_cases(name, Limits(elements=4, rows=1), 10):
            assert target.draw.valid(case)
            plain = list(target.shrink.forms(case))
            assert all(map(target.draw.valid, plain))
            assert {one.params["value"] for one in plain} <= {"i16", "i32"}
            assert not any(target.draw.valid(one) for one in plainer(case, target.dtypes)
                           if one.array("out").dtype == case.array("out").dtype)
