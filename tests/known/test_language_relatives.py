"""Changes of calls: what the control of a known issue runs."""

import numpy as np
import pytest
from msgspec.structs import replace

from tests.known.relatives import is_told_by_its_control, relative_of
from tests.known.test_issues import entry
from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution, KnownIssue
from tridiff.fuzz.known.language import ISSUES
from tridiff.fuzz.known.products import ISSUES as PRODUCTS
from tridiff.fuzz.known.statements import ISSUES as STATEMENTS
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Content, Explicit, Mixture, Outcome, Small, Verdict
from tridiff.fuzz.records.case import Case
from tridiff.fuzz.records.content import Put
from tridiff.fuzz.records.outcome import ALL_OPEN
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements import cases as cases_of_statements
from tridiff.fuzz.statements.answers import numpy_answer
from tridiff.fuzz.statements.draft import literal, node, variable
from tridiff.kernels.language.call import Call, Operand, OperandKind, Result
from tridiff.kernels.language.script import Node, Script


def named(name: str) -> KnownIssue:
    return next(one for one in (*ISSUES, *PRODUCTS, *STATEMENTS) if one.name == name)


def test_an_operand_that_was_a_number_has_contents_in_the_relative():
    known = named("gluon-atomics-of-scalars")
    memory = Operand(dtype="i32", shape=(8,))
    call = Call(row="gl.atomic_add", operands=(memory, Operand(kind="number", dtype="i32", number="3")),
                options={"layout": 0}, stored=("i32", "i32"))
    case = calling(call, {"x0": Content(base=Mixture())})
    assert find(case.target).draw.valid(case)
    relative = relative_of(known, case)
    assert relative.array("x1").content == Content(base=Mixture())


def test_a_relative_of_integers_holds_no_nan():
    known = named("interpreter-exchanges-no-floats")
    case = entry(known.entries[0]).case
    first = case.arrays[0]
    case = replace(case, arrays=(replace(first, content=Content(base=Small(low=-4, high=4), overrides=(
        Put(value="nan"), Put(value="3", column=1)))), *case.arrays[1:]))
    assert known.relative is not None
    relative = known.relative(case)
    assert relative is not None
    assert relative.array(first.name).content == Content(
        base=Small(low=-4, high=4), overrides=(Put(value="3", column=1),))


def test_calls_of_unnamed_parameters_have_a_relative_with_names_and_calls_by_name_are_not_known():
    known = named("positional-only-parameters-are-dropped")
    case = entry(known.entries[0]).case
    relative_of(known, case)
    signature = entry(known.entries[0]).signature
    assert known.tells(signature)
    assert not any(known.tells(replace(signature, kind=kind)) for kind in ("b is not defined", "TypeError: of a call"))

    def of_a_truth_value(one: Node) -> Node:
        """Without its second argument, which is 3 then: the result is of i32, where i1 - i1 is of i1."""
        if one.row != "idiom":
            return one
        positive = node("compare", one.parts[0], literal(0), op=">")
        return replace(one, words=one.words | {"name": "positional_only_default"}, parts=(positive,))

    shorter = cases_of_statements.rewritten(case, of_a_truth_value)
    assert shorter is not None and find(case.target).draw.valid(shorter)
    relative_of(known, shorter)


def test_a_pointer_moved_forward_is_known_by_whatever_lies_there_and_not_where_a_wide_offset_fails_as_well():
    known = named("pointer-minus-unsigned-offset")
    found = entry(known.entries[0])
    outcome = outcome_of(found.case, Verdict.CRASH, found.signature, backend="cuda")
    right = replace(outcome, verdict=Verdict.AGREE, signature=None)
    ends = {"illegal_address": (known.name,), "wrong_address_space": (known.name,), "illegal_instruction": (),
            "CUDA error: unknown error": ()}
    for kind, issues in ends.items():
        failure = replace(outcome, signature=replace(found.signature, verdict=Verdict.CRASH, kind=kind))
        assert Attribution(lambda one: right).issues(found.case, failure) == issues
        assert Attribution(lambda one, failure=failure: failure).issues(found.case, failure) == ()


def controlled(name: str, verdict: Verdict = Verdict.CRASH) -> tuple[KnownIssue, Case, Outcome, Outcome]:
    """An issue of the interpreter, the case of its first entry, how that fails, and an outcome that agrees: the
    relative lacks the pattern, and the failure is the issue's where the control agrees and there alone."""
    known = named(name)
    case, signature = entry(known.entries[0]).case, entry(known.entries[0]).signature
    assert known.tells(signature)
    relative_of(known, case)
    failure = outcome_of(case, verdict, signature)
    right = is_told_by_its_control(known.name, case, failure)
    return known, case, failure, right


def is_told_whatever_its_control_gives(known: KnownIssue, case: Case, failure: Outcome, right: Outcome) -> None:
    is_open = replace(right, verdict=Verdict.NOT_CHECKED, reason=ALL_OPEN)
    for control, names in ((right, (known.name,)), (is_open, (known.name,)), (failure, ())):
        assert Attribution(lambda one, control=control: control).issues(case, failure) == names


def test_a_choice_of_numbers_is_known_where_its_control_agrees_and_choices_of_tensors_are_not():
    _, case, failure, right = controlled("interpreter-choices-are-numbers")
    assert failure.signature is not None
    hung = replace(failure, signature=replace(failure.signature, kind="launch", verdict=Verdict.HANG))
    assert Attribution(lambda one: right).issues(case, hung) == ()


def test_a_loop_that_asks_its_variable_for_a_method_is_known_and_its_control_gives_the_same_value():
    known = named("interpreter-loop-variables-are-numbers")
    script = Script(operands=(Operand(kind="scalar", dtype="u8"),), body=(
        node("idiom", variable("x0"), name="range_of_numbers", names="v0 s1 i2"),), stored=("v0",), results=(
            Result(dtype="u8"),))
    case = Case(target="language.statements", sizes=cases_of_statements.sizes_of(script, 1), program=script,
                arrays=cases_of_statements.arrays_of(script, {"x0": Content(base=Explicit(values=("251",)))}))
    assert find(case.target).draw.valid(case)
    relative = relative_of(known, case)
    # 251 + 5 + 2 - 1 wraps
    assert [numpy_answer(one, np.array([251], np.uint8))[0].tolist() for one in (case, relative)] == [[1], [1]]


def test_a_number_that_a_walrus_names_is_known_and_a_tensor_that_it_names_is_not():
    known, case, failure, _ = controlled("interpreter-walrus-names-numbers")
    assert Attribution(lambda one: failure).issues(case, replace(failure, backend="cuda")) == ()
    named = cases_of_statements.rewritten(case, lambda one: replace(
        one, row="name", words={"name": "x0"}) if one.row == "number" else one)
    assert named is not None and not known.match(named)


def test_comparisons_of_scalars_beside_blocks_are_known_where_choices_in_their_place_run_whatever_they_give():
    known = named("interpreter-comparisons-of-floats-are-floats")
    case, signature = entry(known.entries[0]).case, entry(known.entries[0]).signature
    relative = relative_of(known, case)
    failure = outcome_of(case, Verdict.CRASH, signature)
    right = replace(failure, verdict=Verdict.AGREE, signature=None)
    is_told_whatever_its_control_gives(known, case, failure, right)
    other = replace(failure, signature=replace(signature, kind="OverflowError: of an integer"))
    assert Attribution(lambda one: right).issues(case, other) == ()
    chain = cases_of_statements.rewritten(case, lambda one: replace(
        one, words={"op": "== <"}, parts=(*one.parts, one.parts[1])) if one.row == "compare" else one)
    if chain is not None and find(case.target).draw.valid(chain):  # a form of Triton 3.9.0
        relative = relative_of(known, chain)
        assert not any(len(one.parts) > 2 for one in cases_of_statements.every(relative) if one.row == "compare")


def test_a_block_that_python_asks_for_a_truth_value_is_known_where_its_extremum_runs_whatever_it_gives():
    known, case, failure, right = controlled("interpreter-min-and-max-are-pythons", Verdict.CRASH)
    is_told_whatever_its_control_gives(known, case, failure, right)


def test_a_loop_that_never_ends_is_known_where_it_ends_without_the_wrapped_condition():
    _, case, failure, right = controlled("interpreter-conditions-are-true", Verdict.HANG)
    assert failure.signature is not None
    crashed = replace(failure, verdict=Verdict.CRASH, signature=replace(
        failure.signature, verdict=Verdict.CRASH, kind="SIGSEGV"))
    assert Attribution(lambda one: right).issues(case, crashed) == ()


def test_a_loop_whose_variable_wraps_is_known_by_its_bounds_though_it_never_ends():
    known = named("unsigned-bounds-are-negative")
    case = entry("language.statements/value-843ef4b6ee").case
    hung = outcome_of(case, Verdict.HANG, wrong_in(case, "", kind="launch"), backend="cuda")
    hung = replace(hung, signature=replace(hung.signature, verdict=Verdict.HANG))
    right = replace(hung, verdict=Verdict.AGREE, signature=None)
    assert Attribution(lambda one: right).issues(case, hung) == (known.name,)
    assert Attribution(lambda one: hung).issues(case, hung) == ()


def test_a_control_of_sorting_is_judged_because_it_holds_no_nan_in_narrow_types_too():
    known = named("tensor-sort-does-nothing")
    for name in ("bf16", "fp32"):
        call = Call(row="tensor.sort", operands=(Operand(dtype=name, shape=(4, 8)),), stored=(name,))
        case = calling(call, {"x0": Content(base=Small(), overrides=(Put(value="nan"),))}, programs=2)
        assert known.match(case) and known.relative is not None
        relative = known.relative(case)
        assert relative is not None and relative.array("x0").content == Content(base=Small(low=-4, high=4))
        assert relative.array("x0").dtype == "fp32" and cases.call_of(relative).row == "tl.sort"


def _flip(name: str, *shape: int, **options: int) -> Case:
    call = Call(row="tl.flip", operands=(Operand(dtype=name, shape=shape),), options=dict(options),
                stored=(name,))
    return calling(call, {"x0": Content(base=Mixture())})


def test_the_two_defects_of_flips_are_told_by_their_errors_and_their_relatives_have_an_axis_and_two_elements():
    one, no_axis = map(named, ("flip-of-one-element", "flip-without-an-axis"))
    assert one.match(_flip("i8", 1, dim=0)) and not one.match(_flip("i8", 1, 1, dim=0))
    assert no_axis.match(_flip("i1", 1, 2, 1, 1)) and not no_axis.match(_flip("i1", 2, dim=0))
    numel = "'dtype' object has no attribute 'numel'"
    none = "'<=' not supported between instances of 'int' and 'NoneType'"
    signature = entry(one.entries[0]).signature
    for issue, own, other in ((one, numel, none), (no_axis, none, numel)):
        assert issue.tells(replace(signature, kind=own)) and not issue.tells(replace(signature, kind=other))
    assert one.relative is not None and no_axis.relative is not None
    for case, shape, axis in ((_flip("i1", 1), (2,), 0), (_flip("i1", 1, 2, 1, 1), (1, 2, 1, 1), 3)):
        relative = no_axis.relative(case)
        assert relative is not None and find(case.target).draw.valid(relative)
        call = cases.call_of(relative)
        assert (call.operands[0].shape, call.operands[0].dtype, call.options["dim"]) == (shape, "i1", axis)


def test_conversions_without_a_lowering_are_known_in_gluon_and_for_amd_and_conversions_to_halves_are_not():
    known = named("casts-between-8-bit-floats-and-fp64")
    found = entry("language.gluon/unsupported-rounding-mod-8f80b535b5")
    relative_of(known, found.case)
    said = {"Unsupported conversion from 'f64' to 'f8E5M2' with rounding mode rtne": True,
            "Unsupported conversion of a layout": False, "operand #N does not dominate this use": False}
    assert {kind: known.tells(replace(found.signature, kind=kind)) for kind in said} == said


def test_a_fold_of_all_axes_by_a_function_has_a_control_that_folds_them_and_keeps_none():
    known = named("interpreter-forgets-kept-axes")
    case = entry(known.entries[0]).case
    relative = relative_of(known, case)
    assert cases.call_of(relative).options == {"axis": "None", "function": "_product", "way": "function"}


def _scaled(**options: bool | str) -> Case:
    """A product of 32 x 64 with 64 x 32, scaled as the options say, whose operands of fp4 are packed as they say."""
    operands = []
    for side, shape, along in (("lhs", (32, 64), 1), ("rhs", (64, 32), 0)):
        fp4 = options[side] == "e2m1"
        packed = along if options.get(f"{side}_k_pack", True) else 1 - along
        held = tuple(extent // 2 if fp4 and axis == packed else extent for axis, extent in enumerate(shape))
        operands.append(Operand(dtype="u8" if fp4 else "bf16", shape=held))
        if options.get(f"{side}_scale"):
            operands.append(Operand(dtype="u8", shape=(32, 2)))
    call = Call(row="tl.dot_scaled", operands=tuple(operands), options=dict(options), stored=("fp32",))
    return calling(call, {f"x{number}": Content() for number in range(len(operands))})


def test_fp4_packed_along_m_or_n_is_known_and_its_control_is_packed_along_k():
    known = named("fp4-packed-along-n")
    for otherwise in ({"lhs_k_pack": False}, {"rhs_k_pack": False}, {"lhs_k_pack": False, "rhs_k_pack": False}):
        for scales in ({}, {"lhs_scale": True}, {"rhs_scale": True}, {"lhs_scale": True, "rhs_scale": True}):
            case = _scaled(lhs="e2m1", rhs="e2m1", **otherwise, **scales)
            assert find(case.target).draw.valid(case)
            relative = relative_of(known, case)
            plain = cases.call_of(_scaled(lhs="e2m1", rhs="e2m1", **scales))
            assert cases.call_of(relative).operands == plain.operands
            assert cases.call_of(relative).options == plain.options
    assert not known.match(_scaled(lhs="bf16", rhs="bf16", lhs_k_pack=False))
    signature = entry(known.entries[0]).signature
    said = {"'tt.dot' op expected the last dimension of the first operand to be equal": True,
            "scale factor must be N or N. Got N": True, "Assertion `xVals.size() == N' failed": False,
            "SIGSEGV": False}
    assert {kind: known.tells(replace(signature, kind=kind)) for kind in said} == said


def test_a_float_passed_beside_fp64_is_known_where_its_rounding_to_fp32_shows_and_not_where_another_fails_too():
    """0 - 1e-10 is -1e-10 in the interpreter; compiled, the argument is the nearest number of fp32."""
    known = named("interpreter-takes-floats-for-constants")

    def case(name: str, number: str, kind: OperandKind = "argument") -> Case:
        call = Call(row="tl.sub", operands=(Operand(dtype=name, shape=(1,)),
                                            Operand(kind=kind, dtype="fp32", number=number)), stored=("fp64",))
        return calling(call, {"x0": ("0.0",)})

    found = case("fp64", "1.0e-10")
    assert find(found.target).draw.valid(found)
    assert not any(map(known.match, (case("fp64", "0.5"), case("fp64", 'float("inf")'), case("fp32", "1.0e-10"),
                                     case("fp64", "1.0e-10", "constexpr"))))
    relative_of(known, found)
    failure = outcome_of(found, Verdict.DISAGREE, wrong_in(found, "out0"))
    right = is_told_by_its_control(known.name, found, failure)
    assert Attribution(lambda one: right).issues(found, replace(failure, backend="cuda")) == ()


@pytest.mark.parametrize("values, options, known", [
    ({}, {}, True), ({}, {"num_warps": 4}, False), ({}, {"sanitize_overflow": False}, False),
    ({63: "121"}, {}, False), ({62: "9"}, {}, False), ({63: "122", 62: "9"}, {}, True)])
def test_only_sums_that_fit_and_do_not_together_are_taken_for_those_that_a_scan_discards(
        values: dict[int, str], options: dict[str, int], known: bool):
    issue = named("scans-assert-what-they-discard")
    case = entry(issue.entries[0]).case
    given, out = case.arrays
    listed = given.content.base.values
    changed = replace(given, content=Content(base=Explicit(values=tuple(
        values.get(place, one) for place, one in enumerate(listed)))))
    case = replace(case, arrays=(changed, out), options=replace(case.options, **options))
    assert issue.match(case) is known
    if known:
        assert not issue.match(relative_of(issue, case))
