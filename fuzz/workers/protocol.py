"""Every message between the process that draws cases and the processes that run them: plain JSON lines."""

import msgspec

from fuzz.records import Case, Environment, Outcome


class Fork(msgspec.Struct, frozen=True, kw_only=True, tag="fork"):
    """To the zygote: start a child that connects to the Unix socket `address` and logs to `log`."""

    address: str
    log: str


class Forked(msgspec.Struct, frozen=True, kw_only=True, tag="forked"):
    """From the zygote: the child's process number."""

    address: str
    pid: int


class Exited(msgspec.Struct, frozen=True, kw_only=True, tag="exited"):
    """From the zygote: a child ended; status as waitpid gives it (negative: killed by that signal)."""

    pid: int
    status: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """From a child: device initialised, waiting for work."""

    pid: int
    environment: Environment


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """To a child: judge one case."""

    case: Case
    subject: str
    backend: str
    want_inputs: bool = False
    """Report inputs and outputs even when the verdict is `agree` (for repro)."""
    inputs_only: bool = False
    """Only materialise and report the inputs; launch nothing."""


class Stage(msgspec.Struct, frozen=True, kw_only=True, tag="stage"):
    """From a child: what it is about to do, so that a death or a hang can be placed."""

    name: str


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """From a child: the outcome. `spent`: the child ends now, its device context is unusable."""

    outcome: Outcome
    spent: bool = False


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """From a child: the case cannot be run at all; one line each."""

    problem: str
    fix: str


FromZygote = Forked | Exited
FromChild = Ready | Stage | Done | Refused


def line(message: msgspec.Struct) -> bytes:
    """The message as one line."""
    return msgspec.json.encode(message) + b"\n"


_FROM_ZYGOTE = msgspec.json.Decoder(FromZygote)
_FROM_CHILD = msgspec.json.Decoder(FromChild)
_RUN = msgspec.json.Decoder(Run)
_FORK = msgspec.json.Decoder(Fork)


def read_zygote(data: bytes) -> FromZygote:
    return _FROM_ZYGOTE.decode(data)


def read_child(data: bytes) -> FromChild:
    return _FROM_CHILD.decode(data)


def read_run(data: bytes) -> Run:
    return _RUN.decode(data)


def read_fork(data: bytes) -> Fork:
    return _FORK.decode(data)
