"""Known issues are drawn anew by a gate: only cases with their pattern, and what became of them is counted by issue."""

import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from typer.testing import CliRunner

from tests.gate.test_plan import entry as found_entry, options
from tests.known.test_issues import entry as known_entry
from tests.support.campaigns import shard_spec
from tests.support.cases import addition
from tests.support.pairs import CASE, outcome
from tests.unit.report.records import gate
from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.campaign.deal import Deal
from tridiff.fuzz.campaign.hunt import PATTERNED, UNSEEN
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import Plan
from tridiff.fuzz.campaign.yields import combination
from tridiff.fuzz.cli.app import program
from tridiff.fuzz.cli.render_gate import render_gate
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.issues import of_issues
from tridiff.fuzz.gate.markdown import markdown
from tridiff.fuzz.gate.plan import gate_shards
from tridiff.fuzz.gate.record import IssuePairs
from tridiff.fuzz.gate.tally import Tally
from tridiff.fuzz.known.issues import all_issues
from tridiff.fuzz.pair.log import PairLog, lines
from tridiff.fuzz.pair.relate import relate
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.report.record import read_gate

NEGATION = "negation-by-subtraction"


def test_a_gate_draws_for_each_defect_of_triton_where_its_entries_are_behind_the_floor(tmp_path: Path):
    asked = options(targets=("triton.*", "helpers.frexp", "language.ordering"), subjects=(), seconds=600.0)
    shards = gate_shards(asked, ())
    # Of the rows of a topic those of the entries alone are drawn.
    assert [spec.only for spec in shards if spec.issue == "topk-of-one"] == [("tl.topk",)]
    found = {(spec.issue, spec.target, spec.subject, spec.backend) for spec in shards if spec.issue}
    assert (NEGATION, "triton.negate", "own", "interpreter") in found
    # What torch.compile makes of frexp is no matter of Triton's build.
    assert not any(subject == "inductor" for _, _, subject, _ in found)
    assert any(one.stage == "inductor" and "helpers.frexp" in entry for one in all_issues() for entry in one.entries)
    deal = Deal(Plan(id="one", options=asked, shards=shards), tmp_path, shards)
    assert not any(spec.issue for spec in shards[:deal.pressing()])


def test_an_issue_of_the_compiler_is_drawn_without_a_gpu_where_it_shows():
    asked = options(targets=("async.copy_ring",), subjects=(), seconds=600.0, backends=("interpreter", "compile"),
                    issues=("sanitizer-without-a-buffer",), by_yield=False)
    assert {kind(spec.backend) for spec in gate_shards(asked, ()) if spec.issue} == {"compile"}


def test_a_gate_for_known_issues_has_their_entries_and_their_patterns_and_all_of_the_time():
    asked = options(targets=(), subjects=(), seconds=600.0, issues=(NEGATION,), by_yield=False)
    of_it = known_entry("triton.negate/zero-sign-c65330b634")
    shards = gate_shards(asked, (found_entry(addition(rows=2), "interpreter"), of_it))
    assert {case.digest for spec in shards for case in spec.first} == {of_it.case.digest}
    drawn = [spec for spec in shards if not spec.first]
    assert {spec.issue for spec in drawn} == {NEGATION} and "triton.negate" in {spec.target for spec in drawn}
    assert sum(spec.seconds for spec in drawn) == pytest.approx(min(600.0 * asked.workers, 600.0 * len(drawn)))


def test_a_gate_for_an_issue_that_nobody_knows_names_one():
    found = CliRunner().invoke(program("gate"), ["gate", "--baseline", "installed", "--candidate", "installed",
                                                 "--issue", "negation-by-substraction"])
    assert isinstance(found.exception, TridiffError)
    assert "such as negation-by-subtraction" in found.exception.fix


def test_a_gate_without_time_for_two_seconds_each_draws_for_none():
    asked = options(seconds=5.0)
    like = {combination(spec): spec for spec in plan_shards(asked)}
    assert not list(of_issues(asked, like))


@pytest.mark.parametrize("subject", ["own", "own+fault:subtracted_from_zero"])
def test_whatever_is_drawn_for_an_issue_has_its_pattern(subject: str, tmp_path: Path):
    (issue,) = (one for one in all_issues() if "triton.negate/zero-sign-c65330b634" in one.entries)
    seen: list[Case] = []
    failed: list[bool] = []

    def observe(case: Case, phase: str, found: Outcome | None) -> None:
        if phase == "fuzz":
            seen.append(case)
            failed.append(found is not None and found.verdict.failed)

    spec = shard_spec(target="triton.negate", subject=subject, seed=3, max_cases=2 * UNSEEN, shrink=False)
    shard.run_shard(spec, str(tmp_path / "any"), observe=observe)
    assert not all(issue.concerns(case, "own") for case in seen)
    seen.clear()
    failed.clear()
    found = shard.run_shard(msgspec.structs.replace(spec, issue=NEGATION), str(tmp_path / "its"), observe=observe)
    number = PATTERNED if any(failed) else UNSEEN
    assert any(failed) or subject == "own"
    assert len(seen) == number == found.counts.executed and all(issue.concerns(case, "own") for case in seen)


def test_an_issue_whose_pattern_is_not_drawn_ends_with_its_time_and_is_no_error(tmp_path: Path):
    asked = options(targets=("triton.negate",), backends=("interpreter",), seconds=600.0)
    (spec,) = (one for one in gate_shards(asked, ()) if one.issue == NEGATION)
    began = time.monotonic()
    found = shard.run_shard(msgspec.structs.replace(
        spec, target="triton.vector_add", seconds=2.0, builds=None), str(tmp_path))
    assert found.counts.executed == 0 and not found.error and time.monotonic() - began < 60.0


def test_what_became_of_them_is_counted_by_issue(tmp_path: Path):
    right, wrong = outcome(Verdict.AGREE), outcome(Verdict.DISAGREE)
    for number, (before, after) in enumerate([(wrong, right), (right, wrong), (wrong, wrong), (right, right)]):
        pair = relate(CASE, before, after, (None, None), lambda chunks: (None, None))
        for name, place in (("one", number), ("", 10 + number)):
            PairLog(tmp_path, place, SimpleNamespace(last=pair), issue=name).note(  # type: ignore[arg-type]
                CASE, "fuzz", pair.candidate, 0)
    found = Tally(lines(tmp_path)).issues()
    assert found == {"one": IssuePairs(cases=4, repaired=1, back=1, failing=1)} and found["one"].fails_in == "both"


def test_an_issue_is_told_by_the_build_in_which_its_cases_fail(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    issues = {"a": IssuePairs(cases=3, repaired=2), "b": IssuePairs(cases=3, back=1), "c": IssuePairs(cases=3)}
    one = read_gate(gate(tmp_path, issues=issues))
    render_gate(one, Path("here"))
    said = capsys.readouterr()
    assert "1 fail in the baseline alone, 1 in the candidate alone, 0 in both, 1 in neither" in " ".join(
        (said.out + said.err).split())
    page = markdown(one)
    assert "| a | 3 | 2 | 0 | 0 |" in page and "| b | 3 | 0 | 1 | 0 |" in page and "| c |" not in page
