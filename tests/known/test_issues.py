"""Every known issue against the corpus that proves it."""

from functools import cache

import pytest

from tests.known.recorded import rehearsed
from tests.support.repository import ENTRIES
from tridiff.fuzz.known import KnownIssue, all_issues, issue_of_entry
from tridiff.fuzz.records import CorpusEntry, Verdict

PROOFS = [(one, entry) for one in all_issues() for entry in one.entries]
each_proof = pytest.mark.parametrize(("issue", "name"), PROOFS, ids=lambda one: getattr(one, "name", one))


@cache
def entry(name: str) -> CorpusEntry:
    return ENTRIES.find(name)


@each_proof
def test_an_issue_is_proved_by_entries_that_have_its_pattern(issue: KnownIssue, name: str):
    found = entry(name)
    assert f"{found.case.target}/{found.id}" == name
    assert issue.concerns(found.case, found.signature.subject)
    assert issue.shows_as(found.signature)
    assert issue_of_entry(found.case.target, found.id) == issue.name == found.cause
    assert issue.stage in {entry(one).stage for one in issue.entries}
    assert issue.truth in {entry(one).truth for one in issue.entries}


@each_proof
def test_what_an_entry_recorded_is_predicted_to_the_element(issue: KnownIssue, name: str):
    found = entry(name)
    if not issue.explains or issue.tells(found.signature):
        pytest.skip("no values to predict")
    rehearsal, outputs = rehearsed(found)
    if not outputs:
        pytest.skip("the entry's rows are too long to be listed")
    judged, names = rehearsal.judged(outputs, subject=found.signature.subject)
    assert judged.verdict is Verdict.DISAGREE
    assert issue.name in names


@each_proof
def test_the_relative_of_an_entry_lacks_the_pattern(issue: KnownIssue, name: str):
    if issue.relative is None:
        pytest.skip("no relative")
    relative = issue.relative(entry(name).case)
    assert relative is not None
    assert not issue.match(relative)


def test_what_the_interpreter_gets_wrong_is_no_defect_of_a_stage_that_it_has_not():
    stages = {one.stage for one in all_issues() if one.shows_on("interpreter")}
    assert not stages & {"llvm", "ptxas"} and stages >= {"front-end", "inductor", "interpreter", "language"}
    assert {one.stage for one in all_issues() if one.shows_on("compile:sm_90")} >= {"llvm", "ptxas", "ttgir"}
    issue = next(one for one in all_issues() if one.stage == "ptxas" and not one.backends)
    entries = [entry(name) for name in issue.entries]
    assert issue.shows_on("cuda") and not any(
        one.verdict.failed for found in entries for one in found.expected if one.backend == "interpreter")
