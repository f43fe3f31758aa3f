"""`tridiff repro`: one finding, run again and shown, or written as a standalone script."""

import json
import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.backends.available import available_backends
from tridiff.fuzz.cli import repro_check
from tridiff.fuzz.cli.options import EntryName, OtherSubject, SavedFindings, chosen_backends, seconds
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.records import CorpusEntry, Together, Verdict
from tridiff.fuzz.repro import together
from tridiff.fuzz.repro.assembly_text import FILE, comment
from tridiff.fuzz.repro.describe import describe
from tridiff.fuzz.repro.rerun import rerun
from tridiff.fuzz.repro.script import Script, default_backend, runs_here, script

EXAMPLES = """**Examples**

`tridiff repro value-1f2e3d4c5b` : run it here, show inputs, expected and actual values; the digest alone will do

`tridiff repro 1f2e3d4c5b --script bug.py` : a standalone script that prints BUG, OK or SKIP: reason

`tridiff repro 1f2e3d4c5b --script bug.py --long` : the same, of whatever length the case needs

`tridiff repro 1f2e3d4c5b --bundle folder` : script, environment, values, blame, versions, IR around the pass that goes
wrong, ways round, explanation, and the text of an issue

`tridiff repro reports/ID/joined/NAME.json` : a joint launch that failed, and each of its cases alone

`tridiff repro --all --check` : write and run all scripts, and compare with the recorded verdicts; `--json` for a list
"""


def repro(
    entry: EntryName = "",
    script_file: Annotated[Path | None, typer.Option("--script", help="Write a standalone script here.")] = None,
    whole: Annotated[bool, typer.Option("--long", help="Let the script be as long as the case needs.")] = False,
    bundle: Annotated[Path | None, typer.Option(help="Write everything that a maintainer asks for into this folder.")]
    = None,
    backend: Annotated[str, typer.Option(help="Where to run; default where it was found, if possible.")] = "",
    subject: OtherSubject = "",
    corpus: SavedFindings = DEFAULT,
    everything: Annotated[bool, typer.Option("--all", help="Every entry; with --check.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Write and run scripts, compare with the record.")] = False,
    workers: Annotated[int, typer.Option(help="Scripts at a time; 0 for one per core, at most 16.", min=0)] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for writing a script and for a run of it.",
                                              min=1.0)] = 120.0,
    budget: Annotated[str, typer.Option("--time", help="With --bundle: longest time to blame, and to look for ways "
                                        "round.")] = "60s",
    record: Annotated[Path | None, typer.Option(help="With --check: append results here, a JSON line each.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Run a saved finding again. Exit status: 1 it still fails, 0 it does not, 2 it could not be run.

    With --script: 0 written, and where it can be run here it shows what the harness shows; 1 it does not; 2 it gave no
    answer to compare. With --check: 1 a script contradicts its record, 0 none does, 2 nothing could be run.
    """
    store = Corpus(corpus)
    if check or everything:
        if everything == bool(entry) or not check:
            raise TridiffError("--check needs one entry or --all", fix="write `tridiff repro --all --check`, or "
                               "`tridiff repro ENTRY --check`")
        entries: list[CorpusEntry | TridiffError] = list(store.entries()) if everything else [store.find(entry)]
        count = workers or min(len(os.sched_getaffinity(0)), 16)
        raise typer.Exit(repro_check.run(entries, backend=backend, workers=count, time_limit=time_limit, record=record,
                                         as_json=as_json))
    if not entry:
        raise TridiffError("no entry was named", fix="give its id or digest; `tridiff replay` lists them")
    if (launch := together.read(entry)) is not None:
        raise typer.Exit(_together(launch, backend=backend, as_json=as_json))
    found = store.find(entry)
    if bundle is not None:
        raise typer.Exit(_bundle(found, bundle, backend=chosen_backends([backend])[0] if backend else "",
                                 budget=seconds(budget), time_limit=time_limit, as_json=as_json))
    where = _where(found, subject=subject, backend=backend, running=script_file is None)
    if script_file is not None:
        raise typer.Exit(_script(found, script_file, subject=subject, backend=where, whole=whole,
                                 time_limit=time_limit, as_json=as_json))
    again = rerun(found, subject=subject, backend=where)
    if as_json:
        print(json.dumps(msgspec.to_builtins(again)))
    else:
        print(describe(again))
    verdict = again.outcome.verdict
    raise typer.Exit(1 if verdict.failed else 0 if verdict is Verdict.AGREE else 2)


def _together(launch: Together, *, backend: str, as_json: bool) -> int:
    found = together.again(launch, backend=chosen_backends([backend or launch.backend])[0])
    print(json.dumps(msgspec.to_builtins(found)) if as_json else found.told)
    return found.exit_status


def _where(entry: CorpusEntry, *, subject: str, backend: str, running: bool) -> str:
    """The backend to use. Raises TridiffError at once for a GPU's finding that is to be run here without one."""
    if backend and (running or backend != "cuda"):
        return chosen_backends([backend])[0]
    where = backend or default_backend(entry, subject or entry.signature.subject)
    if running and where == "cuda" and "cuda" not in available_backends():
        device = f" ({entry.found_in.device})" if entry.found_in.device else ""
        raise TridiffError(f"{entry.id} was found on a GPU{device}, and there is none here",
                           fix="try --backend interpreter, compile:sm_90 or evaluated:sm_90, or write --script "
                           "FILE for a machine with a GPU")
    return where


def _bundle(entry: CorpusEntry, folder: Path, *, backend: str, budget: float, time_limit: float,
            as_json: bool) -> int:
    """Write the folder; the exit status: 0 with a script that shows the finding or could not be run here, 1 with one
    that does not show it, 2 without one."""
    from tridiff.fuzz.cli.text import coloured, console, plain
    from tridiff.fuzz.report.bundle import write_bundle

    with console(errors=True).status(coloured("a bundle")) as status:
        made = write_bundle(entry, folder, backend=backend, seconds=budget, time_limit=time_limit,
                            told=lambda what: status.update(coloured(f"a bundle: {what}")))
    if as_json:
        print(json.dumps({"folder": str(folder), **msgspec.to_builtins(made)}))
    else:
        for name, what in made.files.items():
            print(plain(f"{folder / name}: {what}"))
        for name, why in made.missing.items():
            print(plain(f"no {name}: {why}"))
    return 2 if "bug.py" not in made.files else 1 if made.answer == "OK" else 0


def _script(entry: CorpusEntry, path: Path, *, subject: str, backend: str, whole: bool, time_limit: float,
            as_json: bool) -> int:
    """Write the script and hold what it says against the harness; the exit status."""
    harness = ""
    if runs_here(backend):
        harness = rerun(entry, subject=subject, backend=backend).outcome.verdict.value
    fails = Verdict(harness).failed if harness else None
    made = script(entry, subject=subject, backend=backend, length="any" if whole else "short", fails=fails,
                  time_limit=time_limit)
    _write(path, made.text)
    said = [f"wrote {path} ({made.lines} lines; run here: {made.ran.line}); run it with: python {path}"]
    ptx = None
    if made.assembly is not None:
        ptx = path.with_suffix(".ptx")
        command = made.assembly.command.replace(FILE, str(ptx))
        _write(ptx, comment(made.assembly))
        said.append(f"wrote {ptx} (PTX of {made.assembly.versions}); assemble it with: {command}")
    agreed, problem = agreement(harness, made)
    if problem:
        said.append(f"tridiff: {problem}")
    if as_json:
        print(json.dumps({
            "path": str(path), "lines": made.lines, "backend": made.backend, "answer": made.answer,
            "reason": made.ran.reason, "harness": harness or None, "agreed": agreed,
            "ptx": str(ptx) if ptx else None, "ptxas": made.assembly.command if made.assembly else None}))
    else:
        print("\n".join(said))
    return 0 if not problem else 1 if made.answer in ("BUG", "OK") else 2


def agreement(harness: str, made: Script) -> tuple[bool | None, str]:
    """(whether script and harness say the same, None where one of them could not be asked; what is wrong with that, or
    nothing). harness: the verdict's name, "" where it was not asked."""
    if not harness:
        return None, ""
    verdict = Verdict(harness)
    if verdict is Verdict.NOT_CHECKED:
        return None, ""
    expected = "BUG" if verdict.failed else "OK"
    if made.answer == expected:
        return True, ""
    shown = "does not show the finding" if verdict.failed else "shows a failure that the harness does not see"
    return (False if made.answer in ("BUG", "OK") else None), (
        f"the script {shown}: it says {made.ran.line}, the harness {harness}")


def _write(path: Path, text: str) -> None:
    with writing(path, fix="choose another file"):
        path.write_text(text)
