"""`tridiff corpus`: what has been found, by cause."""

import shlex
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.cli.options import AsList, SavedFindings
from tridiff.fuzz.cli.text import console, listing
from tridiff.fuzz.corpus.bugs import PAGE, Cause, Missing, causes, missing, page, release
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import CorpusEntry

EXAMPLES = """**Examples**

`tridiff corpus` : all causes with class, stage and versions

`tridiff corpus --render` : write corpus/BUGS.md

`tridiff corpus --check` : fail if corpus/BUGS.md does not say what the entries say

`tridiff corpus --missing` : verdicts that a GPU has still to give, and the command that records them
"""


def corpus(
    folder: SavedFindings = DEFAULT,
    render: Annotated[bool, typer.Option("--render", help="Write BUGS.md into the corpus.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare BUGS.md with the entries.")] = False,
    lacking: Annotated[bool, typer.Option("--missing", help="List verdicts on cuda that nobody has recorded.")] = False,
    as_json: AsList = False,
) -> None:
    """List findings by cause; write or check the page that shows them.

    Exit status: 0 done, 1 the page is stale (--check), 2 an entry cannot be read.
    """
    entries = _entries(folder)
    if sum((render, check, lacking)) > 1:
        raise TridiffError("--render, --check and --missing exclude each other", fix="give one of them")
    if render:
        _write(folder / PAGE, page(entries))
    elif check:
        _check(folder / PAGE, page(entries))
    elif lacking:
        _print_missing(missing(entries), as_json=as_json)
    elif as_json:
        print(msgspec.json.encode(causes(entries)).decode())
    else:
        _print(causes(entries))


def _entries(folder: Path) -> list[CorpusEntry]:
    """All entries; the first that cannot be read is raised, since a page without it would be wrong."""
    found = []
    for one in Corpus(folder).entries():
        if isinstance(one, TridiffError):
            raise one
        found.append(one)
    return found


def _write(path: Path, text: str) -> None:
    with writing(path, fix="choose another corpus folder"):
        path.write_text(text)
    print(f"wrote {path}")


def _check(path: Path, text: str) -> None:
    try:
        current = path.read_text() == text
    except OSError:
        current = False
    print(f"{path} {'says what the entries say' if current else 'is stale; run tridiff corpus --render'}")
    raise typer.Exit(0 if current else 1)


def _print(found: tuple[Cause, ...]) -> None:
    versions = sorted({version for one in found for row in one.matrix if row.where.startswith("cuda")
                       for version in row.cells}, key=release)
    table = listing()
    for title in ("class", "cause", "stage", "entries", *(f"{version} cuda" for version in versions), "what"):
        table.add_column(title, justify="right" if title == "entries" else "left", no_wrap=title in ("class", "stage"))
    for one in found:
        on_gpu = [row.cells for row in one.matrix if row.where.startswith("cuda")]
        cells = (", ".join(dict.fromkeys(row[version] for row in on_gpu if version in row)) for version in versions)
        table.add_row(one.truth, one.cause, ", ".join(one.stages), str(len(one.entries)), *cells, one.title)
    out = console()
    out.print(table)
    defects = [one for one in found if one.truth == "defect"]
    out.print(f"{sum(len(one.entries) for one in found)} entries, {len(found)} causes, of which {len(defects)} are "
              "defects")


def _print_missing(found: tuple[Missing, ...], *, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(found).decode())
        return
    for version in dict.fromkeys(one.triton for one in found):
        names = list(dict.fromkeys(one.entry for one in found if one.triton == version))
        print(f"Triton {version}, cuda: {len(names)} entries without a verdict. Under that version, on a GPU:")
        print(f"tridiff replay --backend cuda --everywhere --record {shlex.join(names)}\n")
    if not found:
        print("every entry has a verdict from a GPU for every version")
