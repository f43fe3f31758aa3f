"""Which differences count: those that were confirmed, or came again on both sides when they were first seen."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from tests.gate.test_plan import entry
from tests.support.cases import addition
from tests.support.pairs import CASE, keep, observed, outcome
from tridiff.fuzz.campaign.findings import doubt
from tridiff.fuzz.gate.run import _counted
from tridiff.fuzz.gate.tally import Tally
from tridiff.fuzz.pair.log import PairLog, lines
from tridiff.fuzz.pair.relate import relate
from tridiff.fuzz.records import Verdict


@pytest.mark.parametrize("repeated, counts", [(4, True), (0, False)])
def test_a_difference_without_time_to_confirm_it_counts_if_it_came_again_when_it_was_seen(
        tmp_path: Path, repeated: int, counts: bool):
    case = addition(rows=3)
    pair = relate(case, outcome(Verdict.AGREE, case=case), outcome(Verdict.DISAGREE, case=case), (None, None),
                  lambda chunks: (None, None))
    keep(tmp_path, msgspec.structs.replace(pair, repeated=repeated))
    once = msgspec.structs.replace(entry(case, "interpreter"), reproduced="0/0", status="flaky")
    assert doubt(once)
    campaign = SimpleNamespace(findings=list, doubtful=lambda: [once])
    kept, lines = _counted(SimpleNamespace(campaign=campaign, state=tmp_path))  # type: ignore[arg-type]
    assert [one.reproduced for one in kept] == (["5/5"] if counts else []) and bool(lines) is not counts


def test_answers_of_triton_about_itself_are_compared_like_code(tmp_path: Path):
    sides = [observed(answers={"hash": text}) for text in "ab"]
    pair = relate(CASE, outcome(Verdict.AGREE), outcome(Verdict.AGREE), (sides[0], sides[1]),
                  lambda chunks: (None, None))
    PairLog(tmp_path, 0, SimpleNamespace(last=pair)).note(  # type: ignore[arg-type]
        CASE, "fuzz", pair.candidate, 0)
    found = Tally(lines(tmp_path)).code()
    assert (found.cases, found.compared) == (1, 1)
