"""Words that changed statements share with the texts of kernels: names, keywords and kinds of syntax, and their parts.

A visitor's methods are named by the syntax that they visit, and what a branch is for stands in its condition.
"""

import ast
import collections
import contextlib
import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

SHORTEST = 3
ABOVE = 4
"""Lines above a statement in which a comment is about it."""
INSIDE = 3
"""Statements under a condition that say what it is about."""
SHARING = 8
"""Functions that name a member, beyond which it tells nothing of a change."""
APART = 4
"""How much more what one text of a statement alone says has to do with the change than what both say."""
SMALL = 8
"""Words of what differs in a statement, up to which it is one small part of that."""
_SYNTAX = {"getitem": "Subscript Slice", "iter": "For ListComp", "enter": "With", "exit": "With", "mul": "Mult",
           "truediv": "Div", "and": "BitAnd", "or": "BitOr", "xor": "BitXor", "neg": "USub", "pos": "UAdd",
           "ne": "NotEq", "le": "LtE", "ge": "GtE", "floordiv": "FloorDiv", "lshift": "LShift", "rshift": "RShift"}
"""By special method, without its underscores and the r of a reflected one, the kinds of syntax that call it where
these have other names."""
_OPERATORS = frozenset(one.__name__.lower() for base in (ast.operator, ast.unaryop, ast.cmpop)
                       for one in base.__subclasses__())
_CAPITAL = re.compile(r"[A-Z]+[a-z]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*|(?<![\w.])\d{3,}(?![\w.])")
"""Names, and whole numbers of which few texts have the same."""
_CONSTANT = re.compile(r"^([A-Za-z_]\w*) = (\d{3,})$", re.M)


def of_text(text: str) -> set[str]:
    """The words of a kernel's text; of one that is no Python, those in it."""
    return parts({*_WORD.findall(text), *_syntax(text)})


def kinds(name: str) -> set[str]:
    """Kinds of syntax that a function is for, in small letters: visitors and operators have their names."""
    last = name.rpartition(".")[2]
    special = last.strip("_")
    found = {last.removeprefix("visit_")} if last.startswith("visit_") else set[str]()
    if last.startswith("__"):
        for one in (special, special[1:] if special.startswith("r") else ""):
            found |= set(_SYNTAX.get(one, one if one in _OPERATORS else "").split())
    return {one.lower() for one in found}


def helps(name: str) -> bool:
    """Whether a function is one of visitors, and for no kind of syntax itself."""
    return name.startswith("visit_") and not hasattr(ast, name.removeprefix("visit_"))


def share(text: str, among: Collection[str]) -> float:
    """How much of a text's syntax is of these kinds, the root of its part: the first use says most. Nothing of one
    that is no Python."""
    found = _syntax(text)
    return math.sqrt(sum(number for kind, number in found.items() if kind.lower() in among) / max(found.total(), 1))


@lru_cache(maxsize=1)  # a text is asked for its words, and then for its share
def _syntax(text: str) -> collections.Counter[str]:
    """How often each kind of syntax is in a text; nothing for one that is no Python. That a name is read says nothing:
    every text has a `Load`."""
    found: dict[type[ast.AST], int] = {}
    with contextlib.suppress(SyntaxError, ValueError):
        # `ast.walk` takes three times as long, and a gate begins when thousands of texts have been read.
        waiting: list[ast.AST] = [ast.parse(text)]
        while waiting:
            node = waiting.pop()
            sort = node.__class__
            found[sort] = found.get(sort, 0) + 1
            for field in sort._fields:
                value = getattr(node, field, None)
                for one in value if value.__class__ is list else (value,):
                    if isinstance(one, ast.AST) and not isinstance(one, ast.expr_context):
                        waiting.append(one)
    return collections.Counter({sort.__name__: number for sort, number in found.items()})


def of_change(name: str, old: ast.AST, new: ast.AST | None, ways: Iterable[str], source: str = "",
              known: Mapping[str, ast.AST] | None = None) -> list[str]:
    """The words of a function's name and of its class's, of the statements to which the ways lead in either text of
    it, of those inside of them only the first under a condition, and of what these stand under. Those that one text
    alone has count APART times, and so do those of what differs where that is one small part of a statement. source:
    the file of the old one, in which comments in and above those statements say what they are for. known: its functions
    by name, of which statements call some. The values of constants are words too."""
    *around, last = name.split(".")
    special = last.strip("_")
    reflected = special[1:] if last.startswith("__r") else ""
    lines = [last, *around, *_CAPITAL.findall(" ".join(around)), _SYNTAX.get(special, ""), _SYNTAX.get(
        reflected, reflected)]
    told: dict[bool, list[str]] = {True: [], False: []}
    close = set[str]()
    for way, whole in itertools.product(ways, (old, new)):
        *under, node = _along(whole, way)
        told[whole is old] += map(_head, (*under[1:], node))
        if whole is old:
            small = parts(_WORD.findall(_apart(node, _along(new, way)[-1])))
            close |= small if len(small) <= SMALL else set()
        if isinstance(node, ast.If):  # what stands under a condition says what it is about
            told[whole is old] += map(_head, (*node.body[:INSIDE], *node.orelse[:INSIDE]))
        if isinstance(node, ast.stmt) and whole is old:
            about = source.splitlines()[max(node.lineno - ABOVE, 0):node.end_lineno]
            lines += [one.partition("#")[2] for one in about]
            lines += _called(node, known or {})
        if isinstance(node, ast.stmt):
            lines += _sharing(node, known or {})
    values = dict(_CONSTANT.findall(source))  # what stands behind a limit's name stands in texts as a number
    lines += [values[one] for one in {*_WORD.findall(" ".join(told[True] + told[False]))} & values.keys()]
    own, before, now = (parts(_WORD.findall(" ".join(some))) for some in (lines, *told.values()))
    # A statement that is gone is not the next one in other words.
    apart = close | (before ^ now if len(before ^ now) < len(before & now) else set())
    return sorted([*own | before | now] + [*apart] * (APART - 1))


def _along(whole: ast.AST | None, way: str) -> list[ast.AST]:
    """The nodes on a way ("body.2.orelse.0") through one, itself first; where it leads nowhere, empty ones."""
    steps, found = way.split("."), [whole or ast.Module([], [])]
    for field, number in zip(steps[::2], steps[1::2], strict=True):
        found.append(dict(enumerate(getattr(found[-1], field, ()))).get(int(number), ast.Module([], [])))
    return found


def _apart(old: ast.AST, new: ast.AST, name: str = "") -> str:
    """What differs of two texts of a statement, as small as it is one part of it, with the name by which it is given;
    nothing where all of it does. name: that of an argument around them."""
    while type(old) is type(new) and not isinstance(old, ast.Attribute | ast.Name | ast.Constant):
        pairs = list(itertools.zip_longest(ast.iter_child_nodes(old), ast.iter_child_nodes(new)))
        differing = [(one, two) for one, two in pairs if not (one and two and ast.dump(one) == ast.dump(two))]
        if len(differing) != 1 or None in differing[0]:
            break
        (old, new), = differing
        name = getattr(old, "arg", None) or name
    return "" if isinstance(old, ast.stmt) else f"{ast.unparse(old)} {ast.unparse(new)} {name}"


def _called(node: ast.stmt, known: Mapping[str, ast.AST]) -> list[str]:
    """The first statements of the function that a statement calls, and that is all of it."""
    call = node.value if isinstance(node, ast.Expr) else None
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    inside = ast.walk(known[name]) if name in known else ()
    return [_head(one) for one in inside if isinstance(one, ast.stmt) and one is not known[name]][:2 * INSIDE]


def _sharing(node: ast.stmt, known: Mapping[str, ast.AST]) -> Iterator[str]:
    """The kinds of syntax whose visitors have to do with a member that a statement names, where these are few."""
    for member in _members(node):
        sharing = [name.rpartition(".")[2] for name, one in known.items() if member in _members(one)]
        if len(sharing) <= SHARING:
            yield from (one.removeprefix("visit_") for one in sharing if one.startswith("visit_") and not helps(one))


@lru_cache(maxsize=1024)  # every change of a file asks all of its functions
def _members(node: ast.AST) -> frozenset[str]:
    return frozenset(one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute))


def _head(node: ast.AST) -> str:
    """The first line of a statement."""
    return ast.unparse(node).partition("\n")[0]


def parts(words: Iterable[str]) -> set[str]:
    """Words and what underscores or capitals join in them, in small letters."""
    return {part.lower() for word in words for part in (word, *word.split("_"), *_CAPITAL.findall(word))
            if len(part) >= SHORTEST}
