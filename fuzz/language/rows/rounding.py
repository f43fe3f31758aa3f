"""Arithmetic and conversions of libdevice with the direction of rounding in the name.

Sources: CUDA Math API, "Single/Double Precision Intrinsics" and "Type Casting Intrinsics"; PTX ISA, cvt.
"""

from collections.abc import Iterator

from tridiff.fuzz.language.choices import FULL, Choices
from tridiff.fuzz.language.flushing import flushing
from tridiff.fuzz.language.row import Row, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call, Result
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import NUM

BUDGET = 1024
"""Elements of a case: references of single Python numbers take about 50 us each."""
_MODES = ("rn", "rz", "rd", "ru")
_ARITHMETIC = {"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}
_NAMES = {"double": "fp64", "float": "fp32", "int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}
_CONVERSIONS = ("double2float", "int2double", "uint2double", "int2float", "uint2float", "ll2float", "ull2float",
                "ll2double", "ull2double")
_EXACT = ("int2double", "uint2double")
_WHOLE = tuple(f"{one}2{to}" for one in ("double", "float") for to in ("int", "uint", "ll", "ull"))


def _operation(function: str, op: str, mode: str, types: tuple[str, ...]) -> Row:
    count = _ARITHMETIC.get(op, 1)

    def draw(choices: Choices) -> Call:
        name, shape = choices.dtype(types), choices.shape(low=0, most=64)
        others = tuple(choices.block(name, choices.often(shape, choices.partner(shape))) for _ in range(count - 1))
        operands = (choices.block(name, shape), *others)
        if choices.flag():
            operands = operands[::-1]
        return Call(row=function, operands=operands, stored=(name,))

    return flushing(Row(
        name=function, draw=draw,
        text=lambda call: f"{function}({arguments(call)})",
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.rounded(op, mode, call.stored[0], *lib.align(operands)),),
        rules=lambda call: (NUM,), budget=BUDGET))


def _between_types(name: str, mode: str) -> Row:
    function = f"libdevice.{name}_{mode}"
    source, to = (_NAMES[one] for one in name.split("2"))

    def draw(choices: Choices) -> Call:
        return Call(row=function, operands=(choices.block(source, choices.shape(low=0, most=64)),), stored=(to,))

    return flushing(Row(
        name=function, draw=draw, text=lambda call: f"{function}(x0)",
        results=lambda call, version: (Result(dtype=to, shape=together(call)),),
        answer=lambda call, lib, operands: (lib.rounded("convert", mode, to, *operands),),
        rules=lambda call: (NUM,), budget=BUDGET))


def _to_whole(name: str, mode: str) -> Row:
    """Unsigned results stand in signed types: so are these functions declared."""
    function = f"libdevice.{name}_{mode}"
    source, to = (_NAMES[one] for one in name.split("2"))
    given = f"i{dtype(to).bits}"

    def draw(choices: Choices) -> Call:
        return Call(row=function, operands=(choices.block(source, choices.shape(low=0, most=64)),), stored=(given,))

    return flushing(Row(
        name=function, draw=draw, text=lambda call: f"{function}(x0)",
        results=lambda call, version: (Result(dtype=given, shape=together(call)),),
        answer=lambda call, lib, operands: (lib.bitcast(lib.whole(mode, to, operands[0]), to=given),),
        contents=lambda call: (f"halves{dtype(to).bits}",), budget=BUDGET))


def _rows() -> Iterator[Row]:
    for op in _ARITHMETIC:
        for mode in _MODES:
            yield _operation(f"libdevice.{op}_{mode}", op, mode, FULL)
    yield _operation("libdevice.rsqrt_rn", "rsqrt", "rn", ("fp32",))
    yield _operation("libdevice.fma", "fma", "rn", FULL)
    for name in _CONVERSIONS:
        for mode in _MODES[:1] if name in _EXACT else _MODES:
            yield _between_types(name, mode)
    for name in _WHOLE:
        for mode in _MODES:
            yield _to_whole(name, mode)


ROWS = tuple(_rows())
