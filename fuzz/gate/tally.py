"""Totals of all pairs of a gate."""

import collections
from collections.abc import Iterable

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.watched import with_effect, with_statements
from tridiff.fuzz.gate.record import CodeDifference, IssuePairs, KernelTime, Resource, TargetPairs
from tridiff.fuzz.pair.log import PairLine
from tridiff.fuzz.reasons import reason_class
from tridiff.fuzz.records.pair import Numeric, Relation

BLIND_FROM, BLIND_SHARE = 10, 0.8
"""Pairs of a target on a backend, and the share of them that fails alike, from which nothing is seen there."""
MOST_CELLS = 200
"""Names of lost or gained cells in a record."""


class Tally:
    """Totals of all pairs."""

    def __init__(self, found: Iterable[PairLine]) -> None:
        self.relations: collections.Counter[Relation] = collections.Counter()
        self.reasons: collections.Counter[str] = collections.Counter()
        self.both: set[tuple[str, str, str]] = set()
        self.numeric: dict[str, Numeric] = {}
        self.flaky: list[str] = []
        self.compiling = self.launching = (0.0, 0.0)
        """Seconds, of the baseline and of the candidate."""
        self.not_launched = self.control = 0
        self.ran: set[tuple[str, str]] = set()
        """Digests of cases, with kinds of backend."""
        self._reached: tuple[set[str], set[str]] = (set(), set())
        self._alike: dict[tuple[str, str], collections.Counter[str]] = {}
        self._skipped: collections.Counter[tuple[str, str]] = collections.Counter()
        self._controls: collections.Counter[tuple[str, str]] = collections.Counter()
        self._targets: dict[tuple[str, str], collections.Counter[str]] = {}
        self._stages: collections.Counter[str] = collections.Counter()
        self._code: collections.Counter[tuple[str, str]] = collections.Counter()
        self._compared: collections.Counter[tuple[str, str]] = collections.Counter()
        self._resources: dict[str, list[float]] = {}
        self.run_times: list[KernelTime] = []
        self._issues: dict[str, collections.Counter[Relation]] = {}
        self.reached: collections.Counter[int] = collections.Counter()
        """Pairs whose baseline ran a changed function, by its number."""
        self.ran_statements: collections.Counter[int] = collections.Counter()
        """Those that ran the statements which differ."""
        self.with_effect: collections.Counter[int] = collections.Counter()
        """And those in which these come to something else than the candidate's would."""
        self.imported: set[int] = set()
        """Numbers of those that run whenever Triton is imported."""
        for line in found:
            self._take(line)

    def _take(self, line: PairLine) -> None:
        self.relations[line.relation] += 1
        key = (line.target, line.backend)
        self._targets.setdefault(key, collections.Counter())[line.relation.value] += 1
        self._code[key] += bool(line.code_changed)
        self._compared[key] += line.compiled
        self._stages.update(line.code_changed)
        if line.relation is Relation.BOTH:
            self.both.add((line.target, line.kind, line.where))
            self._alike.setdefault(key, collections.Counter())[reason_class(line.reason or line.kind)[:200]] += 1
        if line.relation is Relation.NOT_CHECKED:
            self.reasons[line.reason] += 1
        if line.relation is Relation.FLAKY:
            self.reasons["flaky"] += 1
            self.flaky.append(f"{line.target} on {line.backend}: {line.reason}")
        for output, numeric in line.numeric.items():
            name = f"{line.target} {output}"
            self.numeric[name] = self.numeric.get(name, Numeric()).plus(numeric)
        if line.issue:
            self._issues.setdefault(line.issue, collections.Counter())[line.relation] += 1
        self.ran.add((line.digest, kind(line.backend)))
        self.reached.update(line.reached)
        self.ran_statements.update(with_statements(line.reached))
        self.with_effect.update(with_effect(line.reached))
        self.imported.update(line.imported)
        for reached, cells in zip(self._reached, line.cells, strict=True):
            reached.update(cells)
        if line.relation in (Relation.SAME, Relation.IDENTICAL_CODE, Relation.NUMERIC, Relation.CHANGED):
            self.compiling = _plus(self.compiling, line.compiling)
            self.launching = _plus(self.launching, (max(line.seconds[0] - line.compiling[0], 0.0),
                                                    max(line.seconds[1] - line.compiling[1], 0.0)))
        self.not_launched += not line.launched
        self.control += line.control
        self._skipped[key] += not line.launched
        self._controls[key] += line.control
        if line.run_time is not None:
            self.run_times.append(KernelTime(target=line.target, case=line.digest, time=line.run_time))
        for name, (before, after) in line.resources.items():
            self._resources.setdefault(name, []).append(after / before if before else float(after > 0) * 2 or 1.0)

    def targets(self) -> tuple[TargetPairs, ...]:
        return tuple(TargetPairs(target=target, backend=backend, relations=dict(sorted(found.items())),
                                 code_changed=self._code[target, backend], compared=self._compared[target, backend],
                                 not_launched=self._skipped[target, backend], control=self._controls[target, backend])
                     for (target, backend), found in sorted(self._targets.items()))

    def blind(self) -> dict[str, tuple[str, ...]]:
        """Targets and backends where hardly anything is right in either build, so that nothing is compared there, by
        what both say most often."""
        found: dict[str, list[str]] = {}
        for (target, backend), reasons in sorted(self._alike.items()):
            ran = self._targets[target, backend]
            pairs = ran.total() - ran[Relation.NOT_CHECKED.value]
            if pairs >= BLIND_FROM and reasons.total() >= BLIND_SHARE * pairs:
                said = f"fails alike in both builds: {reasons.most_common(1)[0][0]}"
                found.setdefault(said, []).append(f"{target} on {backend}")
        return {said: tuple(names) for said, names in found.items()}

    def cells(self) -> dict[str, list[str]]:
        """Cells that only one build reached: "lost", the baseline, and "gained", the candidate."""
        before, after = self._reached
        found = {"lost": sorted(before - after), "gained": sorted(after - before)}
        return {sort: cells for sort, cells in found.items() if cells}

    def issues(self) -> dict[str, IssuePairs]:
        """What became of the cases that were drawn for known issues."""
        return {name: IssuePairs(
            cases=found.total(), repaired=found[Relation.FIXED], back=found[Relation.REGRESSION],
            failing=found[Relation.BOTH] + found[Relation.DIFFERENT]) for name, found in sorted(self._issues.items())}

    def code(self) -> CodeDifference:
        """Where the builds made other code of identical input."""
        targets: collections.Counter[str] = collections.Counter()
        for (target, _), number in self._code.items():
            targets[target] += number
        common = self._stages.most_common()
        return CodeDifference(
            cases=self._code.total(), compared=self._compared.total(),
            stages={name: number for name, number in common if ":" not in name},
            targets={name: number for name, number in targets.most_common(MOST_CELLS) if number},
            named=dict([one for one in common if ":" in one[0]][:MOST_CELLS]))

    def resources(self) -> dict[str, Resource]:
        return {name: Resource(more=sum(one > 1 for one in found), less=sum(one < 1 for one in found),
                               largest=round(max(found), 3)) for name, found in sorted(self._resources.items())}


def _plus(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return round(one[0] + other[0], 4), round(one[1] + other[1], 4)
