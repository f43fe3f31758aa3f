"""Ways round: what is tried, and what is said of it. The runs are those of a stand-in."""

import msgspec
import pytest

from tests.support.repository import ENTRIES
from tridiff.fuzz.blame.localise import NotFailing
from tridiff.fuzz.blame.trial import Result, Trial
from tridiff.fuzz.blame.way_round import changes, guard, lines, way_round
from tridiff.fuzz.records import CorpusEntry, Outcome, Signature, Verdict


class Bench:
    """In the place of a laboratory: a case is right where `right` says so."""

    def __init__(self, right: "dict[str, str | int]", *, left: int = 100) -> None:
        self.trials: list[Trial] = []
        self._right, self._left = right, left

    def run(self, trial: Trial) -> Result:
        from tridiff.fuzz.blame.laboratory import OutOfTime

        if len(self.trials) >= self._left:
            raise OutOfTime
        self.trials.append(trial)
        options = msgspec.to_builtins(trial.case.options)
        fine = any(options.get(name, trial.case.params.get(name, trial.environment.get(name))) == value
                   for name, value in self._right.items())
        signature = None if fine else Signature(target=trial.case.target, subject=trial.subject,
                                                verdict=Verdict.DISAGREE, kind="value", where="out")
        verdict = Verdict.AGREE if fine else Verdict.DISAGREE
        outcome = Outcome(case_digest="", target=trial.case.target, subject=trial.subject, backend=trial.backend,
                          verdict=verdict, signature=signature)
        return Result(outcome=outcome, triton="3.9.0")


def ramp() -> CorpusEntry:
    return ENTRIES.find("triton.floordiv/value-cd18b7a4b0")


def test_options_variables_parameters_and_programs_are_tried():
    found = way_round(ramp(), "cuda", laboratory=Bench({"num_warps": 8, "DISABLE_LLVM_OPT": "1"}))
    assert [(one.what, one.change) for one in found.right] == [
        ("option", "num_warps=8"), ("environment", "DISABLE_LLVM_OPT=1")]
    tried = {one.what for one in found.tried}
    assert tried == {"option", "environment", "parameter"}
    assert "  option: num_warps=8" in list(lines(found))


def test_the_program_without_the_pattern_of_a_known_issue_is_tried():
    entry = ENTRIES.find("codegen.indexing/sigabrt-89561c16c7")
    ((words, fields),) = [(words, fields) for what, words, fields in changes(entry.case, "own", "compile:sm_90")
                          if what == "program"]
    assert words.startswith("the nearest program without: %") and fields["case"] != entry.case


def test_the_guard_names_versions_and_only_options_that_matter():
    entry = ramp()
    assert "cuda: triton==3.6.0 3.9.0" in guard(entry) and "dtype=i32" in guard(entry)
    assert guard(entry).endswith("options=num_warps=1")
    idle = way_round(entry, "cuda", laboratory=Bench({}))
    assert "options" not in idle.guard and not idle.right and "  none of what was tried" in list(lines(idle))
    matters = way_round(entry, "cuda", laboratory=Bench({"num_warps": 4}))
    assert matters.guard.endswith("options=num_warps=1")


def test_what_was_not_run_is_not_claimed():
    entry = ramp()
    assert way_round(entry, "").problem and not way_round(entry, "").tried
    cut = way_round(entry, "cuda", laboratory=Bench({"num_warps": 8}, left=2))
    assert len(cut.tried) == 1
    with pytest.raises(NotFailing, match="does not fail on cuda"):
        way_round(entry, "cuda", laboratory=Bench({"num_warps": 1}))
