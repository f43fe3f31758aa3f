"""Loads and stores with masks and other values, atomics, block pointers."""

from tridiff.fuzz.language.choices import EVERY, INTEGERS, NUMBERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows import atomics, pointers, rereads, truths
from tridiff.fuzz.language.rows.atomics import place
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM

_CACHES = {"tl.load": ("ca", "cg", "cv"), "tl.store": ("wb", "cg", "cs", "wt")}
"""Cache modifiers of loads and of stores, without their dot."""
_EVICTIONS = ("evict_first", "evict_last")


def _hints(choices: Choices) -> Options:
    options: Options = {}
    if choices.whole(0, 3) == 3:
        options["cache"] = choices.one(_CACHES["tl.load"])
    if choices.whole(0, 3) == 3:
        options["evict"] = choices.one(_EVICTIONS)
    if choices.whole(0, 5) == 5:
        options["volatile"] = choices.flag()
    return options


def _said(call: Call) -> str:
    """The hints as arguments. Raises ValueError for a word that is none: it comes from a stranger's file."""
    found = ""
    if call.options.get("cache", "") not in ("", *_CACHES[call.row]) or (
            call.options.get("evict", "") not in ("", *_EVICTIONS)):
        raise ValueError(f"{call.row} has no such hint")
    if "cache" in call.options:
        found += f', cache_modifier=".{call.options["cache"]}"'
    if "evict" in call.options:
        found += f', eviction_policy="{call.options["evict"]}"'
    return found + (f", volatile={call.options['volatile']}" if "volatile" in call.options else "")


def _load() -> Row:
    """Where the mask is false, the other value: a number, a block, or by Triton's contract anything."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype((*NUMBERS, "fp8e5", "fp8e4nv")), choices.shape(high=3)
        other = choices.one(("none", "block", "number") if not one.startswith("fp8") else ("none", "block"))
        operands: tuple[Operand, ...] = (choices.block(one, shape), choices.block("i1", shape))
        if other == "number":
            operands += (choices.number(like=one),)
        elif other == "block":
            operands += (choices.block(one, shape),)
        return Call(row="tl.load", operands=operands, options=_hints(choices), stored=(one,))

    def text(call: Call) -> str:
        lines = [f"mask = tl.load({place(call, 1)}).to(tl.int1)"]
        other = ""
        if len(call.operands) > 2:
            other = ", other=" + (call.operands[2].number or "filled")
            if call.operands[2].given:
                lines.append(f"filled = tl.load({place(call, 2)})")
        lines.append(f"r0 = tl.load({place(call, 0)}, mask=mask{other}{_said(call)})")
        return "\n".join(lines)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        return (lib.loaded(operands[0], operands[1], operands[2] if len(operands) > 2 else 0),)

    return Row(
        name="tl.load", draw=draw, text=text, loads=False, answer=answer,
        rules=lambda call: (NUM if dtype(call.stored[0]).is_float else BIT,),
        defined=lambda call, lib, operands: (operands[1] | (len(operands) > 2),))


def _pointer_arithmetic() -> Row:
    """Offsets of every integer type, added from both sides and subtracted."""
    forms = ("pointer + offset", "offset + pointer", "pointer - negated")

    def draw(choices: Choices) -> Call:
        one, offset = choices.dtype(NUMBERS), choices.dtype(INTEGERS)
        length = choices.one((1, 2, 8, 32, 64))
        form = choices.one(forms if offset[0] == "i" else forms[:2])
        return Call(row="pointer.arithmetic", operands=(Operand(dtype=one, shape=(64,)), Operand(dtype=offset,
                                                                                                 shape=(length,))),
                    options={"form": forms.index(form)}, stored=(one,))

    def text(call: Call) -> str:
        base = "x0_ptr + program * x0_pitch"
        form = call.number("form")
        lines = [f"offset = tl.load({place(call, 1)}) & 63", f"base = {base}"]
        return "\n".join([*lines, "r0 = tl.load(" + ("base + offset", "offset + base", "base - (-offset)")[form] + ")"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        places = lib.pointwise("bitwise_and", call.operands[1].dtype, operands[1], 63)
        return (lib.gather(operands[0], places, axis=0),)

    return Row(
        name="pointer.arithmetic", covers=("pointer",), draw=draw, text=text, loads=False,
        results=of_shape(lambda call: call.operands[1].shape),
        answer=answer)


def _block_pointer() -> Row:
    """A block of a matrix by a block pointer: padded with zeros beyond its edges."""

    def draw(choices: Choices) -> Call:
        one = choices.dtype(NUMBERS)
        height, width = choices.one((4, 8, 16)), choices.one((4, 8, 16))
        options: Options = {
            "rows": choices.one((1, 2, 4, 8, 16)), "columns": choices.one((1, 2, 4, 8, 16)),
            "down": choices.whole(0, height - 1), "right": choices.whole(0, width - 1),
            "advance": choices.flag()}
        return Call(row="tl.make_block_ptr", operands=(choices.block(one, (height, width)),), options=options,
                    stored=(one,))

    def text(call: Call) -> str:
        height, width = call.operands[0].shape
        down, right, moved = call.number("down"), call.number("right"), call.option("advance")
        start = (0, 0) if moved else (down, right)
        block = f"({call.options['rows']}, {call.options['columns']})"
        lines = [f"block = tl.make_block_ptr(x0_ptr + program * x0_pitch, ({height}, {width}), ({width}, 1), {start}, "
                 f"{block}, (1, 0))"]
        if moved:
            lines.append(f"block = tl.advance(block, ({down}, {right}))")
        return "\n".join([*lines, 'r0 = tl.load(block, boundary_check=(0, 1), padding_option="zero")'])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        height, width = call.operands[0].shape
        rows, columns = call.number("rows"), call.number("columns")
        down, right = call.number("down"), call.number("right")
        places, inside = [], []
        for row in range(down, down + rows):
            for column in range(right, right + columns):
                known = row < height and column < width
                inside.append(int(known))
                places.append(row * width + column if known else 0)
        count, x = operands[0].shape[0], operands[0]
        flat = lib.reshape(x, shape=(height * width,))
        taken = lib.gather(flat, lib.rows_of(x, count, places, to="i32", shape=(rows * columns,)), axis=0)
        known_ = lib.rows_of(x, count, inside, to="i1", shape=(rows * columns,))
        return (lib.reshape(lib.loaded(taken, known_, 0), shape=(rows, columns)),)

    return Row(
        name="tl.make_block_ptr", covers=("tl.make_block_ptr", "tl.advance", "tl.load"), draw=draw,
        text=text, loads=False, until="3.8.0", answer=answer,
        results=lambda call, version: (Result(dtype=call.stored[0], shape=(call.number("rows"),
                                                                           call.number("columns"))),),
        rules=lambda call: (NUM if dtype(call.stored[0]).is_float else BIT,))


def _store() -> Row:
    """A masked store; elsewhere what was there before."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY[1:]), choices.shape(high=3)
        options = {key: value for key, value in _hints(choices).items() if key == "evict"}
        if choices.whole(0, 3) == 3:
            options["cache"] = choices.one(_CACHES["tl.store"])
        return Call(row="tl.store", operands=(choices.block(one, shape), choices.block(one, shape),
                                              choices.block("i1", shape)), options=options, stored=(one,))

    def text(call: Call) -> str:
        return "\n".join([
            f"memory = out0_ptr + program * out0_pitch + {index(call.operands[0].shape)}",
            f"tl.store(memory, tl.load({place(call, 0)}))", "tl.debug_barrier()",
            f"tl.store(memory, tl.load({place(call, 1)}), mask=tl.load({place(call, 2)}).to(tl.int1){_said(call)})",
            "tl.debug_barrier()", "r0 = tl.load(memory)"])

    return Row(
        name="tl.store", covers=("tl.store", "tl.debug_barrier", "tensor.store"), draw=draw, text=text,
        loads=False,
        answer=lambda call, lib, operands: (lib.where(
            operands[2], operands[1], operands[0], computed=call.stored[0]),))


ROWS = (_load(), _store(), _pointer_arithmetic(), _block_pointer(), *atomics.ROWS, *pointers.ROWS, *truths.ROWS,
        *rereads.ROWS)
