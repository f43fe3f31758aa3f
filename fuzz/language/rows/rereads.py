"""One place in memory, read before and after it is written: the two values are two values to every operation.

A compiler that takes two reads of one address for one value makes a square of their product, 0 of their difference and
true of their comparison.
"""

from typing import Any

from tridiff.fuzz.language.choices import FLOATS, INTEGERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.rows.atomics import place
from tridiff.fuzz.language.rows.pointwise import of_extremum
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.kernels.language.emit import index
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, NUM0, Rule

_FORMS = {
    "a * b < 0": ("mul", "lt"), "a * b >= 0": ("mul", "ge"), "tl.abs(a * b)": ("mul", "abs"), "a - b": ("sub",),
    "a == b": ("eq",), "a ^ b": ("bitwise_xor",), "tl.maximum(a, b)": ("maximum_tl",), "a * b": ("mul",)}
"""What is computed of the value that was read first, a, and of the later one, b: as text, and as operations, of which
the second one takes what the first one gives, and 0 if it is a comparison."""
_TEXTS = tuple(_FORMS)
_COMPARISONS = ("lt", "ge", "eq")
_OF_INTEGERS = ("a - b", "a == b", "a ^ b", "a * b")
_OF_FLOATS = tuple(text for text in _TEXTS if text != "a ^ b")


def square(call: Call) -> bool:
    """Whether a call asks for more of a product than its value: its sign, or its absolute value."""
    first, *then = _FORMS[_TEXTS[call.number("form")]]
    return first == "mul" and bool(then)


def extremum(call: Call) -> bool:
    """Whether it asks for the larger value."""
    return _FORMS[_TEXTS[call.number("form")]] == ("maximum_tl",)


def asks_for_at_least_0(call: Call) -> bool:
    """Whether it asks if the product is 0 or more, which a square is and NaN is not."""
    return _FORMS[_TEXTS[call.number("form")]] == ("mul", "ge")


def _answer(call: Call, lib: Library, operands: Values) -> Any:
    """a is the first operand, b the second."""
    one, (first, *then) = call.operands[0].dtype, _FORMS[_TEXTS[call.number("form")]]
    found = lib.pointwise(first, one, *operands)
    for op in then:
        found = lib.pointwise(op, one, found, *((0,) if op in _COMPARISONS else ()))
    return found


def _reread() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype((*FLOATS, *INTEGERS)), choices.shape(high=2)
        form = choices.one(_OF_FLOATS if dtype(one).is_float else _OF_INTEGERS)
        options: Options = {"form": _TEXTS.index(form)}
        if choices.flag():
            options["volatile"] = True
        return Call(row="memory.reread", operands=(choices.block(one, shape), choices.block(one, shape)),
                    options=options, stored=("i1" if _FORMS[form][-1] in _COMPARISONS else one,))

    def text(call: Call) -> str:
        volatile = ", volatile=True" if call.option("volatile") else ""
        place_of_first = f"memory = x0_ptr + program * x0_pitch + {index(call.operands[0].shape)}"
        # Each access may have a layout of its own, by which another thread writes an element than reads it.
        accesses = "\ntl.debug_barrier()\n".join((
            f"a = tl.load(memory{volatile})", f"tl.store(memory, tl.load({place(call, 1)}))",
            f"b = tl.load(memory{volatile})", "tl.store(memory, a)"))
        return "\n".join((place_of_first, accesses, f"r0 = {_TEXTS[call.number('form')]}"))

    def rules(call: Call) -> tuple[Rule, ...]:
        # Of two zeros an extremum may give either.
        exact = NUM0 if extremum(call) else NUM
        return (exact if dtype(call.stored[0]).is_float else BIT,)

    def results(call: Call, version: str) -> tuple[Result, ...]:
        form, (one, _), (stored,) = _TEXTS[call.number("form")], call.operands, call.stored
        if stored != ("i1" if _FORMS[form][-1] in _COMPARISONS else one.dtype):
            raise ValueError(f"{form} is not stored as {stored}")
        made = of_extremum(call, version) if extremum(call) else stored
        return (Result(dtype=made, shape=one.shape),)

    return Row(
        name="memory.reread", covers=("tl.load", "tl.store"), draw=draw, text=text, loads=False,
        results=results,
        answer=lambda call, lib, operands: (_answer(call, lib, operands),), rules=rules)


ROWS = (_reread(),)
