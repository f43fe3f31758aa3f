"""What the shards of a campaign that came to their end amount to, without the shards."""

from tridiff.fuzz.campaign.record import Counts, IssueCounts, ShardResult, ShardSpec
from tridiff.fuzz.records import Environment

Line = tuple[str, str, str]
"""Target, subject, backend."""


def line_of(spec: ShardSpec) -> Line:
    """Where a shard is counted."""
    return spec.target, spec.subject, spec.backend


class Totals:
    """Sums over shards. They grow with the targets, reasons, issues and findings that a campaign meets, and not with
    its shards: a night has tens of thousands of those, each with hundreds of cells."""

    def __init__(self) -> None:
        self.shards = 0
        """How many came to their end."""
        self.counts = Counts()
        self.by_line: dict[Line, Counts] = {}
        """Of shards without findings."""
        self.with_findings: dict[int, tuple[ShardSpec, Counts]] = {}
        """Shards whose findings may be followed up further, by number, with their own counts."""
        self.reasons: dict[str, int] = {}
        self.known: set[str] = set()
        self.issues: dict[str, dict[str, IssueCounts]] = {}
        """By "TARGET SUBJECT" and known issue."""
        self.environments: list[Environment] = []
        self.left_out: dict[str, set[str]] = {}
        """What is lacking here, with the targets of which nothing could run without it."""
        self.late: dict[Line, None] = {}
        """Lines of shards that had no time to judge a case."""

    def add(self, result: ShardResult) -> None:
        """Take in one shard."""
        spec = result.spec
        self.shards += 1
        self.counts = self.counts.plus(result.counts)
        if result.left_out:
            self.left_out.setdefault(result.left_out, set()).add(f"{spec.target} on {spec.backend}")
            return
        if not result.counts.executed and not result.error:
            self.late[line_of(spec)] = None
            return
        if result.findings and result.counts.executed:
            self.with_findings[spec.index] = spec, result.counts
        else:
            self.by_line[line_of(spec)] = self.by_line.get(line_of(spec), Counts()).plus(result.counts)
        for reason, number in result.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + number
        for issue, cases in result.issues.items():
            told = self.issues.setdefault(f"{spec.target} {spec.subject}", {})
            told[issue] = told.get(issue, IssueCounts()).plus(cases)
        self.known |= result.known_seen.keys()
        if result.environment.triton and result.environment not in self.environments:
            self.environments.append(result.environment)
