"""What a person sees of a finding."""

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.outcomes import outcome_of
from tests.unit.corpus.entries import division_case, expect, rich_entry
from tests.unit.repro.findings import case, output, values
from tridiff.fuzz.records import Case, Environment, Evidence, LaunchOptions, Signature, Verdict
from tridiff.fuzz.repro.describe import describe, describe_evidence, differs, first_wrong
from tridiff.fuzz.repro.rerun import Rerun
from tridiff.oracles.rules import ABS, BIT, NUM, NUM0, ULP, Rule


def rerun_of(case: Case, evidence: Evidence) -> Rerun:
    signature = Signature(target=case.target, subject="own", verdict=Verdict.DISAGREE, kind="value", where="out")
    outcome = outcome_of(case, Verdict.DISAGREE, signature, backend="cuda", evidence=evidence,
                         reason="1 of 1 rows of out are wrong (value)")
    return Rerun(case=case, subject="own", backend="cuda", outcome=outcome,
                 environment=Environment(triton="3.9.0", torch="2.13.0", device="NVIDIA H200"),
                 expected=expect(verdict=Verdict.AGREE))


def test_a_run_is_described_from_verdict_to_the_wrong_element():
    one = division_case(("-7", "-1", "4"), ("2", "2", "-3"))
    evidence = Evidence(inputs={"a": ("-7", "-1", "4"), "b": ("2", "2", "-3")}, actual={"out": ("-4", "0", "-2")},
                        expected={"torch": {"out": ("-4", "-1", "-2")}, "numpy": {"out": ("-4", "-1", "-2")}})
    assert describe(rerun_of(one, evidence)) == f"""\
helpers.div_floor_integer · own · cuda: disagree (value in out)
  1 of 1 rows of out are wrong (value)
  expected here: agree
  Triton 3.9.0, torch 2.13.0, device NVIDIA H200

case {one.digest}
  sizes    rows=1 cols=3
  params   form=blocks
  options  num_warps=4 num_stages=3
  a    i32[rows=1, cols=3]  values -7 -1 4
  b    i32[rows=1, cols=3]  values 2 2 -3
  out  i32[rows=1, cols=3]  output

row 0 of 1
  a                  -7 -1  4
  b                   2  2 -3
  out torch expects  -4 -1 -2
  out numpy expects  -4 -1 -2
  out actual         -4  0 -2
                         ^ element 1 is the first wrong one
"""


def test_layouts_terms_options_and_variants_are_named():
    one = msgspec.structs.replace(rich_entry().case, options=LaunchOptions(num_warps=8, debug=True),
                                  variants=(LaunchOptions(num_stages=1),))
    text = describe(rerun_of(one, Evidence()))
    assert "  options  num_warps=8 num_stages=3 debug=True\n" in text
    assert "  variant  num_warps=4 num_stages=1\n" in text
    assert "  repeats  2\n" in text
    assert "i32[rows=3, cols=5] (broadcast=(rows,), offset=3)  iota start=-4" in text
    assert "out    i32[rows=3, cols=5] (order=(1, 0), gap=5)  output\n" in text
    assert "extra  fp32[]  constant value=nan:0x1\n" in text
    assert "mixture seed=7" in text and "put value=-3 column=1" in text and "tie source=0 to=2" in text
    assert text.rstrip().endswith("value=nan:0x1"), "without evidence nothing follows the case"


def test_long_rows_are_cut_around_the_first_wrong_element():
    one = division_case(tuple(map(str, range(100))), ("2",) * 100)
    good = tuple(str(k // 2) for k in range(100))
    bad = (*good[:40], "77", *good[41:])
    lines = describe_evidence(one, Evidence(inputs={"a": tuple(map(str, range(100)))}, actual={"out": bad},
                                            expected={"numpy": {"out": good}}))
    assert lines[1].split()[:3] == ["a", "34", "35"] and lines[1].endswith("(elements 34..49 of 100)")
    mark = lines.index(next(line for line in lines if "^" in line))
    assert lines[mark - 1][: lines[mark].index("^") + 1].endswith("77")
    assert lines[mark].endswith("element 40 is the first wrong one")


def test_of_whole_arrays_the_failing_row_is_shown():
    one = case("helpers.max2", {"rows": 3, "cols": 2}, values("a", "i32", *"123456"),
               output("out", "i32", dims=("rows",)), axis=1)
    evidence = Evidence(row=1, whole=True, inputs={"a": tuple("123456")}, actual={"out": ("2", "3", "6")},
                        expected={"numpy": {"out": ("2", "4", "6")}})
    assert [line.split() for line in describe_evidence(one, evidence)] == [
        ["row", "1", "of", "3"], ["a", "3", "4"], ["out", "numpy", "expects", "4"], ["out", "actual", "3"],
        ["^", "element", "0", "is", "the", "first", "wrong", "one"]]


def test_a_dead_worker_leaves_its_last_words():
    log = "\n".join(f"line {k}" for k in range(50)) + "\n\x1b[31mSegmentation fault"
    lines = describe_evidence(division_case(), Evidence(log=log))
    assert lines[0] == "end of the worker's log" and len(lines) == 21
    assert lines[-1] == r"  \x1b[31mSegmentation fault"


def test_the_first_wrong_element_contradicts_every_oracle_that_lists_it():
    one = division_case(("1", "2"), ("1", "1"))

    def wrong(**expected: tuple[str, ...]) -> tuple[str, int] | None:
        evidence = Evidence(actual={"out": ("1", "3")}, expected={name: {"out": v} for name, v in expected.items()})
        return first_wrong(one, evidence)

    assert wrong(torch=("1", "2"), numpy=("1", "2")) == ("out", 1)
    assert wrong(torch=("1", "2"), numpy=("1", "3")) is None, "the oracles contradict each other"
    assert wrong(torch=("1", "2"), numpy=()) == ("out", 1), "an oracle that lists nothing says nothing"
    assert wrong() is None


def test_elements_of_which_nothing_is_expected_are_not_marked():
    """Of an output that no signature names, and of the one it names before the row that was judged wrong."""
    one = case("triton.floordiv", {"n": 3}, output("out0", "i32", dims=("n",)), output("out1", "i32", dims=("n",)))
    evidence = Evidence(row=2, whole=True, actual={"out0": ("9", "9", "9"), "out1": ("9", "1", "7")},
                        expected={"numpy": {"out0": ("0", "0", "0"), "out1": ("0", "1", "2")}})
    assert first_wrong(one, evidence, "out1") == ("out1", 2)
    assert first_wrong(one, evidence) == ("out0", 2)
    assert describe_evidence(one, evidence, "out1")[-1].endswith("element 2 is the first wrong one")
    too_long_to_list_its_inputs = replace(evidence, whole=False)
    assert first_wrong(one, too_long_to_list_its_inputs, "out1") == ("out1", 2)


@pytest.mark.parametrize("actual, expected, dtype, rule, wrong", [
    ("1", "1", "i32", BIT, False), ("1", "2", "i32", BIT, True), ("-1", "255", "u8", BIT, False),
    ("nan", "nan:0x1", "fp32", BIT, True), ("nan", "-nan:0x1", "fp32", NUM, False), ("nan", "1.0", "fp32", NUM, True),
    ("0.0", "-0.0", "fp32", NUM, True), ("0.0", "-0.0", "fp32", NUM0, False), ("inf", "-inf", "fp32", NUM0, True),
    ("inf", "1e38", "fp32", ABS(1e39, origin="test"), True), ("1.0", "1.5", "fp32", ABS(0.5, origin="test"), False),
    ("1.0", "1.0000001192092896", "fp32", ULP(1, origin="test"), False),
    ("1.0", "1.000001", "fp32", ULP(1, origin="test"), True),
])
def test_values_as_text_are_held_against_the_rule(
    actual: str, expected: str, dtype: str, rule: Rule, wrong: bool
):
    assert differs(actual, expected, dtype, rule) is wrong
