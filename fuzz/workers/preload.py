"""A process that has torch and one build of Triton imported and forks zygotes for all drivers of a campaign.

Importing takes seconds of a core, and each driver needs a zygote for each build and kind of backend: they share one
import. A driver connects to the process's socket and sends a `Begin` line with the three standard streams of its zygote
as descriptors; the answer is the zygote's process number. A zygote is a session of its own, ends with its driver,
whose pipe it reads, and with this process, which ends with the campaign's.
"""

import contextlib
import importlib
import os
import resource
import signal
import socket
import sys
import tempfile

from tridiff.fuzz.workers import addresses, environment, protocol, zygote

STREAMS = 3

INSTEAD = {"trials": "tridiff.fuzz.blame.child", "scripts": "tridiff.fuzz.repro.child"}
"""Modules whose `forked` a fork may run instead of a zygote's work: processes that run trials, that write a script."""


def main(address: str, backend: str, parent: int, more: tuple[str, ...] = ()) -> None:
    """Serve until somebody ends this process. address: of the socket. backend: one of the kind that zygotes are for.
    parent: number of the process that started this one. more: modules that are imported beside what every worker
    needs."""
    zygote.die_with_parent(parent)
    zygote.ignore_ends()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with addresses.short(address) as name:
        listener.bind(name)
    listener.listen(256)
    zygote.prepare(more)
    environment.warm(backend)
    # Whoever ended is gone at once: nobody waits for zygotes here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError, protocol.Garbled):
            connection.settimeout(1)
            data, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, STREAMS)
            try:
                request = protocol.read_begin(data)
                if len(descriptors) == STREAMS:
                    pid = _begin(request, descriptors, (listener, connection))
                    connection.sendall(f"{pid}\n".encode())
            finally:
                for one in descriptors:
                    os.close(one)


def _begin(request: protocol.Begin, streams: list[int], ours: tuple[socket.socket, ...]) -> int:
    """Fork a zygote; returns its process number."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
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
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), tuple(sys.argv[4:]))
