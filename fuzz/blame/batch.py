"""Blames of many entries: several at a time, each within a budget of its own and all within one, told as they come."""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame.jobs import Job
from tridiff.fuzz.blame.laboratory import Laboratory
from tridiff.fuzz.blame.localise import NotFailing, blame
from tridiff.fuzz.builds import Build
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame
from tridiff.fuzz.records.blame import Stage

SHORTEST = 8.0
"""Seconds that must be left for another entry to be begun."""


class Blamed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one entry, a line of JSON. recorded: the stage in the entry. blame: None with the `problem` that
    stood in the way. seconds: of this entry alone, without the start of the processes that serve many."""

    entry: str
    recorded: Stage
    triton: str = ""
    blame: Blame | None = None
    problem: str = ""
    seconds: float = 0.0
    trials: int = 0

    @property
    def agrees(self) -> bool | None:
        """Whether the stage is the recorded one; None where one of them is not known."""
        if self.blame is None or not self.blame.localised or self.recorded == "unknown":
            return None
        return self.blame.stage == self.recorded


def blamed(job: Job, laboratory: Laboratory, seconds: float) -> Blamed:
    """Blame one entry on the first backend on which it fails. Raises nothing that concerns the entry alone."""
    started, before, problems = time.monotonic(), laboratory.trials, []
    found = None
    for backend in job.backends:
        laboratory.renew(max(seconds - (time.monotonic() - started), 0.0))
        try:
            found = blame(job.entry.case, job.entry.signature.subject, backend, signature=job.entry.signature,
                          laboratory=laboratory)
            break
        except TridiffError as error:
            problems.append(error.problem if isinstance(error, NotFailing) else f"{backend}: {error.problem}")
    return Blamed(entry=job.name, recorded=job.entry.stage, triton=laboratory.triton, blame=found,
                  problem="" if found is not None else "; ".join(problems)[:500],
                  seconds=round(time.monotonic() - started, 2), trials=laboratory.trials - before)


def batch(jobs: Sequence[Job], *, workers: int, seconds: float, total: float | None = None,
          build: Build | None = None) -> Iterator[Blamed]:
    """The results as they come. seconds: the longest for one entry; total: for all of them together; entries that
    could not be begun by then are not told of."""
    end = time.monotonic() + total if total is not None else None
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    done: queue.SimpleQueue[Blamed | BaseException | None] = queue.SimpleQueue()
    stop = threading.Event()
    count = max(min(workers, len(jobs)), 1)

    def work() -> None:
        try:
            with Laboratory(seconds=seconds, build=build) as laboratory:
                laboratory.start(interpreted=any(kind(one) != "compile" for job in jobs for one in job.backends))
                while not stop.is_set():
                    left = end - time.monotonic() if end is not None else seconds
                    if left < SHORTEST:
                        return
                    done.put(_told(waiting.get_nowait(), laboratory, min(seconds, left)))
        except queue.Empty:
            return
        except BaseException as error:
            done.put(error)
        finally:
            done.put(None)

    threads = [threading.Thread(target=work, name=f"blame {number}", daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        running = count
        while running:
            one = done.get()
            if one is None:
                running -= 1
            elif isinstance(one, BaseException):
                raise one
            else:
                yield one
    finally:
        stop.set()


def _told(job: Job, laboratory: Laboratory, seconds: float) -> Blamed:
    """As `blamed`; what goes wrong with one entry ends with it."""
    try:
        return blamed(job, laboratory, seconds)
    except Exception as error:  # One entry that breaks the tool must not cost the others.
        laboratory.restart()
        return Blamed(entry=job.name, recorded=job.entry.stage, triton=laboratory.triton,
                      problem=f"{type(error).__name__}: {error}"[:500])


def read(path: Path) -> list[Blamed]:
    """The results in a file that was written as they came; a last line that was cut off is left out. Raises
    TridiffError."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TridiffError(f"{path} cannot be read ({error.strerror})", fix="name a file of results") from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(msgspec.json.decode(line, type=Blamed))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number < len(lines):
                raise TridiffError(f"{path}, line {number}: {error}",
                                   fix="give a file that `tridiff blame --all --to FILE` wrote") from None
    return found


def keep(store: Corpus, results: Sequence[Blamed]) -> tuple[int, list[str]]:
    """Put blames into their entries: (how many entries changed, those that the corpus has not)."""
    from tridiff.fuzz.blame.record import with_blame

    changed, missing = 0, []
    for one in results:
        if one.blame is None:
            continue
        try:
            entry = store.find(one.entry)
        except TridiffError:
            missing.append(one.entry)
            continue
        fuller = with_blame(entry, one.blame)
        if fuller != entry:
            store.rewrite(fuller)
            changed += 1
    return changed, missing
