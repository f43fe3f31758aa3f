"""Functions that work element by element: `tl.math`, libdevice, extrema, selection, whole quotients."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.language.choices import EVERY, FLOATS, FULL, NUMBERS, Choices, broadcast
from tridiff.fuzz.language.flushing import flushing
from tridiff.fuzz.language.promotion import of_types, promoted
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import argument, arguments, keywords
from tridiff.fuzz.versions import offers
from tridiff.kernels.language.call import Call, Operand, OperandKind, Options, Result
from tridiff.kernels.pointwise.record import Form, Op, Signature
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.pointwise import rule_of
from tridiff.oracles.rules import NUM, SUM, Rule

_CALL = re.compile(r"^(tl(?:\.math)?|libdevice)\.(\w+)\((\{0\}(?:, \{\d\})*)\)\Z")
_WITH_REGIONS = ("lgamma", "j0", "j1", "y0", "y1")
"""Functions whose accuracy depends on where they are asked: codegen.pointwise judges them."""
_ONE_SOURCE = ("erf", "erf_tl", "erfc", "erfinv", "erfcx", "i0", "i1")
"""Functions for which fp64 has no second source that is better than itself: codegen.pointwise judges them."""
_METHODS = ("exp", "exp2", "log", "log2", "cos", "sin", "sqrt", "sqrt_rn", "rsqrt", "sigmoid", "erf", "floor", "ceil")
"""Functions that tensors have as methods, too."""
_STANDARD = ("sigmoid",)
"""Functions of `tl` that `tl.math` does not have."""
_OWN_ROWS = ("minimum", "maximum", "where", "clamp", "fma", "div_rn", "umulhi", "cdiv", "fdiv", "abs")


def _of_table() -> Iterator[Row]:
    """A row for each function that the table of pointwise operations writes as one call."""
    for op in OPS.values():
        for form in op.forms:
            found = _CALL.match(form.template)
            if found and found[2] not in _OWN_ROWS and op.name not in _WITH_REGIONS:
                yield _elementary(op, form, f"{found[1].removesuffix('.math')}.{found[2]}")


def _elementary(op: Op, form: Form, function: str) -> Row:
    name = function.removeprefix("tl.")
    ways = ("function", *(() if name in _STANDARD else ("math",)), "method") if name in _METHODS else ("function",)

    def draw(choices: Choices) -> Call:
        signature: Signature = choices.one(form.signatures[:1] if op.name in _ONE_SOURCE else form.signatures)
        shape = choices.shape(low=0)
        operands = tuple(choices.block(one, shape) for one in signature)
        result = form.result if isinstance(form.result, str) else signature[form.result]
        options: Options = {"way": choices.one(ways)} if len(ways) > 1 else {}
        return Call(row=f"{function}.{op.name}", operands=operands, stored=(result,), options=options)

    def text(call: Call) -> str:
        if call.option("way") == "method":
            return f"x0.{name}()"
        return f"{'tl.math.' + name if call.option('way') == 'math' else function}({arguments(call)})"

    def dtypes(call: Call) -> tuple[str, ...]:
        return tuple(one.dtype for one in call.operands)

    def rule(call: Call) -> Rule:
        found = rule_of(op.name, dtypes(call), call.stored[0])
        return slope_rule(op.name) if found.plus_per_abs_x else found

    def bounds(call: Call, operands: Values) -> Values:
        from tridiff.oracles.tolerances import slope_bound

        return (slope_bound(operands[0], op.name, call.stored[0]),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        from tridiff.oracles.by_torch import pointwise

        return (pointwise.defined(op.name, *operands),)

    return flushing(Row(
        name=f"{function}.{op.name}", draw=draw, text=text,
        covers=(function, f"tensor.{name}") if name in _METHODS else (function,),
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.mixed(op.name, *operands),),
        rules=lambda call: (rule(call),), defined=defined, bounds=bounds), step=op.name == "nextafter_libdevice")


def slope_rule(op: str) -> Rule:
    """For functions whose error grows with the argument: the bound says how far, element by element."""
    return SUM("slope_bound", origin=f"oracles.md §3, {op}: ulps that grow with |x|")


def _function(name: str, op: str, dtypes: tuple[str, ...], *, converts: bool = True) -> Row:
    """A function of two operands with implicit conversion. converts: also of what is passed at launch with another
    type; else only numbers of the source are, and that is refused."""

    def refused(one: Operand) -> bool:
        return not converts and one.kind == "argument" and one.dtype not in dtypes

    def draw(choices: Choices) -> Call:
        a, b = (replace(one, kind="number") if refused(one) else one for one in choices.partners(first=dtypes))
        return Call(row=name, operands=(a, b), stored=(promoted(a, b),))

    def results(call: Call, version: str) -> tuple[Result, ...]:
        if any(map(refused, call.operands)):
            raise ValueError(f"{name} refuses a number of another type that is passed at launch")
        return (Result(dtype=call.stored[0], shape=together(call)),)

    return Row(
        name=name, draw=draw,
        text=lambda call: f"{name}({arguments(call)})",
        results=results,
        answer=lambda call, lib, operands: (lib.pointwise(op, call.stored[0], *operands),),
        rules=lambda call: (rule_of(op, (call.stored[0],) * 2, call.stored[0]),),
        defined=lambda call, lib, operands: (lib.pointwise_defined(op, call.stored[0], *operands),))


def of_extremum(call: Call, version: str) -> str:
    """The type of an extremum: before 3.9.0 numbers count as tensors, and bf16 is computed in fp32 and left there."""
    if offers(version, "extrema and scans in the types of their operands"):
        return call.stored[0]
    name, *others = ("fp32" if one.dtype == "bf16" else one.dtype for one in call.operands)
    for one in others:
        name = of_types(name, one)
    return name


def _extremum(name: str, covers: tuple[str, ...]) -> Row:
    short = name.removeprefix("tl.")

    def draw(choices: Choices) -> Call:
        a, b = choices.partners(first=NUMBERS)
        mode = choices.one(("", "NONE", "ALL"))
        return Call(row=name, operands=(a, b), options={"nan": mode} if mode else {}, stored=(promoted(a, b),))

    def op(call: Call) -> str:
        return short if call.option("nan", "") == "ALL" else {"minimum": "fmin", "maximum": "fmax"}[short]

    return Row(
        name=name, covers=covers, draw=draw,
        text=lambda call: f"{name}({arguments(call)}" + (
            f", propagate_nan=tl.PropagateNan.{call.options['nan']})" if "nan" in call.options else ")"),
        results=lambda call, version: (Result(dtype=of_extremum(call, version), shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise(op(call), call.stored[0], *operands),),
        rules=lambda call: (rule_of(op(call), (call.stored[0],) * 2, call.stored[0]),))


def _clamp() -> Row:
    """Floats between limits that are numbers; limits of one type with x, low not above high."""

    def draw(choices: Choices) -> Call:
        name = choices.dtype(FLOATS)
        shape = choices.shape()
        low, high = choices.one((("0.0", "1.0"), ("-1.5", "2.0"), ('float("-inf")', "0.5"), ("3.0", "3.0"),
                                 ("-100.0", 'float("inf")')))
        kind: OperandKind = choices.one(("number", "constexpr"))
        limits = tuple(Operand(kind=kind, dtype="fp32", number=one) for one in (low, high))
        mode = choices.one(("", "ALL", "NONE"))
        options: Options = {"nan": mode} if mode else {}
        return Call(row="tl.clamp", operands=(choices.block(name, shape), *limits), options=options, stored=(name,))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        name = call.stored[0]
        if call.option("nan", "") == "ALL":
            return (lib.pointwise("clamp", name, *operands),)
        x, low, high = operands
        return (lib.pointwise("fmin", name, lib.pointwise("fmax", name, x, low), high),)

    return Row(
        name="tl.clamp", draw=draw,
        text=lambda call: f"tl.clamp({arguments(call)}" + (
            f", propagate_nan=tl.PropagateNan.{call.options['nan']})" if "nan" in call.options else ")"),
        results=lambda call, version: (Result(dtype=of_extremum(call, version), shape=together(call)),),
        answer=answer, rules=lambda call: (rule_of("fmin", (call.stored[0],) * 2, call.stored[0]),))


def _where() -> Row:
    def draw(choices: Choices) -> Call:
        a, b = choices.partners(first=EVERY)
        if "fp8" in a.dtype + b.dtype or not (a.given and b.given):
            b = Operand(dtype=a.dtype, shape=a.shape) if a.given else b
            a = a if a.given else Operand(dtype=b.dtype, shape=b.shape)
        shape = broadcast(a.shape, b.shape)
        condition = choices.block(choices.often("i1", "i32", "i8"), choices.one((shape, choices.partner(shape))))
        return Call(row="tl.where", operands=(condition, a, b), stored=(of_types(a.dtype, b.dtype),))

    return Row(
        name="tl.where", draw=draw,
        text=lambda call: f"tl.where({arguments(call)})",
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.where(*operands, computed=call.stored[0]),),
        rules=lambda call: (rule_of("where", (call.stored[0],), call.stored[0])
                            if len({one.dtype for one in call.operands[1:]}) == 1 else NUM,))


def _fma() -> Row:
    def draw(choices: Choices) -> Call:
        name, shape = "fp32", choices.shape()  # fp64 is judged exactly by codegen.pointwise
        shapes = (shape, *(choices.one((shape, choices.partner(shape))) for _ in range(2)))
        # The whole shape may come last, when the others have been made alike.
        return Call(row="tl.fma", stored=(name,), operands=tuple(
            choices.block(name, shapes[place]) for place in choices.order(3)))

    return Row(
        name="tl.fma", covers=("tl.fma", "tl.math.fma"), draw=draw,
        text=lambda call: f"tl.fma({arguments(call)})",
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.pointwise("fma", call.stored[0], *operands),),
        rules=lambda call: (rule_of("fma", (call.stored[0],) * 3, call.stored[0]),))


def _abs() -> Row:
    def draw(choices: Choices) -> Call:
        name = choices.dtype(NUMBERS)
        return Call(row="tl.abs", operands=(choices.block(name, choices.shape(low=0)),), stored=(name,),
                    options={"way": choices.one(("function", "math", "method"))})

    def text(call: Call) -> str:
        return {"method": "x0.abs()", "math": "tl.math.abs(x0)"}.get(str(call.option("way")), "tl.abs(x0)")

    return Row(
        name="tl.abs", covers=("tl.abs", "tl.math.abs", "tensor.abs"), draw=draw,
        text=text,
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.pointwise("abs", call.stored[0], *operands),),
        rules=lambda call: (rule_of("abs", (call.stored[0],), call.stored[0]),),
        defined=lambda call, lib, operands: (lib.pointwise_defined("abs_tl", call.stored[0], *operands),))


def _umulhi() -> Row:
    names = ("i32", "i64", "u32", "u64")

    def draw(choices: Choices) -> Call:
        name, shape = choices.dtype(names), choices.shape(low=0)
        return Call(row="tl.umulhi", operands=(choices.block(name, shape),) * 2, stored=(name,))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        words = [lib.bitcast(one, to="u" + call.stored[0][1:]) for one in operands]
        return (lib.bitcast(lib.upper_product(*words), to=call.stored[0]),)

    return Row(
        name="tl.umulhi", covers=("tl.umulhi", "tl.math.umulhi"), draw=draw,
        text=lambda call: "tl.umulhi(x0, x1)",
        results=of_shape(together),
        answer=answer, rules=lambda call: (rule_of("bitwise_and", (call.stored[0],) * 2, call.stored[0]),))


def _cdiv() -> Row:
    """Whole quotients rounded up, of numbers that are not negative and whose sum fits."""

    def draw(choices: Choices) -> Call:
        name = choices.dtype(("i32", "i64", "u32"))
        shape = choices.shape(low=0)
        divisor = Operand(kind="number", dtype="i32", number=str(choices.one((1, 2, 3, 7, 64, 1000))))
        return Call(row="tl.cdiv", operands=(choices.block(name, shape), divisor), stored=(name,),
                    options={"way": choices.one(("function", "method"))})

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        """What else contents may be once a case shrinks or is written in another way."""
        name, (x, divisor) = call.stored[0], operands
        most = int(dtype(name).max) - (divisor - 1)
        return (lib.pointwise("ge", name, x, 0) & lib.pointwise("le", name, x, most),)

    return Row(
        name="tl.cdiv", method=True, draw=draw,
        text=lambda call: f"x0.cdiv({argument(call, 1)})" if call.option("way") == "method" else (
            f"tl.cdiv(x0, {argument(call, 1)})"),
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.ceiling_quotient(*lib.align(tuple(
            lib.cast(one, to=call.stored[0]) for one in operands))),),
        rules=lambda call: (rule_of("bitwise_and", (call.stored[0],) * 2, call.stored[0]),), defined=defined,
        contents=lambda call: ("count",))


def _fdiv() -> Row:
    def draw(choices: Choices) -> Call:
        name, shape = choices.dtype(FULL), choices.shape()
        ieee = choices.one(("", "False", "True"))
        options: Options = {"ieee_rounding": ieee == "True"} if ieee else {}
        second = choices.block(name, choices.one((shape, choices.partner(shape))))
        return Call(row="tl.fdiv", operands=(choices.block(name, shape), second), options=options, stored=(name,))

    def op(call: Call) -> str:
        return "div_rn" if call.option("ieee_rounding") or call.stored[0] == "fp64" else "truediv"

    return Row(
        name="tl.fdiv", covers=("tl.fdiv", "tl.math.fdiv"), draw=draw,
        text=lambda call: f"tl.fdiv(x0, x1{keywords(call, 'ieee_rounding')})",
        results=of_shape(together),
        answer=lambda call, lib, operands: (lib.pointwise("truediv", call.stored[0], *operands),),
        rules=lambda call: (rule_of(op(call), (call.stored[0],) * 2, call.stored[0]),))


ROWS = (
    *_of_table(),
    _extremum("tl.minimum", ("tl.minimum", "tl.PropagateNan")),
    _extremum("tl.maximum", ("tl.maximum", "tl.PropagateNan")),
    _clamp(), _where(), _fma(), _abs(), _umulhi(), _cdiv(), _fdiv(),
    _function("tl.add", "add", NUMBERS), _function("tl.sub", "sub", NUMBERS), _function("tl.mul", "mul", NUMBERS),
    _function("tl.div_rn", "div_rn", ("fp32",), converts=False),
)
