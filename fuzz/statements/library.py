"""Functions and classes that drawn programs call: every kind of parameter, argument and result."""

import re

from tridiff.fuzz.statements.records import SOURCES as RECORDS

_SOURCES = {
    "Point": """
class Point(NamedTuple):
    x: tl.tensor
    y: tl.tensor
""",
    "WIDTH": "WIDTH = tl.constexpr(7)\n",
    "CHOSEN": "CHOSEN = tl.constexpr(True)\n",
    "KIND": "KIND = tl.int64\n",
    "SIZES": "SIZES = tl.constexpr((3, 5, 9))\n",
    "doubled": """
@triton.constexpr_function
def doubled(n, plus=0):
    return 2 * n + plus
""",
    "summed": """
@triton.jit
def summed(a, b):
    return a + b
""",
    "taken": """
@triton.jit
def taken(a, b):
    return a - b
""",
    "with_defaults": """
@triton.jit
def with_defaults(a, b=3, c: tl.constexpr = 2):
    return a * c + b
""",
    "with_global_default": """
@triton.jit
def with_global_default(a, c: tl.constexpr = WIDTH):
    return a + c
""",
    "optional": """
@triton.jit
def optional(a, b=None):
    if b is None:
        return a
    else:
        return a + b
""",
    "both": """
@triton.jit
def both(a, b):
    return a + b, a - b
""",
    "nothing": """
@triton.jit
def nothing(a, b):
    c = a + b
    c += 1
""",
    "larger": """
@triton.jit
def larger(a, b):
    if a > b:
        return a
    return b
""",
    "larger_else": """
@triton.jit
def larger_else(a, b):
    c = a
    if a > b:
        c = a + a
        c = c - a
    else:
        return b
    return c
""",
    "middle": """
@triton.jit
def middle(a, b, c):
    if a > b:
        if a > c:
            return c
        else:
            return a
    else:
        if b > c:
            return b
    return c
""",
    "stepped": """
@triton.jit
def stepped(a, b):
    c = a + b
    c = c * 2
    if c > a:
        return c
    else:
        c = c - 1
    return c
""",
    "returned_number": """
@triton.jit
def returned_number(a):
    if a > 0:
        return 1
    else:
        return -1
""",
    "through_caller": """
@triton.jit
def through_caller(a, b):
    d = a
    if a > 0:
        d = larger(a, b)
    return d
""",
    "power": """
@triton.jit
def power(a, N: tl.constexpr):
    if N == 0:
        return a
    else:
        return power(a, N - 1) * a
""",
    "apart": """
@triton.jit(noinline=True)
def apart(a, b):
    return a * 2 + b
""",
    "apart_pair": """
@triton.jit(noinline=True)
def apart_pair(a, b):
    if a > b:
        return a, b
    return b, a
""",
    "applied": """
@triton.jit
def applied(f: tl.constexpr, a, b):
    return f(a, b)
""",
    "converted": """
@triton.jit
def converted(a, T: tl.constexpr):
    return a.to(T)
""",
    "total": """
@triton.jit
def total(a, *rest):
    c = a
    for i in tl.static_range(len(rest)):
        c = c + rest[i]
    return c
""",
    "difference": """
@triton.jit
def difference(pair):
    return pair[0] - pair[1]
""",
    "turned": """
@triton.jit
def turned(point):
    return Point(point.y, point.x)
""",
    "counted": """
@triton.jit
def counted(a, N: tl.constexpr):
    c = a
    for i in range(N):
        c += i
    return c
""",
    "waited": """
@triton.jit
def waited(a, b):
    n = 0
    while n < 3:
        a = a + b
        n += 1
    return a
""",
    "named": """
@triton.jit
def named(a, how: tl.constexpr):
    if how == "double":
        return a + a
    elif how == "same":
        return a
    else:
        return a - a
""",
    "annotated": """
@triton.jit
def annotated(a, b: tl.constexpr):
    tl.static_assert(b > 0, f"b is {b}")
    n: tl.constexpr = b * 2
    if n > 4 and b != 3:
        c = a + n
    else:
        c = a - n
    return c
""",
    "keyword_only": """
@triton.jit
def keyword_only(a, *, b, c: tl.constexpr = 4):
    return a * c - b
""",
    "first_unnamed": """
@triton.jit
def first_unnamed(a, /, b):
    return a - b
""",
    "last_unnamed": """
@triton.jit
def last_unnamed(a, b=3, /):
    return a - b
""",
    "Both": """
@tl.core._aggregate
class Both:
    a: tl.tensor
    b: tl.tensor

    @triton.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = b

    @triton.jit
    def total(self):
        return self.a + self.b

    @triton.jit
    def less(self, c):
        return Both(self.a - c, self.b)
""",
    "Sized": """
@tl.core._aggregate
class Sized:
    a: tl.tensor
    n: tl.constexpr

    @triton.constexpr_function
    def __init__(self, a, n):
        self.a = a
        self.n = tl.constexpr(n)

    @triton.jit
    def grown(self):
        return self.a + self.n
""",
} | RECORDS
NAMES = tuple(_SOURCES)
LIBRARY = "\n".join(_SOURCES.values())
"""All of them."""
HEAD = "from typing import NamedTuple\n\nimport triton\nimport triton.language as tl\n"


def _needed(text: str, found: dict[str, None]) -> None:
    for name in NAMES:
        if name not in found and re.search(rf"\b{name}\b", text):
            _needed(_SOURCES[name].replace(name, ""), found)
            found[name] = None


def definitions(text: str) -> str:
    """The head of a module that runs `text`: imports, and whatever it names with all that this needs."""
    found: dict[str, None] = {}
    _needed(text, found)
    return HEAD + "\n" + "\n".join(_SOURCES[name].lstrip("\n") for name in found) + "\n"
