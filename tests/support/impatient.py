"""`tridiff` as it is, but quick to notice what is stopped, and with a log of every outcome that is on disk.

    python tests/support/impatient.py fuzz ...

The log is the file that the variable OUTCOME_LOG names: a line "SHARD NUMBER DIGEST VERDICT" for each outcome, written
when the shard's store says that it has it."""

import os
from typing import Any

from tridiff.fuzz.campaign import processes
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.records import Case, Outcome
from tridiff.fuzz.workers import forks

processes.SILENT_SECONDS, processes.START_SECONDS = 4.0, 40.0
forks.FORK_SECONDS, forks.INTERPRETER_START, forks.EXIT_SECONDS = 4.0, 15.0, 3.0

_end = ShardStore.end


def _logged(self: ShardStore, outcome: Outcome, case: Case, **rest: Any) -> None:
    assert outcome.case_digest == case.digest
    _end(self, outcome, case, **rest)
    descriptor = os.open(os.environ["OUTCOME_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{self.path.stem} {self._number} {case.digest} {outcome.verdict.value}\n".encode())
    os.close(descriptor)


if "OUTCOME_LOG" in os.environ:
    ShardStore.end = _logged

if __name__ == "__main__":
    from tridiff.fuzz.cli.app import main

    main()
