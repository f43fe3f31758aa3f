"""`tridiff explain`: what became of a kernel, and how one element came about."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tridiff.fuzz.backends import ARCHITECTURES
from tridiff.fuzz.builds import resolve
from tridiff.fuzz.cli.options import SavedFindings, TritonBuild
from tridiff.fuzz.cli.text import plain
from tridiff.fuzz.corpus.installed import DEFAULT
from tridiff.fuzz.corpus.store import MAX_BYTES, Corpus
from tridiff.fuzz.errors import TridiffError, writing
from tridiff.fuzz.explain.children import ask_interpreter
from tridiff.fuzz.explain.explain import What, Wish, explain, request
from tridiff.fuzz.explain.model import STAGES, Explanation
from tridiff.fuzz.explain.own import own_kernel, program_of
from tridiff.fuzz.explain.request import Element
from tridiff.fuzz.explain.text import overview
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.codec import decode
from tridiff.fuzz.records.reading import read_bytes

EXAMPLES = """**Examples**

`tridiff explain value-1f2e3d4c5b` : source, arguments, memory, the wrong element, stages, checks, what to type next

`tridiff explain 1f2e3d4c5b --html page.html` : the same as a page, with pictures

`tridiff explain 1f2e3d4c5b --stage ptx` : the text of one stage; `--passes` : what each pass of the compiler changes

`tridiff explain 1f2e3d4c5b --against num_warps=8` : what differs; also specialisation, unaligned, arch=sm_80,
triton=3.6.0, subject=inductor, n=64 (an argument), edited.ttgir

`tridiff explain 1f2e3d4c5b --element 'out[0, 5]'` : how another element came about

`tridiff explain 1f2e3d4c5b --pdb --program 2,0,0` : stop in the debugger at the first line of a program

`tridiff explain add.py:add --args 'x=fp32[1000] y=fp32[1000]=iota out=fp32[1000]=out n=1000 BLOCK=256' --grid 4` : a
kernel of your own
"""

_ELEMENT = re.compile(r"([A-Za-z_][\w.]*)\[([\d, ]*)\]")


def explain_command(
    what: Annotated[str, typer.Argument(help="Entry id, its unique beginning, its digest, a file with an entry or a "
                                             "case, or FILE.py:kernel.")],
    args: Annotated[str, typer.Option(help="Of your own kernel: its arguments, as 'x=fp32[1000] n=1000'.")] = "",
    grid: Annotated[str, typer.Option(help="Of your own kernel: its grid, as 4 or 4,2.")] = "",
    options: Annotated[str, typer.Option(help="Of your own kernel: compile options, as num_warps=8.")] = "",
    subject: Annotated[str, typer.Option(help="Explain this subject instead of the entry's.")] = "",
    arch: Annotated[str, typer.Option(help=f"What to compile for: {', '.join(ARCHITECTURES)}.")] = "sm_90",
    triton: TritonBuild = "",
    launch: Annotated[int, typer.Option(help="Which of several launches; default the one that is wrong.")] = -1,
    stage: Annotated[str, typer.Option(help=f"Print one stage alone: {', '.join(STAGES)}.")] = "",
    passes: Annotated[bool, typer.Option("--passes", help="What each pass of the compiler changes.")] = False,
    against: Annotated[list[str] | None, typer.Option(help="Compare the stages with another setting.")] = None,
    element: Annotated[str, typer.Option(help="An element such as 'out[0, 5]'; default the first wrong one.")] = "",
    program: Annotated[str, typer.Option(help="A program such as 2,0,0; default the one that wrote the element.")] = "",
    pdb: Annotated[bool, typer.Option("--pdb", help="Stop in the debugger at the program's first line.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page here.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write every stage into this folder.")] = None,
    corpus: SavedFindings = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
) -> None:
    """Explain a kernel: source, arguments, stages, memory, and how one element came about.

    Nothing here needs a GPU. Exit status: 0 explained, 2 nothing could be found out.
    """
    if arch not in ARCHITECTURES:
        raise TridiffError(f"nothing is compiled for {arch[:40]!r}", fix=f"use one of {', '.join(ARCHITECTURES)}")
    if stage and stage not in STAGES:
        raise TridiffError(f"there is no stage {stage[:40]!r}", fix=f"use one of {', '.join(STAGES)}")
    found = _own(what, args, grid, options) if ".py:" in what else _what(what, Corpus(corpus), subject)
    if found.own is None and (args or grid or options):
        raise TridiffError("--args, --grid and --options describe a launch of your own kernel",
                           fix="name it as FILE.py:kernel; an entry has its own launch")
    wish = Wish(arch=arch, build=resolve(triton) if triton else None, launch=launch,
                passes=passes or html is not None,
                program=program_of(program, option="--program") if program else None, element=_element(element),
                against=tuple(against or ()), interpret=not stage)
    if pdb:
        answer = ask_interpreter(msgspec.structs.replace(request(found, wish), debug=True), build=wish.build)
        if answer.problem:
            raise TridiffError(answer.problem, fix=answer.fix)
        return
    made = explain(found, wish)
    if save is not None:
        _save(made, save)
    if html is not None:
        from tridiff.fuzz.report.explained import page

        text = page(made)
        with writing(html, fix="choose another file"):
            html.write_text(text)
        print(f"wrote {html}")
    elif as_json:
        print(msgspec.json.encode(made).decode())
    elif stage:
        _print_stage(made, stage)
    else:
        print(plain(overview(made).expandtabs()), end="")


def _own(text: str, args: str, grid: str, options: str) -> What:
    given = "".join(f" {option} {shlex.quote(value)}" for option, value in (
        ("--args", args), ("--grid", grid), ("--options", options)) if value)
    return What(named=text, own=own_kernel(text, args=args, grid=grid, options=options), own_options=given)


def _what(text: str, store: Corpus, subject: str) -> What:
    if text.endswith(".json") and Path(text).is_file():
        data = read_bytes(Path(text), most=MAX_BYTES, source=text)
        if b'"signature"' not in data:
            return What(named=text, case=decode(data, Case, source=text), subject=subject or "own")
    entry = store.find(text)
    return What(named=text, case=entry.case, entry=entry, subject=subject or entry.signature.subject)


def _element(text: str) -> Element | None:
    if not text:
        return None
    match = _ELEMENT.fullmatch(text.strip())
    if not match:
        raise TridiffError(f"{text[:60]!r} is no element", fix="write an array and an index, such as 'out[0, 5]'")
    return Element(buffer=match[1], index=tuple(int(one) for one in match[2].split(",") if one.strip()))


def _print_stage(made: Explanation, stage: str) -> None:
    text = made.stages.text(stage)
    if not text:
        raise TridiffError(f"there is no {stage} for {made.stages.arch}: {made.stages.problem or 'not made'}",
                           fix=f"choose among {', '.join(one.name for one in made.stages.texts) or 'no stage'}")
    print(plain(text.expandtabs()))


def _save(made: Explanation, folder: Path) -> None:
    with writing(folder, fix="choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        for one in made.stages.texts:
            (folder / f"kernel.{one.name}").write_text(one.text)
        for number, step in enumerate(one for one in made.stages.passes if one.changed):
            (folder / f"pass-{number:02}-{step.name}.diff").write_text(step.diff)
