"""Operators of Python between blocks, scalars, numbers and constexprs, with implicit conversion and broadcasting."""

from tridiff.fuzz.language.choices import BOOL, FLOATS, INTEGERS, NUMBERS, Choices, broadcast
from tridiff.fuzz.language.promotion import promoted, same_signedness
from tridiff.fuzz.language.row import Row, of_shape
from tridiff.fuzz.language.texts import argument
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.pointwise import rule_of
from tridiff.oracles.rules import NUM0, Rule

WAYS = ("plain", "plain", "in_place")
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def together(call: Call) -> tuple[int, ...]:
    """The shape of all operands together."""
    return broadcast(*(one.shape for one in call.operands))


def binary(name: str, op: str, text: str, *, covers: tuple[str, ...], dtypes: tuple[str, ...] = NUMBERS,
           second: tuple[str, ...] = (), division: bool = False, comparison: bool = False,
           in_place: bool = True) -> Row:
    """An operation of two operands. text: with {0} and {1}; division: integers must be of like signedness."""

    def draw(choices: Choices) -> Call:
        a, b = choices.until(lambda: choices.partners(first=dtypes, second=second),
                             lambda pair: same_signedness(*pair) or not division)
        # What overwrites its left side keeps its shape only where that is the shape of both.
        way = choices.one(WAYS) if in_place and a.given and broadcast(a.shape, b.shape) == a.shape else "plain"
        call = Call(row=name, operands=(a, b), options={"way": way})
        return Call(row=name, operands=(a, b), options={"way": way}, stored=(result(call),))

    def computed(call: Call) -> str:
        return promoted(call.operands[0], call.operands[1], division=division)

    def result(call: Call) -> str:
        if comparison:
            return "i1"
        return "fp32" if op == "truediv" and not dtype(computed(call)).is_float else computed(call)

    def write(call: Call) -> str:
        if call.option("way", "plain") not in WAYS:
            raise ValueError(f"{call.option('way')} is no way to write an operator")
        if call.option("way") == "in_place":
            return f"r0 = x0\nr0 {text.split()[1]}= {argument(call, 1)}"
        return text.format(argument(call, 0), argument(call, 1))

    return Row(
        name=name, covers=covers, draw=draw, text=write,
        results=lambda call, version: (Result(dtype=result(call), shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise(op, computed(call), *operands),),
        rules=lambda call: (_rule(op, computed(call), result(call)),),
        defined=lambda call, lib, operands: (lib.pointwise_defined(op, computed(call), *operands),),
        contents=lambda call: ("", "divisor") if division else ())


def _rule(op: str, computed: str, result: str) -> Rule:
    """The sign of a zero remainder of floats is not promised (language.md §2)."""
    return NUM0 if op == "mod_operator" and dtype(result).is_float else rule_of(op, (computed,) * 2, result)


def _sides(name: str) -> tuple[str, ...]:
    return f"tensor.__{name}__", f"tensor.__r{name}__"


def _unary(name: str, text: str, op: str, dtypes: tuple[str, ...], *covers: str, result: str = "") -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(dtypes)
        return Call(row=name, operands=(choices.block(one, choices.shape(low=0)),), stored=(result or one,))

    return Row(
        name=name, covers=covers, draw=draw, text=lambda call: text,
        answer=lambda call, lib, operands: (lib.pointwise(op, call.operands[0].dtype, *operands),),
        rules=lambda call: (rule_of(op, (call.operands[0].dtype,), call.stored[0]),))


def _shift(name: str, symbol: str, method: str) -> Row:
    """A shift by an amount below the width."""
    op = {"<<": "left_shift", ">>": "right_shift"}[symbol]

    def draw(choices: Choices) -> Call:
        one = choices.dtype(INTEGERS)
        shape = choices.shape()
        if choices.flag():
            amount = Operand(kind="number", dtype="i32", number=str(choices.whole(0, dtype(one).bits - 1)))
        else:
            amount = choices.block(one, choices.one((shape, choices.partner(shape), ())))
        return Call(row=name, operands=(choices.block(one, shape), amount), stored=(one,))

    return Row(
        name=name, covers=_sides(method), draw=draw,
        text=lambda call: f"x0 {symbol} {argument(call, 1)}",
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.pointwise(op, call.stored[0], *operands),),
        rules=lambda call: (rule_of(op, (call.stored[0],) * 2, call.stored[0]),),
        defined=lambda call, lib, operands: (lib.pointwise_defined(f"{op}_operator", call.stored[0], *operands),),
        contents=lambda call: ("", "shift"))


def _logical(name: str, text: str, op: str, *covers: str) -> Row:
    """Truth values: of blocks by methods, of scalars by Python's words."""
    words = not text.startswith("{0}.")

    def draw(choices: Choices) -> Call:
        shape = () if words else choices.shape()
        operands = tuple(choices.block("i1", shape) for _ in range(2 if "{1}" in text else 1))
        return Call(row=name, operands=operands, stored=("i1",))

    return Row(
        name=name, covers=covers, draw=draw, text=lambda call: text.format("x0", "x1"),
        results=lambda call, version: (Result(dtype="i1", shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise(op, "i1", *operands),), rules=lambda call: (rule_of(
            op, ("i1",), "i1"),))


_WITH_BOOL = (*NUMBERS, *BOOL)

ROWS = (
    binary("operator.add", "add", "{0} + {1}", covers=_sides("add"), second=_WITH_BOOL),
    binary("operator.sub", "sub", "{0} - {1}", covers=_sides("sub"), second=_WITH_BOOL),
    binary("operator.mul", "mul", "{0} * {1}", covers=_sides("mul"), second=_WITH_BOOL),
    binary("operator.truediv", "truediv", "{0} / {1}", covers=_sides("truediv"), division=True),
    binary("operator.floordiv", "floordiv_operator", "{0} // {1}", covers=_sides("floordiv"), dtypes=INTEGERS,
           division=True),
    binary("operator.mod", "mod_operator", "{0} % {1}", covers=_sides("mod"), division=True),
    binary("operator.and", "bitwise_and", "{0} & {1}", covers=_sides("and"), dtypes=(*INTEGERS, *BOOL)),
    binary("operator.or", "bitwise_or", "{0} | {1}", covers=_sides("or"), dtypes=(*INTEGERS, *BOOL)),
    binary("operator.xor", "bitwise_xor", "{0} ^ {1}", covers=_sides("xor"), dtypes=(*INTEGERS, *BOOL)),
    *(binary(f"operator.{op}", op, f"{{0}} {symbol} {{1}}", covers=(f"tensor.__{op}__",), comparison=True,
             in_place=False, second=_WITH_BOOL) for symbol, op in COMPARISONS.items()),
    _shift("operator.lshift", "<<", "lshift"),
    _shift("operator.rshift", ">>", "rshift"),
    _unary("operator.neg", "-x0", "neg_operator", (*INTEGERS[:4], *FLOATS), "tensor.__neg__"),
    _unary("operator.invert", "~x0", "bitwise_not", (*INTEGERS, *BOOL), "tensor.__invert__"),
    _logical("operator.not", "not {0}", "logical_not", "tensor.__not__"),
    _logical("tensor.logical_and", "{0}.logical_and({1})", "logical_and", "tensor.logical_and"),
    _logical("tensor.logical_or", "{0}.logical_or({1})", "logical_or", "tensor.logical_or"),
    _logical("operator.and_word", "{0} and {1}", "logical_and", "and"),
    _logical("operator.or_word", "{0} or {1}", "logical_or", "or"),
)
