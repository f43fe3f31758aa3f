"""What became of a joint launch."""

from tridiff.fuzz.records.case import Case
from tridiff.fuzz.records.outcome import Outcome, Verdict
from tridiff.kernels.record import Record


class JointOutcome(Record, kw_only=True):
    """The judged results of the cases of a joint launch, or how the launch ended before there were any."""

    outcomes: tuple[Outcome, ...] = ()
    """Of each case, where the launch came to its end."""
    verdict: Verdict = Verdict.AGREE
    """Of the launch as a whole."""
    reason: str = ""
    source: str = ""
    """The kernel, where something is wrong."""

    def passed(self) -> tuple[Outcome, ...]:
        """Outcomes that count: those of the cases that agree, where the launch came to its end and wrote nothing
        outside of its outputs."""
        kinds = {one.signature.kind for one in self.outcomes if one.signature is not None}
        return () if kinds & OF_ALL else tuple(one for one in self.outcomes if one.verdict is Verdict.AGREE)


OF_ALL = frozenset(("out_of_bounds", "input_overwritten"))
"""Kinds of failures of one case after which no case of its joint launch counts."""


class Together(Record, kw_only=True):
    """A joint launch that failed, of cases each of which passes alone as far as it was run: calls act on one another.
    """

    target: str
    subject: str
    backend: str
    reason: str
    times: str
    """How often of how many times the launch failed."""
    alone: str
    """What is known of the cases alone."""
    cases: tuple[Case, ...]
    source: str
    """The kernel."""
    triton: str = ""
    issue: str = ""
    """The known finding that it is."""
