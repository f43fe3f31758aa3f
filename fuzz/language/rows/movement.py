"""Functions that move elements and change nothing: shapes, axes, joins, halves, gathers. Every element type."""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import EVERY, INTEGERS, Choices, axis_spelled, broadcast
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.oracles.dtypes import dtype

Shape = tuple[int, ...]


def _listed(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def shape_of(text: bool | int | str) -> Shape:
    """A shape or an order written as "4x8"."""
    return tuple(int(one) for one in str(text).split("x") if one)


def spelled(shape: Shape) -> str:
    return "x".join(map(str, shape))


def _moving(name: str, covers: tuple[str, ...], *, options: Callable[[Choices, Shape], Options],
            text: Callable[[Call], str], moved: Callable[[Any, Call, Any], Any],
            becomes: Callable[[Call], Shape], dtypes: tuple[str, ...] = EVERY, low: int = 1, high: int = 4,
            since: str = "") -> Row:
    """A function of one block. moved: by a library, the call and the block; becomes: the new shape."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(dtypes), choices.shape(low=low, high=high)
        return Call(row=name, operands=(choices.block(one, shape),), options=options(choices, shape), stored=(one,))

    return Row(
        name=name, covers=covers, draw=draw, text=text, since=since,
        results=of_shape(becomes),
        answer=lambda call, lib, operands: (moved(lib, call, operands[0]),))


def _regrouped(choices: Choices, shape: Shape) -> Options:
    """Another shape with as many elements."""
    left, found = Result(dtype="i8", shape=shape).elements, []
    for _ in range(choices.whole(0, 3)):
        found.append(choices.one([1 << k for k in range(left.bit_length())]))
        left //= found[-1]
    found.append(left)
    return {"shape": spelled(tuple(found)), "way": choices.one(("list", "arguments", "method"))}


def _listing(function: str, option: str) -> Callable[[Call], str]:
    """A function of a block and whole numbers, in each of the ways in which these may be given."""
    def text(call: Call) -> str:
        numbers = shape_of(call.options[option])
        if call.option("way") == "method":
            return f"x0.{function}({', '.join(map(str, numbers))})"
        given = _listed(numbers) if call.option("way") == "list" else ", ".join(map(str, numbers))
        return f"tl.{function}(x0, {given})"

    return text


def _order(choices: Choices, shape: Shape) -> Options:
    order = tuple(choices.order(len(shape)))
    return {"order": spelled(order), "way": choices.one(("list", "arguments", "method"))}


def _after_order(call: Call) -> Shape:
    shape = call.operands[0].shape
    return tuple(shape[one] for one in shape_of(call.options["order"]))


def _expanded(call: Call) -> Shape:
    shape = call.operands[0].shape
    axis = call.number("axis") % (len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _indexed(call: Call) -> Shape:
    found, left = [], list(call.operands[0].shape)
    for one in str(call.options["index"]):
        found.append(1 if one == "n" else left.pop(0))
    return tuple(found)


def _index(choices: Choices, shape: Shape) -> Options:
    places = [":"] * len(shape)
    for _ in range(choices.whole(1, 2)):
        places.insert(choices.whole(0, len(places)), "n")
    return {"index": "".join(places)}


def _with_ones(choices: Choices, one: str) -> tuple[Operand, Shape]:
    shape = choices.shape(high=4)
    narrow = tuple(extent if choices.flag() else 1 for extent in shape)
    return choices.block(one, narrow), shape


def _broadcast_to() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(EVERY)
        block, shape = _with_ones(choices, one)
        return Call(row="tl.broadcast_to", operands=(block,), stored=(one,), options={
            "shape": spelled(shape), "way": choices.one(("list", "arguments", "method"))})

    return Row(
        name="tl.broadcast_to", method=True, draw=draw,
        text=_listing("broadcast_to", "shape"),
        results=of_shape(lambda call: shape_of(call.options["shape"])),
        answer=lambda call, lib, operands: (lib.broadcast(operands[0], shape=shape_of(call.options["shape"])),))


def _pair(name: str, covers: tuple[str, ...], *, text: Callable[[Call], str], becomes: Callable[[Call], Shape],
          moved: Callable[[Any, Call, Any, Any], Any], alike: bool = True, high: int = 4,
          options: Callable[[Choices, Shape], Options] = lambda choices, shape: {}, since: str = "") -> Row:
    """A function of two blocks of one type. alike: of one shape, too."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY), choices.shape(high=high)
        other = shape if alike or choices.flag() else choices.partner(shape)
        return Call(row=name, operands=(choices.block(one, shape), choices.block(one, other)),
                    options=options(choices, shape), stored=(one,))

    return Row(
        name=name, covers=covers, draw=draw, text=text, since=since,
        results=of_shape(becomes),
        answer=lambda call, lib, operands: (moved(lib, call, operands[0], operands[1]),))


def _both(call: Call) -> Shape:
    return broadcast(call.operands[0].shape, call.operands[1].shape)


def _catted(call: Call) -> Shape:
    shape, axis = call.operands[0].shape, call.number("dim") % len(call.operands[0].shape)
    return (*shape[:axis], 2 * shape[axis], *shape[axis + 1:])


def _broadcast() -> Row:
    """Both blocks in the shape of both."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY), choices.shape(high=4)
        operands = choices.block(one, shape), choices.block(one, choices.partner(shape))
        return Call(row="tl.broadcast", operands=operands, stored=(one, one))

    return Row(
        name="tl.broadcast", draw=draw,
        text=lambda call: "tl.broadcast(x0, x1)",
        results=of_shape(_both),
        answer=lambda call, lib, operands: tuple(lib.broadcast(one, shape=_both(call)) for one in operands))


def _split() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY), choices.shape(low=0, high=3)
        return Call(row="tl.split", operands=(choices.block(one, (*shape, 2)),), stored=(one, one),
                    options={"way": choices.one(("function", "method"))})

    return Row(
        name="tl.split", method=True, draw=draw,
        text=lambda call: "x0.split()" if call.option("way") == "method" else "tl.split(x0)",
        results=lambda call, version: tuple(Result(dtype=one, shape=call.operands[0].shape[:-1])
                                            for one in call.stored),
        answer=lambda call, lib, operands: (lib.half(operands[0], number=0), lib.half(operands[0], number=1)))


def _gather() -> Row:
    """Indices within the axis."""

    def draw(choices: Choices) -> Call:
        one, index = choices.dtype(EVERY), choices.dtype(INTEGERS)
        shape = choices.shape(high=3)
        axis = axis_spelled(choices, len(shape))
        place = axis % len(shape)
        length = choices.often(shape[place], 1, 2, 4, 8, 16)
        places = (*shape[:place], length, *shape[place + 1:])
        return Call(row="tl.gather", operands=(choices.block(one, shape), choices.block(index, places)),
                    options={"axis": axis}, stored=(one,))

    def within(call: Call, lib: Library, operands: Values) -> Any:
        extent = call.operands[0].shape[call.number("axis") % len(call.operands[0].shape)]
        return lib.pointwise("bitwise_and", call.operands[1].dtype, operands[1],
                             min(extent - 1, int(dtype(call.operands[1].dtype).max)))

    return Row(
        name="tl.gather", method=True, draw=draw,
        text=lambda call: f"tl.gather(x0, x1 & {_mask(call)}, {call.options['axis']})",
        results=of_shape(lambda call: call.operands[1].shape),
        answer=lambda call, lib, operands: (lib.gather(operands[0], within(call, lib, operands),
                                                       axis=call.number("axis")),))


def _mask(call: Call) -> int:
    extent = call.operands[0].shape[call.number("axis") % len(call.operands[0].shape)]
    return min(extent - 1, int(dtype(call.operands[1].dtype).max))


def _line(call: Call) -> Shape:
    return (Result(dtype="i8", shape=call.operands[0].shape).elements,)


def _flip_options(choices: Choices, shape: Shape) -> Options:
    return {"dim": axis_spelled(choices, len(shape))} if choices.flag() else {}


def _flipped(call: Call) -> int:
    return call.number("dim", -1)


ROWS = (
    _moving("tl.reshape", ("tl.reshape", "tensor.reshape"), options=_regrouped, text=_listing("reshape", "shape"),
            moved=lambda lib, call, x: lib.reshape(x, shape=shape_of(call.options["shape"])),
            becomes=lambda call: shape_of(call.options["shape"])),
    _moving("tl.permute", ("tl.permute", "tensor.permute"), options=_order, text=_listing("permute", "order"),
            moved=lambda lib, call, x: lib.permute(x, order=shape_of(call.options["order"])), becomes=_after_order),
    _moving("tl.trans", ("tl.trans", "tensor.trans"), options=_order, text=_listing("trans", "order"), low=2,
            moved=lambda lib, call, x: lib.permute(x, order=shape_of(call.options["order"])), becomes=_after_order),
    _moving("tl.trans.default", ("tl.trans", "tensor.T"), low=2, high=2,
            options=lambda choices, shape: {"way": choices.one(("function", "attribute"))},
            text=lambda call: "x0.T" if call.option("way") == "attribute" else "tl.trans(x0)",
            moved=lambda lib, call, x: lib.permute(x, order=(1, 0)),
            becomes=lambda call: (call.operands[0].shape[1], call.operands[0].shape[0])),
    _moving("tl.expand_dims", ("tl.expand_dims", "tensor.expand_dims"),
            options=lambda choices, shape: {"axis": axis_spelled(choices, len(shape) + 1),
                                            "way": choices.one(("function", "method"))},
            text=lambda call: f"x0.expand_dims({call.options['axis']})" if call.option("way") == "method" else (
                f"tl.expand_dims(x0, {call.options['axis']})"),
            moved=lambda lib, call, x: lib.reshape(x, shape=_expanded(call)), becomes=_expanded),
    _moving("tensor.getitem", ("tensor.__getitem__",), options=_index, high=3,
            text=lambda call: f"x0[{', '.join(str(call.options['index'])).replace('n', 'None')}]",
            moved=lambda lib, call, x: lib.reshape(x, shape=_indexed(call)), becomes=_indexed),
    _moving("tl.ravel", ("tl.ravel", "tensor.ravel"), options=lambda choices, shape: {},
            text=lambda call: "tl.ravel(x0)",
            moved=lambda lib, call, x: lib.reshape(x, shape=_line(call)), becomes=_line),
    _moving("tl.flip", ("tl.flip", "tensor.flip"), options=_flip_options,
            text=lambda call: f"tl.flip(x0, {call.options['dim']})" if "dim" in call.options else "tl.flip(x0)",
            moved=lambda lib, call, x: lib.flip(x, axis=_flipped(call)), becomes=lambda call: call.operands[0].shape),
    _moving("tl.squeeze", ("tl.squeeze", "tensor.squeeze"), since="3.7.0",
            options=lambda choices, shape: {"dim": choices.whole(0, len(shape))}, high=3,
            text=lambda call: f"tl.squeeze(tl.expand_dims(x0, {call.options['dim']}), {call.options['dim']})",
            moved=lambda lib, call, x: x, becomes=lambda call: call.operands[0].shape),
    _moving("tl.unsqueeze", ("tl.unsqueeze", "tensor.unsqueeze"), since="3.7.0", high=3,
            options=lambda choices, shape: {"axis": choices.whole(0, len(shape))},
            text=lambda call: f"tl.unsqueeze(x0, {call.options['axis']})",
            moved=lambda lib, call, x: lib.reshape(x, shape=_expanded(call)), becomes=_expanded),
    _broadcast_to(), _split(), _gather(),
    _broadcast(),
    _pair("tl.join", ("tl.join",), text=lambda call: "tl.join(x0, x1)", alike=False, high=3,
          becomes=lambda call: (*_both(call), 2), moved=lambda lib, call, a, b: lib.join(a, b)),
    _pair("tl.interleave", ("tl.interleave",), text=lambda call: "tl.interleave(x0, x1)",
          becomes=lambda call: (*call.operands[0].shape[:-1], 2 * call.operands[0].shape[-1]),
          moved=lambda lib, call, a, b: lib.interleave(a, b)),
    _pair("tl.cat", ("tl.cat",), text=lambda call: f"tl.cat(x0, x1, dim={call.options['dim']})", since="3.7.0",
          options=lambda choices, shape: {"dim": axis_spelled(choices, len(shape))}, becomes=_catted,
          moved=lambda lib, call, a, b: lib.cat(a, b, axis=call.number("dim"))),
)
