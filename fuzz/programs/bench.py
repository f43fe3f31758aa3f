"""Programs drawn, compiled, run and judged per second, beside a bare compile loop over the same sources.

    python -m fuzz.programs.bench --workers 16 --seconds 12

Every process runs one shard of a campaign of a `codegen.*` target for the given seconds, its compiler's files in memory
as in any campaign. Then it compiles the kernels of the judged programs, in their order and with the options of
their launches, and does nothing else: no drawing, no launch, no reference; sources are generated and loaded before the
clock starts, and Triton's cache is an ordinary temporary folder. Both clocks start when every process has compiled
something, so that no start is counted. Without a GPU (`--backend compile:sm_90`) programs are compiled only, and no
value is judged.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fuzz.backends import kind
from fuzz.bench.draws import draw_cases
from fuzz.campaign.cache import cache_in_memory
from fuzz.campaign.record import ShardSpec
from fuzz.campaign.shard import _Driver, close_pools
from fuzz.programs.arrays import graph_of
from fuzz.programs.swarm import FAMILIES
from fuzz.records import Case, Outcome, Verdict
from fuzz.target import Limits

NEAREST_PUBLIC = 4.5
"""Valid programs per second that the nearest public generator of Triton programs yields on an H200."""

ELEMENTS, ROWS = 1 << 14, 1 << 10
LONGEST_WAIT = 180.0
"""Seconds after which a process that others wait for has failed."""


class _Recorded(_Driver):
    """A shard's driver that remembers what it ran."""

    ran: list[tuple[Case, Outcome | None]]

    def execute(self, case: Case, phase: str) -> Outcome | None:
        outcome = super().execute(case, phase)
        self.ran.append((case, outcome))
        return outcome


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one process did. drawn, accepted, judged: programs that were run, that were judged, and how many of these
    differ from each other; nodes: of each of these. seconds, bare_seconds: of the campaign and of the bare loop over
    the kernels of the judged programs. compile_seconds: of each of those kernels.
    stages: seconds of the campaign spent on arrays, launches (compiling included) and judging."""

    target: str
    drawn: int
    accepted: int
    judged: int
    nodes: list[int]
    kernels: int
    seconds: float
    bare_programs: int
    bare_seconds: float
    compile_seconds: list[float]
    stages: dict[str, float]


class _Collecting:
    """A runner that keeps what it would compile."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.found: list[tuple[Any, dict[str, Any]]] = []

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any], options: Any) -> Any:
        from triton.compiler import ASTSource

        from fuzz.backends.compile import specialise
        from fuzz.backends.launch import LaunchReport

        given = specialise(kernel, arguments)
        self.found.append((ASTSource(kernel, given.signature, constexprs=given.constants, attrs=given.attributes), {
            "num_warps": options.num_warps, "num_stages": options.num_stages, "num_ctas": options.num_ctas,
            "enable_fp_fusion": options.enable_fp_fusion, "debug": options.debug,
            "launch_cooperative_grid": options.launch_cooperative_grid}))
        return LaunchReport(compiled=1)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any], options: Any) -> Any:
        raise NotImplementedError("generated programs are kernels, not IR")

    def synchronise(self) -> None:
        return None


def _kernels(case: Case, arch: str, *, variants: bool = True) -> list[tuple[Any, dict[str, Any]]]:
    """The sources and options of all launches of a case. variants: under its other options too, as on a GPU."""
    from fuzz.backends.compile import Pointer
    from fuzz.backends.launch import Launch
    from fuzz.programs.own import launch_graph
    from oracles.dtypes import dtype

    pointers = {spec.name: Pointer(dtype="i8" if spec.dtype == "i1" else spec.dtype,
                                   aligned=spec.layout.offset * dtype(spec.dtype).itemsize % 16 == 0)
                for spec in case.arrays}
    collecting = _Collecting(f"compile:{arch}")
    ways = [(options, 0) for options in (case.options, *(case.variants if variants else ()))]
    ways += [(case.options, number) for number in range(1, len(graph_of(case).schedules))]
    for options, schedule in ways:
        launch_graph(Launch(case=case, pointers=pointers, helper=None, fault="", planted="", options=options,
                            runner=collecting, schedule=schedule))
    return collecting.found


def _run(number: int, backend: str, seconds: float, together: Any, results: Any) -> None:
    os.environ.update(TRITON_DEFAULT_FP_FUSION="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder, cache_in_memory(Path(folder)):
        os.environ["TRITON_CACHE_DIR"] = str(Path(folder) / "bare")
        target = f"codegen.{FAMILIES[number % len(FAMILIES)]}"
        driver = _Recorded(ShardSpec(
            index=number, target=target, subject="own", backend=backend, device=0, seed=71 + number, seconds=seconds,
            max_cases=None, hang_limit=20.0, memory=6 << 30, elements=ELEMENTS, rows=ROWS, shrink=False, known=()),
            Path(folder))
        driver.ran = []
        # Only a worker that has launched something has its context, and its compiler loaded.
        for case in draw_cases(target, Limits(elements=ELEMENTS, rows=ROWS), 2, seed=number):
            driver.pool.execute(case, "own", backend=backend)
        together.wait(LONGEST_WAIT)
        began = time.monotonic()
        driver.run()
        spent = time.monotonic() - began
        driver.store.close()
        close_pools()
        accepted = sum(outcome is not None and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE)
                       for _, outcome in driver.ran)
        judged = {case.digest: (case, outcome) for case, outcome in driver.ran
                  if outcome is not None and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE)}
        stages = {name: sum(getattr(outcome.seconds, name) for _, outcome in driver.ran if outcome is not None)
                  for name in ("materialise", "launch", "judge")}
        found = _bare([case for case, _ in judged.values()], backend, 2 * seconds, together)
        results.put(Part(target=target, drawn=len(driver.ran), accepted=accepted, judged=len(judged),
                         nodes=[len(graph_of(case).nodes) for case, _ in judged.values()],
                         kernels=sum(outcome.compiled_kernels for _, outcome in judged.values()), seconds=spent,
                         bare_programs=found[0], bare_seconds=found[1], compile_seconds=found[2], stages=stages))


def _bare(cases: list[Case], backend: str, most: float, together: Any) -> tuple[int, float, list[float]]:
    """(programs, seconds, seconds of each kernel) of the loop that only compiles."""
    import triton
    from triton.backends.compiler import GPUTarget

    arch = "sm_90"
    if kind(backend) == "cuda":
        target = triton.runtime.driver.active.get_current_target()
    else:
        arch = backend.partition(":")[2]
        target = GPUTarget("cuda", int(arch.removeprefix("sm_")), 32)
    prepared = [_kernels(case, arch, variants=kind(backend) == "cuda") for case in cases]
    if prepared:
        # The last one loads the compiler.
        for source, options in prepared.pop():
            triton.compile(source, target=target, options=options)
    # What the campaign left in this process is no concern of the loop's collector.
    gc.collect()
    gc.freeze()
    together.wait(LONGEST_WAIT)
    began, programs, each = time.perf_counter(), 0, []
    for kernels in prepared:
        if time.perf_counter() - began > most:
            break
        for source, options in kernels:
            start = time.perf_counter()
            triton.compile(source, target=target, options=options)
            each.append(time.perf_counter() - start)
        programs += 1
    spent = time.perf_counter() - began
    gc.unfreeze()
    return programs, spent, each


def measure(*, backend: str, workers: int, seconds: float) -> list[Part]:
    """Both measurements in `workers` processes side by side."""
    context = multiprocessing.get_context("spawn")
    together, results = context.Barrier(workers), context.SimpleQueue()
    running = [context.Process(target=_run, args=(number, backend, seconds, together, results))
               for number in range(workers)]
    for one in running:
        one.start()
    parts: list[Part] = []
    while len(parts) < workers:
        if not results.empty():
            parts.append(results.get())
        elif any(one.exitcode for one in running):
            for one in running:
                one.terminate()
            raise SystemExit("a process of the measurement ended early; its error stands above")
        else:
            time.sleep(0.1)
    for one in running:
        one.join()
    return parts


def _rank(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def summary(parts: list[Part]) -> dict[str, float]:
    """The figures of all processes together; rates per second."""
    compiled = [1e3 * second for part in parts for second in part.compile_seconds]
    nodes: list[float] = [one for part in parts for one in part.nodes]
    rate = sum(part.judged / part.seconds for part in parts)
    bare = sum(part.bare_programs / part.bare_seconds for part in parts if part.bare_programs)
    judged, drawn = sum(part.judged for part in parts), sum(part.drawn for part in parts)

    def each(seconds: float, number: int = drawn) -> float:
        return 1e3 * seconds / max(number, 1)

    found = {
        "processes": len(parts), "programs": judged, "programs_per_second": rate,
        "kernels_per_second": sum(part.kernels / part.seconds for part in parts), "bare_programs_per_second": bare,
        "bare_kernels_per_second": sum(
            len(part.compile_seconds) / part.bare_seconds for part in parts if part.bare_programs),
        "ratio_to_bare_loop": rate / bare if bare else 0.0, "ratio_to_nearest_public": rate / NEAREST_PUBLIC,
        "accepted": sum(part.accepted for part in parts) / max(drawn, 1), "repeated": 1 - judged / max(drawn, 1),
        "nodes_median": _rank(nodes, 0.5), "nodes_90th_percentile": _rank(nodes, 0.9),
        "share_above_40_nodes": sum(one > 40 for one in nodes) / max(len(nodes), 1),
        "kernels_per_program": sum(part.kernels for part in parts) / max(judged, 1),
        "bare_kernels_per_program": len(compiled) / max(sum(part.bare_programs for part in parts), 1),
        "compile_median_ms": _rank(compiled, 0.5), "compile_95th_percentile_ms": _rank(compiled, 0.95),
        "compile_ms_per_program": sum(compiled) / max(sum(part.bare_programs for part in parts), 1)}
    for stage, label in (("materialise", "arrays"), ("launch", "launch"), ("judge", "judge")):
        found[f"{label}_ms_per_program"] = each(sum(part.stages[stage] for part in parts))
    return found | {"all_ms_per_program": each(sum(part.seconds for part in parts))}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--workers", type=int, default=min(len(os.sched_getaffinity(0)), 16))
    parser.add_argument("--seconds", type=float, default=12.0, help="of the campaign; the bare loop takes less")
    parser.add_argument("--json", action="store_true", help="the figures of every process as well")
    given = parser.parse_args()
    parts = measure(backend=given.backend, workers=given.workers, seconds=given.seconds)
    if given.json:
        print(json.dumps({"summary": summary(parts), "parts": [asdict(part) for part in parts]}))
        return
    for name, value in summary(parts).items():
        print(f"{name:32} {value:10,.2f}")


if __name__ == "__main__":
    main()
