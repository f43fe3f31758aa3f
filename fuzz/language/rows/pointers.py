"""Pointers whose type is changed: to other elements, to integers and back; and pointers to truth values.

What lies behind a cast pointer is the same memory, little endian (contract: language.md §5).
"""

from typing import Any

from tridiff.fuzz.language.choices import EVERY, INTEGERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.atomics import place
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM

POINTED = EVERY[1:]
"""Everything that memory holds by its bits: numbers and 8-bit floats."""
WAYS = ("to", "method", "function")
_THROUGH = ("", "i64", "u64")
_LONGEST = 1 << 12


def converted(call: Call, value: str, to: str) -> str:
    """A value converted in the call's way. Raises ValueError for a way that is none: a stranger's file may name one."""
    way, bits = call.option("way", "to"), ", bitcast=True" if call.option("bitcast", False) else ""
    if way not in WAYS:
        raise ValueError(f"{call.row} has no way {way!r}")
    return {"to": f"({value}).to({to}{bits})", "method": f"({value}).cast({to}{bits})",
            "function": f"tl.cast({value}, {to}{bits})"}[str(way)]


def pointer_type(name: str) -> str:
    return f"tl.pointer_type({TRITON_NAMES[name]})"


def _cast(call: Call, value: str, to: str) -> str:
    """A pointer as one to another type, perhaps by way of its address as a number."""
    through = call.option("through", "")
    if through not in _THROUGH:
        raise ValueError(f"{call.row} goes through no {through!r}")
    if through:
        value = converted(call, value, TRITON_NAMES[str(through)])
    return converted(call, value, pointer_type(to))


def _bytes(name: str) -> int:
    return dtype(name).itemsize


def _steps(choices: Choices, one: str, other: str, *, apart: bool) -> Options:
    """How far lanes lie apart and where the first one lies, in elements of each type: `first` before the cast, `second`
    behind it. apart: whether no two lanes may meet."""
    unit = max(_bytes(other) // _bytes(one), 1)
    narrow = max(_bytes(one) // _bytes(other), 1)
    form = choices.one(("second", "first", "first") if apart else ("second", "first", "first", "both"))
    options: Options = {
        "first": unit * choices.one((1, 1, 1, 2, 3)) if form != "second" else 0,
        "second": choices.one((1, 1, narrow, 2, 3)) if form != "first" else 0,
        "start": unit * choices.one((0, 0, 1, 2, 5)), "skip": choices.one((0, 0, 1, narrow - 1, 3))}
    if choices.whole(0, 3) == 3:
        options["spread"] = True
    return options


def stores(call: Call) -> bool:
    """Whether a call writes behind its cast pointers."""
    return call.row == "pointer.cast.store"


def pointed(call: Call) -> tuple[str, str]:
    """What the pointers of a call point to in front of the cast, and behind it."""
    return (call.stored[0], call.operands[1].dtype) if stores(call) else (call.operands[0].dtype, call.stored[0])


def places_of_lanes(call: Call, lanes: int) -> list[int]:
    """Where each lane of a call points, in elements of the type behind the cast from the row's start. Raises ValueError
    for a call whose lanes leave the row, lie across elements, or meet where they store."""
    size, wide = map(_bytes, pointed(call))
    first, second, start, skip = (call.number(name) for name in ("first", "second", "start", "skip"))
    row = call.operands[0].shape[0] * size
    found = []
    for lane in range(lanes):
        address = (first * lane + start) * size + (second * lane + skip) * wide
        if address % wide or address < 0 or address + wide > row or row % wide:
            raise ValueError("a lane without an element of its own")
        found.append(address // wide)
    if stores(call) and len(set(found)) < lanes:
        raise ValueError("two lanes that meet")
    return found


def _row(choices: Choices, one: str, other: str, lanes: int, options: Options) -> int:
    """The shortest row that the lanes fit in: a power of two of elements."""
    size, wide = _bytes(one), _bytes(other)
    last = (int(options["first"]) * (lanes - 1) + int(options["start"])) * size + (
        int(options["second"]) * (lanes - 1) + int(options["skip"])) * wide
    elements = 1
    while elements * size < max(last + wide, 8):
        elements *= 2
    return elements * choices.one((1, 1, 2))


def _moved(pointer: str, step: int, first: int, lanes: str, spread: bool = False) -> str:
    """A pointer that is moved for every lane: `step` elements each, from `first` on."""
    if step:
        pointer += f" + ({lanes})" + (f" * {step}" if step > 1 else "")
    elif spread:
        pointer += f" + ({lanes}) * 0"
    return pointer + (f" + {first}" if first else "")


def _pointers(call: Call, base: str, other: str, shape: tuple[int, ...]) -> list[str]:
    """The lines that make `cast`: the pointers of all lanes, cast from `base`."""
    lanes = index(shape)
    first, second, start, skip = (call.number(name) for name in ("first", "second", "start", "skip"))
    return [f"plain = {_moved(base, first, start, lanes, bool(call.option('spread', False)))}",
            f"cast = {_cast(call, 'plain', other)}",
            f"tl.static_assert(cast.dtype == {pointer_type(other)}, \"the pointer has another type\")",
            f"cast = {_moved('cast', second, skip, lanes)}"]


def _drawn(choices: Choices, *, apart: bool) -> tuple[str, str, tuple[int, ...], Options, int]:
    """Both types, the shape of the lanes, options, elements of the row that is pointed into."""
    one, other = choices.dtype(POINTED), choices.dtype(POINTED)
    options: Options = {"way": choices.one(WAYS), "bitcast": choices.flag(), "through": choices.often(*_THROUGH)}
    shape = choices.shape(low=0 if choices.whole(0, 3) == 3 else 1, high=2)
    if shape and choices.flag():
        # Each thread has several lanes, which the compiler may read at once.
        shape = (choices.one((256, 512, 1024)),)
    options |= _steps(choices, one, other, apart=apart and bool(shape))
    lanes = Result(dtype=other, shape=shape).elements
    row = _row(choices, one, other, lanes, options)
    while row > max(min(_LONGEST, choices.limits.elements), 1 << 6):
        # Fewer lanes reach less far.
        shape = (max(lanes // 8, 1),)
        lanes = shape[0]
        row = _row(choices, one, other, lanes, options)
    return one, other, shape, options, row


def _lanes(call: Call) -> tuple[int, ...]:
    """The shape of the lanes, from the first operand behind the memory, or as the options say it."""
    return tuple(int(one) for one in str(call.options["lanes"]).split("x") if one)


def loaded_from(call: Call, lib: Library, operands: Values, where: list[int]) -> Any:
    """What the lanes of `pointer.cast` load, [rows, *lanes], if each points to an element of the row `where`."""
    to, x = call.stored[0], operands[0]
    at = lib.rows_of(x, x.shape[0], where, to="i32", shape=(len(where),))
    found = lib.reshape(lib.gather(lib.bitcast(x, to=to), at, axis=0), shape=_lanes(call))
    if len(operands) > 1:
        found = lib.loaded(found, operands[1], operands[2] if len(operands) > 2 else 0)
    return found


def memory_after(call: Call, lib: Library, operands: Values, where: list[int]) -> Any:
    """The memory behind `pointer.cast.store`, [rows, elements], if the lanes write to the elements `where`. Of lanes
    that meet, the last one counts."""
    old, to = operands[0], call.operands[1].dtype
    rows, lanes = old.shape[0], len(where)
    before = lib.bitcast(old, to=to)
    lane_of = {word: lane for lane, word in enumerate(where)}

    def everywhere(values: list[int], kind: str) -> Any:
        return lib.rows_of(old, rows, values, to=kind, shape=(len(values),))

    words = range(before.shape[1])
    lane = everywhere([lane_of.get(word, 0) for word in words], "i32")
    hit = everywhere([int(word in lane_of) for word in words], "i1")
    after = lib.where(hit, lib.gather(operands[1].reshape(rows, lanes), lane, axis=0), before, computed=to)
    if len(operands) > 2:
        after = lib.where(lib.gather(operands[2].reshape(rows, lanes), lane, axis=0), after, before, computed=to)
    return lib.bitcast(after, to=call.stored[0])


def _load() -> Row:
    """Reads elements of another type from an array, however the pointers are made and cast."""

    def draw(choices: Choices) -> Call:
        one, other, shape, options, row = _drawn(choices, apart=False)
        options["lanes"] = "x".join(map(str, shape))
        operands: tuple[Operand, ...] = (Operand(dtype=one, shape=(row,)),)
        masked = choices.one(("", "mask", "block", "number"))
        if masked:
            operands += (choices.block("i1", shape),)
        if masked == "number" and other not in ("fp8e5", "fp8e4nv"):
            operands += (choices.number(like=other),)
        elif masked in ("block", "number"):
            operands += (choices.block(other, shape),)
        return Call(row="pointer.cast", operands=operands, options=options, stored=(other,))

    def text(call: Call) -> str:
        lines, said = _pointers(call, "x0_ptr + program * x0_pitch", call.stored[0], _lanes(call)), ""
        if len(call.operands) > 1:
            lines.append(f"mask = tl.load({place(call, 1)}).to(tl.int1)")
            said = ", mask=mask"
        if len(call.operands) > 2:
            said += ", other=" + (call.operands[2].number or "filled")
            if call.operands[2].given:
                lines.append(f"filled = tl.load({place(call, 2)})")
        return "\n".join([*lines, f"r0 = tl.load(cast{said})"])

    def results(call: Call, version: str) -> tuple[Result, ...]:
        shape = _lanes(call)
        if any(one.given and one.shape != shape for one in call.operands[1:]):
            raise ValueError("a mask of another shape")
        found = Result(dtype=call.stored[0], shape=shape)
        places_of_lanes(call, found.elements)
        return (found,)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        lanes = Result(dtype=call.stored[0], shape=_lanes(call)).elements
        return (loaded_from(call, lib, operands, places_of_lanes(call, lanes)),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        if len(operands) == 2:
            return (operands[1],)
        return (lib.rows_of(operands[0], operands[0].shape[0], [1] * results(call, "")[0].elements, to="i1",
                            shape=_lanes(call)),)

    def rules(call: Call) -> Values:
        number = len(call.operands) > 2 and not call.operands[2].given
        return (NUM if number and dtype(call.stored[0]).is_float else BIT,)

    return Row(
        name="pointer.cast", covers=("tl.cast", "tensor.to", "tensor.cast", "tl.load", "pointer"),
        draw=draw, text=text, loads=False, aligned=True, results=results, answer=answer, rules=rules, defined=defined)


def _store() -> Row:
    """Writes elements of another type into memory that was filled before; the rest stays as it is."""

    def draw(choices: Choices) -> Call:
        one, other, shape, options, row = _drawn(choices, apart=True)
        operands: tuple[Operand, ...] = (Operand(dtype=one, shape=(row,)), choices.block(other, shape))
        if choices.whole(0, 2) == 2:
            operands += (choices.block("i1", shape),)
        return Call(row="pointer.cast.store", operands=operands, options=options, stored=(one,))

    def text(call: Call) -> str:
        said = ", mask=mask" if len(call.operands) > 2 else ""
        base, value = "out0_ptr + program * out0_pitch", call.operands[1]
        lines = [f"memory = {base} + {index(call.operands[0].shape)}", f"tl.store(memory, tl.load({place(call, 0)}))",
                 "tl.debug_barrier()", *_pointers(call, base, value.dtype, value.shape)]
        if said:
            lines.append(f"mask = tl.load({place(call, 2)}).to(tl.int1)")
        return "\n".join([*lines, f"tl.store(cast, tl.load({place(call, 1)}){said})", "tl.debug_barrier()",
                          "r0 = tl.load(memory)"])

    def results(call: Call, version: str) -> tuple[Result, ...]:
        value = call.operands[1]
        if any(one.shape != value.shape for one in call.operands[2:]):
            raise ValueError("a mask of another shape")
        places_of_lanes(call, Result(dtype=value.dtype, shape=value.shape).elements)
        return (Result(dtype=call.stored[0], shape=call.operands[0].shape),)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        value = call.operands[1]
        lanes = Result(dtype=value.dtype, shape=value.shape).elements
        return (memory_after(call, lib, operands, places_of_lanes(call, lanes)),)

    return Row(
        name="pointer.cast.store",
        covers=("tl.cast", "tensor.to", "tensor.cast", "tl.store", "pointer"), draw=draw, text=text, loads=False,
        aligned=True, results=results, answer=answer)


def _address() -> Row:
    """Pointers as numbers: how many bytes they lie apart, the pointer that a number is again, whether it is null."""

    def draw(choices: Choices) -> Call:
        one, offset = choices.dtype(POINTED), choices.dtype(INTEGERS)
        shape = choices.one(((), (1,), (2,), (8,), (64,), (4, 4)))
        options: Options = {"way": choices.one(WAYS), "bitcast": choices.flag(), "back": choices.flag(),
                            "number": choices.one(("i64", "u64"))}
        return Call(row="pointer.address", operands=(Operand(dtype=one, shape=(64,)), choices.block(offset, shape)),
                    options=options, stored=(str(options["number"]), one, "i1", "i1"))

    def text(call: Call) -> str:
        name = call.option("number", "i64")
        if name not in ("i64", "u64"):
            raise ValueError(f"no address is {name!r}")
        number, one = TRITON_NAMES[str(name)], pointer_type(call.operands[0].dtype)
        first, second = ("far", "near") if call.option("back", False) else ("near", "far")
        return "\n".join([
            f"near = x0_ptr + program * x0_pitch + (tl.load({place(call, 1)}) & 0)",
            f"far = x0_ptr + program * x0_pitch + (tl.load({place(call, 1)}) & 63)",
            f"r0 = {converted(call, second, number)} - {converted(call, first, number)}",
            f"r1 = tl.load({converted(call, converted(call, 'far', number), one)})",
            f"r2 = {converted(call, 'far', 'tl.int1')}",
            f"r3 = {converted(call, converted(call, converted(call, 'far', number) + ' * 0', one), 'tl.int1')}"])

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        x, kind, name = operands[0], call.operands[1].dtype, str(call.option("number", "i64"))
        places = lib.pointwise("bitwise_and", kind, operands[1], 63)
        apart = lib.pointwise("mul", name, lib.cast(places, to=name), _bytes(call.operands[0].dtype))
        if call.option("back", False):
            apart = lib.pointwise("sub", name, lib.pointwise("bitwise_and", name, apart, 0), apart)
        flat = places.reshape(x.shape[0], -1)
        read = lib.reshape(lib.gather(x, flat, axis=0), shape=call.operands[1].shape)
        null = lib.cast(lib.pointwise("bitwise_and", kind, operands[1], 0), to="i1")
        return apart, read, ~null, null

    return Row(
        name="pointer.address", covers=("tl.cast", "tensor.to", "tensor.cast", "pointer"), draw=draw,
        text=text, loads=False, answer=answer, rules=lambda call: (BIT, BIT, BIT, BIT),
        results=of_shape(lambda call: call.operands[1].shape))


ROWS = (_load(), _store(), _address())
