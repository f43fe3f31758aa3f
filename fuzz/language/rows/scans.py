"""Scans: prefix sums and products, and `tl.associative_scan` with a function of the user's, in both directions."""

from tridiff.fuzz.language.choices import NUMBERS, Choices, axis_spelled
from tridiff.fuzz.language.row import Library, Row, Values, installed
from tridiff.fuzz.language.rows.reductions import bounded, exact, summed, written
from tridiff.fuzz.versions import offers
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.oracles.dtypes import dtype


def _options(choices: Choices, rank: int, *, axis: bool = False) -> Options:
    options: Options = {"way": choices.one(("function", "method"))}
    if axis or choices.flag():
        options["axis"] = axis_spelled(choices, rank)
    if choices.flag():
        options["reverse"] = choices.flag()
    return options


def _scan(name: str, kind: str) -> Row:
    def given(one: str, version: str) -> str:
        if offers(version, "extrema and scans in the types of their operands"):
            return summed(one)
        # bf16 is widened, but narrow integers only where they are added.
        return "fp32" if one == "bf16" else summed(one) if kind == "sum" else one

    def draw(choices: Choices) -> Call:
        one = choices.dtype(NUMBERS)
        shape = choices.shape(high=3, most=512)
        options = _options(choices, len(shape))
        stored = summed(one)
        if dtype(one).is_float and choices.whole(0, 3) == 3:
            stored = str(options.setdefault("dtype", choices.one(("fp32", "fp64"))))
        return Call(row=f"tl.{name}", operands=(choices.block(one, shape),), options=options, stored=(stored,))

    def results(call: Call, version: str) -> tuple[Result, ...]:
        found = call.stored[0] if "dtype" in call.options else given(call.operands[0].dtype, version)
        return (Result(dtype=found, shape=call.operands[0].shape),)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        # Integers wrap in the type of the result, which depends on the version.
        computed = call.stored[0] if dtype(call.stored[0]).is_float else results(call, installed())[0].dtype
        return (lib.scan(lib.cast(operands[0], to=computed), kind=kind, axis=place(call),
                         reverse=bool(call.option("reverse"))),)

    def place(call: Call) -> int:
        return call.number("axis") % len(call.operands[0].shape)

    def bounds(call: Call, operands: Values) -> Values:
        from tridiff.oracles.by_torch.language import flip
        from tridiff.oracles.tolerances import prefix_product_bound, prefix_sum_bound

        axis, back = place(call), bool(call.option("reverse"))
        x = flip(operands[0], axis=axis) if back else operands[0]
        found = (prefix_sum_bound if kind == "sum" else prefix_product_bound)(x, axis + 1, acc=call.stored[0])
        return (found.flip(axis + 1) if back else found,)

    return Row(
        name=f"tl.{name}", method=True, draw=draw,
        text=lambda call: written(name, call, "axis", "reverse", "dtype"), results=results,
        answer=answer, newer={"dtype": "3.9.0"} if kind == "product" else {},
        rules=lambda call: (bounded(call.stored[0], f"prefix_{kind}_bound"),), bounds=bounds,
        contents=lambda call: ("" if kind == "sum" else "factors",))


def _associative() -> Row:
    kinds = {"_add": "sum", "_larger": "max", "_latter": "latter"}

    def draw(choices: Choices) -> Call:
        function = choices.one(tuple(kinds))
        exact, ordered = ("i32", "i64", "u32", "i16"), ("i32", "fp32", "fp16", "fp64", "u64")
        one = choices.dtype(exact if function == "_add" else ordered)
        shape = choices.shape(high=3, most=512)
        options = _options(choices, len(shape), axis=True) | {"function": function}
        return Call(row="tl.associative_scan", operands=(choices.block(one, shape),), options=options, stored=(one,))

    def text(call: Call) -> str:
        start = "x0.associative_scan(" if call.option("way") == "method" else "tl.associative_scan(x0, "
        end = f", reverse={call.options['reverse']}" if "reverse" in call.options else ""
        return f"{start}{call.options['axis']}, {call.options['function']}{end})"

    return Row(
        name="tl.associative_scan", method=True,
        draw=draw, text=text,
        answer=lambda call, lib, operands: (lib.scan(
            operands[0], kind=kinds[str(call.options["function"])], axis=call.number("axis"),
            reverse=bool(call.option("reverse"))),),
        rules=lambda call: (exact(call.stored[0]),))


ROWS = (_scan("cumsum", "sum"), _scan("cumprod", "product"), _associative())
