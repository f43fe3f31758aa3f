"""Calls in Triton's interpreter: which wrong results and errors are known there, and what is something else."""

import torch
from msgspec.structs import replace

from tests.known.relatives import is_told_by_its_control, relative_of
from tests.known.test_issues import entry
from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution, KnownIssue
from tridiff.fuzz.known.calls import changed
from tridiff.fuzz.known.graphs import ISSUES as GRAPHS
from tridiff.fuzz.known.interpreted import ISSUES
from tridiff.fuzz.known.products import ISSUES as PRODUCTS
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case, Constant, Content, Explicit, Outcome, Small, Verdict
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.language.call import Call, Operand


def _known(name: str) -> KnownIssue:
    return next(one for one in ISSUES if one.name == name)


def test_bits_as_a_number_are_the_known_issue_and_a_wrong_extremum_in_memory_beside_them_is_new():
    known = _known("interpreter-atomic-extrema-of-fp64")
    case = entry(known.entries[0]).case
    values = {"x0": ("1.0", "-3.0", "-4.0"), "x1": ("2.0", "0.0", "-5.0")}
    case = replace(case, sizes={"rows": 3}, arrays=tuple(
        replace(one, content=Content(base=Explicit(values=values[one.name]))) if one.name in values else one
        for one in case.arrays))
    rehearsal = rehearse(case)
    wrong = {"out0": torch.tensor([float(0x3FF0000000000000), -4609434218613702656.0, float(0xC010000000000000)],
                                  dtype=torch.float64)}
    assert rehearsal.judged(wrong)[1] == (known.name,)
    assert rehearsal.judged(wrong | {"out1": torch.tensor([1.0, -3.0, -4.0], dtype=torch.float64)})[1] == ()
    wrong["out0"][0] += 4096.0
    assert rehearsal.judged(wrong)[1] == ()


def test_zeros_for_a_padding_of_nan_are_known_and_zeros_for_what_a_tensor_holds_are_not():
    known = _known("interpreter-pads-bits-with-zeros")
    case = entry(known.entries[0]).case
    call = cases.call_of(case)
    call = replace(call, operands=(replace(call.operands[0], shape=(4, 1, 8)),))
    case = replace(case, program=call, sizes=cases.sizes_of(call, 1), arrays=cases.arrays_of(
        call, {"x0": Content(base=Constant(value="3"))}))
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    assert find(case.target).draw.valid(case) and known.match(case) and bool(right.isnan().all())
    zeros = torch.zeros_like(right)
    assert rehearsal.judged({"out0": zeros})[1] == (known.name,)
    zeros[0, 3] = 1.0
    assert rehearsal.judged({"out0": zeros})[1] == ()
    inside = changed(case, options=call.options | {"steps": "p2p0p0"})
    assert inside is not None
    rehearsal = rehearse(inside)
    half = rehearsal.outputs()["out0"]
    assert half.isnan().sum() == 16 and (half == 3.0).sum() == 16
    assert rehearsal.judged({"out0": torch.where(half.isnan(), 0.0, half)})[1] == (known.name,)
    assert rehearsal.judged({"out0": torch.zeros_like(half)})[1] == ()


def test_a_scan_of_nans_along_an_axis_from_the_end_is_two_defects_and_of_numbers_one():
    call = Call(row="tl.associative_scan", operands=(Operand(dtype="fp32", shape=(2, 4, 2)),),
                options={"axis": -3, "function": "_larger"}, stored=("fp32",))
    nans, numbers = (calling(call, {"x0": Content(base=base)}) for base in (
            Constant(value="nan"), Small(low=-4, high=4)))
    failure = outcome_of(nans, Verdict.DISAGREE, wrong_in(nans, "out0"))
    right = replace(failure, verdict=Verdict.AGREE, signature=None)

    def rid_of_both(case: Case) -> Outcome:
        front, tame = cases.call_of(case).number("axis") >= 0, case.array("x0").content == numbers.array("x0").content
        return right if front and tame else failure

    assert Attribution(rid_of_both).issues(nans, failure) == (
        "interpreter-extrema-give-nan", "interpreter-takes-axes-from-the-front-only")
    assert Attribution(lambda case: failure).issues(nans, failure) == ()
    assert Attribution(rid_of_both).issues(numbers, failure) == ("interpreter-takes-axes-from-the-front-only",)


def test_errors_of_another_text_and_numbers_instead_of_nan_are_new():
    other = {"interpreter-methods-of-math": "AttributeError: 'int' object has no attribute 'to'",
             "rows-numbered-in-16-bits": "'tt.descriptor_gather' op is not supported",
             "interpreter-sums-beyond-32-bits": "OverflowError: cannot convert float infinity to integer",
             "interpreter-without-scaled-products": "AttributeError: 'int' object has no attribute 'value'",
             "interpreter-extrema-give-nan": "value"}
    for name, kind in other.items():
        known = _known(name)
        signature = entry(known.entries[0]).signature
        assert known.shows_as(signature) and not known.shows_as(replace(signature, kind=kind))


def test_the_control_of_a_scaled_product_of_bf16_has_ones_there_and_keeps_the_other_side():
    known = next(one for one in PRODUCTS if one.name == "interpreter-scales-bf16-as-fp16")
    case = entry(known.entries[0]).case
    relative = relative_of(known, case)
    call = cases.call_of(case)
    mixed = changed(case, operands=(replace(call.operands[0], dtype="u16"), replace(call.operands[1], dtype="fp8e5")),
                    options=call.options | {"rhs": "e5m2"})
    assert mixed is not None and known.match(mixed)
    relative = known.relative(mixed)
    assert relative is not None and relative.array("x0").content == Content(base=Constant(value="16256"))
    assert relative.array("x1") == mixed.array("x1")
    none = changed(mixed, options=call.options | {"lhs": "e5m2", "rhs": "e5m2"})
    assert none is not None and not known.match(none)


def test_a_sum_without_an_axis_is_known_where_one_with_an_axis_is_right_and_sums_of_64_bits_are_not():
    known = next(one for one in GRAPHS if one.name == "interpreter-sums-beyond-32-bits")
    found = entry(known.entries[0])
    assert isinstance(found.case.program, Graph)
    relative_of(known, found.case)
    failure = outcome_of(found.case, Verdict.CRASH, found.signature)
    is_told_by_its_control(known.name, found.case, failure)
    graph = found.case.program
    wide = replace(graph, buffers=tuple(replace(one, dtype="i64") for one in graph.buffers))
    assert not known.match(replace(found.case, program=wide))


def test_the_upper_limit_that_a_clamp_gives_for_a_signalling_nan_is_known_and_for_a_quiet_one_it_is_new():
    """fmin(fmax(NaN, 0), 1) is 1 where numpy's fmax keeps the NaN."""
    limits = tuple(Operand(kind="number", dtype="fp32", number=one) for one in ("0.0", "1.0"))
    call = Call(row="tl.clamp", operands=(Operand(dtype="fp64", shape=(2,)), *limits), stored=("fp64",))
    for values, known in ((("-nan:0x1", "0.5"), ("interpreter-minds-signalling-nans",)), (("nan", "0.5"), ())):
        rehearsal = rehearse(calling(call, {"x0": values}))
        assert rehearsal.outputs()["out0"].tolist() == [[0.0, 0.5]]
        wrong = {"out0": torch.tensor([[1.0, 0.5]], dtype=torch.float64)}
        assert rehearsal.judged(wrong)[1] == known


def test_a_constant_that_is_nan_is_known_and_one_that_is_a_number_is_not():
    known, whole = _known("interpreter-extrema-give-nan"), Content(base=Small(low=-4, high=4))
    nan, number = (calling(Call(row="tl.minimum", operands=(Operand(dtype="fp64", shape=(2,)), Operand(
        kind="number", dtype="fp32", number=one)), stored=("fp64",)), {"x0": whole}) for one in ('float("nan")', "0.5"))
    assert relative_of(known, nan) == number and not known.match(number)
    is_told_by_its_control(known.name, nan, outcome_of(nan, Verdict.DISAGREE, wrong_in(
        nan, "out0", kind="nan_unexpected")))


def test_of_two_reads_the_larger_is_known_to_mind_signalling_nans_and_their_product_is_not():
    block, seen = Operand(dtype="fp32", shape=(2,)), {}
    for form in (6, 7):
        call = Call(row="memory.reread", operands=(block, block), options={"form": form}, stored=("fp32",))
        rehearsal = rehearse(calling(call, {"x0": ("1.0", "2.0"), "x1": ("nan:0x1", "3.0")}))
        for value in ("nan", "2.0"):
            wrong = {"out0": torch.tensor([[float("nan"), float(value)]])}
            seen[form, value] = rehearsal.judged(wrong)[1]
    minds = ("interpreter-minds-signalling-nans",)
    assert seen == {(6, "nan"): minds, (6, "2.0"): (), (7, "nan"): (), (7, "2.0"): ()}
