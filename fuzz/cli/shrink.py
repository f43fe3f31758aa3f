"""`tridiff shrink`: a saved finding with a smaller case."""

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.cli.options import EntryName, OtherSubject, SavedFindings, chosen_backends, count, seconds
from tridiff.fuzz.cli.text import coloured, console
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import Corpus, readable
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import Case, pretty_json_without_defaults
from tridiff.fuzz.repro.script import default_backend
from tridiff.fuzz.repro.smaller import Smaller, smaller

EXAMPLES = """**Examples**

`tridiff shrink 1f2e3d4c5b` : five minutes, and the smaller entry in the file value-1f2e3d4c5b.json here

`tridiff shrink 1f2e3d4c5b --time 30m --replace` : put it in the place of the entry in the corpus

`tridiff shrink 1f2e3d4c5b --backend compile:sm_90 --json` : where the compiler fails no GPU is needed
"""


def shrink(
    entry: EntryName,
    time: Annotated[str, typer.Option("--time", help="Budget, such as 90s or 30m.")] = "5m",
    max_runs: Annotated[int, typer.Option(help="Most cases to try.")] = 2000,
    backend: Annotated[str, typer.Option(help="Where to run; default where it was found.")] = "",
    subject: OtherSubject = "",
    corpus: SavedFindings = DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Write the smaller entry here; default ID.json.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Rewrite the entry in the corpus instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Make a saved finding smaller, so that its script fits into an issue.

    The smaller entry holds the verdict seen here; verdicts of other versions and backends were seen for the old case:
    they are listed, and `tridiff replay --everywhere --record` writes down those of the new one. Exit status: 0 it is
    smaller, 1 no smaller case fails the same way, 2 it could not be tried.
    """
    budget = seconds(time)
    count(max_runs, option="--max-runs")
    if replace and out is not None:
        raise TridiffError("--replace together with --out", fix="leave one of them out")
    store = Corpus(corpus)
    found = store.find(entry)
    where = chosen_backends([backend])[0] if backend else default_backend(found, subject or found.signature.subject)
    if where not in available_backends():
        raise TridiffError(f"{found.id} was found on {where}, which is not available here",
                           fix="name one with --backend, or shrink it on a machine that has it")
    with console(errors=True).status(coloured(f"shrinking {found.id}")):
        made = smaller(found, subject=subject, backend=where, seconds=budget, max_runs=max_runs)
    path = None
    if made.changed:
        path = store.rewrite(made.entry, was=found) if replace else _write(
            out or Path(f"{made.entry.id}.json"), made)
    before, after = (len(pretty_json_without_defaults(one.case)) for one in (found, made.entry))
    if as_json:
        print(json.dumps({
            "id": found.id, "changed": made.changed, "path": str(path) if path else None, "backend": where,
            "runs": made.runs, "seconds": made.seconds, "reproduced": made.entry.reproduced,
            "elements": [_elements(found.case), _elements(made.entry.case)], "characters": [before, after],
            "left_out": [[one.subject, one.triton, one.backend, one.verdict.value] for one in made.left_out]}))
    elif not made.changed:
        print(f"{found.id}: no smaller case fails the same way ({made.runs} tried in {made.seconds:.0f} s)")
    else:
        print(f"{found.id}: {_elements(found.case)} elements to {_elements(made.entry.case)}, case text {before} to "
              f"{after} characters ({made.runs} tried in {made.seconds:.0f} s); failed in {made.entry.reproduced} runs")
        print(f"wrote {path}; its script: tridiff repro {path} --script bug.py")
        if made.left_out:
            rows = ", ".join(f"{one.triton} {one.backend} {one.verdict.value}" for one in made.left_out)
            print(f"not seen for the smaller case yet: {rows}")
    raise typer.Exit(0 if made.changed else 1)


def _elements(case: Case) -> int:
    return sum(math.prod(spec.shape(case.sizes)) for spec in case.arrays)


def _write(path: Path, made: Smaller) -> Path:
    with writing(path, fix="choose another --out"):
        path.write_bytes(readable(made.entry))
    return path
