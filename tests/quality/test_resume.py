"""Killing a campaign at any moment loses nothing that was recorded and counts nothing twice."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import addition
from tests.support.shard_runs import LOG, ShardRuns
from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.records import Verdict

ROOT = Path(__file__).parents[2]
KILLS = 10
LINE = 17
"""Bytes that the log has for each case that ran: a digest and the end of the line."""
OUTCOMES = "select number, digest from outcomes order by number"


@pytest.fixture(scope="module")
def shards() -> Iterator[ShardRuns]:
    with ShardRuns() as made:
        yield made


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What a store holds; nothing before its tables are there."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        database.close()


def recorded(state: Path) -> list[str]:
    """Digests of all outcomes in order; their numbers must be 1, 2, 3, ..."""
    path = state / "shard-00000.sqlite"
    found = rows(path, OUTCOMES) if path.exists() else []
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    return [digest for _, digest in found]


def executions(state: Path) -> int:
    log = state / LOG
    return log.stat().st_size if log.exists() else 0


def inflight(state: Path) -> bool:
    return bool(rows(state / "shard-00000.sqlite", "select 1 from inflight"))


@pytest.mark.slow
def test_ten_kills_lose_and_double_nothing(tmp_path: Path, shards: ShardRuns):
    moments = random.Random(20)
    before: list[str] = []
    interrupted = 0
    for _ in range(KILLS):
        ran = executions(tmp_path)
        process = shards.start(tmp_path, 10**9)
        # A few kills while the shard is being set up, most while cases run.
        if moments.random() > 0.15:
            # By cases and not by time, which says little on a machine that has other things to do.
            enough = moments.randint(1, 12)
            while executions(tmp_path) < ran + enough * LINE:
                time.sleep(0.002)
        time.sleep(moments.uniform(0.0, 0.02))
        process.kill()
        executed = (tmp_path / LOG).read_text().split() if (tmp_path / LOG).exists() else []
        now = recorded(tmp_path)
        assert now[:len(before)] == before, "an outcome that was recorded is gone or changed"
        if (tmp_path / "shard-00000.sqlite").exists() and inflight(tmp_path):
            interrupted += 1
        # Whatever ran and is not recorded was in flight at some kill.
        assert 0 <= len(executed) - len(now) <= KILLS
        before = now
    assert len(before) > KILLS, "too few cases ran for the kills to hit any"
    assert interrupted > 0, "no kill came in the middle of a case"

    total = len(before) + 50
    assert shards.start(tmp_path, total).executed() == total
    final = recorded(tmp_path)
    assert len(final) == total
    assert final[:len(before)] == before
    assert not inflight(tmp_path)
    # Judged outcomes are exactly the executions, in their order, less those that a kill cut off.
    remaining = iter((tmp_path / LOG).read_text().split())
    assert all(digest in remaining for digest in final)


def test_the_case_in_flight_is_judged_first(tmp_path: Path, shards: ShardRuns):
    store = ShardStore(tmp_path / "shard-00000.sqlite")
    case = addition(rows=5)
    store.begin(case, round_number=4)
    store.close()
    assert shards.start(tmp_path, 3).executed() == 3
    digests = recorded(tmp_path)
    assert digests[0] == case.digest and case.digest not in digests[1:]
    seen = rows(tmp_path / "shard-00000.sqlite", "select round, verdict from outcomes order by number")
    rounds = [number for number, _ in seen]
    # A fresh round has a fresh seed: what was drawn before the kill is not drawn again.
    assert rounds[0] == 5 and min(rounds[1:]) >= 6
    assert {verdict for _, verdict in seen} == {Verdict.AGREE.value}


def fuzz(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tridiff.fuzz", "fuzz", "--state", str(folder / "state"), "--reports",
               str(folder / "reports"), "--corpus", str(folder / "corpus"), "--json", *options]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_outcomes(process: subprocess.Popen[str], folder: Path, number: int) -> None:
    deadline = time.monotonic() + 90
    while True:
        if sum(len(rows(path, OUTCOMES)) for path in folder.glob("state/*/shard-*.sqlite")) >= number:
            return
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the campaign does not get going"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_real_campaign_survives_kill_interrupt_and_another_beside_it(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ("--target", "triton.vector_add", "--backend", "interpreter", "--workers", "1", "--seed", "11",
               "--max-cases", "60", "--id", "night")
    killed = fuzz(tmp_path, *options)
    wait_for_outcomes(killed, tmp_path, 5)
    killed.kill()
    killed.communicate()

    interrupted = fuzz(tmp_path, "--resume", "--id", "night")
    wait_for_outcomes(interrupted, tmp_path, 15)
    interrupted.send_signal(signal.SIGINT)
    output, errors = interrupted.communicate(timeout=60)
    assert "interrupted; continue with: tridiff fuzz --resume --id night" in errors
    summary = json.loads(output)
    assert summary["interrupted"] is True and 15 <= summary["executed"] < 60
    assert interrupted.returncode == 0

    # Beside another one, which the same folders hold: neither disturbs the other.
    finished, beside = fuzz(tmp_path, "--resume"), fuzz(
        tmp_path, *options[:-5], "12", "--max-cases", "12", "--id", "beside")
    output, errors = finished.communicate(timeout=120)
    summary = json.loads(output)
    assert (summary["executed"], summary["agree"], summary["interrupted"], summary["errors"]) == (60, 60, False, [])
    assert finished.returncode == 0, errors
    outcomes = rows(tmp_path / "reports" / "night" / "outcomes.sqlite", OUTCOMES)
    assert [number for number, _ in outcomes] == list(range(1, 61))

    output, errors = beside.communicate(timeout=120)
    assert beside.returncode == 0, errors
    summary = json.loads(output)
    assert (summary["id"], summary["executed"], summary["agree"]) == ("beside", 12, 12)
    others = rows(tmp_path / "reports" / "beside" / "outcomes.sqlite", OUTCOMES)
    assert [digest for _, digest in others] != [digest for _, digest in outcomes[:12]]

    assert ending(run, ["fuzz", "--state", str(tmp_path / "state"), "--resume"]) == 2
    assert capsys.readouterr().err.startswith("tridiff: no campaign to resume under ")
