"""Random numbers: Philox with every number of rounds, integers, uniform numbers."""

from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.oracles.rules import NUM, Rule


def _seed(choices: Choices) -> Operand:
    return Operand(kind="number", dtype="i32", number=str(choices.one((0, 1, 42, 2**31 - 1, 2**40 + 3))))


def _text(call: Call, function: str, offsets: str = "x1") -> str:
    rounds = f", n_rounds={call.options['rounds']}" if "rounds" in call.options else ""
    return f"{function}({call.operands[0].number}, {offsets}{rounds})"


def _words(name: str, number: int) -> Row:
    """randint, randint4x: words of Philox of a seed and offsets."""

    def draw(choices: Choices) -> Call:
        options: Options = {}
        if choices.flag():
            options["rounds"] = choices.one((1, 2, 7, 10, 12))
        operands = _seed(choices), choices.block("i32", choices.shape(high=2))
        return Call(row=f"tl.{name}", operands=operands, options=options, stored=("u32",) * number)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        seed = lib.rows_of(operands[1], 1, [int(operands[0])], to="i64", shape=())
        zero = lib.pointwise("bitwise_xor", "i32", operands[1], operands[1])
        return tuple(lib.philox(seed, (operands[1], zero, zero, zero), rounds=call.number("rounds", 10), number=word)
                     for word in range(number))

    return Row(
        name=f"tl.{name}", draw=draw,
        text=lambda call: _text(call, f"tl.{name}"), answer=answer,
        results=of_shape(lambda call: call.operands[1].shape))


def _philox() -> Row:
    def draw(choices: Choices) -> Call:
        shape = choices.shape(high=2)
        seed = Operand(kind="number", dtype="i32", number=str(choices.one((0, 7, 2**33 + 5))))
        operands = (seed, *(choices.block("u32", shape) for _ in range(4)))
        options: Options = {"rounds": choices.one((1, 3, 10))} if choices.flag() else {}
        return Call(row="tl.philox", operands=operands, options=options, stored=("u32",) * 4)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        seed = lib.rows_of(operands[1], 1, [int(operands[0])], to="i64", shape=())
        return tuple(lib.philox(seed, operands[1:], rounds=call.number("rounds", 10), number=word)
                     for word in range(4))

    return Row(
        name="tl.philox", covers=("tl.philox", "tl.philox_impl"), draw=draw,
        text=lambda call: _text(call, "tl.philox", "x1, x2, x3, x4"), answer=answer,
        results=of_shape(lambda call: call.operands[1].shape))


def _uniform(lib: Library, word: Any) -> Any:
    """A word as a float in [0, 1): its size, or that of its complement where it is negative, scaled down."""
    wide = word.dtype.itemsize == 8
    signed = lib.bitcast(word, to="i64" if wide else "i32")
    name = "i64" if wide else "i32"
    size = lib.where(lib.pointwise("lt", name, signed, 0), lib.pointwise("bitwise_not", name, signed), signed,
                     computed=name)
    return lib.pointwise("mul", "fp32", lib.cast(size, to="fp32"), 1.0842020432385337e-19 if wide else 4.6566127342e-10)


def _of_words() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(("i32", "u32", "i64", "u64"))
        return Call(row="tl.uint_to_uniform_float", operands=(choices.block(one, choices.shape(low=0)),),
                    stored=("fp32",))

    return Row(
        name="tl.uint_to_uniform_float", draw=draw,
        text=lambda call: "tl.uint_to_uniform_float(x0)",
        results=lambda call, version: (Result(dtype="fp32", shape=call.operands[0].shape),),
        answer=lambda call, lib, operands: (_uniform(lib, operands[0]),), rules=lambda call: (NUM,))


def _floats(name: str, number: int, *, normal: bool) -> Row:
    """rand and randn: uniform and normal numbers of a seed and offsets of 32 or 64 bits."""

    def draw(choices: Choices) -> Call:
        offsets = choices.block(choices.dtype(("i32", "i64", "u32")), choices.shape(high=2))
        options: Options = {"rounds": choices.one((1, 5, 10))} if choices.flag() else {}
        return Call(row=f"tl.{name}", operands=(_seed(choices), offsets), options=options, stored=("fp32",) * number)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        x, one = operands[1], call.operands[1].dtype
        seed = lib.rows_of(x, 1, [int(operands[0])], to="i64", shape=())
        low = lib.cast(x, to="u32")
        zero = lib.pointwise("bitwise_xor", "u32", low, low)
        high = lib.cast(lib.pointwise("right_shift", one, x, 32), to="u32") if one == "i64" else zero
        words = [_uniform(lib, lib.philox(seed, (low, high, zero, zero), rounds=call.number("rounds", 10), number=word))
                 for word in range(4 if number > 1 else 2)]
        if not normal:
            return tuple(words[:number])
        pairs = [lib.pieces.normal_pair(*words[place:place + 2]) for place in range(0, len(words), 2)]
        return tuple(z for pair in pairs for z in pair)[:number]

    return Row(
        name=f"tl.{name}", covers=(f"tl.{name}",) + (("tl.pair_uniform_to_normal",) if normal else ()),
        draw=draw, text=lambda call: _text(call, f"tl.{name}"), answer=answer,
        rules=lambda call: (_normal_rule() if normal else NUM,) * number,
        results=of_shape(lambda call: call.operands[1].shape))


def _normal_rule() -> Rule:
    from tridiff.oracles.bounded import RANDN_RULE

    return RANDN_RULE


ROWS = (_words("randint", 1), _words("randint4x", 4), _philox(), _of_words(),
        _floats("rand", 1, normal=False), _floats("rand4x", 4, normal=False), _floats("randn", 1, normal=True),
        _floats("randn4x", 4, normal=True))
