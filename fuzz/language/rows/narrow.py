"""8-bit floats in operators and functions, as a user writes them: a sum of two has their type (language.md §1)."""

from typing import Any

from tridiff.fuzz.language.choices import FP8, Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import COMPARISONS, together
from tridiff.kernels.language.call import Call
from tridiff.oracles.rules import BIT, NUM, NUM0, SET, Rule

_EXACT = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}"}
_CHOSEN = {"fmax": "tl.maximum({0}, {1})", "fmin": "tl.minimum({0}, {1})"}


def _pair(name: str, op: str, text: str, rule: Any, *, result: str = "") -> Row:
    """Two operands of one type. Exact results are rounded once to that type, and may saturate (oracles.md §5)."""
    row = f"fp8.{name}"

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(FP8), choices.shape()
        operands = (choices.block(one, shape), choices.block(one, choices.often(shape, choices.partner(shape), ())))
        return Call(row=row, operands=operands, stored=(result or one,))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        wide = lib.pointwise(op, "fp32", *operands)
        if result:
            return (wide,)
        return (lib.candidates(wide, to=call.stored[0]),)

    return Row(
        name=row, covers=("fp8",), draw=draw, text=lambda call: text.format("x0", "x1"),
        results=of_shape(together), answer=answer,
        rules=lambda call: (rule,))


def _one(name: str, text: str, op: str, rule: Rule) -> Row:
    """One operand. The minus sign may be a difference, which rounds to the type and may so saturate."""
    row = f"fp8.{name}"

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        wide = lib.pointwise(op, "fp32", *operands)
        return (lib.candidates(wide, to=call.stored[0]) if rule.kind == "SET" else lib.cast(wide, to=call.stored[0]),)

    def draw(choices: Choices) -> Call:
        one = choices.dtype(FP8)
        return Call(row=row, operands=(choices.block(one, choices.shape()),), stored=(one,))

    return Row(
        name=row, covers=("fp8",), draw=draw, text=lambda call: text, rules=lambda call: (rule,),
        answer=answer)


def _folded(name: str, text: str, kind: str, result: str) -> Row:
    """Along the last axis; places and order are open where a NaN is."""
    row = f"fp8.{name}"

    def draw(choices: Choices) -> Call:
        one = choices.dtype(FP8)
        shape = choices.shape(high=2, most=128)
        return Call(row=row, operands=(choices.block(one, shape),), stored=(result or one,))

    def shape(call: Call) -> tuple[int, ...]:
        return call.operands[0].shape if kind == "sort" else call.operands[0].shape[:-1]

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        wide = lib.cast(operands[0], to="fp32")
        if kind == "sort":
            return (lib.cast(lib.sort(wide, descending=False), to=call.stored[0]),)
        if name.startswith("arg"):
            return (lib.argument(wide, kind=kind, axis=-1, keep=False),)
        return (lib.fold(wide, kind=kind, axis=-1, keep=False),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        clean = ~lib.has_nan(operands[0], axis=-1, keep=True)
        return (clean.expand(-1, *shape(call)) if kind == "sort" else clean[..., 0] if name.startswith("arg")
                else clean[..., 0] | True,)

    return Row(
        name=row, covers=("fp8",), draw=draw, defined=defined, answer=answer,
        text=lambda call: text.format(axis=len(call.operands[0].shape) - 1),
        results=of_shape(shape),
        rules=lambda call: (BIT if call.stored[0] == "i32" else NUM0,))


ROWS = (
    *(_pair(name, name, text, SET(NUM)) for name, text in _EXACT.items()),
    *(_pair(name, name, text, SET(NUM0)) for name, text in _CHOSEN.items()),
    *(_pair(name, name, f"{{0}} {symbol} {{1}}", BIT, result="i1") for symbol, name in COMPARISONS.items()),
    _one("neg", "-x0", "neg_operator", SET(NUM0)), _one("abs", "tl.abs(x0)", "abs", NUM),
    _folded("max", "tl.max(x0, {axis})", "max", "fp32"), _folded("min", "tl.min(x0, {axis})", "min", "fp32"),
    _folded("argmax", "tl.argmax(x0, {axis})", "max", "i32"), _folded("argmin", "tl.argmin(x0, {axis})", "min", "i32"),
    _folded("sort", "tl.sort(x0)", "sort", ""),
)
