"""Campaigns under kills, in short (the long form: `python -m tests.quality.kill_storm`)."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.quality.kill_storm import ENDED_WITHIN, ROOT, Storm, Tally


@pytest.mark.slow
def test_nothing_is_lost_when_processes_are_killed_and_stopped(tmp_path: Path):
    """One campaign: worker, zygote, driver, the process that forks zygotes and parent are killed, a driver is stopped;
    then resumed."""
    tally = Tally()
    # So many that they are not over when all kills are done, on a machine that is busy with other tests.
    one = Storm(tmp_path, 0, tally, random.Random(1), cases=200)
    one.start(resume=False)
    for kind, number in (("worker", signal.SIGKILL), ("driver", signal.SIGSTOP), ("zygote", signal.SIGKILL),
                         ("preload", signal.SIGKILL),
                         ("driver", signal.SIGKILL), ("parent", signal.SIGKILL)):
        before = len(one.logged())
        deadline = time.monotonic() + 60
        while len(one.logged()) < before + 4 and one.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        one.hit(kind, number)
    assert sum(tally.kills.values()) == 6, "the campaign ended before all kills"
    one.start(resume=True)
    one._finish()
    assert tally.problems == [] and tally.statuses == {0: 1}


@pytest.mark.slow
def test_a_campaign_that_is_told_to_end_keeps_what_it_found(tmp_path: Path):
    command = [sys.executable, "-m", "tridiff.fuzz", "fuzz", "--id", "one", "--seed", "3", "--time", "10m",
               "--workers", "1", "--backend", "interpreter", "--target", "triton.vector_add",
               "--subject", "own+fault:wrong_value",
               *(word for name in ("state", "corpus", "reports") for word in (f"--{name}", str(tmp_path / name)))]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 90
    while not any('"5/5"' in path.read_text() for path in tmp_path.glob("state/one/findings/*.json")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    told = time.monotonic()
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - told < ENDED_WITHIN
    assert process.returncode == 1, errors
    assert "new findings" in output and "interrupted; continue with: tridiff fuzz --resume --id one" in errors
    assert (tmp_path / "reports" / "one" / "summary.json").exists()
    assert not (tmp_path / "state" / "one" / "finished").exists()
