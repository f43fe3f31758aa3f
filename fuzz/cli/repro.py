"""`tridiff repro`: one finding, run again and shown."""

import json
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.cli.options import chosen_backends
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.repro.describe import describe
from tridiff.fuzz.repro.rerun import rerun
from tridiff.fuzz.repro.script import Script, script

EXAMPLES = """**Examples**

`tridiff repro value-1f2e3d4c5b` : run it here, show inputs, expected and actual values

`tridiff repro value-1f2e3d4c5b --script bug.py` : a standalone script that prints BUG or OK
"""


def repro(
    entry: Annotated[str, typer.Argument(help="Entry id, unique prefix, or file.")],
    script_file: Annotated[Path | None, typer.Option("--script", help="Write a standalone script here.")] = None,
    backend: Annotated[str, typer.Option(help="Where to run; default where it was found, if possible.")] = "",
    subject: Annotated[str, typer.Option(help="Run this subject instead of the entry's.")] = "",
    corpus: Annotated[Path, typer.Option(help="Where findings are kept.", callback=corpus_to_read)] = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Run a saved finding again. Exit status: 1 it still fails, 0 it does not, 2 it could not be run."""
    found = Corpus(corpus).find(entry)
    where = chosen_backends([backend])[0] if backend else ""
    if script_file is not None:
        _write_script(script_file, script(found, subject=subject, backend=where), quiet=as_json)
        raise typer.Exit(0)
    again = rerun(found, subject=subject, backend=where)
    if as_json:
        print(json.dumps(msgspec.to_builtins(again)))
    else:
        print(describe(again))
    verdict = again.outcome.verdict
    raise typer.Exit(1 if verdict.failed else 0 if verdict is Verdict.AGREE else 2)


def _write_script(path: Path, written: Script, *, quiet: bool) -> None:
    try:
        path.write_text(written.text)
    except OSError as error:
        raise TridiffError(f"{path} cannot be written ({error.strerror})", fix="choose another file") from None
    if not quiet:
        print(f"wrote {path} ({written.lines} lines; run here: {written.answer}); run it with: python {path}")
