"""Every message between the process that draws cases and the processes that run them: plain JSON lines.

Each request to a child has a number, which all messages about it repeat. What cannot be read, has another number or
is about another case shows that the two no longer speak of the same thing: such a child is not listened to any more.
"""

import msgspec

from tridiff.fuzz.records import Case, Environment, JointOutcome, Outcome, Record
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.records.observed import Observe, Observed


class Preload(Record, kw_only=True):
    """A process that is to be preloaded. address: of its socket, beside which its log is. backend: one of the kind that
    its zygotes are for. build: folders that come first in the path, "" for none. environment: its variables, in which
    these folders are. more: modules that some workers need beside what every one does."""

    address: str
    backend: str
    build: str
    environment: dict[str, str]
    more: tuple[str, ...]


class Begin(Record, kw_only=True, tag="begin"):
    """To a preloaded process: fork a zygote for a backend, with these environment variables beside its own. more:
    whether it needs `Preload.more`. instead: what the fork is to be instead of a zygote, one of `preload.INSTEAD`;
    arguments: of that."""

    backend: str
    device: int
    memory: int
    environment: dict[str, str] = {}
    more: bool = False
    instead: str = ""
    arguments: tuple[str, ...] = ()


class Fork(Record, kw_only=True, tag="fork"):
    """To the zygote: start a child that connects to the Unix socket `address` and logs to `log`. backend: that it runs
    on, "" for the zygote's own."""

    address: str
    log: str
    backend: str = ""


class Forked(Record, kw_only=True, tag="forked"):
    """From the zygote: the child's process number."""

    address: str
    pid: int


class Exited(Record, kw_only=True, tag="exited"):
    """From the zygote: a child ended; status as waitpid gives it (negative: killed by that signal)."""

    pid: int
    status: int


class Ready(Record, kw_only=True, tag="ready"):
    """From a child: device initialised, waiting for work."""

    pid: int
    environment: Environment


class Run(Record, kw_only=True, tag="run"):
    """To a child: judge one case. sequence: number of the request."""

    sequence: int
    case: Case
    subject: str
    backend: str
    want_inputs: bool = False
    """Report inputs and outputs even when the verdict is `agree` (for repro)."""
    observe: Observe | None = None
    """Report what the case gave bit for bit as well."""
    inputs_only: bool = False
    """Only materialise and report the inputs; launch nothing."""


class RunJoined(Record, kw_only=True, tag="run_joined"):
    """To a child: judge some cases of one target in a joint launch."""

    sequence: int
    cases: tuple[Case, ...]
    subject: str
    backend: str


class Stage(Record, kw_only=True, tag="stage"):
    """From a child: what it is about to do, so that a death or a hang can be placed."""

    sequence: int
    name: str


class Done(Record, kw_only=True, tag="done"):
    """From a child: the outcome. `spent`: the child ends now, its device context is unusable."""

    sequence: int
    outcome: Outcome
    spent: bool = False
    observed: Observed | None = None
    reached: tuple[int, ...] = ()
    """Numbers of the watched functions that the case ran."""
    imported: tuple[int, ...] = ()
    """Numbers of those that ran when the worker was started."""


class DoneJoined(Record, kw_only=True, tag="done_joined"):
    """From a child: what became of a joint launch. `spent` as in `Done`."""

    sequence: int
    outcome: JointOutcome
    spent: bool = False


class Refused(Record, kw_only=True, tag="refused"):
    """From a child: the case, or the joint launch of which it is the first, cannot be run at all; one line each."""

    sequence: int
    case_digest: str
    problem: str
    fix: str


FromZygote = Forked | Exited
FromChild = Ready | Stage | Done | DoneJoined | Refused


def line(message: msgspec.Struct) -> bytes:
    """The message as one line."""
    return msgspec.json.encode(message) + b"\n"


_FROM_ZYGOTE = msgspec.json.Decoder(FromZygote)
_FROM_CHILD = msgspec.json.Decoder(FromChild)
_RUN = msgspec.json.Decoder(Run | RunJoined)
_BEGIN = msgspec.json.Decoder(Begin)
_FORK = msgspec.json.Decoder(Fork)


class Garbled(Exception):
    """Bytes that are no message, or not one that may come now; says what is wrong with them in one line."""


def read_zygote(data: bytes) -> FromZygote:
    """Raises Garbled."""
    try:
        return _FROM_ZYGOTE.decode(data)
    except _UNREADABLE as error:
        raise Garbled(_what(data, error)) from None


def read_child(data: bytes) -> FromChild:
    """Raises Garbled."""
    try:
        return _FROM_CHILD.decode(data)
    except _UNREADABLE as error:
        raise Garbled(_what(data, error)) from None


def read_preloads(data: bytes) -> tuple[Preload, ...]:
    """The processes in a file of the campaign's own."""
    return msgspec.json.decode(data, type=tuple[Preload, ...])


def read_begin(data: bytes) -> Begin:
    """Raises Garbled."""
    try:
        return _BEGIN.decode(data)
    except _UNREADABLE as error:
        raise Garbled(_what(data, error)) from None


def read_run(data: bytes) -> Run | RunJoined:
    return _RUN.decode(data)


def read_fork(data: bytes) -> Fork:
    return _FORK.decode(data)


_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


def _what(data: bytes, error: Exception) -> str:
    return f"{len(data)} bytes that are no message ({printable(str(error), limit=100)}): {printable(repr(data[:40]))}"
