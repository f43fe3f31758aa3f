"""Try many edits, several at once, and keep each result when it is there."""

import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from tridiff.fuzz.campaign.drivers import interrupts
from tridiff.fuzz.planted.edit import Edit
from tridiff.fuzz.planted.measure import measure
from tridiff.fuzz.planted.record import Results, Settings, Tried

Measure = Callable[..., Tried]


def run(edits: Sequence[Edit], settings: Settings, *, package: Path, results: Results, folder: Path, at_once: int,
        watch: Callable[[Tried], None], measured: Measure = measure) -> list[Tried]:
    """What became of the edits, in their order; those that the results have already are not tried again.

    Ctrl-C, SIGTERM and SIGHUP end it with what is known by then: what was being tried is left out. folder: for the
    copies and for the gates' states. measured: as `measure`."""
    known = {one.name for one in results.lines}
    waiting = [edit for edit in edits if edit.name not in known]
    stop = threading.Event()
    with interrupts() as asked, ThreadPoolExecutor(max_workers=at_once) as threads:
        running: dict[Future[Tried], Edit] = {}
        try:
            while running or (waiting and not asked()):
                while waiting and len(running) < at_once and not asked():
                    edit = waiting.pop(0)
                    place = folder / f"{len(edits) - len(waiting):04}"
                    shutil.rmtree(place, ignore_errors=True)
                    running[threads.submit(measured, edit, settings, package, place, stop=stop)] = edit
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                if asked():
                    stop.set()
                for future in done:
                    del running[future]
                    line = future.result()
                    if line.how != "interrupted":
                        results.add(line)
                        watch(line)
        finally:
            stop.set()
    order = {edit.name: number for number, edit in enumerate(edits)}
    return sorted((one for one in results.lines if one.name in order), key=lambda one: order[one.name])
