"""How long a shard draws cases, and how long it may try to make each of its findings smaller."""

import math
import os
import time
from pathlib import Path

from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.records import Signature, Verdict

SHRINK_SHARE = 0.2
"""Part of a shard's seconds that shrinking may take from finding, ..."""

LEFT_SHARE, MOST_SHRINK, FEW = 0.1, 60.0, 4
"""... or, if that is more, part of what is left of the campaign, and most seconds of it, as long as few findings are
there: so many more halve it. What does not fit is done when the campaign has drawn its last case, by workers that would
otherwise stand still."""

SHORTEST_SHRINK = 5.0
"""Seconds of shrinking that even the shortest shard has."""

HANG_AGAIN = 2.0
"""Time limit of the compiler for a proposed smaller case, in hang limits. Where the finding is a hang, the shrunk case
is confirmed with the full limit."""


class Budget:
    """The time and the number of cases of one shard. spent_before: seconds that earlier runs of the shard took.
    compile_limit: seconds that the compiler has for one kernel."""

    def __init__(self, spec: ShardSpec, state: Path, *, spent_before: float, compile_limit: float) -> None:
        self._spec, self._state, self._stop = spec, state, state / "stop"
        self._spent_before, self._longest_compile = spent_before, compile_limit
        self._parent = os.getppid()
        self._began = self._started = time.monotonic()
        self._shrinking = 0.0
        self._granted = math.inf
        self._cut_short = False
        self.stopped = False
        """Whether somebody ended the campaign, or it has nobody any more."""
        self.until = None if spec.overtime is None else self._began + spec.overtime
        """The moment (monotonic) at which whatever runs is given up; None: never."""
        self.endless = ""
        """The stage in which the present finding does not end; "" if it does."""

    def start(self) -> None:
        """From now on time counts: the shard's worker is ready."""
        self._started = time.monotonic()

    def exhausted(self, *, cases: int, findings: int) -> bool:
        """Whether nothing more is drawn after so many cases and findings. However late it is, one case is drawn."""
        spec = self._spec
        if spec.max_cases is not None and cases >= spec.max_cases:
            return True
        if self._stop.exists() or os.getppid() != self._parent:
            self.stopped = True
            return True
        if spec.most_findings is not None and findings >= spec.most_findings:
            return True
        now = time.monotonic()
        if self.until is not None and now >= self.until:
            return True
        if spec.left is not None and cases and now >= self._began + spec.left:
            return True
        return spec.max_cases is None and self._spent_before + now - self._started >= spec.seconds

    def hunting(self) -> float:
        """Seconds of drawing so far, shrinking left out."""
        return time.monotonic() - self._started - self._shrinking

    def spent(self) -> float:
        """Seconds since the worker was ready."""
        return time.monotonic() - self._started

    def shrunk(self, since: float) -> None:
        """Shrinking a finding began at `since` (monotonic) and has just ended."""
        self._shrinking += time.monotonic() - since

    # -- the present finding

    def grant(self, signature: Signature, *, seconds: float | None = None) -> None:
        """Fix how long the finding that just turned up may be shrunk: within the shard's share of its time, and so that
        the campaign ends when it said it would; or for so many seconds. Shards with a number of cases have all the time
        they want."""
        self._cut_short = False
        self.endless = signature.kind if signature.verdict is Verdict.HANG else ""
        now, spec = time.monotonic(), self._spec
        if seconds is not None:
            self._granted = self.until = now + seconds
        elif spec.overtime is not None:
            share = max(SHRINK_SHARE * spec.seconds, SHORTEST_SHRINK, self._beside_drawing(now)) - self._shrinking
            self._granted = min(now + share, self._began + spec.overtime)

    def _beside_drawing(self, now: float) -> float:
        """Seconds for a finding while others draw."""
        if self._spec.left is None:
            return 0.0
        left = self._began + self._spec.left - now
        there = sum(1 for _ in (self._state / "findings").glob("*.json"))
        return min(LEFT_SHARE * left, MOST_SHRINK) / (1.0 + there / FEW)

    def may_begin(self, phase: str = "") -> bool:
        """Whether something may still be done for the present finding; phase: what a run is made for, if it is one."""
        fits = time.monotonic() + self._longest(phase) < self._granted and not self._stop.exists()
        self._cut_short |= not fits
        return fits

    def may_repeat(self, phase: str) -> bool:
        """Whether a new finding may be run once more, which takes as long as any case that is drawn: also where the
        shard has used up what it may take to make findings smaller. What does not end is too long for that."""
        in_time = self.until is None or time.monotonic() < self.until
        return in_time and not self.endless and not self._stop.exists()

    def granted(self) -> float:
        """Seconds that are left for the present finding."""
        return self._granted - time.monotonic()

    def ran_out(self) -> bool:
        """Whether something of the present finding was left out, because it could not be done in time."""
        return self._cut_short or self.granted() <= 0

    def compile_limit(self, phase: str) -> float | None:
        """Seconds that the compiler may take over a proposal of a smaller case; None: as long as ever."""
        return HANG_AGAIN * self._spec.hang_limit if phase == "shrink" else None

    def _longest(self, phase: str) -> float:
        """Seconds that a run for the present finding may take: those of a hang, 0 (not worth counting) otherwise."""
        if not phase or not self.endless:
            return 0.0
        if self.endless == "compile":
            return self.compile_limit(phase) or self._longest_compile
        return self._spec.hang_limit
