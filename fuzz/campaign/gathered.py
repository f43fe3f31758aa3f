"""What a campaign comes to, from what its shards recorded."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from tridiff.fuzz.campaign import joined
from tridiff.fuzz.campaign.deal import dealt
from tridiff.fuzz.campaign.known import known_findings, replayed
from tridiff.fuzz.campaign.program_rate import generated, program_rate
from tridiff.fuzz.campaign.record import Counts, Plan, ProgramRate, ShardResult, ShardSpec, Summary, TargetCounts
from tridiff.fuzz.campaign.store import ShardStore, counts_of, shard_path
from tridiff.fuzz.campaign.totals import Line, Totals, line_of
from tridiff.fuzz.records import CorpusEntry

NO_TIME = "no time was left"


class Gathered:
    """What one campaign came to so far. totals: of shards that came to their end. open_: the others, by number; what
    they recorded is added. failures: error messages of shards, with the shards. lost: numbers of shards that did not
    finish. left_out: shards for which no time was left. running: whether shards still run: then `totals` are taken as
    they are, no shard's file is touched, and the rate of programs is left out."""

    def __init__(self, *, plan: Plan, state: Path, totals: Totals, open_: Mapping[int, ShardSpec],
                 failures: Mapping[int, tuple[ShardSpec, list[str]]], lost: Collection[int],
                 left_out: Collection[ShardSpec], running: bool = False) -> None:
        self._plan, self._state, self._totals, self._open = plan, state, totals, open_
        self._failures, self._lost, self._left_out = failures, lost, left_out
        self._running = running

    def summary(self, *, counts: Counts, findings: list[CorpusEntry], unconfirmed: dict[str, tuple[str, ...]],
                seconds: float, interrupted: bool) -> Summary:
        """The record. counts: totals over all shards. findings: confirmed ones. unconfirmed: ids of the others, by
        the reason."""
        totals = self._totals
        if not self._running:
            for spec in self._open.values():
                self._recorded(spec)
        by_line = dict(totals.by_line)
        for spec, own in totals.with_findings.values():
            by_line[line_of(spec)] = by_line.get(line_of(spec), Counts()).plus(self._recount(spec, own))
        left_out = {reason: set(names) for reason, names in totals.left_out.items()}
        # What cannot be run here at all needs no time.
        lacking = set[str]().union(*left_out.values())
        for target, subject, backend in (*totals.late, *map(line_of, self._left_out)):
            name = f"{target} on {backend}"
            if (target, subject, backend) not in by_line and name not in lacking:
                left_out.setdefault(NO_TIME, set()).add(name)
        together, doubtful, shown = joined.told(self._state)
        return Summary(
            id=self._plan.id, options=self._plan.options, environments=tuple(totals.environments),
            counts=counts,
            by_target=tuple(TargetCounts(target=t, subject=s, backend=b, counts=c)
                            for (t, s, b), c in sorted(by_line.items())),
            new_findings=tuple(entry.id for entry in findings),
            known_findings=tuple(sorted(totals.known | shown)), issues=totals.issues,
            not_checked_reasons=totals.reasons,
            left_out={reason: tuple(sorted(names)) for reason, names in sorted(left_out.items())},
            errors=self._said(lost=True), repaired=self._said(lost=False),
            unconfirmed=unconfirmed | doubtful, joined=together, stopped_failing=self._stopped_failing(),
            seconds=round(seconds, 2), interrupted=interrupted,
            programs=None if self._running else self._program_rate(by_line, seconds))

    def _stopped_failing(self) -> tuple[str, ...]:
        """Entries that were expected to fail here and do not, of those that were replayed."""
        told = replayed(self._state)
        failing = {one.finding for one in told if one.fails}
        return tuple(dict.fromkeys(name for one in told if one.finding not in failing for name in one.stopped))

    def _recount(self, spec: ShardSpec, counts: Counts) -> Counts:
        """Those of a shard with the runs that were made to finish its findings after it had ended."""
        path = shard_path(self._state, spec.index)
        return counts if self._running or not path.exists() else counts_of(path)

    def _recorded(self, spec: ShardSpec) -> None:
        """Add what a shard that did not come to its end recorded."""
        path = shard_path(self._state, spec.index)
        if not path.exists():
            return
        store = ShardStore(path)
        if store.counts().executed:
            self._totals.add(ShardResult(
                spec=spec, counts=store.counts(), known_seen=store.known_seen(known_findings(spec, self._state)),
                issues=store.issues(), reasons=store.reasons(), stopped=True))
        store.close()

    def _said(self, *, lost: bool) -> tuple[str, ...]:
        """What went wrong, one line for equal ones, of shards that were lost or of those that came to their end."""
        lines: dict[str, None] = {}
        for index, (spec, problems) in self._failures.items():
            if (index in self._lost) is lost:
                lines.update(dict.fromkeys(f"{spec.target} on {spec.backend}: {problem}" for problem in problems))
        return tuple(lines)

    def _program_rate(self, by_line: Mapping[Line, Counts], seconds: float) -> ProgramRate | None:
        counts = Counts()
        for (target, _, _), own in by_line.items():
            counts = counts.plus(own) if generated(target) else counts
        return program_rate(self._judged(), counts, seconds)

    def _judged(self) -> Iterator[tuple[str, set[str]]]:
        """Shard by shard the programs that were judged."""
        for spec in (*self._plan.shards, *dealt(self._state)):
            path = shard_path(self._state, spec.index)
            if generated(spec.target) and path.exists():
                store = ShardStore(path)
                yield spec.target, store.judged()
                store.close()
