"""What goes in and out of one run of Hypothesis: how it ends, and the finding that it makes smaller."""

from dataclasses import dataclass, field

from tridiff.fuzz.records import Case, Outcome, Signature


class RoundOver(BaseException):
    """Ends a Hypothesis run from inside: budget used up or stop asked for."""


class Broken(BaseException):
    """Carries an exception of the harness out of a Hypothesis run. Hypothesis would take it for a failure of the case,
    try it again and, as it does not come again, call the case flaky."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
        super().__init__(str(cause))


class Failing(Exception):
    """Tells Hypothesis that a case shows the signature being shrunk."""


def fail() -> None:
    """Raise Failing. Hypothesis tells failures apart by where they are raised: there must be one place."""
    raise Failing


@dataclass(kw_only=True)
class Hunted:
    """A finding while Hypothesis shrinks it: its smallest case so far, and what is known of cases tried."""

    signature: Signature
    rank: object
    case: Case
    outcome: Outcome
    since: float
    failing: dict[str, bool] = field(default_factory=dict)
    runs: int = 0
