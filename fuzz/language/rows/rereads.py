"""One place in memory, read before and after it is written: the two values are two values to every operation.

A compiler that takes two reads of one address for one value makes a square of their product, 0 of their difference and
true of their comparison.
"""

from typing import Any

from tridiff.fuzz.language.choices import FLOATS, INTEGERS, Choices
from tridiff.fuzz.language.row import Library, Row
from tridiff.fuzz.language.rows.atomics import place
from tridiff.kernels.language.call import Call, Result
from tridiff.kernels.language.emit import index
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, Rule

_FORMS = ("a * b < 0", "a * b >= 0", "tl.abs(a * b)", "a - b", "a == b", "a ^ b", "tl.maximum(a, b)", "a * b")
"""What is computed of the value that was read first, a, and of the later one, b."""
_TRUTHS = (0, 1, 4)
"""Those that are truth values."""
_OF_FLOATS, _OF_INTEGERS = (0, 1, 2, 3, 4, 6, 7), (3, 4, 5, 7)


def _answer(call: Call, lib: Library, operands: tuple[Any, ...]) -> Any:
    """a is the first operand, b the second."""
    one, form = call.operands[0].dtype, _FORMS[call.number("form")]
    simple = {"a - b": "sub", "a ^ b": "bitwise_xor", "tl.maximum(a, b)": "maximum_tl", "a == b": "eq"}
    if form in simple:
        return lib.pointwise(simple[form], one, *operands)
    product = lib.pointwise("mul", one, *operands)
    if form == "a * b":
        return product
    if form == "tl.abs(a * b)":
        return lib.pointwise("abs", one, product)
    return lib.pointwise("lt" if "<" in form else "ge", one, product, 0)


def _reread() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype((*FLOATS, *INTEGERS)), choices.shape(high=2)
        form = choices.one(_OF_FLOATS if dtype(one).is_float else _OF_INTEGERS)
        options: dict[str, bool | int | str] = {"form": form}
        if choices.flag():
            options["volatile"] = True
        return Call(row="memory.reread", operands=(choices.block(one, shape), choices.block(one, shape)),
                    options=options, stored=("i1" if form in _TRUTHS else one,))

    def text(call: Call) -> str:
        volatile = ", volatile=True" if call.option("volatile") else ""
        lines = [f"memory = x0_ptr + program * x0_pitch + {index(call.operands[0].shape)}",
                 f"a = tl.load(memory{volatile})", f"tl.store(memory, tl.load({place(call, 1)}))",
                 f"b = tl.load(memory{volatile})", "tl.store(memory, a)"]
        return "\n".join([*lines, f"r0 = {_FORMS[call.number('form')]}"])

    def rules(call: Call) -> tuple[Rule, ...]:
        return (NUM if dtype(call.stored[0]).is_float else BIT,)

    return Row(
        name="memory.reread", topic="memory", covers=("tl.load", "tl.store"), draw=draw, text=text, loads=False,
        results=lambda call, version: (Result(dtype=call.stored[0], shape=call.operands[0].shape),),
        answer=lambda call, lib, operands: (_answer(call, lib, operands),), rules=rules)


ROWS = (_reread(),)
