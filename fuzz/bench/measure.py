"""What is measured, in the time that was asked for. Nothing here asserts a speed."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.plan import plan_shards
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan
from tridiff.fuzz.campaign.run import Campaign, Progress
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions, Mixture, Outcome, Small
from tridiff.fuzz.registry import all_targets
from tridiff.fuzz.target import Limits
from tridiff.fuzz.target.subjects import with_fault
from tridiff.fuzz.workers import protocol
from tridiff.fuzz.workers.pool import Pool, PoolOptions

FRESH_TARGETS = ("triton.floordiv", "triton.mod", "helpers.div_floor_integer", "helpers.remainder_integer")
"""Targets whose cases are mostly kernels that have never been compiled."""

ENDING = 4.0
"""Seconds before its time is up at which a campaign or a bare loop is told to stop: each process ends its case, then
itself."""

LEAST, MOST = 10.0, 3600.0
"""Seconds that all measurements together may be given."""


class TooLate(Exception):
    """Nothing was measured in the time there was; the message says what was waited for."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One line. ratio: value divided by what stands `beside` it; 0 when there is nothing beside. value: None for what
    was not measured; `limit` then says why."""

    name: str
    value: float | None
    unit: str = ""
    beside: str = ""
    ratio: float = 0.0
    limit: str = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One or more measurements. run: gets the moment (monotonic) by which it must have ended, and uses the time until
    then; weight: its share of the time."""

    name: str
    weight: float
    run: Callable[[float], list[Measurement]]


def run_bench(*, backends: tuple[str, ...], seconds: float, workers: int,
              tell: Callable[[str], None] = lambda line: None) -> Iterator[Measurement]:
    """All measurements that `backends` allow, each as soon as it is there. seconds: of all together, starts of
    processes included. workers: 0 for one per core, at most 16. tell: gets a line for each step that begins."""
    if not LEAST <= seconds <= MOST:
        raise TridiffError(f"--seconds {seconds:g} is out of range", fix=f"choose {LEAST:g} to {MOST:g}")
    workers = workers or min(len(os.sched_getaffinity(0)), 16)
    backend = "cuda" if "cuda" in backends else backends[0]
    if kind(backend) == "compile":
        backend = "compile:sm_90"
    return _run(steps(backend, workers), seconds, tell)


def steps(backend: str, workers: int) -> list[Step]:
    """What is measured on a backend; what takes a time of its own comes first, so that the rest can make up for it."""
    first = [Step(name="drawing cases", weight=1, run=_draw),
             Step(name="the driver's own cost", weight=1, run=lambda until: _overhead(backend, until))]
    programs = Step(name=f"generated programs compiled by {workers} workers beside a bare loop", weight=18,
                    run=lambda until: _programs(backend, workers, until))
    if backend != "cuda":
        return [*first, *[programs] * (kind(backend) == "compile"),
                Step(name=f"a campaign on {backend}, {workers} workers", weight=18,
                     run=lambda until: _campaign_rate(backend, workers, until))]
    return [*first,
            Step(name="replacing workers that die", weight=5, run=_replacement),
            Step(name="one worker beside a naive Hypothesis loop", weight=6, run=_loops),
            Step(name="rows judged in batches beside a bare launch and compare", weight=6, run=_rows),
            Step(name=f"kernels compiled by {workers} workers beside a bare loop", weight=12,
                 run=lambda until: _kernels(workers, until)),
            programs]


def _run(planned: list[Step], seconds: float, tell: Callable[[str], None]) -> Iterator[Measurement]:
    end = time.monotonic() + seconds
    for place, step in enumerate(planned):
        left = max(end - time.monotonic(), 0.0)
        share = left * step.weight / sum(one.weight for one in planned[place:])
        tell(f"{step.name}, {share:.0f} s")
        try:
            yield from step.run(time.monotonic() + share)
        except TooLate as late:
            yield Measurement(name=step.name, value=None, limit=f"not measured: {late}; give more --seconds")


def _draw(until: float) -> list[Measurement]:
    started = time.monotonic()
    number = 0
    while time.monotonic() < until or not number:
        number += len(draw_cases("helpers.div_floor_integer", Limits(elements=1 << 20, rows=1 << 16), 20))
    each = (time.monotonic() - started) / max(number, 1)
    return [Measurement(name="Hypothesis draws a case", value=1e3 * each, unit="ms",
                        limit="Hypothesis's own bookkeeping per draw")]


class _Instant:
    """A worker that answers at once: what remains is the driver's own cost."""

    def __init__(self, outcome: Outcome) -> None:
        self.answer = protocol.line(protocol.Done(sequence=1, outcome=outcome))

    def execute(self, case: Case, subject: str, backend: str) -> Outcome:
        protocol.line(protocol.Run(sequence=1, case=case, subject=subject, backend=backend))
        message = protocol.read_child(self.answer)
        assert isinstance(message, protocol.Done)
        return message.outcome


def _overhead(backend: str, until: float) -> list[Measurement]:
    """Everything the driver does per case but drawing it: describe it on disk, send, receive, record."""
    from tridiff.fuzz.records import Verdict

    cases = draw_cases("helpers.div_floor_integer", Limits(), 100)
    worker = _Instant(Outcome(case_digest="0" * 16, target=cases[0].target, subject="own", backend=backend,
                              verdict=Verdict.AGREE))
    with tempfile.TemporaryDirectory() as folder:
        store = ShardStore(Path(folder) / "bench.sqlite")
        started, number = time.monotonic(), 0
        while time.monotonic() < until or not number:
            for case in cases:
                store.begin(case, round_number=0)
                store.end(worker.execute(case, "own", backend), case, phase="fuzz", round_number=0)
            number += len(cases)
        each = (time.monotonic() - started) / number
        store.close()
    return [Measurement(name="driver overhead per case", value=1e3 * each, unit="ms",
                        limit="two SQLite writes; the case is on disk before it is launched")]


def _campaign(targets: tuple[str, ...], backend: str, workers: int, until: float
              ) -> tuple[Counts, float, dict[str, int]]:
    """Counts, and the wall seconds they took, once every worker has had its first cases: a night is not made of
    starts, and their cost has lines of its own; by target the kernels compiled, those of the starts as well.
    KeyboardInterrupt if it was interrupted."""
    left = max(until - time.monotonic(), 1.0)
    options = CampaignOptions(seconds=left + 60, targets=targets, subjects=("own",), backends=(backend,),
                              devices=(0,), workers=workers, seed=1, shrink=False)
    with tempfile.TemporaryDirectory() as folder:
        shards = tuple(replace(one, elements=1 << 14, rows=1 << 10)
                       for one in plan_shards(options))
        campaign = Campaign.start(Plan(id="bench", options=options, shards=shards), root=Path(folder))
        moments: list[tuple[float, Counts]] = []

        def watch(progress: Progress) -> None:
            if time.monotonic() >= until - ENDING:
                campaign.stop()
            elif campaign.shards_started() >= min(workers, len(shards)):
                moments.append((progress.elapsed, progress.counts))

        try:
            summary = campaign.run(watch)
        finally:
            campaign.close()
        if summary.interrupted:
            raise KeyboardInterrupt
        if len(moments) < 2:
            raise TooLate(f"{workers} workers had not all judged a case {left - ENDING:.0f} s after they began")
        (start, first), (end, last) = moments[0], moments[-1]
        return (Counts(**{name: getattr(last, name) - getattr(first, name) for name in last.__struct_fields__}),
                max(end - start, 1e-9),
                {one.target: one.counts.compiled_kernels for one in summary.by_target})


def _campaign_rate(backend: str, workers: int, until: float) -> list[Measurement]:
    counts, spent, _ = _campaign(FRESH_TARGETS, backend, workers, until)
    return [Measurement(name=f"cases on {backend}, {workers} workers", value=counts.executed / spent, unit="1/s",
                        limit="the interpreter runs Python per operation" if backend == "interpreter" else
                              "Triton compiles for about 50 ms per kernel"),
            Measurement(name="rows judged", value=counts.row_inputs / spent, unit="1/s")]


def _bare(script: str, until: float, *arguments: str) -> str:
    """What a bare loop prints: run in its own processes, without any part of the harness around it. Its
    first argument is the moment, in seconds since 1970, at which it must have ended."""
    left = max(until - time.monotonic(), 1.0)
    end = time.time() + max(left - ENDING, 1.0)
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1", OMP_NUM_THREADS="1")
        # A session of its own, so that what it starts can be ended with it.
        process = subprocess.Popen(
            [sys.executable, "-m", f"tridiff.fuzz.bench.{script}", str(end), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        try:
            output, errors = process.communicate(timeout=left + 1)
        except subprocess.TimeoutExpired:
            raise TooLate(f"the bare loop {script} had not ended after {left:.0f} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        last = errors.strip().splitlines()[-1:] or ["no message"]
        raise TooLate(f"the bare loop {script} failed ({last[0][:200]})")
    return output


def _bare_rate(script: str, until: float) -> float:
    """The rate that a bare loop prints."""
    value = float(_bare(script, until).split()[-1])
    if not value > 0:
        raise TooLate(f"the bare loop {script} did nothing in its time")
    return value


def _half(until: float) -> float:
    """The moment half-way from now to `until`."""
    now = time.monotonic()
    return now + max(until - now, 0.0) / 2


def _beside_bare(targets: tuple[str, ...], backend: str, workers: int, draws: float, until: float
                 ) -> tuple[float, float, float]:
    """Kernels per second of as many bare processes as there are workers, with as many kernels of each target as a
    campaign, and of that campaign; the share of its workers' seconds that went into compiling. draws: cases of each
    target that a bare process has ready for each second."""
    told = json.loads(_bare("bare_compile", _half(until), backend, str(workers), str(draws), *targets))
    each = {name: seconds / kernels for name, (kernels, seconds) in told.items() if kernels}
    counts, spent, made = _campaign(targets, backend, workers, until)
    if lacking := sorted(name for name, number in made.items() if number and name not in each):
        raise TooLate(f"the bare loop compiled nothing of {', '.join(lacking)}")
    if not counts.compiled_kernels:
        raise TooLate("the campaign compiled nothing")
    alone = sum(number * each[name] for name, number in made.items() if number) / workers
    return sum(made.values()) / alone, counts.compiled_kernels / spent, counts.compile_seconds / (workers * spent)


def _kernels(workers: int, until: float) -> list[Measurement]:
    bare, rate, _ = _beside_bare(FRESH_TARGETS, "cuda", workers, 16, until)
    return [Measurement(name=f"bare compile and launch loop, {workers} processes", value=bare, unit="kernels/s",
                        limit="Triton's compiler: about 50 ms of one core per kernel"),
            Measurement(name=f"compiled, launched and judged, {workers} workers", value=rate, unit="kernels/s",
                        beside="the bare loop over the same kernels", ratio=rate / bare,
                        limit="Triton's compiler; the rest is judging and cases whose kernel was known")]


def _programs(backend: str, workers: int, until: float) -> list[Measurement]:
    targets = tuple(name for name in all_targets() if name.startswith("codegen."))
    bare, rate, share = _beside_bare(targets, backend, workers, 1, until)
    return [Measurement(name=f"bare loop over generated programs, {workers} processes", value=bare, unit="kernels/s",
                        limit="Triton's compiler: 100 to 800 ms of one core per program"),
            Measurement(name=f"generated programs on {backend}, {workers} workers", value=rate, unit="kernels/s",
                        beside="the bare loop over the same programs", ratio=rate / bare,
                        limit=f"Triton's compiler, {share:.0%} of the workers' time")]


def _batch_case(rows: int, columns: int) -> Case:
    dims = ("rows", "cols")
    return Case(target="helpers.minimum", sizes={"rows": rows, "cols": columns}, options=LaunchOptions(), arrays=(
        ArraySpec(name="a", dtype="fp32", dims=dims, content=Content(base=Mixture(seed=1))),
        ArraySpec(name="b", dtype="fp32", dims=dims, content=Content(base=Small(seed=2))),
        ArraySpec(name="out", dtype="fp32", dims=dims)))


def _rows(until: float) -> list[Measurement]:
    bare = _bare_rate("bare_rows", _half(until))
    rows, columns = 1 << 19, 16
    with Pool(PoolOptions(backend="cuda", memory=32 << 30, spare=False)) as pool:
        case = _batch_case(rows, columns)
        pool.execute(case, "own")
        started, number = time.monotonic(), 0
        while time.monotonic() < until - 1 or not number:
            seed = Content(base=Mixture(seed=number + 3))
            arrays = (replace(case.arrays[0], content=seed), *case.arrays[1:])
            number += pool.execute(replace(case, arrays=arrays), "own").rows.judged
        rate = number / (time.monotonic() - started)
    return [Measurement(name="bare launch, torch reference and compare (2^20 rows of 128)", value=bare, unit="rows/s",
                        limit="device memory bandwidth"),
            Measurement(name="rows judged in batches (2^19 rows of 16), one worker", value=rate, unit="rows/s",
                        beside="the bare loop", ratio=rate / bare,
                        limit="generating the content, about 30 passes over 64-bit integers per array")]


def _one_worker(until: float) -> tuple[float, float]:
    """Cases and rows per second of one driver with its worker on one target, kernels in use already built."""
    cases = draw_cases("helpers.minimum", Limits(elements=1 << 14, rows=1 << 10), 300)
    with Pool(PoolOptions(backend="cuda", spare=False)) as pool:
        built, middle = [], _half(until)
        for case in cases:
            pool.execute(case, "own")
            built.append(case)
            if time.monotonic() > middle:
                break
        started, number, rows = time.monotonic(), 0, 0
        while time.monotonic() < until - 1 or not number:
            rows += pool.execute(built[number % len(built)], "own").rows.judged
            number += 1
        spent = time.monotonic() - started
    return number / spent, rows / spent


def _loops(until: float) -> list[Measurement]:
    naive = _bare_rate("bare_hypothesis", _half(until))
    rate, rows = _one_worker(until)
    return [Measurement(name="naive Hypothesis loop, one input a launch, one process", value=naive, unit="inputs/s",
                        limit="one draw, one launch and one synchronisation per input"),
            Measurement(name="harness, one worker, kernels built", value=rate, unit="cases/s", beside="naive loop",
                        ratio=rate / naive, limit="strides, canaries, two oracles per case"),
            Measurement(name="harness, one worker, inputs judged", value=rows, unit="rows/s", beside="naive loop",
                        ratio=rows / naive, limit="batches carry up to 1,024 inputs here")]


def _replacement(until: float) -> list[Measurement]:
    """Takes as long as it takes, about 20 s; the steps that follow have what is left."""
    started = time.perf_counter()
    with Pool(PoolOptions(backend="cuda", hang_limit=2)) as pool:
        pool.execute(_batch_case(4, 4), "own")
        cold = time.perf_counter() - started
        waits, kills = [], []
        for fault in ("segfault", "worker_killed", "segfault"):
            time.sleep(2)  # a spare gets ready while cases run; back-to-back deaths wait for the fork
            pool.execute(_batch_case(4, 4), with_fault("own", fault))
            begun = time.perf_counter()
            pool.execute(_batch_case(4, 4), "own")
            waits.append(time.perf_counter() - begun)
        burst = time.perf_counter()
        for _ in range(3):
            pool.execute(_batch_case(4, 4), with_fault("own", "segfault"))
            pool.execute(_batch_case(4, 4), "own")
        each = (time.perf_counter() - burst) / 3
        begun = time.perf_counter()
        pool.execute(_batch_case(4, 4), with_fault("own", "endless_kernel"))
        kills.append(time.perf_counter() - begun - 2)
    return [Measurement(name="cold start of a worker to its first verdict", value=cold, unit="s",
                        limit="importing torch and Triton, the CUDA context, the first compilation"),
            Measurement(name="dead worker to the next verdict, spare warm", value=statistics.median(waits), unit="s",
                        beside="cold start", ratio=statistics.median(waits) / cold, limit="loading the kernel again"),
            Measurement(name="death and next verdict, back to back", value=each, unit="s", beside="cold start",
                        ratio=each / cold, limit="a forked child makes its CUDA context"),
            Measurement(name="killing a hung launch, beyond the hang limit", value=kills[0], unit="s",
                        limit="the driver tears the context down")]
