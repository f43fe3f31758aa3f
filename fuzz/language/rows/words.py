"""Functions of libdevice on the bits of integers, and patterns of floats read as integers and back.

Sources: CUDA Math API, "Integer Intrinsics" and "Type Casting Intrinsics".
"""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call

_SIGNATURE = tuple[tuple[str, ...], str]
"""Types of the operands and of the result."""
_COUNTED: tuple[_SIGNATURE, ...] = ((("i32",), "i32"), (("i64",), "i32"))
_PAIRS: tuple[_SIGNATURE, ...] = ((("i32", "i32"), "i32"), (("u32", "u32"), "u32"))


def _words(name: str, signatures: tuple[_SIGNATURE, ...], answer: Callable[[Library, Call, Values], Any],
           *contents: str) -> Row:
    function = f"libdevice.{name}"

    def draw(choices: Choices) -> Call:
        types, result = choices.one(signatures)
        shape = choices.shape(low=0)
        first, *others = (choices.block(one, shape if not place else choices.often(shape, choices.partner(shape)))
                          for place, one in enumerate(types))
        return Call(row=function, operands=(first, *others), stored=(result,))

    return Row(
        name=function, draw=draw, text=lambda call: f"{function}({arguments(call)})",
        results=of_shape(together),
        answer=lambda call, lib, operands: (answer(lib, call, lib.align(operands)),),
        contents=lambda call: contents)


def _pattern(name: str, source: str, to: str) -> Row:
    """The same bits in another type."""
    return _words(name, (((source,), to),), lambda lib, call, x: lib.bitcast(x[0], to=to))


ROWS = (
    _words("clz", _COUNTED, lambda lib, call, x: lib.words.leading_zeros(*x)),
    _words("popc", _COUNTED, lambda lib, call, x: lib.words.ones(*x)),
    _words("ffs", _COUNTED, lambda lib, call, x: lib.words.first_set(*x)),
    _words("brev", ((("i32",), "i32"), (("i64",), "i64")), lambda lib, call, x: lib.words.reversed_bits(*x)),
    _words("byte_perm", ((("i32", "i32", "i32"), "i32"),), lambda lib, call, x: lib.words.permuted_bytes(*x)),
    _words("mulhi", (*_PAIRS, (("i64", "i64"), "i64"), (("u64", "u64"), "u64")),
           lambda lib, call, x: lib.upper_product(*x)),
    _words("mul24", _PAIRS, lambda lib, call, x: lib.words.product_of_24_bits(*x)),
    _words("sad", ((("i32", "i32", "u32"), "i32"), (("u32", "u32", "u32"), "u32")),
           lambda lib, call, x: lib.words.sum_with_distance(*x)),
    _words("hadd", _PAIRS, lambda lib, call, x: lib.words.mean(*x, up=False)),
    _words("rhadd", _PAIRS, lambda lib, call, x: lib.words.mean(*x, up=True)),
    _pattern("int_as_float", "i32", "fp32"), _pattern("uint_as_float", "u32", "fp32"),
    _pattern("float_as_int", "fp32", "i32"), _pattern("float_as_uint", "fp32", "i32"),
    _pattern("longlong_as_double", "i64", "fp64"), _pattern("double_as_longlong", "fp64", "i64"),
    _words("double2hiint", ((("fp64",), "i32"),), lambda lib, call, x: lib.words.half_of_double(*x, upper=True)),
    _words("double2loint", ((("fp64",), "i32"),), lambda lib, call, x: lib.words.half_of_double(*x, upper=False)),
    _words("hiloint2double", ((("i32", "i32"), "fp64"),), lambda lib, call, x: lib.words.double_of_halves(*x)),
)
