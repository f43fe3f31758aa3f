"""Bare loop: compile and, on a GPU, launch the kernels that the harness would, nothing else. Prints for each target
how many and in how many seconds of a process, as JSON.

The cases come from the same strategies as in a campaign, drawn before the clock starts, and their arrays lie
in the device's memory by then. What remains is `kernel[grid](...)` and a synchronisation, or the compilation for a
chip: no drawing, no content, no judging, no messages, nothing on disk but Triton's own cache.
"""

import contextlib
import json
import math
import multiprocessing
import multiprocessing.synchronize
import sys
import time
from typing import Any


def _loop(ready: multiprocessing.synchronize.Barrier, results: Any, *arguments: Any) -> None:
    try:
        results.put(_compiled(ready, *arguments))
    except BaseException:
        ready.abort()
        results.put({})
        raise


def _compiled(ready: multiprocessing.synchronize.Barrier, number: int, until: float, backend: str, draws: float,
              targets: tuple[str, ...]) -> dict[str, tuple[int, float]]:
    import torch
    import triton

    from tridiff.fuzz.backends.compile import CompileRunner, stand_ins
    from tridiff.fuzz.backends.cuda import CudaRunner
    from tridiff.fuzz.backends.launch import Launch, Runner, resolve
    from tridiff.fuzz.content.place import place
    from tridiff.fuzz.known.draws import draw_cases
    from tridiff.fuzz.registry import find
    from tridiff.fuzz.target import Limits

    device = torch.device("cuda")
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.uint8, device=device))
    runner: Runner = CudaRunner() if backend == "cuda" else CompileRunner(backend.partition(":")[2])
    by_target: list[list[Launch]] = []
    for name in targets:
        target, prepared = find(name), list[Launch]()
        number_of_cases = math.ceil(draws * max(until - time.time(), 1))
        for case in draw_cases(name, Limits(elements=1 << 14, rows=1 << 10), number_of_cases, seed=number):
            pointers = stand_ins(case) if backend != "cuda" else {
                spec.name: place(spec, case.sizes, device=device).pointer for spec in case.arrays}
            prepared += (Launch(case=case, pointers=pointers, helper=resolve(target.subjects["own"]), fault="",
                                planted="", options=case.options, runner=runner, schedule=schedule)
                         for schedule in range(1 + target.run.schedules(case)))
        by_target.append(prepared)
    # In turns: a campaign gives every target the same share, and their kernels cost the compiler differently.
    launches = [launch for turn in zip(*by_target, strict=False) for launch in turn]
    first = launches.pop()
    find(first.case.target).run.launch(first)
    runner.synchronise()
    ready.wait()
    done: dict[str, tuple[int, float]] = {}
    for launch in launches:
        if time.time() >= until:
            break
        started = time.perf_counter()
        # What fails does so in a campaign as well, and takes its time there.
        with contextlib.suppress(Exception):
            find(launch.case.target).run.launch(launch)
        runner.synchronise()
        kernels, seconds = done.get(launch.case.target, (0, 0.0))
        done[launch.case.target] = (kernels + sum(report.compiled for report in launch.reports),
                                    seconds + time.perf_counter() - started)
    return done


def main() -> None:
    """Arguments: when to end (seconds since 1970), backend, processes, cases to draw of each target for each second,
    target names."""
    until, backend, processes, draws = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    targets = tuple(sys.argv[5:])
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes)
    results = context.SimpleQueue()
    running = [context.Process(target=_loop, args=(ready, results, i, until, backend, draws, targets))
               for i in range(processes)]
    for process in running:
        process.start()
    found = [results.get() for _ in running]
    for process in running:
        process.join()
    if any(process.exitcode for process in running):
        sys.exit(1)
    told = {name: [one[name] for one in found if name in one] for name in targets}
    print(json.dumps({name: [sum(part) for part in zip(*parts, strict=True)] for name, parts in told.items() if parts}))


if __name__ == "__main__":
    main()
