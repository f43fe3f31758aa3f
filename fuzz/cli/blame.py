"""`tridiff blame`: the stage and the pass of the compiler at which a saved finding goes wrong."""

import json
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.blame.localise import SECONDS, NotFailing, backend_here, blame
from tridiff.fuzz.blame.record import with_blame
from tridiff.fuzz.blame.way_round import lines, way_round
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.cli.options import chosen_backends, seconds
from tridiff.fuzz.cli.text import console, plain
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Blame, CorpusEntry

EXAMPLES = """**Examples**

`tridiff blame 1f2e3d4c5b` : what was tried, where it goes wrong, and how sure that is

`tridiff blame 1f2e3d4c5b --triton 3.6.0 --record` : with another release, and kept in the entry

`tridiff blame 1f2e3d4c5b --way-round` : and for whom it is wrong, and which changes make it right

`tridiff blame --all --record` : every entry that fails on a backend of this machine
"""


def blame_command(
    entry: Annotated[str, typer.Argument(help="Entry id, its unique beginning, its digest, or a file.")] = "",
    backend: Annotated[str, typer.Option(help="Where it fails; default one of this machine's.")] = "",
    triton: Annotated[str, typer.Option(help="A release, wheel or folder; default the installed one.")] = "",
    budget: Annotated[str, typer.Option("--time", help="Longest time for one entry, such as 90s.")] = f"{SECONDS:g}s",
    corpus: Annotated[Path, typer.Option(help="Where findings are kept.", callback=corpus_to_read)] = DEFAULT,
    everything: Annotated[bool, typer.Option("--all", help="Every entry that fails here.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the blame in the entry.")] = False,
    round_: Annotated[bool, typer.Option("--way-round", help="Also look for changes that make it right.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each entry.")] = False,
) -> None:
    """Say at which stage and pass a saved finding goes wrong.

    Every change that was tried is shown with what became of the failure.

    Exit status: 0 localised, 1 not localised, 2 it does not fail here or could not be run.
    """
    if everything == bool(entry):
        raise TridiffError("name one entry, or --all", fix="`tridiff replay` lists the entries")
    store = Corpus(corpus)
    build = resolve(triton) if triton else None
    limit = seconds(budget)
    here = available_backends()
    entries = [one for one in store.entries() if isinstance(one, CorpusEntry)] if everything else [store.find(entry)]
    statuses = []
    for one in entries:
        where = chosen_backends([backend])[0] if backend else backend_here(one, here)
        if not where:
            if not everything:
                raise TridiffError(f"{one.id} was not seen to fail on a backend of this machine",
                                   fix="name one with --backend, or run it where there is a GPU")
            continue
        try:
            with console(errors=True).status(f"{one.case.target}/{one.id} on {where}"):
                found = blame(one.case, one.signature.subject, where, signature=one.signature, seconds=limit,
                              build=build)
        except NotFailing as error:
            statuses.append(2)
            _say(one, where, error.problem, as_json)
            continue
        except TridiffError as error:
            if not everything:
                raise
            statuses.append(2)
            _say(one, where, error.problem, as_json)
            continue
        statuses.append(0 if found.localised else 1)
        if record:
            store.rewrite(with_blame(store.find(f"{one.case.target}/{one.id}"), found))
        around = way_round(one, where, seconds=limit) if round_ else None
        if as_json:
            more = {"way_round": msgspec.to_builtins(around)} if around is not None else {}
            print(json.dumps({"entry": f"{one.case.target}/{one.id}", "recorded_stage": one.stage,
                              **msgspec.to_builtins(found), **more}), flush=True)
        elif everything:
            print(plain(f"{one.case.target}/{one.id}: {found.line}; recorded: {one.stage}"), flush=True)
        else:
            _show(one, found)
        if around is not None and not as_json:
            print("\n".join(map(plain, lines(around))), flush=True)
    raise typer.Exit(max(statuses, default=2))


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
        print(plain(f"  {one.change.ljust(width)}  {one.effect:<7}  {one.said}"))
