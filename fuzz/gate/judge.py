"""From the pairs of a gate to its verdict."""

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.gathered import NO_TIME
from tridiff.fuzz.campaign.record import Counts, ShardSpec, Summary
from tridiff.fuzz.corpus.pattern import proposed
from tridiff.fuzz.gate.guards import guards
from tridiff.fuzz.gate.plan import combinations, entries_left_out
from tridiff.fuzz.gate.policy import Policy
from tridiff.fuzz.gate.record import (
    ApiChange,
    CodeDifference,
    GateFinding,
    GateSummary,
    Reach,
    Side,
    SweepComparison,
    TargetPairs,
    Verdict,
)
from tridiff.fuzz.gate.tally import MOST_CELLS, Tally
from tridiff.fuzz.pair.log import lines, shown
from tridiff.fuzz.pair.pool import CANDIDATE_DIES
from tridiff.fuzz.reasons import by_class
from tridiff.fuzz.records import CorpusEntry, Expectation
from tridiff.fuzz.records.pair import PairOutcome, Relation

NEVER_RUN = "never run"
"""Key by which a policy accepts that no case runs a changed function."""


def judged(summary: Summary, entries: Iterable[CorpusEntry], *, state: Path, policy: Policy, baseline: Side,
           candidate: Side, api: tuple[ApiChange, ...], seconds: float, shards: tuple[ShardSpec, ...],
           corpus: tuple[CorpusEntry, ...], sweeps: SweepComparison | None = None) -> GateSummary:
    """The gate's record. entries: differences as the campaign kept them, the doubtful ones left out. shards: of the
    gate's plan. corpus: entries whose cases the gate was to run."""
    tally = Tally(lines(state))
    same_release = baseline.triton == candidate.triton
    policy = policy.of_one_release() if same_release else policy
    missed = () if _one_build(summary, baseline, candidate) else _floor_missed(summary, shards, tally)
    findings, flaky = [], []
    for entry in entries:
        pair = shown(state, entry)
        if pair is None:
            flaky.append(f"{entry.id}: its pair was not kept")
        elif entry.status == "flaky":
            flaky.append(f"{entry.title} ({entry.reproduced})")
        else:
            findings.append(_finding(entry, pair, policy))
    findings.sort(key=lambda one: (["block", "guard", "report"].index(one.action), one.relation.value, one.entry.id))
    alike = _proposed(findings)
    blocks, guarded = (list(_lines(findings, action, alike)) for action in ("block", "guard"))
    # The baseline's workers stood ready where this is said.
    blocks += [line for line in summary.errors if CANDIDATE_DIES in line][:1]
    for action, line in itertools.chain(_beside(tally, policy, api), _swept(sweeps),
                                        _code(tally.code(), policy, same_release=same_release)):
        {"block": blocks, "guard": guarded}[action].append(line)
    reach = _reach(summary, tally, policy)
    relations = collections.Counter(one.relation for one in findings)
    checked = sum(number for relation, number in tally.relations.items()
                  if relation not in (Relation.NOT_CHECKED, Relation.FLAKY))
    verdict: Verdict = "do not upgrade" if blocks else "upgrade with guards" if guarded else "upgrade"
    # What was found stands, whatever else was lost; that nothing was found says something only if all was looked at.
    if not blocks and (not checked or summary.errors or summary.interrupted or missed or any(
            one.never and not one.accepted for one in reach) or (
            sweeps is not None and (sweeps.interrupted or not sweeps.compared))):
        verdict = "could not check"
    cells = tally.cells()
    return GateSummary(
        id=summary.id, verdict=verdict, baseline=baseline, candidate=candidate, pairs=sum(tally.relations.values()),
        identical_code=tally.relations[Relation.IDENTICAL_CODE], regressions=relations[Relation.REGRESSION],
        fixed=relations[Relation.FIXED], changed=relations[Relation.CHANGED] + relations[Relation.DIFFERENT],
        both=len(tally.both), not_checked=tally.relations[Relation.NOT_CHECKED] + tally.relations[Relation.FLAKY],
        seconds=round(seconds, 2), why=(*blocks, *guarded), findings=tuple(findings),
        proposed=alike, guards=guards(tuple(findings), triton=candidate.triton),
        flaky=(*flaky, *tally.flaky), api=api, targets=_timed(tally.targets(), summary), numeric=tally.numeric,
        resources=tally.resources(), code=tally.code(), issues=tally.issues(),
        compile_seconds=tally.compiling, launch_seconds=tally.launching,
        run_times=tuple(sorted(tally.run_times, key=lambda one: -one.time.quotient)),
        not_launched=tally.not_launched, control=tally.control,
        cells={sort: tuple(names[:MOST_CELLS]) for sort, names in cells.items()},
        cell_numbers={sort: len(names) for sort, names in cells.items()},
        floor_missed=missed, entries_left_out=entries_left_out(
            summary.options, shards, corpus, tally.ran),
        reach=reach, not_checked_reasons=by_class(tally.reasons.items()),
        left_out=summary.left_out | _blind(state, shards), errors=summary.errors, interrupted=summary.interrupted,
        seed=summary.options.seed, sweeps=sweeps)


def _timed(targets: Iterable[TargetPairs], summary: Summary) -> tuple[TargetPairs, ...]:
    """The targets with the worker time that they took."""
    spent: dict[tuple[str, str], Counts] = {}
    for one in summary.by_target:
        where = one.target, one.backend
        spent[where] = spent.get(where, Counts()).plus(one.counts)
    return tuple(replace(pairs, seconds=round(took.busy_seconds, 1), shrinking=round(took.shrink_seconds, 1))
                 for pairs in targets for took in (spent.get((pairs.target, pairs.backend), Counts()),))


def _proposed(findings: Iterable[GateFinding]) -> dict[str, str]:
    """Findings that are perhaps one with an earlier one of the same relation, which counts as much, and with which."""
    groups: dict[tuple[str, str, bool], list[CorpusEntry]] = {}
    for one in findings:
        groups.setdefault((one.relation.value, one.action, bool(one.accepted)), []).append(one.entry)
    return {name: other for group in groups.values() for name, other in proposed(group, ()).items()}


def _lines(findings: Iterable[GateFinding], action: str, alike: Mapping[str, str]) -> Iterator[str]:
    """What speaks against the candidate, one line for each pattern."""
    more = collections.Counter(alike.values())
    for one in findings:
        if one.action == action and not one.accepted and one.entry.id not in alike:
            others = more[f"{one.entry.case.target}/{one.entry.id}"]
            like = f" (and {others} of the same pattern)" if others else ""
            yield f"{one.relation.value}: {one.entry.title}{like}"


def _code(found: CodeDifference, policy: Policy, *, same_release: bool) -> Iterable[tuple[str, str]]:
    """What other code for identical input means: (action, line). Named differences first, they say why."""
    action = policy.code.same_release if same_release else policy.code.other_release
    if action == "report" or not found.cases or policy.accepted("*", "code"):
        return
    both = ", of two builds of one version" if same_release else ""
    for name, number in list(found.named.items())[:3]:
        yield action, f"code: {name} ({number} cases{both})"
    if found.stages:
        more = f" and {len(found.targets) - 3} more" if len(found.targets) > 3 else ""
        yield action, (f"code: another {', '.join(found.stages)} for identical input in {found.cases} of "
                       f"{found.compared} cases{both}: {', '.join(list(found.targets)[:3])}{more}")


def _swept(sweeps: SweepComparison | None) -> Iterable[tuple[str, str]]:
    for one in sweeps.changes if sweeps is not None else ():
        if one.action != "report":
            yield one.action, f"all inputs of {one.sweep}: {one.text}"


def _blind(state: Path, shards: tuple[ShardSpec, ...]) -> dict[str, tuple[str, ...]]:
    """Where the drawn cases fail alike. Cases of the corpus and their neighbours are meant to."""
    return Tally(lines(state, without={spec.index for spec in shards if spec.first or spec.issue})).blind()


def _one_build(summary: Summary, baseline: Side, candidate: Side) -> bool:
    """Whether both sides are one and the same, file by file: there is nothing that a target could tell apart, and pairs
    show the noise of the machine, for which no target is needed in particular."""
    same_versions = (baseline.triton, baseline.torch) == (candidate.triton, candidate.torch)
    return same_versions and summary.options.alike.changed == 0


def _floor_missed(summary: Summary, shards: tuple[ShardSpec, ...], tally: Tally) -> tuple[str, ...]:
    """Combinations that had no pair, and for no other reason than the time."""
    had = {(one.target, one.subject, kind(one.backend)) for one in summary.by_target if one.counts.executed}
    lacking = {(target, kind(backend)) for reason, names in summary.left_out.items() if reason != NO_TIME
               for target, _, backend in (name.partition(" on ") for name in names)}
    return tuple(f"{target} {subject} on {backend}" for target, subject, backend in combinations(shards)
                 if (target, subject, backend) not in had and (target, backend) not in lacking)


def _reach(summary: Summary, tally: Tally, policy: Policy) -> tuple[Reach, ...]:
    """How often each changed function ran, the rarest first."""
    found = [Reach(name=one.told, pairs=tally.reached[number], statements=tally.ran_statements[number],
                   with_effect=tally.with_effect[number], imported=number in tally.imported or not one.users,
                   accepted=policy.accepted(one.told, NEVER_RUN))
             for number, one in enumerate(summary.options.alike.functions)]
    return tuple(sorted(found, key=lambda one: (not one.never, one.statements, one.pairs, one.name)))


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
                       action=policy.action(pair.relation, verdict=pair.candidate.verdict.value, kind=pair.kind),
                       accepted=policy.accepted(entry.case.target, key), code_changed=pair.code_changed)


def _version(entry: CorpusEntry, pair: PairOutcome, side: int) -> str:
    return pair.versions[side] or (entry.found_in.triton if side else "")


def _beside(tally: Tally, policy: Policy, api: tuple[ApiChange, ...]) -> Iterable[tuple[str, str]]:
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
    rule_of_time = policy.compile_time
    before, after = tally.compiling
    if rule_of_time.action != "report" and before >= rule_of_time.least_seconds and (
            after > rule_of_time.largest * before):
        yield rule_of_time.action, f"compile time: {after:.0f} s where the baseline takes {before:.0f} s"
    for one in tally.run_times:
        if policy.run_time.action != "report" and one.time.quotient > policy.run_time.largest + one.time.spread:
            yield policy.run_time.action, (
                f"run time: a kernel of {one.target} takes {1e6 * one.time.candidate:.0f} us where the baseline takes "
                f"{1e6 * one.time.baseline:.0f} us (case {one.case})")
    for name, resource in tally.resources().items():
        if policy.resources.action != "report" and resource.largest > policy.resources.largest:
            yield policy.resources.action, f"resources: {name} grows up to {resource.largest:.2g} times"
