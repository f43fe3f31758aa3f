"""No process that explains outlives the one that asked."""

import subprocess
import sys
import time
from pathlib import Path

ASKS = """
import signal
import sys
from pathlib import Path
from tridiff.fuzz.explain import children

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore

class Waited(children.subprocess.Popen):
    def wait(self, timeout=None):
        Path(sys.argv[2], "waiting").touch()
        return super().wait(timeout)

children.subprocess.Popen = Waited
children.sys.executable = sys.argv[1]  # in place of Python: something that never ends
try:
    children._run({}, Path(sys.argv[2]), None, interpret=False, seconds=float(sys.argv[3]))
except KeyboardInterrupt:
    pass
"""


def test_a_child_whose_parent_is_gone_ends(tmp_path: Path):
    command = [sys.executable, "-m", "tridiff.fuzz.explain.child", str(tmp_path), "1"]
    ended = subprocess.run(command, timeout=60, check=False)
    assert ended.returncode == 71, "it did not even read its request"


def test_a_child_that_never_ends_is_killed_when_its_time_is_up_or_nobody_waits_any_more(tmp_path: Path):
    endless = tmp_path / "endless"
    endless.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    endless.chmod(0o755)
    for seconds, told in (("3", False), ("600", True)):
        there = tmp_path / "pid", tmp_path / "waiting"
        for path in there:
            path.unlink(missing_ok=True)
        run = subprocess.Popen([sys.executable, "-c", ASKS, str(endless), str(tmp_path), seconds])
        deadline = time.monotonic() + 30
        while not all(path.exists() for path in there) and time.monotonic() < deadline:
            time.sleep(0.05)
        if told:
            run.send_signal(2)
        run.wait(30)
        assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
