"""One edit through the gate: the installed Triton against a copy that has it."""

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec

from tridiff.fuzz.gate.record import GateSummary
from tridiff.fuzz.pair.log import lines
from tridiff.fuzz.planted import hidden
from tridiff.fuzz.planted.copy import plant
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.loud import loud
from tridiff.fuzz.planted.record import Outcome, Settings, Tried
from tridiff.fuzz.records.pair import Relation

_LOOK = 1.0
"""Seconds between two looks at what a gate found so far."""

_BEYOND = 120.0
"""Seconds beyond its own after which a gate is killed."""

_SETTLE = 6.0
"""Seconds from the first regression to the end of its gate: for the repetitions that rule out chance."""


def measure(edit: Edit, settings: Settings, package: Path, folder: Path, *, stop: threading.Event) -> Tried:
    """Plant, look whether Triton is still good for something, run the gate until it has a regression or its time is
    over. folder: is made and removed. stop: ends the gate early; the result is then `not tried`."""
    try:
        folder.mkdir(parents=True)
        build = plant(edit, package, folder / "build")
        began = time.monotonic()
        why = loud(build, folder / "cache")
        if why:
            return tried(edit, "loud", how=why, seconds=time.monotonic() - began)
        return hidden.told(edit, _gated(edit, settings, build, folder, stop), package)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _gated(edit: Edit, settings: Settings, build: Path, folder: Path, stop: threading.Event) -> Tried:
    command = [sys.executable, "-m", "tridiff.fuzz", "gate", "--baseline", "installed", "--candidate", str(build),
               "--json", "--id", "planted", "--time", f"{settings.seconds:g}s", "--workers", str(settings.workers),
               "--seed", str(settings.seed), "--state", str(folder / "state"), "--reports", str(folder / "reports")]
    for option, values in (("--backend", settings.backends), ("--target", settings.targets),
                           ("--subject", settings.subjects)):
        command += [part for value in values for part in (option, value)]
    if settings.max_cases is not None:
        command += ["--max-cases", str(settings.max_cases)]
    began = time.monotonic()
    with open(folder / "told", "wb") as told, open(folder / "said", "wb") as said:
        # A session of its own: Ctrl-C goes to this process alone, which then ends the gates in order.
        gate = subprocess.Popen(command, stdout=told, stderr=said, start_new_session=True)
        try:
            _wait(gate, settings.seconds, folder / "state" / "planted", stop)
        finally:
            if gate.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(gate.pid, signal.SIGKILL)
                gate.wait()
    seconds = time.monotonic() - began
    text = (folder / "told").read_bytes()
    try:
        summary = msgspec.json.decode(text, type=GateSummary)
    except msgspec.DecodeError:
        message = (folder / "said").read_text(errors="replace").strip().splitlines() or ["no message"]
        return tried(edit, "not tried", how=f"gate, status {gate.returncode}: {message[-1]}", seconds=seconds)
    if stop.is_set() and not summary.why:
        return tried(edit, "not tried", how="interrupted", seconds=seconds)
    return judged(edit, summary, seconds=seconds)


def _wait(gate: subprocess.Popen[bytes], seconds: float, state: Path, stop: threading.Event) -> None:
    """Until the gate ended; one that has a regression is told to end, one that does not end is left for the caller."""
    latest, ends = time.monotonic() + seconds + _BEYOND, math.inf
    told = False
    while gate.poll() is None and time.monotonic() < latest:
        if ends == math.inf and _blocked(state):
            ends = time.monotonic() + _SETTLE
        if not told and (stop.is_set() or time.monotonic() >= ends):
            told = True
            with contextlib.suppress(ProcessLookupError):
                gate.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            gate.wait(_LOOK)


def _blocked(state: Path) -> bool:
    """Whether a drawn case was right before and is not now, each time, or has other code on this build of the same
    version."""
    return any(line.relation is Relation.REGRESSION or line.code_changed for line in lines(state))


def judged(edit: Edit, summary: GateSummary, *, seconds: float) -> Tried:
    """What the gate's record means for the edit."""
    changed = tuple(f"{one.target} on {one.backend}" for one in summary.targets if one.code_changed)
    outcome: Outcome = "changed code" if changed else "missed"
    how = "; ".join(summary.why[:3])
    if summary.why:
        outcome = "caught"
    elif any(one.never for one in summary.reach) and summary.pairs and not changed and not summary.errors:
        outcome, how = "not reached", f"no case of {summary.pairs} runs {summary.reach[0].name}"
    elif summary.verdict == "could not check" and not (summary.floor_missed and summary.pairs and not summary.errors):
        outcome, how = "not tried", (summary.errors or ("nothing was checked",))[0]
    return tried(edit, outcome, how=how, verdict=summary.verdict, seconds=seconds, pairs=summary.pairs,
                  code_changed=changed, not_checked=summary.not_checked)


def tried(edit: Edit, outcome: Outcome, *, how: str = "", verdict: str = "", seconds: float = 0.0, pairs: int = 0,
          code_changed: tuple[str, ...] = (), not_checked: int = 0) -> Tried:
    """The record of an edit, its texts as short as a table needs them."""
    return Tried(name=edit.name, file=edit.file, operator=edit.operator, function=edit.function,
                 before=edit.before[:120], after=edit.after[:120], outcome=outcome, harmless=edit.harmless,
                 how=how[:300], verdict=verdict, seconds=round(seconds, 1), pairs=pairs, code_changed=code_changed[:8],
                 not_checked=not_checked)
