"""Integer arithmetic that Triton checks for overflow: operators, library functions, folds, scans, index arithmetic.

Drawn with `debug` and `sanitize_overflow` on and off, with values at the ends of every type (contract: language.md §6).
What a text does is said twice: by references that wrap, and exactly, operation by operation (`checked`).
"""

from collections.abc import Sequence
from typing import Any

from tridiff.fuzz.language.checked import Watch, spread
from tridiff.fuzz.language.choices import BOOL, INTEGERS, Choices
from tridiff.fuzz.language.promotion import of_types, promoted, same_signedness
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import argument
from tridiff.kernels.language.call import Call, Operand, OperandKind, Options, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import SIGNED, dtype

SYMBOLS = {"add": "+", "sub": "-", "mul": "*"}
_WAYS = ("plain", "in_place", "function", "unchecked", "helper", "noinline", "branch", "repeated")
_MOST = 16
"""Elements of most blocks: each is listed in the case."""
_BUDGET = 1024
"""Elements of all programs of a launch, of each of which Python does every operation."""
_TIMES = 3
"""How often `repeated` does it."""


def _shape(choices: Choices) -> tuple[int, ...]:
    return choices.shape(high=2, most=_MOST) if choices.whole(0, 3) else ()


def _partners(choices: Choices, others: Sequence[str]) -> tuple[Operand, Operand]:
    """A block or scalar and something beside it, of at most `_MOST` elements. others: types of a second tensor."""
    name = choices.dtype(INTEGERS)
    other = choices.dtype(others) if choices.whole(0, 2) == 2 else name
    shape = _shape(choices)
    form: OperandKind = choices.one(("block", "scalar", "number", "constexpr", "argument"))
    a = choices.block(name, shape)
    if form in ("block", "scalar"):
        b = choices.block(other, shape if form == "block" else ())
    else:
        b = choices.number(like=name, kind=form)
    return (b, a) if choices.whole(0, 2) == 2 else (a, b)


def elements(call: Call, operands: Values) -> list[tuple[int, ...]]:
    """What each element of the result is computed from."""
    to = together(call)
    return list(zip(*(spread(values, one.shape, to) for values, one in zip(operands, call.operands, strict=True)),
                    strict=True))


def _binary(op: str) -> Row:
    def draw(choices: Choices) -> Call:
        a, b = _partners(choices, (*INTEGERS, *BOOL))
        ways = [way for way in _WAYS if _possible(way, a, b)]
        call = Call(row=f"overflow.{op}", operands=(a, b), options={"way": choices.one(ways)})
        return Call(row=call.row, operands=(a, b), options=call.options, stored=(promoted(a, b),))

    def text(call: Call) -> str:
        way, (a, b) = str(call.option("way", "plain")), call.operands
        if way not in _WAYS or not _possible(way, a, b):
            raise ValueError(f"{way} is no way to write {op} of these operands")
        x, y, symbol = argument(call, 0), argument(call, 1), SYMBOLS[op]
        return {
            "plain": f"{x} {symbol} {y}", "in_place": f"r0 = {x}\nr0 {symbol}= {y}", "function": f"tl.{op}({x}, {y})",
            "unchecked": f"tl.{op}({x}, {y}, sanitize_overflow=False)", "helper": f"_inner({x}, {y})",
            "noinline": f"_inner({x}, {y})",
            "branch": f"r0 = {x}\nif x1 > 0:\n    r0 = {x} {symbol} {y}",
            "repeated": f"r0 = {x}\nfor _ in range({_TIMES}):\n    r0 = r0 {symbol} {y}"}[way]

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        way, of = str(call.option("way", "plain")), promoted(*call.operands)
        for a, b in elements(call, operands):
            if way == "branch" and b <= 0:
                continue
            for _ in range(_TIMES if way == "repeated" else 1):
                a = watch.compute(op, a, b, of, checked=way != "unchecked")

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        way, of = call.option("way", "plain"), promoted(*call.operands)
        found = lib.pointwise(op, of, *operands)
        for _ in range(_TIMES - 1 if way == "repeated" else 0):
            found = lib.pointwise(op, of, found, operands[1])
        if way == "branch":
            found = lib.where(lib.pointwise("gt", of, operands[1], 0), found, operands[0], computed=of)
        return (found,)

    def definitions(call: Call) -> str:
        mode = {"helper": "@triton.jit", "noinline": "@triton.jit(noinline=True)"}.get(str(call.option("way")), "")
        return f"{mode}\ndef _inner(a, b):\n    return a {SYMBOLS[op]} b\n\n\n" if mode else ""

    return Row(
        name=f"overflow.{op}", covers=(), budget=_BUDGET, draw=draw, text=text,
        definitions=definitions,
        results=lambda call, version: (Result(dtype=promoted(*call.operands), shape=together(call)),),
        answer=answer, checked=checked)


def _possible(way: str, a: Operand, b: Operand) -> bool:
    """Whether an operation of two operands can be written so. What is assigned in a loop or a branch keeps its type."""
    kept = a.given and promoted(a, b) == a.dtype and len(a.shape) >= len(b.shape)
    if way == "in_place":
        return a.given and len(a.shape) >= len(b.shape)
    if way == "noinline":
        return a.kind == b.kind == "scalar"
    if way == "branch":
        return kept and b.kind == "scalar" and b.dtype == a.dtype
    return kept if way == "repeated" else True


def _negated() -> Row:
    def draw(choices: Choices) -> Call:
        name = choices.dtype(INTEGERS)
        return Call(row="overflow.neg", operands=(choices.block(name, _shape(choices)),), stored=(name,))

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        for (x,) in elements(call, operands):
            watch.compute("sub", 0, x, call.stored[0])

    return Row(
        name="overflow.neg", covers=(), budget=_BUDGET, draw=draw, text=lambda call: "-x0",
        results=lambda call, version: (Result(dtype=call.operands[0].dtype, shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise("sub", call.stored[0], 0, operands[0]),),
        checked=checked)


def _ceiling() -> Row:
    """(x + (divisor - 1)) // divisor, of which a number's part is computed by Python."""

    def draw(choices: Choices) -> Call:
        a, b = _partners(choices, INTEGERS)
        if not a.given:
            a, b = b, a
        if not same_signedness(a, b) or (
                not b.given and int(b.value) in (0, dtype(a.dtype).min)):
            b = choices.block(a.dtype, a.shape)
        return Call(row="overflow.cdiv", operands=(a, b), stored=(promoted(a, b, division=True),))

    def lessened(call: Call, divisor: Any, lib: Library | None = None, watch: Watch | None = None) -> Any:
        b = call.operands[1]
        if b.constant:
            return divisor - 1
        return watch.compute("sub", divisor, 1, b.dtype) if watch else lib.pointwise(  # type: ignore[union-attr]
            "sub", b.dtype, divisor, 1)

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        for x, divisor in elements(call, operands):
            watch.compute("add", x, lessened(call, divisor, watch=watch), call.stored[0])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        of = call.stored[0]
        above = lib.pointwise("add", of, operands[0], lessened(call, operands[1], lib))
        return (lib.pointwise("floordiv_operator", of, above, operands[1]),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        of = call.stored[0]
        above = lib.pointwise("add", of, operands[0], lessened(call, operands[1], lib))
        return (lib.pointwise_defined("floordiv_operator", of, above, operands[1]),)

    return Row(
        name="overflow.cdiv", covers=(), budget=_BUDGET, draw=draw,
        text=lambda call: f"tl.cdiv({argument(call, 0)}, {argument(call, 1)})",
        results=of_shape(together), answer=answer,
        defined=defined, checked=checked)


def _pointer() -> Row:
    """Offsets of pointers: products in them are checked, their sum with the pointer is not. Nothing is read there: the
    result is how many bytes further the pointer points. A difference negates the offset in its own type."""
    ways = ("sum", "product", "difference")

    def draw(choices: Choices) -> Call:
        way = choices.one(ways)
        name = choices.dtype(SIGNED if way == "difference" else INTEGERS)
        shape = _shape(choices)
        operands = (choices.block(name, shape), *((choices.block(name, ()),) if way == "product" else ()))
        return Call(row="overflow.pointer", operands=operands, options={"way": way}, stored=("i64",))

    def text(call: Call) -> str:
        way = str(call.option("way", "sum"))
        if way not in ways or len(call.operands) != 1 + (way == "product"):
            raise ValueError(f"{way} is no offset of these operands")
        moved = {"sum": "+ x0", "product": "+ x0 * x1", "difference": "- x0"}[way]
        # Of bytes, whatever the array holds.
        return (f"base = x0_ptr.to(tl.pointer_type(tl.int8))\n"
                f"r0 = (base {moved}).to(tl.int64) - base.to(tl.int64)")

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        way, of = call.option("way", "sum"), call.operands[0].dtype
        for values in elements(call, operands):
            if way == "product":
                watch.compute("mul", values[0], values[1], of)
            elif way == "difference":
                watch.compute("sub", 0, values[0], of)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        way, of = call.option("way", "sum"), call.operands[0].dtype
        offset = operands[0]
        if way == "product":
            offset = lib.pointwise("mul", of, *operands)
        elif way == "difference":
            offset = lib.pointwise("sub", of, 0, offset)
        return (lib.cast(offset, to="i64"),)

    return Row(
        name="overflow.pointer", covers=(), budget=_BUDGET, draw=draw, text=text,
        results=lambda call, version: (Result(dtype="i64", shape=together(call)),), answer=answer,
        checked=checked)


def _index() -> Row:
    """Index arithmetic: places of a range times a stride and a start."""

    def draw(choices: Choices) -> Call:
        name = choices.dtype(("i32", "i64", "u32", "i16", "u8", "u64"))
        return Call(row="overflow.index", operands=(choices.block(name, ()), choices.block(name, ())),
                    options={"length": 1 << choices.whole(0, 5)}, stored=(of_types("i32", name),))

    def length(call: Call) -> int:
        found = call.number("length")
        if found not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"{found} is no length of a range")
        return found

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        of, (stride, start) = call.stored[0], operands
        for place in range(length(call)):
            watch.compute("add", watch.compute("mul", place, stride, of), start, of)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        of, (stride, start) = call.stored[0], (lib.reshape(one, shape=(1,)) for one in operands)
        places = lib.rows_of(operands[0], 1, list(range(length(call))), to="i32", shape=(length(call),))
        return (lib.pointwise("add", of, lib.pointwise("mul", of, places, stride), start),)

    return Row(
        name="overflow.index", covers=(), budget=_BUDGET, draw=draw,
        text=lambda call: f"tl.arange(0, {length(call)}) * x0 + x1",
        results=lambda call, version: (Result(dtype=of_types("i32", call.operands[0].dtype), shape=(length(call),)),),
        answer=answer, checked=checked)


FOLDS = {"sum": "add", "_add": "add", "_product": "mul"}
SCANS = {"cumsum": "add", "cumprod": "mul", "_add": "add"}
"""Functions of Triton, and of the user's for `tl.reduce` and `tl.associative_scan`."""
_LIBRARY = ("sum", "cumsum", "cumprod")


def _library(call: Call, backend: str) -> str:
    if backend == "interpreter" and call.options["by"] in _LIBRARY:
        return f"the interpreter gives tl.{call.options['by']} to numpy, which checks nothing"
    return ""


def _folded(scan: bool) -> Row:
    functions, name = (SCANS, "overflow.scan") if scan else (FOLDS, "overflow.fold")

    def draw(choices: Choices) -> Call:
        function = choices.one(tuple(functions))
        types = ("i32", "u32", "i64", "u64") if function in _LIBRARY else INTEGERS
        one, shape = choices.dtype(types), choices.shape(low=1, high=2, most=_MOST, least=2)
        options: Options = {"by": function, "axis": choices.whole(0, len(shape) - 1)}
        if scan:
            options["reverse"] = choices.flag()
        return Call(row=name, operands=(choices.block(one, shape),), options=options, stored=(one,))

    def parts(call: Call) -> tuple[str, int]:
        function, axis = str(call.options["by"]), call.number("axis")
        one, shape = call.operands[0].dtype, call.operands[0].shape
        if function not in functions or not 0 <= axis < len(shape) or (
                function in _LIBRARY and dtype(one).bits < 32):
            raise ValueError(f"{function} along axis {axis} of {one} is no call of this row")
        return function, axis

    def text(call: Call) -> str:
        function, axis = parts(call)
        reverse = f", reverse={bool(call.option('reverse'))}" if scan else ""
        if function in _LIBRARY:
            return f"tl.{function}(x0, axis={axis}{reverse})"
        return f"tl.{'associative_scan' if scan else 'reduce'}(x0, {axis}, {function}{reverse})"

    def shape(call: Call) -> tuple[int, ...]:
        _, axis = parts(call)
        whole = call.operands[0].shape
        return whole if scan else whole[:axis] + whole[axis + 1:]

    def checked(call: Call, watch: Watch, operands: Values) -> None:
        function, _ = parts(call)
        for line in lines(call, operands[0]):
            turned = line[::-1] if scan and call.option("reverse") else line
            watch.fold(functions[function], turned, call.stored[0], prefixes=scan)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        function, axis = parts(call)
        kind = "sum" if functions[function] == "add" else "product"
        if scan:
            return (lib.scan(operands[0], kind=kind, axis=axis, reverse=bool(call.option("reverse"))),)
        return (lib.fold(operands[0], kind=kind, axis=axis, keep=False),)

    return Row(
        name=name, covers=(), budget=_BUDGET, draw=draw, text=text, refused=_library,
        results=lambda call, version: (Result(dtype=call.operands[0].dtype, shape=shape(call)),), answer=answer,
        checked=checked,
        contents=lambda call: (functions[str(call.options["by"])],))


def lines(call: Call, values: Sequence[int]) -> list[list[int]]:
    """The elements that are folded together, of one program."""
    shape, axis = call.operands[0].shape, call.number("axis")
    step = 1
    for extent in shape[axis + 1:]:
        step *= extent
    return [[values[outer * step * shape[axis] + place * step + inner] for place in range(shape[axis])]
            for outer in range(len(values) // (step * shape[axis])) for inner in range(step)]


def _quiet() -> Row:
    """Operations that no option checks: what wraps there is right."""
    texts = {"floordiv": "x0 // x1", "lshift": "x0 << (x1 & {bits})", "abs": "tl.abs(x0)", "narrow": "x0.to({half})",
             "xor": "x0 ^ x1", "max": "tl.maximum(x0, x1)"}
    ops = {"floordiv": "floordiv_operator", "xor": "bitwise_xor", "max": "maximum_int"}
    halves = {"i64": "i32", "i32": "i16", "i16": "i8", "u64": "u32", "u32": "u16", "u16": "u8"}

    def draw(choices: Choices) -> Call:
        op = choices.one(tuple(texts))
        name = choices.dtype(tuple(halves))
        shape = _shape(choices)
        operands = tuple(choices.block(name, shape) for _ in range(2 if "x1" in texts[op] else 1))
        return Call(row="overflow.nothing", operands=operands, options={"op": op},
                    stored=(halves[name] if op == "narrow" else name,))

    def text(call: Call) -> str:
        one = call.operands[0].dtype
        return texts[str(call.options["op"])].format(bits=dtype(one).bits - 1, half=TRITON_NAMES[halves[one]])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        op, of = str(call.options["op"]), call.operands[0].dtype
        if op == "narrow":
            return (lib.cast(operands[0], to=call.stored[0]),)
        if op == "abs":
            return (lib.pointwise("abs", of, *operands),)
        if op == "lshift":
            return (lib.pointwise("left_shift", of, operands[0], lib.pointwise(
                "bitwise_and", of, operands[1], dtype(of).bits - 1)),)
        if op == "max":
            return (lib.where(lib.pointwise("gt", of, *operands), *operands, computed=of),)
        return (lib.pointwise(ops[op], of, *operands),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        op, of = str(call.options["op"]), call.operands[0].dtype
        known = lib.pointwise("eq", of, operands[0], operands[0])
        return (lib.pointwise_defined("floordiv_operator", of, *operands) if op == "floordiv" else known,)

    return Row(
        name="overflow.nothing", covers=(), budget=_BUDGET, draw=draw, text=text,
        results=lambda call, version: (Result(dtype=halves[call.operands[0].dtype] if call.options["op"] == "narrow"
                                              else call.operands[0].dtype, shape=together(call)),),
        answer=answer, defined=defined, checked=lambda call, watch, operands: None)


ROWS = (*(_binary(op) for op in SYMBOLS), _negated(), _ceiling(), _pointer(), _index(), _folded(False), _folded(True),
        _quiet())
