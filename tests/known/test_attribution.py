"""Failures go to a known issue only if it accounts for all that is wrong."""

from collections.abc import Callable
from dataclasses import replace as changed

import pytest
import torch
from msgspec.structs import replace

from tests.known.outcomes import outcome
from tests.support.outcomes import outcome_of
from tests.support.repository import ENTRIES
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import Attribution, KnownIssue, all_issues, attribute, explain
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.records.outcome import ALL_OPEN
from tridiff.fuzz.registry import find

each = pytest.mark.parametrize


def ramp(target: str = "triton.floordiv", *, start: int = -64, count: int = 128, divisor: int = 4,
         form: str = "ramp") -> Case:
    """A contiguous run through zero, divided by one number; the table of a gather holds its own positions."""
    arrays = [f"a i32[rows] ~ iota, start {start}, step 0, per_row 1", f"b i32[rows] ~ constant, value {divisor}",
              "out i32[rows]"]
    sizes = {"rows": count}
    if form == "gather":
        arrays.append("table i32[slots] ~ iota, start -128")
        sizes["slots"] = 256
    case = Case(target=target, sizes=sizes, arrays=tuple(arrays), params={
        "form": form, "block": 64, "start_kind": "constexpr", "divisor_kind": "constexpr"})
    assert find(target).draw.valid(case)
    return case


def grouped(right: torch.Tensor, *, width: int) -> torch.Tensor:
    """The quotient of the first lane in every aligned group."""
    return right[torch.arange(len(right)) // width * width]


@each("form", ["ramp", "gather"])
@each("width", [2, 4])
def test_one_quotient_for_a_group_of_lanes_is_the_known_issue(form: str, width: int):
    rehearsal = rehearse(ramp(form=form))
    wrong = grouped(rehearsal.outputs()["out"], width=width)
    judged, names = rehearsal.judged({"out": wrong})
    assert (judged.verdict, judged.kind, names) == (Verdict.DISAGREE, "value", ("signed-floordiv-ramp",))


def test_every_issue_is_told_that_predicts_all_alone(monkeypatch: pytest.MonkeyPatch):
    issue = next(one for one in all_issues() if one.name == "signed-floordiv-ramp")
    beside = changed(issue, name="beside"), changed(issue, name="nothing", explains=f"{__name__}:nothing")
    monkeypatch.setattr(explain, "issues_of", lambda case, subject: (issue, *beside))
    rehearsal = rehearse(ramp())
    wrong = grouped(rehearsal.outputs()["out"], width=4)
    rehearsal.judged({"out": wrong})
    seen = explain.wrong_in(rehearsal.case, rehearsal.target, rehearsal.buffers, rehearsal.expected)
    assert explain.explaining(seen, "own") == ((issue.name,), ("beside",))


def nothing(seen: Wrong) -> dict[str, torch.Tensor]:
    """No element is predicted."""
    return {}


def test_a_wrong_sign_of_one_class_of_operands_beside_the_known_quotients_is_new():
    rehearsal = rehearse(ramp())
    wrong = grouped(rehearsal.outputs()["out"], width=4)
    numerator = torch.arange(-64, 64)
    planted = torch.where(numerator == 63, -wrong, wrong).to(torch.int32)
    assert rehearsal.judged({"out": planted})[1] == ()
    assert rehearsal.judged({"out": wrong})[1] == ("signed-floordiv-ramp",)


def test_quotients_of_two_group_widths_in_one_launch_are_not_the_known_issue():
    rehearsal = rehearse(ramp(divisor=8))
    right = rehearsal.outputs()["out"]
    lane = torch.arange(128)
    # Group widths of 4 and of 8 put different quotients in lane 4 of a group of 8.
    mixed = torch.where(lane < 32, grouped(right, width=8), torch.where(lane % 8 == 1, grouped(right, width=4), right))
    mixed[36] = right[35] - 5
    assert rehearsal.judged({"out": mixed.to(torch.int32)})[1] == ()


def test_a_fault_planted_in_the_subject_is_never_a_known_issue():
    rehearsal = rehearse(ramp())
    wrong = grouped(rehearsal.outputs()["out"], width=4)
    assert rehearsal.judged({"out": wrong}, subject="own+fault:ceil_for_floor")[1] == ()


def test_reading_on_behind_the_first_remainder_is_the_known_issue_of_addresses():
    rehearsal = rehearse(ramp("triton.mod", divisor=16, form="gather"))
    right = rehearsal.outputs()["out"]
    lane = torch.arange(128)
    on = (right[lane // 4 * 4] + lane % 4).to(torch.int32)
    assert rehearsal.judged({"out": on})[1] == ("signed-remainder-ramp",)
    assert rehearsal.judged({"out": torch.where(lane == 9, -on, on).to(torch.int32)})[1] == ()


def test_only_all_ones_above_a_zero_divisor_are_the_issue_of_bytes():
    case = Case(target="triton.floordiv", sizes={"rows": 2, "cols": 8}, params={"form": "blocks"}, arrays=(
        "a u8[rows,cols] ~ iota, start 1, step 0", "b u8[rows,cols] ~ iota, start 0, step 1", "out u8[rows,cols]"))
    rehearsal = rehearse(case)
    out = rehearsal.outputs()["out"]
    out[:, 1] = 255  # the divisors are 0, 1, 2, ...
    assert rehearsal.judged({"out": out})[1] == ("narrow-division-by-zero",)
    out[0, 6] = 255
    assert rehearsal.judged({"out": out})[1] == ()


# -- issues that predict nothing


LOADED = KnownIssue(
    name="trial", title="wrong unless loaded", stage="ttgir", truth="defect", where=(("triton.floordiv", "own"),),
    entries=(), match=lambda case: case.params["divisor_kind"] == "constexpr",
    relative=lambda case: replace(case, params={**case.params, "divisor_kind": "loaded"}))
BESIDE = changed(LOADED, name="beside", match=lambda case: case.params["form"] == "ramp",
                 relative=lambda case: replace(case, params={**case.params, "form": "gather"}))


def trials_of(*params: str) -> list[KnownIssue]:
    """For each parameter an issue of the cases in which it is 1, whose relative has 0 there."""
    return [changed(LOADED, name=name, match=lambda case, name=name: case.params.get(name) == 1,
                    relative=lambda case, name=name: replace(case, params={**case.params, name: 0}))
            for name in params]


def having(*params: str) -> Case:
    """A case in which all of them are 1."""
    return replace(ramp(), params={**ramp().params, **dict.fromkeys(params, 1)})


Known = Callable[..., None]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    """Makes these issues all that there are."""
    def only(*issues: KnownIssue) -> None:
        monkeypatch.setattr(attribute, "issues_of", lambda case, subject: tuple(
            one for one in issues if one.match(case)))

    only(LOADED)
    return only


def test_a_case_whose_relative_agrees_is_the_issue_and_the_relative_is_run_once(known: Known):
    run: list[Case] = []

    def execute(case: Case) -> Outcome:
        run.append(case)
        return outcome(case, failed=False)

    attribution = Attribution(execute)
    assert attribution.issues(ramp(), outcome(ramp())) == ("trial",)
    assert attribution.issues(ramp(), outcome(ramp())) == ("trial",)
    assert [case.params["divisor_kind"] for case in run] == ["loaded"]


def test_a_case_whose_relative_fails_as_well_is_another_defect(known: Known):
    attribution = Attribution(outcome)
    assert attribution.issues(ramp(), outcome(ramp())) == ()
    assert (attribution.last.possible, attribution.last.refuted) == (("trial",), ("trial",))


def test_what_another_issue_explains_in_the_relative_is_no_failure_of_it(known: Known):
    attribution = Attribution(lambda case: outcome(case, explained=("signed-floordiv-ramp",)))
    assert attribution.issues(ramp(), outcome(ramp())) == ("trial",)


@each("last_agrees, names", [(True, ("trial",)), (False, ())])
def test_a_relative_that_fails_in_another_way_must_belong_to_another_issue(
        known: Known, last_agrees: bool, names: tuple[str, ...]):
    refused = changed(LOADED, errors=("Cannot bitcast*",), kinds=())
    known(refused, BESIDE)

    def execute(case: Case) -> Outcome:
        assert not refused.match(case)
        return outcome(case, failed=BESIDE.match(case) or not last_agrees)

    attribution = Attribution(execute)
    assert attribution.issues(ramp(), outcome(ramp(), kind="Cannot bitcast data-type of size N")) == names
    assert attribution.controls == 2


@each("verdict, kind, names", [
    (Verdict.COMPILE_ERROR, "Cannot bitcast data-type of size N", ("trial",)),
    (Verdict.DISAGREE, "another_type", ("trial",)), (Verdict.HANG, "launch", ("trial",)),
    (Verdict.DISAGREE, "out_of_bounds", ("trial",)), (Verdict.CRASH, "illegal_address", ("trial",)),
    (Verdict.CRASH, "ValueError: Cannot perform a binary operation between an unsigned tensor and -8", ("trial",)),
    (Verdict.CRASH, "ValueError: of a value", ()), (Verdict.DISAGREE, "value", ()), (Verdict.CRASH, "SIGABRT", ())])
def test_a_relative_of_which_no_value_is_asked_controls_only_failures_of_no_value(
        known: Known, verdict: Verdict, kind: str, names: tuple[str, ...]):
    any_failure = changed(LOADED, errors=("*",))
    known(any_failure)
    failed = replace(outcome(ramp()), verdict=verdict, signature=replace(
        outcome(ramp()).signature, verdict=verdict, kind=kind))
    short = "ptxas needs more registers than the limit leaves", names if verdict is Verdict.COMPILE_ERROR else ()
    for reason, expected in ((ALL_OPEN, names), ("the launch was not made", ()), short):
        left_open = replace(outcome(ramp(), failed=False), verdict=Verdict.NOT_CHECKED, reason=reason)
        assert Attribution(lambda case, one=left_open: one).issues(ramp(), failed) == expected


@each("failing, name", [
    (("trial", "beside"), "trial"), (("beside",), "beside"), ((), "trial")])
def test_of_issues_each_of_which_would_do_alone_it_is_one_that_fails_on_this_build(
        known: Known, failing: tuple[str, ...], name: str):
    known(LOADED, BESIDE)

    def execute(case: Case) -> Outcome:
        return outcome(case, failed=LOADED.match(case) and BESIDE.match(case))

    assert Attribution(execute, shows=failing.__contains__).issues(ramp(), outcome(ramp())) == (name,)
    assert Attribution(execute).issues(ramp(), outcome(ramp())) == ("trial",)


PREDICTED = changed(LOADED, name="predicted", relative=None, explains="a:prediction")


@each("live, left, names", [
    (("trial",), (), ("trial",)), (("trial", "predicted"), (), ("predicted",)), ((), (), ("predicted",)),
    (("trial",), ("predicted",), ("predicted",)), (("trial",), ("trial",), ("predicted",))])
def test_what_an_issue_predicts_that_does_not_fail_here_is_one_that_does_if_its_control_passes(
        known: Known, live: tuple[str, ...], left: tuple[str, ...], names: tuple[str, ...]):
    """left: what predicts a failure of the relative. An issue that comes back on this build is news."""
    known(PREDICTED, LOADED)
    attribution = Attribution(lambda one: outcome(one, failed=bool(left), explained=tuple(
        name for name in left if name != "trial")), shows=live.__contains__)
    assert attribution.issues(ramp(), outcome(ramp(), explained=("predicted",))) == names
    assert attribution.controls == (live == ("trial",))


@each("live, name", [(("too",), "too"), (("predicted", "too"), "predicted"), ((), "predicted")])
def test_of_issues_each_of_which_predicts_all_it_is_one_that_fails_on_this_build(
        known: Known, live: tuple[str, ...], name: str):
    known(PREDICTED, changed(PREDICTED, name="too"))
    failed = replace(outcome(ramp(), explained=("predicted",)), explained_too=("too",))
    assert Attribution(outcome, shows=live.__contains__).issues(ramp(), failed) == (name,)
    unsaid = replace(failed, explained_too=())
    assert Attribution(outcome, shows=live.__contains__).issues(ramp(), unsaid) == ("predicted",)


@each("live, agrees, name", [
    (("told",), True, "told"), (("trial",), True, "trial"), ((), True, "trial"), (("trial",), False, "told")])
def test_an_error_that_one_issue_is_told_by_alone_is_that_one_unless_another_one_does_and_fails_here(
        known: Known, live: tuple[str, ...], agrees: bool, name: str):
    told = changed(LOADED, name="told", relative=None, errors=("Cannot bitcast*",))
    known(changed(LOADED, errors=("Cannot*",)), told)
    attribution = Attribution(lambda case: outcome(case, failed=not agrees), shows=live.__contains__)
    assert attribution.issues(ramp(), outcome(ramp(), kind="Cannot bitcast data-type of size N")) == (name,)


def test_of_issues_of_which_two_are_needed_the_third_is_not_told(known: Known):
    params = ("one", "two", "three")
    known(*trials_of(*params))
    case = having(*params)

    def execute(case: Case) -> Outcome:
        return outcome(case, failed=case.params["one"] == 1 or case.params["three"] == 1)

    attribution = Attribution(execute)
    assert attribution.issues(case, outcome(case)) == ("one", "three") and attribution.controls <= 8


def test_an_issue_that_does_alone_is_told_though_the_relative_without_all_patterns_breaks(
        known: Known):
    params = ("one", "two")
    known(*trials_of(*params))
    case = having(*params)
    breaks = Attribution(lambda case: outcome(case, failed=case.params["one"] == 1 or case.params["two"] == 0))
    assert breaks.issues(case, outcome(case)) == ("one",)
    assert Attribution(outcome).issues(case, outcome(case)) == (), "wrong whatever is taken away"


def test_what_belongs_to_others_in_every_relative_makes_no_issue_needed_that_does_not_fail_here(
        known: Known):
    params = ("fails", "does-not")
    crash = changed(LOADED, name="crash", match=lambda case: case.params.get("fails") == 0, relative=None,
                    errors=("Scalar * is out of range",), kinds=())
    known(crash, *reversed(trials_of(*params)))
    case = having(*params)

    def execute(case: Case) -> Outcome:
        return outcome(case, kind="value" if case.params["fails"] == 1 else "Scalar 3 is out of range")

    assert Attribution(execute, shows=lambda name: name != "does-not").issues(case, outcome(case)) == ("fails",)


@each("verdict, failed, names, runs", [
    (Verdict.HANG, Verdict.DISAGREE, ("trial",), 2), (Verdict.HANG, Verdict.HANG, (), 1),
    (Verdict.NOT_CHECKED, Verdict.DISAGREE, ("trial",), 2)])
def test_a_relative_that_met_a_time_limit_is_run_once_more(
        known: Known, verdict: Verdict, failed: Verdict, names: tuple[str, ...], runs: int):
    first = replace(outcome(ramp()), verdict=verdict, reason="no answer within 9 s of stage judge",
                    signature=None if verdict is Verdict.NOT_CHECKED else outcome(ramp()).signature)
    said_again = [first, outcome(ramp(), failed=False)]
    left = iter(said_again)
    attribution = Attribution(lambda case: next(left))
    assert attribution.issues(ramp(), replace(outcome(ramp()), verdict=failed)) == names
    assert len(list(left)) == len(said_again) - runs


def test_an_issue_of_which_a_case_cannot_be_rid_does_not_stand_in_the_way_of_another(
        known: Known):
    fixed = changed(LOADED, name="without-a-relative", relative=lambda case: None)
    known(fixed, LOADED)
    case = ramp()
    assert Attribution(lambda one: outcome(one, failed=False)).issues(case, outcome(case)) == (LOADED.name,)
    assert Attribution(outcome).issues(case, outcome(case)) == ()
    known(fixed)
    assert Attribution(lambda one: outcome(one, failed=False)).issues(case, outcome(case)) == ()


def test_a_relative_that_cannot_be_run_is_no_control(known: Known):
    def refused(case: Case) -> Outcome:
        raise TridiffError("refused", fix="draw another case")

    assert Attribution(refused).issues(ramp(), outcome(ramp())) == ()


def test_failures_of_another_kind_are_not_even_asked_about(known: Known):
    def never(case: Case) -> Outcome:
        raise AssertionError(case)

    for kind in ("illegal_address", "nondeterministic", "memory_order"):
        assert Attribution(never).issues(ramp(), outcome(ramp(), kind=kind)) == ()


def test_an_issue_of_errors_takes_the_errors_it_names_and_no_wrong_value(known: Known):
    said = changed(LOADED, relative=None, errors=("Cannot bitcast *",))
    known(said)
    attribution = Attribution(outcome)
    assert attribution.issues(ramp(), outcome(ramp(), kind="Cannot bitcast data-type of size N")) == ("trial",)
    assert attribution.issues(ramp(), outcome(ramp(), kind="Cannot cast")) == ()
    assert attribution.issues(ramp(), outcome(ramp())) == ()


@each("copies, found", [(2**31 - 2, 2**30), (2**31 - 1, 0)])
def test_a_search_that_ends_early_because_the_number_of_boundaries_wraps_is_the_issue_of_the_midpoint(
        copies: int, found: int):
    case = Case(
        target="helpers.bucketize_binary_search", sizes={"rows": 1, "cols": 1, "edges": 1}, arrays=(
            "values i16[rows,cols] ~ constant, value 1", "boundaries i16[rows,edges] ~ constant", "out i64[rows,cols]"),
        params={"form": "copies", "right": False, "index_dtype": "i64", "copies": copies})
    assert find(case.target).draw.valid(case)
    rehearsal = rehearse(case)
    out = torch.tensor([[found]])
    assert rehearsal.judged({"out": out}, subject="inductor")[1] == ("bucketize-midpoint-overflow",)
    assert rehearsal.judged({"out": out + 1}, subject="inductor")[1] == ()


def test_a_defect_of_the_interpreter_accounts_for_nothing_elsewhere():
    issue = next(one for one in all_issues() if one.name == "interpreter-min-and-max-are-pythons")
    entry = ENTRIES.find(issue.entries[0])

    def found(backend: str) -> tuple[str, ...]:
        def outcome(case: Case, verdict: Verdict) -> Outcome:
            return outcome_of(case, verdict, entry.signature if verdict.failed else None, backend=backend)

        known = Attribution(lambda case: outcome(case, Verdict.AGREE))
        return known.issues(entry.case, outcome(entry.case, Verdict.CRASH))

    assert found("interpreter") == (issue.name,)
    assert found("cuda") == () and found("compile:sm_90") == ()
