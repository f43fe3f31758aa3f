"""Bare loop: compile and launch kernels that differ, nothing else. Prints kernels per second.

The kernels are those of the targets in `measure.FRESH_TARGETS`: the same drivers and helpers, with fresh
constants each time, so that the ratio compares like with like.
"""

import itertools
import multiprocessing
import sys
import time


def _loop(number: int, seconds: float, ready: "multiprocessing.synchronize.Barrier",  # type: ignore[name-defined]
          results: "multiprocessing.SimpleQueue[int]") -> None:
    import torch
    import triton.language as tl

    from kernels.drivers.elementwise import integer_ramp
    from kernels.helpers.integer import div_floor_integer, remainder_integer
    from kernels.helpers.operators import operator_floordiv, operator_mod

    helpers = (operator_floordiv, operator_mod, div_floor_integer, remainder_integer)
    types = ((tl.int32, torch.int32), (tl.int64, torch.int64), (tl.int16, torch.int16), (tl.int8, torch.int8))

    def launch(serial: int) -> None:
        dtype, storage = types[serial % 4]
        out = torch.empty(1024, dtype=storage, device="cuda")
        helper = helpers[serial // 4 % 4]
        block = 64 << (serial // 16 % 4)
        integer_ramp.kernel[(1024 // block,)](
            out_ptr=out, divisor_ptr=None, start=0, divisor=3, count=1024, HELPER=helper, BLOCK=block, DTYPE=dtype,
            START=-(serial % 97) - 1, DIVISOR=2 + serial % 50, FAULT="", num_warps=(4, 2, 8, 1)[serial // 64 % 4])
        torch.cuda.synchronize()

    launch(10_000_000 + number)
    ready.wait()
    started, done = time.perf_counter(), 0
    for serial in itertools.count(number * 1_000_003):
        if time.perf_counter() - started >= seconds:
            break
        launch(serial)
        done += 1
    results.put(done)


def main() -> None:
    """Arguments: processes, seconds."""
    processes, seconds = int(sys.argv[1]), float(sys.argv[2])
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes)
    results = context.SimpleQueue()
    running = [context.Process(target=_loop, args=(i, seconds, ready, results)) for i in range(processes)]
    for process in running:
        process.start()
    total = sum(results.get() for _ in running)
    for process in running:
        process.join()
    print(total / seconds)


if __name__ == "__main__":
    main()
