"""`tridiff sweep --rows`: every input of calls of the language."""

import json
from dataclasses import asdict

from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.sweep.rows import Swept, run
from tridiff.fuzz.workers.pool import Pool, PoolOptions


def sweep_rows(patterns: tuple[str, ...], *, backend: str, as_json: bool) -> int:
    """Sweep the rows that match; the exit status of `tridiff sweep`."""
    with Pool(PoolOptions(backend=backend, spare=False)) as pool:
        found = run(pool, patterns, watch=(lambda one: None) if as_json else _say)
    if not found:
        raise TridiffError("no row of these names can be swept", fix="see `tridiff targets --language`")
    checked = [one for one in found if one.verdict is not Verdict.NOT_CHECKED]
    news = sum(one.news for one in found)
    if as_json:
        print(json.dumps([asdict(one) | {"verdict": one.verdict.value} for one in found]))
    else:
        console().print(plain(
            f"{len(found)} calls, {sum(one.inputs for one in checked):,} inputs in "
            f"{sum(one.seconds for one in found):.1f} s: {news} deviate, "
            f"{sum(bool(one.issues) for one in found)} deviate as known, {len(found) - len(checked)} not checked"))
    return 1 if news else 0 if checked else 2


def _say(one: Swept) -> None:
    if one.verdict is Verdict.AGREE:
        return
    why = f"known: {' '.join(one.issues)}" if one.issues else one.reason[:160]
    console().print(plain(f"{one.row} {','.join(one.types)} {one.options}: {one.verdict.value}: {why}"))
