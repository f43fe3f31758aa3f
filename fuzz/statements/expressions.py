"""Draws of expressions. One that the language refuses gives way to one of its operands."""

from collections.abc import Callable

from tridiff.fuzz.statements.constructs import BINARY, COMPARISONS, IN_PASSING
from tridiff.fuzz.statements.draft import Draft, Kind, literal, node, variable
from tridiff.fuzz.statements.meaning.values import Illegal, Unsettled, is_number
from tridiff.kernels.language.script import Node
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype

TYPES = (*INTEGERS, *FLOATS)
_NUMBERS = (1, 0, 2, 3, -1, 7, -2, 16, 100, 127, 128, 255, -128, 32767, 65535, 2**31 - 1, 2**31, -(2**31), 2**32 - 1,
            2**33, 2**63 - 1, -(2**63), 2**63, True, False, 0.5, -1.5, 2.0, 3.0, 1024.0)
_SMALL = (1, 2, 3, 4, 7)


def leaf(d: Draft, shape: tuple[int, ...]) -> Node:
    """A variable of a shape, or a scalar."""
    names = d.tensors(shape=shape) or d.tensors(shape=())
    return variable(d.one(names[::-1]))


def constant(d: Draft) -> Node:
    """A number, a constexpr, or an operation on numbers."""
    if d.constants() and d.flag():
        return variable(d.one(d.constants()))
    if d.rarely(3):
        made = node("binary", literal(d.one(_SMALL)), literal(d.one(_SMALL)),
                    op=d.one(("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "/")))
        if d.kind(made):
            return made
    return literal(d.one(_NUMBERS))


def scalar(d: Draft, depth: int = 1) -> Node:
    return tensor(d, depth, ())


def tensor(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    """A tensor of at most this shape."""
    if depth <= 0:
        return leaf(d, shape)
    drawn = d.one(_GROWN)(d, depth, shape)
    kind = d.kind(drawn)
    if kind is not None and len(kind[1]) == len(shape):
        return drawn
    return leaf(d, shape)


def _operand(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    """The other operand: a tensor, a scalar, a number."""
    form = d.whole(0, 5)
    if form < 3:
        return tensor(d, depth - 1, shape)
    return scalar(d, 0) if form == 3 else constant(d)


def _fitting(d: Draft, op: str, left: Node, right: Node) -> Node:
    """An operation without undefined results: amounts below the width, divisors above zero."""
    kind = d.kind(right)
    if op in ("<<", ">>"):
        kinds = d.kind(left)
        width = dtype(kinds[0]).bits if kinds else 8
        right = node("binary", right, literal(min(width, 8) - 1), op="&") if d.flag() else literal(
            d.whole(0, max(width - 1, 0)))
    elif op in ("//", "%") and kind and not dtype(kind[0]).is_float:
        right = node("binary", node("binary", right, literal(7), op="&"), literal(1), op="+") if d.flag() else literal(
            d.one((3, 1, 2, 8, 100)))
    elif op in ("/", "%"):
        # Quotients by powers of two are exact however they are computed.
        right = literal(d.one((2, 4, 0.5, 1, 8.0)))
    return node("binary", left, right, op=op)


def _binary(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    op = d.one(BINARY)
    left, right = tensor(d, depth - 1, shape), _operand(d, depth, shape)
    reflected = d.rarely(3)
    for one in dict.fromkeys((op, "&", "+")):
        made = _fitting(d, one, right, left) if reflected and one not in ("/",) else _fitting(d, one, left, right)
        if d.kind(made):
            return made
    return left


def _cast(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    inner = tensor(d, depth - 1, shape)
    return cast(d, inner, d.one(TYPES))


def cast(d: Draft, inner: Node, to: str) -> Node:
    """A conversion. Floats become integers by their value, which is open beyond the range, or by their bits."""
    kind = d.kind(inner)
    if kind is None or kind[0] == to:
        return inner
    if is_number(d.value(inner)):  # `c or True`: it has no methods
        return node("cast", inner, to=to, function=True)
    source, target = dtype(kind[0]), dtype(to)
    if source.is_float and not target.is_float:
        if d.flag():
            return node("cast", inner, to=to)
        same = next((one for one in INTEGERS if dtype(one).bits == source.bits), "")
        inner = node("cast", inner, to=same, bitcast=True)
        return inner if same == to else node("cast", inner, to=to)
    if d.rarely() and source.bits == target.bits and source.kind != "bool":
        return node("cast", inner, to=to, bitcast=True)
    return node("cast", inner, to=to, **({"function": True} if d.rarely(3) else {}))


def _like(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    other = leaf(d, shape)
    kind, inner = d.kind(other), tensor(d, depth - 1, shape)
    own = d.kind(inner)
    if kind is None or own is None or (dtype(own[0]).is_float and not dtype(kind[0]).is_float):
        return inner
    spelled = d.one((".dtype", ".type.scalar", *((".type.element_ty",) if kind[1] else ())))
    return node("like", inner, other, by=spelled)


def _compared(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    left, right = tensor(d, depth - 1, shape), _operand(d, depth, shape)
    if d.rarely(3):
        left, right = right, left
    if d.takes(IN_PASSING) and d.rarely(3):
        ops = f"{d.one(COMPARISONS)} {d.one(COMPARISONS)}"
        return node("compare", left, right, _operand(d, 1, shape), op=ops)
    return node("compare", left, right, op=d.one(COMPARISONS))


def condition(d: Draft, depth: int = 1) -> Node:
    """A truth value known only at run time."""
    form = d.whole(0, 6)
    if form == 0 and d.tensors(shape=(), dtypes=("i1",)):
        return variable(d.one(d.tensors(shape=(), dtypes=("i1",))))
    if form in (1, 2) and depth > 0:
        parts = [condition(d, depth - 1), condition(d, depth - 1)]
        if d.rarely(3):
            parts.insert(d.whole(0, 2), static_condition(d))
        made = node("logic", *parts, op=d.one(("and", "or")))
    elif form == 3 and depth > 0:
        made = node("unary", condition(d, depth - 1), op="not ")
    elif form == 4 and (names := d.tensors(shape=(), dtypes=INTEGERS)):
        # A number counts as true unless it is zero.
        return node("binary", variable(d.one(names)), literal(d.one((1, 3, 4))), op="&")
    else:
        made = _compared(d, 1, ())
    kind = d.kind(made)
    return made if kind == ("i1", ()) else node("compare", leaf(d, ()), literal(d.one((1, 0, 3))), op=d.one(
        COMPARISONS))


def static_condition(d: Draft) -> Node:
    """A truth value known when the kernel is compiled."""
    form = d.whole(0, 4)
    names = d.constants()
    if form == 0 or not names:
        return literal(d.flag())
    if form == 1:
        return node("is_none", variable(d.one(names)), negated=d.flag())
    if form == 2:
        return node("unary", variable(d.one(names)), op="not ")
    made = node("compare", variable(d.one(names)), literal(d.one(_NUMBERS)), op=d.one(COMPARISONS))
    return node("logic", made, literal(d.flag()), op=d.one(("and", "or"))) if form == 3 else made


def _ternary(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    then = tensor(d, depth - 1, shape)
    kind = d.kind(then)
    assert kind is not None
    if d.rarely(3):
        return node("ternary", static_condition(d), then, tensor(d, depth - 1, shape))
    otherwise = of_kind(d, kind, depth - 1)
    # Sides may be numbers, where the other one has the type that a number has by itself.
    if kind == ("i32", ()) and d.flag():
        otherwise = literal(d.one((0, 5, -7)))
    return node("ternary", condition(d), then, otherwise)


def of_kind(d: Draft, kind: Kind, depth: int) -> Node:
    """An expression of a given type and shape."""
    made = tensor(d, depth, kind[1])
    found = d.kind(made)
    if found is None or found[1] != kind[1]:
        filler = cast(d, made if found and not found[1] else leaf(d, ()), kind[0])
        same = d.tensors(shape=kind[1])
        made = variable(same[-1]) if same else filler
        found = d.kind(made)
    if found is not None and found[0] != kind[0]:
        made = node("compare", made, literal(1), op=">") if kind[0] == "i1" else cast(d, made, kind[0])
    return made


def _selected(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    function = d.one(("tl.where", "tl.minimum", "tl.maximum", "min", "max"))
    left = tensor(d, depth - 1, shape)
    if function != "tl.where":
        right = _beside(d, depth, shape, left)
        if d.rarely(3):
            left, right = right, left
        return _settled(d, node("call", left, right, function=function))
    right = _operand(d, depth, shape)
    if d.rarely(3):
        left, right = right, left
    return node("call", _compared(d, 1, shape), left, right, function=function)


def _beside(d: Draft, depth: int, shape: tuple[int, ...], other: Node) -> Node:
    """What an extremum has beside `other`: a tensor, a scalar, or, beside a tensor, a number. Of two numbers the
    interpreter's `min` is one, which cannot be converted."""
    form = d.whole(0, 5)
    if form > 3 and d.kind(other) is not None and not is_number(d.value(other)):
        return constant(d)
    return scalar(d, 0) if form == 3 else tensor(d, depth - 1, shape)


def _settled(d: Draft, made: Node) -> Node:
    """An extremum; with a conversion where each version has its own type of it."""
    try:
        found = d.value(made)
    except Illegal:
        return made
    return node("cast", made, to=found.name) if isinstance(found, Unsettled) else made


def _folded(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    blocks = [name for name in d.tensors() if d.env[name].shape]
    if shape or not blocks:
        return leaf(d, shape)
    name = d.one(blocks[::-1])
    kind = d.env[name]
    function = d.one(("tl.max", "tl.min")) if dtype(kind.name).is_float else d.one(("tl.sum", "tl.max", "tl.min"))
    if len(kind.shape) == 1:
        return node("fold", variable(name), function=function, **({"axis": 0} if d.flag() else {}))
    return node("fold", variable(name), function=function)


def _indexed(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    """Rows or columns of a matrix from a line, or an axis of length 1."""
    lines = [name for name in d.tensors() if len(d.env[name].shape) == len(shape) - 1]
    if len(shape) < 2 or not lines:
        return tensor(d, depth - 1, shape)
    index = d.one({2: ("[None, :]", "[:, None]"), 3: ("[None, :, :]", "[:, :, None]")}[len(shape)])
    made = node("index", variable(d.one(lines)), index=index)
    whole = node("binary", leaf(d, shape), made, op=d.one(("+", "-", "*", "^")))
    return whole if d.kind(whole) else made


def _unary(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    return node("unary", tensor(d, depth - 1, shape), op=d.one(("-", "~", "-")))


def _logical(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    if shape:
        return node("binary", _compared(d, depth - 1, shape), _compared(d, 1, shape), op=d.one(("&", "|", "^")))
    return condition(d)


def _walrus(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    """A name given in passing; it is used no further, so that it matters only here."""
    if not d.takes(IN_PASSING) or not d.rarely(3):
        return tensor(d, depth - 1, shape)
    return node("walrus", tensor(d, depth - 1, shape), name=d.fresh("w"))


def _tuple_item(d: Draft, depth: int, shape: tuple[int, ...]) -> Node:
    parts = [tensor(d, depth - 1, shape), constant(d), tensor(d, 0, shape)]
    place = d.one((0, 2, -1, -3))
    return node("item", node("tuple", *parts, **({"list": True} if d.flag() else {})), place=place)


_GROWN: tuple[Callable[[Draft, int, tuple[int, ...]], Node], ...] = (
    _binary, _binary, _binary, _binary, _cast, _compared, _unary, _ternary, _selected, _folded, _indexed, _like,
    _logical, _walrus, _tuple_item)
