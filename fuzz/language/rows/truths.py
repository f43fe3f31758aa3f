"""Truth values in memory, behind pointers to i1: of tensors of `torch.bool`, and of bytes whose pointer was cast.

A byte counts as true unless it is zero; what is stored is 0 or 1 (contract: language.md §5).
"""

from typing import Any

from tridiff.fuzz.language.choices import INTEGERS, NUMBERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.rows.atomics import place
from tridiff.fuzz.language.rows.pointers import WAYS, converted
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.emit import index

_LENGTH = 64
_POINTER = "tl.pointer_type(tl.int1)"


def _passed(call: Call) -> bool:
    """Whether the arrays come as tensors of `torch.bool`."""
    return call.operands[0].dtype == "i1"


def _base(call: Call, pointer: str) -> str:
    """A pointer to i1: that of the launch, or a cast one to bytes."""
    return pointer if _passed(call) else converted(call, pointer, _POINTER)


def _options(choices: Choices) -> Options:
    options: Options = {"way": choices.one(WAYS), "bitcast": choices.flag()}
    if choices.whole(0, 5) == 5:
        options["atomic"] = True
    return options


def _value(call: Call, number: int) -> str:
    """An operand of any type, loaded in the type that it has; truth values come as the launch passes them."""
    loaded = f"tl.load({place(call, number)})"
    return loaded + (".to(tl.int1)" if call.operands[number].dtype == "i1" and not _passed(call) else "")


def _number(choices: Choices) -> Operand:
    return choices.number(like=choices.one(("i1", "i32", "fp32")))


def _other(choices: Choices, shape: tuple[int, ...]) -> Operand:
    """A value of any type that becomes a truth value."""
    form = choices.one(("i1", "i1", "any", "number"))
    if form == "number":
        return _number(choices)
    return choices.block("i1" if form == "i1" else choices.dtype(NUMBERS), shape)


def _truth(lib: Library, value: Any) -> Any:
    return lib.cast(value, to="i1")


def _load() -> Row:
    """At offsets of every integer type, with a mask and another value of any type."""

    def draw(choices: Choices) -> Call:
        shape = choices.one(((8,), (1,), (64,), (4, 4), ()))
        operands: tuple[Operand, ...] = (Operand(dtype=choices.one(("i1", "i1", "u8", "i8")), shape=(_LENGTH,)),
                                         choices.block(choices.dtype(INTEGERS), shape))
        options = _options(choices)
        if choices.flag():
            operands += (choices.block("i1", shape),)
            if choices.whole(0, 2) and "atomic" not in options:
                operands += (_other(choices, shape),)
        return Call(row="pointer.truth", operands=operands, options=options, stored=("i1",))

    def text(call: Call) -> str:
        lines = [f"offset = tl.load({place(call, 1)}) & {_LENGTH - 1}",
                 f"base = {_base(call, 'x0_ptr')} + program * x0_pitch"]
        said = ""
        if len(call.operands) > 2:
            lines.append(f"mask = {_value(call, 2)}")
            said = ", mask=mask"
        if len(call.operands) > 3:
            said += f", other={call.operands[3].number or _value(call, 3)}"
        function = "atomic_load" if call.option("atomic", False) else "load"
        return "\n".join([*lines, f"r0 = tl.{function}(base + offset{said})"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        shape = call.operands[1].shape
        places = lib.pointwise("bitwise_and", call.operands[1].dtype, operands[1], _LENGTH - 1)
        found = lib.gather(_truth(lib, operands[0]), places.reshape(operands[0].shape[0], -1), axis=0)
        found = lib.reshape(found, shape=shape)
        if len(operands) > 2:
            found = lib.loaded(found, operands[2], _truth(lib, operands[3]) if len(operands) > 3 else False)
        return (found,)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        if len(operands) == 3:
            return (operands[2],)
        zero = lib.pointwise("bitwise_and", call.operands[1].dtype, operands[1], 0)
        return (~lib.cast(zero, to="i1"),)

    return Row(
        name="pointer.truth", covers=("tl.load", "pointer"), draw=draw, text=text, loads=False,
        truths=_passed, results=lambda call, version: (Result(dtype="i1", shape=call.operands[1].shape),),
        answer=answer, defined=defined, newer={"atomic": "3.9.0"})


def _store() -> Row:
    """Values of any type, and comparisons among them, over truth values that were there; what is there then, as truth
    values and as bytes."""

    def draw(choices: Choices) -> Call:
        shape = choices.one(((8,), (1,), (64,), (4, 4), ()))
        value = _other(choices, shape)
        operands: tuple[Operand, ...] = (choices.block(choices.one(("i1", "i1", "i8")), shape), value)
        options = _options(choices)
        if value.given and value.dtype != "i1" and choices.flag():
            options["compared"] = True
        if choices.flag():
            operands += (choices.block("i1", shape),)
        first = operands[0].dtype
        return Call(row="pointer.truth.store", operands=operands, options=options, stored=(first, "i8"))

    def text(call: Call) -> str:
        value, shape = call.operands[1], call.operands[0].shape
        said = ", mask=mask" if len(call.operands) > 2 else ""
        function = "atomic_store" if call.option("atomic", False) else "store"
        lines = [f"base = {_base(call, 'out0_ptr')} + program * out0_pitch", f"memory = base + {index(shape)}",
                 f"tl.store(memory, tl.load({place(call, 0)}){'' if _passed(call) else ' != 0'})", "tl.debug_barrier()",
                 f"value = {value.number or _value(call, 1)}"]
        if call.option("compared", False):
            lines.append("value = value > 0")
        if said:
            lines.append(f"mask = {_value(call, 2)}")
        return "\n".join([*lines, f"tl.{function}(memory, value{said})", "tl.debug_barrier()",
                          f"r0 = tl.load(memory){'' if _passed(call) else '.to(tl.int8)'}",
                          "r1 = tl.load(memory.to(tl.pointer_type(tl.int8)))"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        before, value = _truth(lib, operands[0]), operands[1]
        if call.option("compared", False):
            value = lib.pointwise("gt", call.operands[1].dtype, value, 0)
        after = lib.where(before | True, _truth(lib, value), before, computed="i1")
        if len(operands) > 2:
            after = lib.where(operands[2], after, before, computed="i1")
        bytes_ = lib.cast(after, to="i8")
        return (after if _passed(call) else bytes_), bytes_

    return Row(
        name="pointer.truth.store", covers=("tl.store", "pointer"), draw=draw, text=text, loads=False,
        truths=_passed,
        answer=answer, newer={"atomic": "3.9.0"})


ROWS = (_load(), _store())
