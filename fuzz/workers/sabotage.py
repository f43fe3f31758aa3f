"""Process-level faults, committed on purpose to test that workers are expendable."""

import ctypes
import os
import signal
import time
from typing import Any

import torch

from tridiff.fuzz.backends.launch import Runner, resolve
from tridiff.fuzz.records import LaunchOptions


def commit(fault: str, runner: Runner, device: torch.device) -> None:
    """Do what `fault` names (see tridiff.fuzz.target.subjects.PROCESS_FAULTS) in this process.

    On a GPU, `illegal_address`, `device_assert` and `endless_kernel` are real kernels; elsewhere the nearest
    thing a CPU process can do: a wild store, a failing assertion of an interpreted kernel, a loop.
    """
    if fault == "segfault":
        ctypes.string_at(0)
    elif fault == "worker_killed":
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    elif fault == "out_of_memory":
        _exhaust(device)
    elif device.type == "cuda":
        _kernel(fault, runner, device)
    elif fault == "illegal_address":
        ctypes.memset(1 << 46, 0, 8)
    elif fault == "endless_kernel":
        while True:
            time.sleep(1)
    else:
        raise DeviceAssertion("planted device assertion")


class DeviceAssertion(Exception):
    """Stands in for a device assertion where there is no device."""


def _exhaust(device: torch.device) -> None:
    kept: list[Any] = []
    size = 1 << 30
    while True:
        # Touched page by page only on the GPU; RLIMIT_DATA counts the reservation on the CPU.
        kept.append(torch.empty(size, dtype=torch.uint8, device=device))
        if len(kept) > 4096:
            raise MemoryError("4 TiB reserved without reaching the worker's memory cap")


def _kernel(fault: str, runner: Runner, device: torch.device) -> None:
    word = torch.zeros(1, dtype=torch.int32, device=device)
    kernel = resolve(f"tridiff.kernels.sabotage:{fault}")
    runner.run(kernel, (1, 1, 1), {"word_ptr": word}, LaunchOptions(debug=True))
    runner.synchronise()
