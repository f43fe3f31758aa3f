"""Known issues of launches: a failure is one of them only if what lies beside it passes."""

import pytest
from msgspec.structs import replace

from tests.support.outcomes import outcome_of
from tests.support.repository import ENTRIES
from tests.unit.launching.test_scenes import play
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.launching import ISSUES
from tridiff.fuzz.launching.scene import EVERY
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.verdicts import Refuted

each = pytest.mark.parametrize
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


@each("issue", ISSUES, ids=lambda one: one.name)
def test_a_launch_that_fails_beside_the_issue_is_new(issue: object):
    pytest.importorskip("triton")
    known = next(one for one in ISSUES if one is issue)
    entry = ENTRIES.find(known.entries[0])
    failed = outcome_of(entry.case, entry.signature.verdict, entry.signature, backend=BACKEND)
    assert Attribution(lambda case: _run(case, "")).issues(entry.case, failed) == (known.name,)
    assert Attribution(lambda case: _run(case, "first_answer_lost")).issues(entry.case, failed) == ()


@each("kind, known", [("another", True), ("debug", False)])
def test_a_way_that_is_gone_among_others_is_known_as_it_is_alone(kind: str, known: bool):
    pytest.importorskip("triton")
    entry = ENTRIES.find("launch.events/another-3bbe70c3b2")
    case = replace(entry.case, params={**entry.case.params, "way": EVERY})
    failed = outcome_of(case, Verdict.DISAGREE, replace(entry.signature, kind=kind), backend=BACKEND)
    assert Attribution(lambda one: _run(one, "")).issues(case, failed) == ((entry.cause,) if known else ())
