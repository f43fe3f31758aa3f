"""Ways through a PTX kernel.

Where instructions stand in the text says little about their order: LLVM may put the block behind a loop in front of it.
"""

import re

_LABEL = re.compile(r"^\s*([$\w]+):")
_BRANCH = re.compile(r"^\s*(@!?%?\w+\s+)?bra(?:\.uni)?\s+([$\w]+)\s*;")
_TABLE = re.compile(r"^\s*brx\.idx(?:\.uni)?\s+%?\w+,\s*([$\w]+)\s*;")
_END = re.compile(r"^\s*(@!?%?\w+\s+)?(?:ret|exit)\s*;")


def _labels(lines: list[str]) -> tuple[dict[tuple[int, str], int], list[tuple[int, ...]]]:
    """Lines of labels by their scope and name, and the scopes around every line, innermost first: inline assembly has
    labels of its own, many with the same name."""
    found: dict[tuple[int, str], int] = {}
    scopes: list[tuple[int, ...]] = []
    around: tuple[int, ...] = (0,)
    for number, line in enumerate(lines):
        word = line.strip()
        if word.startswith("{"):
            around = (number + 1, *around)
        scopes.append(around)
        if label := _LABEL.match(line):
            found[around[0], label[1]] = number
        if word == "}" and len(around) > 1:
            around = around[1:]
    return found, scopes


def _next(lines: list[str]) -> list[tuple[int, ...]]:
    """By line, the lines that may come next; none behind an end."""
    labels, scopes = _labels(lines)

    def place(number: int, name: str) -> int:
        return next((labels[scope, name] for scope in scopes[number] if (scope, name) in labels), number + 1)

    following: list[tuple[int, ...]] = []
    for number, line in enumerate(lines):
        if branch := _BRANCH.match(line):
            behind = (number + 1,) if branch[1] else ()
            following.append((place(number, branch[2]), *behind))
        elif table := _TABLE.match(line):
            _, _, listed = "\n".join(lines[place(number, table[1]):]).partition(".branchtargets")
            names = re.findall(r"[$\w]+", listed.partition(";")[0])
            following.append(tuple(place(number, name) for name in names))
        elif (end := _END.match(line)) and not end[1]:
            following.append(())
        else:
            following.append((number + 1,))
    return following


def leads(ptx: str, first: re.Pattern[str], *, past: re.Pattern[str], to: re.Pattern[str] | None = None) -> bool:
    """Whether some way leads from a line that `first` matches to one that `to` matches, or without it to the end of the
    kernel, and meets no line that `past` matches."""
    lines = [*ptx.splitlines(), "ret;"]
    starts = [number for number, line in enumerate(lines) if first.match(line)]
    if not starts:
        return False
    following = _next(lines)
    ahead = [one for number in starts for one in following[number]]
    seen: set[int] = set()
    while ahead:
        number = ahead.pop()
        if number in seen or past.match(lines[number]):
            continue
        seen.add(number)
        if not following[number] if to is None else to.match(lines[number]):
            return True
        ahead += following[number]
    return False
