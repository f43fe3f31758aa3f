"""Check: the outputs of the first launch are what the oracles expect."""

from collections.abc import Iterator

from tridiff.fuzz.judge.check import Found, Trial, found_in
from tridiff.fuzz.judge.outputs import judge_outputs
from tridiff.fuzz.records import Verdict


def values(trial: Trial) -> Iterator[Found]:
    """Wrong outputs, or outputs on which nothing can be said."""
    trial.judged = judge_outputs(trial.case, trial.target, trial.buffers, trial.expected)
    trial.judging_done()
    if trial.judged.verdict is not Verdict.AGREE:
        yield found_in(trial, trial.judged, trial.buffers)
