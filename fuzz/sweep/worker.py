"""A worker process of a sweep, with a device, or without for compiling and checking. One task, one reply per line.

    python -m tridiff.fuzz.sweep.worker cuda:0 | interpreter | helper
"""

import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tridiff.fuzz.sweep.messages import (
    Check,
    Compile,
    Copy,
    Done,
    Failed,
    Inspect,
    Inspected,
    Part,
    Ready,
    Task,
    decode_task,
    encode,
    part_path,
    result_path,
    write_whole,
)
from tridiff.fuzz.sweep.records import SweepResult, SweepSpec

_compiled = 0


def serve(where: str, read: BinaryIO, write: BinaryIO) -> None:
    """Answer tasks until the input ends."""
    device = _prepare(where)
    for line in read:
        try:
            reply: Any = _run(decode_task(line), device)
        except Exception as error:
            reply = Failed(type(error).__name__, " ".join(str(error).split())[-600:])
        write.write(encode(reply) + b"\n")
        write.flush()


def _prepare(where: str) -> str:
    """Set up the process; the device's name in torch."""
    if where == "interpreter":
        from tridiff.fuzz.interpreter import install

        install()
        return "cpu"
    if where.startswith("cuda"):
        import torch
        import triton

        def listen(*, cache_hit: bool, **_: Any) -> None:
            global _compiled
            _compiled += not cache_hit

        torch.cuda.set_device(where)
        triton.knobs.compilation.listener = listen
    return where


@lru_cache(maxsize=8)
def _judge(spec: SweepSpec, device: str) -> Any:
    from tridiff.fuzz.sweep.execute import Judge

    return Judge(spec, device=device)


def _run(task: Task, device: str) -> Done:
    global _compiled
    started, _compiled = time.perf_counter(), 0
    handlers: dict[type, Callable[[Any, str], Done]] = {
        Part: _part, Inspect: _inspect, Check: _check, Compile: _compile, Copy: _copy}
    done = handlers[type(task)](task, device)
    return Done(compiled=_compiled + done.compiled, seconds=time.perf_counter() - started, rate=done.rate,
                result=done.result)


def _part(task: Part, device: str) -> Done:
    judge = _judge(task.spec, device)
    if judge.space.on_host:
        _fetch(judge, task)
        return Done()
    from tridiff.fuzz.sweep.inspect_parts import judge_part

    judge_part(judge, task.folder, task.first, task.count)
    return Done()


def _fetch(judge: Any, task: Part) -> None:
    """The results of all inputs of a stratified set, for the host to judge."""
    started = time.perf_counter()
    probed = judge.probe(np.arange(judge.space.size))
    path = part_path(task.folder, task.spec, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, pattern=probed.pattern)
    write_whole(path, encode(time.perf_counter() - started))


def _inspect(task: Inspect, device: str) -> Done:
    judge = _judge(task.spec, device)
    if judge.space.on_host:
        return Done()
    from tridiff.fuzz.sweep.inspect_parts import inspect

    inspected, probed = inspect(judge, task.folder)
    path = part_path(task.folder, task.spec, 0).with_suffix(".inspected")
    with path.with_suffix(".sample.npz").open("wb") as file:
        np.savez(file, index=probed.index, reference=probed.reference)
    write_whole(path, encode(inspected))
    return Done()


def _check(task: Check, device: str) -> Done:
    import msgspec

    from tridiff.fuzz.sweep.source import build

    first = part_path(task.folder, task.spec, 0)
    if build(task.spec).space.on_host:
        from tridiff.fuzz.sweep.host import judge_on_host

        seconds = msgspec.json.decode(first.read_bytes(), type=float)
        with np.load(first.with_suffix(".npz")) as data:
            result = judge_on_host(task.spec, data["pattern"], seconds=seconds)
    else:
        from tridiff.fuzz.sweep.check import Sample, crosscheck

        path = first.with_suffix(".inspected")
        inspected = msgspec.json.decode(path.read_bytes(), type=Inspected)
        with np.load(path.with_suffix(".sample.npz")) as data:
            sample = Sample(data["index"], data["reference"], inspected.sampled, inspected.near, inspected.near_total)
        checked = crosscheck(task.spec, sample)
        result = msgspec.structs.replace(inspected.result, crosscheck=checked)
        if checked.refuted:
            result = msgspec.structs.replace(result, verdict="oracles_disagree", reason=checked.example)
    return Done(result=_written(task.folder, result))


def _written(folder: str, result: SweepResult) -> SweepResult:
    write_whole(result_path(folder, result.spec), encode(result))
    for file in (Path(folder) / "parts").glob(f"{result.spec.key}.*"):
        file.unlink()
    return result


def _compile(task: Compile, device: str) -> Done:
    from tridiff.fuzz.sweep.ahead import compile_ahead

    return Done(compiled=compile_ahead(task.spec, task.capability))


def _copy(task: Copy, device: str) -> Done:
    """Bytes per second, read plus written, of the fastest of several plain copies."""
    import torch

    size = 1 << 31 if device.startswith("cuda") else 1 << 26
    source = torch.zeros(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(6):
        started = time.perf_counter()
        target.copy_(source)
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return Done(rate=2 * size / best)


def main() -> None:
    """Entry point: replies go to the original stdout, everything printed to stderr."""
    where = sys.argv[1]
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if where == "interpreter":
        os.environ["TRITON_INTERPRET"] = "1"
    from tridiff.fuzz.workers.environment import read_environment

    if where != "helper":
        if where == "interpreter":
            _prepare(where)
        else:
            import torch

            torch.cuda.set_device(where)
        replies.write(encode(Ready(read_environment(where.partition(":")[0]))) + b"\n")
    else:
        from tridiff.fuzz.records import Environment

        replies.write(encode(Ready(Environment())) + b"\n")
    replies.flush()
    serve(where, sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
