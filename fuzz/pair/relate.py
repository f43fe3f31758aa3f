"""How two outcomes of one case stand to each other (contract: `fuzz/gate/gate.md`)."""

import collections
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tridiff.fuzz.pair.bits import Difference, differences
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.records.observed import Observed, ObservedOutput
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation

EXACT = ("BIT", "NUM", "NUM0", "SET", "META")
"""Classes of rules without a tolerance (`oracles.rules`)."""

OUT_OF_RESOURCES = "out_of_resources"
"""Kind of a pair of which one side compiles to what the chip cannot launch."""

_APART = 160
"""Characters that say what is apart in one answer."""

SHARED_BYTES = {"sm_80": 163 << 10, "sm_90": 227 << 10, "sm_100": 227 << 10, "gfx942": 64 << 10}
"""Shared memory that one block can have, by architecture (CUDA programming guide, table of compute capabilities; AMD
CDNA3: 64 KiB of LDS). Ahead of time nobody looks; a launch with more fails."""

Fetch = Callable[[Mapping[str, tuple[int, ...]]], tuple[Observed | None, Observed | None]]
"""Gets parts of outputs, by output, from the baseline and from the candidate: both run again."""


@dataclass(frozen=True, kw_only=True)
class _Bits:
    """What a comparison of outputs gave."""

    relation: Relation
    kind: str = ""
    where: str = ""
    reason: str = ""
    numeric: dict[str, Numeric] = field(default_factory=dict)


def relate(case: Case, baseline: Outcome, candidate: Outcome, observed: tuple[Observed | None, Observed | None],
           fetch: Fetch) -> PairOutcome:
    """Judge the pair. observed: what both sides gave, without values; fetch is asked for values where they differ."""
    first, second = observed
    code = changed_code(first, second)
    kept = (first, second) if first is not None and second is not None else None

    def pair(relation: Relation, kind: str = "", where: str = "", reason: str = "",
             numeric: dict[str, Numeric] | None = None) -> PairOutcome:
        return PairOutcome(case=case, relation=relation, baseline=baseline, candidate=candidate, kind=kind, where=where,
                           reason=reason[:2000], code_changed=code, numeric=numeric or {}, observed=kept)

    too_much = _too_much(baseline, first), _too_much(candidate, second)
    if too_much[1] and not too_much[0] and baseline.verdict is Verdict.AGREE:
        return pair(Relation.REGRESSION, OUT_OF_RESOURCES, reason=f"newly out of resources: {too_much[1]}")
    if too_much[0] and not too_much[1] and candidate.verdict is Verdict.AGREE:
        return pair(Relation.FIXED, OUT_OF_RESOURCES, reason=f"no longer out of resources: {too_much[0]}")
    failed, fails = baseline.verdict.failed, candidate.verdict.failed
    if failed or fails:
        speaks = candidate if fails else baseline
        kind, where = _named(speaks)
        if fails and baseline.verdict is Verdict.AGREE:
            return pair(Relation.REGRESSION, kind, where, f"right before, now {speaks.verdict.value}: {speaks.reason}")
        if failed and candidate.verdict is Verdict.AGREE:
            return pair(Relation.FIXED, kind, where, f"right now, before {speaks.verdict.value}: {speaks.reason}")
        if failed and fails:
            return _both_fail(pair, baseline, candidate, first, second)
        unchecked = candidate if failed else baseline
        return pair(Relation.NOT_CHECKED, reason=f"{'candidate' if failed else 'baseline'}: {unchecked.reason}")
    if (baseline.verdict, candidate.verdict).count(Verdict.NOT_CHECKED) == 1 and not _values(first, second):
        unchecked = baseline if baseline.verdict is Verdict.NOT_CHECKED else candidate
        side = "baseline" if unchecked is baseline else "candidate"
        return pair(Relation.NOT_CHECKED, reason=f"{side}: {unchecked.reason}")
    if first is None or second is None:
        return pair(Relation.NOT_CHECKED, reason=candidate.reason or baseline.reason or "nothing was observed")
    if not _values(first, second):
        if baseline.verdict is Verdict.NOT_CHECKED:
            return pair(Relation.NOT_CHECKED, reason=candidate.reason)
        same = not code and (first.code or first.answers)
        return pair(Relation.IDENTICAL_CODE if same else Relation.SAME)
    found = _compare(first, second, fetch)
    if found.relation is Relation.SAME and first.code and not code:
        return pair(Relation.IDENTICAL_CODE)
    return pair(found.relation, found.kind, found.where, found.reason, found.numeric)


def _too_much(outcome: Outcome, seen: Observed | None) -> str:
    """What a kernel of the case needs and its chip has not; "" if it fits, as far as one can see."""
    if outcome.verdict is Verdict.NOT_CHECKED and outcome.reason.startswith("OutOfResources"):
        return outcome.reason
    largest = SHARED_BYTES.get(outcome.backend.partition(":")[2])
    needed = seen.resources.get("shared", 0) if seen is not None else 0
    if largest is None or needed <= largest or outcome.verdict.failed:
        return ""
    return f"{needed} bytes of shared memory, of {largest}"


def _values(first: Observed | None, second: Observed | None) -> bool:
    return bool(first is not None and second is not None and first.outputs and second.outputs)


def _named(outcome: Outcome) -> tuple[str, str]:
    signature = outcome.signature
    return (signature.kind, signature.where) if signature is not None else (outcome.verdict.value, "")


def changed_code(first: Observed | None, second: Observed | None) -> tuple[str, ...]:
    """Stages of which both have code, and not the same; then answers that differ, as "NAME: what is apart"."""
    if first is None or second is None:
        return ()
    stages = (stage for stage in first.code if stage in second.code and first.code[stage] != second.code[stage])
    answers = (f"{name}: {_apart(before, second.answers.get(name, ''))}" for name, before in first.answers.items()
               if before != second.answers.get(name, ""))
    return *stages, *answers


def _apart(before: str, after: str) -> str:
    """What two lists do not share, or that their order is another one."""
    old, new = (text.split("; ") for text in (before, after))
    gone, come = (collections.Counter(one) - collections.Counter(other) for one, other in ((old, new), (new, old)))
    parts = [f"{word} {', '.join(found.elements())}" for word, found in (("no longer", gone), ("now", come)) if found]
    return ", ".join(parts)[:_APART] or "in another order"


def _both_fail(pair: Callable[..., PairOutcome], baseline: Outcome, candidate: Outcome, first: Observed | None,
               second: Observed | None) -> PairOutcome:
    kind, where = _named(candidate)
    if baseline.signature != candidate.signature:
        before = " ".join(filter(None, _named(baseline)))
        return pair(Relation.DIFFERENT, f"{before} -> {kind}", where,
                    f"before {baseline.verdict.value}: {baseline.reason}; now {candidate.verdict.value}: "
                    f"{candidate.reason}")
    if first is not None and second is not None and _unlike(first, second):
        return pair(Relation.DIFFERENT, f"{kind}, other values", where,
                    f"wrong in both, with other values: {candidate.reason}")
    return pair(Relation.BOTH, kind, where, candidate.reason)


def _unlike(first: Observed, second: Observed) -> bool:
    return any(name in second.outputs and not one.unordered and one.rule in EXACT
               and one.chunks != second.outputs[name].chunks for name, one in first.outputs.items())


def _compare(first: Observed, second: Observed, fetch: Fetch) -> _Bits:
    """Outputs bit for bit; the first of the gravest kind of difference is told."""
    apart: dict[str, tuple[int, ...]] = {}
    for name, one in first.outputs.items():
        other = second.outputs.get(name)
        if other is None or (one.dtype, one.elements) != (other.dtype, other.elements):
            return _Bits(relation=Relation.CHANGED, kind="shape", where=name,
                         reason=f"{name} was {_shape(one)}, now {_shape(other)}")
        if one.unordered:
            continue
        numbers = tuple(number for number, (left, right) in enumerate(zip(one.chunks, other.chunks, strict=True))
                        if left != right)
        if numbers:
            apart[name] = numbers[:4]
    if not apart:
        return _Bits(relation=Relation.SAME)
    left, right = fetch(apart)
    numeric: dict[str, Numeric] = {}
    changed: _Bits | None = None
    for name in apart:
        if left is None or right is None or not left.outputs[name].parts or not right.outputs[name].parts:
            return _Bits(relation=Relation.FLAKY, where=name, reason=f"{name} was not there when it was fetched")
        found = differences(left.outputs[name], right.outputs[name])
        if found.elements == 0:
            return _Bits(relation=Relation.FLAKY, where=name, reason=f"{name} differed once and not again")
        tolerant = first.outputs[name].rule not in EXACT
        if found.judged and tolerant and not found.special:
            numeric[name] = found.numeric
        if found.open or found.special or (found.judged and not tolerant):
            changed = changed or _changed(name, found)
    if changed is not None:
        return _Bits(relation=changed.relation, kind=changed.kind, where=changed.where, reason=changed.reason,
                     numeric=numeric)
    return _Bits(relation=Relation.NUMERIC, where=next(iter(numeric)), numeric=numeric,
                 reason="other bits within the tolerance")


def _changed(name: str, found: Difference) -> _Bits:
    word = "open" if found.open and not found.judged else found.word
    return _Bits(relation=Relation.CHANGED, kind=word, where=name, reason=(
        f"{found.elements} elements of {name} have other bits ({word}), first at {found.first}: {found.before} before, "
        f"{found.after} now"))


def _shape(one: ObservedOutput | None) -> str:
    return "missing" if one is None else f"{one.elements} {one.dtype}"
