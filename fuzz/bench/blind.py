"""Which share of draws could hide a new defect behind a known one.

Of every draw it is asked, per subject and version, whether a wrong value that is none of a known issue would be taken
for one: by planting some in the right outputs of a case that has an issue's pattern, on the CPU; nothing is launched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import torch

from tridiff.fuzz.campaign.record import IssueCounts
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.corpus.cause import finding_of, finding_of_entry
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.open_share import open_shares
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.issues import all_issues, issues_of
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import Case, CorpusEntry, Signature, Verdict
from tridiff.fuzz.target import Limits, Target
from tridiff.oracles.bits import from_bits, to_bits
from tridiff.oracles.dtypes import dtype as dtype_info

DRAWS = 500
PLANTED = 3
"""Wrong values that are tried in a case whose issues predict values."""

LIMITS = Limits(elements=1 << 12, rows=1 << 8)
"""Sizes of the cases that are drawn; each is materialised and judged."""

_HOW = ("least bit", "sign", "zero", "ones", "other element", "next")


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """One known issue, or one entry that no issue is made of, at one target.

    drawn: draws that have its pattern. taken: of these, how many a planted wrong value was taken for it in, by parts.
    controlled: draws in which a relative is run before a failure is taken for it: a defect that does not show without
    the pattern is hidden there, and only there. failed, explained, refuted: cases that failed where the pattern is,
    that were taken for the issue, and that were not, because the relative failed as well, when they last ran; None:
    not run.
    """

    name: str
    subject: str
    drawn: int
    taken: float
    controlled: int
    failed: int | None = None
    explained: int | None = None
    refuted: int | None = None


class BlindShare(msgspec.Struct, frozen=True, kw_only=True):
    """How blind the search is at one target, on one version; all shares are between 0 and 1.

    share: of draws, under which a new wrong value would be taken for a known one (on the worst subject).
    open_elements, open_outputs: of output elements that the contract leaves open, of outputs open throughout.
    """

    target: str
    triton: str
    share: float
    open_elements: float
    open_outputs: float
    draws: int
    labels: tuple[Label, ...]


@dataclass
class _Tally:
    drawn: int = 0
    taken: float = 0.0
    controlled: int = 0


def live(entries: Iterable[CorpusEntry], triton: str) -> bool:
    """Whether any of the entries is expected to fail on cuda with this version, or nobody has said."""
    for entry in entries:
        rows = [one for one in entry.expected if one.triton == triton and one.backend == "cuda"]
        if not rows or any(one.verdict.failed for one in rows):
            return True
    return False


Ran = tuple[str, str, str]
"""Version of Triton, target, subject."""


class Blindness:
    """Measures targets against one corpus."""

    def __init__(self, entries: Sequence[CorpusEntry],
                 ran: Mapping[Ran, Mapping[str, IssueCounts]] | None = None) -> None:
        """ran: what campaigns recorded, by version, target and subject, and by issue."""
        self._ran = ran or {}
        self._entries = {f"{one.case.target}/{one.id}": one for one in entries}
        owned = {name for issue in all_issues() for name in issue.entries}
        self._alone = [one for name, one in self._entries.items() if name not in owned]

    def versions(self) -> tuple[str, ...]:
        """The versions of which the corpus has expectations on cuda."""
        return tuple(sorted({row.triton for one in self._entries.values() for row in one.expected
                             if row.backend == "cuda"}))

    def measure(self, target: Target, *, versions: Sequence[str], draws: int = DRAWS,
                seed: int = 1) -> tuple[BlindShare, ...]:
        """One share for each version. Raises TridiffError for a target that draws nothing."""
        cases = draw_cases(target.name, LIMITS, draws, seed=seed)
        if not cases:
            raise TridiffError(f"{target.name} draws no cases", fix="check its strategy")
        seen = [_seen(case, target, number) for number, case in enumerate(cases)]
        elements, outputs = opened(cases)
        return tuple(BlindShare(
            target=target.name, triton=version, draws=len(cases), open_elements=elements, open_outputs=outputs,
            share=share, labels=labels)
            for version in versions for share, labels in [self._share(target, cases, seen, version)])

    def _share(self, target: Target, cases: Sequence[Case], seen: Sequence[dict[str, _Seen]],
               version: str) -> tuple[float, tuple[Label, ...]]:
        issues = {one.name for one in all_issues() if self._is_live(one, version)}
        alone = [one for one in self._alone if live((one,), version)]
        worst = 0.0
        labels: list[Label] = []
        for subject in target.subjects:
            tallies: dict[str, _Tally] = {}
            blind = 0.0
            for case, found in zip(cases, seen, strict=True):
                for name, controlled in found[subject].patterns:
                    if name in issues:
                        tally = tallies.setdefault(name, _Tally())
                        tally.drawn += 1
                        tally.controlled += controlled
                taken = [names for names in found[subject].taken if names and set(names) <= issues]
                share = len(taken) / max(len(found[subject].taken), 1)
                for names in taken:
                    for name in names:
                        tallies[name].taken += 1 / len(found[subject].taken)
                same = _unowned(case, target, subject, alone)
                if same:
                    tally = tallies.setdefault(same, _Tally())
                    tally.drawn += 1
                    tally.taken += 1
                    share = 1.0
                blind += share
            worst = max(worst, blind / len(cases))
            ran = self._ran.get((version, target.name, subject))
            for name, one in sorted(tallies.items()):
                label = Label(name=name, subject=subject, drawn=one.drawn, taken=round(one.taken, 2),
                              controlled=one.controlled)
                if ran is not None:
                    seen_there = ran.get(name, IssueCounts())
                    label = msgspec.structs.replace(label, failed=seen_there.failed, explained=seen_there.explained,
                                                    refuted=seen_there.refuted)
                labels.append(label)
        return round(worst, 4), tuple(labels)

    def _is_live(self, issue: KnownIssue, version: str) -> bool:
        return live((self._entries[name] for one in all_issues() if one.name == issue.name for name in one.entries
                     if name in self._entries), version)


@dataclass(frozen=True)
class _Seen:
    """One draw on one subject: (issue, whether it has a relative here) of every pattern, and the issues for which each
    of the planted values was taken."""

    patterns: tuple[tuple[str, bool], ...]
    taken: tuple[tuple[str, ...], ...]


def _seen(case: Case, target: Target, number: int) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    rehearsal: Rehearsal | None = None
    for subject in target.subjects:
        issues = [one for one in issues_of(case, subject) if "value" in one.kinds and (one.explains or one.relative)]
        taken: tuple[tuple[str, ...], ...] = ()
        # With a relative as well, a value that is wrong whatever the pattern shows there.
        if any(one.explains and not one.relative for one in issues):
            rehearsal = rehearsal or rehearse(case)
            taken = tuple(planted(rehearsal, subject, seed=number * 64 + one) for one in range(PLANTED))
        found[subject] = _Seen(tuple((one.name, one.relative is not None) for one in issues), taken)
    return found


def planted(rehearsal: Rehearsal, subject: str, *, seed: int) -> tuple[str, ...]:
    """The issues for which one wrong element is taken, in outputs that are right otherwise; () if for none, or if the
    contract accepts it."""
    right = {name: one for name, one in rehearsal.outputs().items() if one.numel()}
    if not right:
        return ()
    for attempt in range(8):
        pick = finalise(seed * 8 + attempt)
        name = sorted(right)[pick % len(right)]
        values = right[name]
        place = (pick >> 8) % values.numel()
        wrong = changed(values, place, how=_HOW[(pick >> 32) % len(_HOW)], dtype=rehearsal.case.array(name).dtype)
        judged, names = rehearsal.judged({**right, name: wrong}, subject=subject)
        if judged.verdict is Verdict.DISAGREE:
            return names
    return ()


def changed(values: torch.Tensor, place: int, *, how: str, dtype: str) -> torch.Tensor:
    """A copy with another bit pattern in one element."""
    if dtype == "i1":
        found = values.clone().reshape(-1)
        found[place] = ~found[place]
        return found.reshape(values.shape)
    bits = to_bits(values).clone().reshape(-1)
    width = dtype_info(dtype).storage_bits
    old = int(bits[place])
    new = {"least bit": old ^ 1, "sign": old ^ (1 << (width - 1)), "zero": 0, "ones": -1, "next": old + 1,
           "other element": int(bits[(place + 1) % len(bits)])}[how]
    wrapped = (new + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
    bits[place] = wrapped % 256 if bits.dtype is torch.uint8 else wrapped
    return from_bits(bits, dtype).reshape(values.shape)


def _unowned(case: Case, target: Target, subject: str, alone: Sequence[CorpusEntry]) -> str:
    """An entry of no known issue, with whose finding a wrong value of this case would be merged by its signature."""
    about = target.judge.label(case)
    keys = {finding_of(Signature(target=target.name, subject=subject, verdict=Verdict.DISAGREE, kind="value",
                                 where=target.judge.output_class(spec.name), about=about))
            for spec in case.arrays if spec.content is None}
    for entry in alone:
        if entry.signature.subject == subject and finding_of_entry(entry) in keys:
            return f"{entry.case.target}/{entry.id}"
    return ""


def opened(cases: Sequence[Case]) -> tuple[float, float]:
    """Of the output elements, and of the outputs, the shares that the contract leaves open."""
    found = open_shares(cases)
    return round(found.of_elements, 4), round(found.of_outputs, 4)
