"""Random numbers: Philox with every number of rounds, integers, uniform numbers."""

from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.oracles.rules import BIT


def _words(name: str, number: int) -> Row:
    """randint, randint4x: words of Philox of a seed and offsets."""

    def draw(choices: Choices) -> Call:
        options: dict[str, bool | int | str] = {}
        if choices.flag():
            options["rounds"] = choices.one((1, 2, 7, 10, 12))
        seed = Operand(kind="number", dtype="i32", number=str(choices.one((0, 1, 42, 2**31 - 1, 2**40 + 3))))
        return Call(row=f"tl.{name}", operands=(seed, choices.block("i32", choices.shape(high=2))), options=options,
                    stored=("u32",) * number)

    def text(call: Call) -> str:
        rounds = f", n_rounds={call.options['rounds']}" if "rounds" in call.options else ""
        return f"tl.{name}({call.operands[0].number}, x1{rounds})"

    def answer(call: Call, lib: Library, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        seed = lib.rows_of(operands[1], 1, [int(operands[0])], to="i64", shape=())
        zero = lib.pointwise("bitwise_xor", "i32", operands[1], operands[1])
        return tuple(lib.philox(seed, (operands[1], zero, zero, zero), rounds=call.number("rounds", 10), number=word)
                     for word in range(number))

    return Row(
        name=f"tl.{name}", topic="random", covers=(f"tl.{name}",), draw=draw, text=text, answer=answer,
        results=lambda call, version: tuple(Result(dtype=one, shape=call.operands[1].shape) for one in call.stored),
        rules=lambda call: (BIT,) * number)


def _philox() -> Row:
    def draw(choices: Choices) -> Call:
        shape = choices.shape(high=2)
        seed = Operand(kind="number", dtype="i32", number=str(choices.one((0, 7, 2**33 + 5))))
        operands = (seed, *(choices.block("u32", shape) for _ in range(4)))
        options: dict[str, bool | int | str] = {"rounds": choices.one((1, 3, 10))} if choices.flag() else {}
        return Call(row="tl.philox", operands=operands, options=options, stored=("u32",) * 4)

    def text(call: Call) -> str:
        rounds = f", n_rounds={call.options['rounds']}" if "rounds" in call.options else ""
        return f"tl.philox({call.operands[0].number}, x1, x2, x3, x4{rounds})"

    def answer(call: Call, lib: Library, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        seed = lib.rows_of(operands[1], 1, [int(operands[0])], to="i64", shape=())
        return tuple(lib.philox(seed, operands[1:], rounds=call.number("rounds", 10), number=word)
                     for word in range(4))

    return Row(
        name="tl.philox", topic="random", covers=("tl.philox", "tl.philox_impl"), draw=draw, text=text, answer=answer,
        results=lambda call, version: tuple(Result(dtype=one, shape=call.operands[1].shape) for one in call.stored),
        rules=lambda call: (BIT,) * 4)


ROWS = (_words("randint", 1), _words("randint4x", 4), _philox())
