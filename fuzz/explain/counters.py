"""How many instructions of a kind the stages have."""

import re
from collections import Counter

_GLOBAL = re.compile(r"\b(ld|st)\.((?:\w+\.)*?)(global|shared|local|param)((?:[.:]+\w+)*)")
_WIDTH = re.compile(r"\.([vxbusf])(\d+)")
_SASS = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", re.MULTILINE)
_ATOMIC = re.compile(r"\b(?:atom|red)\.(?:\w+\.)*?(global|shared)?[\w.:]*")
_OPCODES = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "BAR", "ATOM", "ATOMG", "RED", "HMMA", "HGMMA", "UTMALDG")
"""Opcodes that are counted one by one."""

_ORDER = re.compile(r"\.(relaxed|acquire|release|acq_rel)\b")
_WORDS = {
    "barrier": re.compile(r"\b(?:bar\.sync|barrier\.sync|bar\.warp)"), "mbarrier": re.compile(r"\bmbarrier\.\w+"),
    "fence": re.compile(r"\b(?:membar|fence)\."), "division": re.compile(r"^\s*(?:@!?%\w+\s+)?div\.", re.MULTILINE),
    "remainder": re.compile(r"^\s*(?:@!?%\w+\s+)?rem\.", re.MULTILINE), "flush to zero": re.compile(r"\.ftz\b"),
    "fused multiply-add": re.compile(r"\bfma\."),
    "tensor core": re.compile(r"\b(?:wgmma\.mma_async|mma\.sync|tcgen05\.mma)"),
    "asynchronous copy": re.compile(r"\bcp\.async"), "shuffle": re.compile(r"\bshfl\."),
    "assertion": re.compile(r"\bcall\b[^;]*__assertfail", re.DOTALL), "call": re.compile(r"^\s*call", re.MULTILINE),
}


def counted(texts: dict[str, str]) -> dict[str, int]:
    """Counts by "stage what", of PTX and machine code; what does not occur is left out."""
    found: Counter[str] = Counter()
    ptx = texts.get("ptx", "")
    for line in ptx.splitlines():
        if access := _GLOBAL.search(line):
            if access[3] == "param":
                continue
            what = "load" if access[1] == "ld" else "store"
            found[f"ptx {what} {access[3]} {access_bytes(access[4])} B"] += 1
        elif atomic := _ATOMIC.search(line):
            order = _ORDER.search(atomic[0])
            found[f"ptx atomic {order[1] if order else 'relaxed'}"] += 1
    for name, pattern in _WORDS.items():
        number = len(pattern.findall(ptx))
        if number:
            found[f"ptx {name}"] = number
    for name in _SASS.findall(texts.get("sass", "")):
        found["sass instructions"] += 1
        head = name.split(".")[0]
        if head in _OPCODES:
            found[f"sass {head}"] += 1
    return dict(sorted(found.items()))


def access_bytes(suffix: str) -> int:
    """Bytes that one instruction moves, by the end of its name: ".v4.b32" is 16."""
    number, size = 1, 0
    for letter, digits in _WIDTH.findall(suffix):
        if letter == "v" and size == 0:
            number = int(digits)
        elif letter in "bufs" and int(digits) in (8, 16, 32, 64, 128):
            size = int(digits) // 8
    return number * (size or 4)
