"""Draws of idioms, of pointers to rows, and of functions with drawn bodies."""

from tridiff.fuzz.statements import control, expressions, records
from tridiff.fuzz.statements.constructs import idiom_lines, statements
from tridiff.fuzz.statements.draft import Draft, Kind, literal, node, variable
from tridiff.fuzz.statements.idioms import BY_TOPIC
from tridiff.fuzz.statements.meaning.memory import Pointer
from tridiff.fuzz.statements.meaning.values import Illegal, Value
from tridiff.kernels.language.script import Node
from tridiff.oracles.dtypes import FLOATS, SIGNED, UNSIGNED

_INTEGERS = (*SIGNED, *UNSIGNED)


def _scalar(d: Draft, dtypes: tuple[str, ...]) -> Node:
    names = d.tensors(shape=(), dtypes=dtypes)
    if names:
        return variable(d.one(names[::-1]))
    return node("cast", expressions.leaf(d, ()), to=dtypes[2])


def _tensor(d: Draft, shape: tuple[int, ...]) -> Node:
    made = expressions.tensor(d, 1, shape)
    # What is known when compiling is no tensor.
    return made if isinstance(d.value(made), Value) else expressions.leaf(d, shape)


def _part(d: Draft, letter: str, shape: tuple[int, ...], first: Node | None, pointer: str) -> Node:
    """An operand of an idiom (`tridiff.fuzz.statements.idioms`)."""
    if letter == "t":
        return _tensor(d, shape)
    if letter == "k":
        kind = None if first is None else d.kind(first)
        return expressions.of_kind(d, kind, 1) if kind else _tensor(d, shape)
    if letter in "iuj":
        return _scalar(d, {"i": _INTEGERS, "u": UNSIGNED, "j": SIGNED}[letter])
    if letter in "sf":
        return expressions.leaf(d, ()) if letter == "s" else _scalar(d, (*FLOATS[2:], "fp64"))
    if letter == "b":
        return expressions.condition(d)
    if letter == "c":
        return expressions.static_condition(d)
    if letter == "p":
        return variable(pointer)
    if letter == "m":
        return literal(len(d.env[pointer].memory.flat) - 1)
    return literal(d.one((1, 2, 3, 4))) if letter == "n" else expressions.constant(d)


def idiom(d: Draft, shape: tuple[int, ...], topic: str) -> list[Node]:
    """A passage of a topic, and the variable that it leaves."""
    table = BY_TOPIC[topic]
    word = d.one(tuple(name for name, one in table.items() if d.takes(one.since)))
    one = table[word]
    pointers = [name for name, value in d.env.items() if isinstance(value, Pointer) and name[0] == "p"]
    if "p" in one.parts and not pointers:
        return control.assign(d, shape)
    pointer = d.one(pointers) if pointers else ""
    parts: list[Node] = []
    for letter in one.parts:
        parts.append(_part(d, letter, shape, parts[0] if parts else None, pointer))
    if not one.is_statement:
        made = node("idiom", *parts, name=word)
        kind = d.kind(made)
        if kind is None or not isinstance(d.value(made), Value):
            return control.assign(d, shape)
        name = d.fresh()
        d.define(name, kind)
        return [node("assign", made, name=name)]
    names = [d.fresh(), d.fresh("s"), d.fresh("i")]
    made = node("idiom", *parts, name=word, names=" ".join(names))
    try:
        found = d.after(idiom_lines(made)).get(names[0])
    except Illegal:
        return control.assign(d, shape)
    if not isinstance(found, Value):
        return control.assign(d, shape)
    d.define(names[0], (found.name, found.shape))
    return [made]


def record(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """A record that is made, handed on and taken apart, each in a drawn way; or an operator of an aggregate."""
    if d.rarely(4):
        return _operated(d, shape)
    form = d.one(tuple(name for name, one in records.FORMS.items() if d.takes(one.since)))
    methods, unpacked = records.FORMS[form].methods, records.FORMS[form].unpacked
    words = {"form": form, "turn": d.one(tuple(one for one in records.TURNS if methods or one != "method")),
             "carry": d.one(records.CARRIES),
             "take": d.one(tuple(one for one in records.TAKES if (methods or one != "method") and (
                 unpacked or one != "unpacked")))}
    if "apart" in (words["turn"], words["take"]) or words["carry"] == "early":
        shape = ()  # what is not inlined takes scalars, and only they are compared
    first = _scalar(d, _INTEGERS) if words["carry"] == "early" else _tensor(d, shape)
    parts = [first, _part(d, "k" if words["carry"] else "t", shape, first, "")]
    if records.needs_condition(words["carry"]):
        parts.append(expressions.condition(d))
    return _left(d, node("record", *parts, names=" ".join((d.fresh(), d.fresh("s"), d.fresh("i"))), **words), shape)


def _operated(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    left, right = d.one(records.SIDES), d.one(records.SIDES)
    left = "Number" if left == right == "tensor" else left
    op = d.one((*records.OPERATORS, *records.COMPARED))
    if not d.takes(records.since_operated(left, right, op)):
        left = right = "Number"
    first = _tensor(d, shape)
    return _left(d, node("operated", first, _part(d, "k", shape, first, ""), name=d.fresh(), left=left, right=right,
                         op=op), shape)


def _left(d: Draft, made: Node, shape: tuple[int, ...]) -> list[Node]:
    """A passage, and the variable that it leaves; something else where the language refuses it."""
    name = (made.word("names") or made.word("name")).split()[0]
    try:
        found = d.after(statements((made,))).get(name)
    except Illegal:
        return control.assign(d, shape)
    if not isinstance(found, Value):
        return control.assign(d, shape)
    d.define(name, (found.name, found.shape))
    return [made]


def row_pointers(d: Draft, blocks: dict[int, tuple[str, int]]) -> list[Node]:
    """Variables that point to the rows of blocks. blocks: element type and elements, by number of operand."""
    made = []
    for number, (dtype, elements) in blocks.items():
        name = d.fresh("p")
        d.point(name, dtype, elements)
        made.append(node("row_pointer", name=name, operand=number))
    return made


def function(d: Draft) -> Node:
    """A function with a drawn body, of scalars and blocks; `d` knows it afterwards."""
    name, outer = d.fresh("f"), d.env
    apart = d.rarely(4)
    shapes: list[tuple[int, ...]] = [(), ()] if apart else [d.one(((), (8,), (4, 2))), ()]
    kinds: list[Kind] = [(d.one(expressions.TYPES), shape) for shape in shapes]
    kinds.append((d.one(_INTEGERS), ()))
    names = ["a1", "a2", "a3"]
    d.env = {}
    for one, kind in zip(names, kinds, strict=True):
        d.define(one, kind)
    body: list[Node] = []
    body += control.assign(d, shapes[0])
    for _ in range(d.whole(1, 2)):
        body += control.statement(d, 2, shapes[0])
    result = expressions.tensor(d, 1, shapes[0])
    found = d.kind(result)
    kind = found if found is not None and isinstance(d.value(result), Value) else kinds[0]
    result = result if kind is found else variable("a1")
    if d.flag():
        body.append(_early(d, kind))
    body.append(node("return", result))
    d.env = outer
    made = node("define", node("block", *body), name=name, parameters=" ".join(names), **(
        {"noinline": True} if apart else {}))
    d.functions[name] = kinds
    d.learn(statements((made,)))
    return made


def _early(d: Draft, kind: Kind) -> Node:
    """A branch that returns something of the same type, in one side or in both, perhaps within another branch."""
    early = node("block", node("return", expressions.of_kind(d, kind, 1)))
    if d.rarely(3):
        early = node("block", node("if", expressions.condition(d), early))
    sides = [early, node("block", node("pass"))] if d.flag() else [node("block", node("pass")), early]
    return node("if", expressions.condition(d), *(sides[:1] if sides[0] is early and d.flag() else sides))


def invocation(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """A call of a drawn function, with what its body was drawn for, or another type."""
    name = d.one(tuple(d.functions))
    kinds = d.functions[name]
    parts = [expressions.of_kind(d, kind, 0) for kind in kinds]
    if d.rarely(3):
        place = d.whole(0, len(parts) - 1)
        parts[place] = d.one((_tensor(d, kinds[place][1]), literal(3)))
    order = d.one(("", "a3", "a2 a3"))
    made = node("invoke", *parts, name=name, keywords=order)
    kind = d.kind(made)
    if kind is None or not isinstance(d.value(made), Value):
        made = node("invoke", *(expressions.of_kind(d, kind, 0) for kind in kinds), name=name)
        kind = d.kind(made)
    if kind is None:
        return control.assign(d, shape)
    result = d.fresh()
    d.define(result, kind)
    return [node("assign", made, name=result)]
