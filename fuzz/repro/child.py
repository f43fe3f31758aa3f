"""The process that writes scripts: reads one request on standard input, answers on standard output.

It imports torch and Triton and runs the front end of Triton's compiler, which may abort; the caller then asks again
without it.
"""

import os
import sys

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.repro.request import Candidates, Request


def main() -> None:
    """Answer with `Candidates` as JSON; whatever else is printed goes to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    from tridiff.fuzz.repro.build import build

    try:
        found = build(request)
    except TridiffError as error:
        found = Candidates(problem=error.problem, fix=error.fix)
    with os.fdopen(answer, "wb") as stream:
        stream.write(msgspec.json.encode(found))


def forked() -> None:
    """As `main`, in a fork of a process that has imported already (`workers.preload`)."""
    main()


if __name__ == "__main__":
    main()
