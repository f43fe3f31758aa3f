"""Testing the tester: every planted fault of a target fuzzed until it is caught, each for its own budget."""

import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.backends import kind
from fuzz.campaign.plan import shard_of
from fuzz.campaign.record import CampaignOptions, ShardResult, ShardSpec
from fuzz.campaign.run import drivers
from fuzz.campaign.shard import run_shard
from fuzz.errors import TridiffError
from fuzz.records import Environment
from fuzz.subjects import HOOK_FAULTS, PROCESS_FAULTS
from fuzz.target import Target
from fuzz.targets import select


@dataclass(frozen=True, kw_only=True)
class Caught:
    """What became of one fault. seconds: of fuzzing until it was caught; cases: run until then, or in all; elements: of
    the shrunk case, all input arrays together. `judge` is the verdict and its kind, empty for a fault not caught."""

    target: str
    fault: str
    backend: str
    judge: str = ""
    seconds: float = 0.0
    cases: int = 0
    rows: int = 0
    elements: int = 0
    left_out: str = ""
    """Why nothing could be tried: what this version or chip lacks, or why no case was checked."""
    error: str = ""
    environment: Environment | None = None


def plan_faults(options: CampaignOptions, *, process: bool = False, hooks: bool = False) -> list[ShardSpec]:
    """One shard of `options.seconds` per (target, fault, backend). TridiffError when no target has a fault here."""
    shards: list[ShardSpec] = []
    for target in select(options.targets):
        for backend in options.backends:
            if kind(backend) in target.backends and kind(backend) != "compile":
                for fault in _faults(target, process=process, hooks=hooks):
                    shards.append(shard_of(options, target, f"own+fault:{fault}", backend, index=len(shards),
                                           seconds=options.seconds, most_findings=1))
    if not shards:
        raise TridiffError(f"no fault can be run on {' '.join(options.backends)}", fix="see `tridiff targets`")
    return shards


def _faults(target: Target, *, process: bool, hooks: bool) -> tuple[str, ...]:
    return (*target.faults, *(HOOK_FAULTS if hooks else ()), *(PROCESS_FAULTS if process else ()))


def run_faults(shards: list[ShardSpec], options: CampaignOptions, state: Path,
               watch: Callable[[int, int, int], None]) -> list[Caught]:
    """Run all shards; `watch` gets (done, all, caught). Ctrl-C ends it with what is known by then."""
    found: dict[int, Caught] = {}
    with drivers(options) as executor:
        # Each fault has a state of its own: two faults of one target may show the same signature.
        running = {executor.submit(run_shard, spec, str(_folder(state, spec))): spec for spec in shards}
        try:
            for future in concurrent.futures.as_completed(running):
                spec = running[future]
                try:
                    found[spec.index] = _caught(spec, future.result())
                except Exception as error:
                    found[spec.index] = _line(spec, error=f"{type(error).__name__}: {error}")
                watch(len(found), len(shards), sum(bool(one.judge) for one in found.values()))
        except KeyboardInterrupt:
            for future, spec in running.items():
                future.cancel()
                _folder(state, spec).mkdir(parents=True, exist_ok=True)
                (_folder(state, spec) / "stop").touch()
    return [found[spec.index] for spec in shards if spec.index in found]


def _folder(state: Path, spec: ShardSpec) -> Path:
    return (state / f"{spec.index:04}").resolve()


def _line(spec: ShardSpec, **what: object) -> Caught:
    return Caught(target=spec.target, fault=spec.subject.partition(":")[2], backend=spec.backend, **what)  # type: ignore[arg-type]


def _caught(spec: ShardSpec, result: ShardResult) -> Caught:
    counts = result.counts
    if not result.findings:
        nothing = counts.executed == counts.not_checked + counts.refused
        reason = max(result.reasons, key=lambda one: result.reasons[one], default="no case was drawn")
        return _line(spec, cases=counts.executed, left_out=result.left_out or (reason if nothing else ""),
                     error=result.error, environment=result.environment)
    entry = result.findings[0]
    case, signature = entry.case, entry.signature
    return _line(spec, judge=f"{signature.verdict.value} {signature.kind}".strip(), seconds=result.found_after[0],
                 cases=result.found_cases[0], rows=case.sizes.get("rows", 0),
                 elements=sum(array.span(case.sizes) for array in case.arrays if array.content is not None),
                 environment=result.environment)


def table(lines: list[Caught], *, budget: float) -> str:
    """The lines as Markdown, not caught ones first."""
    caught = [one for one in lines if one.judge]
    tried = [one for one in lines if not one.left_out]
    where = sorted({f"{e.backend.partition(':')[0]}: {e.device or 'no device'}, driver {e.driver or 'none'}, torch "
                    f"{e.torch}, Triton {e.triton}" for e in (one.environment for one in lines) if e and e.triton})
    rows = ["| target | fault | judge | s | cases | rows | elements |", "|---|---|---|---|---|---|---|"]
    for one in sorted(lines, key=lambda one: (bool(one.judge), one.target, one.fault)):
        judge = one.judge or one.error or (f"left out: {one.left_out}" if one.left_out else "NOT CAUGHT")
        rows.append(f"| {one.target} | {one.fault} | {judge[:100]} | {one.seconds:.1f} | {one.cases} | "
                    f"{one.rows if one.judge else ''} | {one.elements if one.judge else ''} |")
    return "\n".join([
        "# Planted faults", "", *where, "",
        f"{len(caught)} of {len(tried)} caught, each within {budget:g} s of fuzzing; {len(lines) - len(tried)} left "
        "out. `s` and `cases`: until caught; `rows`, `elements`: of the shrunk case.", "", *rows, ""])
