"""Uniform registers that NVIDIA's machine code reads although no instruction has written them, on any way from the
kernel's first one: what an earlier kernel left there is used.

Uniform registers (UR0 to UR62, one value for the 32 lanes of a warp) are written by few instructions, whose operands
say how many they write. Ways are told by branches, convergence barriers and exits. A kernel with calls or indirect
branches is not followed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_LABEL = re.compile(r"^(\.L_\w+):")
_GUARD = re.compile(r"^@!?U?P\w+\s+")
_TARGET = re.compile(r"`\((\.L_\w+)\)")
_PREDICATE = re.compile(r"!?U?P(?:\d|T)$")
_REGISTER = re.compile(r"(?<![\w.])UR(\d+)(\.64|\.128)?")
_BETWEEN = re.compile(r",(?![^\[]*\])")
_WRITERS = ("U", "R2UR", "S2UR", "CS2UR", "VOTEU", "REDUX")
_ONLY_READ = ("UBLKCP", "UBLKRED", "UBLKPF", "UTMA", "USETMAXREG", "UCGABAR", "UISETP", "UFSETP", "UPLOP3")
"""Copies, and what is written to predicates alone."""
_LOST = ("BRX", "JMX", "BRXU", "CALL", "JMP")
"""Instructions behind which it is not known what runs."""
_WIDTH = {".64": 2, ".128": 4}
_VIRTUAL = re.compile(r"%[a-z]+\d+\b")
_PTX = re.compile(
    r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?(?P<name>[a-z]\w*)[\w.:]*\s+(?P<result>\{[^}]*\}|[^,;]+)[^;]*;")
_WITHOUT_RESULT = ("st", "red", "bra", "ret", "bar", "call", "cp", "mbarrier", "stmatrix", "fence", "prefetch")


@dataclass(frozen=True)
class _Step:
    """One instruction. follows: what may run next, None where that is not known."""

    text: str
    writes: frozenset[int]
    reads: frozenset[int]
    follows: tuple[int, ...] | None


def undefined_in(ptx: str) -> set[str]:
    """Registers of PTX that instructions read and none writes: lanes of which the compiler knew that nobody needs
    them, and which machine code may then read as it likes."""
    written, read = set[str](), set[str]()
    for line in ptx.splitlines():
        found = _PTX.match(line)
        if found is None or found["name"] in ("reg", "loc"):
            continue
        results = set() if found["name"] in _WITHOUT_RESULT else set(_VIRTUAL.findall(found["result"]))
        written |= results
        read |= set(_VIRTUAL.findall(line)) - results
    return read - written


def read_unwritten(code: str) -> tuple[str, ...] | None:
    """The instructions of disassembled machine code (`nvdisasm -c`) that read a uniform register before anything has
    written it; None for code that is not followed."""
    steps = list(_steps(code.splitlines()))
    if not steps or any(one.follows is None for one in steps):
        return None
    written: list[frozenset[int] | None] = [None] * len(steps)
    written[0] = frozenset()
    waiting = [0]
    while waiting:
        place = waiting.pop()
        behind = (written[place] or frozenset()) | steps[place].writes
        for following in steps[place].follows or ():
            known = written[following]
            if known is None or not behind <= known:
                written[following] = behind | (known or frozenset())
                waiting.append(following)
    return tuple(f"{step.text} (UR{register})" for step, known in zip(steps, written, strict=True) if known is not None
                 for register in sorted(step.reads) if register not in known)


def _steps(lines: Sequence[str]) -> Iterator[_Step]:
    texts: list[str] = []
    labels: dict[str, int] = {}
    for line in lines:
        if label := _LABEL.match(line):
            labels[label[1]] = len(texts)
        elif found := _INSTRUCTION.match(line):
            texts.append(found[1])
    for place, text in enumerate(texts):
        guard = _GUARD.match(text)
        operation, _, rest = text[guard.end() if guard else 0:].partition(" ")
        operands = [one.strip() for one in _BETWEEN.split(rest)] if rest else []
        first = _first_source(operation, operands)
        yield _Step(text, _written(operation, operands[:first]), frozenset(_read(operation, operands, first)), _follows(
            place, len(texts), operation, text, labels, guarded=guard is not None))


def _first_source(operation: str, operands: Sequence[str]) -> int:
    """Number of the first operand that is read: behind the predicates and the register that are written."""
    if not operation.startswith(_WRITERS) or operation.startswith(_ONLY_READ):
        return 0
    place = 0
    while place < len(operands) and _PREDICATE.match(operands[place]):
        place += 1
    return place + 1 if place < len(operands) and operands[place].startswith("UR") else 0


def _written(operation: str, results: Sequence[str]) -> frozenset[int]:
    found = _REGISTER.match(results[-1]) if results else None
    if found is None:
        return frozenset()
    double = ".64" in operation or ".WIDE" in operation or operation.startswith("CS2UR")
    width = 4 if ".128" in operation else 2 if double else 1
    return frozenset(range(int(found[1]), int(found[1]) + width))


def _read(operation: str, operands: Sequence[str], first: int) -> Iterator[int]:
    for place, operand in enumerate(operands[first:], first):
        if operation.startswith("UPRMT") and place == len(operands) - 1 and operand == operands[0]:
            continue  # bytes that stay what they are, whatever that is
        for found in _REGISTER.finditer(operand):
            width = 2 if "desc[" in operand else _WIDTH.get(found[2], 1)
            yield from range(int(found[1]), int(found[1]) + width)


def _follows(place: int, number: int, operation: str, text: str, labels: dict[str, int], *,
             guarded: bool) -> tuple[int, ...] | None:
    name = operation.partition(".")[0]
    following = (place + 1,) if place + 1 < number else ()
    target = _TARGET.search(text)
    there = (labels[target[1]],) if target and labels.get(target[1], number) < number else ()
    if name in _LOST or (name == "BRA" and not there):
        return None
    if name == "BRA":
        conditional = guarded or ".DIV" in operation or re.search(r"\sU?P\d,|\s!U?P\d,", text)
        return (*there, *following) if conditional else there
    if name in ("EXIT", "RET", "KILL"):
        return following if guarded else ()
    return (*following, *there)
