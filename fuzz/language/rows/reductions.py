"""Reductions: along each axis in either spelling, along all, with and without the axis kept, with indices."""

from typing import Any

from tridiff.fuzz.language.choices import BOOL, INTEGERS, NUMBERS, Choices, axis_spelled
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.texts import keywords
from tridiff.fuzz.versions import offers
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM0, Rule

EVERY_AXIS = "None"
_METHODS = ("function", "method")


def axis_of(call: Call) -> int | None:
    """The axis that is folded; None: all of them."""
    found = call.options.get("axis", EVERY_AXIS)
    return None if found == EVERY_AXIS else int(found)


def folded(call: Call) -> tuple[int, ...]:
    """The shape of a result."""
    shape, axis = call.operands[0].shape, axis_of(call)
    if axis is None:
        return (1,) * len(shape) if call.option("keep_dims") else ()
    axis %= len(shape)
    return shape[:axis] + ((1,) if call.option("keep_dims") else ()) + shape[axis + 1:]


def _fold(call: Call, lib: Library, x: Any, kind: str) -> Values:
    return (lib.fold(x, kind=kind, axis=axis_of(call), keep=bool(call.option("keep_dims"))),)


def _options(choices: Choices, rank: int, *, every: bool = True) -> Options:
    options: Options = {"way": choices.one(_METHODS)}
    if not every or choices.whole(0, 2):
        options["axis"] = axis_spelled(choices, rank)
    elif choices.flag():
        options["axis"] = EVERY_AXIS
    if choices.whole(0, 2) == 2:
        options["keep_dims"] = choices.flag()
    return options


def written(name: str, call: Call, *names: str) -> str:
    said = keywords(call, *names).replace("'None'", "None").removeprefix(", ")
    if call.option("way") == "method":
        return f"x0.{name}({said})"
    return f"tl.{name}(x0{', ' if said else ''}{said})"


def summed(name: str) -> str:
    """The type in which `tl.sum` and the like add."""
    info = dtype(name)
    if info.kind == "int" and info.bits < 32:
        return "i32"
    return "u32" if info.kind in ("uint", "bool") and info.bits < 32 else name


def exact(name: str) -> Rule:
    """Of what is not rounded: an element of the operands, or a whole number."""
    return NUM0 if dtype(name).is_float else BIT


def bounded(name: str, formula: str) -> Rule:
    from tridiff.oracles.bounded import RULES

    return RULES[formula] if dtype(name).is_float else BIT


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    from tridiff.oracles.bits import to_float64

    wide = to_float64(x)
    return (wide.reshape(wide.shape[0], -1), 1) if axis is None else (wide, axis % (x.ndim - 1) + 1)


def _sum() -> Row:
    def draw(choices: Choices) -> Call:
        name = choices.dtype((*NUMBERS, *BOOL))
        shape = choices.shape(high=4, most=512)
        options = _options(choices, len(shape))
        stored = summed(name)
        if choices.whole(0, 3) == 3:
            stored = choices.one(("fp32", "fp64") if dtype(name).is_float else ("i32", "i64", "u32"))
            options["dtype"] = stored
        return Call(row="tl.sum", operands=(choices.block(name, shape),), options=options, stored=(stored,))

    def bounds(call: Call, operands: Values) -> Values:
        from tridiff.oracles.tolerances import sum_bound

        flat, place = _flat(operands[0], axis_of(call))
        return (sum_bound(flat, place, acc=call.stored[0]).reshape(-1, *folded(call)),)

    return Row(
        name="tl.sum", method=True, draw=draw,
        text=lambda call: written("sum", call, "axis", "keep_dims", "dtype"),
        results=of_shape(folded),
        answer=lambda call, lib, operands: _fold(call, lib, lib.cast(operands[0], to=call.stored[0]), "sum"),
        rules=lambda call: (bounded(call.stored[0], "sum_bound"),), bounds=bounds)


def _narrow(name: str) -> str:
    """The type in which extrema of narrow types are computed and given."""
    return name if dtype(name).bits >= 32 else "fp32" if dtype(name).is_float else "i32"


def _extremum(name: str) -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(NUMBERS), choices.shape(high=4, most=512)
        return Call(row=f"tl.{name}", operands=(choices.block(one, shape),), options=_options(choices, len(shape)),
                    stored=(_narrow(one),))

    return Row(
        name=f"tl.{name}", method=True, draw=draw,
        text=lambda call: written(name, call, "axis", "keep_dims"),
        results=of_shape(folded),
        answer=lambda call, lib, operands: _fold(call, lib, lib.cast(operands[0], to=call.stored[0]), name),
        rules=lambda call: (exact(call.stored[0]),))


def _with_index(name: str, *, values: bool) -> Row:
    """argmax, and max with indices: ties to the left, NaN open. Which of equal values is named without tie breaking
    is open, too: only the value is judged."""
    function = name if values else f"arg{name}"
    ties = "return_indices_tie_break_left" if values else "tie_break_left"
    row = f"tl.{name}.indices" if values else f"tl.arg{name}"

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(NUMBERS), choices.shape(high=3, most=512)
        options = _options(choices, len(shape), every=False)
        if choices.flag():
            options[ties] = choices.flag() if values else True
        if values:
            options["return_indices"] = True
        return Call(row=row, operands=(choices.block(one, shape),), options=options,
                    stored=(one, "i32") if values else ("i32",))

    def results(call: Call, version: str) -> tuple[Result, ...]:
        kept = offers(version, "extrema and scans in the types of their operands")
        return tuple(Result(dtype="fp32" if one == "bf16" and not kept else one, shape=folded(call))
                     for one in call.stored)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        said = {"kind": name, "axis": axis_of(call), "keep": bool(call.option("keep_dims"))}
        index = lib.argument(operands[0], **said)
        return (lib.fold(operands[0], **said), index) if values else (index,)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        known = ~lib.has_nan(operands[0], axis=axis_of(call), keep=bool(call.option("keep_dims")))
        if not values:
            return (known,)
        return known, known & bool(call.option(ties, True))

    return Row(
        name=row, covers=(f"tl.{function}", f"tensor.{function}"), draw=draw,
        text=lambda call: written(function, call, "axis", "return_indices", ties, "keep_dims"),
        results=results, answer=answer, defined=defined,
        rules=lambda call: (exact(call.stored[0]), BIT) if values else (BIT,))


def _bitwise(name: str, kind: str) -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype((*INTEGERS, *BOOL)), choices.shape(high=3, most=512)
        options = _options(choices, len(shape), every=name == "xor_sum")
        return Call(row=f"tl.{name}", operands=(choices.block(one, shape),), options=options, stored=(one,))

    return Row(
        name=f"tl.{name}", method=True, draw=draw,
        text=lambda call: written(name, call, "axis", "keep_dims"),
        results=of_shape(folded),
        answer=lambda call, lib, operands: _fold(call, lib, operands[0], kind))


def _reduce() -> Row:
    """`tl.reduce` with a function of the user's."""
    kinds = {"_add": "sum", "_product": "product", "_larger": "max"}

    def draw(choices: Choices) -> Call:
        function = choices.one(tuple(kinds))
        one = choices.dtype(("i32", "i64", "u32") if function != "_larger" else ("i32", "fp32", "fp16", "fp64", "u64"))
        shape = choices.shape(high=3, most=512)
        options = _options(choices, len(shape)) | {"function": function, "way": choices.one(_METHODS)}
        options.setdefault("axis", EVERY_AXIS)
        return Call(row="tl.reduce", operands=(choices.block(one, shape),), options=options, stored=(one,))

    def text(call: Call) -> str:
        axis, keep = call.options["axis"], keywords(call, "keep_dims")
        start = "x0.reduce(" if call.option("way") == "method" else "tl.reduce(x0, "
        return f"{start}{axis}, {call.options['function']}{keep})"

    return Row(
        name="tl.reduce", method=True, draw=draw, text=text,
        results=of_shape(folded),
        answer=lambda call, lib, operands: _fold(call, lib, operands[0], kinds[str(call.options["function"])]),
        rules=lambda call: (exact(call.stored[0]),))


def _reduce_pair() -> Row:
    """`tl.reduce` of two blocks at once: sums of one, the largest of the other."""

    def draw(choices: Choices) -> Call:
        shape = choices.shape(high=2, most=512)
        first, second = choices.dtype(("i32", "i64", "u32")), choices.dtype(("i32", "fp32", "i64", "fp16"))
        return Call(row="tl.reduce.pair", operands=(choices.block(first, shape), choices.block(second, shape)),
                    options={"axis": axis_spelled(choices, len(shape)) % len(shape)}, stored=(first, second))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        said = {"axis": axis_of(call), "keep": False}
        return lib.fold(operands[0], kind="sum", **said), lib.fold(operands[1], kind="max", **said)

    return Row(
        name="tl.reduce.pair", covers=("tl.reduce",), draw=draw,
        text=lambda call: f"tl.reduce((x0, x1), {call.options['axis']}, _sum_and_larger)",
        results=of_shape(folded),
        answer=answer, rules=lambda call: (BIT, exact(call.stored[1])))


def _softmax() -> Row:
    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(("fp32", "fp64")), choices.shape(high=2, most=512)
        options: Options = {}
        if choices.flag():
            options["dim"] = choices.whole(0, len(shape) - 1)
        if choices.whole(0, 3) == 3:
            options["ieee_rounding"] = choices.flag()
        return Call(row="tl.softmax", operands=(choices.block(one, shape),), options=options, stored=(one,))

    def bounds(call: Call, operands: Values) -> Values:
        import torch

        from tridiff.oracles.tolerances import softmax_bound

        # exp of -inf is exactly 0: an element that the others outweigh by far has the same share.
        x, place = operands[0], call.number("dim") + 1
        low = torch.where(torch.isfinite(x), x, torch.inf).amin(place, keepdim=True) - 2000
        return (softmax_bound(torch.where(torch.isneginf(x) & torch.isfinite(low), low, x), place,
                              acc=call.stored[0]),)

    return Row(
        name="tl.softmax", method=True, draw=draw,
        text=lambda call: f"tl.softmax(x0{keywords(call, 'dim', 'ieee_rounding')})",
        answer=lambda call, lib, operands: (lib.softmax(operands[0], axis=call.number("dim")),),
        rules=lambda call: (bounded(call.stored[0], "softmax_bound"),), bounds=bounds,
        contents=lambda call: ("moderate",))


ROWS = (
    _sum(), _extremum("max"), _extremum("min"), _with_index("max", values=True), _with_index("min", values=True),
    _with_index("max", values=False), _with_index("min", values=False), _bitwise("xor_sum", "xor"),
    _bitwise("reduce_or", "or"), _reduce(), _reduce_pair(), _softmax(),
)
