"""Tensor descriptors made in the kernel: blocks loaded and stored anywhere, reductions in memory, rows gathered and
scattered.

Sources: docstrings of `tl.make_tensor_descriptor` and `tl.tensor_descriptor`. Outside of a tensor zero or NaN is read
and nothing is written.
"""

from itertools import permutations, product
from typing import Any

from tridiff.fuzz.language.choices import FLOATS, INTEGERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.rows.movement import shape_of, spelled
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, Rule

_TYPES = (*INTEGERS, *FLOATS)
FENCE = ('tl.inline_asm_elementwise("fence.proxy.async.global; mov.b32 $0, $1;", "=r,r", (tl.program_id(0),), '
         "dtype=tl.int32, is_pure=False, pack=1)")
"""Writes of the kernel before it come before transfers by descriptors behind it (PTX ISA, async proxy)."""


def _strides(shape: tuple[int, ...]) -> list[int]:
    found, step = [], 1
    for extent in reversed(shape):
        found.append(step)
        step *= extent
    return found[::-1]


def _made(name: str, array: str, shape: tuple[int, ...], block: tuple[int, ...], padding: str = "") -> str:
    said = f', padding_option="{padding}"' if padding else ""
    return (f"{name} = tl.make_tensor_descriptor({array}_ptr + program * {array}_pitch, {list(shape)}, "
            f"{_strides(shape)}, {list(block)}{said})")


def _block(choices: Choices, name: str, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape and a block in it: rows of a multiple of 16 bytes."""
    least = _unit(name)
    block = (*(choices.one((1, 2, 4, 8)) for _ in range(rank - 1)), least * choices.one((1, 2)))
    more = tuple(choices.one((1, 2, 3)) * extent + choices.one((0, 0, 1)) for extent in block[:-1])
    return (*more, least * choices.one((1, 2, 3, 4))), block


def _unit(name: str) -> int:
    """Elements in 16 bytes. The first column of a block is a multiple of them: `tl.tensor_descriptor.load` and `store`
    ask for that ("Offset must be a multiple of 16-bytes"), and an H200 ends kernels that break it with an illegal
    instruction."""
    return 16 * 8 // dtype(name).bits


def _rule(name: str) -> Rule:
    return NUM if dtype(name).is_float else BIT


def _moved(call: Call, lib: Library, x: Any, steps: tuple[int, ...], filler: float) -> Any:
    """The tensor read `steps` further on, with the filler outside of it."""
    shape = call.operands[0].shape
    strides, places, inside = _strides(shape), [], []
    for place in product(*(range(extent) for extent in shape)):
        there = [one + step for one, step in zip(place, steps, strict=True)]
        known = all(0 <= one < extent for one, extent in zip(there, shape, strict=True))
        inside.append(int(known))
        places.append(sum(one * stride for one, stride in zip(there, strides, strict=True)) if known else 0)
    rows, count = x.shape[0], len(places)
    taken = lib.gather(lib.reshape(x, shape=(count,)), lib.rows_of(x, rows, places, to="i32", shape=(count,)), axis=0)
    return lib.reshape(lib.loaded(taken, lib.rows_of(x, rows, inside, to="i1", shape=(count,)), filler), shape=shape)


def _copy() -> Row:
    """Every block of a tensor loaded by one descriptor, some steps further on, and stored by another one."""

    def draw(choices: Choices) -> Call:
        name, rank = choices.dtype(_TYPES), choices.one((2, 2, 1, 3))
        shape, block = _block(choices, name, rank)
        unit, last = _unit(name), block[-1]
        steps = (*(choices.often(0, -extent, -1, 1, extent // 2, extent) for extent in block[:-1]),
                 choices.often(0, -last, -unit, unit, last // 2 // unit * unit, last))
        options: Options = {
            "block": spelled(block), "steps": "".join(
                f"{'m' if step < 0 else 'p'}{abs(step)}" for step in steps), "way": choices.one(("m", "f"))}
        if dtype(name).is_float and choices.flag():
            options["padding"] = choices.one(("nan", "zero"))
        return Call(row="tl.make_tensor_descriptor", operands=(choices.block(name, shape),), options=options,
                    stored=(name,))

    def steps_of(call: Call) -> tuple[int, ...]:
        text = str(call.options["steps"]).replace("p", " +").replace("m", " -")
        return tuple(int(one) for one in text.split())

    def text(call: Call) -> str:
        shape, block = call.operands[0].shape, shape_of(call.options["block"])
        lines = [_made("source", "x0", shape, block, str(call.option("padding", ""))),
                 _made("target", "out0", shape, block)]
        names = "ijklm"[:len(shape)]
        for depth, (name, extent, size) in enumerate(zip(names, shape, block, strict=True)):
            lines.append("    " * depth + f"for {name} in range(0, {extent}, {size}):")
        places = ", ".join(f"{name} + {step}" for name, step in zip(names, steps_of(call), strict=True))
        there = ", ".join(names)
        indent = "    " * len(shape)
        if call.options["way"] == "m":
            lines += [f"{indent}found = source.load([{places}])", f"{indent}target.store([{there}], found)"]
        else:
            lines += [f"{indent}found = tl.load_tensor_descriptor(source, [{places}])",
                      f"{indent}tl.store_tensor_descriptor(target, [{there}], found)"]
        return "\n".join(lines)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        filler = float("nan") if call.option("padding", "") == "nan" else 0
        return (_moved(call, lib, operands[0], steps_of(call), filler),)

    return Row(
        name="tl.make_tensor_descriptor", draw=draw, text=text, loads=False, stores=False,
        covers=("tl.make_tensor_descriptor", "tl.load_tensor_descriptor", "tl.store_tensor_descriptor",
                "tl.tensor_descriptor"), aligned=True, answer=answer,
        rules=lambda call: (_rule(call.stored[0]),))


_REDUCTIONS = {"atomic_add": ("add", ("i32", "u32", "u64", "fp32", "fp16", "bf16")),
               "atomic_min": ("fmin", ("i32", "u32", "i64", "u64")),
               "atomic_max": ("fmax", ("i32", "u32", "i64", "u64")),
               "atomic_and": ("bitwise_and", ("i32", "u32", "i64", "u64")),
               "atomic_or": ("bitwise_or", ("i32", "u32", "i64", "u64")),
               "atomic_xor": ("bitwise_xor", ("i32", "u32", "i64", "u64"))}


def _reduction(name: str) -> Row:
    """Memory of the kernel's own, filled, then changed by a block at a drawn place, which may reach beyond the edge."""
    op, types = _REDUCTIONS[name]

    def draw(choices: Choices) -> Call:
        one = choices.dtype(types)
        shape, block = _block(choices, one, 2)
        options: Options = {"down": choices.whole(0, shape[0] - 1),
                                                "right": choices.one((0, shape[1] // 2 // _unit(one) * _unit(one)))}
        return Call(row=f"descriptor.{name}", operands=(choices.block(one, shape), choices.block(one, block)),
                    options=options, stored=(one,))

    def text(call: Call) -> str:
        shape, block = call.operands[0].shape, call.operands[1].shape
        count = Result(dtype="i8", shape=shape).elements
        padded = 1 << (count - 1).bit_length()
        return "\n".join([
            f"place = tl.arange(0, {padded})",
            f"held = tl.load(x0_ptr + program * x0_pitch + place, mask=place < {count})",
            f"tl.store(out0_ptr + program * out0_pitch + place, held, mask=place < {count})",
            FENCE, "tl.debug_barrier()", _made("target", "out0", shape, block),
            f"value = tl.load(x1_ptr + program * x1_pitch + {index(block)})",
            f"target.{name}([{call.options['down']}, {call.options['right']}], value)"])

    def spread(call: Call, lib: Library, operands: Values) -> tuple[Any, Any]:
        """The block where it lies in the tensor, and where that is."""
        (height, width), (rows, columns) = call.operands[0].shape, call.operands[1].shape
        places, inside = [], []
        for row, column in product(range(height), range(width)):
            down, right = row - call.number("down"), column - call.number("right")
            known = 0 <= down < rows and 0 <= right < columns
            inside.append(int(known))
            places.append(down * columns + right if known else 0)
        x, count = operands[1], height * width
        line = lib.reshape(x, shape=(rows * columns,))
        taken = lib.gather(line, lib.rows_of(x, x.shape[0], places, to="i32", shape=(count,)), axis=0)
        return (lib.reshape(taken, shape=(height, width)),
                lib.rows_of(x, x.shape[0], inside, to="i1", shape=(height, width)))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        value, inside = spread(call, lib, operands)
        changed = lib.pointwise(op, call.stored[0], operands[0], value)
        return (lib.where(inside, changed, operands[0], computed=call.stored[0]),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        from tridiff.oracles.bits import is_nan, is_subnormal

        value, inside = spread(call, lib, operands)
        total = lib.pointwise(op, call.stored[0], operands[0], value)
        known = ~(inside & ~inside)
        if dtype(call.stored[0]).is_float:
            # PTX ISA, cp.reduce.async.bulk.tensor: fp32 may flush; nothing is said of NaN.
            for one in (operands[0], value, total):
                known = known & ~is_nan(one) & ~(is_subnormal(one) & inside)
        return (known,)

    def refused(call: Call, backend: str) -> str:
        elsewhere = backend.startswith(("interpreter", "compile:")) and backend != "compile:sm_90"
        return "the fence is an instruction of sm_90" if elsewhere else ""

    return Row(
        name=f"descriptor.{name}", draw=draw, text=text,
        loads=False, stores=False, aligned=True, answer=answer, defined=defined, refused=refused,
        rules=lambda call: (_rule(call.stored[0]),))


def _rows_of_a_tensor(name: str) -> Row:
    """Rows of a matrix gathered by their numbers, or scattered to them (a permutation), from a column on."""

    def draw(choices: Choices) -> Call:
        one, number = choices.dtype(tuple(name for name in _TYPES if dtype(name).bits <= 32)), choices.one((8, 16, 32))
        columns = max(32 * 8 // dtype(one).bits, 8) * choices.one((1, 2))
        return Call(row=f"descriptor.{name}", stored=(one,), options={"dtype": choices.one(("i32", "i16"))},
                    operands=(choices.block(one, (number, columns)), choices.block("i32", (number,))))

    def text(call: Call) -> str:
        shape, said = call.operands[0].shape, {"i32": "tl.int32", "i16": "tl.int16"}[str(call.options["dtype"])]
        number = shape[0]
        lines = [f"places = (tl.load(x1_ptr + program * x1_pitch + tl.arange(0, {number})) & {number - 1}).to({said})"]
        here = f"out0_ptr + program * out0_pitch + {index(shape)}"
        if name == "gather":
            return "\n".join([*lines, _made("source", "x0", shape, (1, shape[1])),
                              "found = source.gather(places, 0)", f"tl.store({here}, found)"])
        return "\n".join([
            f"places = (tl.arange(0, {number}) ^ {number - 1}).to({said})",
            _made("target", "out0", shape, (1, shape[1])),
            f"target.scatter(tl.load(x0_ptr + program * x0_pitch + {index(shape)}), places, 0)"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        x, number = operands[0], call.operands[0].shape[0]
        if name == "scatter":
            return (lib.flip(x, axis=0),)
        places = lib.reshape(lib.pointwise("bitwise_and", "i32", operands[1], number - 1), shape=(number, 1))
        return (lib.gather(x, lib.broadcast(places, shape=call.operands[0].shape), axis=0),)

    def refused(call: Call, backend: str) -> str:
        on_hopper = backend in ("cuda", "compile:sm_90")
        return "rows are gathered and scattered by instructions of sm_100" if on_hopper else ""

    return Row(
        name=f"descriptor.{name}", draw=draw, text=text,
        loads=False, stores=False, aligned=True, answer=answer, refused=refused)


_IN_BRANCHES = ("int32", "uint32", "float32", "int64", "uint64")


def _in_branches() -> Row:
    """32 bytes, stored by a descriptor of one of several types, which the number of the program chooses."""

    def draw(choices: Choices) -> Call:
        types = choices.one(tuple(permutations(_IN_BRANCHES, choices.one((4, 2, 3)))))
        return Call(row="descriptor.branches", operands=(choices.block("i32", (8,)),),
                    options={"types": "_".join(types)}, stored=("i32",))

    def text(call: Call) -> str:
        types, lines = str(call.options["types"]).split("_"), []
        for number, name in enumerate(types):
            count = 4 if "64" in name else 8
            source, target = (f"({one}_ptr + program * {one}_pitch).to(tl.pointer_type(tl.{name}), bitcast=True)"
                              for one in ("x0", "out0"))
            lines += [f"{'elif' if number else 'if'} program % {len(types)} == {number}:",
                      f"    target = tl.make_tensor_descriptor({target}, [{count}], [1], [{count}])",
                      f"    target.store([0], tl.load({source} + tl.arange(0, {count})))"]
        return "\n".join(lines)

    return Row(
        name="descriptor.branches", draw=draw, text=text, loads=False, stores=False, aligned=True, covers=(),
        answer=lambda call, lib, operands: (operands[0],))


ROWS = (_copy(), _in_branches(), *(_reduction(name) for name in _REDUCTIONS), _rows_of_a_tensor("gather"),
        _rows_of_a_tensor("scatter"))
