"""What a gate leaves behind, as records."""

from typing import Literal

from tridiff.fuzz.records import SCHEMA, CorpusEntry, Environment, Record
from tridiff.fuzz.records.pair import Numeric, Relation, RunTime

Verdict = Literal["upgrade", "upgrade with guards", "do not upgrade", "could not check"]

Action = Literal["block", "guard", "report"]
"""What a difference means for the upgrade (`policy.toml`)."""


class Side(Record, kw_only=True):
    """One of the two builds. name: as it was asked for; triton, torch: versions that ran; environments: of its workers,
    one for each backend."""

    name: str
    triton: str
    torch: str = ""
    environments: tuple[Environment, ...] = ()


class Guard(Record, kw_only=True):
    """Where the candidate must not be used. bad: one line, `triton==3.9.0; backend=...; op=...; dtype=...`; entry: id
    of the case that proves it; runs: how often it did ("5/5"). tried: what else was run on both builds
    ("options=default", "arch=sm_80"), and whether it shows the difference as well."""

    bad: str
    entry: str
    runs: str = ""
    tried: dict[str, bool] = {}


class GateFinding(Record, kw_only=True):
    """One difference between the builds, shrunk. accepted: why the policy lets it pass, "" if it does not name it.
    entry: the case with the verdicts of both builds; its evidence is of the side that fails."""

    relation: Relation
    action: Action
    key: str
    reason: str
    entry: CorpusEntry
    accepted: str = ""
    code_changed: tuple[str, ...] = ()


class ApiChange(Record, kw_only=True):
    """A public name whose signature or value is another one; before or after is "" where there is none."""

    name: str
    before: str
    after: str

    @property
    def sort(self) -> Literal["lost", "gained", "changed"]:
        return "changed" if self.before and self.after else "lost" if self.before else "gained"


class Resource(Record, kw_only=True):
    """How often kernels need more or less of something: more, less: numbers of cases; largest: of the quotients
    candidate / baseline."""

    more: int = 0
    less: int = 0
    largest: float = 0.0


class KernelTime(Record, kw_only=True):
    """How long the kernel of one case runs on both builds. case: its digest."""

    target: str
    case: str
    time: RunTime


class CodeDifference(Record, kw_only=True):
    """Other code for identical input. cases: of `compared`; stages: cases by stage; targets: those whose code differs,
    the most cases first; named: other answers of Triton about itself, as "NAME: what is apart", by cases."""

    cases: int = 0
    compared: int = 0
    stages: dict[str, int] = {}
    targets: dict[str, int] = {}
    named: dict[str, int] = {}


class Reach(Record, kw_only=True):
    """How often a changed function ran. name: "FILE:FUNCTION", or what stands outside of functions and is used by some;
    pairs: that ran it on the baseline; statements: of these, those that ran what differs in it; with_effect: of these,
    those in which it came to something else than in the other build, or may have; imported: whether the import of
    Triton runs it; accepted: why the policy lets it pass that none did, "" if it does not say so."""

    name: str
    pairs: int = 0
    statements: int = 0
    with_effect: int = 0
    imported: bool = False
    accepted: str = ""

    @property
    def never(self) -> bool:
        """Whether nothing is known of the change."""
        return not self.pairs and not self.imported


class IssuePairs(Record, kw_only=True):
    """Pairs of cases drawn for the pattern of a known issue, in any of its targets. Of these: repaired: fail in the
    baseline alone; back: in the candidate alone; failing: in both. They may fail by something else as well."""

    cases: int = 0
    repaired: int = 0
    back: int = 0
    failing: int = 0

    @property
    def fails_in(self) -> Literal["both", "candidate", "baseline", "neither"]:
        """Where any of them failed."""
        return "both" if self.failing or (self.repaired and self.back) else "candidate" if self.back else (
            "baseline" if self.repaired else "neither")


class TargetPairs(Record, kw_only=True):
    """Pairs of one target on one backend, by relation, and those whose code differs."""

    target: str
    backend: str
    relations: dict[str, int]
    code_changed: int = 0
    compared: int = 0
    """Cases of which both sides had code."""
    not_launched: int = 0
    """Cases that were not run, because both sides had the same code."""
    control: int = 0
    """Cases that were run all the same."""
    seconds: float = 0.0
    shrinking: float = 0.0
    """Of the workers, over all subjects, and what of it went into making differences smaller."""


class SweepChange(Record, kw_only=True):
    """One difference between the sweeps of an operation on both builds (`fuzz.sweep.compare`). worse: inputs that were
    right are wrong now."""

    sweep: str
    kind: str
    text: str
    worse: bool
    action: Action


class SweepComparison(Record, kw_only=True):
    """All inputs of some operations on both builds. compared: sweeps that both have; not_checked: those that one of
    them could not do."""

    compared: int = 0
    unchanged: int = 0
    changes: tuple[SweepChange, ...] = ()
    not_checked: tuple[str, ...] = ()
    interrupted: bool = False


class GateSummary(Record, kw_only=True):
    """The gate's record.

    pairs: drawn cases that ran on both builds. identical_code: of those, compiled to the same code. regressions, fixed,
    changed: numbers of different findings; both: of different failures that both builds show alike. not_checked: pairs
    of which nothing was decided.
    """

    id: str
    verdict: Verdict
    baseline: Side
    candidate: Side
    pairs: int
    identical_code: int
    regressions: int
    fixed: int
    changed: int
    both: int
    not_checked: int
    seconds: float
    why: tuple[str, ...] = ()
    """What the verdict rests on, one line each."""
    findings: tuple[GateFinding, ...] = ()
    proposed: dict[str, str] = {}
    """Findings whose minimal pattern (`fuzz.corpus.pattern`) is that of another one of their relation, TARGET/ID:
    perhaps one."""
    guards: tuple[Guard, ...] = ()
    flaky: tuple[str, ...] = ()
    """Differences that did not come each time, with the side that is flaky."""
    api: tuple[ApiChange, ...] = ()
    targets: tuple[TargetPairs, ...] = ()
    numeric: dict[str, Numeric] = {}
    """By target and output."""
    resources: dict[str, Resource] = {}
    code: CodeDifference = CodeDifference()
    issues: dict[str, IssuePairs] = {}
    """By known issue (`fuzz.known`), where its pattern was drawn for its own sake."""
    compile_seconds: tuple[float, float] = (0.0, 0.0)
    """Compiling, of the baseline and of the candidate, over the same cases, where neither side fails."""
    launch_seconds: tuple[float, float] = (0.0, 0.0)
    """Launching and waiting, likewise."""
    run_times: tuple[KernelTime, ...] = ()
    """Of kernels of 20 microseconds and more whose code differs, the largest quotient candidate / baseline first."""
    not_launched: int = 0
    """Of the pairs of identical code: those that were not run for that."""
    control: int = 0
    """And those that were run all the same, to see whether equal code gives equal results: one in twenty."""
    cells: dict[str, tuple[str, ...]] = {}
    """Cells of IR operations that the cases reached on one build only: "lost" and "gained", the first 200 of each."""
    cell_numbers: dict[str, int] = {}
    """How many there are."""
    entries_left_out: tuple[str, ...] = ()
    """Corpus entries that were seen on a backend of this gate and did not run on both builds: no time, or not drawn by
    the target any more."""
    floor_missed: tuple[str, ...] = ()
    """What had no pair for lack of time, "TARGET SUBJECT on BACKEND": the verdict cannot be `upgrade` then."""
    reach: tuple[Reach, ...] = ()
    """Of each changed function, where both builds differ in few: the verdict cannot be `upgrade` if one never ran."""
    not_checked_reasons: dict[str, int] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    """What could not run at all, or where nothing is right in either build, by reason."""
    sweeps: SweepComparison | None = None
    """With `--sweep`."""
    errors: tuple[str, ...] = ()
    interrupted: bool = False
    seed: int = 0
    schema: int = SCHEMA

    @property
    def failing_issues(self) -> dict[str, IssuePairs]:
        """Those of the known issues drawn anew that fail in either build."""
        return {name: one for name, one in self.issues.items() if one.fails_in != "neither"}

    @property
    def exit_status(self) -> int:
        """0 upgrade, 1 differences that block or need a guard, 2 could not check."""
        return {"upgrade": 0, "could not check": 2}.get(self.verdict, 1)
