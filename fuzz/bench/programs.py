"""Programs drawn, compiled, run and judged per second, beside a bare compile loop over the same sources.

    python -m tridiff.fuzz.bench.programs --workers 16 --seconds 12

Every process runs one shard of a campaign of a `codegen.*` target, its compiler's files in memory as in any campaign.
Then it compiles the kernels of the judged programs, with the options of their launches and in an order drawn anew (a
shard's first programs are its smallest), and does nothing else; sources are loaded before the clock starts, and
Triton's cache is an ordinary temporary folder. Both clocks start when every process has compiled something and its
spare worker stands by: in ten seconds that start would weigh thirty times what it does in five minutes. A process that
is through with its programs compiles them again, so that no core stands still, and whole rounds are counted. Processor
time is told beside wall-clock time: where one grows and the other does not, cores are short. Without a GPU (`--backend
compile:sm_90`) programs are compiled only, and no value is judged. The bare loop takes as long as the campaign and a
minute at most; processes that are late are ended, with what is known of them by then.
"""

import argparse
import gc
import itertools
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.cache import cache_in_memory
from tridiff.fuzz.campaign.program_rate import NEAREST_PUBLIC
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.shard import close_pools, pool_for, run_shard
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.kinds.graphs.swarm import FAMILIES
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool

ELEMENTS, ROWS = 1 << 14, 1 << 10
START_SECONDS = 60.0
"""Longest start of a process: importing torch and Triton, a context on the GPU, two programs."""
LONGEST_BARE = 60.0
"""Seconds of the bare loop after a long campaign: programs are drawn independently, the first ones are a sample."""
TAIL_SECONDS = 30.0
"""What the last program of a campaign may take, and preparing the sources of the bare loop."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What process `number` did. drawn, accepted, judged: programs that were run, that were judged, and how many of
    these differ from each other; nodes: of each of these. seconds, bare_seconds: of the campaign and of the bare loop
    over the kernels of the judged programs. compile_seconds: of each of those kernels. compiling, worker_cpu,
    bare_cpu: seconds for which the worker said it compiled; processor seconds of the worker and of the bare loop, both
    with the assembler's. stages: seconds of the campaign spent on arrays, launches (compiling included) and judging."""

    number: int
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
    compiling: float
    worker_cpu: float
    bare_cpu: float = 0.0


class _Collecting:
    """A runner that keeps what it would compile."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.found: list[tuple[Any, dict[str, Any]]] = []

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any], options: Any) -> Any:
        from triton.compiler import ASTSource

        from tridiff.fuzz.backends.compile import specialise
        from tridiff.fuzz.backends.launch import LaunchReport, compiler_options

        given = specialise(kernel, arguments)
        source = ASTSource(kernel, given.signature, constexprs=given.constants, attrs=given.attributes)
        self.found.append((source, compiler_options(options)))
        return LaunchReport(compiled=1)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any], options: Any) -> Any:
        raise NotImplementedError("generated programs are kernels, not IR")

    def synchronise(self) -> None:
        return None


def _kernels(case: Case, arch: str, *, variants: bool = True) -> list[tuple[Any, dict[str, Any]]]:
    """The sources and options of all launches of a case. variants: under its other options too, as on a GPU."""
    from tridiff.fuzz.backends.compile import pointer_to
    from tridiff.fuzz.backends.launch import Launch
    from tridiff.fuzz.kinds.graphs.launching import launch_graph
    from tridiff.oracles.dtypes import dtype

    pointers = {spec.name: pointer_to(spec.dtype, aligned=spec.layout.offset * dtype(spec.dtype).itemsize % 16 == 0)
                for spec in case.arrays}
    collecting = _Collecting(f"compile:{arch}")
    ways = [(options, 0) for options in (case.options, *(case.variants if variants else ()))]
    ways += [(case.options, number) for number in range(1, len(graph_of(case).schedules))]
    for options, schedule in ways:
        launch_graph(Launch(case=case, pointers=pointers, helper=None, fault="", planted="", options=options,
                            runner=collecting, schedule=schedule))
    return collecting.found


def _run(number: int, backend: str, device: int, seconds: float, together: Any, results: Any) -> None:
    os.environ.update(TRITON_DEFAULT_FP_FUSION="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder, cache_in_memory(Path(folder)):
        os.environ["TRITON_CACHE_DIR"] = str(Path(folder) / "bare")
        target = f"codegen.{FAMILIES[number % len(FAMILIES)]}"
        spec = ShardSpec(
            index=number, target=target, subject="own", backend=backend, device=device, seed=71 + number,
            seconds=seconds, max_cases=None, hang_limit=20.0, memory=6 << 30, elements=ELEMENTS, rows=ROWS,
            shrink=False, known=())
        ran: list[tuple[Case, Outcome | None]] = []
        pool = pool_for(spec, Path(folder))
        assert isinstance(pool, Pool)
        # Only a worker that has launched something has its context, and its compiler loaded.
        for case in draw_cases(target, Limits(elements=ELEMENTS, rows=ROWS), 2, seed=number):
            pool.execute(case, "own", backend=backend)
        pool.stand_by()
        results.put("ready")
        together.wait(START_SECONDS)
        began, compiling, cpu = time.monotonic(), pool.compile_seconds, _cpu(pool)
        result = run_shard(spec, folder, observe=lambda case, phase, outcome: ran.append((case, outcome)))
        if result.error:
            raise SystemExit(result.error)
        spent, compiling, cpu = (time.monotonic() - began, pool.compile_seconds - compiling, _cpu(pool) - cpu)
        close_pools()
        accepted = sum(outcome is not None and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE)
                       for _, outcome in ran)
        judged = {case.digest: (case, outcome) for case, outcome in ran
                  if outcome is not None and outcome.verdict in (Verdict.AGREE, Verdict.DISAGREE)}
        stages = {name: sum(getattr(outcome.seconds, name) for _, outcome in ran if outcome is not None)
                  for name in ("materialise", "launch", "judge")}
        part = Part(number=number, target=target, drawn=len(ran), accepted=accepted, judged=len(judged),
                    nodes=[len(graph_of(case).nodes) for case, _ in judged.values()],
                    kernels=sum(outcome.compiled_kernels for _, outcome in judged.values()), seconds=spent,
                    bare_programs=0, bare_seconds=0.0, compile_seconds=[], stages=stages, compiling=compiling,
                    worker_cpu=max(cpu, 0.0))
        results.put(part)
        found = _bare([case for case, _ in judged.values()], backend, min(seconds, LONGEST_BARE), together)
        results.put(replace(part, bare_programs=found[0], bare_seconds=found[1], compile_seconds=found[2],
                            bare_cpu=found[3]))


def _cpu(pool: Pool) -> float:
    """Processor seconds of the pool's worker and of what it ran, since its start."""
    fields = Path(f"/proc/{pool.worker}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _bare(cases: list[Case], backend: str, most: float, together: Any) -> tuple[int, float, list[float], float]:
    """(programs, seconds, seconds of each kernel, processor seconds) of the loop that only compiles."""
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
    together.wait(most + TAIL_SECONDS)
    triton.knobs.compilation.always_compile = True
    random.Random(len(prepared)).shuffle(prepared)
    before = sum(os.times()[:4])
    began, each, cpu = time.perf_counter(), list[float](), 0.0
    programs, spent, kernels_counted = 0, 0.0, 0
    for number, kernels in enumerate(itertools.cycle(prepared)):
        late = time.perf_counter() - began > most
        if number % len(prepared) == 0 or (late and number < len(prepared)):
            programs, spent, kernels_counted = number, time.perf_counter() - began, len(each)
            cpu = sum(os.times()[:4]) - before
        if late:
            break
        for source, options in kernels:
            start = time.perf_counter()
            triton.compile(source, target=target, options=options)
            each.append(time.perf_counter() - start)
    gc.unfreeze()
    return programs, spent, each[:kernels_counted], cpu


def measure(*, backend: str, workers: int, seconds: float, devices: int = 1) -> list[Part]:
    """Both measurements in `workers` processes side by side, spread over the devices; of processes that are late,
    only what they have done."""
    context = multiprocessing.get_context("spawn")
    together, results = context.Barrier(workers), context.SimpleQueue()
    running = [context.Process(target=_run, args=(number, backend, number % devices, seconds, together, results),
                               daemon=False) for number in range(workers)]
    began = time.monotonic()
    latest = START_SECONDS + seconds + 2 * TAIL_SECONDS + min(seconds, LONGEST_BARE)
    _say(began, f"{workers} processes start, each with a worker on {backend}")
    for one in running:
        one.start()
    campaign: dict[int, Part] = {}
    whole: dict[int, Part] = {}
    ready = 0
    while len(whole) < workers and time.monotonic() - began < latest:
        if results.empty():
            if any(one.exitcode for one in running):
                _say(began, "a process ended early; its error stands above")
                break
            time.sleep(0.1)
            continue
        found = results.get()
        if not isinstance(found, Part):
            ready += 1
            if ready == workers:
                _say(began, f"all have compiled something; campaigns of {seconds:g} s")
        elif found.bare_programs or found.number in campaign:
            whole[found.number] = found
        else:
            campaign[found.number] = found
            if len(campaign) == workers:
                rate = sum(part.judged / part.seconds for part in campaign.values())
                _say(began, f"campaigns ended: {rate:.1f} different programs per second; the bare loop compiles theirs")
    for one in running:
        if len(whole) < workers:
            one.terminate()
        one.join()
    _say(began, f"{len(whole)} of {workers} processes measured both")
    if not campaign:
        raise SystemExit("no process finished its campaign; try more --seconds")
    return [whole.get(number, part) for number, part in sorted(campaign.items())]


def _say(began: float, what: str) -> None:
    print(f"[{time.monotonic() - began:5.1f} s] {what}", file=sys.stderr, flush=True)


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
    kernels = max(sum(part.kernels for part in parts), 1)
    found |= {"worker_compile_ms_per_kernel": each(sum(part.compiling for part in parts), kernels),
              "bare_compile_ms_per_kernel": each(sum(part.bare_seconds for part in parts), len(compiled)),
              "worker_cpu_ms_per_kernel": each(sum(part.worker_cpu for part in parts), kernels),
              "bare_cpu_ms_per_kernel": each(sum(part.bare_cpu for part in parts), len(compiled))}
    for stage, label in (("materialise", "arrays"), ("launch", "launch"), ("judge", "judge")):
        found[f"{label}_ms_per_program"] = each(sum(part.stages[stage] for part in parts))
    return found | {"all_ms_per_program": each(sum(part.seconds for part in parts))}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--workers", type=int, default=min(len(os.sched_getaffinity(0)), 16))
    parser.add_argument("--devices", type=int, default=1, help="GPUs over which the processes are spread")
    parser.add_argument("--seconds", type=float, default=12.0, help="of the campaign; the bare loop takes less")
    parser.add_argument("--json", action="store_true", help="the figures of every process as well")
    given = parser.parse_args()
    parts = measure(backend=given.backend, workers=given.workers, seconds=given.seconds, devices=given.devices)
    if given.json:
        print(json.dumps({"summary": summary(parts), "parts": [asdict(part) for part in parts]}))
        return
    for name, value in summary(parts).items():
        print(f"{name:32} {value:10,.2f}")


if __name__ == "__main__":
    main()
