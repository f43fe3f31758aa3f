"""`tridiff repro`: one finding, run again and shown."""

import json
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzz.cli.options import chosen_backends
from fuzz.corpus.store import Corpus
from fuzz.errors import TridiffError

EXAMPLES = """**Examples**

`tridiff repro value-1f2e3d4c5b` : run it here, show inputs, expected and actual values

`tridiff repro value-1f2e3d4c5b --script bug.py` : a standalone script that prints BUG or OK
"""


def repro(
    entry: Annotated[str, typer.Argument(help="Entry id, unique prefix, or file.")],
    script_file: Annotated[Path | None, typer.Option("--script", help="Write a standalone script here.")] = None,
    backend: Annotated[str, typer.Option(help="Where to run; default where it was found, if possible.")] = "",
    subject: Annotated[str, typer.Option(help="Run this subject instead of the entry's.")] = "",
    corpus: Annotated[Path, typer.Option(help="Where findings are kept.")] = Path("corpus"),
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Run a saved finding again. Exit status: 1 it still fails, 0 it does not, 2 it could not be run."""
    from fuzz.repro import default_backend, describe, rerun, script

    found = Corpus(corpus).find(entry)
    if script_file is not None:
        try:
            script_file.write_text(script(found))
        except OSError as error:
            raise TridiffError(f"{script_file} cannot be written ({error.strerror})", fix="choose another file"
                               ) from None
        if not as_json:
            print(f"wrote {script_file}; run it with: python {script_file}")
        raise typer.Exit(0)
    where = chosen_backends([backend])[0] if backend else default_backend(found)
    outcome = rerun(found, subject=subject or found.signature.subject, backend=where)
    if as_json:
        print(json.dumps(msgspec.to_builtins(outcome)))
    else:
        print(describe(found, outcome))
    raise typer.Exit(1 if outcome.verdict.failed else 0 if outcome.verdict.value == "agree" else 2)
