"""`tridiff replay`: run the corpus again."""

import json
import sys
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.campaign.replay import ReplayResult, replay
from tridiff.fuzz.campaign.table import rich_table, table
from tridiff.fuzz.cli.failure import INTERRUPTED
from tridiff.fuzz.cli.options import AsList, SavedFindings, chosen_backends
from tridiff.fuzz.cli.text import coloured, console
from tridiff.fuzz.corpus.expected import with_verdict
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, Verdict
from tridiff.fuzz.records.outcome import NO_ASSEMBLER
from tridiff.fuzz.registry import find

EXAMPLES = """**Examples**

`tridiff replay` : the whole corpus, entry by version

`tridiff replay triton.floordiv value-1f2e3d4c5b` : some targets or entries

`tridiff replay --everywhere --record` : fill the table for a Triton version that nobody has tried

`tridiff replay --json` : one object per entry with id, target, expected, actual, ok
"""


def replay_command(
    entry: Annotated[list[str] | None, typer.Argument(help="Entry ids, files or target names; default all.")] = None,
    backend: Annotated[list[str] | None, typer.Option(help="Backends to use; default all of this machine.")] = None,
    corpus: SavedFindings = DEFAULT,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="Also backends nothing is expected on, evaluated:* "
                                             "only if named.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Write down verdicts where none is expected yet.")] = False,
    as_json: AsList = False,
) -> None:
    """Run saved findings and compare with their expected verdicts.

    Exit status: 0 all as expected, 1 something changed, 2 nothing could be checked.
    """
    store = Corpus(corpus)
    everything = list(store.entries())
    if entry:
        chosen: list[CorpusEntry | TridiffError] = []
        for name in entry:
            of_target = [e for e in everything if not isinstance(e, TridiffError) and e.case.target == name]
            chosen += of_target or [_entry(store, name)]
    else:
        chosen = everything
    # What is evaluated everywhere is a question of its own: it would add rows for every chip to every entry.
    backends = chosen_backends(backend) if backend else tuple(
        one for one in available_backends() if not everywhere or kind(one) != "evaluated")
    results: list[ReplayResult] = []
    interrupted = False
    try:
        for result in _told(replay(chosen, backends=backends, everywhere=everywhere), of=len(chosen)):
            results.append(result)
            if record:
                _record(store, result)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted; what was replayed until then:", file=sys.stderr)
    if as_json:
        print(json.dumps([{"id": r.id, "target": r.target, "subject": r.subject, "backend": r.backend,
                           "triton": r.triton, "expected": r.expected, "actual": r.actual, "ok": r.ok,
                           "status": r.status, "reason": r.reason, "seconds": r.seconds} for r in results]))
    else:
        out = console()
        out.print(rich_table(table(chosen, results)))
        for result in results:
            if result.ok is False or result.status == "unreadable":
                out.print(f"{result.id}: {result.reason or result.status}")
        checked = [r for r in results if r.ok is not None]
        out.print(f"{len(results)} replayed, {sum(r.ok is True for r in checked)} as expected, "
                  f"{sum(r.ok is False for r in checked)} changed, {len(results) - len(checked)} without a verdict "
                  "to compare")
    raise typer.Exit(INTERRUPTED if interrupted else _status(results, asked=tuple(backend or ())))


def _told(results: Iterator[ReplayResult], *, of: int) -> Iterator[ReplayResult]:
    """The results as they come, with the latest on the terminal, elsewhere a line every ten seconds."""
    out, last = console(errors=True), time.monotonic()
    seen: set[str] = set()
    with out.status(coloured("starting workers")) as status:
        for result in results:
            seen.add(result.id)
            line = f"replayed {len(seen)} of {of} entries, last {result.target}/{result.id}"
            status.update(coloured(line))
            if not out.is_terminal and time.monotonic() - last >= 10:
                last = time.monotonic()
                out.print(line)
            yield result


def _entry(store: Corpus, name: str) -> CorpusEntry:
    """The entry of this name; one that looks like a target's is looked for among the targets as well."""
    try:
        return store.find(name)
    except TridiffError:
        if "." not in name or name.endswith(".json") or "/" in name:
            raise
    find(name)  # Says that no target is called so, and which are nearly.
    raise TridiffError(f"the corpus has no entry of {name}", fix=f"look for one with `tridiff fuzz --target {name}`")


def _record(store: Corpus, result: ReplayResult) -> None:
    """Record the verdict for a version and backend without an expectation; one that stands is never changed."""
    if result.status != "new_information" or result.outcome is None or result.outcome.verdict is Verdict.NOT_CHECKED:
        return
    signature = result.outcome.signature
    store.rewrite(with_verdict(
        store.find(result.id), subject=result.subject, triton=result.triton, backend=result.backend, torch=result.torch,
        verdict=result.outcome.verdict, kind=signature.kind if signature else ""))


def _status(results: list[ReplayResult], *, asked: tuple[str, ...] = ()) -> int:
    """asked: backends that were named. For a chip among them the installation may lack what its vendor needs."""
    if any(r.ok is False for r in results):
        return 1
    if any(r.backend in asked and r.outcome is not None and r.outcome.reason == NO_ASSEMBLER for r in results):
        return 2
    if any(r.ok is True for r in results) and not any(r.status == "unreadable" for r in results):
        return 0
    return 2
