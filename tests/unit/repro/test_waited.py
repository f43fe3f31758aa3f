"""Processes that write or run a script end in time, with what they started, and with their parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cases import addition
from tridiff.fuzz.blame.laboratory import Laboratory, OutOfTime
from tridiff.fuzz.blame.trial import Trial
from tridiff.fuzz.repro.waited import waited

SLEEPS = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid} ")
time.sleep(60)
"""


def gone(pid: int) -> bool:
    """Whether a process is no more, or is a corpse that nobody collected yet."""
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def soon(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return gone(pid)


def numbers(path: Path, count: int) -> list[int]:
    """Process numbers that a process wrote down."""
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith(" ")) and time.monotonic() < deadline:
        time.sleep(0.02)
    found = [int(word) for word in path.read_text().split()]
    assert len(found) == count
    return found


def test_input_and_output_are_those_of_the_program():
    done = waited(["-S", "-c", "import sys; print(sys.stdin.read() + sys.argv[1]); sys.exit(3)", "b"], seconds=20,
                  data=b"a")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"ab\n", b"")


@pytest.mark.parametrize("how", ["the time is up", "somebody gives up"])
def test_what_is_not_done_in_time_ends_with_what_it_started(tmp_path: Path, how: str):
    file = tmp_path / "pids"

    def stop() -> bool:
        return how == "somebody gives up" and file.exists()

    with pytest.raises(subprocess.TimeoutExpired):
        waited(["-S", "-c", SLEEPS, str(file)], seconds=2 if how == "the time is up" else 50, stop=stop)
    assert all(map(soon, numbers(file, 2)))


def test_it_ends_with_a_parent_that_is_killed(tmp_path: Path):
    file = tmp_path / "pids"
    program = (f"from tridiff.fuzz.repro.waited import waited; "
               f"waited(['-S', '-c', {SLEEPS!r}, {str(file)!r}], seconds=60)")
    parent = subprocess.Popen([sys.executable, "-c", program])
    script, child = numbers(file, 2)
    parent.kill()
    parent.wait()
    assert soon(script)
    os.kill(child, signal.SIGKILL)


def test_trials_end_when_they_are_given_up():
    with Laboratory(seconds=60) as laboratory:
        laboratory.abandon()
        with pytest.raises(OutOfTime):
            laboratory.run(Trial(name="as it is", case=addition(), subject="own", backend="interpreter", seconds=5.0))
