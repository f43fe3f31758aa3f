"""Progress of a running campaign: a live line on a terminal, a plain line every ten seconds elsewhere."""

import sys
import time

from rich.live import Live
from rich.text import Text

from tridiff.fuzz.campaign.record import Plan
from tridiff.fuzz.campaign.run import Progress
from tridiff.fuzz.cli.text import console

FIRST_RESULT = "5 to 20 s"
"""How long workers take to start, by how many cores are free."""


def clock(seconds: float) -> str:
    """`1:05` or `2:00:07`."""
    whole = max(int(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def line(progress: Progress, plan: Plan) -> str:
    """Counts, rates and the remaining time; until the first case is judged, what is waited for."""
    if not progress.counts.executed:
        return (f"{clock(progress.elapsed)}  {_starting(plan)}; each imports torch and Triton, and the first result "
                f"comes after {FIRST_RESULT}")
    counts, elapsed = progress.counts, max(progress.elapsed, 1e-9)
    checked = counts.executed - counts.not_checked - counts.refused
    share = 100 * checked / counts.executed if counts.executed else 0
    if plan.options.max_cases is None:
        left = f"{clock(plan.options.seconds - elapsed)} left"
    else:
        left = f"{clock((plan.options.max_cases - counts.executed) * elapsed / counts.executed)} left"
    return (f"{clock(elapsed)} ({left})  {counts.executed:,} cases {counts.executed / elapsed:,.0f}/s "
            f"({share:.1f}% checked)  {counts.row_inputs:,} rows {counts.row_inputs / elapsed:,.0f}/s  "
            f"{counts.compiled_kernels:,} kernels  {counts.launches:,} launches  "
            f"findings {len(progress.findings)}  shards {progress.shards_done}/{progress.shards}")


def _starting(plan: Plan) -> str:
    workers, backends = plan.options.workers, " ".join(plan.options.backends) or "no backend"
    return f"starting {workers} worker{'s' if workers != 1 else ''} on {backends}"


class LiveProgress:
    """Shows `Progress` on stderr until the campaign ends."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._console = console(errors=True)
        self._live = Live(Text(_starting(plan)), console=self._console, transient=True, refresh_per_second=4)
        self._last = time.monotonic()
        self._first = False
        self._told: set[str] = set()

    def __enter__(self) -> "LiveProgress":
        if self._console.is_terminal:
            self._live.start()
        else:
            print(f"{_starting(self._plan)}; the first result comes after {FIRST_RESULT}", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def watch(self, progress: Progress) -> None:
        """Take in the latest state."""
        for name in progress.findings:
            if name not in self._told:
                self._told.add(name)
                self._console.print(f"new finding: {name}")
        if progress.counts.executed and not self._first:
            self._first = True
            self._console.print(f"first result after {progress.elapsed:.1f} s")
        if self._console.is_terminal:
            self._live.update(Text(line(progress, self._plan)))
        elif time.monotonic() - self._last >= 10:
            self._last = time.monotonic()
            print(line(progress, self._plan), file=sys.stderr, flush=True)
