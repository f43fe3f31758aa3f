"""An explanation as one self-contained page: no network, light and dark, source and stages side by side."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from tridiff.fuzz.explain.model import Explanation, Layout, Pass, Step, Written
from tridiff.fuzz.explain.text import step_line
from tridiff.fuzz.report import pictures
from tridiff.fuzz.report.html import LARGEST, digest, part, template

MOST_LINES = 3000
"""Lines of one stage, and of all differences of passes together."""

_FEWEST = 50

_LOCATION = re.compile(r' loc\((?:#loc\d*|"[^"]*"\(#loc\d*\))\)')
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class _Line:
    """A line of a stage. of: names of the source lines that it comes from."""

    number: int
    text: str
    of: str


@dataclass(frozen=True)
class _Stage:
    name: str
    title: str
    lines: tuple[_Line, ...]
    cut: int


@dataclass(frozen=True)
class _SourceLine:
    number: int
    text: str
    key: str
    ran: str
    became: str


@dataclass(frozen=True)
class _Group:
    """Steps of one source line. key: its name on the page."""

    line: int
    function: str
    text: str
    steps: tuple[tuple[Step, str], ...]


def page(one: Explanation) -> str:
    """The page's text. Where it would be too large, stages and passes are cut by half again and again."""
    most = MOST_LINES
    while True:
        made = _rendered(one, most)
        if len(made.encode()) <= LARGEST or most < _FEWEST:
            return made
        most //= 2


def _rendered(one: Explanation, most: int) -> str:
    style, program = part("page.css") + part("explained.css"), part("explained.js")
    policy = {"default-src": "'none'", "style-src": digest(style), "script-src": digest(program), "base-uri": "'none'",
              "form-action": "'none'"}
    keys = {(line.file, line.line): f"l{number}" for number, line in enumerate(one.stages.lines)}
    return template("explained.html.jinja").render(
        one=one, style=Markup(style), program=Markup(program), groups=_groups(one), stages=_stages(one, keys, most),
        policy="; ".join(f"{name} {value}" for name, value in policy.items()), functions=_functions(one, keys),
        outputs=[(written, _picture(one, written)) for written in one.memory.written if written.programs],
        inputs=_inputs(one), layouts=[(layout, _layout(layout)) for layout in one.stages.layouts],
        passes=_passes(one.stages.passes, most),
        tone="bad" if one.stages.problem or (one.element is not None and one.element.recorded) else "unknown",
        marks={True: "ok", False: "not ok", None: "open"})


def _groups(one: Explanation) -> list[_Group]:
    """The steps to the element, those of one line together."""
    found: list[_Group] = []
    for step in one.element.steps if one.element is not None else ():
        shown = (step, step_line(step))
        if found and (found[-1].line, found[-1].function) == (step.line, step.function):
            found[-1] = _Group(step.line, step.function, step.text, (*found[-1].steps, shown))
        else:
            found.append(_Group(step.line, step.function, step.text, (shown,)))
    return found


def _functions(one: Explanation, keys: dict[tuple[str, int], str]) -> list[tuple[str, list[_SourceLine]]]:
    ran = {(line.file, line.line): line.programs for line in one.memory.lines}
    became = {(line.file, line.line): ", ".join(f"{stage} {len(numbers)}" for stage, numbers in line.stages.items()
                                                if stage != "source") for line in one.stages.lines}
    found = []
    for function in one.source.functions:
        lines = []
        for number, text in enumerate(function.text.splitlines(), start=function.line):
            place = (function.file, number)
            lines.append(_SourceLine(number, text, keys.get(place, ""), str(ran.get(place, "")), became.get(place, "")))
        found.append((f"{function.role} {function.name}, {function.file}:{function.line}", lines))
    return found


def _stages(one: Explanation, keys: dict[tuple[str, int], str], most: int) -> list[_Stage]:
    origin: dict[tuple[str, int], list[str]] = {}
    for line in one.stages.lines:
        for name, numbers in line.stages.items():
            for number in numbers:
                origin.setdefault((name, number), []).append(keys[line.file, line.line])
    found = []
    for stage in one.stages.texts:
        texts = stage.text.expandtabs().splitlines()
        # Numbers are those of the text as it is; locations are what the two sides of the page are for.
        lines = tuple(_Line(number, _LOCATION.sub("", text), " ".join(origin.get((stage.name, number), ())))
                      for number, text in enumerate(texts[:most], start=1) if not text.startswith("#loc"))
        found.append(_Stage(stage.name, f"{stage.name}, {stage.lines} lines", lines, max(len(texts) - most, 0)))
    return found


def _picture(one: Explanation, written: Written) -> Markup:
    programs: dict[str, None] = {}
    for access in one.memory.table:
        if not access.operation.endswith(("load", "gather", "poll")):
            programs[str(access.program)] = None
    wrong, shape = -1, [written.elements]
    if one.element is not None and one.element.buffer == written.buffer:
        shape = _shape(one, written.buffer) or shape
        wrong = 0
        for index, extent in zip(one.element.index, shape, strict=False):
            wrong = wrong * extent + index
    return pictures.written(written.programs, list(programs), name=written.buffer, shape=shape, wrong=wrong)


def _inputs(one: Explanation) -> list[tuple[str, Markup]]:
    """Arrays that the program read, with the elements that went into the element's value. Numbers in memory."""
    read = one.program.read if one.program is not None else {}
    wanted: dict[str, set[int]] = {}
    for step in one.element.steps if one.element is not None else ():
        if step.operation == "load" and step.role == "value" and step.place:
            for name, number in map(_named, step.place.split(" ")):
                wanted.setdefault(name, set()).add(number)
    return [(name, pictures.read(numbers, wanted.get(name, set()), name=name,
                                 shape=_shape(one, name) or [max(numbers) + 1]))
            for name, numbers in read.items() if numbers]


def _named(place: str) -> tuple[str, int]:
    """"x[3]" as name and number; ("", 0) for a lane that is masked off."""
    found = re.fullmatch(r"(.*)\[(-?\d+)\]", place)
    return (found[1], int(found[2])) if found else ("", 0)


def _shape(one: Explanation, name: str) -> list[int]:
    """Of an array, as the arguments show it."""
    for argument in one.specialisation.arguments:
        if argument.name.removesuffix("_ptr") == name and "[" in argument.value:
            return [int(number) for number in _NUMBER.findall(argument.value.partition("[")[2])]
    return []


def _layout(layout: Layout) -> Markup:
    return pictures.held(layout.owners, name=layout.name, shape=layout.shape) if layout.owners else Markup("")


def _passes(passes: tuple[Pass, ...], most: int) -> list[Pass]:
    left, found = most, []
    for one in passes:
        left -= one.diff.count("\n")
        if one.changed and left > 0:
            found.append(one)
    return found
