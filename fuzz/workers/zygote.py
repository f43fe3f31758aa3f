"""A process that has torch and Triton imported and forks workers on demand.

Importing both takes about three seconds; forking takes milliseconds. The zygote never touches the device
(a CUDA context does not survive a fork), so it cannot be brought down by a kernel. It reads `Fork` lines
on standard input, answers on standard output, reports every child's exit, and ends with its parent.
"""

import ctypes
import gc
import importlib
import os
import resource
import select
import signal
import sys
from collections.abc import Iterable

from tridiff.fuzz.backends import watched
from tridiff.fuzz.workers import protocol

_PR_SET_PDEATHSIG = 1

PARENT_GONE = 71
"""Exit status of a process that was left alone before it could ask to be ended with its parent."""

_IMPORTED = ("numpy", "torch", "triton", "triton.language", "scipy.special", "ml_dtypes", "tridiff.oracles.vote",
             "tridiff.oracles.arrays", "tridiff.fuzz.workers.execute", "tridiff.fuzz.kinds.graphs.by_numpy",
             "tridiff.fuzz.kinds.graphs.by_torch")
"""What every worker would import with its first case, a second of a core."""

OF_INDUCTOR = ("torch._inductor.runtime.triton_helpers", "torch._inductor.runtime.triton_heuristics")
"""What a worker would import with the first case of Inductor's device helpers: a second of a core, and 110 MB that no
other process shares."""

OF_TORCH_COMPILE = ("torch._dynamo", "torch._inductor.compile_fx")
"""What it would import beside that with the first program for torch.compile: another second and 50 MB. None of it
touches a device."""


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent ends (Linux), and end now if it has ended already. parent: its
    process number, told by itself: after its death the system would name another."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(PARENT_GONE)


def ignore_ends() -> None:
    """When the work ends is the campaign's business: a terminal, a scheduler or a container tells all processes at
    once, and outcomes of those that obeyed would be lost."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _reap(out: int) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        os.write(out, protocol.line(protocol.Exited(pid=pid, status=os.waitstatus_to_exitcode(status))))


def _fork(request: protocol.Fork, backend: str, device: int, memory: int, close: tuple[int, ...]) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with_parent(parent)
        for descriptor in close:
            os.close(descriptor)
        log = os.open(request.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        from tridiff.fuzz.workers import child

        code = child.serve(request.address, backend=request.backend or backend, device=device, memory=memory)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Skips interpreter shutdown: CUDA and MLIR destructors are slow and may crash after an error.
        os._exit(code)


def main(backend: str, device: int, memory: int, parent: int) -> None:
    """Import, and serve. parent: number of the process that started this one."""
    die_with_parent(parent)
    ignore_ends()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.dup(1)
    os.dup2(2, 1)
    prepare()
    _serve(backend, device, memory, out)


def share() -> None:
    """Import what all builds and kinds of backends have in common: everything but Triton, and what imports it."""
    _import(module for module in _IMPORTED if module.partition(".")[0] != "triton")


def prepare(more: tuple[str, ...] = ()) -> None:
    """Import whatever a worker needs, and have it in common with all that are forked. more: modules that are worth it
    where many are."""
    watched.install(os.environ.get(watched.VARIABLE, ""))
    _import((*_IMPORTED, *more))


def _import(modules: Iterable[str]) -> None:
    for module in modules:
        importlib.import_module(module)
    from tridiff.fuzz.registry import all_targets

    all_targets()
    # A worker's collector neither walks through what was imported nor copies its pages.
    gc.collect()
    gc.freeze()


def serve(backend: str, device: int, memory: int) -> None:
    """Be a zygote in a process that is prepared, until standard input closes."""
    out = os.dup(1)
    os.dup2(2, 1)
    _serve(backend, device, memory, out)


def _serve(backend: str, device: int, memory: int, out: int) -> None:
    from tridiff.fuzz.workers import environment

    environment.warm(backend)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pending = b""
    while True:
        ready, _, _ = select.select([0, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 4096)
            _reap(out)
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            for one in lines:
                request = protocol.read_fork(one)
                pid = _fork(request, backend, device, memory, (0, out, wake_read, wake_write))
                os.write(out, protocol.line(protocol.Forked(address=request.address, pid=pid)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
