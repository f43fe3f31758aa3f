"""Kill, stop and terminate the processes of campaigns at random moments, and count what is lost.

    python -m tests.quality.kill_storm --kills 200 --work /tmp/storm

Each campaign of a hundred cases is hit a few times: its parent, a driver, a zygote or a worker, with SIGKILL, SIGSTOP
or SIGTERM. A parent that was killed is resumed. At the end every outcome that was ever on disk is there, under its
number and with its digest; there are as many as were asked for; no process and no folder is left; the status is 0."""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = 100
KINDS = ("parent", "driver", "preload", "zygote", "worker")
SIGNALS = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM)
GONE_WITHIN = 5.0
ENDED_WITHIN = 10.0


@dataclass
class Tally:
    """What became of all kills."""

    kills: dict[str, int] = field(default_factory=dict)
    campaigns: int = 0
    resumed: int = 0
    outcomes: int = 0
    problems: list[str] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    slowest_end: float = 0.0
    """Seconds from SIGTERM to the parent's end."""
    slowest_gone: float = 0.0
    """Seconds from the parent's death to that of its last process."""


class Storm:
    """One campaign under kills. cases: that it runs."""

    def __init__(self, work: Path, number: int, tally: Tally, chance: random.Random, *, cases: int = CASES) -> None:
        self.cases = cases
        self.folder, self.name, self.tally, self.chance = work / f"c{number}", f"c{number}", tally, chance
        self.folder.mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        self.tag = f"STORM_TAG=storm-{os.getpid()}-{number}"
        self.environment = {**os.environ, "TMPDIR": str(self.folder / "tmp"),
                            "OUTCOME_LOG": str(self.folder / "log"), "STORM_TAG": self.tag.partition("=")[2]}
        self.seed = number
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, resume: bool) -> None:
        options = ["--resume"] if resume else [
            "--seed", str(self.seed), "--max-cases", str(self.cases), "--workers", "2", "--backend", "interpreter",
            "--target", "triton.*", "--subject", "own", "--hang-limit", "5s"]
        command = [sys.executable, str(ROOT / "tests" / "support" / "impatient.py"), "fuzz", "--id", self.name,
                   "--json", "--state", "state", "--corpus", "corpus", "--reports", "reports", *options]
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "ab") as err:
            self.process = subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=out, stderr=err)

    def living(self) -> list[int]:
        """Processes of this campaign that are not dead."""
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                try:
                    if (self.tag.encode() in (path / "environ").read_bytes()
                            and (path / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"):
                        found.append(int(path.name))
                except OSError:
                    continue
        return found

    def victims(self) -> dict[str, list[int]]:
        """Processes by what they are: told by their depth below the parent."""
        children: dict[int, list[int]] = {}
        lines: dict[int, bytes] = {}
        for pid in self.living():
            try:
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                lines[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            children.setdefault(int(stat[1]), []).append(pid)
        assert self.process is not None
        parent = self.process.pid
        found: dict[str, list[int]] = {"parent": [parent], **{kind: [] for kind in KINDS[1:]}}
        for child in children.get(parent, []):
            zygotes: list[int] = []
            if b"workers.preload" in lines[child]:
                found["preload"].append(child)
                zygotes = children.get(child, [])
            elif b"spawn_main" in lines[child] and b"resource_tracker" not in lines[child]:
                found["driver"].append(child)
                # Of a driver's own are those that it started when the preloaded process was gone.
                zygotes = [pid for pid in children.get(child, []) if b"zygote" in lines[pid]]
            found["zygote"] += zygotes
            found["worker"] += [pid for zygote in zygotes for pid in children.get(zygote, [])]
        return found

    def recorded(self) -> dict[tuple[str, int], tuple[str, str, str]]:
        """(shard, number) to (phase, digest, verdict)."""
        found: dict[tuple[str, int], tuple[str, str, str]] = {}
        for path in sorted((self.folder / "state" / self.name).glob("shard-*.sqlite")):
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
            try:
                for number, *rest in database.execute("select number, phase, digest, verdict from outcomes"):
                    found[path.stem, number] = tuple(rest)
            except sqlite3.OperationalError:
                continue  # Its tables are not there yet.
            finally:
                database.close()
        return found

    def logged(self) -> dict[tuple[str, int], tuple[str, str]]:
        log = self.folder / "log"
        lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        return {(shard, int(number)): (digest, verdict) for shard, number, digest, verdict in lines}

    def problem(self, what: str) -> None:
        self.tally.problems.append(f"{self.name}: {what}")

    def hit(self, kind: str, number: signal.Signals) -> None:
        """Send one signal to one process of a kind, and hold the campaign to what must follow."""
        assert self.process is not None
        found = self.victims()[kind]
        if not found or self.process.poll() is not None:
            return
        try:
            os.kill(self.chance.choice(found), number)
        except ProcessLookupError:
            return
        what = f"{kind} {number.name}"
        self.tally.kills[what] = self.tally.kills.get(what, 0) + 1
        if kind != "parent":
            return
        began = time.monotonic()
        if number is signal.SIGSTOP:
            time.sleep(self.chance.uniform(0.2, 2.0))
            self.process.send_signal(signal.SIGCONT)
            return
        try:
            status = self.process.wait(timeout=ENDED_WITHIN + 5)
        except subprocess.TimeoutExpired:
            self.problem(f"does not end after {number.name}")
            self.process.kill()
            status = self.process.wait()
        if number is signal.SIGTERM:
            took = time.monotonic() - began
            self.tally.slowest_end = max(self.tally.slowest_end, took)
            if took > ENDED_WITHIN:
                self.problem(f"{took:.1f} s from SIGTERM to its end")
            if status not in (0, 2, -signal.SIGTERM):
                self.problem(f"status {status} after SIGTERM")
        self.gone()

    def gone(self) -> None:
        """Nothing of the campaign is alive soon after its parent has ended."""
        began = time.monotonic()
        while (left := self.living()) and time.monotonic() < began + GONE_WITHIN:
            time.sleep(0.05)
        self.tally.slowest_gone = max(self.tally.slowest_gone, time.monotonic() - began)
        if left:
            names = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")[-80:] for pid in left]
            self.problem(f"{len(left)} processes left: {names}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)

    def run(self, kills: int) -> None:
        """A campaign with so many kills, brought to its end."""
        self.tally.campaigns += 1
        self.start(resume=False)
        for _ in range(kills):
            self._moment()
            kind = self.chance.choice(KINDS)
            self.hit(kind, self.chance.choice(SIGNALS))
            assert self.process is not None
            if self.process.poll() is not None:
                planned = (self.folder / "state" / self.name / "plan.json").exists()
                if (self.folder / "state" / self.name / "finished").exists():
                    break
                self.tally.resumed += planned
                self.start(resume=planned)
        self._finish()

    def _moment(self) -> None:
        """Mostly while cases run, now and then while processes start."""
        assert self.process is not None
        if self.chance.random() < 0.25:
            time.sleep(self.chance.uniform(0.0, 3.0))
            return
        before, deadline = len(self.logged()), time.monotonic() + 60
        while len(self.logged()) == before and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(self.chance.uniform(0.0, 0.5))

    def _finish(self) -> None:
        status = None
        for attempt in range(4):
            if attempt:
                self.start(resume=True)
            assert self.process is not None
            try:
                status = self.process.wait(timeout=240)
            except subprocess.TimeoutExpired:
                self.problem("does not come to its end")
                self.process.kill()
                self.process.wait()
            self.gone()
            if (self.folder / "state" / self.name / "finished").exists():
                break
        else:
            self.problem("is never finished")
        if status is not None:
            self.tally.statuses[status] = self.tally.statuses.get(status, 0) + 1
        self._check(status)

    def _check(self, status: int | None) -> None:
        recorded, logged = self.recorded(), self.logged()
        self.tally.outcomes += len(recorded)
        for place, (digest, verdict) in logged.items():
            if recorded.get(place, ("", "", ""))[1:] != (digest, verdict):
                self.problem(f"{place}: {(digest, verdict)} became {recorded.get(place)}")
        drawn = [row for row in recorded.values() if row[0] == "fuzz"]
        if len(drawn) != self.cases:
            self.problem(f"{len(drawn)} of {self.cases} cases")
        for shard in {shard for shard, _ in recorded}:
            numbers = sorted(number for name, number in recorded if name == shard)
            if numbers != list(range(1, len(numbers) + 1)):
                self.problem(f"{shard}: gaps in its numbers")
        lines = (self.folder / "out").read_text().strip().splitlines()
        told = json.loads(lines[-1]) if lines else {}
        if status != 0 or told.get("executed") != self.cases or told.get("errors") or told.get("new_findings"):
            what = {name: told.get(name) for name in ("executed", "errors", "new_finding_ids")}
            self.problem(f"ends with status {status}: {what} {(self.folder / 'err').read_text()[-300:]}")
        rest = list((self.folder / "tmp").glob("tridiff-*"))
        if rest:
            self.problem(f"folders left: {rest}")


def storm(kills: int, work: Path, *, seed: int, each: int = 5) -> Tally:
    """At least so many kills, `each` a campaign."""
    tally, chance, number = Tally(), random.Random(seed), 0
    while sum(tally.kills.values()) < kills:
        Storm(work, number, tally, chance).run(each)
        number += 1
        print(f"{sum(tally.kills.values())} kills, {len(tally.problems)} problems", file=sys.stderr, flush=True)
    return tally


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--each", type=int, default=5, help="kills a campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    tally = storm(given.kills, given.work, seed=given.seed, each=given.each)
    print(json.dumps(tally.__dict__, indent=1))
    sys.exit(bool(tally.problems))


if __name__ == "__main__":
    main()
