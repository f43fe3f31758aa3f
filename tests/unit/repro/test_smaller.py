"""A saved finding gets a smaller case, and only verdicts that were seen for it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.outcomes import outcome_of, wrong_in
from tests.support.refusals import refused
from tests.unit.campaign.test_forms_of_findings import converts, label, program
from tests.unit.corpus.entries import division_case, entry, expect
from tridiff.fuzz.corpus import Corpus, entry_id
from tridiff.fuzz.known import KnownIssue, attribute
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Evidence, Explicit, Outcome, Signature, Verdict
from tridiff.fuzz.repro.smaller import Smaller, shrink


class Runner:
    """Fails for every case that has a value of -7; `kind` of its failures. An issue predicts what is wrong of those
    that have a value of 9 as well."""

    def __init__(self, kind: str, *, issue: str = "") -> None:
        self.kind, self.issue = kind, issue
        self.environment = Environment(backend="interpreter", triton="3.9.0", torch="2.13.0")

    def execute(self, case: Case, subject: str, **options: object) -> Outcome:
        values = [value for spec in case.arrays if spec.content and isinstance(spec.content.base, Explicit)
                  for value in spec.content.base.values]
        failed = "-7" in values
        signature = replace(entry().signature, subject=subject, kind=self.kind) if failed else None
        return outcome_of(case, Verdict.DISAGREE if failed else Verdict.AGREE, signature, subject=subject, reason="x",
                          explained_by=(self.issue,) if failed and self.issue and "9" in values else ())

    def inputs(self, case: Case, subject: str = "own") -> Evidence:
        return Evidence()


def smaller(one: CorpusEntry, runner: Runner) -> Smaller:
    return shrink(one, runner, subject=one.signature.subject, backend="interpreter", seconds=30, max_runs=500,
                  hang_limit=1)


def _saved(*values: str) -> tuple[object, Signature]:
    one = replace(entry(), case=division_case(values, ("2",) * len(values)), expected=(
        expect(entry().signature.subject, triton="3.6.0", backend="cuda"),
        expect(entry().signature.subject, triton="3.9.0", backend="interpreter")))
    return one, one.signature


def test_a_case_of_many_elements_becomes_one_of_the_element_that_fails():
    one, signature = _saved("1", "5", "-7", "3", "9", "8")
    made = smaller(one, Runner(signature.kind))
    assert made.changed and made.entry.case.sizes["cols"] == 1 and made.entry.reproduced == "5/5"
    assert made.entry.id == one.id and made.entry.signature == signature
    assert [(row.triton, row.backend) for row in made.entry.expected] == [("3.9.0", "interpreter")]
    assert [(row.triton, row.backend) for row in made.left_out] == [("3.6.0", "cuda")]


def test_what_a_known_issue_predicts_of_a_case_it_predicts_of_the_smaller_one(monkeypatch: pytest.MonkeyPatch):
    one, signature = _saved("1", "5", "-7", "3", "9", "8")
    issue = KnownIssue(name="trial", title="wrong beside a 9", stage="ttgir", truth="defect", entries=(),
                       where=((one.case.target, signature.subject),), match=lambda case: True, explains="x:y")
    monkeypatch.setattr(attribute, "issues_of", lambda case, subject: (issue,))
    made = smaller(replace(one, cause="trial"), Runner(signature.kind, issue="trial"))
    values = [value for spec in made.entry.case.arrays if spec.content for value in spec.content.base.values]
    assert made.changed and {"-7", "9"} <= set(values) and len(values) <= 4


def test_what_does_not_fail_or_fails_otherwise_is_not_shrunk():
    right, signature = _saved("1", "5")
    with refused(r"does not fail here: agree on interpreter with Triton 3\.9\.0"):
        smaller(right, Runner(signature.kind))
    wrong, signature = _saved("-7", "5")
    with refused(r"\(kind out_of_bounds instead of value\); choose another --backend"):
        smaller(wrong, Runner("out_of_bounds"))
    renamed = replace(wrong, signature=replace(signature, about="another word"))
    with refused(rf"\(about '{signature.about}' instead of 'another word'\); it is the same"):
        smaller(renamed, Runner(signature.kind))


class Converter(Runner):
    """Fails for a conversion to i16."""

    def execute(self, case: Case, subject: str, **options: object) -> Outcome:
        failed = bool(converts(case))
        signature = replace(wrong_in(case, "out"), about=label(case)) if failed else None
        return outcome_of(case, Verdict.DISAGREE if failed else Verdict.AGREE, signature, reason="x")


@pytest.mark.parametrize("cause, about", [("", ""), ("trial", "neg")])
def test_a_form_that_names_a_finding_which_is_no_known_issue_need_not_stay(
        tmp_path: Path, cause: str, about: str):
    one = replace(entry(case=program("neg"), subject="own", about="neg", title="programs (neg), own"), cause=cause)
    corpus = Corpus(tmp_path)
    corpus.rewrite(one)
    made = smaller(one, Converter("value"))
    assert made.changed and label(made.entry.case) == made.entry.signature.about == about
    assert made.entry.id == entry_id(made.entry.signature) and made.entry.reproduced == "5/5"
    assert made.entry.title == ("programs (neg), own" if about else "programs, own")
    corpus.rewrite(made.entry, was=one)
    assert list(corpus.entries()) == [made.entry]
