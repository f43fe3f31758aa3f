"""A joint launch that failed where its cases pass alone (`fuzz.campaign.joined` writes the file), run again."""

from contextlib import closing
from pathlib import Path

import msgspec

from tridiff.fuzz.campaign.replay import misfit
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import JointOutcome, Together
from tridiff.fuzz.workers.pool import Pool, PoolOptions


def read(path: str) -> Together | None:
    """The joint launch in a file; None for a file of something else, or none."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Together)
    except (OSError, msgspec.MsgspecError):
        return None


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """What one more launch gave, and what each of its cases gives alone."""

    backend: str
    together: JointOutcome
    alone: tuple[str, ...]
    """Verdicts, in the order of the cases."""

    @property
    def fails(self) -> bool:
        return self.together.verdict.failed or any(one.verdict.failed for one in self.together.outcomes)

    @property
    def told(self) -> str:
        verdicts = [one.verdict.value for one in self.together.outcomes]
        said = f"together: {', '.join(verdicts) or f'{self.together.verdict.value}, {self.together.reason}'}"
        return f"{said}\nalone: {', '.join(self.alone)}"

    @property
    def exit_status(self) -> int:
        """1: it fails, 0: it does not, 2: it could not be run."""
        checked = len(self.together.passed()) == len(self.alone)
        return 1 if self.fails else 0 if checked else 2


def again(one: Together, *, backend: str = "") -> Again:
    """Run the launch and its cases in a fresh worker. Raises TridiffError for cases that do not fit their target."""
    for case in one.cases:
        case.check()
        if problem := misfit(case, one.subject):
            raise TridiffError(problem, fix="the file is of another version of tridiff, or was changed")
    backend = backend or one.backend
    with closing(Pool(PoolOptions(backend=backend, spare=False))) as pool:
        together = pool.execute_joined(one.cases, one.subject, backend=backend)
        alone = tuple(pool.execute(case, one.subject, backend=backend).verdict.value for case in one.cases)
    return Again(backend=backend, together=together, alone=alone)
