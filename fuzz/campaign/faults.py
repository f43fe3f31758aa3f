"""Testing the tester: every planted fault of a target fuzzed until it is caught, each for its own budget."""

import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.backends import kind
from fuzz.campaign.cache import cache_in_memory
from fuzz.campaign.plan import shard_of
from fuzz.campaign.record import CampaignOptions, ShardResult, ShardSpec
from fuzz.campaign.run import drivers, interrupts
from fuzz.campaign.shard import run_shard
from fuzz.errors import TridiffError
from fuzz.records import ArraySpec, Case, Constant, Environment, Explicit, Iota
from fuzz.subjects import HOOK_FAULTS, PROCESS_FAULTS
from fuzz.target import Target
from fuzz.targets import find, select

FEW = 8
"""Elements that a reader takes in at a glance."""


@dataclass(frozen=True, kw_only=True)
class Caught:
    """What became of one fault. seconds: of fuzzing until it was caught; cases: run until then, or in all. `judge` is
    the verdict and its kind, empty for a fault not caught. Of the shrunk case: elements, of all input arrays but those
    that every launch finds cleared; cleared, of those; values, that describe the elements; programs, that wait for
    each other in one launch (0 where none do): a race needs them all."""

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
    with cache_in_memory(state), drivers(options) as executor, interrupts() as asked:
        # Each fault has a state of its own: two faults of one target may show the same signature.
        waiting = {executor.submit(run_shard, spec, str(_folder(state, spec))): spec for spec in shards}
        stopped = False
        while waiting:
            if asked() and not stopped:
                stopped = True
                for future, spec in list(waiting.items()):
                    (_folder(state, spec) / "stop").touch()
                    if future.cancel():
                        del waiting[future]
            done, _ = concurrent.futures.wait(waiting, timeout=0.5, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                spec = waiting.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    found[spec.index] = _line(spec, error=f"{type(error).__name__}: {error}")
                else:
                    # A fault that was given up half-way was neither caught nor missed.
                    if result.findings or not result.stopped:
                        found[spec.index] = _caught(spec, result)
                watch(len(found), len(shards), sum(bool(one.judge) for one in found.values()))
    return [found[spec.index] for spec in shards if spec.index in found]


def _folder(state: Path, spec: ShardSpec) -> Path:
    """The fault's state directory; what compilers write goes where that of all faults goes."""
    folder = (state / f"{spec.index:04}").resolve()
    if not folder.exists():
        (state / "cache").mkdir(exist_ok=True)
        folder.mkdir(parents=True)
        (folder / "cache").symlink_to(Path("..") / "cache")
    return folder


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
                 cases=result.found_cases[0], rows=case.sizes.get("rows", 0), environment=result.environment,
                 **sizes(case, find(spec.target)))


def sizes(case: Case, target: Target) -> dict[str, int]:
    """The numbers of `Caught` that say how large a case is."""
    given = [array for array in case.arrays if array.content is not None]
    chosen = [array for array in given if not (array.name in target.written and _cleared(array))]
    spans = {array.name: array.span(case.sizes) for array in given}
    elements = sum(spans[array.name] for array in chosen)
    return {"elements": elements, "cleared": sum(spans.values()) - elements,
            "values": sum(_values(array, spans[array.name]) for array in chosen), "programs": target.programs(case)}


def _cleared(array: ArraySpec) -> bool:
    """Whether it is working memory in the one state that the contract asks for."""
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
    rows = ["| target | fault | judge | s | cases | rows | elements | values | programs |",
            "|---|---|---|---|---|---|---|---|---|"]
    for one in sorted(lines, key=lambda one: (bool(one.judge), one.target, one.fault)):
        judge = one.judge or one.error or (f"left out: {one.left_out}" if one.left_out else "NOT CAUGHT")
        sizes = " | ".join(str(size) if one.judge else "" for size in (
            one.rows, f"{one.elements} + {one.cleared}" if one.cleared else one.elements, one.values,
            one.programs or ""))
        rows.append(f"| {one.target} | {one.fault} | {judge[:100]} | {one.seconds:.1f} | {one.cases} | {sizes} |")
    return "\n".join([
        "# Planted faults", "", *where, "",
        f"{len(caught)} of {len(tried)} caught, each within {budget:g} s of fuzzing; {len(lines) - len(tried)} left "
        f"out; {sum(one.elements <= FEW for one in caught)} of {len(caught)} shrunk to {FEW} elements or fewer. `s` "
        "and `cases`: until caught. Of the shrunk case: `rows`; `elements` of its inputs (+ cleared working memory); "
        "`values` that describe them; `programs` that wait for each other, where they do: shrinking tried fewer.", "",
        *rows, ""])
