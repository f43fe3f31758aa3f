"""From the pairs of a gate to its verdict."""

import collections
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.campaign.record import Summary
from tridiff.fuzz.gate.guards import guard
from tridiff.fuzz.gate.policy import Policy
from tridiff.fuzz.gate.record import (
    ApiChange,
    GateFinding,
    GateSummary,
    Resource,
    Side,
    TargetPairs,
    Verdict,
)
from tridiff.fuzz.pair.log import PairLine, lines, shown
from tridiff.fuzz.records import CorpusEntry, Expectation
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation


def judged(summary: Summary, entries: Iterable[CorpusEntry], *, state: Path, policy: Policy, baseline: Side,
           candidate: Side, api: tuple[ApiChange, ...], seconds: float) -> GateSummary:
    """The gate's record. entries: differences as the campaign kept them, the doubtful ones left out."""
    tally = _Tally(lines(state))
    findings, flaky = [], []
    for entry in entries:
        pair = shown(state, entry.case.digest)
        if pair is None:
            flaky.append(f"{entry.id}: its pair was not kept")
        elif entry.status == "flaky":
            flaky.append(f"{entry.title} ({entry.reproduced})")
        else:
            findings.append(_finding(entry, pair, policy))
    findings.sort(key=lambda one: (["block", "guard", "report"].index(one.action), one.relation.value, one.entry.id))
    guards = tuple(guard(one.entry, triton=candidate.triton, backend=one.entry.found_in.backend,
                         architecture=one.entry.found_in.architecture)
                   for one in findings if one.relation in (Relation.REGRESSION, Relation.CHANGED) and not one.accepted)
    blocks = [f"{one.relation.value}: {one.entry.title}" for one in findings
              if one.action == "block" and not one.accepted]
    guarded = [f"{one.relation.value}: {one.entry.title}" for one in findings
               if one.action == "guard" and not one.accepted]
    for action, line in _beside(tally, policy, api):
        (blocks if action == "block" else guarded).append(line)
    relations = collections.Counter(one.relation for one in findings)
    checked = sum(number for relation, number in tally.relations.items()
                  if relation not in (Relation.NOT_CHECKED, Relation.FLAKY))
    verdict: Verdict = "do not upgrade" if blocks else "upgrade with guards" if guarded else "upgrade"
    # What was found stands, whatever else was lost; that nothing was found says something only if all was looked at.
    if not blocks and (not checked or summary.errors or summary.interrupted):
        verdict = "could not check"
    reasons = dict(tally.reasons)
    return GateSummary(
        id=summary.id, verdict=verdict, baseline=baseline, candidate=candidate, pairs=sum(tally.relations.values()),
        identical_code=tally.relations[Relation.IDENTICAL_CODE], regressions=relations[Relation.REGRESSION],
        fixed=relations[Relation.FIXED], changed=relations[Relation.CHANGED] + relations[Relation.DIFFERENT],
        both=len(tally.both), not_checked=tally.relations[Relation.NOT_CHECKED] + tally.relations[Relation.FLAKY],
        seconds=round(seconds, 2), why=(*blocks, *guarded), findings=tuple(findings), guards=guards,
        flaky=(*flaky, *tally.flaky), api=api, targets=tally.targets(), numeric=tally.numeric,
        resources=tally.resources(), compile_seconds=tally.seconds, not_checked_reasons=reasons,
        left_out=summary.left_out, errors=summary.errors, interrupted=summary.interrupted, seed=summary.options.seed)


def _finding(entry: CorpusEntry, pair: PairOutcome, policy: Policy) -> GateFinding:
    key = entry.signature.kind
    speaks = pair.candidate if pair.candidate.verdict.failed else pair.baseline
    if speaks.signature is not None:
        rows = tuple(Expectation(subject=speaks.subject, triton=triton, backend=outcome.backend,
                                 verdict=outcome.verdict, kind=outcome.signature.kind if outcome.signature else "")
                     for triton, outcome in ((_version(entry, pair, 0), pair.baseline),
                                             (_version(entry, pair, 1), pair.candidate)) if triton)
        entry = replace(entry, signature=speaks.signature, expected=rows or entry.expected,
                        evidence=speaks.evidence or entry.evidence)
    return GateFinding(relation=pair.relation, key=key, reason=pair.reason, entry=entry,
                       action=policy.action(pair.relation, verdict=pair.candidate.verdict.value),
                       accepted=policy.accepted(entry.case.target, key), code_changed=pair.code_changed)


def _version(entry: CorpusEntry, pair: PairOutcome, side: int) -> str:
    return pair.versions[side] or (entry.found_in.triton if side else "")


def _beside(tally: "_Tally", policy: Policy, api: tuple[ApiChange, ...]) -> Iterable[tuple[str, str]]:
    """What speaks against the candidate beside single cases: (action, line)."""
    for sort in ("lost", "changed", "gained"):
        changed = [one.name for one in api if one.sort == sort]
        action = policy.api.get(sort, "report")
        if changed and action != "report":
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            yield action, f"API: {len(changed)} public names {sort}: {', '.join(changed[:3])}{more}"
    rule = policy.numeric
    for name, numeric in tally.numeric.items():
        apart = sum(numeric.histogram.values())
        if rule.action != "report" and apart >= rule.least_elements and abs(numeric.bias) > rule.largest_bias * apart:
            yield rule.action, (f"numbers: {apart} elements of {name} changed within the tolerance, "
                                f"{abs(numeric.bias) / apart:.0%} of them to one side")
    for name, resource in tally.resources().items():
        if policy.resources.action != "report" and resource.largest > policy.resources.largest:
            yield policy.resources.action, f"resources: {name} grows up to {resource.largest:.2g} times"


class _Tally:
    """Totals of all pairs."""

    def __init__(self, found: Iterable[PairLine]) -> None:
        self.relations: collections.Counter[Relation] = collections.Counter()
        self.reasons: collections.Counter[str] = collections.Counter()
        self.both: set[tuple[str, str, str]] = set()
        self.numeric: dict[str, Numeric] = {}
        self.flaky: list[str] = []
        self.seconds = (0.0, 0.0)
        self._targets: dict[tuple[str, str], collections.Counter[str]] = {}
        self._code: collections.Counter[tuple[str, str]] = collections.Counter()
        self._compared: collections.Counter[tuple[str, str]] = collections.Counter()
        self._resources: dict[str, list[float]] = {}
        for line in found:
            self._take(line)

    def _take(self, line: PairLine) -> None:
        self.relations[line.relation] += 1
        key = (line.target, line.backend)
        self._targets.setdefault(key, collections.Counter())[line.relation.value] += 1
        self._code[key] += bool(line.code_changed)
        self._compared[key] += line.compiled
        if line.relation is Relation.BOTH:
            self.both.add((line.target, line.kind, line.where))
        if line.relation is Relation.NOT_CHECKED:
            self.reasons[line.reason] += 1
        if line.relation is Relation.FLAKY:
            self.reasons["flaky"] += 1
            self.flaky.append(f"{line.target} on {line.backend}: {line.reason}")
        for output, numeric in line.numeric.items():
            name = f"{line.target} {output}"
            self.numeric[name] = self.numeric.get(name, Numeric()).plus(numeric)
        self.seconds = (self.seconds[0] + line.seconds[0], self.seconds[1] + line.seconds[1])
        for name, (before, after) in line.resources.items():
            self._resources.setdefault(name, []).append(after / before if before else float(after > 0) * 2 or 1.0)

    def targets(self) -> tuple[TargetPairs, ...]:
        return tuple(TargetPairs(target=target, backend=backend, relations=dict(sorted(found.items())),
                                 code_changed=self._code[target, backend], compared=self._compared[target, backend])
                     for (target, backend), found in sorted(self._targets.items()))

    def resources(self) -> dict[str, Resource]:
        return {name: Resource(more=sum(one > 1 for one in found), less=sum(one < 1 for one in found),
                               largest=round(max(found), 3)) for name, found in sorted(self._resources.items())}
