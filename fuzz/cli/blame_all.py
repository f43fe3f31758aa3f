"""`tridiff blame --all`: blames of many entries, told and written as they come, and put into the corpus."""

import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.blame.batch import Blamed, batch, keep, read
from tridiff.fuzz.blame.jobs import Job, jobs
from tridiff.fuzz.builds import Build, inspect
from tridiff.fuzz.cli.text import coloured, console, plain
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import CorpusEntry
from tridiff.kernels.codegen.dialect import found_version


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What was asked for. only: a backend; each, total: seconds; results: a file that results are appended to, and
    that is gone on with; missing: without entries of which a stage is known already; record: keep blames in entries."""

    only: str
    build: Build | None
    workers: int
    each: float
    total: float | None
    results: Path | None
    missing: bool
    record: bool
    as_json: bool


def run(store: Corpus, asked: Batch) -> int:
    """Blame them; the exit status: 0 with a stage for each, 1 where one has none, 2 where none was blamed."""
    begun = time.monotonic()
    triton = inspect(asked.build).version if asked.build is not None else found_version()
    entries = [one for one in store.entries() if isinstance(one, CorpusEntry)]
    before = read(asked.results) if asked.results is not None else []
    chosen = list(_left(jobs(entries, available_backends(), triton, only=asked.only), before, triton, asked.missing))
    results: list[Blamed] = []
    out, last = console(errors=True), time.monotonic()
    try:
        with out.status(coloured(f"{len(chosen)} entries, Triton {triton}")) as status:
            for one in batch(chosen, workers=asked.workers, seconds=asked.each,
                             total=None if asked.total is None else asked.total - (time.monotonic() - begun),
                             build=asked.build):
                results.append(one)
                _written(one, asked)
                if asked.record:
                    keep(store, [one])
                line = f"blamed {len(results)} of {len(chosen)} entries, last {one.entry}"
                status.update(coloured(line))
                if not out.is_terminal and time.monotonic() - last >= 10:
                    last = time.monotonic()
                    out.print(line)
    except KeyboardInterrupt:
        out.print("interrupted; what was blamed until then is kept")
    for line in summary(results, chosen):
        out.print(line)
    blames = [one.blame for one in results if one.blame is not None]
    return 2 if not blames else 0 if all(one.localised for one in blames) and len(blames) == len(chosen) else 1


def _left(chosen: list[Job], before: list[Blamed], triton: str, missing: bool) -> Iterator[Job]:
    done = {one.entry for one in before if one.blame is not None and one.triton == triton}
    known = {one.entry for one in before if one.blame is not None and one.blame.localised}
    for job in chosen:
        if job.name in done or (missing and (job.name in known or any(one.localised for one in job.entry.blame))):
            continue
        yield job


def _written(one: Blamed, asked: Batch) -> None:
    line = msgspec.json.encode(one).decode()
    if asked.results is not None:
        with writing(asked.results, fix="choose another file"), asked.results.open("a") as stream:
            stream.write(line + "\n")
    if asked.as_json:
        print(line, flush=True)
    else:
        said = one.blame.line if one.blame is not None else one.problem
        mark = {True: "as recorded", False: f"recorded: {one.recorded}", None: f"recorded: {one.recorded}"}[one.agrees]
        print(plain(f"{one.entry}: {said}; {mark}; {one.seconds:.0f} s"), flush=True)


def merge(store: Corpus, path: Path) -> int:
    """Put the blames of a file into the entries; the exit status."""
    results = read(path)
    if not results:
        raise TridiffError(f"{path} has no results", fix="give a file that `tridiff blame --all --to FILE` wrote")
    changed, missing = keep(store, results)
    out = console()
    for line in summary(results, []):
        out.print(line)
    out.print(f"{changed} entries changed")
    if missing:
        out.print(f"not in this corpus: {' '.join(missing)}")
    return 0 if not missing else 2


def summary(results: list[Blamed], chosen: list[Job]) -> Iterator[str]:
    """What came out, in lines."""
    blames = [one for one in results if one.blame is not None]
    held = [one for one in blames if one.agrees is not None]
    agreed = sum(one.agrees is True for one in held)
    yield (f"{len(results)} entries{f' of {len(chosen)}' if chosen else ''}: {len(blames)} blamed, "
           f"{sum(one.blame is not None and one.blame.localised for one in blames)} localised; {agreed} of {len(held)} "
           f"stages as recorded{f' ({agreed / len(held):.0%})' if held else ''}")
    if blames:
        times = sorted(one.seconds for one in blames)
        yield (f"seconds for one: median {statistics.median(times):.1f}, longest {times[-1]:.1f}; "
               f"{sum(one.trials for one in blames):,} trials")
    problems = Counter(one.problem.split(" (")[0] for one in results if one.blame is None)
    for problem, count in problems.most_common(5):
        yield f"not blamed, {count}: {problem}"
    for one in held:
        if one.agrees is False and one.blame is not None:
            yield f"  {one.entry}: {one.blame.line}; recorded: {one.recorded}"
