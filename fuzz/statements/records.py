"""Values of several parts: tuples, named tuples, aggregates and their heirs, as they are made, handed on, carried and
taken apart, every choice independent of the others; and operators that aggregates define.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_HEAD = "@tl.core._aggregate\nclass {name}{base}:\n"
_INIT = ("    @triton.constexpr_function\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n")
_METHODS = """
    @triton.jit
    def exchanged(self):
        return {name}(self.b, self.a)
"""
_LESS = """
    @triton.jit
    def less(self):
        return self.a - self.b
"""


@dataclass(frozen=True)
class Form:
    """A kind of record. make: from two tensors; parts: where they are; source: its class; less: what its method of
    that name gives, of a record; since: the first version that has it."""

    make: str
    parts: tuple[str, str]
    source: str = ""
    less: str = ""
    methods: bool = False
    unpacked: bool = False
    since: str = ""


FORMS: dict[str, Form] = {
    "pair": Form("({0}, {1})", ("{0}[0]", "{0}[1]"), unpacked=True),
    "nested": Form("({0}, ({1}, 3))", ("{0}[0]", "{0}[1][0]")),
    "Point": Form("Point({0}, {1})", ("{0}.x", "{0}.y"), unpacked=True),
    "Duo": Form("Duo({0}, {1})", ("{0}.a", "{0}.b"), methods=True, source=_HEAD.format(name="Duo", base="") + (
        "    a: tl.tensor\n    b: tl.tensor\n\n") + _INIT + _METHODS.format(name="Duo") + _LESS),
    "Scaled": Form("Scaled({0}, {1}, 3)", ("{0}.a", "{0}.b"), less="record.a * record.n - record.b", methods=True,
                   source=_HEAD.format(name="Scaled", base="") + (
        "    a: tl.tensor\n    b: tl.tensor\n    n: tl.constexpr\n\n"
        "    @triton.constexpr_function\n    def __init__(self, a, b, n):\n        self.a = a\n        self.b = b\n"
        "        self.n = tl.constexpr(n)\n\n"
        "    @triton.jit\n    def exchanged(self):\n        return Scaled(self.b, self.a, self.n)\n\n"
        "    @triton.jit\n    def less(self):\n        return self.a * self.n - self.b\n")),
    "Outer": Form("Outer(Duo({0}, {1}))", ("{0}.inner.a", "{0}.inner.b"), methods=True, source=_HEAD.format(
        name="Outer", base="") + "    inner: Duo\n\n" + (
        "    @triton.constexpr_function\n    def __init__(self, inner):\n        self.inner = inner\n\n"
        "    @triton.jit\n    def exchanged(self):\n        return Outer(self.inner.exchanged())\n\n"
        "    @triton.jit\n    def less(self):\n        return self.inner.less()\n")),
    # An heir without a constructor of its own, and one whose fields and constructor are others.
    "Heir": Form("Heir({0}, {1})", ("{0}.a", "{0}.b"), methods=True, since="3.8.0", source=_HEAD.format(
        name="Heir", base="(Duo)") + "    pass\n" + _METHODS.format(name="Heir")),
    "Further": Form("Further({0}, {1}, {1})", ("{0}.a", "{0}.c"), methods=True, since="3.8.0", source=_HEAD.format(
        name="Further", base="(Heir)") + "    c: tl.tensor\n\n" + (
        "    @triton.constexpr_function\n    def __init__(self, a, b, c):\n        self.a = a\n        self.b = b\n"
        "        self.c = c\n\n"
        "    @triton.jit\n    def exchanged(self):\n        return Further(self.c, self.b, self.a)\n")),
}
TURNS = ("text", "function", "apart", "method")
"""How the record with its parts exchanged is made: in the text, by a function, inlined or not, by a method."""
CARRIES = ("", "for", "while", "static", "branch", "both", "early")
TAKES = ("first", "second", "function", "apart", "method", "unpacked")
"""How a tensor is taken out of a record."""
_APART = "@triton.jit(noinline=True)"


def _made(form: Form, first: str, second: str) -> str:
    return form.make.format(first, second)


def _functions(name: str, form: Form) -> dict[str, str]:
    """What takes a record of a form and gives one, or a tensor: inlined, not inlined, with an early return."""
    first, second = (part.format("record") for part in form.parts)
    other = _made(form, second, first)
    low = name.lower()
    found = {f"exchanged_{low}": f"return {other}", f"difference_{low}": f"return {form.less or f'{first} - {second}'}"}
    made = {}
    for one, body in found.items():
        made[one] = f"@triton.jit\ndef {one}(record):\n    {body}\n"
        made[f"apart_{one}"] = f"{_APART}\ndef apart_{one}(record):\n    {body}\n"
    made[f"sorted_{low}"] = (f"@triton.jit\ndef sorted_{low}(record):\n    if {first} > {second}:\n"
                             f"        return record\n    return {other}\n")
    return made


OPERATORS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
COMPARED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
OWNERS = ("Number", "Plain", "Forward", "Backward")
"""Aggregates with operators: `Number`, and heirs of it that define none, those in front, the reflected ones."""
SIDES = (*OWNERS, "tensor")
_BESIDE = {"": "other.a", "Alone": "other"}
"""Of what is on the other side: another aggregate, or a tensor (classes whose name ends in Alone)."""


def _methods(words: dict[str, str], result: str) -> str:
    return "\n".join(f"    @triton.jit\n    def __{word}__(self, other):\n        return {result.format(symbol)}\n"
                     for symbol, word in words.items())


def _owners(ending: str) -> dict[str, str]:
    """The classes. What the reflected operators of `Backward` give, and its comparisons, have a type of their own:
    which of two methods is called shows when a kernel is compiled."""
    other = _BESIDE[ending]
    reflected = {symbol: f"r{word}" for symbol, word in OPERATORS.items()}
    bodies = {
        "Number": "    a: tl.tensor\n    b: tl.tensor\n\n" + _INIT + "\n" + "\n".join((
            _methods(OPERATORS | COMPARED, f"self.a {{}} {other}"), _methods(reflected, f"{other} {{}} self.b"))),
        "Plain": "    pass\n",
        "Forward": _methods(OPERATORS, f"self.b {{}} {other}"),
        "Backward": "\n".join((_methods(reflected, f"self.b < {other}"),
                               _methods(COMPARED, f"(self.b {{}} {other}).to(tl.int8)"))),
    }
    base = f"Number{ending}"
    return {owner + ending: _HEAD.format(name=owner + ending, base="" if owner == "Number" else f"({base})") + body
            for owner, body in bodies.items()}


SOURCES: dict[str, str] = {name: one.source for name, one in FORMS.items() if one.source}
for _name, _form in FORMS.items():
    SOURCES |= _functions(_name, _form)
SOURCES |= _owners("") | _owners("Alone")
"""Classes and functions by their names, each behind what it needs."""


def _turned(name: str, turn: str, record: str) -> str:
    """A record with its parts exchanged, as an expression."""
    form = FORMS[name]
    if turn == "method" and not form.methods:
        raise ValueError(f"{name} has no methods")
    first, second = (part.format(record) for part in form.parts)
    return {"text": _made(form, second, first), "function": f"exchanged_{name.lower()}({record})",
            "apart": f"apart_exchanged_{name.lower()}({record})", "method": f"{record}.exchanged()"}[turn]


def _carried(name: str, carry: str, turned: str, record: str, counter: str, condition: str) -> list[str]:
    """The lines in which the record is handed on."""
    again = f"    {record} = {turned}"
    return {
        "": [f"{record} = {turned}"],
        "for": [f"for {counter} in range(3):", again],
        "while": [f"{counter} = 0", f"while {counter} < 3:", again, f"    {counter} += 1"],
        "static": [f"for {counter} in tl.static_range(3):", again],
        "branch": [f"if {condition}:", again],
        "both": [f"if {condition}:", again, "else:", f"    {record} = {record}"],
        "early": [f"{record} = sorted_{name.lower()}({record})"],
    }[carry]


def _taken(name: str, take: str, record: str, result: str, rest: str) -> str:
    """The line that takes a tensor out."""
    form = FORMS[name]
    if (take == "method" and not form.methods) or (take == "unpacked" and not form.unpacked):
        raise ValueError(f"{name} has no {take}")
    first, second = (part.format(record) for part in form.parts)
    return {"first": f"{result} = {first}", "second": f"{result} = {second}", "method": f"{result} = {record}.less()",
            "function": f"{result} = difference_{name.lower()}({record})",
            "apart": f"{result} = apart_difference_{name.lower()}({record})",
            "unpacked": f"{result}, {rest} = {record}"}[take]


def passage(words: dict[str, str], operands: Sequence[str], names: Sequence[str]) -> list[str]:
    """A record made of two operands, handed on, and taken apart. words: form, turn, carry, take. names: of the result,
    the record, and a counter. KeyError or ValueError for a passage that does not exist."""
    name, (result, record, counter) = words["form"], names
    condition = operands[2] if needs_condition(words["carry"]) else ""
    if len(operands) != 2 + bool(condition):
        raise ValueError(f"{len(operands)} operands")
    turned = _turned(name, words["turn"], record)
    return [f"{record} = {_made(FORMS[name], operands[0], operands[1])}",
            *_carried(name, words["carry"], turned, record, counter, condition),
            _taken(name, words["take"], record, result, counter)]


def needs_condition(carry: str) -> bool:
    return carry in ("branch", "both")


def operated(left: str, right: str, symbol: str, operands: Sequence[str]) -> str:
    """An operator between two owners, or an owner and a tensor. ValueError for any other pair."""
    if symbol not in OPERATORS | COMPARED or not {left, right} <= {*SIDES} or left == right == "tensor":
        raise ValueError(f"no {left} {symbol} {right}")
    ending = "Alone" if "tensor" in (left, right) else ""
    a, b = operands
    first = a if left == "tensor" else f"{left}{ending}({a}, {b})"
    second = b if right == "tensor" else f"{right}{ending}({b}, {a})"
    return f"({first} {symbol} {second})"


def reflects(left: str, right: str, symbol: str) -> bool:
    """Whether Python asks the right side first: an heir of the left side's class with a reflected method of its own,
    for comparisons any heir; or the left side is a tensor, which knows no aggregates."""
    heir = left == "Number" and right in OWNERS[1:]
    return left == "tensor" or (heir and (symbol in COMPARED or right == "Backward"))


def since_operated(left: str, right: str, symbol: str) -> str:
    """The first version whose front end asks for the methods of aggregates as Python does."""
    if "tensor" in (left, right) or reflects(left, right, symbol):
        return "3.9.0"
    return "" if left == right == "Number" else "3.8.0"
