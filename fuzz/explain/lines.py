"""Which instructions a line of the source became, and back: from the locations that every stage carries."""

import re
from collections.abc import Callable, Iterable
from pathlib import PurePath

from tridiff.fuzz.explain.model import Function, Lines

Place = tuple[str, int]
"""File name without folders, and line."""

_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_FILE = re.compile(r'"([^"]*)":(\d+):\d+')
_NAMED = re.compile(r"#loc\d*")
_USED = re.compile(r"\bloc\((.*)\)")
_DBG = re.compile(r"!dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$", re.MULTILINE)
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(.*)$")
_INLINED = re.compile(r"inlined_at (\d+) (\d+)")
_CALLED = re.compile(r"@\[ (\S+):(\d+):\d+")
"""In the comment of a `.loc` line, where 3.6.0 says nothing else of callers."""
_SASS = re.compile(r'//## File "([^"]*)", line (\d+)')
_NO_CODE = re.compile(r"^\s*(?:\.|//|\$|\}|\{|\)|$|;|#|!)")


def places(name: str, text: str) -> list[frozenset[Place]]:
    """By line of a stage's text, the source lines that it comes from; callee and call site both count."""
    readers: dict[str, Callable[[str], list[frozenset[Place]]]] = {
        "source": _of_mlir, "ttir": _of_mlir, "ttgir": _of_mlir, "llir": _of_llvm, "ptx": _of_ptx, "sass": _of_sass}
    reader = readers.get(name)
    return reader(text) if reader else [frozenset() for _ in text.splitlines()]


def of_source(functions: Iterable[Function], texts: dict[str, str]) -> tuple[Lines, ...]:
    """For every line of the functions, the lines of each stage that it became; lines that became nothing are left
    out."""
    where: dict[Place, dict[str, list[int]]] = {}
    for stage, text in texts.items():
        for number, found in enumerate(places(stage, text), start=1):
            for place in found:
                where.setdefault(place, {}).setdefault(stage, []).append(number)
    result = []
    for function in functions:
        for line, text in enumerate(function.text.splitlines(), start=function.line):
            stages = where.get((_short(function.file), line))
            if stages:
                result.append(Lines(file=function.file, line=line, text=text,
                                    stages={stage: tuple(numbers) for stage, numbers in stages.items()}))
    return tuple(result)


def _short(file: str) -> str:
    return PurePath(file).name if not file.startswith("<") else file


def _of_mlir(text: str) -> list[frozenset[Place]]:
    defined = dict(_DEFINED.findall(text))
    known: dict[str, frozenset[Place]] = {}

    def of(said: str, depth: int = 0) -> frozenset[Place]:
        found = {(_short(file), int(line)) for file, line in _FILE.findall(said)}
        for name in _NAMED.findall(said) if depth < 20 else ():
            if name not in known:
                known[name] = frozenset()
                known[name] = of(defined.get(name, ""), depth + 1)
            found |= known[name]
        return frozenset(found)

    result = []
    for line in text.splitlines():
        used = _USED.search(line) if not line.startswith("#loc") else None
        result.append(of(used[1]) if used else frozenset())
    return result


def _of_llvm(text: str) -> list[frozenset[Place]]:
    nodes = {number: (kind, fields) for number, kind, fields in _NODE.findall(text)}

    def field(fields: str, name: str) -> str:
        found = re.search(rf'\b{name}: (?:!(\d+)|"([^"]*)"|(\d+))', fields)
        return next((one for one in found.groups() if one), "") if found else ""

    def file_of(number: str, depth: int = 0) -> str:
        kind, fields = nodes.get(number, ("", ""))
        if kind == "DIFile":
            return _short(field(fields, "filename"))
        behind = field(fields, "file") or field(fields, "scope")
        return file_of(behind, depth + 1) if behind and depth < 20 else ""

    def of(number: str, depth: int = 0) -> frozenset[Place]:
        kind, fields = nodes.get(number, ("", ""))
        if kind != "DILocation" or depth > 20:
            return frozenset()
        here = {(file_of(field(fields, "scope")), int(field(fields, "line") or 0))}
        caller = field(fields, "inlinedAt")
        return frozenset(here | of(caller, depth + 1)) if caller else frozenset(here)

    result = []
    for line in text.splitlines():
        used = _DBG.search(line) if not line.startswith(("!", "define")) else None
        result.append(of(used[1]) if used else frozenset())
    return result


def _of_ptx(text: str) -> list[frozenset[Place]]:
    files = {number: _short(name) for number, name in _PTX_FILE.findall(text)}
    now: frozenset[Place] = frozenset()
    result = []
    for line in text.splitlines():
        told = _LOC.match(line)
        if told:
            now = frozenset({(files.get(told[1], ""), int(told[2])), *(
                (files.get(file, ""), int(number)) for file, number in _INLINED.findall(told[3])), *(
                (_short(file), int(number)) for file, number in _CALLED.findall(told[3]))})
        result.append(frozenset() if told or _NO_CODE.match(line) else now)
    return result


def _of_sass(text: str) -> list[frozenset[Place]]:
    now: set[Place] = set()
    fresh = True
    result: list[frozenset[Place]] = []
    for line in text.splitlines():
        told = _SASS.search(line)
        if told:
            # A line for the callee is followed by one for its caller ("inlined at").
            place = (_short(told[1]), int(told[2]))
            now = {place} if fresh else now | {place}
            fresh = "inlined at" not in line
            if "inlined at" in line:
                inlined = re.search(r'inlined at "([^"]*)", line (\d+)', line)
                if inlined:
                    now |= {(_short(inlined[1]), int(inlined[2]))}
            result.append(frozenset())
            continue
        result.append(frozenset(now) if re.match(r"\s*/\*[0-9a-f]{4,}\*/", line) else frozenset())
    return result
