"""Testing the tester: every planted fault of a target fuzzed until it is caught, each for its own budget."""

import difflib
import math
import statistics
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.cache import cache_in_memory
from tridiff.fuzz.campaign.drivers import drivers, force_of, in_turn, interrupts
from tridiff.fuzz.campaign.plan import shard_of
from tridiff.fuzz.campaign.record import CampaignOptions, ShardResult, ShardSpec
from tridiff.fuzz.campaign.shard import run_shard
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Constant, Environment, Explicit, Iota
from tridiff.fuzz.registry import find, select
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import HOOK_FAULTS, PROCESS_FAULTS, with_fault

FEW = 8
"""Elements that a reader takes in at a glance."""

SHRINK_SECONDS = 15.0
"""As in a campaign, explicit minimisation has twice that: a fault takes 45 seconds more than its own at the most."""

Hunt = tuple[ShardSpec, ...]
"""One fault on one backend: a shard for each target it is planted in, the narrowest first."""


@dataclass(frozen=True, kw_only=True)
class Caught:
    """What became of one fault. seconds: of fuzzing until it was caught; cases: run until then, or in all. `judge` is
    the verdict and its kind, empty for a fault not caught. Of the shrunk case: elements, of all input arrays but those
    that every launch finds cleared; cleared, of those; values, that describe the elements; programs, that wait for
    each other in one launch (0 where none do): a race needs them all; steps (nodes, movements, partitions) of the
    program it carries, out of the drawn_steps that it was found with."""

    target: str
    fault: str
    backend: str
    judge: str = ""
    seconds: float = 0.0
    cases: int = 0
    rows: int = 0
    elements: int = 0
    cleared: int = 0
    values: int = 0
    programs: int = 0
    steps: int = 0
    drawn_steps: int = 0
    control_failed: int = 0
    """Cases that failed without the fault as well, and so did not count."""
    left_out: str = ""
    """Why nothing could be tried: what this version or chip lacks, or why no case was checked."""
    error: str = ""
    environment: Environment | None = None


def plan_faults(options: CampaignOptions, *, process: bool = False, hooks: bool = False,
                only: Iterable[str] = ()) -> list[Hunt]:
    """What is looked for, `options.seconds` for each; targets that share a fault share its time. only: names of faults,
    all where there are none. TridiffError when no target has such a fault here."""
    shared: dict[tuple[str, str, str], list[Target]] = {}
    targets = select(options.targets)
    for target in targets:
        for backend in options.backends:
            if kind(backend) in target.backends and kind(backend) != "compile":
                for fault in target.faults.planted:
                    shared.setdefault((target.faults.shared_as or target.name, backend, fault), []).append(target)
                for fault in (*(HOOK_FAULTS if hooks else ()), *(PROCESS_FAULTS if process else ())):
                    shared[target.name, backend, fault] = [target]
    planted = {fault for _, _, fault in shared}
    unknown = set(only) - planted
    existing = {*HOOK_FAULTS, *PROCESS_FAULTS, *(fault for target in targets for fault in target.faults.planted)}
    for fault in sorted(unknown - existing):
        near = difflib.get_close_matches(fault, existing, n=3) or sorted(existing - {*HOOK_FAULTS, *PROCESS_FAULTS})[:5]
        raise TridiffError(f"none of these targets has a fault {fault[:80]!r}", fix=f"try {', '.join(near)}; "
                           "`tridiff targets --json` lists all")
    if unknown or not planted:
        raise TridiffError(f"no fault{''.join(f' {one}' for one in sorted(unknown))} can be run on "
                           f"{' '.join(options.backends)}", fix="choose another --backend, or add --hooks or --process")
    shared = {key: members for key, members in shared.items() if key[2] in (set(only) or planted)}
    hunts: list[Hunt] = []
    for (_, backend, fault), members in shared.items():
        first = sum(len(hunt) for hunt in hunts)
        hunts.append(tuple(
            replace(shard_of(options, target, with_fault("own", fault), backend, index=first + place, most_findings=1,
                             seconds=options.seconds / len(members)), control="own", shrink_seconds=SHRINK_SECONDS)
            # The fewer faults a target has, the more often its cases show one of them.
            for place, target in enumerate(sorted(members, key=lambda one: len(one.faults.planted)))))
    return hunts


def hunt(shards: Hunt, directory: str) -> list[ShardResult]:
    """Run the shards of one fault one after the other until one of them finds it."""
    results: list[ShardResult] = []
    for spec in shards:
        results.append(run_shard(spec, directory))
        if results[-1].findings or results[-1].stopped:
            break
    return results


def run_faults(hunts: list[Hunt], options: CampaignOptions, state: Path,
               watch: Callable[[list[Caught], int], None]) -> list[Caught]:
    """Run all hunts; `watch` gets the results of those that ended, in order, and how many ended. An error in one
    hunt stands in that hunt's line and leaves the others alone. Ctrl-C ends it with the results so far."""
    found: dict[Hunt, Caught] = {}
    with cache_in_memory(state), interrupts() as asked, drivers(options) as executor:
        # Each fault has a state of its own: two faults of one target may show the same signature.
        folders = {one: _folder(state, one) for one in hunts}

        def start(one: Hunt) -> Future[list[ShardResult]]:
            return executor.submit(hunt, one, str(folders[one]))

        def stop() -> None:
            for folder in folders.values():
                (folder / "stop").touch()

        for ended in in_turn(deque(hunts), start, at_once=options.workers, asked=asked, stop=stop,
                             force=force_of(executor)):
            for one, future in ended:
                try:
                    results = future.result()
                except Exception as error:
                    found[one] = _line(one[0], error=f"{type(error).__name__}: {error}")
                else:
                    # A fault that was given up half-way was neither caught nor missed.
                    if results[-1].findings or not results[-1].stopped:
                        found[one] = _caught(results)
            if ended:
                watch([found[one] for one in hunts if one in found], len(hunts))
    return [found[one] for one in hunts if one in found]


def _folder(state: Path, hunt: Hunt) -> Path:
    """The fault's state directory. Compilers write into a cache that all faults share."""
    folder = (state / f"{hunt[0].index:04}").resolve()
    (state / "cache").mkdir(exist_ok=True)
    folder.mkdir(parents=True)
    (folder / "cache").symlink_to(Path("..") / "cache")
    return folder


def _line(spec: ShardSpec, **what: object) -> Caught:
    return Caught(target=spec.target, fault=spec.subject.partition(":")[2], backend=spec.backend, **what)  # type: ignore[arg-type]


def _caught(results: list[ShardResult]) -> Caught:
    last = results[-1]
    controls = sum(one.control_failed for one in results)
    executed = sum(one.counts.executed for one in results)
    if not last.findings:
        checked = executed - sum(one.counts.not_checked + one.counts.refused for one in results)
        reasons = sum((Counter(one.reasons) for one in results), Counter())
        why = last.left_out or max(reasons, key=lambda one: reasons[one], default="")
        return _line(results[0].spec, cases=executed, left_out="" if checked else why, control_failed=controls,
                     error=next((one.error for one in results if one.error), ""), environment=last.environment)
    entry = last.findings[0]
    case, signature = entry.case, entry.signature
    target = find(last.spec.target)
    earlier = results[:-1]
    return _line(last.spec, judge=f"{signature.verdict.value} {signature.kind}".strip(), control_failed=controls,
                 seconds=last.found_after[0] + sum(one.counts.busy_seconds for one in earlier),
                 cases=last.found_cases[0] + sum(one.counts.executed for one in earlier),
                 rows=case.sizes.get("rows", 0), environment=last.environment, steps=_steps(case, target),
                 drawn_steps=_steps(last.found_as[0], target), **sizes(case, target))


def _steps(case: Case, target: Target) -> int:
    return 0 if case.program is None else next(iter(target.shrink.size(case)), 0)


def sizes(case: Case, target: Target) -> dict[str, int]:
    """The numbers of `Caught` that say how large a case is."""
    given = [array for array in case.arrays if array.content is not None]
    chosen = [array for array in given if not (array.name in target.run.written and _cleared(array))]
    spans = {array.name: array.span(case.sizes) for array in given}
    elements = sum(spans[array.name] for array in chosen)
    return {"elements": elements, "cleared": sum(spans.values()) - elements,
            "values": sum(_values(array, spans[array.name]) for array in chosen),
            "programs": target.run.waiting_programs(case)}


def _cleared(array: ArraySpec) -> bool:
    """Whether an array is working memory in the state that the contract asks for: all zeros."""
    assert array.content is not None
    base = array.content.base
    listed = base.values if isinstance(base, Explicit) else (base.value,) if isinstance(base, Constant) else ()
    return set(listed) == {"0"} and not array.content.overrides


def _values(array: ArraySpec, span: int) -> int:
    """How many numbers say what the array holds: one for a constant, start and step for a ramp; every element where
    a seed stands for them."""
    assert array.content is not None
    plain = {Constant: 1, Iota: 2}.get(type(array.content.base), span)
    return min(plain + len(array.content.overrides), span)


def table(lines: list[Caught], *, budget: float) -> str:
    """The lines as Markdown, not caught ones first."""
    caught = [one for one in lines if one.judge]
    tried = [one for one in lines if not one.left_out]
    where = sorted({f"{e.backend.partition(':')[0]}: {e.device or 'no device'}, driver {e.driver or 'none'}, torch "
                    f"{e.torch}, Triton {e.triton}" for e in (one.environment for one in lines) if e and e.triton})
    rows = ["| target | fault | judge | s | cases | rows | elements | values | programs | steps |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    for one in sorted(lines, key=lambda one: (bool(one.judge), one.target, one.fault)):
        judge = one.judge or one.error or (f"left out: {one.left_out}" if one.left_out else "NOT CAUGHT")
        sizes = " | ".join(str(size) if one.judge else "" for size in (
            one.rows, f"{one.elements} + {one.cleared}" if one.cleared else one.elements, one.values,
            one.programs or "", f"{one.drawn_steps} to {one.steps}" if one.steps else ""))
        rows.append(f"| {one.target} | {one.fault} | {judge[:100]} | {one.seconds:.1f} | {one.cases} | {sizes} |")
    text = [f"{len(caught)} of {len(tried)} caught, each within {budget:g} s of fuzzing; {len(lines) - len(tried)} "
            f"left out; {sum(one.elements <= FEW for one in caught)} of {len(caught)} shrunk to {FEW} elements or "
            "fewer. `s` and `cases`: until caught. Of the shrunk case: `rows`; `elements` of its inputs (+ cleared "
            "working memory); `values` that describe them; `programs` that wait for each other, where they do: "
            "shrinking tried fewer; `steps` (nodes, movements, partitions) that were drawn, and what is left of them."]
    controls = sum(one.control_failed for one in lines)
    if controls:
        text.append(f"{controls} failing cases did not count, because they fail without the fault as well.")
    text += _distributions(caught)
    return "\n".join(["# Planted faults", "", *where, "", "\n\n".join(text), "", *rows, ""])


def _distributions(caught: list[Caught]) -> list[str]:
    columns: dict[str, list[float]] = {
        "Seconds until caught": [round(one.seconds, 1) for one in caught],
        "Elements": [one.elements for one in caught],
        "Steps of shrunk programs": [one.steps for one in caught if one.steps]}
    found = []
    for name, column in columns.items():
        if column:
            ordered = sorted(column)
            found.append(f"{name}: median {statistics.median(ordered):g}, nine tenths within "
                         f"{ordered[math.ceil(0.9 * len(ordered)) - 1]:g}, largest {ordered[-1]:g}.")
    return found
