"""How each construct is written. What stands in the text comes from the tables here: a word of a case only chooses."""

import re
from collections.abc import Callable

from tridiff.fuzz.statements import records
from tridiff.fuzz.statements.idioms import IDIOMS
from tridiff.kernels.language.script import Node
from tridiff.kernels.pointwise.record import TRITON_NAMES

BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
UNARY = ("-", "+", "~", "not ")
FUNCTIONS = ("tl.where", "tl.minimum", "tl.maximum", "min", "max", "tl.to_tensor")
FOLDS = ("tl.sum", "tl.max", "tl.min")
INDICES = ("[None]", "[:]", "[None, :]", "[:, None]", "[None, None]", "[:, None, :]", "[:, :]", "[None, :, :]",
           "[:, :, None]")
TYPES_OF = (".dtype", ".type.scalar", ".type.element_ty")
LOOPS = ("range", "tl.range", "tl.static_range")
HINTS = ("num_stages", "loop_unroll_factor", "flatten", "disallow_acc_multi_buffer", "warp_specialize", "disable_licm")
_NAME = re.compile(r"^[a-zA-Z]{1,12}\d{0,2}\Z")
_NUMBER = re.compile(r'^(True|False|None|-?\d{1,20}|-?\d{1,20}\.\d{1,20}(e-?\d{1,3})?)\Z')

Written = Callable[[Node], str]
Lines = Callable[[Node], list[str]]


def choice(node: Node, word: str, table: tuple[str, ...]) -> str:
    """A word of the node that a table has; ValueError for any other."""
    value = node.word(word)
    if value not in table:
        raise ValueError(f"{node.row}: {word} is {value!r}")
    return value


def name(node: Node, word: str = "name") -> str:
    """A variable's name."""
    value = node.word(word)
    if not _NAME.match(value):
        raise ValueError(f"{node.row}: no name {value!r}")
    return value


def number(node: Node, word: str = "value") -> str:
    """A literal, in brackets where it has a sign."""
    value = node.word(word)
    if not _NUMBER.match(value):
        raise ValueError(f"{node.row}: no number {value!r}")
    return f"({value})" if value.startswith("-") else value


def expression(node: Node) -> str:
    """An expression as source."""
    return EXPRESSIONS[node.row](node)


def expressions(nodes: tuple[Node, ...]) -> list[str]:
    return [expression(one) for one in nodes]


def statements(nodes: tuple[Node, ...]) -> list[str]:
    """Statements as lines of source; `pass` for none."""
    return [line for node in nodes for line in STATEMENTS[node.row](node)] or ["pass"]


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _binary(node: Node) -> str:
    left, right = expressions(node.parts)
    return f"({left} {choice(node, 'op', BINARY)} {right})"


def _compare(node: Node) -> str:
    operands = expressions(node.parts)
    symbols = node.word("op").split()
    if len(symbols) != len(operands) - 1 or not set(symbols) <= {*COMPARISONS}:
        raise ValueError(f"no comparison {symbols}")
    return f"({operands[0]} " + " ".join(f"{symbol} {one}" for symbol, one in zip(
        symbols, operands[1:], strict=True)) + ")"


def _cast(node: Node) -> str:
    (x,) = expressions(node.parts)
    to = TRITON_NAMES[node.word("to")]
    keyword = ", bitcast=True" if node.words.get("bitcast") else ""
    return f"tl.cast({x}, {to}{keyword})" if node.words.get("function") else f"{x}.to({to}{keyword})"


def _like(node: Node) -> str:
    x, other = expressions(node.parts)
    return f"{x}.to({other}{choice(node, 'by', TYPES_OF)})"


def _call(node: Node) -> str:
    function = choice(node, "function", FUNCTIONS)
    # 3.6.0 has it under this name alone.
    written = "tl.core.to_tensor" if function == "tl.to_tensor" else function
    return f"{written}({', '.join(expressions(node.parts))})"


def _fold(node: Node) -> str:
    (x,) = expressions(node.parts)
    axis = f", {int(node.words['axis'])}" if "axis" in node.words else ""
    return f"{choice(node, 'function', FOLDS)}({x}{axis})"


def _logic(node: Node) -> str:
    return "(" + f" {choice(node, 'op', ('and', 'or'))} ".join(expressions(node.parts)) + ")"


def _ternary(node: Node) -> str:
    condition, then, otherwise = expressions(node.parts)
    return f"({then} if {condition} else {otherwise})"


def _is_none(node: Node) -> str:
    (x,) = expressions(node.parts)
    return f"({x} is{' not' if node.words.get('negated') else ''} None)"


def _tuple(node: Node) -> str:
    inside = ", ".join(expressions(node.parts))
    return f"[{inside}]" if node.words.get("list") else f"({inside}{',' if len(node.parts) == 1 else ''})"


def _item(node: Node) -> str:
    return f"{expression(node.parts[0])}[{int(node.words['place'])}]"


def _length(node: Node) -> str:
    return f"len({expression(node.parts[0])})"


def _idiom_text(node: Node) -> str:
    one = IDIOMS[node.word("name")]
    names = node.word("names").split()
    if len(names) != (3 if one.is_statement else 0) or not all(_NAME.match(part) for part in names):
        raise ValueError(f"names {names}")
    if len(node.parts) != len(one.parts):
        raise ValueError(f"{node.word('name')} has {len(one.parts)} operands")
    return one.text.format(*expressions(node.parts), **dict(zip("rsi", names, strict=False)))


def idiom_lines(node: Node) -> list[str]:
    """A passage of statements."""
    return _idiom_text(node).splitlines()


def record_lines(node: Node) -> list[str]:
    """A record that is made, handed on and taken apart."""
    names = node.word("names").split()
    if len(names) != 3 or not all(_NAME.match(part) for part in names):
        raise ValueError(f"names {names}")
    words = {word: node.word(word) for word in ("form", "turn", "carry", "take")}
    return records.passage(words, expressions(node.parts), names)


def _operated(node: Node) -> list[str]:
    """An operator that an aggregate defines."""
    return [f"{name(node)} = " + records.operated(node.word("left"), node.word("right"), node.word("op"),
                                                  expressions(node.parts))]


def _invoke(node: Node) -> str:
    """A call of a drawn function; its last arguments may be given by name, in any order."""
    given = node.word("keywords").split()
    if not set(given) <= {"a1", "a2", "a3"}:
        raise ValueError(f"no parameters {given}")
    arguments = expressions(node.parts)
    plain = arguments[:len(arguments) - len(given)]
    named = [f"{word}={one}" for word, one in zip(given, arguments[len(plain):], strict=True)]
    return f"{name(node)}({', '.join([*plain, *named[::-1]])})"


EXPRESSIONS: dict[str, Written] = {
    "name": name, "number": number, "binary": _binary, "compare": _compare, "cast": _cast, "like": _like,
    "call": _call, "fold": _fold, "logic": _logic, "ternary": _ternary, "is_none": _is_none, "tuple": _tuple,
    "item": _item, "length": _length, "idiom": _idiom_text, "invoke": _invoke,
    "unary": lambda node: f"({choice(node, 'op', UNARY)}{expression(node.parts[0])})",
    "index": lambda node: f"{expression(node.parts[0])}{choice(node, 'index', INDICES)}",
    "walrus": lambda node: f"({name(node)} := {expression(node.parts[0])})",
    "extent": lambda node: f"{expression(node.parts[0])}.shape[{int(node.words['axis'])}]",
}
"""Expressions by row."""


def _assign(node: Node) -> list[str]:
    annotation = {"": "", "constexpr": ": tl.constexpr"}[node.word("annotation")]
    text = expression(node.parts[0])
    if node.words.get("apart"):
        return [f"{name(node)}{annotation}", f"{name(node)} = {text}"]
    return [f"{name(node)}{annotation} = {text}"]


def _augment(node: Node) -> list[str]:
    return [f"{name(node)} {choice(node, 'op', BINARY)}= {expression(node.parts[0])}"]


def _unpack(node: Node) -> list[str]:
    names = [f"{one}" for one in node.word("names").split()]
    if not names or not all(_NAME.match(one) for one in names):
        raise ValueError(f"no names {names}")
    return [f"{', '.join(names)}{',' if len(names) == 1 else ''} = {expression(node.parts[0])}"]


def _if(node: Node) -> list[str]:
    condition, then, *rest = node.parts
    lines = [f"if {expression(condition)}:", *indented(statements(then.parts))]
    if rest:
        otherwise = rest[0].parts
        if node.words.get("elif") and len(otherwise) == 1 and otherwise[0].row == "if":
            inner = _if(otherwise[0])
            return [*lines, "el" + inner[0], *inner[1:]]
        lines += ["else:", *indented(statements(otherwise))]
    return lines


def _for(node: Node) -> list[str]:
    *bounds, body = node.parts
    hints = [f"{hint}={node.words[hint]}" for hint in HINTS if hint in node.words]
    inside = ", ".join([*expressions(tuple(bounds)), *hints])
    return [f"for {name(node)} in {choice(node, 'loop', LOOPS)}({inside}):", *indented(statements(body.parts))]


def _while(node: Node) -> list[str]:
    condition, body = node.parts
    text = expression(condition)
    if node.words.get("wrapped"):
        text = f"tl.condition({text}, disable_licm=True)"
    return [f"while {text}:", *indented(statements(body.parts))]


def _asserted(node: Node) -> list[str]:
    return {"assert": [f'assert {expression(node.parts[0])}, "does not hold"'],
            "device": [f'tl.device_assert({expression(node.parts[0])}, "does not hold")'],
            "static": [f'tl.static_assert({expression(node.parts[0])}, "does not hold")']}[node.word("kind")]


def _define(node: Node) -> list[str]:
    (body,) = node.parts
    parameters = node.word("parameters").split()
    if not set(parameters) <= {"a1", "a2", "a3"}:
        raise ValueError(f"no parameters {parameters}")
    decorator = "@triton.jit(noinline=True)" if node.words.get("noinline") else "@triton.jit"
    return [decorator, f"def {name(node)}({', '.join(parameters)}):", *indented(statements(body.parts))]


def _row_pointer(node: Node) -> list[str]:
    number = int(node.words["operand"])
    return [f"{name(node)} = x{number}_ptr + program * x{number}_pitch"]


STATEMENTS: dict[str, Lines] = {
    "assign": _assign, "augment": _augment, "unpack": _unpack, "if": _if, "for": _for, "while": _while,
    "idiom": idiom_lines, "record": record_lines, "operated": _operated, "define": _define, "row_pointer": _row_pointer,
    "return": lambda node: [f"return {expression(node.parts[0])}"],
    "asserted": _asserted, "pass": lambda node: ["pass"], "text": lambda node: ['"""Nothing happens here."""'],
}
"""Statements by row."""


IN_PASSING = "3.9.0"
"""The first version that takes names given in passing, chains of comparisons, and names declared before they are
given."""


def since(node: Node) -> str:
    """The first version whose front end takes a construct, "" for any."""
    if node.row == "idiom":
        return IDIOMS[node.word("name")].since
    if node.row == "record":
        return records.FORMS[node.word("form")].since
    if node.row == "operated":
        return records.since_operated(node.word("left"), node.word("right"), node.word("op"))
    newer = node.row == "walrus" or (node.row == "compare" and len(node.parts) > 2) or "apart" in node.words
    return IN_PASSING if newer else ""
