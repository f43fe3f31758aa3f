"""`tridiff report`: what a campaign or a gate found, as a page, and as files for other programs."""

import contextlib
import json
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.cli.options import seconds
from tridiff.fuzz.cli.text import coloured, console
from tridiff.fuzz.corpus.installed import DEFAULT, corpus_to_read
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.report.html import html
from tridiff.fuzz.report.junit import junit
from tridiff.fuzz.report.markdown import markdown
from tridiff.fuzz.report.model import Report
from tridiff.fuzz.report.publish import ITSELF, more_scripts, write_files
from tridiff.fuzz.report.record import find_record, put, report_of
from tridiff.fuzz.report.sarif import sarif
from tridiff.fuzz.report.serve import live_page, server

EXAMPLES = """**Examples**

`tridiff report` : write the page of the newest record again, and say where it is

`tridiff report h200-programs-triton-3.9.0 --html programs.html` : the page of a record below reports, elsewhere

`tridiff report --junit - --reports /tmp/reports` : JUnit XML on stdout

`tridiff report --html page.html --largest 60` : a small page, for a repository or a mail

`tridiff report --serve` : show the campaign that is running to a browser on this machine

`tridiff report --scripts 5m` : also write the scripts for which the campaign had no time

`tridiff report --scripts 5m --again` : and then those again that do not show their finding
"""

STATES = (Path(".tridiff/campaigns"), Path(".tridiff/gates"))

_TONES = {"good": "green", "warning": "yellow", "bad": "red", "unknown": "magenta"}


def report(
    record: Annotated[str, typer.Argument(help="Folder of a record, or its name below --reports; default the "
                                          "newest.")] = "",
    html_file: Annotated[str, typer.Option("--html", metavar="FILE", help="Write the page here; - for stdout.")] = "",
    largest: Annotated[int, typer.Option(metavar="KB", help="Of the page and of the JUnit file that are named: details "
                                         "are left out beyond; 0 for the usual size.", min=0)] = 0,
    junit_file: Annotated[str, typer.Option("--junit", metavar="FILE", help="Write JUnit XML here; - for "
                                            "stdout.")] = "",
    sarif_file: Annotated[str, typer.Option("--sarif", metavar="FILE", help="Write SARIF 2.1.0 here; - for "
                                            "stdout.")] = "",
    markdown_file: Annotated[str, typer.Option("--markdown", metavar="FILE", help="Write Markdown here; - for "
                                               "stdout.")] = "",
    scripts: Annotated[str, typer.Option(help="Time, such as 5m, to write scripts that are missing; default "
                                         "none.")] = "",
    again: Annotated[bool, typer.Option("--again", help="With --scripts: then try those again whose run did not show "
                                        "the finding (of a gate: BUG on one build, OK on the other).")] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Show the running campaign, or RECORD, to browsers on this "
                                        "machine until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(help="For --serve; 0 for any.", min=0, max=65535)] = 8080,
    state: Annotated[list[Path] | None, typer.Option(help="Where running campaigns and gates keep their files; "
                                                     "repeatable.")] = None,
    corpus: Annotated[Path, typer.Option(help="Saved findings, for those that the record does not keep.",
                                         callback=corpus_to_read)] = DEFAULT,
    reports: Annotated[Path, typer.Option(help="Where records are.")] = Path("reports"),
    as_json: Annotated[bool, typer.Option("--json", help="The whole report as one JSON object on stdout.")] = False,
) -> None:
    """Show what a campaign or a gate left behind, in a form that people or other programs read.

    Without a file to write, the page and what belongs to it are written into the record. Exit status: 0 written,
    2 there is no such record, or it cannot be written.
    """
    if serve:
        if html_file or junit_file or sarif_file or markdown_file or scripts or again or as_json:
            raise TridiffError("--serve together with something to write", fix="leave one of them out")
        _serve(live_page(record, roots=state or STATES, reports=reports, corpus=Corpus(corpus)), port)
        return
    if again and not scripts:
        raise TridiffError("--again needs a time", fix="give --scripts 5m as well")
    place = find_record(record, reports)
    page, suites = (partial(writer, largest=1000 * largest) if largest else writer for writer in (html, junit))
    writers: tuple[tuple[str, Callable[[Report], str]], ...] = (
        (html_file, page), (junit_file, suites), (sarif_file, sarif), (markdown_file, markdown))
    asked = [(file, writer) for file, writer in writers if file]
    to_stdout = [file for file, _ in asked if file == "-"]
    if len(to_stdout) + as_json > 1:
        raise TridiffError("two things cannot go to stdout", fix="name a file for all but one of them")
    written = []
    try:
        if scripts:
            more_scripts(place, seconds=seconds(scripts), again=again)
        made = report_of(place, corpus=Corpus(corpus))
        for file, writer in asked:
            if file == "-":
                sys.stdout.write(writer(made))
            else:
                put(Path(file), writer(made))
                written.append(Path(file))
        if not asked and not as_json:
            write_files(place.folder, made)
            written = [place.folder / name for name in ITSELF[place.kind]]
    except OSError as error:
        raise TridiffError(f"{error.filename} cannot be written ({error.strerror})",
                           fix="choose another file, or free disk space") from None
    if as_json:
        print(json.dumps(msgspec.to_builtins(made)))
    elif not to_stdout:
        _show(made, written)


def _serve(page: Callable[[], str], port: int) -> None:
    """Answer browsers until Ctrl-C."""
    answering = server(page, port=port)
    print(f"http://{answering.server_address[0]!s}:{answering.server_address[1]}/ (Ctrl-C ends it)", flush=True)
    # A shell that starts this in the background has it ignore what ends it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with answering, contextlib.suppress(KeyboardInterrupt):
        answering.serve_forever()


def _show(made: Report, written: list[Path]) -> None:
    """The verdict in a line, findings that decide it, and where the files are."""
    out = console()
    for one in made.findings:
        if one.level != "note":
            out.print(f"{one.group.lower()}: {one.id}  {one.title}")
    out.print(coloured((made.verdict, f"bold {_TONES[made.tone]}"), f": {made.headline}"))
    for file in written:
        out.print(f"wrote {file}")
