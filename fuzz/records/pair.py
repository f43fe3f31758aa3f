"""Pair: what one case gave on two builds of Triton, and how the two stand to each other."""

import enum

from tridiff.fuzz.records.case import Case
from tridiff.fuzz.records.observed import Observed
from tridiff.fuzz.records.outcome import Outcome
from tridiff.kernels.record import Record


class Relation(enum.Enum):
    """How the candidate stands to the baseline in one case (`fuzz/gate/gate.md` has the table)."""

    SAME = "same"
    """Both are right, or both leave the answer open, with the same bits."""
    IDENTICAL_CODE = "identical_code"
    """Both compiled to the same code: as `same`, or not run at all."""
    NUMERIC = "numeric_change"
    """Both are within the tolerance, with other bits."""
    CHANGED = "changed_behaviour"
    """Other bits where the contract leaves the answer open."""
    REGRESSION = "regression"
    """Right before; wrong, refused, crashing, hanging or unwritten now."""
    FIXED = "fixed"
    BOTH = "both_alike"
    """Both fail, with the same signature and the same bits."""
    DIFFERENT = "both_differently"
    """Both fail, in different ways."""
    FLAKY = "flaky"
    """One side does not give the same twice: nothing follows."""
    NOT_CHECKED = "not_checked"

    @property
    def different(self) -> bool:
        """Whether there is something to show: a case that is shrunk and kept."""
        return self in (Relation.CHANGED, Relation.REGRESSION, Relation.FIXED, Relation.DIFFERENT)

    @property
    def fails(self) -> bool:
        """Whether either build fails."""
        return self in (Relation.REGRESSION, Relation.FIXED, Relation.BOTH, Relation.DIFFERENT)


class Numeric(Record, kw_only=True):
    """How far the elements of one output lie apart on two builds. histogram: by distance in units in the last place
    ("1", "2", "4", ... upper ends, "more" beyond 2^20), elements; bias: those where the candidate is larger minus
    those where it is smaller."""

    elements: int = 0
    histogram: dict[str, int] = {}
    bias: int = 0

    def plus(self, other: "Numeric") -> "Numeric":
        histogram = dict(self.histogram)
        for distance, number in other.histogram.items():
            histogram[distance] = histogram.get(distance, 0) + number
        return Numeric(elements=self.elements + other.elements, histogram=histogram, bias=self.bias + other.bias)


class RunTime(Record, kw_only=True):
    """Seconds of one kernel on the device, medians of both builds. spread: between the shortest and the longest turn of
    the less steady build, as a part of its median."""

    baseline: float
    candidate: float
    spread: float

    @property
    def quotient(self) -> float:
        return self.candidate / self.baseline if self.baseline else 0.0


class PairOutcome(Record, kw_only=True):
    """One case on both builds. kind, where: what tells findings apart, as in a `Signature`. flaky: the side that does
    not give the same twice. code_changed: stages whose code differs."""

    case: Case
    relation: Relation
    baseline: Outcome
    candidate: Outcome
    kind: str = ""
    where: str = ""
    reason: str = ""
    flaky: str = ""
    code_changed: tuple[str, ...] = ()
    launched: bool = True
    """False where both compiled to the same code and nothing was run."""
    control: bool = False
    """Both compiled to the same code and ran all the same, to see whether that is enough."""
    repeated: int = 0
    """How often each side ran again when this difference was first seen, and gave the same."""
    compiling: tuple[float, float] = (0.0, 0.0)
    """Seconds of compiling, of the baseline and of the candidate."""
    numeric: dict[str, Numeric] = {}
    """By output."""
    run_time: RunTime | None = None
    """Of a larger kernel that is right on both, where it was measured."""
    versions: tuple[str, str] = ("", "")
    """Of Triton: of the baseline and of the candidate."""
    reached: tuple[int, ...] = ()
    """Numbers of the changed functions (`Alike.functions`) that the case ran on the baseline."""
    imported: tuple[int, ...] = ()
    """And of those that the start of its worker ran."""
    observed: tuple[Observed, Observed] | None = None
    """Of the baseline and of the candidate, without values."""
