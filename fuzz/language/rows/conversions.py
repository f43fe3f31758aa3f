"""Conversions: by method and function, in both rounding modes, as bits, and the implicit one of a store."""

from tridiff.fuzz.language.choices import EVERY, FLOATS, FP8, NUMBERS, Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.rows import low_bits
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, SET, Rule


def _pair(choices: Choices) -> tuple[str, str]:
    """Types with a conversion between them: integers to and from 8-bit floats go by way of others."""
    one = choices.dtype(EVERY)
    if one in FP8:
        return one, choices.dtype((*FLOATS, *FP8))
    other = choices.dtype(EVERY if dtype(one).is_float else (*NUMBERS, "i1"))
    return one, other


def _rule(name: str) -> Rule:
    return SET(NUM) if name == "fp8e5" else NUM if dtype(name).is_float else BIT


def _answer(call: Call, lib: Library, operands: Values) -> Values:
    to, x = call.stored[-1], operands[0]
    if call.option("rounding", "") == "rtz":
        return (lib.towards_zero(x, to=to),)
    return (lib.candidates(x, to=to) if to == "fp8e5" else lib.cast(x, to=to),)


def _defined(call: Call, lib: Library, operands: Values) -> Values:
    return (lib.cast_defined(operands[0], to=call.stored[-1]),)


def _cast() -> Row:
    def draw(choices: Choices) -> Call:
        one, other = _pair(choices)
        options: Options = {"way": choices.one(("to", "cast", "method"))}
        if one == "fp32" and other in ("bf16", "fp16") and choices.flag():
            options["rounding"] = choices.one(("rtne", "rtz"))
        return Call(row="tl.cast", operands=(choices.block(one, choices.shape(low=0)),), options=options,
                    stored=(other,))

    def text(call: Call) -> str:
        said = TRITON_NAMES[call.stored[0]]
        if "rounding" in call.options:
            said += f', fp_downcast_rounding="{call.options["rounding"]}"'
        return {"to": f"x0.to({said})", "method": f"x0.cast({said})", "cast": f"tl.cast(x0, {said})"}[
            str(call.options["way"])]

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        found = _defined(call, lib, operands)[0]
        if call.option("rounding", "") != "rtz":
            return (found,)
        from tridiff.oracles.bits import is_inf, to_float64

        # Beyond the largest number, rounding towards zero saturates or overflows: nothing says which.
        top = float(dtype(call.stored[0]).max)
        return (found & (is_inf(operands[0]) | ~(to_float64(operands[0]).abs() > top)),)

    return Row(
        name="tl.cast", covers=("tl.cast", "tensor.to", "tensor.cast"), draw=draw, text=text,
        answer=_answer,
        rules=lambda call: (NUM if call.option("rounding", "") == "rtz" else _rule(call.stored[0]),),
        defined=defined)


def _bitcast() -> Row:
    widths = {8: ("i8", "u8", *FP8), 16: ("i16", "u16", "bf16", "fp16"), 32: ("i32", "u32", "fp32"),
              64: ("i64", "u64", "fp64")}

    def draw(choices: Choices) -> Call:
        names = choices.one(tuple(widths.values()))
        one, other = choices.dtype(names), choices.dtype(names)
        return Call(row="tl.cast.bits", operands=(choices.block(one, choices.shape(low=0)),), stored=(other,),
                    options={"way": choices.one(("to", "cast"))})

    def text(call: Call) -> str:
        said = f"{TRITON_NAMES[call.stored[0]]}, bitcast=True"
        return f"x0.to({said})" if call.options["way"] == "to" else f"tl.cast(x0, {said})"

    return Row(
        name="tl.cast.bits", covers=("tl.cast", "tensor.to"), draw=draw, text=text,
        answer=lambda call, lib, operands: (lib.bitcast(operands[0], to=call.stored[0]),))


def _store() -> Row:
    """What `tl.store` makes of a value of another type than its pointer's."""

    def draw(choices: Choices) -> Call:
        one, other = _pair(choices)
        if other == "i1":  # truth values lie in memory as bytes, behind pointers to i8
            other = "i8" if not dtype(one).is_float else "fp32"
        return Call(row="tl.store.implicit", operands=(choices.block(one, choices.shape(low=0)),), stored=(other,))

    return Row(
        name="tl.store.implicit", covers=("tl.store",), draw=draw, text=lambda call: "x0",
        results=lambda call, version: (Result(dtype=call.operands[0].dtype, shape=call.operands[0].shape),),
        answer=_answer, rules=lambda call: (_rule(call.stored[0]),), defined=_defined)


ROWS = (_cast(), _bitcast(), _store(), *low_bits.ROWS)
