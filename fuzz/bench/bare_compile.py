"""Bare loop: compile and launch the kernels that the harness would, nothing else. Prints kernels per second.

The cases come from the same strategies as in a campaign, drawn before the clock starts, and their arrays lie
in device memory by then. What remains is `kernel[grid](...)` and a synchronisation: no drawing, no content,
no judging, no messages, nothing on disk but Triton's own cache.
"""

import multiprocessing
import multiprocessing.synchronize
import sys
import time
from typing import Any


def _loop(number: int, until: float, targets: tuple[str, ...], ready: multiprocessing.synchronize.Barrier,
          results: Any) -> None:
    import torch

    from tridiff.fuzz.backends.cuda import CudaRunner
    from tridiff.fuzz.backends.launch import Launch, resolve
    from tridiff.fuzz.content.place import place
    from tridiff.fuzz.known.draws import draw_cases
    from tridiff.fuzz.registry import find
    from tridiff.fuzz.target import Limits

    device, runner = torch.device("cuda"), CudaRunner()
    by_target: list[list[Launch]] = []
    for name in targets:
        target, prepared = find(name), list[Launch]()
        number_of_cases = int(16 * max(until - time.time(), 1))
        for case in draw_cases(name, Limits(elements=1 << 14, rows=1 << 10), number_of_cases, seed=number):
            pointers = {spec.name: place(spec, case.sizes, device=device).pointer for spec in case.arrays}
            prepared.append(Launch(case=case, pointers=pointers, helper=resolve(target.subjects["own"]), fault="",
                                   planted="", options=case.options, runner=runner))
        by_target.append(prepared)
    # In turns: a campaign gives every target the same share, and their kernels cost the compiler differently.
    launches = [launch for turn in zip(*by_target, strict=True) for launch in turn]
    first = launches.pop()
    find(first.case.target).run.launch(first)
    torch.cuda.synchronize()
    ready.wait()
    started, done = time.perf_counter(), 0
    for launch in launches:
        if time.time() >= until:
            break
        find(launch.case.target).run.launch(launch)
        torch.cuda.synchronize()
        done += sum(report.compiled for report in launch.reports)
    results.put(done / max(time.perf_counter() - started, 1e-9))


def main() -> None:
    """Arguments: when to end (seconds since 1970), processes, target names."""
    until, processes, targets = float(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:])
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes)
    results = context.SimpleQueue()
    running = [context.Process(target=_loop, args=(i, until, targets, ready, results)) for i in range(processes)]
    for process in running:
        process.start()
    total = sum(results.get() for _ in running)
    for process in running:
        process.join()
    print(total)


if __name__ == "__main__":
    main()
