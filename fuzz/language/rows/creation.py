"""Blocks made of nothing: ranges, constants of every type, program numbers."""

from tridiff.fuzz.language.choices import EVERY, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.movement import shape_of, spelled
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM

ANCHOR = Operand(dtype="i32", shape=(1,))
"""An operand that says how many rows there are; the call does not use it."""


def _arange() -> Row:
    def draw(choices: Choices) -> Call:
        length = choices.one([1 << power for power in range(11)])
        start = choices.often(0, 1, 3, 17, 128, 1000)
        return Call(row="tl.arange", operands=(ANCHOR,), options={"start": start, "end": start + length},
                    stored=("i32",))

    def numbers(call: Call) -> list[int]:
        return list(range(call.number("start"), call.number("end")))

    return Row(
        name="tl.arange", draw=draw,
        text=lambda call: f"tl.arange({call.options['start']}, {call.options['end']})",
        results=lambda call, version: (Result(dtype="i32", shape=(len(numbers(call)),)),),
        answer=lambda call, lib, operands: (lib.rows_of(operands[0], operands[0].shape[0], numbers(call), to="i32",
                                                        shape=(len(numbers(call)),)),))


def _full() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(tuple(name for name in EVERY))
        number = choices.number(like=one)
        if one.startswith("fp8"):
            number = Operand(kind="number", dtype="fp32", number=choices.one(("0.0", "1.0", "-1.5", "0.5", "-0.0")))
        return Call(row="tl.full", operands=(ANCHOR, number), stored=(one,),
                    options={"shape": spelled(choices.shape(low=0)), "way": choices.one(("tuple", "list"))})

    def shape(call: Call) -> tuple[int, ...]:
        return shape_of(call.options["shape"])

    def written(call: Call) -> str:
        listed = ", ".join(map(str, shape(call)))
        if call.option("way") == "list":
            return f"[{listed}]"
        return f"({listed}{',' if len(shape(call)) == 1 else ''})"

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        count = Result(dtype="i32", shape=shape(call)).elements
        return (lib.rows_of(operands[0], operands[0].shape[0], [call.operands[1].value] * count, to=call.stored[0],
                            shape=shape(call)),)

    return Row(
        name="tl.full", draw=draw,
        text=lambda call: f"tl.full({written(call)}, {call.operands[1].number}, {TRITON_NAMES[call.stored[0]]})",
        results=of_shape(shape),
        answer=answer, rules=lambda call: (NUM if dtype(call.stored[0]).is_float else BIT,))


def _zeros(name: str, text: str) -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY), choices.shape(low=1)
        return Call(row=name, operands=(choices.block(one, shape),), stored=(one,))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        shape = call.operands[0].shape
        return (lib.rows_of(operands[0], operands[0].shape[0], [0] * Result(dtype="i8", shape=shape).elements,
                            to=call.stored[0], shape=shape),)

    return Row(
        name=name, draw=draw,
        text=lambda call: text.format(shape=list(call.operands[0].shape), dtype=TRITON_NAMES[call.stored[0]]),
        answer=answer)


def _program() -> Row:
    """The number of a program, and how many there are; one program a row, axes 1 and 2 of one program."""

    def draw(choices: Choices) -> Call:
        return Call(row="tl.program_id", operands=(ANCHOR,), stored=("i32",),
                    options={"axis": choices.whole(0, 2), "what": choices.one(("program_id", "num_programs"))})

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        rows, axis = operands[0].shape[0], call.number("axis")
        if call.options["what"] == "num_programs":
            return (lib.rows_of(operands[0], rows, [rows if axis == 0 else 1], to="i32", shape=()),)
        if axis:
            return (lib.rows_of(operands[0], rows, [0], to="i32", shape=()),)
        every = lib.rows_of(operands[0], 1, list(range(rows)), to="i32", shape=(rows,))
        return (every.reshape(rows),)

    return Row(
        name="tl.program_id", covers=("tl.program_id", "tl.num_programs"), draw=draw,
        text=lambda call: f"tl.{call.options['what']}({call.options['axis']})",
        results=lambda call, version: (Result(dtype="i32"),), answer=answer, across=True)


def _swizzle() -> Row:
    def draw(choices: Choices) -> Call:
        sizes = {"size_i": choices.one((1, 2, 3, 4, 5, 8)), "size_j": choices.one((1, 2, 3, 4, 7)),
                 "size_g": choices.one((1, 2, 3, 4))}
        return Call(row="tl.swizzle2d", operands=(Operand(dtype="i32", shape=(8,)), Operand(dtype="i32", shape=(8,))),
                    options=dict(sizes), stored=("i32", "i32"))

    def places(call: Call, lib: Library, operands: Values) -> Values:
        i, j = (lib.pointwise("remainder", "i32", lib.pointwise("bitwise_and", "i32", one, 0x7FFF), call.number(size))
                for one, size in zip(operands, ("size_i", "size_j"), strict=True))
        return lib.swizzled(i, j, **{name: call.number(name) for name in ("size_i", "size_j", "size_g")})

    return Row(
        name="tl.swizzle2d", draw=draw,
        text=lambda call: "tl.swizzle2d((x0 & 0x7FFF) % {size_i}, (x1 & 0x7FFF) % {size_j}, {size_i}, {size_j}, "
                          "{size_g})".format(**call.options),
        results=lambda call, version: (Result(dtype="i32", shape=(8,)),) * 2, answer=places)


ROWS = (
    _arange(), _full(), _zeros("tl.zeros", "tl.zeros({shape}, {dtype})"),
    _zeros("tl.zeros_like", "tl.zeros_like(x0)"), _program(), _swizzle(),
)
