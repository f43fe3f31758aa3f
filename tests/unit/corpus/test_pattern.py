"""What is left of small failing cases: when two are proposed as one finding, and when not."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.repository import ENTRIES
from tridiff.fuzz.campaign.record import Counts, Summary
from tridiff.fuzz.cli.render import render_summary
from tridiff.fuzz.corpus.alike import contrary
from tridiff.fuzz.corpus.classes import class_of, relation
from tridiff.fuzz.corpus.pattern import _words, pattern_of, proposed
from tridiff.fuzz.records import Blame, Case, CorpusEntry, Evidence, Signature, Verdict
from tridiff.fuzz.records.blame import ALONE, BEHIND, DEPARTS, RAISED, Tried

each = pytest.mark.parametrize


@each("text, dtype, told", [
    ("-1", "i8", "-1"), ("1.0", "fp32", "1"), ("-128", "i8", "min"), ("4294967295", "u32", "max"), ("64", "i8", "2^k"),
    ("33554431", "u32", "large"), ("-0.0", "fp16", "-0"), ("1e-45", "fp32", "subnormal"), ("0.5", "fp64", "fraction"),
    ("nan:0x1", "fp32", "nan"), ("-inf", "fp32", "-inf"), ("1e+20", "fp32", "large")])
def test_classes_of_values(text: str, dtype: str, told: str):
    assert class_of(text, dtype) == told


def test_a_wrong_value_is_told_beside_the_right_one():
    assert relation("-1", "1", "i32") == "-1 > 1"
    assert relation("0.30000001", "0.3", "fp32") == "fraction inexact"
    assert relation("100", "101", "i32") == "large other"
    assert relation("0.25", "0.7501", "fp32") == "fraction > 0.75"


def entry() -> CorpusEntry:
    return ENTRIES.find("triton.negate/zero-sign-c65330b634")


def quotient() -> CorpusEntry:
    return ENTRIES.find("triton.floordiv/value-cd18b7a4b0")


def in_another_dtype(one: CorpusEntry) -> CorpusEntry:
    arrays = tuple(replace(spec, dtype="fp64") for spec in one.case.arrays)
    return replace(one, id="zero-sign-0000000000", case=replace(one.case, arrays=arrays))


def test_the_same_in_another_dtype_is_proposed_as_one():
    old = entry()
    new = in_another_dtype(old)
    assert proposed([new], [old]) == {new.id: f"triton.negate/{old.id}"}
    assert proposed([new], [new]) == {}
    # Of two new ones, the later with the earlier.
    assert proposed([old, new], []) == {new.id: f"triton.negate/{old.id}"}


def test_another_wrong_value_or_another_operand_is_another_finding():
    old = entry()
    new = in_another_dtype(old)
    pattern = key_of(old.signature, old.case, old.evidence)
    wrong = replace(new.evidence, actual={name: ("nan",) * len(one) for name, one in new.evidence.actual.items()})
    other = replace(new.evidence, inputs={name: ("inf",) * len(one) for name, one in new.evidence.inputs.items()})
    for evidence in (wrong, other):
        changed = replace(new, evidence=evidence)
        assert key_of(changed.signature, changed.case, changed.evidence) != pattern
        assert proposed([changed], [old]) == {}


def key_of(signature: Signature, case: Case, evidence: Evidence | None, reason: str = "",
           blame: tuple[Blame, ...] = ()) -> str:
    found = pattern_of(signature, case, evidence, reason, blame=blame)
    assert found is not None
    return found.key


def astray(reason: str) -> str:
    """The key of a failure in which no value is known to be wrong."""
    return key_of(replace(entry().signature, kind="out_of_bounds", where="memory"), entry().case, None, reason)


def test_accesses_that_went_astray_are_told_apart_by_what_they_are_and_where():
    said = "k.py:39 (kernel), program (0, 0, 0): out of bounds {} of 4 bytes at {}[{}], which has 1 elements; lane {}"
    store = astray(said.format("store", "out", 1, 1) + ", 1 such lanes")
    # Neither the line, nor how far behind, nor which of the later lanes.
    assert store == astray(said.replace("39", "12").format("store", "out", 7, 3) + ", 2 such lanes")
    others = [astray(said.format(*one)) for one in (
        ("load", "a", 1, 1), ("store", "out", -1, 1), ("store", "out", 1, 0))] + [
        astray("3 elements outside array out were written"), astray("a device assertion that must stop did not")]
    assert len({store, *others}) == 6


def test_what_was_never_written_is_one_pattern_in_every_dtype():
    def key(dtype: str, before: str, kind: str) -> str:
        one = entry()
        case = replace(one.case, arrays=tuple(replace(spec, dtype=dtype) for spec in one.case.arrays))
        return key_of(replace(one.signature, kind=kind), case, replace(one.evidence, actual={"out": (before,)}))

    assert key("fp32", "nan:0x400015", "unwritten") == key("fp16", "-0.05", "unwritten")
    assert key("fp32", "nan:0x400015", "nan_unexpected") != key("fp16", "-0.05", "value")


def test_all_bits_are_one_wrong_value_with_and_without_sign():
    assert relation("0", "255", "u8") == relation("0", "-1", "i8") == "0 > -1"
    assert relation("0", "127", "i8") == "0 > max"


def test_a_dtype_without_which_nothing_fails_is_part_of_the_pattern():
    old = entry()
    alone = replace(in_another_dtype(old), evidence=replace(old.evidence, alone="fp64"))
    assert proposed([alone], [old]) == {}
    assert proposed([in_another_dtype(old)], [old]) != {}


def test_findings_of_one_smallest_case_part_by_their_neighbours():
    """-1 // 2 is -1 where a quotient is floored, and where it is computed in 32 bits."""
    def with_neighbours(one: CorpusEntry, **said: str) -> CorpusEntry:
        return replace(one, evidence=replace(one.evidence, beside=said))

    old, new = entry(), in_another_dtype(entry())
    third = replace(new, id="zero-sign-1111111111")
    known = with_neighbours(old, a="", b="0 > 1")
    assert proposed([with_neighbours(new, a="")], [known]) == {new.id: f"triton.negate/{old.id}"}
    assert proposed([with_neighbours(new, a="0 > 1")], [known]) == {}
    # What one of a group says holds for all of it.
    assert set(proposed([with_neighbours(new, c="0 > 1"), with_neighbours(third, c="")], [known])) == {new.id}


@each("one, other, apart", [
    ("1 > other", "1 > -inf", False), ("1 > 0", "1 > other", False), ("0 > nan", "0 > inf", False),
    ("1 > 2", "", True), ("0 > 3", "0 > 1", True), ("out_of_bounds", "0 > 1", True), ("1 > 2", "1 > 2", False)])
def test_in_another_dtype_a_neighbour_may_give_another_number_and_not_be_right(
        one: str, other: str, apart: bool):
    """What is beyond a row is the smallest value of a dtype, -inf or 0: a maximum that is a minimum gives either."""
    assert contrary(one, ("i8",), other, ("fp16",)) == contrary(other, ("fp16",), one, ("i8",)) == apart
    assert contrary(one, ("i8",), other, ("i8",)) == (one != other)


def test_what_needs_a_setting_is_told_by_it_and_not_by_its_operands():
    one = quotient()
    other = replace(one.evidence, inputs={name: ("7",) * len(values) for name, values in one.evidence.inputs.items()})

    def key(case: Case, evidence: Evidence, **changes: object) -> str:
        return key_of(one.signature, replace(case, **changes), evidence)

    assert key(one.case, one.evidence) == key(one.case, other)
    # With strides not even what comes out counts.
    strided = tuple(replace(spec, layout=replace(spec.layout, step=2)) for spec in one.case.arrays)
    wrong = replace(other, actual={name: ("9",) * len(values) for name, values in one.evidence.actual.items()})
    assert key(one.case, one.evidence) != key(one.case, wrong)
    assert key(one.case, one.evidence, arrays=strided) == key(one.case, wrong, arrays=strided)

    def laid_out(**layout: object) -> str:
        return key(one.case, other, arrays=tuple(replace(spec, layout=replace(spec.layout, **layout))
                                                 for spec in one.case.arrays))

    # Whichever strides: those of a broadcast are none as well. Where an array begins is another matter.
    assert laid_out(step=2) == laid_out(broadcast=("rows",)) == laid_out(gap=3) != laid_out(offset=1)


@each("said, told", [({}, "block"), ({"block": ""}, "block"), ({"block": "0 > 1"}, ""),
                                            ({"a.0 = 1": ""}, "")])
def test_a_setting_is_told_where_the_simplest_one_is_right(said: dict[str, str], told: str):
    """Of a case whose neighbours were not asked for, every setting counts."""
    one = quotient()
    found = pattern_of(one.signature, one.case, replace(one.evidence, beside=said))
    assert found is not None and " ".join(name for name in found.settings if name.startswith("block")) == told


def test_comparisons_are_one_part_and_masks_and_bitcasts_are_told():
    said = {"nodes": [{"type": "load", "mask": 0}, {"type": "load", "mask": None}, {"type": "op", "op": "ge"},
                      {"type": "op", "op": "lt"},
                      {"type": "cast", "bitcast": True}, {"type": "cast", "bitcast": False}]}
    assert sorted(_words(said)) == ["bitcast", "cast", "cast", "compare", "compare", "load", "load", "mask"]


def test_where_a_drawn_program_stores_does_not_depend_on_its_operations():
    drawn = [one for one in ENTRIES.entries() if isinstance(one, CorpusEntry) and one.case.target == "codegen.indexing"]
    first = drawn[0]
    signature = replace(first.signature, verdict=Verdict.DISAGREE, kind="out_of_bounds", where="memory")
    said = "k.py:3 (kernel), program (0, 0, 0): out of bounds store of 4 bytes at out{}[1], which has 1 element; lane 0"
    keys = {pattern_of(signature, one.case, None, said.format(number)).key for number, one in enumerate(drawn)}
    assert len(keys) == 1
    assert pattern_of(signature, first.case, None, said.format(0).replace("store", "load")).key not in keys


def test_what_one_pass_does_to_one_operation_is_one_finding_in_every_target():
    def blamed(one: CorpusEntry, name: str, step: str = "make_ttir add_cse", operation: str = " at > arith.subi",
               ) -> CorpusEntry:
        tried = Tried(change=f"evaluated IR behind {step}", effect="same", said=f"disagree{operation}")
        found = Blame(stage="ttir", step=step, confidence="seen", triton="3.9.0", backend="evaluated:sm_90",
                      vector=(tried,))
        return replace(one, id=name, blame=(found,))

    other = quotient()
    old = blamed(entry(), "value-0")
    new = [blamed(other, "value-1"), blamed(other, "value-2", step="make_ttir add_combine"),
           blamed(other, "value-3", operation=" at > arith.select"), blamed(other, "value-4", operation="")]
    assert proposed(new, [old]) == {"value-1": "triton.negate/value-0"}


def test_a_pass_that_exchanges_operands_is_one_finding_whatever_the_operation():
    def key(operation: str) -> str:
        tried = Tried(change="evaluated IR behind make_ttir add_cse", effect="same", said=f"disagree at {operation}")
        blame = Blame(stage="ttir", step="make_ttir add_cse", confidence="seen", triton="3.9.0",
                      backend="evaluated:sm_90", vector=(tried,))
        one = entry()
        return key_of(one.signature, one.case, one.evidence, blame=(blame,))

    exchanged = key("arith.subi > arith.subi")
    assert exchanged == key("arith.divsi > arith.divsi")
    # Another operation, and the operands of one that has three.
    assert exchanged not in (key("arith.subi > arith.addi"), key("arith.select > arith.select"))


def test_one_message_is_one_finding_in_every_target():
    def said(one: CorpusEntry, name: str, kind: str, subject: str = "own") -> CorpusEntry:
        told = replace(one.signature, verdict=Verdict.CRASH, kind=kind, subject=subject)
        return replace(one, id=name, signature=told)

    other = quotient()
    old = said(entry(), "a", "ValueError: no conversion of ['x_ptr', 'y'] to <class 'int'> and fp16")
    new = [said(other, "c", old.signature.kind, "inductor"), said(other, "d", "at N:N:"), said(other, "e", "at N:N:"),
           said(other, "f", "ValueError: no conversion of [] to fp16")]
    assert proposed(new, [old]) == {}
    same = said(other, "g", "InterpreterError: no conversion of ['z'] to <class 'list'> and i8")
    assert proposed([same], [old]) == {"g": "triton.negate/a"}
    typed = [said(other, name, f"'arith.cmpf' op must be float-like, but got '{one}'") for name, one in (
        ("h", "i64"), ("i", "tensor<2x4xi64>"))]
    assert proposed(typed, []) == {"i": "triton.floordiv/h"}


def test_errors_behind_which_one_function_is_are_one_finding_whatever_they_say():
    def failing(one: CorpusEntry, name: str, kind: str, behind: str = "", about: str = "") -> CorpusEntry:
        told = replace(one.signature, verdict=Verdict.CRASH, kind=kind, about=about)
        evidence = (f"{BEHIND}language/semantic.py {behind}",) if behind else ()
        blame = Blame(stage="front-end", confidence="seen", triton="3.9.0", backend="compile:sm_90", evidence=evidence)
        # Targets have other neighbours each.
        beside = replace(one.evidence, beside={"a.0 = 1": name})
        return replace(one, id=name, signature=told, evidence=beside, blame=(blame,))

    said = "AttributeError: 'value' object has no attribute 'is_block'"
    other = quotient()
    old = failing(entry(), "a", said, "TritonSemantic.minus", "neg")
    same = [failing(other, "b", said, "TritonSemantic.minus", "sigmoid"),
            failing(other, "c", "ValueError: no handle of fp16", "TritonSemantic.minus", "neg")]
    assert proposed(same, [old]) == dict.fromkeys(("b", "c"), "triton.negate/a")
    # The same words of the same row, and another function; nobody knows which; one subject's is not another's.
    apart = [failing(entry(), "d", said, "TritonSemantic.sub", "neg"), failing(entry(), "e", said, "", "neg")]
    assert proposed(apart, [old]) == {}
    inductor = replace(old, id="f", signature=replace(old.signature, subject="inductor"))
    assert proposed([inductor], [old]) == {}


def test_a_check_that_nobody_else_is_behind_is_one_finding_whoever_comes_to_it():
    """As long as every failure names another caller, each may be wrong itself."""
    def failing(name: str, behind: str, said: str = "ValueError: range N is no power of N", *more: str) -> CorpusEntry:
        evidence = (f"{RAISED}semantic.py arange", f"{BEHIND}{behind}" if behind else ALONE, *more)
        blame = Blame(triton="3.9.0", backend="interpreter", evidence=evidence)
        told = replace(entry().signature, verdict=Verdict.CRASH, kind=said)
        return replace(entry(), id=name, signature=told, blame=(blame,))

    callers = [failing("a", "core.py arange"), failing("b", "core.py zip", "range N is no power of N")]
    assert proposed(callers, []) == {}
    for behind in ("", "semantic.py arange"):
        assert proposed([*callers, failing("c", behind)], []) == dict.fromkeys(("b", "c"), "triton.negate/a")
    # Other words, a right build's word, what Python says of any slip.
    slip = "AttributeError: 'int' object has no attribute 'dtype'"
    for other in (failing("d", "core.py other", "ValueError: an end before the start"),
                  failing("e", "core.py other", "ValueError: range N is no power of N", f"{DEPARTS}core.py other")):
        assert proposed([other], [failing("c", "")]) == {}
    assert proposed([failing("f", "core.py other", slip)], [failing("g", "", slip)]) == {}


def test_what_departs_in_one_function_is_one_finding_whatever_it_shows_as():
    """A wrong value, and an error whose stack names another function: a right build says more than a stack."""
    def failing(one: CorpusEntry, name: str, *evidence: str, verdict: Verdict = Verdict.DISAGREE) -> CorpusEntry:
        blame = Blame(triton="3.9.0", backend="compile:sm_90", evidence=evidence)
        return replace(one, id=name, signature=replace(one.signature, verdict=verdict), blame=(blame,))

    other = quotient()
    function, caller = "language/core.py _unwrap_iterable", "language/core.py reshape"
    old = failing(entry(), "a", f"{DEPARTS}{function}")
    same = [failing(other, "b", f"{DEPARTS}{function}", f"{BEHIND}{caller}", verdict=Verdict.CRASH),
            failing(other, "c", f"{BEHIND}{function}", verdict=Verdict.CRASH)]
    assert proposed(same, [old]) == dict.fromkeys(("b", "c"), "triton.negate/a")
    apart = [failing(entry(), "d", f"{DEPARTS}{caller}"),
             failing(other, "e", f"{BEHIND}{caller}", verdict=Verdict.CRASH)]
    assert proposed(apart, [old]) == {"e": "triton.negate/d"}


def test_an_operation_of_the_front_end_is_one_finding_in_every_target():
    def departing(one: CorpusEntry, name: str, operation: str) -> CorpusEntry:
        tried = tuple(Tried(change="evaluated IR behind front-end", effect="same", said=said)
                      for said in ("disagree", f"disagree at {operation}"))
        blame = Blame(stage="front-end", confidence="seen", triton="3.9.0", backend="evaluated:sm_90", vector=tried)
        return replace(one, id=name, blame=(blame,))

    other = quotient()
    old = departing(entry(), "a", "arith.addi > arith.subi")
    assert proposed([departing(other, "b", "arith.addi > arith.subi")], [old]) == {"b": "triton.negate/a"}
    assert proposed([departing(entry(), "c", "arith.ori > arith.andi")], [old]) == {}


@each("baseline, said", [("", "apart without a right build"), ("3.8.0", "apart beside 3.8.0")])
def test_a_campaign_says_whether_a_right_build_told_its_findings_apart(
        baseline: str, said: str, capsys: pytest.CaptureFixture[str]):
    summary = Summary(id="x", options=campaign_options(baseline=baseline), environments=(), by_target=(),
                      counts=Counts(executed=3))
    render_summary(summary, [entry()], Path())
    assert "told apart" not in capsys.readouterr().out, "of one finding nothing is told apart"
    render_summary(summary, [entry(), entry()], Path())
    assert said in capsys.readouterr().out
