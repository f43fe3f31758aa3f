"""Stands in for the process of `fuzz.planted.trial` that draws cases and runs them: some cases end it."""

import os
from multiprocessing.connection import Connection

import msgspec

from tests.support.pairs import CASE
from tridiff.fuzz.planted.trial import Drawn, Ran


def serve(job: bytes, drawn: bool, backend: str, build: str, traced: str, weak: str, cache: str,
          connection: Connection) -> None:
    """Four cases, told by their number, of which the target's name says which end the process."""
    work = msgspec.json.decode(job, type=Drawn)
    for number in range(work.begin, work.number):
        if str(number) in work.target.split():
            os._exit(3)
        connection.send_bytes(msgspec.json.encode(Ran(case=CASE, backend=backend, died=f"case {number}")))
    connection.send_bytes(b"")
