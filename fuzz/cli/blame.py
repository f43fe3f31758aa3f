"""`tridiff blame`: the stage and the pass of the compiler at which a saved finding goes wrong."""

import json
import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.blame.localise import SECONDS, NotFailing, backend_here, blame
from tridiff.fuzz.blame.record import with_blame
from tridiff.fuzz.blame.way_round import lines, way_round
from tridiff.fuzz.builds import inspect, resolve
from tridiff.fuzz.cli import blame_all
from tridiff.fuzz.cli.options import MOST_WORKERS, EntryName, SavedFindings, TritonBuild, chosen_backends, seconds
from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame, CorpusEntry
from tridiff.kernels.codegen.dialect import found_version

EXAMPLES = """**Examples**

`tridiff blame 1f2e3d4c5b` : what was tried, where it goes wrong, and how sure that is

`tridiff blame 1f2e3d4c5b --triton 3.6.0 --record` : with another release, and kept in the entry

`tridiff blame 1f2e3d4c5b --baseline 3.8.0` : and which function, or operation of the front end's IR, departs from 3.8.0

`tridiff blame 1f2e3d4c5b --way-round` : and for whom it is wrong, and which changes make it right

`tridiff blame --all --record` : every entry that fails on a backend of this machine; `--missing`: only those without a
stage

`tridiff blame --all --backend cuda --time 4m --each 45s --workers 16 --to blames.jsonl` : as many as four minutes
allow, the most promising first; begun again, it goes on; `--merge blames.jsonl` puts them into the corpus, anywhere
"""


def blame_command(
    entry: EntryName = "",
    backend: Annotated[str, typer.Option(help="Where it fails; default one of this machine's.")] = "",
    triton: TritonBuild = "",
    baseline: Annotated[str, typer.Option(help="One in which it may be right: which function, or operation of the "
                                          "front end's IR, departs from it.")] = "",
    budget: Annotated[str, typer.Option("--time", help=f"Longest time, such as 90s: for the one entry (default "
                                        f"{SECONDS:g}s), with --all for all together.")] = "",
    each: Annotated[str, typer.Option(help="With --all: longest time for one entry.")] = f"{SECONDS:g}s",
    workers: Annotated[int, typer.Option(help="With --all: entries at a time; 0 for one per core, at most 16.",
                                         min=0, max=MOST_WORKERS)] = 0,
    results: Annotated[Path | None, typer.Option("--to", help="With --all: append results here, a line of JSON each, "
                                                 "and leave out what is there.")] = None,
    missing: Annotated[bool, typer.Option("--missing", help="With --all: only those without a stage.")] = False,
    merge: Annotated[Path | None, typer.Option(help="Put the results in this file into the entries.")] = None,
    corpus: SavedFindings = DEFAULT,
    everything: Annotated[bool, typer.Option("--all", help="Every entry that fails here.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the blame in the entry.")] = False,
    round_: Annotated[bool, typer.Option("--way-round", help="Also look for changes that make it right.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each entry.")] = False,
) -> None:
    """Say at which stage and pass a saved finding goes wrong.

    Every change that was tried is shown with what became of the failure.

    Exit status: 0 localised, 1 not localised, 2 it does not fail here or could not be run.
    """
    store = Corpus(corpus)
    if sum((everything, bool(entry), merge is not None)) != 1:
        raise TridiffError("name one entry, --all or --merge FILE", fix="`tridiff replay` lists the entries")
    if merge is not None:
        raise typer.Exit(blame_all.merge(store, merge))
    build = resolve(triton) if triton else None
    if everything:
        if baseline:
            raise TridiffError("--baseline is for one entry", fix="leave it out, or name an entry")
        if round_:
            raise TridiffError("--way-round is for one entry", fix="leave it out, or name an entry")
        raise typer.Exit(blame_all.run(store, blame_all.Batch(
            only=chosen_backends([backend])[0] if backend else "", build=build,
            workers=workers or min(len(os.sched_getaffinity(0)), 16), each=seconds(each),
            total=seconds(budget) if budget else None, results=results, missing=missing, record=record,
            as_json=as_json)))
    one = store.find(entry)
    limit = seconds(budget) if budget else SECONDS
    version = inspect(build).version if build is not None else found_version()
    where = chosen_backends([backend])[0] if backend else backend_here(one, available_backends(), version)
    if not where:
        raise TridiffError(f"{one.id} was not seen to fail on a backend of this machine",
                           fix="name one with --backend, or run it where there is a GPU")
    try:
        with console(errors=True).status(f"{one.case.target}/{one.id} on {where}"):
            found = blame(one.case, one.signature.subject, where, signature=one.signature, seconds=limit, build=build,
                          baseline=resolve(baseline) if baseline else None)
    except NotFailing as error:
        _say(one, where, error.problem, as_json)
        raise typer.Exit(2) from None
    if record:
        store.rewrite(with_blame(store.find(f"{one.case.target}/{one.id}"), found))
    around = way_round(one, where, seconds=limit) if round_ else None
    if as_json:
        more = {"way_round": msgspec.to_builtins(around)} if around is not None else {}
        print(json.dumps({"entry": f"{one.case.target}/{one.id}", "recorded_stage": one.stage,
                          **msgspec.to_builtins(found), **more}), flush=True)
    else:
        _show(one, found)
        if around is not None:
            print("\n".join(map(plain, lines(around))), flush=True)
    raise typer.Exit(0 if found.localised else 1)


def _say(entry: CorpusEntry, where: str, problem: str, as_json: bool) -> None:
    if as_json:
        said = {"entry": f"{entry.case.target}/{entry.id}", "backend": where, "problem": problem}
        print(json.dumps(said), flush=True)
    else:
        print(plain(f"{entry.case.target}/{entry.id}: {problem}"), flush=True)


def _show(entry: CorpusEntry, found: Blame) -> None:
    print(plain(f"{entry.title}\n{entry.id} on {found.backend}, Triton {found.triton}: {found.line}"))
    for sentence in found.evidence:
        print(plain(f"  {sentence}"))
    width = max((len(one.change) for one in found.vector), default=0)
    for one in found.vector:
        print(plain(f"  {one.change.ljust(width)}  {one.effect:<7}  {found.ended(one)}"))
