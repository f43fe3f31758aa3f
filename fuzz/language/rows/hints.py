"""What changes no value: hints that are true, debugging functions, shapes of single elements, whole blocks reordered.

Sources: docstrings. A hint that reaches another operation than it should, or says more than it should, changes
addresses or values of the kernel that it stands in.
"""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import EVERY, INTEGERS, NUMBERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.movement import shape_of, spelled
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.kernels.language.lines import ANOTHER_SHAPE
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT


def _same(name: str, covers: tuple[str, ...], text: Callable[[Call], str], *, dtypes: tuple[str, ...] = EVERY,
          options: Callable[[Choices, tuple[int, ...]], Options] = lambda choices, shape: {}, since: str = "",
          low: int = 0, loads: bool = True, refused: Callable[[Call, str], str] = lambda call, backend: "") -> Row:
    """A kernel that gives its operand back."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(dtypes), choices.shape(low=low)
        return Call(row=name, operands=(choices.block(one, shape),), options=options(choices, shape), stored=(one,))

    return Row(
        name=name, covers=covers, draw=draw, text=text, since=since, loads=loads, refused=refused,
        answer=lambda call, lib, operands: (operands[0],))


def _said_of_addresses(call: Call) -> str:
    """A load whose offsets are what the hint says of them: multiples, consecutive or equal."""
    shape, hint = call.operands[0].shape, str(call.options["hint"])
    last = shape[-1]
    values = {"multiple_of": 1, "max_contiguous": last, "max_constancy": 1}
    listed = ", ".join(["1"] * (len(shape) - 1) + [str(values[hint])])
    said = f"[{listed}]" if len(shape) > 1 or call.option("listed") else str(values[hint])
    return "\n".join([
        f"offset = tl.{hint}({index(shape)}, {said})",
        "r0 = tl.load(x0_ptr + program * x0_pitch + offset)"])


def _hint(choices: Choices, shape: tuple[int, ...]) -> Options:
    return {"hint": choices.one(("multiple_of", "max_contiguous", "max_constancy")), "listed": choices.flag()}


def _multiples() -> Row:
    """Numbers that are made multiples of a power of two, or equal in groups, and said to be."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(INTEGERS), choices.shape(high=1)
        power = choices.whole(0, min(5, dtype(one).bits - 3))
        return Call(row="tl.multiple_of", operands=(choices.block(one, shape),), stored=(one, one),
                    options={"by": 1 << power, "listed": choices.flag()})

    def text(call: Call) -> str:
        by = call.number("by")
        said = f"[{by}]" if call.options["listed"] else str(by)
        return "\n".join([f"r0 = tl.multiple_of(x0 & {-by}, {said}) + x0" if call.stored[0][0] == "i" else
                          f"r0 = tl.multiple_of(x0 - x0 % {by}, {said}) + x0", f"r1 = r0 // {by}"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        one, x = call.stored[0], operands[0]
        low = lib.pointwise("bitwise_and", one, x, call.number("by") - 1)
        total = lib.pointwise("add", one, lib.pointwise("sub", one, x, low), x)
        return total, lib.pointwise("floordiv_operator", one, total, call.number("by"))

    return Row(
        name="tl.multiple_of", draw=draw, text=text, answer=answer)


def _printed(call: Call) -> str:
    """Where no program comes: the call is compiled, and prints nothing."""
    hexadecimal = f", hex={call.options['hex']}" if "hex" in call.options else ""
    lines = ["if program < 0:", f'    tl.device_print("value", x0{hexadecimal})', '    print("again", program, x0)',
             'tl.static_print("seen", x0.dtype)', "r0 = x0"]
    return "r0 = x0\n" + "\n".join(lines)


def _item() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(EVERY)
        shape = (1,) * choices.whole(1, 3)
        return Call(row="tensor.item", operands=(choices.block(one, shape),), stored=(one,))

    return Row(
        name="tensor.item", draw=draw, text=lambda call: "x0.item()",
        results=of_shape(lambda call: ()),
        answer=lambda call, lib, operands: (lib.reshape(operands[0], shape=()),))


def _to_tensor() -> Row:
    """A number as a tensor of the first type that holds it."""

    def draw(choices: Choices) -> Call:
        number = choices.number(like=choices.dtype((*NUMBERS, "i1")), kind=choices.one(("number", "constexpr")))
        return Call(row="tl.to_tensor", operands=(Operand(dtype="i32", shape=(1,)), number), stored=(number.dtype,))

    return Row(
        name="tl.to_tensor", draw=draw, since="3.7.0",
        text=lambda call: f"tl.to_tensor({call.operands[1].number if call.operands[1].kind == 'number' else 'x1'})",
        results=of_shape(lambda call: ()),
        answer=lambda call, lib, operands: (lib.rows_of(operands[0], operands[0].shape[0], [operands[1]],
                                                        to=call.stored[0], shape=()),))


def _reordered() -> Row:
    """Functions that may put elements elsewhere: the sum stays, and the shape is the one asked for."""
    texts = {"view": "tl.view(x0, {shape})", "method": "x0.view({shape})",
             "reshape": "tl.reshape(x0, {shape}, can_reorder=True)", "ravel": "tl.ravel(x0, can_reorder=True)"}

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(("i32", "i64", "u32")), choices.shape(high=3)
        way = choices.one(tuple(texts))
        flat = Result(dtype=one, shape=shape).elements
        low = choices.one([1 << power for power in range(flat.bit_length())])
        after = (flat,) if way == "ravel" else (low, flat // low)
        return Call(row="tl.view", operands=(choices.block(one, shape),), stored=(one,),
                    options={"way": way, "shape": spelled(after)})

    def text(call: Call) -> str:
        after = shape_of(call.options["shape"])
        lines = ["moved = " + texts[str(call.options["way"])].format(shape=list(after))]
        lines += [f'tl.static_assert(moved.shape[{axis}] == {extent}, "the result has another shape")'
                  for axis, extent in enumerate(after)]
        return "\n".join(["r0 = 0", *lines, "r0 = tl.sum(moved)"])

    return Row(
        name="tl.view", covers=("tl.view", "tensor.view", "tl.reshape", "tl.ravel"), draw=draw,
        text=text,
        results=of_shape(lambda call: ()),
        answer=lambda call, lib, operands: (lib.fold(operands[0], kind="sum", axis=None, keep=False),))


def _joined() -> Row:
    """Two lines one behind the other, in any order: the sum stays."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(("i32", "i64", "u32")), choices.shape(high=1)
        return Call(row="tl.cat.reordered", operands=(choices.block(one, shape), choices.block(one, shape)),
                    stored=(one,))

    def text(call: Call) -> str:
        return "\n".join([
            "r0 = 0", "moved = tl.cat(x0, x1, can_reorder=True)",
            f'tl.static_assert(moved.shape[0] == {2 * call.operands[0].shape[0]}, "{ANOTHER_SHAPE}")',
            "r0 = tl.sum(moved)"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        return (lib.pointwise("add", call.stored[0], *(
            lib.fold(one, kind="sum", axis=None, keep=False) for one in operands)),)

    return Row(
        name="tl.cat.reordered", covers=("tl.cat",), draw=draw, text=text, answer=answer,
        results=of_shape(lambda call: ()))


def _constant() -> Row:
    """`tl.max_constancy` of what is equal in groups of the drawn length."""

    def draw(choices: Choices) -> Call:
        one, length = choices.dtype(("i32", "i64")), choices.one((1, 2, 4, 8, 64))
        size = length * choices.one((1, 2, 16))
        return Call(row="tl.max_constancy", operands=(Operand(dtype=one, shape=(size,)),), stored=(one,),
                    options={"groups": length})

    def places(call: Call, lib: Library, operands: Values) -> Any:
        size, length = call.operands[0].shape[0], call.number("groups")
        return lib.rows_of(operands[0], operands[0].shape[0], [place // length for place in range(size)], to="i32",
                           shape=(size,))

    return Row(
        name="tl.max_constancy", draw=draw, loads=False,
        text=lambda call: f"offset = tl.max_constancy(tl.arange(0, {call.operands[0].shape[0]}) // "
                          f"{call.options['groups']}, {call.options['groups']})\n"
                          "r0 = tl.load(x0_ptr + program * x0_pitch + offset)",
        answer=lambda call, lib, operands: (lib.gather(operands[0], places(call, lib, operands), axis=0),))


def _range() -> Row:
    """A loop with every option of `tl.range`, and unrolled by `tl.static_range`."""

    def draw(choices: Choices) -> Call:
        way = choices.one(("range", "static_range"))
        step = choices.one((1, 2, 3, -1, -2))
        start = choices.whole(-4, 4)
        stop = start + step * choices.whole(0, 5) + choices.whole(-1, 1)
        options: Options = {"way": way, "start": start, "stop": stop, "step": step, "given": choices.whole(1, 3)}
        if way == "range" and step > 0:
            for name, values in (("num_stages", (1, 2, 4)), ("loop_unroll_factor", (1, 2, 3)),
                                 ("flatten", (True, False)), ("disallow_acc_multi_buffer", (True, False)),
                                 ("disable_licm", (True, False))):
                if choices.whole(0, 3) == 3:
                    options[name] = choices.one(values)
        return Call(row="tl.range", operands=(choices.block("i32", choices.shape()),), options=options, stored=("i32",))

    def bounds(call: Call) -> tuple[int, ...]:
        start, stop, step = (call.number(name) for name in ("start", "stop", "step"))
        return ((abs(stop),), (start, stop), (start, stop, step))[call.number("given") - 1]

    def text(call: Call) -> str:
        said = ", ".join(map(str, bounds(call)))
        said += "".join(f", {name}={call.options[name]}" for name in (
            "num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten", "disable_licm")
            if name in call.options)
        return f"r0 = x0\nfor i in tl.{call.options['way']}({said}):\n    r0 = r0 * 3 + i"

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        found = operands[0]
        for number in range(*bounds(call)):
            found = lib.pointwise("add", "i32", lib.pointwise("mul", "i32", found, 3), number)
        return (found,)

    return Row(
        name="tl.range", covers=("tl.range", "tl.static_range"), draw=draw, text=text, answer=answer,
        results=lambda call, version: (Result(dtype="i32", shape=call.operands[0].shape),))


_PAIR = """@triton.aggregate
class _Pair:
    first: tl.tensor
    second: tl.tensor

"""


def _aggregate() -> Row:
    """A record of two blocks, and a copy of it with another first one."""

    def draw(choices: Choices) -> Call:
        one, other, shape = choices.dtype(EVERY), choices.dtype(EVERY), choices.shape(low=0)
        return Call(row="tl.aggregate_replace", operands=(choices.block(one, shape), choices.block(other, shape)),
                    stored=(other, other, one))

    return Row(
        name="tl.aggregate_replace", draw=draw, since="3.8.0",
        text=lambda call: "pair = _Pair(x0, x1)\nother = tl.aggregate_replace(pair, first=x1)\n"
                          "r0, r1, r2 = other.first, other.second, pair.first",
        definitions=lambda call: _PAIR, rules=lambda call: (BIT, BIT, BIT),
        answer=lambda call, lib, operands: (operands[1], operands[1], operands[0]))


ROWS = (
    _aggregate(),
    _same("tl.max_contiguous", ("tl.max_contiguous", "tl.max_constancy", "tl.multiple_of"), _said_of_addresses, low=1,
          options=_hint, loads=False, dtypes=NUMBERS),
    _multiples(), _constant(), _item(), _to_tensor(), _reordered(), _joined(), _range(),
    _same("tl.assume", ("tl.assume",), lambda call: "r0 = x0\ntl.assume(program >= 0)\ntl.assume(True)\nr0 = x0"),
    _same("tl.expect_zero", ("tl.expect_zero",), lambda call: "tl.expect_zero(x0, x0 < x0)", since="3.8.0",
          dtypes=("fp32", "fp16", "i32")),
    _same("tl.device_print", ("tl.device_print", "tl.static_print"), _printed, dtypes=NUMBERS,
          options=lambda choices, shape: {"hex": choices.flag()} if choices.flag() else {}),
    _same("tl.device_assert", ("tl.device_assert", "tl.static_assert"), lambda call: "\n".join([
        "r0 = x0", 'tl.device_assert(x0 == x0, "never")', 'tl.device_assert(program >= 0, "never", mask=program < 0)',
        f'tl.static_assert(x0.dtype == {TRITON_NAMES[call.stored[0]]}, "never")', "r0 = x0"]), dtypes=INTEGERS),
)
