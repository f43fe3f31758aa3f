"""Draws of statements: assignments, branches, loops, nested."""

from collections.abc import Callable

from tridiff.fuzz.statements import expressions
from tridiff.fuzz.statements.constructs import BINARY, IN_PASSING
from tridiff.fuzz.statements.draft import Draft, Kind, literal, node, variable
from tridiff.fuzz.statements.meaning.values import is_number
from tridiff.kernels.language.script import Node
from tridiff.oracles.dtypes import INTEGERS, dtype

DEEPEST = 3


def assign(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """A new variable."""
    made = expressions.tensor(d, 2, shape)
    if d.rarely(6):
        made = expressions.constant(d)
    kind = d.kind(made)
    if kind is None:
        return []
    name = d.fresh()
    d.define(name, kind)
    return [node("assign", made, name=name)]


def constant(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """A new constexpr variable."""
    name, made = d.fresh("n"), expressions.constant(d)
    d.env[name] = d.value(made)
    apart = d.takes(IN_PASSING) and d.rarely(3)
    return [node("assign", made, name=name, annotation="constexpr", **({"apart": True} if apart else {}))]


def again(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """Another value for a variable, of the same type."""
    names = _own(d)
    if not names:
        return assign(d, shape)
    name = d.one(names[::-1])
    kind = _kind(d, name)
    if d.flag():
        return [node("assign", expressions.of_kind(d, kind, 2), name=name)]
    op = d.one(BINARY)
    other = expressions.of_kind(d, kind, 1) if d.flag() else expressions.constant(d)
    if not d.rarely(3):
        made = expressions._fitting(d, op, variable(name), other)
    else:
        made = node("binary", variable(name), expressions.scalar(d, 0), op=op)
        made = expressions._fitting(d, op, *made.parts)
    if d.kind(made) != kind:
        made = node("binary", variable(name), expressions.of_kind(d, kind, 1), op="&" if dtype(
            kind[0]).is_float is False else "+")
    if d.kind(made) != kind:
        return []
    return [node("augment", made.parts[1], name=name, op=made.word("op"))]


def _own(d: Draft) -> list[str]:
    """Variables that may be assigned again: no inputs, no variables of loops."""
    return [name for name in d.tensors() if name[0] == "v"]


def _kind(d: Draft, name: str) -> Kind:
    return d.env[name].name, d.env[name].shape


def swap(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """Two variables of one type change places; or new ones are unpacked from a tuple."""
    names = _own(d)
    pairs = [(a, b) for a in names for b in names if a < b and _kind(d, a) == _kind(d, b)]
    if pairs and d.flag():
        a, b = d.one(pairs)
        return [node("unpack", node("tuple", variable(b), variable(a)), names=f"{a} {b}")]
    parts = [expressions.tensor(d, 1, shape), expressions.scalar(d, 1)]
    kinds = [d.kind(one) for one in parts]
    if None in kinds:
        return []
    made = [d.fresh(), d.fresh()]
    for name, kind in zip(made, kinds, strict=True):
        assert kind is not None
        d.define(name, kind)
    return [node("unpack", node("tuple", *parts), names=" ".join(made))]


def block(d: Draft, depth: int, shape: tuple[int, ...], last: list[Node] | None = None) -> Node:
    """Statements of a branch or a loop; names defined there are forgotten after it."""
    before = dict(d.env)
    inside: list[Node] = []
    for _ in range(d.whole(1, 2)):
        inside += statement(d, depth - 1, shape, nested=True)
    d.env = before
    return node("block", *inside, *(last or []))


def branch(d: Draft, depth: int, shape: tuple[int, ...]) -> list[Node]:
    """if, elif, else; often a variable that both sides define."""
    static = d.rarely(4)
    made = expressions.static_condition(d) if static else expressions.condition(d)
    kind = d.kind(leafless) if (leafless := expressions.leaf(d, shape)) else None
    both = d.flag() and kind is not None
    name = d.fresh()

    def ending() -> list[Node]:
        assert kind is not None
        return [node("assign", expressions.of_kind(d, kind, 1), name=name)] if both else []

    parts = [made, block(d, depth, shape, ending())]
    chained = False
    if both or d.flag():
        if d.rarely(3) and depth > 1:
            inner = node("if", expressions.condition(d), block(d, depth - 1, shape, ending()), block(
                d, depth - 1, shape, ending()))
            parts.append(node("block", inner))
            chained = d.flag()
        else:
            parts.append(block(d, depth, shape, ending()))
    if both and kind is not None:
        d.define(name, kind)
    return [node("if", *parts, **({"elif": True} if chained else {}))]


_EDGES = {"i8": (0, -8, 100), "u8": (0, 120, 230), "i16": (0, -8, 32740), "u16": (0, 32760, 65500),
          "i32": (0, -8, 2**31 - 64), "u32": (0, 2**31 - 8, 2**32 - 64), "i64": (0, -8, 2**31 - 4, 2**63 - 64),
          "u64": (0, 2**31 - 4, 2**63 - 8)}


def _bounds(d: Draft) -> list[Node]:
    """Bounds and step of a loop of few trips, any of them known only at run time."""
    names = d.tensors(shape=(), dtypes=INTEGERS)
    running = bool(names) and not d.rarely(4)
    if not running:
        start, length = d.one((0, -2, 5)), d.one((3, 0, 1, 5, -1))
        low, high = literal(start), literal(start + length)
        stride = d.one((1, 2, -1, -2, 3))
        bounds = [low, high] if stride > 0 else [high, low]
        if d.flag() and start == 0:
            return [literal(max(length, 0))]
        return [*bounds, literal(stride)] if stride != 1 or d.flag() else bounds
    name = d.one(names[::-1])
    kind = _kind(d, name)[0]
    edge = d.one(_EDGES[kind])
    low = node("binary", node("binary", variable(name), literal(3), op="&"), literal(edge), op="+")
    high = node("binary", node("binary", variable(d.one(names)), literal(7), op="&"), literal(2), op="+")
    if edge or d.flag():
        high = node("binary", low, node("cast", high, to=kind), op="+")
        bounds = [low, high]
    else:
        bounds = d.one(([high], [literal(0), high], [low, high], [low, literal(4)], [literal(-1), high]))
    form = d.whole(0, 3)
    if form == 0 or len(bounds) == 1:
        return bounds
    if form == 1:
        return [*bounds, literal(d.one((2, 3, 1)))]
    if form == 2:
        return [bounds[1], bounds[0], literal(d.one((-1, -2)))]
    step = node("binary", node("binary", variable(name), literal(1), op="&"), literal(1), op="+")
    return [*bounds, node("cast", step, to=kind)]


def loop(d: Draft, depth: int, shape: tuple[int, ...]) -> list[Node]:
    """for, over range, tl.range and tl.static_range."""
    if d.looping >= 2:
        return again(d, shape)
    spelled = d.one(("range", "tl.range", "tl.static_range"))
    name = d.fresh("i")
    hints: dict[str, bool | int | str] = {}
    if spelled == "tl.static_range":
        start, length, step = d.one((0, -1, 2)), d.one((2, 3, 0, 1)), d.one((1, 2, -1))
        ends = (start, start + length) if step > 0 else (start + length, start)
        bounds = [literal(length)] if d.flag() else [literal(one) for one in (*ends, step)]
    else:
        bounds = _bounds(d)
        if spelled == "tl.range":
            hints |= d.one(({}, {"num_stages": 2}, {"loop_unroll_factor": 2}, {"flatten": True}, {"disable_licm": True},
                           {"disallow_acc_multi_buffer": True}, {"num_stages": 1}, {"loop_unroll_factor": 3}))
    kinds = [d.kind(one) for one in bounds]
    if None in kinds:
        return again(d, shape)
    before = dict(d.env)
    if spelled == "tl.static_range":
        d.env[name] = 1
    else:
        together = d.kind(_joined(bounds))
        if together is None:
            return again(d, shape)
        d.define(name, together)
        hints["dtype"] = together[0]
    d.looping += 1
    body = block(d, depth, shape, _using(d, name))
    d.looping -= 1
    d.env = before
    return [node("for", *bounds, body, name=name, loop=spelled, **hints)]


def _joined(bounds: list[Node]) -> Node:
    """Something of the type that a loop's variable has: of numbers and tensors as tensors."""
    made = node("call", bounds[0], function="tl.to_tensor")
    low = [] if len(bounds) > 1 else [literal(0)]
    for one in (*bounds[1:], *low, *([literal(1)] if len(bounds) < 3 else [])):
        made = node("binary", made, node("call", one, function="tl.to_tensor"), op="|")
    return made


def _using(d: Draft, name: str) -> list[Node]:
    """A variable of the kernel takes something of the loop's variable."""
    names = _own(d)
    if not names:
        return []
    target = d.one(names[::-1])
    kind = _kind(d, target)
    made = node("binary", variable(target), variable(name), op=d.one(("+", "*", "^", "-")))
    if d.kind(made) == kind:
        return [node("augment", variable(name), name=target, op=made.word("op"))]
    mixed = node("binary", variable(target), expressions.cast(d, variable(name), kind[0]), op="+")
    return [node("augment", mixed.parts[1], name=target, op="+")] if d.kind(mixed) == kind else []


def repeat(d: Draft, depth: int, shape: tuple[int, ...]) -> list[Node]:
    """while, with a count that ends it."""
    if d.looping >= 2:
        return again(d, shape)
    count, most = d.fresh("k"), d.one((3, 1, 0, 5))
    first = node("assign", literal(0), name=count)
    d.define(count, ("i32", ()))
    limit = node("compare", variable(count), literal(most), op="<")
    made = limit
    if not d.rarely(3):
        parts = [limit, expressions.condition(d)]
        joined = node("logic", *(parts if d.flag() else parts[::-1]), op="and")
        # A number would be a condition that never changes.
        made = limit if d.kind(joined) is None or is_number(d.value(joined)) else joined
    d.looping += 1
    body = block(d, depth, shape, [node("augment", literal(1), name=count, op="+")])
    d.looping -= 1
    return [first, node("while", made, body, **({"wrapped": True} if d.rarely(4) else {}))]


def nothing(d: Draft, shape: tuple[int, ...]) -> list[Node]:
    """Statements without effect, and assertions that hold."""
    form = d.whole(0, 4)
    if form < 2:
        return [node(("pass", "text")[form])]
    true = node("compare", literal(1), literal(2), op="<")
    if form == 2:
        return [node("asserted", true, kind="static")]
    x = expressions.leaf(d, ())
    ordered = node("logic", node("compare", x, literal(0), op=">="), node("compare", x, literal(1), op="<"), op="or")
    holds = node("logic", ordered, node("compare", x, x, op="!="), op="or")  # of NaN only the last is true
    return [node("asserted", holds, kind=("assert", "device")[form - 3])]


Simple = Callable[[Draft, tuple[int, ...]], list[Node]]
Nested = Callable[[Draft, int, tuple[int, ...]], list[Node]]
_SIMPLE: tuple[Simple, ...] = (assign, again, again, swap, constant, nothing)
_NESTED: tuple[Nested, ...] = (branch, loop, branch, loop, repeat)


def statement(d: Draft, depth: int, shape: tuple[int, ...], *, nested: bool = False) -> list[Node]:
    """One statement, at most `depth` deep. A branch or loop does not define constants: these are not its own."""
    if depth > 0 and d.flag():
        return d.one(_NESTED)(d, depth, shape)
    made = d.one(_SIMPLE)
    return (again if nested and made is constant else made)(d, shape)
