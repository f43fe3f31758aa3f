"""Known issues of launches: a failure is one of them only if what lies beside it passes."""

from pathlib import Path

import pytest

from tests.support.outcomes import outcome_of
from tests.unit.launching.test_scenes import play
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.launching import ISSUES
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.verdicts import Refuted

BACKEND = "compile:sm_90"


def _run(case: Case, planted: str) -> Outcome:
    assert find(case.target).draw.valid(case)
    verdict = Verdict.AGREE
    try:
        play(case, planted)
    except Refuted:
        verdict = Verdict.DISAGREE
    except Exception as error:
        raise TridiffError(str(error)) from error
    return outcome_of(case, verdict, backend=BACKEND)


@pytest.mark.parametrize("issue", ISSUES, ids=lambda one: one.name)
def test_a_launch_that_fails_beside_the_issue_is_new(issue: object) -> None:
    pytest.importorskip("triton")
    known = next(one for one in ISSUES if one is issue)
    entry = Corpus(Path(__file__).parents[2] / "corpus").find(known.entries[0])
    failed = outcome_of(entry.case, entry.signature.verdict, entry.signature, backend=BACKEND)
    assert Attribution(lambda case: _run(case, "")).issues(entry.case, failed) == (known.name,)
    assert Attribution(lambda case: _run(case, "first_answer_lost")).issues(entry.case, failed) == ()
