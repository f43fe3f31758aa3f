"""`tridiff sweep --rows`: every input of calls of the language."""

import json
import os
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from tridiff.fuzz.cli.options import MOST_WORKERS, chosen_backends, chosen_devices, count
from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.sweep.rows import INTERPRETED, Swept, Wish, record_of, run
from tridiff.fuzz.workers.pool import Pool, PoolOptions


@dataclass(frozen=True, kw_only=True)
class RowsWish:
    """The command's options. lines: how long lines are, 0 for what the backend manages."""

    patterns: tuple[str, ...]
    backend: str = ""
    gpus: str = ""
    workers: int | None = None
    every: bool = False
    lines: int = 0
    record: Path | None = None
    as_json: bool = False


def sweep_rows(asked: RowsWish) -> int:
    """Sweep the rows that match; the exit status of `tridiff sweep`."""
    backend = chosen_backends([asked.backend] if asked.backend else [])[0]
    if asked.lines and asked.lines not in (4, 8):
        raise TridiffError(f"--lines {asked.lines} is no length of lines that can be swept", fix="use 4 or 8")
    sizes = dict(INTERPRETED) if backend == "interpreter" else {}
    wish = Wish(patterns=asked.patterns, every=asked.every, **(
        sizes | ({"length": asked.lines} if asked.lines else {})))
    workers = count(asked.workers, option="--workers", most=MOST_WORKERS) or len(os.sched_getaffinity(0))
    devices = chosen_devices(asked.gpus, (backend,)) or (0,)
    begun = time.monotonic()
    with ExitStack() as stack:
        options = [PoolOptions(backend=backend, spare=False, device=devices[one % len(devices)])
                   for one in range(workers)]
        pools = [stack.enter_context(Pool(one)) for one in options]
        environment = msgspec.to_builtins(pools[0].environment)
        found, interrupted = run(pools, wish, watch=(lambda one: None) if asked.as_json else _say)
    seconds = time.monotonic() - begun
    if not found:
        raise TridiffError("no row of these names can be swept", fix="see `tridiff sweep --rows --list`")
    if asked.record is not None:
        asked.record.mkdir(parents=True, exist_ok=True)
        (asked.record / "rows.json").write_text(json.dumps(record_of(
            found, wish, backend=backend, seconds=seconds, environment=environment,
            interrupted=interrupted), indent=1) + "\n")
    checked = [one for one in found if one.verdict is not Verdict.NOT_CHECKED]
    news = sum(one.news for one in found)
    if asked.as_json:
        print(json.dumps([asdict(one) | {"verdict": one.verdict.value} for one in found]))
    else:
        console().print(plain(
            f"{len(found)} cases of {len({one.row for one in found})} rows, {sum(one.inputs for one in checked):,} "
            f"inputs in {seconds:.0f} s: {news} deviate, {sum(bool(one.issues) for one in found)} deviate as known, "
            f"{len(found) - len(checked)} not checked"))
    return 1 if news else 0 if checked and not interrupted else 2


def list_rows(patterns: tuple[str, ...], *, as_json: bool) -> None:
    """For each row how its calls are swept, and the rows that are left to draws."""
    wish, listed = Wish(patterns=patterns), []
    for row in wish.rows():
        found = list(wish.calls(row))
        listed.append({"row": row.name, "topic": row.topic, "calls": len(found),
                       "types": len({tuple(one.dtype for one in call.operands) + call.stored for call in found})})
    if as_json:
        print(json.dumps(listed))
        return
    for one in listed:
        console().print(plain(f"{one['topic']:12} {one['row']:32} {one['calls'] or 'left to draws':>6} calls"
                              if one["calls"] else f"{one['topic']:12} {one['row']:32} left to draws"))
    swept = Counter(one["topic"] for one in listed if one["calls"])
    console().print(plain(f"{sum(swept.values())} of {len(listed)} rows: " + ", ".join(
        f"{topic} {number}" for topic, number in swept.items())))


def _say(one: Swept) -> None:
    if one.verdict is Verdict.AGREE:
        return
    why = f"known: {' '.join(one.issues)}" if one.issues else one.reason[:160]
    console().print(plain(f"{one.row} {','.join(one.types)} {one.options}: {one.verdict.value}: {why}"))
