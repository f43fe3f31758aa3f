"""Forms of index expressions: what is compiled wrong of the arithmetic that an expression over the axes makes."""

from collections.abc import Iterator, Mapping
from math import copysign, frexp, isfinite, log2

from msgspec.structs import replace

from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.nodes import ABSOLUTE, equal, is_negation
from tridiff.kernels.codegen.domains import Analysis, expression, with_expression
from tridiff.kernels.codegen.graph import Apply, Expr, Index, Load, Node, Num, Pointwise, Real, Store, Sym, real_number
from tridiff.kernels.codegen.ranges import INDIRECT, Facts, IllegalExpression, symbols

_EXTREMA = ("min", "max")
_BYTE = 255


def _negated(expr: Expr) -> Expr | None:
    """What an expression is the negation of."""
    if not isinstance(expr, Apply):
        return None
    if expr.function == "neg":
        return expr.args[0]
    others = [one for one in expr.args if one != Num(value=-1)]
    return others[0] if expr.function == "mul" and len(others) == 1 and len(expr.args) == 2 else None


def _negations(expr: Expr) -> Iterator[Expr]:
    """The negations that come into an extremum of an extremum of the same kind."""
    if not isinstance(expr, Apply):
        return
    inner = [one for one in expr.args if isinstance(one, Apply) and one.function == expr.function]
    if expr.function in _EXTREMA and inner:
        yield from (one for outer in (expr, *inner) for one in outer.args if _negated(one) is not None)
    for one in expr.args:
        yield from _negations(one)


def _with(expr: Expr, new: Mapping[Expr, Expr]) -> Expr:
    if expr in new:
        return new[expr]
    if not isinstance(expr, Apply):
        return expr
    return Apply(function=expr.function, args=tuple(_with(one, new) for one in expr.args))


def _extremum_in_index(analysis: Analysis, node: Index | Load | Store) -> Result:
    """ptxas before 13.4 loses a negation in VIMNMX3 (pytorch#190973, triton#11032): ~x has none."""
    expr = expression(node)
    assert expr is not None
    found = {one: Apply(function="add", args=(one, Num(value=-1))) for one in _negations(expr)}
    return with_expression(node, _with(expr, found)) if found else None


def _negation_lost(analysis: Analysis, node: Index | Load | Store) -> Iterator[Changes]:
    """The operands themselves, all together or one of them."""
    expr = expression(node)
    assert expr is not None
    plain = {one: below for one in _negations(expr) if (below := _negated(one)) is not None}
    alone = [{one: below} for one, below in plain.items()] if len(plain) > 1 else []
    for new in (plain, *alone):
        yield dict.fromkeys(equal(analysis, node), with_expression(node, _with(expr, new)))


def _negated_abs(analysis: Analysis, expr: Expr) -> bool:
    """Whether an expression is -|x|, also as min(x, -x), in a value that is read by name, and cut at a limit that it
    never exceeds."""
    if isinstance(expr, Sym):
        found = analysis.nodes[int(expr.name[1:])] if expr.name[0] == "v" else None
        return found is not None and negated_abs(analysis, found)
    if not isinstance(expr, Apply):
        return False
    below = _negated(expr)
    if isinstance(below, Apply) and below.function == "abs":
        return True
    if expr.function != "min" or len(expr.args) != 2:
        return False
    first, second = expr.args
    cut = any(isinstance(one, Num) and one.value >= 0 and _negated_abs(analysis, other)
              for one, other in ((first, second), (second, first)))
    return cut or _negated(first) == second or _negated(second) == first


def negated_abs(analysis: Analysis, node: Node) -> bool:
    """Whether a node is -|x| of 64 bits."""
    if isinstance(node, Index):
        return node.dtype == "i64" and _negated_abs(analysis, node.expr)
    if not isinstance(node, Pointwise) or analysis.dtype(node.args[0]) != "i64" or not is_negation(analysis, node):
        return False
    return any(isinstance(one := analysis.nodes[k], Pointwise) and one.op in ABSOLUTE for k in node.args)


def _limited(analysis: Analysis, expr: Expr) -> Iterator[tuple[Apply, Num, Expr]]:
    """(extremum, its negative constant, its other operand, -|x|)."""
    if not isinstance(expr, Apply):
        return
    if expr.function in _EXTREMA and len(expr.args) == 2:
        for one, other in (expr.args, expr.args[::-1]):
            if isinstance(one, Num) and one.value < 0 and _negated_abs(analysis, other):
                yield expr, one, other
    for one in expr.args:
        yield from _limited(analysis, one)


def _limit_of_negated_abs(analysis: Analysis, node: Index | Load | Store) -> Result:
    """ptxas 12.8 to 13.4 takes -|x| of 64 bits, neg.s64 of abs.s64, for less than every negative constant: max.s64 with
    one is that constant, and min.s64 with one is -|x|."""
    expr = expression(node)
    assert expr is not None
    found: dict[Expr, Expr] = {one: replace(one, args=(limit, Apply(function="add", args=(other, Num(value=-1)))))
                               for one, limit, other in _limited(analysis, expr)}
    return with_expression(node, _with(expr, found)) if found else None


def _limit_taken(analysis: Analysis, node: Index | Load | Store) -> Iterator[Changes]:
    """The constant for a maximum, -|x| for a minimum."""
    expr = expression(node)
    assert expr is not None
    found: dict[Expr, Expr] = {
        one: limit if one.function == "max" else other for one, limit, other in _limited(analysis, expr)}
    yield dict.fromkeys(equal(analysis, node), with_expression(node, _with(expr, found)))


def _divided_sums(analysis: Analysis, expr: Expr) -> Iterator[tuple[Apply, Expr]]:
    """(division, dividend without the constant) of every sum of a byte and a constant; to round up adds one."""
    if not isinstance(expr, Apply):
        return
    for one in expr.args:
        yield from _divided_sums(analysis, one)
    match expr:
        case Apply(function="ceildiv", args=(rest, Num(value=divisor))):
            constant = divisor - 1
        case Apply(function="floordiv", args=(Apply(function="add", args=(rest, Num(value=constant))), Num())):
            pass
        case _:
            return
    # The compiler knows where in a block an element lies, and not which block it is nor how many there are.
    known = {name: found if name[0] not in "xn" else INDIRECT for name, found in analysis.ranges.items()}
    try:
        low, high = Facts(known).of(rest).interval
    except (IllegalExpression, AssertionError):
        return
    if low >= 0 and 0 < constant <= _BYTE - high and any(name[0] != "n" for name in symbols(rest)):
        yield expr, rest


def _sum_in_index(analysis: Analysis, node: Index) -> Result:
    """ptxas 12.8 to 13.1 computes an add.s16x2 again for each of its halves, and adds 0 there (triton#11581). LLVM
    narrows divisions of what fits in a byte, and pairs them."""
    found: dict[Expr, Expr] = {one: replace(one, function="floordiv", args=(rest, one.args[1]))
                               for one, rest in _divided_sums(analysis, node.expr)}
    return replace(node, expr=_with(node.expr, found)) if found else None


def _constant_left_out(analysis: Analysis, node: Index) -> Iterator[Changes]:
    """The quotient of the other summand, of which an element's place beyond its thread's first is a constant too."""
    left, r = _sum_in_index(analysis, node), Sym(name="r")
    assert isinstance(left, Index)
    places: list[Expr] = [r, *(Apply(function="python_mod", args=(r, Num(value=width))) for width in (32, 64, 128))]
    for place in places:
        yield dict.fromkeys(equal(analysis, node), replace(left, expr=_with(left.expr, {r: place})))


def _quotients_by_numbers(expr: Expr) -> Iterator[tuple[Apply, float]]:
    """(quotient in double precision, its divisor), where that is a number and no power of two; dividends first."""
    if not isinstance(expr, Apply):
        return
    for one in expr.args:
        yield from _quotients_by_numbers(one)
    if expr.function in ("int_true_div", "float_true_div") and isinstance(expr.args[1], Num | Real):
        divisor = real_number(str(expr.args[1].value))
        if isfinite(divisor) and abs(frexp(divisor)[0]) not in (0.0, 0.5):
            yield expr, divisor


def _quotient_by_number(analysis: Analysis, node: Index | Load | Store) -> Result:
    """PyTorch multiplies by the reciprocal of a number on a GPU, eager and compiled (`div_true_kernel_cuda`: "may lose
    one bit of precision"). That of a power of two is exact."""
    expr = expression(node)
    assert expr is not None
    found: dict[Expr, Expr] = {}
    for one, divisor in _quotients_by_numbers(expr):
        power = copysign(2.0 ** round(log2(abs(divisor))), divisor)
        other = Num(value=int(power)) if isinstance(one.args[1], Num) else Real(value=str(power))
        found[one] = replace(one, args=(_with(one.args[0], found), other))
    return with_expression(node, _with(expr, found)) if found else None


def _reciprocal(analysis: Analysis, node: Index | Load | Store) -> Iterator[Changes]:
    """The product with the reciprocal."""
    expr = expression(node)
    assert expr is not None
    found: dict[Expr, Expr] = {}
    for one, divisor in _quotients_by_numbers(expr):
        inner = _with(one.args[0], found)  # a quotient by another number
        dividend = inner if one.function == "float_true_div" else Apply(function="to_float", args=(inner,))
        found[one] = Apply(function="mul", args=(dividend, Real(value=str(1 / divisor))))
    yield dict.fromkeys(equal(analysis, node), with_expression(node, _with(expr, found)))


LIMIT_IN_INDEX = Form(label="limit of a negated abs", kinds=(Index, Load, Store), rewritten=_limit_of_negated_abs,
                      computed=_limit_taken)
EXTREMUM_IN_INDEX = Form(label="extremum of three, one negated", kinds=(Index, Load, Store),
                         rewritten=_extremum_in_index, computed=_negation_lost)
SUM_IN_INDEX = Form(label="divided sum of a byte", kinds=(Index,), rewritten=_sum_in_index,
                    computed=_constant_left_out)
QUOTIENT_BY_NUMBER = Form(label="quotient by a number", kinds=(Index, Load, Store), rewritten=_quotient_by_number,
                          computed=_reciprocal)
