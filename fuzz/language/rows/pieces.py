"""Functions of libdevice that are exact: whole numbers near a float, its exponent, its class, remainders.

Sources: CUDA Math API; C17 §7.12.
"""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import FULL, Choices
from tridiff.fuzz.language.flushing import flushing
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.rows.rounding import BUDGET
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM

SINGLE = (("fp32",),)
ONE = tuple((one,) for one in FULL)
TWO = tuple((one, one) for one in FULL)


def _piece(name: str, signatures: tuple[tuple[str, ...], ...], answer: Callable[[Library, Any], Any], *,
           result: str = "", text: str = "{}", contents: tuple[str, ...] = (), budget: int = 0,
           defined: Callable[[Any], Any] | None = None) -> Row:
    """result: the type of the result, "" for that of the last operand but integers. defined: where the function is."""
    function = f"libdevice.{name}"

    def draw(choices: Choices) -> Call:
        types, shape = choices.one(signatures), choices.shape(low=0, most=64 if budget else 256)
        others = tuple(choices.block(one, choices.often(shape, choices.partner(shape))) for one in types[1:])
        return Call(row=function, operands=(choices.block(types[0], shape), *others), stored=(result or types[0],))

    def known(call: Call, lib: Library, operands: Values) -> Values:
        assert defined is not None
        return (defined(lib.align(operands)),)

    return flushing(Row(
        name=function, draw=draw,
        text=lambda call: text.format(f"{function}({arguments(call)})"),
        results=of_shape(together),
        answer=lambda call, lib, operands: (answer(lib, lib.align(operands)),), budget=budget,
        defined=None if defined is None else known,
        rules=lambda call: (NUM if dtype(call.stored[0]).is_float else BIT,), contents=lambda call: contents))


def _in_range(operands: Any) -> Any:
    """Halfway cases at the ends of i64, and what lies outside of it, are not described."""
    return operands[0].abs() < 2.0**63


def _small_quotient(operands: Any) -> Any:
    """Remainders are described for all quotients; those of large ones take as many steps."""
    import torch

    a, b = operands
    return (a.abs() <= b.abs() * 2.0**100) | ~torch.isfinite(a) | ~torch.isfinite(b) | (b == 0)


ROWS = (
    _piece("rint", ONE, lambda lib, x: lib.pieces.half_to_even(*x), contents=("halves32",)),
    _piece("round", ONE, lambda lib, x: lib.pieces.half_away(*x), contents=("halves32",)),
    _piece("llround", ONE, lambda lib, x: lib.cast(lib.pieces.half_away(*x), to="i64"), result="i64",
           contents=("halves64",), defined=_in_range),
    _piece("saturatef", SINGLE, lambda lib, x: lib.pieces.saturated(*x)),
    _piece("finitef", SINGLE, lambda lib, x: lib.pieces.finite(*x), result="i1"),
    _piece("isfinited", (("fp64",),), lambda lib, x: lib.pieces.finite(*x), result="i1"),
    _piece("isnan", ONE, lambda lib, x: lib.pieces.nan(*x), result="i1"),
    _piece("isinf", ONE, lambda lib, x: lib.pieces.infinite(*x), result="i1"),
    _piece("signbit", ONE, lambda lib, x: lib.pieces.negative(*x), result="i1", text="{} != 0"),
    _piece("fdim", TWO, lambda lib, x: lib.pieces.distance(*x)),
    _piece("logb", ONE, lambda lib, x: lib.pieces.exponent(*x)),
    _piece("scalbn", tuple((one, "i32") for one in FULL), lambda lib, x: lib.pieces.scaled(*x),
           contents=("", "exponent"), budget=BUDGET),
    _piece("remainder", TWO, lambda lib, x: lib.pieces.remainder_to_nearest(*x), contents=("", "divisor"),
           budget=BUDGET, defined=_small_quotient),
)
