"""Fuzz for a long time, and hold rate and memory of its sixths against the first.

    python -m tests.quality.soak --time 60m --work /tmp/soak

Every five seconds it notes the cases that are on disk, the memory of all processes of the campaign (Pss: shared pages
count once), the descriptors of the parent and the bytes of shared memory. The first sixth begins when nine tenths of
the most processes are there, the last one ends with the last case: behind it only the record is written.

Cases a second of a whole campaign say little about the harness, since it first runs what every target draws and then
what brings most: the `rate_ratio` is told, and judged is the rate like for like. For each target, subject and kind of
backend, that is cases per second of shards (without those for making findings smaller), in the second half against the
first, and of all these ratios the geometric mean, weighted with the seconds that both halves have. `seconds` there are
those in which the campaign had the processors: what others did beside it does not count.

The answer is JSON; the exit status is 1 if that rate fell below nine tenths or rests on less than a minute, if memory
of a later sixth is more than a tenth above the first, if the command took over ten seconds more than its time, or if
processes or files were left."""

import argparse
import contextlib
import itertools
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tridiff.fuzz.cli.options import seconds

SAMPLE_SECONDS = 5.0
LEAST_RATE, MOST_GROWTH, MOST_OVER = 0.9, 1.1, 10.0
SIXTHS = 6
LEAST_SHARED = 60.0
"""Seconds that both halves must have spent on the same things for their rates to say anything."""
GONE_WITHIN = 5.0
SHARED = Path("/dev/shm")


@dataclass(frozen=True)
class Sample:
    """One look. seconds: since the start. work: seconds of processors that the processes of the campaign have had,
    with those that ended. cases: on disk. memory, shared: bytes. descriptors: of the parent. by_role: memory of the
    parent, of drivers, of processes that import for others, of zygotes, and of workers."""

    seconds: float
    work: float
    cases: int
    processes: int
    memory: int
    descriptors: int
    shared: int
    by_role: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Shard:
    """A shard that came to its end. about: target, subject, kind of backend. at: seconds since the start when it was
    seen to have ended. seconds: without those for making findings smaller."""

    about: tuple[str, str, str]
    at: float
    cases: int
    seconds: float


class Shards:
    """The shards of a campaign; files of those that have ended are read once."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self.ended: dict[Path, Shard] = {}

    def cases(self, now: float) -> int:
        """Cases on disk; notes which shards have ended by `now`."""
        total = sum(one.cases for one in self.ended.values())
        for path in self._state.glob("*/shard-*.sqlite"):
            if path not in self.ended:
                try:
                    total += self._read(path, now)
                except sqlite3.Error:
                    continue  # Its tables are not there yet.
        return total

    def _read(self, path: Path, now: float) -> int:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=2)) as database:
            row = database.execute("select result from result").fetchone()
            if row is None:
                return int(database.execute("select count(*) from outcomes").fetchone()[0])
        result = json.loads(row[0])
        spec, counts = result["spec"], result["counts"]
        made = Shard(about=(spec["target"], spec["subject"], spec["backend"].partition(":")[0]), at=now,
                     cases=counts.get("executed", 0), seconds=result["seconds"] - counts.get("shrink_seconds", 0.0))
        self.ended[path] = made
        return made.cases


def _processes(tag: str) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                if tag.encode() in (path / "environ").read_bytes():
                    found.append(int(path.name))
            except OSError:
                continue
    return found


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def _work(pid: int) -> float:
    """Seconds of processors of a process and of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _role(pid: int, parent: int) -> str:
    """What a process of the campaign is, by its ancestors."""
    chain = [pid]
    while chain[-1] != parent and len(chain) < 9:
        try:
            chain.append(int(Path(f"/proc/{chain[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
        except (OSError, ValueError, IndexError):
            return "others"
    if chain == [parent]:
        return "parent"
    try:
        command = Path(f"/proc/{chain[-2]}/cmdline").read_bytes()
    except OSError:
        return "others"
    if b"workers.preload" in command:
        # One that has a number imports alone; without, those below it import Triton.
        depth = len(chain) - (2 if command.split(b"\0")[-2] == b"0" else 3)
        return ("importing", "zygotes", "workers")[min(max(depth, 0), 2)]
    return "drivers" if b"spawn_main" in command else "others"


def sizes(paths: list[Path]) -> int:
    """Bytes of files and of everything in folders, as far as they are there while this looks."""
    total = 0
    for path in paths:
        # os.walk passes over folders that went away; a file alone has no entries.
        for folder, _, files in os.walk(path) if path.is_dir() else [("", [], [str(path)])]:
            for name in files:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_size
                except OSError:
                    continue
    return total


def look(tag: str, parent: int, shards: Shards, began: float) -> Sample:
    """A sample of the campaign whose processes carry the environment variable `tag`."""
    pids = _processes(tag)
    memory = {pid: _memory(pid) for pid in pids}
    by_role: dict[str, int] = {}
    for pid, held in memory.items():
        role = _role(pid, parent)
        by_role[role] = by_role.get(role, 0) + held
    try:
        descriptors = len(os.listdir(f"/proc/{parent}/fd"))
    except OSError:
        descriptors = 0
    seconds = time.monotonic() - began
    return Sample(seconds=seconds, work=sum(map(_work, pids)), cases=shards.cases(seconds), processes=len(pids),
                  memory=sum(memory.values()), descriptors=descriptors,
                  shared=sizes(list(SHARED.glob("tridiff-*"))), by_role=by_role)


def _share(samples: list[Sample], begin: float, end: float) -> float:
    """Processors that the campaign had between two moments, of those around which there is a sample."""
    part = [one for one in samples if begin - 2 * SAMPLE_SECONDS <= one.seconds <= end]
    there = [(after.work - one.work, after.seconds - one.seconds) for one, after in itertools.pairwise(part)
             if after.work >= one.work]
    return sum(work for work, _ in there) / max(sum(seconds for _, seconds in there), 1e-9)


def like_for_like(shards: list[Shard], samples: list[Sample], workers: int) -> dict[str, float]:
    """How much faster the second half of a campaign runs the same things as the first (`ratio`), and how many of them
    there are, for how many seconds of either half. Raises ValueError where nothing ran in both."""
    if not shards:
        raise ValueError("no shard came to its end")
    middle = (min(one.at for one in shards) + max(one.at for one in shards)) / 2
    halves: tuple[dict[tuple[str, str, str], list[float]], ...] = ({}, {})
    for one in shards:
        had = min(_share(samples, one.at - one.seconds, one.at) / workers, 1.0) * one.seconds
        sums = halves[one.at > middle].setdefault(one.about, [0.0, 0.0])
        sums[0] += one.cases
        sums[1] += had
    total = logs = 0.0
    both = [about for about in halves[0].keys() & halves[1].keys() if halves[0][about][0] and halves[1][about][0]]
    for about in both:
        (early, before), (late, after) = halves[0][about], halves[1][about]
        weight = min(before, after)
        logs += weight * math.log((late / max(after, 1e-9)) / (early / max(before, 1e-9)))
        total += weight
    if not total:
        raise ValueError("nothing ran in both halves")
    return {"ratio": math.exp(logs / total), "things": len(both), "seconds": total}


def verdict(samples: list[Sample]) -> dict[str, Any]:
    """Cases a second, cases a second of work and mean memory of the first and the last sixth, and their ratios, and
    memory of every sixth; the ratio of memory is that of the largest of the others to the first. Raises ValueError
    where there are too few samples."""
    most = max((one.processes for one in samples), default=0)
    ready = next((number for number, one in enumerate(samples) if one.cases and one.processes >= 0.9 * most), 0)
    final = max((number for number, (one, after) in enumerate(itertools.pairwise(samples), 1)
                 if after.cases > one.cases), default=0)
    running = samples[ready:final + 1]
    if len(running) < 12:
        raise ValueError(f"{len(running)} samples of a campaign that runs are too few")
    sixth = (running[-1].seconds - running[0].seconds) / SIXTHS
    first = [one for one in running if one.seconds <= running[0].seconds + sixth]
    last = [one for one in running if one.seconds >= running[-1].seconds - sixth]

    def rate(part: list[Sample]) -> float:
        return (part[-1].cases - part[0].cases) / max(part[-1].seconds - part[0].seconds, 1e-9)

    def yielded(part: list[Sample]) -> float:
        # Work goes back where processes end without having been waited for: at the end, all of them.
        there = [one for one, after in itertools.pairwise(part) if after.work >= one.work]
        return (there[-1].cases - there[0].cases) / max(there[-1].work - there[0].work, 1e-9)

    begin = running[0].seconds
    parts = [[one for one in running if number * sixth <= one.seconds - begin <= (number + 1) * sixth]
             for number in range(SIXTHS)]
    memory = [sum(one.memory for one in part) / len(part) for part in parts]
    roles = sorted({role for one in running for role in one.by_role})

    return {"first_rate": rate(first), "last_rate": rate(last), "rate_ratio": rate(last) / max(rate(first), 1e-9),
            "first_rate_of_work": yielded(first), "last_rate_of_work": yielded(last),
            "rate_of_work_ratio": yielded(last) / max(yielded(first), 1e-9),
            "memory": memory, "memory_ratio": max(memory[1:]) / max(memory[0], 1.0),
            "memory_by_role": {role: [sum(one.by_role.get(role, 0) for one in part) / len(part) for part in parts]
                               for role in roles},
            "most_descriptors": max(one.descriptors for one in running)}


def soak(duration: str, work: Path, *, workers: int, options: list[str]) -> dict[str, Any]:
    """Run one campaign and judge it."""
    temporary = work / "tmp"
    temporary.mkdir(parents=True)
    before = set(SHARED.glob("tridiff-*"))
    tag = f"SOAK_TAG=soak-{os.getpid()}"
    command = [sys.executable, "-m", "tridiff.fuzz", "fuzz", "--time", duration, "--workers", str(workers), "--seed",
               "1", "--backend", "interpreter", "--backend", "compile", "--corpus", str(work / "corpus"), "--reports",
               str(work / "reports"), "--state", str(work / "state"), *options]
    with open(work / "out", "wb") as out:
        began = time.monotonic()
        process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary),
                                                 "SOAK_TAG": tag.partition("=")[2]}, stdout=out, stderr=out)
        samples, ours, shards = list[Sample](), set[int](), Shards(work / "state")
        while process.poll() is None:
            samples.append(look(tag, process.pid, shards, began))
            ours.update(_processes(tag))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SAMPLE_SECONDS)
    ended = time.monotonic()
    while (left := _processes(tag)) and time.monotonic() < ended + GONE_WITHIN:
        time.sleep(0.1)
    # Other campaigns of this machine have shared memory of their own: names hold the number of the process.
    shared = [path for path in set(SHARED.glob("tridiff-*")) - before
              if ours & set(map(int, re.findall(r"\d+", path.name)))]
    files = [str(path) for path in (*temporary.glob("tridiff-*"), *sorted(shared))]
    (work / "samples.json").write_text(json.dumps([asdict(one) for one in samples]))
    done = list(shards.ended.values())
    (work / "shards.json").write_text(json.dumps([asdict(one) for one in done]))
    return {"status": process.returncode, "seconds": ended - began, "over": ended - began - seconds(duration),
            "cases": samples[-1].cases, "like_for_like": like_for_like(done, samples, workers), **verdict(samples),
            "processes_left": len(left), "files_left": files}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", default="60m")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True)
    given, options = parser.parse_known_args()
    found = soak(given.time, given.work, workers=given.workers, options=options)
    print(json.dumps(found, indent=1))
    alike = found["like_for_like"]
    sys.exit(alike["ratio"] < LEAST_RATE or alike["seconds"] < LEAST_SHARED or found["memory_ratio"] > MOST_GROWTH
             or found["over"] > MOST_OVER or found["processes_left"] > 0 or bool(found["files_left"]))


if __name__ == "__main__":
    main()
