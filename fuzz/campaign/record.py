"""What a campaign leaves behind, as records."""

from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.records import SCHEMA, Case, CorpusEntry, Environment, Record


class ShardSpec(Record, kw_only=True):
    """One independent part of a campaign: a target, a subject, a backend, a seed and a budget."""

    index: int
    target: str
    subject: str
    backend: str
    device: int
    seed: int
    seconds: float
    max_cases: int | None = None
    hang_limit: float = 10.0
    memory: int = 6 << 30
    elements: int = 1 << 14
    rows: int = 1 << 10
    shrink: bool = True
    shrink_seconds: float = 30.0
    """Seconds that Hypothesis may take to shrink one finding; explicit minimisation gets twice that."""
    left: float | None = None
    """Seconds from the shard's start to where it draws nothing more, whatever it has drawn: the campaign's end."""
    overtime: float | None = None
    """Seconds from the shard's start to where whatever still runs is given up: the campaign's end and some."""
    known: tuple[str, ...] = ()
    """Signature keys of corpus entries that still fail: counted, not reported."""
    most_findings: int | None = None
    """End once so many new findings are shrunk; None for never."""
    builds: tuple[str, str] | None = None
    """Of a pair: what goes in front of the path of workers, of the baseline and of the candidate (`fuzz.builds`)."""
    alike: Alike = Alike()
    """What both builds share."""
    first: tuple[Case, ...] = ()
    """Cases to judge before any is drawn."""
    only: tuple[str, ...] = ()
    """Of what the target draws from (`Draw.things`), what is to be drawn; anything where empty."""
    lacking: tuple[tuple[str, int], ...] = ()
    """Cells (`Draw.aims`) that the campaign has not reached often enough, with how many cases each lacks; most
    draws are aimed at them."""
    aimed: bool = False
    """Whether it ends once none of them lacks any."""
    enough: int | None = None
    """End once so many cases reached a changed function; None for never."""
    scout: bool = False
    """Whether a pair's candidate runs only cases of which the baseline has reached a changed function; listed ones that
    reach none are handed back."""
    issue: str = ""
    """The known issue (`fuzz.known`) whose pattern is to be in every case, of which few are enough; "" for any case."""
    control: str = ""
    """The subject without the planted fault: a failing case counts only if this subject passes. "": no control."""


class Counts(Record, kw_only=True):
    """Totals. `executed` and the verdicts count generated cases; runs made to shrink are `shrink_runs`."""

    executed: int = 0
    agree: int = 0
    disagree: int = 0
    not_checked: int = 0
    compile_error: int = 0
    crash: int = 0
    hang: int = 0
    refused: int = 0
    """Drawn cases that could not be run at all."""
    given_up: int = 0
    """Draws that came to no case, because their parts did not fit; not among `executed`."""
    row_inputs: int = 0
    launches: int = 0
    compiled_kernels: int = 0
    shrink_runs: int = 0
    busy_seconds: float = 0.0
    """Seconds of all runs; drawing cases and waiting left out."""
    compile_seconds: float = 0.0
    judge_seconds: float = 0.0
    """Of that: on compiling, and on holding results against the references."""
    shrink_seconds: float = 0.0
    """Of that: on runs made to shrink and confirm findings."""

    @property
    def checked(self) -> int:
        """Cases with a verdict that says something."""
        return self.executed - self.not_checked - self.refused

    def plus(self, other: "Counts") -> "Counts":
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class IssueCounts(Record, kw_only=True):
    """Drawn cases with the pattern of one known issue. failed: cases that failed in a way in which the issue may show.
    explained: failures that are the issue. refuted: failures that are not, because the case's relative without the
    pattern failed as well."""

    failed: int = 0
    explained: int = 0
    refuted: int = 0

    def plus(self, other: "IssueCounts") -> "IssueCounts":
        return IssueCounts(failed=self.failed + other.failed, explained=self.explained + other.explained,
                           refuted=self.refuted + other.refuted)


class ShardResult(Record, kw_only=True):
    """What a shard returns to the campaign."""

    spec: ShardSpec
    counts: Counts
    findings: tuple[CorpusEntry, ...] = ()
    found_after: tuple[float, ...] = ()
    """Seconds of fuzzing, shrinking left out, until each finding turned up."""
    found_cases: tuple[int, ...] = ()
    """Cases run until each finding turned up."""
    found_as: tuple[Case, ...] = ()
    """Each finding as it was drawn."""
    control_failed: int = 0
    """Failing cases that do not count, because the control fails as well."""
    failed: int = 0
    """Drawn cases that failed; of pairs, in either build."""
    known_seen: dict[str, int] = {}
    """Signature key to number of cases."""
    issues: dict[str, IssueCounts] = {}
    """By known issue."""
    reasons: dict[str, int] = {}
    """Why cases were not checked."""
    cells: dict[str, int] = {}
    """Ledger cell to the number of judged cases that reached it."""
    environment: Environment = Environment()
    seconds: float = 0.0
    """Of the worker, from when it was ready."""
    replacements: tuple[float, ...] = ()
    """Seconds from a worker's death to its replacement being ready."""
    deferred: tuple[Case, ...] = ()
    """Listed cases that reach nothing that has changed, for which it is not their turn."""
    left_out: str = ""
    """Why the target has no case here, and so none was drawn."""
    stopped: bool = False
    error: str = ""


class CampaignOptions(Record, kw_only=True):
    """What was asked for; enough to resume or repeat the campaign."""

    seconds: float
    targets: tuple[str, ...]
    subjects: tuple[str, ...]
    backends: tuple[str, ...]
    devices: tuple[int, ...]
    workers: int
    seed: int
    max_cases: int | None = None
    hang_limit: float = 10.0
    memory: int = 6 << 30
    shrink: bool = True
    corpus: str = "corpus"
    scheduler: str = ""
    baseline: str = ""
    """A build in which findings may be right, which their blames are held against."""
    by_yield: bool = False
    """Whether part of the time goes where it brings most (`campaign.deal`), or every combination has the same."""
    builds: tuple[str, str] | None = None
    """As in `ShardSpec`."""
    alike: Alike = Alike()
    issues: tuple[str, ...] = ()
    """Known issues (`fuzz.known`) whose patterns a gate draws, and nothing else; any case where empty."""


class Plan(Record, kw_only=True):
    """A campaign's fixed part, written before it starts."""

    id: str
    options: CampaignOptions
    shards: tuple[ShardSpec, ...]
    installed: dict[str, str] = {}
    """What must be the same when the campaign is resumed: versions of Triton and torch, the GPUs."""
    schema: int = SCHEMA


class TargetCounts(Record, kw_only=True):
    """Totals of one target, subject and backend."""

    target: str
    subject: str
    backend: str
    counts: Counts


class ProgramRate(Record, kw_only=True):
    """How fast generated programs (targets `codegen.*`) were drawn, run and judged. distinct: judged ones that differ
    from each other; per_second: of the campaign, whatever else it ran; accepted: judged ones out of those drawn;
    to_nearest_public: per_second in multiples of what the nearest public generator reaches in one process."""

    distinct: int
    per_second: float
    accepted: float
    to_nearest_public: float


class Summary(Record, kw_only=True):
    """The campaign's record: small, committed, comparable between versions."""

    id: str
    options: CampaignOptions
    environments: tuple[Environment, ...]
    counts: Counts
    by_target: tuple[TargetCounts, ...]
    new_findings: tuple[str, ...] = ()
    """Corpus ids."""
    proposed: dict[str, str] = {}
    """New findings whose minimal pattern (`fuzz.corpus.pattern`) is that of another entry, TARGET/ID: perhaps one."""
    known_findings: tuple[str, ...] = ()
    issues: dict[str, dict[str, IssueCounts]] = {}
    """By "TARGET SUBJECT" and known issue."""
    stopped_failing: tuple[str, ...] = ()
    """Corpus entries that were expected to fail here and no longer do."""
    not_checked_reasons: dict[str, int] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    """What a version or chip lacks, with the targets ("NAME on BACKEND") of which nothing could run without it."""
    errors: tuple[str, ...] = ()
    """Work that was lost: what went wrong with shards that did not come to their end."""
    repaired: tuple[str, ...] = ()
    """What went wrong with shards that were run again, and then came to their end."""
    unconfirmed: dict[str, tuple[str, ...]] = {}
    """Ids of findings that do not count, by why they do not."""
    joined: tuple[str, ...] = ()
    """Joint launches that failed each time, of cases that pass alone: names of their files beside the record."""
    seconds: float = 0.0
    programs: ProgramRate | None = None
    """Of generated programs, where there were any."""
    interrupted: bool = False
    schema: int = SCHEMA

    @property
    def exit_status(self) -> int:
        """0 nothing new, 1 new findings or joint launches that fail, 2 nothing could be checked, of all or for a chip
        that was asked for, or something that was to be checked was lost."""
        if self.counts.checked <= 0 or self.errors or self.in_vain:
            return 2
        return 1 if self.new_findings or self.joined else 0

    @property
    def in_vain(self) -> tuple[str, ...]:
        """Chips that were asked for by name, for which no case could be compiled: what the installation lacks."""
        found: dict[str, Counts] = {}
        for one in self.by_target:
            found[one.backend] = found.get(one.backend, Counts()).plus(one.counts)
        return tuple(name for name in self.options.backends
                     if name.startswith("compile:") and found.get(name, Counts()).executed
                     and found[name].checked <= 0)
