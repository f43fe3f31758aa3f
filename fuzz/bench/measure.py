"""What is measured. Nothing here asserts a speed."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.bench.draws import draw_cases
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan
from tridiff.fuzz.campaign.run import Campaign, Progress
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions, Mixture, Outcome, Small
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.pool import Pool, PoolOptions

FRESH_TARGETS = ("triton.floordiv", "triton.mod", "helpers.div_floor_integer", "helpers.remainder_integer")
"""Targets whose cases are mostly kernels that have never been compiled."""

START_UP = 15.0
"""Seconds in which every worker and its spare has started, on a machine that is busy with nothing else."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One line. ratio: value divided by what stands `beside` it; 0 when there is nothing beside."""

    name: str
    value: float
    unit: str
    beside: str = ""
    ratio: float = 0.0
    limit: str = ""


def run_bench(*, backends: tuple[str, ...], seconds: float, workers: int) -> list[Measurement]:
    """All measurements that `backends` allow. seconds: length of each. workers: 0 for one per core, at most 16."""
    if not 0.1 <= seconds <= 600:
        raise TridiffError(f"--seconds {seconds:g} is out of range", fix="choose 0.1 to 600")
    workers = workers or min(len(os.sched_getaffinity(0)), 16)
    backend = "cuda" if "cuda" in backends else backends[0]
    if kind(backend) == "compile":
        backend = "compile:sm_90"
    lines = [_draw(seconds), _overhead(backend, seconds)]
    if backend == "cuda":
        lines += _kernels(workers, seconds)
        lines += _rows(workers, seconds)
        lines += _loops(seconds)
        lines += _replacement()
    else:
        lines += _campaign_rate(backend, workers, seconds)
    return lines


def _draw(seconds: float) -> Measurement:
    started = time.perf_counter()
    number = 0
    while time.perf_counter() - started < min(seconds, 3):
        number += len(draw_cases("helpers.div_floor_integer", Limits(elements=1 << 20, rows=1 << 16), 300))
    each = (time.perf_counter() - started) / max(number, 1)
    return Measurement(name="Hypothesis draws a case", value=1e3 * each, unit="ms",
                       limit="Hypothesis's own bookkeeping per draw")


class _Instant:
    """A worker that answers at once: what remains is the driver's own cost."""

    def __init__(self, outcome: Outcome) -> None:
        self.answer = protocol.line(protocol.Done(sequence=1, outcome=outcome))

    def execute(self, case: Case, subject: str, backend: str) -> Outcome:
        protocol.line(protocol.Run(sequence=1, case=case, subject=subject, backend=backend))
        message = protocol.read_child(self.answer)
        assert isinstance(message, protocol.Done)
        return message.outcome


def _overhead(backend: str, seconds: float) -> Measurement:
    """Everything the driver does per case but drawing it: describe it on disk, send, receive, record."""
    from tridiff.fuzz.records import Verdict

    cases = draw_cases("helpers.div_floor_integer", Limits(), 100)
    worker = _Instant(Outcome(case_digest="0" * 16, target=cases[0].target, subject="own", backend=backend,
                              verdict=Verdict.AGREE))
    with tempfile.TemporaryDirectory() as folder:
        store = ShardStore(Path(folder) / "bench.sqlite")
        started, number = time.perf_counter(), 0
        while time.perf_counter() - started < min(seconds, 2):
            for case in cases:
                store.begin(case, round_number=0)
                store.end(worker.execute(case, "own", backend), case, phase="fuzz", round_number=0)
            number += len(cases)
        each = (time.perf_counter() - started) / number
        store.close()
    return Measurement(name="driver overhead per case", value=1e3 * each, unit="ms",
                       limit="two SQLite writes; the case is on disk before it is launched")


def _campaign(backend: str, targets: tuple[str, ...], workers: int, seconds: float) -> tuple[Counts, float]:
    """Counts, and the wall seconds they took, once every worker has had its first cases: a night is not made of
    starts, and their cost has lines of its own."""
    options = CampaignOptions(seconds=seconds + START_UP, targets=targets, subjects=("own",),
                              backends=(backend,), devices=(0,), workers=workers, seed=1, shrink=False)
    with tempfile.TemporaryDirectory() as folder:
        shards = tuple(msgspec.structs.replace(one, elements=1 << 14, rows=1 << 10)
                       for one in plan_shards(options, known=()))
        campaign = Campaign.start(Plan(id="bench", options=options, shards=shards), root=Path(folder))
        moments: list[tuple[float, Counts]] = []

        def watch(progress: Progress) -> None:
            if campaign.shards_started() >= workers:
                moments.append((progress.elapsed, progress.counts))

        campaign.run(watch)
        if len(moments) < 2:
            raise TridiffError("the measurement is too short to see a rate", fix="give more --seconds")
        (start, first), (end, last) = moments[0], moments[-1]
        # Shards end together; the tail in which they finish is left out.
        busy = [m for m in moments if m[0] <= start + seconds]
        end, last = busy[-1]
        spent = max(end - start, 1e-9)
        return Counts(**{n: getattr(last, n) - getattr(first, n) for n in last.__struct_fields__}), spent


def _campaign_rate(backend: str, workers: int, seconds: float) -> list[Measurement]:
    counts, spent = _campaign(backend, (), workers, seconds)
    return [Measurement(name=f"cases on {backend}, {workers} workers", value=counts.executed / spent, unit="1/s",
                        limit="the interpreter runs Python per operation" if backend == "interpreter" else
                              "Triton compiles for about 50 ms per kernel"),
            Measurement(name="rows judged", value=counts.row_inputs / spent, unit="1/s")]


def _bare(script: str, *arguments: str) -> float:
    """The number that a bare loop prints: run in its own process, without any part of the harness around it."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1", OMP_NUM_THREADS="1")
        found = subprocess.run([sys.executable, "-m", f"tridiff.fuzz.bench.{script}", *arguments], capture_output=True,
                               text=True, env=environment, timeout=600)
    if found.returncode:
        last = found.stderr.strip().splitlines()[-1:] or ["no message"]
        raise TridiffError(f"bare loop {script} failed: {last[0]}", fix="see `tridiff doctor`")
    return float(found.stdout.split()[-1])


def _kernels(workers: int, seconds: float) -> list[Measurement]:
    bare = _bare("bare_compile", str(workers), str(seconds), *FRESH_TARGETS)
    counts, spent = _campaign("cuda", FRESH_TARGETS, workers, seconds)
    rate = counts.compiled_kernels / spent
    return [Measurement(name=f"bare compile and launch loop, {workers} processes", value=bare, unit="kernels/s",
                        limit="Triton's compiler: about 50 ms of one core per kernel"),
            Measurement(name=f"compiled, launched and judged, {workers} workers", value=rate, unit="kernels/s",
                        beside="the bare loop over the same kernels", ratio=rate / bare,
                        limit="Triton's compiler; the rest is judging and cases whose kernel was known")]


def _batch_case(rows: int, columns: int, target: str = "helpers.minimum") -> Case:
    dims = ("rows", "cols")
    return Case(target=target, sizes={"rows": rows, "cols": columns}, options=LaunchOptions(), arrays=(
        ArraySpec(name="a", dtype="fp32", dims=dims, content=Content(base=Mixture(seed=1))),
        ArraySpec(name="b", dtype="fp32", dims=dims, content=Content(base=Small(seed=2))),
        ArraySpec(name="out", dtype="fp32", dims=dims)))


def _rows(workers: int, seconds: float) -> list[Measurement]:
    bare = _bare("bare_rows", str(seconds))
    rows, columns = 1 << 19, 16
    with Pool(PoolOptions(backend="cuda", memory=32 << 30, spare=False)) as pool:
        case = _batch_case(rows, columns)
        pool.execute(case, "own")
        started, number = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            seed = Content(base=Mixture(seed=number + 3))
            arrays = (msgspec.structs.replace(case.arrays[0], content=seed), *case.arrays[1:])
            number += pool.execute(msgspec.structs.replace(case, arrays=arrays), "own").rows.judged
        rate = number / (time.perf_counter() - started)
    return [Measurement(name="bare launch, torch reference and compare (2^20 rows of 128)", value=bare, unit="rows/s",
                        limit="device memory bandwidth"),
            Measurement(name="rows judged in batches (2^19 rows of 16), one worker", value=rate, unit="rows/s",
                        beside="the bare loop", ratio=rate / bare,
                        limit="generating the content, about 30 passes over 64-bit integers per array")]


def _one_worker(seconds: float) -> tuple[float, float]:
    """Cases and rows per second of one driver with its worker on one target, kernels in use already built."""
    cases = draw_cases("helpers.minimum", Limits(elements=1 << 14, rows=1 << 10), 300)
    with Pool(PoolOptions(backend="cuda", spare=False)) as pool:
        for case in cases:
            pool.execute(case, "own")
        started, number, rows = time.perf_counter(), 0, 0
        while time.perf_counter() - started < seconds:
            rows += pool.execute(cases[number % len(cases)], "own").rows.judged
            number += 1
        spent = time.perf_counter() - started
    return number / spent, rows / spent


def _loops(seconds: float) -> list[Measurement]:
    naive = _bare("bare_hypothesis", str(min(seconds, 5)))
    rate, rows = _one_worker(seconds)
    return [Measurement(name="naive Hypothesis loop, one input a launch, one process", value=naive, unit="inputs/s",
                        limit="one draw, one launch and one synchronisation per input"),
            Measurement(name="harness, one worker, kernels built", value=rate, unit="cases/s", beside="naive loop",
                        ratio=rate / naive, limit="strides, canaries, two oracles per case"),
            Measurement(name="harness, one worker, inputs judged", value=rows, unit="rows/s", beside="naive loop",
                        ratio=rows / naive, limit="batches carry up to 1,024 inputs here")]


def _replacement() -> list[Measurement]:
    started = time.perf_counter()
    with Pool(PoolOptions(backend="cuda", hang_limit=2)) as pool:
        pool.execute(_batch_case(4, 4), "own")
        cold = time.perf_counter() - started
        waits, kills = [], []
        for fault in ("segfault", "worker_killed", "segfault"):
            time.sleep(2)  # a spare gets ready while cases run; back-to-back deaths wait for the fork
            pool.execute(_batch_case(4, 4), f"own+fault:{fault}")
            begun = time.perf_counter()
            pool.execute(_batch_case(4, 4), "own")
            waits.append(time.perf_counter() - begun)
        burst = time.perf_counter()
        for _ in range(3):
            pool.execute(_batch_case(4, 4), "own+fault:segfault")
            pool.execute(_batch_case(4, 4), "own")
        each = (time.perf_counter() - burst) / 3
        begun = time.perf_counter()
        pool.execute(_batch_case(4, 4), "own+fault:endless_kernel")
        kills.append(time.perf_counter() - begun - 2)
    return [Measurement(name="cold start of a worker to its first verdict", value=cold, unit="s",
                        limit="importing torch and Triton, the CUDA context, the first compilation"),
            Measurement(name="dead worker to the next verdict, spare warm", value=statistics.median(waits), unit="s",
                        beside="cold start", ratio=statistics.median(waits) / cold, limit="loading the kernel again"),
            Measurement(name="death and next verdict, back to back", value=each, unit="s", beside="cold start",
                        ratio=each / cold, limit="a forked child makes its CUDA context"),
            Measurement(name="killing a hung launch, beyond the hang limit", value=kills[0], unit="s",
                        limit="the driver tears the context down")]
