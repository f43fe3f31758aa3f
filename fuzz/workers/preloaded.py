"""The preloaded processes of a campaign (`preload`), and the zygotes that drivers have them fork."""

import contextlib
import hashlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.backends.watched import VARIABLE
from tridiff.fuzz.workers import addresses, protocol
from tridiff.fuzz.workers.leftovers import OwnFolder

PREFIX = "tridiff-preload-"

WATCHED = "watched.json"

ANSWER_SECONDS = 60.0
"""What a preloaded process may take to fork a zygote: at first it imports."""

_LOOK_SECONDS = 0.05

_REFUSALS = 10
"""A socket refuses for a moment between its making and its use, and for ever when its process has ended."""


class Preloaded:
    """One preloaded process for each build, with the interpreter's switch on and off as the backends need it; where
    there are several, one process forks them that has imported what they share. Use as a context; drivers are told the
    `folder`."""

    def __init__(self, builds: Iterable[str], backends: Iterable[str], *, watched: str = "",
                 more: Callable[[frozenset[str]], tuple[str, ...]] = lambda kinds: ()) -> None:
        """watched: what workers of the first build note (`fuzz.backends.watched`), which lies in the folder as WATCHED,
        too. more: the modules that some workers of a process need beside what every one does, from the kinds of
        backends that it is for."""
        self._owned = OwnFolder(PREFIX)
        self.folder = self._owned.path
        (self.folder / WATCHED).write_text(watched)
        builds = list(dict.fromkeys(builds))
        backends = tuple(backends)
        modes = {kind(backend) == "interpreter": backend for backend in backends}
        modules = {mode: more(frozenset(map(kind, backends)) & ({"interpreter"} if mode else {"cuda", *FOR_CHIPS}))
                   for mode in modes}
        asked = [protocol.Preload(address=str(_address(self.folder, build, mode)), backend=backend, build=build,
                       environment=environment_of(build, mode, watched if build == builds[0] else ""),
                       more=modules[mode]) for build in builds for mode, backend in modes.items()]
        for one in asked:
            # Whoever finds it knows that the process is to come.
            Path(one.address).with_suffix(".log").touch()
        self._process = self._start(asked)

    def _start(self, asked: Sequence[protocol.Preload]) -> "subprocess.Popen[bytes]":
        file = self.folder / "asked.json"
        file.write_bytes(msgspec.json.encode(asked))
        alone = len(asked) == 1
        log = Path(asked[0].address).with_suffix(".log") if alone else file.with_suffix(".log")
        with open(log, "wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "tridiff.fuzz.workers.preload", str(file), str(os.getpid()),
                 *(["0"] if alone else [])],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True,
                env=asked[0].environment if alone else environment_of("", False))

    def __enter__(self) -> "Preloaded":
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()  # and with it those that it has forked
        self._process.wait()
        self._owned.remove()


def environment_of(build: str, interpreted: bool, watched: str = "") -> dict[str, str]:
    """Environment variables of a process that imports a build of Triton to run it. build: what goes in front of the
    path, "" for nothing. watched: what it is to note, "" for nothing."""
    environment = dict(os.environ)
    environment.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                       TRITON_DEFAULT_FP_FUSION="1", PYTHONUNBUFFERED="1")
    if build:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (build, environment.get("PYTHONPATH", ""))))
    environment.pop(VARIABLE, None)
    if watched:
        environment[VARIABLE] = watched
    environment.pop("TRITON_INTERPRET", None)
    if interpreted:
        # What is interpreted is the same on a machine with a GPU: torch.compile, which asks CUDA wherever there is one,
        # would do so in a fork and below a cap of memory.
        environment.update(TRITON_INTERPRET="1", CUDA_VISIBLE_DEVICES="")
    return environment


def _address(folder: Path, build: str, interpreted: bool) -> Path:
    named = hashlib.blake2b(build.encode(), digest_size=8).hexdigest()
    return folder / f"{named}-{'interpreted' if interpreted else 'compiled'}"


class Zygote:
    """A zygote, or what else was asked for, that somebody else forked: as much of a `subprocess.Popen` as its driver
    needs."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self._ended = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """None as long as it lives, then 0: how it ended nobody knows."""
        return 0 if select.select([self._ended], [], [], 0)[0] else None

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if not select.select([self._ended], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"zygote {self.pid}", timeout or 0.0)
        return 0

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._ended, signal.SIGKILL)

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.close(self._ended)


def fork_zygote(folder: Path, *, build: str, backend: str, device: int, memory: int, log: Path,
                environment: Mapping[str, str], more: bool = False) -> Zygote | None:
    """A zygote of the preloaded process for a build; None if there is none, or it does not answer. folder: of the
    campaign's preloaded processes. environment: variables that the zygote has beside those of that process. more:
    whether it is to have the modules that some workers need."""
    begin = protocol.Begin(backend=backend, device=device, memory=memory, environment=dict(environment), more=more)
    return fork(folder, begin, build=build, log=log)


def fork_instead(folder: Path, what: str, *arguments: str, interpreted: bool, log: Path,
                 environment: Mapping[str, str]) -> Zygote | None:
    """As `fork_zygote`, what is called `what` (`preload.INSTEAD`), with arguments of its own. interpreted: whether in
    a process with Triton's interpreter."""
    return fork(folder, protocol.Begin(backend="interpreter" if interpreted else "compile", device=0, memory=0,
                                       environment=dict(environment), instead=what, arguments=arguments), log=log)


def fork(folder: Path, begin: protocol.Begin, *, build: str = "", log: Path) -> Zygote | None:
    """What a preloaded process forks when it is asked to; None if there is none, or it does not answer."""
    address = _address(folder, build, kind(begin.backend) == "interpreter")
    end = time.monotonic() + ANSWER_SECONDS
    found = _asked(address, begin, log, end)
    if isinstance(found, Path):
        found = _asked(found, begin, log, end)
    return found if isinstance(found, Zygote) else None


def _asked(address: Path, begin: protocol.Begin, log: Path, end: float) -> Zygote | Path | None:
    """What the process at an address forks; the address of another that is to be asked instead."""
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError, ValueError):
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        if not _connected(connection, address, end):
            return None
        ours_in, theirs_in = _pipe(stack)
        theirs_out, ours_out = _pipe(stack)
        errors = stack.enter_context(open(log, "wb"))
        socket.send_fds(connection, [protocol.line(begin)], [ours_in, ours_out, errors.fileno()])
        connection.settimeout(max(end - time.monotonic(), 0.1))
        answer = connection.recv(64).decode().strip()
        if not answer.isdigit():
            return address.with_name(address.name + answer) if answer else None
        return Zygote(int(answer), os.fdopen(os.dup(theirs_in), "wb", buffering=0),
                      os.fdopen(os.dup(theirs_out), "rb", buffering=0))
    return None


def _pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    read, write = os.pipe()
    stack.callback(os.close, read)
    stack.callback(os.close, write)
    return read, write


def _connected(connection: socket.socket, address: Path, end: float) -> bool:
    """Whether the process listens, or does before `end` (monotonic). One whose socket refuses is gone."""
    refusals = 0
    while address.with_suffix(".log").exists() and time.monotonic() < end and refusals < _REFUSALS:
        try:
            with addresses.short(str(address)) as name:
                connection.connect(name)
            return True
        except FileNotFoundError:
            pass  # it has not come so far
        except ConnectionRefusedError:
            refusals += 1
        time.sleep(_LOOK_SECONDS)
    return False
