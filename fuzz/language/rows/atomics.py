"""Atomic operations: every function, type, order of memory and scope; of blocks and of scalars, masked and not.

What an operation gives back, and what it leaves in memory of its own, which the kernel fills first.
"""

from typing import Any

from tridiff.fuzz.language.choices import FLOATS, INTEGERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, NUM0

_SCOPES = ("gpu", "cta", "sys")
_SEMANTICS = ("relaxed", "acquire", "release", "acq_rel")
_WAYS = ("function", "function", "method")
WORDS = ("i32", "i64", "u32", "u64")


def place(call: Call, number: int) -> str:
    """The pointers to an operand."""
    return f"x{number}_ptr + program * x{number}_pitch + {index(call.operands[number].shape)}"


def _options(choices: Choices, semantics: tuple[str, ...] = _SEMANTICS) -> Options:
    options: Options = {"way": choices.one(_WAYS)}
    if choices.flag():
        options["sem"] = choices.one(semantics)
    if choices.flag():
        options["scope"] = choices.one(_SCOPES)
    return options


def _said(call: Call) -> str:
    return "".join(f', {key}="{call.options[key]}"' for key in ("sem", "scope") if key in call.options)


def _called(call: Call, name: str, arguments: str) -> str:
    """The call as a function or as a method of the pointers."""
    if call.option("way") == "method":
        return f"memory.{name}({arguments.removeprefix(', ')})"
    return f"tl.{name}(memory{arguments})"


def _filled(call: Call, output: int) -> list[str]:
    """Memory of the kernel's own that holds the first operand."""
    return [f"memory = out{output}_ptr + program * out{output}_pitch + {index(call.operands[0].shape)}",
            f"tl.store(memory, tl.load({place(call, 0)}))", "tl.debug_barrier()"]


def _mask(call: Call, number: int) -> str:
    return f"mask = tl.load({place(call, number)}).to(tl.int1)"


def _shape(choices: Choices) -> tuple[int, ...]:
    return choices.shape(low=0 if choices.whole(0, 3) == 3 else 1, high=2)


def _update(name: str, op: str, dtypes: tuple[str, ...]) -> Row:
    """Reads, changes and writes. A value of another type is converted to that of the memory, one of a single element
    is broadcast."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(dtypes), _shape(choices)
        value = choices.block(one, choices.often(shape, (), (1,) * len(shape)))
        if choices.whole(0, 5) == 5:
            value = choices.number(like=one) if dtype(one).is_float or choices.flag() else choices.block("i8", shape)
        operands: tuple[Operand, ...] = (choices.block(one, shape), value)
        if choices.whole(0, 2) == 2:
            operands += (choices.block("i1", shape),)
        return Call(row=f"tl.{name}", operands=operands, options=_options(choices), stored=(one, one))

    def text(call: Call) -> str:
        value, said = call.operands[1], _said(call)
        lines = [*_filled(call, 1), f"value = {value.number or f'tl.load({place(call, 1)})'}"]
        if len(call.operands) > 2:
            lines.append(_mask(call, 2))
            said = ", mask=mask" + said
        return "\n".join([*lines, f"r0 = {_called(call, name, ', value' + said)}", "tl.debug_barrier()",
                          "r1 = tl.load(memory)"])

    def together(call: Call, lib: Library, operands: Values) -> tuple[Any, Any]:
        old = operands[0]
        value = lib.cast(operands[1], to=call.stored[0])
        return old, lib.where(lib.cast(old, to="i1"), value, value, computed=call.stored[0])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        old, value = together(call, lib, operands)
        new = value if op == "exchange" else lib.pointwise(op, call.stored[0], old, value)
        if len(operands) > 2:
            new = lib.where(operands[2], new, old, computed=call.stored[0])
        return old, new

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        from tridiff.oracles.bits import is_nan, is_subnormal

        old, value = together(call, lib, operands)
        every = lib.pointwise_defined("bitwise_and" if not dtype(call.stored[0]).is_float else "add", call.stored[0],
                                      old, value)
        if op in ("fmax", "fmin") and dtype(call.stored[0]).is_float:
            # Extrema of floats are those of their bits as integers, which order no NaN.
            every = every & ~is_nan(old) & ~is_nan(value)
        if call.stored[0] == "fp32" and op == "add":
            # PTX ISA, atom: additions of fp32 flush subnormal numbers to zero.
            total = lib.pointwise("add", "fp32", old, value)
            every = every & ~(is_subnormal(old) | is_subnormal(value) | is_subnormal(total))
        # What a masked-off lane gives back is not said.
        return (every & operands[2] if len(operands) > 2 else every), every

    return Row(
        name=f"tl.{name}", method=True, draw=draw, text=text, loads=False,
        answer=answer, defined=defined, rules=lambda call: (
            NUM if dtype(call.stored[0]).is_float else BIT,
            BIT if not dtype(call.stored[0]).is_float else NUM0 if op in ("fmax", "fmin") else NUM))


def _compare_and_swap() -> Row:
    """Compares bits; the types of 16, 32 and 64 bits."""
    types = tuple(one for one in (*INTEGERS, "fp16", "bf16", "fp32", "fp64") if dtype(one).bits > 8)

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(types), _shape(choices)
        operands = tuple(choices.block(one, shape) for _ in range(3))
        return Call(row="tl.atomic_cas", operands=operands, stored=(one, one), options=_options(choices))

    def text(call: Call) -> str:
        arguments = f", tl.load({place(call, 1)}), tl.load({place(call, 2)}){_said(call)}"
        return "\n".join([*_filled(call, 1), f"r0 = {_called(call, 'atomic_cas', arguments)}", "tl.debug_barrier()",
                          "r1 = tl.load(memory)"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        old, expected, new = operands
        bits = f"i{dtype(call.stored[0]).bits}"
        equal = lib.pointwise("eq", bits, *(lib.bitcast(one, to=bits) for one in (old, expected)))
        return old, lib.where(equal, new, old, computed=call.stored[0])

    return Row(
        name="tl.atomic_cas", method=True, draw=draw, text=text,
        loads=False,
        answer=answer)


_PLAIN = (*INTEGERS, *FLOATS)


def _atomic_load() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(_PLAIN), _shape(choices)
        masked = (choices.block("i1", shape),) if choices.whole(0, 2) == 2 else ()
        return Call(row="tl.atomic_load", operands=(choices.block(one, shape), *masked), stored=(one,),
                    options=_options(choices, ("relaxed", "acquire")))

    def text(call: Call) -> str:
        masked = len(call.operands) > 1
        said = (", mask=mask" if masked else "") + _said(call)
        return "\n".join([f"memory = {place(call, 0)}", *([_mask(call, 1)] if masked else ()),
                          f"r0 = {_called(call, 'atomic_load', said)}"])

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        return (operands[1] if len(operands) > 1 else lib.cast(lib.bitcast(
            operands[0], to=f"u{dtype(call.stored[0]).bits}"), to="i1") | True,)

    return Row(
        name="tl.atomic_load", method=True, draw=draw, text=text,
        loads=False, since="3.9.0", defined=defined,
        answer=lambda call, lib, operands: (operands[0],))


def _atomic_store() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(_PLAIN), _shape(choices)
        operands: tuple[Operand, ...] = (choices.block(one, shape), choices.block(one, choices.often(shape, ())))
        if choices.whole(0, 2) == 2:
            operands += (choices.block("i1", shape),)
        return Call(row="tl.atomic_store", operands=operands, stored=(one,),
                    options=_options(choices, ("relaxed", "release")))

    def text(call: Call) -> str:
        masked = len(call.operands) > 2
        said = (", mask=mask" if masked else "") + _said(call)
        return "\n".join([*_filled(call, 0), *([_mask(call, 2)] if masked else ()),
                          _called(call, "atomic_store", f", tl.load({place(call, 1)})" + said), "tl.debug_barrier()",
                          "r0 = tl.load(memory)"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        old, new = operands[:2]
        taken = operands[2] if len(operands) > 2 else lib.pointwise("logical_or", "i1", lib.cast(lib.bitcast(
            old, to=f"u{dtype(call.stored[0]).bits}"), to="i1"), True)
        return (lib.where(taken, new, old, computed=call.stored[0]),)

    return Row(
        name="tl.atomic_store", method=True, draw=draw,
        text=text, loads=False, since="3.9.0", answer=answer)


def _atomic_poll() -> Row:
    """With a limit of no time: whether memory holds the value. Without a limit the value is there already."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(tuple(name for name in INTEGERS if dtype(name).bits > 8)), _shape(choices)
        options = _options(choices, ("relaxed", "acquire"))
        operands: tuple[Operand, ...] = (choices.block(one, shape),)
        if choices.flag():
            options["timeout_ns"] = choices.one((0, 1, 1000))
            operands += (choices.block(one, choices.often(shape, ())),)
        return Call(row="tl.atomic_poll", operands=operands, stored=("i1",), options=options)

    def text(call: Call) -> str:
        limit = f", timeout_ns={call.options['timeout_ns']}" if "timeout_ns" in call.options else ""
        expected = f"tl.load({place(call, len(call.operands) - 1)})"
        return "\n".join([f"memory = {place(call, 0)}",
                          f"r0 = {_called(call, 'atomic_poll', f', {expected}{_said(call)}{limit}')}"])

    return Row(
        name="tl.atomic_poll", method=True, draw=draw, text=text,
        loads=False, since="3.9.0",
        results=lambda call, version: (Result(dtype="i1", shape=call.operands[0].shape),),
        answer=lambda call, lib, operands: (lib.pointwise("eq", call.operands[0].dtype, operands[0], operands[-1]),))


ROWS = (
    _compare_and_swap(), _atomic_load(), _atomic_store(), _atomic_poll(),
    _update("atomic_add", "add", (*WORDS, "fp32", "fp64", "fp16", "bf16")),
    _update("atomic_max", "fmax", (*WORDS, "fp32", "fp64")), _update("atomic_min", "fmin", (*WORDS, "fp32", "fp64")),
    _update("atomic_and", "bitwise_and", WORDS), _update("atomic_or", "bitwise_or", WORDS),
    _update("atomic_xor", "bitwise_xor", WORDS), _update("atomic_xchg", "exchange", (*WORDS, "fp32", "fp64")),
)
