"""The low bits of a number that was just computed, moved to other threads or handed to a function.

They are written by a narrow store from a wide register. An assembler that takes the register for the number in it, and
not for its bits, stores the number as an integer.
"""

from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.kernels.language.call import Call, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype

_WAYS = {"transposed": "tl.trans({0})", "noinline": "apart({0})", "plain": "{0}"}
"""How they are moved."""
_APART = "@triton.jit(noinline=True)\ndef apart(a):\n    return a ^ 1\n"
"""A function that gives back what it is given would be left out."""
_SUMS = ("fp64", "fp32", "fp16", "bf16")
_NARROW = ("i8", "i16", "i32", "u8", "u16", "u32")


def _whole(name: str) -> str:
    """The integers of that width."""
    return f"i{dtype(name).bits}"


def _moved(call: Call, lib: Library, x: Any) -> Any:
    return lib.permute(x, order=(1, 0)) if call.option("way") == "transposed" else x


def _low(call: Call, lib: Library, operands: Values) -> Any:
    one, narrow = call.operands[0].dtype, call.stored[0]
    found = lib.cast(lib.bitcast(_sum(call, lib, operands), to=_whole(one)), to=narrow)
    return lib.pointwise("bitwise_xor", narrow, found, 1) if call.options["way"] == "noinline" else found


def _sum(call: Call, lib: Library, operands: Values) -> Any:
    return lib.pointwise("add", call.operands[0].dtype, *operands)


def _low_bits() -> Row:
    def draw(choices: Choices) -> Call:
        way, one = choices.one(tuple(_WAYS)), choices.dtype(_SUMS)
        narrow = choices.dtype([name for name in _NARROW if dtype(name).bits < dtype(one).bits])
        shape: tuple[int, ...] = ()  # functions that are not inlined take and give scalars only
        if way == "transposed":
            shape = choices.shape(low=2, high=2, least=8, most=1024)
        elif way == "plain":
            shape = choices.shape(low=0)
        return Call(row="tl.cast.low", operands=(choices.block(one, shape),) * 2, options={"way": way},
                    stored=(narrow,))

    def text(call: Call) -> str:
        wide, narrow = TRITON_NAMES[_whole(call.operands[0].dtype)], TRITON_NAMES[call.stored[0]]
        return _WAYS[str(call.options["way"])].format(f"(x0 + x1).to({wide}, bitcast=True).to({narrow})")

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        found = _sum(call, lib, operands)
        return (_moved(call, lib, found == found),)  # which NaN is made nothing says

    def results(call: Call, version: str) -> tuple[Result, ...]:
        shape = call.operands[0].shape
        return (Result(dtype=call.stored[0], shape=shape[::-1] if call.options["way"] == "transposed" else shape),)

    return Row(
        name="tl.cast.low", covers=("tl.cast", "tensor.to"), draw=draw, text=text, results=results,
        definitions=lambda call: _APART if call.options["way"] == "noinline" else "",
        answer=lambda call, lib, operands: (_moved(call, lib, _low(call, lib, operands)),),
        defined=defined,
        contents=lambda call: ("moderate", "moderate"))


ROWS = (_low_bits(),)
