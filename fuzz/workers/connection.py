"""One child process as the driver sees it: a socket, and what may come through it."""

import contextlib
import os
import signal
import socket
import time
from pathlib import Path

from tridiff.fuzz.records import Environment
from tridiff.fuzz.workers import protocol

LONGEST_MESSAGE = 64 << 20
"""Bytes; the largest outcomes have some hundred thousand."""

SEND_SECONDS = 30.0


class Worker:
    """A child that runs cases. pid: its process number. log: the file that has its output."""

    def __init__(self, pid: int, connection: socket.socket, log: Path) -> None:
        self.pid, self.log = pid, log
        self.environment = Environment()
        self.cases = 0
        """Requests so far."""
        self._connection = connection
        self._buffer = bytearray()

    def send(self, request: protocol.Run | protocol.RunJoined) -> None:
        """Raises OSError when the child is gone or does not read."""
        self.cases += 1
        self._connection.settimeout(SEND_SECONDS)
        self._connection.sendall(protocol.line(request))

    def read(self, deadline: float) -> protocol.FromChild | None:
        """The next message; None at end of stream. Raises TimeoutError after the deadline (monotonic), and Garbled
        for anything that is no message."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > LONGEST_MESSAGE:
                raise protocol.Garbled(f"more than {LONGEST_MESSAGE >> 20} MiB without an end")
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(left)
            try:
                data = self._connection.recv(1 << 20)
            except TimeoutError:
                raise
            except OSError:
                return None
            if not data:
                return None
            self._buffer += data
        one = bytes(self._buffer[:end])
        del self._buffer[:end + 1]
        return protocol.read_child(one)

    def unasked(self) -> bytes:
        """What lies in the socket although nothing was asked; nothing at its end."""
        if self._buffer:
            return bytes(self._buffer[:40])
        try:
            self._connection.settimeout(0)
            return self._connection.recv(40, socket.MSG_PEEK)
        except OSError:
            return b""

    def tail(self) -> str:
        """The last lines the worker wrote to its log."""
        try:
            return self.log.read_bytes()[-2000:].decode(errors="replace").strip()
        except OSError:
            return ""

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        self._connection.close()
