"""Sorting, the first k, histograms."""

from typing import Any

from tridiff.fuzz.language.choices import NUMBERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.reductions import exact
from tridiff.fuzz.language.texts import keywords
from tridiff.kernels.language.call import Call, Operand, Options, Result


def _without_nan(call: Call, lib: Library, operands: Values, shape: tuple[int, ...]) -> Values:
    """Where the order is defined: no NaN in the line (contract: language.md §2)."""
    line = lib.has_nan(operands[0], axis=-1, keep=True)
    return ((~line).expand(-1, *shape),)


def _order(choices: Choices, shape: tuple[int, ...]) -> Options:
    """Whether the line falls, and its axis, each given or left to the default."""
    options: Options = {}
    if choices.flag():
        options["descending"] = choices.flag()
    if choices.whole(0, 3) == 3:
        options["dim"] = len(shape) - 1
    return options


def _sorted(name: str, *, method: bool = False) -> Row:
    """The last axis in order."""
    start = "x0.sort(" if method else "tl.sort(x0"
    row = "tensor.sort" if method else name

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(NUMBERS), choices.shape(high=3, most=512, many_steps=True)
        options = _order(choices, shape)
        return Call(row=row, operands=(choices.block(one, shape),), options=options, stored=(one,))

    def text(call: Call) -> str:
        said = ", ".join(f"{key}={call.options[key]}" for key in ("dim", "descending") if key in call.options)
        return f"{start}{', ' if said and not method else ''}{said})"

    return Row(
        name=row, covers=(name, "tensor.sort") if method else (name,), draw=draw, text=text,
        answer=lambda call, lib, operands: (lib.sort(operands[0], descending=bool(call.option("descending"))),),
        rules=lambda call: (exact(call.stored[0]),),
        defined=lambda call, lib, operands: _without_nan(call, lib, operands, call.operands[0].shape))


def _topk() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(NUMBERS), choices.shape(high=3, most=512, many_steps=True)
        k = choices.one([1 << power for power in range(shape[-1].bit_length())])
        options: Options = {"k": k}
        if choices.whole(0, 3) == 3:
            options["dim"] = len(shape) - 1
        if choices.whole(0, 2) == 2:
            options["descending"] = choices.flag()
        return Call(row="tl.topk", operands=(choices.block(one, shape),), options=options, stored=(one,))

    def best(call: Call, lib: Library, x: Any) -> Any:
        found, k = lib.sort(x, descending=bool(call.option("descending", True))), call.number("k")
        rows, shape = found.shape[0], (*call.operands[0].shape[:-1], k)
        lines = Result(dtype="i32", shape=shape).elements // k
        places = lib.rows_of(found, rows, list(range(k)) * lines, to="i32", shape=shape)
        return lib.gather(found, places, axis=-1)

    return Row(
        name="tl.topk", method=True, draw=draw,
        text=lambda call: f"tl.topk(x0, {call.options['k']}{keywords(call, 'dim', 'descending')})",
        newer={"descending": "3.8.0"},
        results=lambda call, version: (Result(dtype=call.stored[0], shape=(*call.operands[0].shape[:-1],
                                                                           call.number("k"))),),
        answer=lambda call, lib, operands: (best(call, lib, operands[0]),),
        rules=lambda call: (exact(call.stored[0]),),
        defined=lambda call, lib, operands: _without_nan(
            call, lib, operands, (*call.operands[0].shape[:-1], call.number("k"))))


def _histogram() -> Row:
    def draw(choices: Choices) -> Call:
        shape = choices.shape(high=1, most=512)
        bins = choices.one((2, 4, 8, 16, 32, 64, 128, 256))
        operands: tuple[Operand, ...] = (choices.block(choices.dtype(("i32", "u32")), shape),)
        if choices.whole(0, 2) == 2:
            operands += (choices.block("i1", shape),)
        return Call(row="tl.histogram", operands=operands, options={"bins": bins}, stored=("i32",))

    def counted(call: Call, lib: Library, operands: Values) -> Any:
        bins = call.number("bins")
        words = lib.pointwise("bitwise_and", call.operands[0].dtype, operands[0], 2 * bins - 1)
        inside = lib.pointwise("bitwise_and", call.operands[0].dtype, words, bins - 1)
        return lib.histogram(inside, bins=bins, mask=operands[1] if len(operands) > 1 else None)

    return Row(
        name="tl.histogram", method=True, draw=draw,
        text=lambda call: f"tl.histogram(x0 & {call.number('bins') - 1}, {call.options['bins']}" + (
            ", mask=x1)" if len(call.operands) > 1 else ")"),
        results=lambda call, version: (Result(dtype="i32", shape=(call.number("bins"),)),),
        answer=lambda call, lib, operands: (counted(call, lib, operands),))


def _merge() -> Row:
    """Lines that rise and then fall, brought in order: the halves of each are sorted before, one of them downwards."""

    def draw(choices: Choices) -> Call:
        one = choices.dtype(("i32", "i64", "u32", "u64", "fp32", "fp64"))
        # Blocks are up to eight times as large, and the line has the elements of both.
        shape = choices.shape(high=2, most=min(256, choices.limits.elements // 16), many_steps=True)
        options = _order(choices, shape)
        return Call(row="tl.bitonic_merge", operands=(choices.block(one, shape), choices.block(one, shape)),
                    options=options, stored=(one,))

    def text(call: Call) -> str:
        rank = len(call.operands[0].shape)
        order = [*range(rank - 1), rank, rank - 1]
        shape = [*call.operands[0].shape[:-1], 2 * call.operands[0].shape[-1]]
        return "\n".join([
            "both = tl.join(tl.sort(x0), tl.sort(x1, descending=True))",
            f"hill = tl.permute(both, {order}).reshape({shape})",
            f"r0 = tl.bitonic_merge(hill{keywords(call, 'dim', 'descending')})"])

    def shape(call: Call) -> tuple[int, ...]:
        return (*call.operands[0].shape[:-1], 2 * call.operands[0].shape[-1])

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        lines = [lib.has_nan(one, axis=-1, keep=True) for one in operands]
        return ((~(lines[0] | lines[1])).expand(-1, *shape(call)),)

    return Row(
        name="tl.bitonic_merge", draw=draw, text=text,
        results=of_shape(shape),
        answer=lambda call, lib, operands: (lib.sort(lib.cat(*operands, axis=-1),
                                                     descending=bool(call.option("descending"))),),
        rules=lambda call: (exact(call.stored[0]),), defined=defined)


ROWS = (_sorted("tl.sort"), _sorted("tl.sort", method=True), _topk(), _merge(), _histogram())
