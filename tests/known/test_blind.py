"""The share of draws that could hide a new defect: high where it must be, low for the issues that there are."""

import json
from dataclasses import replace

import pytest
import torch
from typer.testing import CliRunner

from tests.known.test_issues import entry
from tests.support.repository import CORPUS, ENTRIES
from tridiff.fuzz.bench.blind import Blindness, BlindShare
from tridiff.fuzz.cli.app import program
from tridiff.fuzz.known import KnownIssue, all_issues, issues
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.records import CorpusEntry, Expectation, Verdict
from tridiff.fuzz.registry import find

RAMP = "triton.floordiv/value-cd18b7a4b0"
QUOTIENT = next(one for one in all_issues() if one.name == "signed-floordiv-ramp")


def everything(seen: Wrong) -> dict[str, torch.Tensor]:
    """Predicts whatever is wrong."""
    return dict(seen.wrong)


def measured(monkeypatch: pytest.MonkeyPatch, *known: KnownIssue, fails: bool = True) -> BlindShare:
    """triton.floordiv on 3.9.0, with these issues and the entry of the ramp alone."""
    monkeypatch.setattr("tridiff.fuzz.bench.blind.all_issues", lambda: known)
    monkeypatch.setattr(issues, "all_issues", lambda: known)
    verdict = Verdict.DISAGREE if fails else Verdict.AGREE
    row = Expectation(subject="own", triton="3.9.0", backend="cuda", verdict=verdict)
    proof = entry(RAMP)
    blindness = Blindness([type(proof)(**{**{name: getattr(proof, name) for name in proof.__struct_fields__},
                                          "expected": (row,)})])
    assert blindness.versions() == ("3.9.0",)
    share, = blindness.measure(find("triton.floordiv"), versions=("3.9.0",), draws=40)
    return share


def test_an_issue_that_predicts_everything_blinds_its_draws(monkeypatch: pytest.MonkeyPatch):
    broad = replace(QUOTIENT, explains="tests.known.test_blind:everything")
    share = measured(monkeypatch, broad)
    assert share.share > 0.25
    assert share.labels[0].name == "signed-floordiv-ramp"


def test_one_that_predicts_the_value_does_not(monkeypatch: pytest.MonkeyPatch):
    share = measured(monkeypatch, QUOTIENT)
    assert share.share <= 0.05
    assert share.labels[0].drawn > 10


def test_an_entry_of_no_issue_blinds_whatever_has_its_signature(monkeypatch: pytest.MonkeyPatch):
    share = measured(monkeypatch)
    assert share.share > 0.1
    assert [label.name for label in share.labels] == [RAMP]


def test_nothing_is_hidden_where_the_version_is_right(monkeypatch: pytest.MonkeyPatch):
    broad = replace(QUOTIENT, explains="tests.known.test_blind:everything")
    share = measured(monkeypatch, broad, fails=False)
    assert (share.share, share.labels) == (0.0, ())


def test_the_command_prints_a_list_of_shares_per_target_and_version():
    result = CliRunner().invoke(program("targets"), [
        "targets", "triton.negate", "--blind", "--json", "--draws", "20", "--corpus", str(CORPUS)])
    found = json.loads(result.stdout)
    assert {"target", "triton", "share", "open_elements", "open_outputs", "labels"} <= set(found[0])
    shares = {one["triton"]: one for one in found}
    assert shares["3.6.0"]["share"] <= 0.05
    assert [one["name"] for one in shares["3.6.0"]["labels"]] == ["negation-by-subtraction"]
    assert shares["3.9.0"]["labels"] == []  # this version has the sign right


@pytest.mark.parametrize("name", [
    "triton.floordiv", "triton.mod", "helpers.div_floor_integer", "helpers.bucketize_binary_search", "helpers.frexp",
    "helpers.welford_combine", "inductor.programs_sort", "inductor.programs_mixed", "loops.warp_specialize"])
def test_the_targets_that_known_defects_blinded_see_again(name: str):
    blindness = Blindness([one for one in ENTRIES.entries() if isinstance(one, CorpusEntry)])
    for share in blindness.measure(find(name), versions=("3.6.0", "3.9.0"), draws=30):
        assert share.share <= 0.05
        assert any(label.drawn for label in share.labels)
