"""What a campaign comes to, from what its shards recorded."""

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.campaign.known import known_findings, replayed
from tridiff.fuzz.campaign.program_rate import generated, program_rate
from tridiff.fuzz.campaign.record import (
    Counts,
    IssueCounts,
    Plan,
    ProgramRate,
    ShardResult,
    ShardSpec,
    Summary,
    TargetCounts,
)
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.records import CorpusEntry, Environment

NO_TIME = "no time was left"


class Gathered:
    """The results of one campaign so far. results: of finished shards, by number; what unfinished shards recorded is
    added. failures: error messages by shard. lost: shards that did not finish. left_out: shards for which no time was
    left. running: whether shards still run: then `results` are taken as they are, their files are not touched, and the
    rate of programs is left out."""

    def __init__(self, *, plan: Plan, state: Path, specs: Mapping[int, ShardSpec], results: dict[int, ShardResult],
                 failures: Mapping[int, list[str]], lost: Collection[int], left_out: Collection[ShardSpec],
                 running: bool = False) -> None:
        self._plan, self._state, self._specs, self._results = plan, state, specs, results
        self._failures, self._lost, self._left_out = failures, lost, left_out
        self._running = running

    def summary(self, *, counts: Counts, findings: list[CorpusEntry], unconfirmed: dict[str, tuple[str, ...]],
                seconds: float, interrupted: bool) -> Summary:
        """The record. counts: totals over all shards. findings: confirmed ones. unconfirmed: ids of the others, by
        the reason."""
        if not self._running:
            for spec in self._specs.values():
                self._recount(spec)
        by_target: dict[tuple[str, str, str], Counts] = {}
        reasons: dict[str, int] = {}
        known: dict[str, int] = {}
        issues: dict[str, dict[str, IssueCounts]] = {}
        environments: list[Environment] = []
        left_out: dict[str, set[str]] = {}
        late = list(self._left_out)
        for result in self._results.values():
            if result.left_out:
                left_out.setdefault(result.left_out, set()).add(f"{result.spec.target} on {result.spec.backend}")
                continue
            if not result.counts.executed and not result.error:
                late.append(result.spec)
                continue
            key = (result.spec.target, result.spec.subject, result.spec.backend)
            by_target[key] = by_target.get(key, Counts()).plus(result.counts)
            for reason, number in result.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + number
            for issue, cases in result.issues.items():
                told = issues.setdefault(f"{result.spec.target} {result.spec.subject}", {})
                told[issue] = told.get(issue, IssueCounts()).plus(cases)
            for signature, number in result.known_seen.items():
                known[signature] = known.get(signature, 0) + number
            if result.environment.triton and result.environment not in environments:
                environments.append(result.environment)
        for spec in late:
            if (spec.target, spec.subject, spec.backend) not in by_target:
                left_out.setdefault(NO_TIME, set()).add(f"{spec.target} on {spec.backend}")
        return Summary(
            id=self._plan.id, options=self._plan.options, environments=tuple(environments),
            counts=counts,
            by_target=tuple(TargetCounts(target=t, subject=s, backend=b, counts=c)
                            for (t, s, b), c in sorted(by_target.items())),
            new_findings=tuple(entry.id for entry in findings),
            known_findings=tuple(sorted(known)), issues=issues, not_checked_reasons=reasons,
            left_out={reason: tuple(sorted(names)) for reason, names in sorted(left_out.items())},
            errors=self._said(lost=True), repaired=self._said(lost=False),
            unconfirmed=unconfirmed, stopped_failing=self._stopped_failing(),
            seconds=round(seconds, 2), interrupted=interrupted,
            programs=None if self._running else self._program_rate(seconds))

    def _stopped_failing(self) -> tuple[str, ...]:
        """Entries that were expected to fail here and do not, of those that were replayed."""
        told = replayed(self._state)
        failing = {one.finding for one in told if one.fails}
        return tuple(dict.fromkeys(name for one in told if one.finding not in failing for name in one.stopped))

    def _recount(self, spec: ShardSpec) -> None:
        """What a shard that did not come to its end recorded, and runs made to finish findings after it had ended."""
        result, path = self._results.get(spec.index), shard_path(self._state, spec.index)
        if not path.exists() or (result is not None and not (result.findings and result.counts.executed)):
            return
        store = ShardStore(path)
        if result is not None:
            self._results[spec.index] = replace(result, counts=store.counts())
        elif store.counts().executed:
            self._results[spec.index] = ShardResult(
                spec=spec, counts=store.counts(), known_seen=store.known_seen(known_findings(spec, self._state)),
                issues=store.issues(), reasons=store.reasons(), cells=store.cells(), stopped=True)
        store.close()

    def _said(self, *, lost: bool) -> tuple[str, ...]:
        """What went wrong, one line for equal ones, of shards that were lost or of those that came to their end."""
        lines: dict[str, None] = {}
        for index, problems in self._failures.items():
            if (index in self._lost) is lost:
                spec = self._specs[index]
                lines.update(dict.fromkeys(f"{spec.target} on {spec.backend}: {problem}" for problem in problems))
        return tuple(lines)

    def _program_rate(self, seconds: float) -> ProgramRate | None:
        judged: list[tuple[str, str]] = []
        counts = Counts()
        for index, result in self._results.items():
            path = shard_path(self._state, index)
            if generated(result.spec.target) and path.exists():
                store = ShardStore(path)
                judged += [(result.spec.target, digest) for digest in store.judged()]
                store.close()
                counts = counts.plus(result.counts)
        return program_rate(judged, counts, seconds)
