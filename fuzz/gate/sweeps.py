"""All inputs of some operations on both builds, and what became wrong or right between them."""

import os
from collections.abc import Callable
from pathlib import Path

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import CampaignOptions
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.policy import Policy
from tridiff.fuzz.gate.record import Action, SweepChange, SweepComparison
from tridiff.fuzz.sweep.choose import Choice, choose
from tridiff.fuzz.sweep.compare import Change, compare
from tridiff.fuzz.sweep.records import SweepRecord, SweepSpec
from tridiff.fuzz.sweep.run import Plan, Progress, Run

BITS = {"cuda": 32, "interpreter": 16}
"""Spaces of so many bits are enumerated."""


def swept(patterns: tuple[str, ...], backends: tuple[str, ...]) -> tuple[SweepSpec, ...]:
    """What `--sweep` asks for. Raises TridiffError for what matches nothing, and where nothing can be executed."""
    return choose(Choice(ops=patterns, bits=BITS[_backend(backends)]))


def _backend(backends: tuple[str, ...]) -> str:
    for one in BITS:
        if one in {kind(backend) for backend in backends}:
            return one
    raise TridiffError("a sweep runs on the GPU or in the interpreter",
                       fix="add --backend cuda or --backend interpreter, or leave out --sweep")


def run_sweeps(patterns: tuple[str, ...], options: CampaignOptions, state: Path, *, policy: Policy,
               watch: Callable[[Progress], None] = lambda progress: None) -> SweepComparison:
    """Sweep on the baseline, then on the candidate; both go on where they were interrupted."""
    assert options.builds is not None
    records = tuple(_one(patterns, options, state / f"sweep-{side}", build, watch)
                    for side, build in zip(("baseline", "candidate"), options.builds, strict=True))
    return compared(*records, policy=policy)


def _one(patterns: tuple[str, ...], options: CampaignOptions, folder: Path, build: str,
         watch: Callable[[Progress], None]) -> SweepRecord:
    if (folder / "plan.json").exists():
        return Run.resume(folder).run(watch)
    plan = Plan(swept(patterns, options.backends), _backend(options.backends), options.devices,
                min(options.workers, len(os.sched_getaffinity(0))), build=build)
    return Run.start(plan, folder).run(watch)


def compared(before: SweepRecord, after: SweepRecord, *, policy: Policy) -> SweepComparison:
    """The two records, with what each change means."""
    found = compare(before, after)
    return SweepComparison(
        compared=found.compared, unchanged=found.unchanged, interrupted=before.interrupted or after.interrupted,
        not_checked=tuple(sorted({one.spec.key for record in (before, after) for one in record.results
                                  if one.verdict == "not_checked" and one.reason})),
        changes=tuple(SweepChange(sweep=f"{one.key} {' '.join(one.dtypes)}", kind=one.kind, text=one.text,
                                  worse=worse(one), action=_action(one, policy)) for one in found.changes))


def worse(change: Change) -> bool:
    """Whether inputs that were right are wrong now."""
    if change.kind == "verdict":
        return change.text.startswith("agree -> disagree")
    return change.kind == "class" and (change.gained is None or bool(change.gained))


def _action(change: Change, policy: Policy) -> Action:
    return policy.sweeps.get("worse" if worse(change) else "other", "report")
