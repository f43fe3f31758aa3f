"""A gate that was killed goes on: every drawn case is one pair, and none is counted twice."""

import time
from pathlib import Path

from tests.support.pairs import CASE, Side, observed, outcome
from tests.support.shard_runs import ShardRuns
from tridiff.fuzz.pair.log import PairLog, lines
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.records.pair import Relation

CASES, KILLED_AT = 120, 40
BUILDS = ("before", "after")


def written(state: Path) -> int:
    path = state / "pairs-00000.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_kill_loses_and_doubles_no_pair(tmp_path: Path):
    with ShardRuns() as shards:
        process = shards.start(tmp_path, CASES, builds=BUILDS)
        deadline = time.monotonic() + 60
        while written(tmp_path) < KILLED_AT and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
        assert KILLED_AT <= written(tmp_path) < CASES
        assert shards.start(tmp_path, CASES, builds=BUILDS).executed() == CASES
    assert [line.number for line in lines(tmp_path)] == list(range(CASES))


def test_a_case_written_twice_and_a_line_cut_off_are_one_pair(tmp_path: Path):
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
