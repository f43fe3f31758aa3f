"""The one error type that tridiff raises on purpose.

Its message is a single line that says what is wrong and how to fix it; the command line prints it
without a traceback and exits with status 2 ("could not check").
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class TridiffError(Exception):
    """Something the user can fix: a bad option, a broken corpus file, a missing device.

    Parameters
    ----------
    problem: what is wrong, one line, with the offending name or value.
    fix: what to do about it, one line, imperative.
    """

    def __init__(self, problem: str, *, fix: str) -> None:
        self.problem = " ".join(problem.split())
        self.fix = " ".join(fix.split())
        super().__init__(f"{self.problem}; {self.fix}")

    def __reduce__(self) -> tuple[Callable[..., "TridiffError"], tuple[str, str]]:
        # From one process to another: what cannot be read back there ends the whole pool of processes.
        return _again, (self.problem, self.fix)


@contextmanager
def writing(path: Path, *, fix: str) -> Iterator[None]:
    """While a file or folder is written whose place somebody chose: TridiffError where that cannot be done."""
    try:
        yield
    except OSError as error:
        raise TridiffError(f"{path} cannot be written ({error.strerror})", fix=fix) from None


def _again(problem: str, fix: str) -> TridiffError:
    return TridiffError(problem, fix=fix)
