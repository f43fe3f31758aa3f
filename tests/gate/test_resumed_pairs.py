"""A gate that was killed goes on: every drawn case is one pair, and none is counted twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.pairs import CASE, Side, observed, outcome
from tridiff.fuzz.pair.log import PairLog, lines
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.records.pair import Relation

ROOT = Path(__file__).parents[2]
CASES, KILLED_AT = 120, 40

DRIVER = """
import sys
from pathlib import Path
from tridiff.fuzz.campaign import shard
from tests.support.campaigns import shard_spec
from tests.support.fake_pool import FakePool
FakePool.pause = 0.005
shard.Pool = FakePool
spec = shard_spec(seed=3, max_cases=int(sys.argv[2]), rows=16, builds=("before", "after"))
result = shard.run_shard(spec, sys.argv[1])
print(result.counts.executed, result.error)
"""


def start(state: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(state), str(CASES)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE)


def written(state: Path) -> int:
    path = state / "pairs-00000.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_kill_loses_and_doubles_no_pair(tmp_path: Path) -> None:
    process = start(tmp_path)
    deadline = time.monotonic() + 60
    while written(tmp_path) < KILLED_AT and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert KILLED_AT <= written(tmp_path) < CASES
    said, _ = start(tmp_path).communicate(timeout=60)
    assert said.split() == [str(CASES)]
    assert [line.number for line in lines(tmp_path)] == list(range(CASES))


def test_a_case_written_twice_and_a_line_cut_off_are_one_pair(tmp_path: Path) -> None:
    answers = [(outcome(Verdict.AGREE), observed(b"\0\0\0\0"))]
    pool = PairPool(Side(lambda run: answers[0]), Side(lambda run: answers[0]))  # type: ignore[arg-type]
    said = pool.execute(CASE, "own")
    log = PairLog(tmp_path, 0, pool)
    log.note(CASE, "fuzz", said, 0)
    path = tmp_path / "pairs-00000.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    log.note(CASE, "fuzz", said, 0)
    log.note(CASE, "fuzz", said, 1)
    assert [(line.number, line.relation) for line in lines(tmp_path)] == [(0, Relation.SAME), (1, Relation.SAME)]
