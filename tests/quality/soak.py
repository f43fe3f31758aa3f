"""Fuzz for a long time, and hold rate and memory of the last sixth of it against the first.

    python -m tests.quality.soak --time 60m --work /tmp/soak

Every five seconds it notes the cases that are on disk, the memory of all processes of the campaign (Pss: shared pages
count once), the descriptors of the parent and the bytes of shared memory. The first sixth begins when nine tenths of
the most processes are there, the last one ends with the last case: behind it only the record is written.
The answer is JSON; the exit status is 1 if the rate fell below nine tenths, if memory grew by more than a tenth, or if
processes or files were left."""

import argparse
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

SAMPLE_SECONDS = 5.0
LEAST_RATE, MOST_GROWTH = 0.9, 1.1
GONE_WITHIN = 5.0
SHARED = Path("/dev/shm")


@dataclass(frozen=True)
class Sample:
    """One look. seconds: since the start. work: seconds of processors that the processes of the campaign have had,
    with those that ended. cases: on disk. memory, shared: bytes. descriptors: of the parent."""

    seconds: float
    work: float
    cases: int
    processes: int
    memory: int
    descriptors: int
    shared: int


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


def _cases(state: Path) -> int:
    total = 0
    for path in state.glob("*/shard-*.sqlite"):
        try:
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=2)
            total += database.execute("select count(*) from outcomes").fetchone()[0]
            database.close()
        except sqlite3.Error:
            continue  # Its tables are not there yet.
    return total


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


def look(tag: str, parent: int, state: Path, began: float) -> Sample:
    """A sample of the campaign whose processes carry the environment variable `tag`."""
    pids = _processes(tag)
    try:
        descriptors = len(os.listdir(f"/proc/{parent}/fd"))
    except OSError:
        descriptors = 0
    return Sample(seconds=time.monotonic() - began, work=sum(map(_work, pids)), cases=_cases(state),
                  processes=len(pids),
                  memory=sum(map(_memory, pids)), descriptors=descriptors,
                  shared=sizes(list(SHARED.glob("tridiff-*"))))


def verdict(samples: list[Sample]) -> dict[str, float]:
    """Cases a second, cases a second of work and mean memory of the first and the last sixth, and their ratios. On a
    machine that does other things beside, the second rate is the one to look at. Raises ValueError where there are too
    few samples."""
    most = max((one.processes for one in samples), default=0)
    ready = next((number for number, one in enumerate(samples) if one.cases and one.processes >= 0.9 * most), 0)
    final = max((number for number, (one, after) in enumerate(itertools.pairwise(samples), 1)
                 if after.cases > one.cases), default=0)
    running = samples[ready:final + 1]
    if len(running) < 12:
        raise ValueError(f"{len(running)} samples of a campaign that runs are too few")
    sixth = (running[-1].seconds - running[0].seconds) / 6
    first = [one for one in running if one.seconds <= running[0].seconds + sixth]
    last = [one for one in running if one.seconds >= running[-1].seconds - sixth]

    def rate(part: list[Sample]) -> float:
        return (part[-1].cases - part[0].cases) / max(part[-1].seconds - part[0].seconds, 1e-9)

    def yielded(part: list[Sample]) -> float:
        # Work goes back where processes end without having been waited for: at the end, all of them.
        there = [one for one, after in itertools.pairwise(part) if after.work >= one.work]
        return (there[-1].cases - there[0].cases) / max(there[-1].work - there[0].work, 1e-9)

    def memory(part: list[Sample]) -> float:
        return sum(one.memory for one in part) / len(part)

    return {"first_rate": rate(first), "last_rate": rate(last), "rate_ratio": rate(last) / max(rate(first), 1e-9),
            "first_rate_of_work": yielded(first), "last_rate_of_work": yielded(last),
            "rate_of_work_ratio": yielded(last) / max(yielded(first), 1e-9),
            "first_memory": memory(first), "last_memory": memory(last),
            "memory_ratio": memory(last) / max(memory(first), 1.0),
            "most_descriptors": max(one.descriptors for one in running)}


def soak(duration: str, work: Path, *, workers: int, options: list[str]) -> dict[str, object]:
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
        samples, ours = list[Sample](), set[int]()
        while process.poll() is None:
            samples.append(look(tag, process.pid, work / "state", began))
            ours.update(_processes(tag))
            time.sleep(SAMPLE_SECONDS)
    ended = time.monotonic()
    while (left := _processes(tag)) and time.monotonic() < ended + GONE_WITHIN:
        time.sleep(0.1)
    # Other campaigns of this machine have shared memory of their own: names hold the number of the process.
    shared = [path for path in set(SHARED.glob("tridiff-*")) - before
              if ours & set(map(int, re.findall(r"\d+", path.name)))]
    files = [str(path) for path in (*temporary.glob("tridiff-*"), *sorted(shared))]
    (work / "samples.json").write_text(json.dumps([asdict(one) for one in samples]))
    return {"status": process.returncode, "seconds": ended - began, "cases": samples[-1].cases, **verdict(samples),
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
    sys.exit(found["rate_ratio"] < LEAST_RATE or found["memory_ratio"] > MOST_GROWTH or found["processes_left"] > 0
             or bool(found["files_left"]))


if __name__ == "__main__":
    main()
