"""Processes that have torch and one build of Triton imported and fork zygotes for all drivers of a campaign.

Importing takes seconds of a core, and each driver needs a zygote for each build and kind of backend: they share one
import, and builds and kinds share that of everything but Triton. What some workers alone need, which takes as long
again, is imported by a fork of the process once somebody asks for it. A driver connects to the process's socket and
sends a `Begin` line with the three standard streams of its zygote as descriptors; the answer is the zygote's process
number. A zygote is a session of its own, ends with its driver, whose pipe it reads, and with this process, which ends
with the campaign's.
"""

import contextlib
import importlib
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

from tridiff.fuzz.workers import addresses, environment, protocol, zygote

STREAMS = 3

MORE = "-more"
"""Behind an address: that of the fork which has imported `protocol.Preload.more`. Answered to whoever needs it."""

INSTEAD = {"trials": "tridiff.fuzz.blame.child", "scripts": "tridiff.fuzz.repro.child"}
"""Modules whose `forked` a fork may run instead of a zygote's work: processes that run trials, that write a script."""


def main(asked: str, parent: int, alone: int | None = None) -> None:
    """Be the parent of all processes that a file asks for, or the one of a number, until somebody ends this process.
    parent: number of the process that started this one."""
    zygote.die_with_parent(parent)
    zygote.ignore_ends()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    every = protocol.read_preloads(Path(asked).read_bytes())
    if alone is not None:
        return _serve(every[alone])
    zygote.share()
    for number, one in enumerate(every):
        ours = os.getpid()
        if not os.fork():
            zygote.die_with_parent(ours)
            _become(one, asked, number)
    # They end with this process; whoever ended before is gone at once.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        signal.pause()


def _become(one: protocol.Preload, asked: str, number: int) -> NoReturn:
    """Be one of the processes, in a fork of that which has imported what they share."""
    os.setsid()
    _log(one.address)
    folders = [Path(folder) for folder in one.build.split(os.pathsep) if folder]
    shared = {name.partition(".")[0] for name in sys.modules}
    if "triton" in shared or any((folder / name).exists() or (folder / f"{name}.py").exists()
                                 for folder in folders for name in shared):
        # The build has its own torch, for instance.
        os.execve(sys.executable, [sys.executable, "-m", "tridiff.fuzz.workers.preload", asked, str(os.getppid()),
                                   str(number)], one.environment)
    os.environ.clear()
    os.environ.update(one.environment)
    sys.path[1:1] = map(str, folders)  # behind the current folder, as PYTHONPATH is
    importlib.invalidate_caches()
    _ended(partial(_serve, one))


def _serve(asked: protocol.Preload, *, more: bool = False) -> None:
    """Be one of the processes, until somebody ends it. more: that with `Preload.more`, in a fork of the other."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with addresses.short(asked.address + MORE if more else asked.address) as name:
        listener.bind(name)
    listener.listen(256)
    zygote.prepare(asked.more if more else ())
    if not more:
        environment.warm(asked.backend)
    beside = False
    # Whoever ended is gone at once: nobody waits for zygotes here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError, protocol.Garbled):
            connection.settimeout(1)
            data, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, STREAMS)
            try:
                request = protocol.read_begin(data)
                if len(descriptors) != STREAMS:
                    continue
                if asked.more and not more and (request.more or (request.instead and beside)):
                    if not beside:
                        _fork_more(asked, (listener.fileno(), connection.fileno(), *descriptors))
                    beside = True
                    connection.sendall(f"{MORE}\n".encode())
                else:
                    pid = _begin(request, descriptors, (listener, connection))
                    connection.sendall(f"{pid}\n".encode())
            finally:
                for one in descriptors:
                    os.close(one)


def _log(address: str) -> None:
    """Have what this process prints in the log of a preloaded process."""
    log = os.open(f"{address}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)


def _fork_more(asked: protocol.Preload, ours: tuple[int, ...]) -> None:
    """Fork the process with `Preload.more`. ours: descriptors that are not its business."""
    # Whoever finds its log knows that it is to come.
    Path(f"{asked.address}{MORE}.log").touch()
    parent = os.getpid()
    if os.fork():
        return
    zygote.die_with_parent(parent)
    for one in ours:
        os.close(one)
    _log(asked.address + MORE)
    _ended(partial(_serve, asked, more=True))


def _ended(work: Callable[[], None]) -> NoReturn:
    """Do a fork's work, and end it."""
    code = 70
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _begin(request: protocol.Begin, streams: list[int], ours: tuple[socket.socket, ...]) -> int:
    """Fork a zygote; returns its process number."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    _ended(partial(_be, request, streams, ours, parent))


def _be(request: protocol.Begin, streams: list[int], ours: tuple[socket.socket, ...], parent: int) -> None:
    """What was asked for, in a fork."""
    zygote.die_with_parent(parent)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for one in ours:
        one.close()
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.environ.update(request.environment)
    tempfile.tempdir = None  # looked for again in that environment
    if request.instead:
        importlib.import_module(INSTEAD[request.instead]).forked(*request.arguments)
    else:
        zygote.serve(request.backend, request.device, request.memory)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
