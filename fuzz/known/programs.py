"""Known issues of generated programs under torch.compile (subject `inductor`).

What torch.compile makes of one node goes through the rest of a program, so that few wrong elements can be predicted:
the control is the same program with a near relative of the node. Where a result is wrong in a way that survives, it is
predicted as well.
"""

import dataclasses
from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.coverage import functions
from tridiff.fuzz.known.coordinates import cell_of_a_sum, keeps_coordinates, with_tensors_of_coordinates
from tridiff.fuzz.known.graphs.form import Form as GraphForm
from tridiff.fuzz.known.graphs.forms import SINGLE
from tridiff.fuzz.known.graphs.index_forms import QUOTIENT_BY_NUMBER
from tridiff.fuzz.known.graphs.number_forms import CONVERTED_SUM, JOINED_CONVERSIONS, LIBRARY_STEP, NARROW_PLACE
from tridiff.fuzz.known.inductor import DOUBLE_TO_FP8, FP8_TO_DOUBLE, SCANNED_BYTES
from tridiff.fuzz.known.issue import ASTRAY, KnownIssue
from tridiff.fuzz.known.rewriting import Changes, Form, has, itself, without
from tridiff.fuzz.known.saturated import computes_with_overflow, without_overflow
from tridiff.fuzz.known.searched import (
    float_boundaries,
    searches_for_floats,
    with_whole_boundaries,
    without_searched_nan,
)
from tridiff.fuzz.known.uncompiled import HERE, erring
from tridiff.fuzz.known.wide_indices import beyond_int32
from tridiff.fuzz.known.zeros import minus_zero
from tridiff.fuzz.records.corpus_entry import Stage, Truth
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis, expression, with_expression
from tridiff.kernels.codegen.graph import (
    Apply,
    Bucketize,
    Cast,
    Constant,
    Expr,
    Index,
    Node,
    Num,
    Part,
    Pointwise,
    Reduce,
    Scan,
    Store,
    Sym,
)
from tridiff.kernels.codegen.ranges import symbols
from tridiff.kernels.pointwise.table import HALVES
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

_PREDICTED = "tridiff.fuzz.known.predictions.programs"
_QUOTIENTS = ("int_true_div", "float_true_div")


def _swapped(ops: tuple[str, ...], other: str, wanted: Callable[[str], bool] = is_float) -> Form:
    """Another operation of the same operands and result, for operands of the wanted type."""

    def form(analysis: Analysis, position: int, node: Node) -> Changes:
        if not isinstance(node, Pointwise) or node.op not in ops or not wanted(analysis.dtype(node.args[0])):
            return {}
        return {position: replace(node, op=other)}

    return form


def _of_zero(analysis: Analysis, position: int, node: Node) -> Changes:
    nodes = analysis.nodes
    zero = isinstance(node, Pointwise) and node.op == "mul" and any(
        isinstance(one := nodes[k], Constant) and one.value == "0" and is_float(one.dtype) for k in node.args)
    return {position: replace(node, op="add")} if zero else {}


def _parts(analysis: Analysis, position: int) -> dict[int, int]:
    """The parts of a node with several results: position, and number of the result."""
    return {user: part.item for user in analysis.users[position]
            if isinstance(part := analysis.nodes[user], Part)}


def _mantissa(analysis: Analysis, position: int, node: Node) -> Changes:
    if not isinstance(node, Pointwise) or node.op != "frexp":
        return {}
    return {user: Pointwise(op="abs", args=node.args) for user, item in _parts(analysis, position).items() if item == 0}


def _exponent(analysis: Analysis, position: int, node: Node) -> Changes:
    if not isinstance(node, Pointwise) or node.op != "frexp":
        return {}
    return {user: _somewhere(analysis, user) for user, item in _parts(analysis, position).items() if item == 1}


def _somewhere(analysis: Analysis, position: int) -> Node:
    """An i32 that varies along the axes of a node, the sum of its coordinates."""
    axes = tuple(Sym(name=axis) for axis in sorted(analysis.domains[position]))
    expr: Expr = Num(value=1) if not axes else axes[0] if len(axes) == 1 else Apply(function="add", args=axes)
    return Index(expr=expr, dtype="i32")


def _welford(analysis: Analysis, position: int, node: Node) -> Changes:
    if not isinstance(node, Reduce) or node.kind != "welford":
        return {}
    total = replace(node, kind="sum")
    return {position: total, **dict.fromkeys(_parts(analysis, position), Pointwise(op="abs", args=(position,)))}


def _rounded(analysis: Analysis, position: int, node: Node) -> Changes:
    expr = expression(node)
    if expr is None or "round_decimal" not in functions(expr):
        return {}
    return {position: with_expression(node, _without_rounding(analysis, expr))}


def _without_rounding(analysis: Analysis, expr: Expr) -> Expr:
    if not isinstance(expr, Apply):
        return expr
    args = tuple(_without_rounding(analysis, one) for one in expr.args)
    if expr.function != "round_decimal":
        return replace(expr, args=args)
    # What is rounded to decimals is real, also where an integer is.
    whole = analysis.facts.of(args[0]).kind == "int"
    return Apply(function="to_float", args=args[:1]) if whole else args[0]


def _quotient(analysis: Analysis, position: int, node: Node) -> Changes:
    expr = expression(node)
    if expr is None:
        return {}
    literal = _with_literals(expr, analysis.sizes, inside=False)
    return {position: with_expression(node, literal)} if literal != expr else {}


def _with_literals(expr: Expr, sizes: dict[str, int], *, inside: bool) -> Expr:
    """The expression with the values of sizes wherever a quotient is formed of them."""
    if isinstance(expr, Sym):
        return Num(value=sizes[expr.name]) if inside and expr.name in sizes else expr
    if not isinstance(expr, Apply):
        return expr
    deeper = inside or expr.function in _QUOTIENTS
    return replace(expr, args=tuple(_with_literals(one, sizes, inside=deeper) for one in expr.args))


def _negated(analysis: Analysis, position: int, node: Node) -> Changes:
    """The absolute value in its place; of an expression of floats what is negated."""
    if isinstance(node, Index) and is_float(node.dtype):
        plain = _without_negation(node.expr)
        return {position: replace(node, expr=plain)} if plain != node.expr else {}
    return _swapped(("neg",), "abs")(analysis, position, node)


def _without_negation(expr: Expr) -> Expr:
    if not isinstance(expr, Apply):
        return expr
    args = tuple(map(_without_negation, expr.args))
    return args[0] if expr.function == "neg" else replace(expr, args=args)


@itself
def _stores_double_as_fp8(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Store) and analysis.buffers[node.buffer] in FP8 and analysis.dtype(node.value) == "fp64"


def _fold_of_positions(analysis: Analysis, position: int, node: Node) -> Changes:
    """The largest instead of the sum or product of what argmin or argmax found, or of integers computed of that: no
    larger than the positions, and so the same in fp32 and in int32."""
    if not isinstance(node, Reduce) or node.kind not in ("argmin", "argmax"):
        return {}
    found: dict[int, Node] = {}
    reached, waiting = {position}, list(analysis.users[position])
    while waiting:
        place = waiting.pop()
        one = analysis.nodes[place]
        dtype = "" if isinstance(one, Store) else analysis.dtype(place)
        if place in reached or dtype in ("", "i1") or is_float(dtype):
            continue
        reached.add(place)
        waiting += analysis.users[place]
        if isinstance(one, Reduce) and one.kind in ("sum", "prod"):
            found[place] = replace(one, kind="max")
        elif isinstance(one, Scan) and one.combine in ("sum", "prod"):
            found[place] = replace(one, combine="max")
    return found


@itself
def _fp8_as_double(analysis: Analysis, node: Node) -> bool:
    """fp64 of an fp8, also by way of other floats: Inductor makes one conversion of such a chain."""
    if isinstance(node, Cast) and not node.bitcast:
        source, kind = node.arg, node.dtype
    elif isinstance(node, Store):
        source, kind = node.value, analysis.buffers[node.buffer]
    else:
        return False
    while isinstance(one := analysis.nodes[source], Cast) and not one.bitcast and one.dtype in SINGLE:
        source = one.arg
    return kind == "fp64" and analysis.dtype(source) in FP8


@itself
def _scans_bytes(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Scan) and "u8" in map(analysis.dtype, node.args)


@itself
def _added(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Store) and cell_of_a_sum(analysis.graph, node) is not None


@itself
def _to_fp8e5(analysis: Analysis, node: Node) -> bool:
    if isinstance(node, Store):
        return analysis.buffers[node.buffer] == "fp8e5"
    return isinstance(node, Cast) and node.dtype == "fp8e5" and not node.bitcast


@itself
def _any_byte(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Reduce) and node.kind in ("any", "all") and analysis.dtype(node.args[0]) == "u8"


@itself
def _scans_narrow(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Scan) and any(dtype_info(analysis.dtype(k)).bits < 32 for k in node.args)


@itself
def _split_scan_of_a_place(analysis: Analysis, node: Node) -> bool:
    """A scan that torch.compile may split among programs, in a program that computes with an outer coordinate."""
    split = isinstance(node, Scan) and node.combine not in ("max", "min") and (analysis.graph.r or 0) > 128
    outer = analysis.axes.keys() - {"r"}
    return split and any(outer & symbols(expr) for one in analysis.nodes
                         if not isinstance(one, Store) and (expr := expression(one)) is not None)


@itself
def _empty_search(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Bucketize) and node.size == 0


def _negative_divisor(analysis: Analysis, position: int, node: Node) -> Changes:
    """The negated dividend by the absolute value: the same number, whatever a loop over several axes makes of one. A
    sum where an operation divides a coordinate."""
    if isinstance(node, Pointwise):
        divisor = analysis.nodes[node.args[-1]]
        negative = isinstance(divisor, Constant) and divisor.dtype.startswith("i") and divisor.value.startswith("-")
        return {position: replace(node, op="add")} if negative and node.op == "floor_divide" else {}
    expr = expression(node)
    plain = _with_positive_divisors(expr) if expr is not None else None
    return {position: with_expression(node, plain)} if plain is not None and plain != expr else {}


def _with_positive_divisors(expr: Expr) -> Expr:
    if not isinstance(expr, Apply):
        return expr
    args = tuple(map(_with_positive_divisors, expr.args))
    if expr.function in ("floordiv", "cleandiv") and isinstance(args[1], Num) and args[1].value < 0:
        args = (Apply(function="neg", args=args[:1]), Num(value=-args[1].value))
    return replace(expr, args=args)


@itself
def _power_of_sizes(analysis: Analysis, node: Node) -> bool:
    expr = expression(node)
    return expr is not None and "pow_by_natural" in functions(expr)


def _bits_of_sizes(analysis: Analysis, position: int, node: Node) -> Changes:
    """The number itself instead of its bits, where only sizes come into an index whose bits are taken."""
    source = analysis.nodes[node.arg] if isinstance(node, Cast) and node.bitcast else None
    expr = expression(source) if isinstance(source, Index) else None
    if not isinstance(node, Cast) or expr is None or not symbols(expr) <= set(analysis.sizes):
        return {}
    return {position: replace(node, bitcast=False)}


def _of_sizes(analysis: Analysis, position: int, node: Node) -> Changes:
    """The numbers in place of sizes in integers of 32 bits or less that are computed from them."""
    if not isinstance(node, Index) or node.dtype not in ("i8", "i16", "i32", "u8", "u16", "u32"):
        return {}
    literal = _with_literals(node.expr, analysis.sizes, inside=True)
    return {position: replace(node, expr=literal)} if literal != node.expr else {}


def _rewritten(name: str, form: Form, *entries: str, upstream: tuple[str, ...] = (), title: str,
               truth: Truth = "defect", explains: str = "", errors: tuple[str, ...] = (),
               controlled: bool = True, stage: Stage = "inductor") -> KnownIssue:
    return KnownIssue(
        name=name, title=title, upstream=upstream, stage=stage, truth=truth,
        where=HERE, entries=tuple(f"inductor.programs_{one}" for one in entries), match=has(form),
        explains=f"{_PREDICTED}:{explains}" if explains else "", relative=without(form) if controlled else None,
        errors=errors)


def _is_half(dtype: str) -> bool:
    return dtype in HALVES


def _is_narrow(dtype: str) -> bool:
    return dtype in ("i8", "i16", "u8")


def _is_single(dtype: str) -> bool:
    return dtype in SINGLE


def _is_double(dtype: str) -> bool:
    return dtype == "fp64"


def _predicted(name: str, form: GraphForm, entry: str, *, title: str, explains: str, truth: Truth = "defect",
               upstream: tuple[str, ...] = (), backends: tuple[str, ...] = ()) -> tuple[KnownIssue, KnownIssue]:
    """What is predicted for every element, and, where it spreads to others, controlled."""
    alone = KnownIssue(
        name=name, title=title, upstream=upstream, stage="inductor", truth=truth, where=HERE, match=form.has,
        entries=(f"inductor.programs_{entry}",), instead=form.without, backends=backends,
        explains=f"tridiff.fuzz.known.predictions.graphs:{explains}")
    return alone, dataclasses.replace(alone, match=form.spreads, entries=(), explains="", relative=form.without)


_POSITIONS = "what argmin and argmax find is of the type of what they search, or int32, and so is what is folded of it"
_JOINED = _predicted(
    "conversions-joined", JOINED_CONVERSIONS, "pointwise/value-f785b82283-beside",
    upstream=("pytorch#176565",), explains="conversion_left_out",
    title="of two conversions to floats torch 2.11 makes one, which does not round twice")
ISSUES = (
    *_JOINED,
    dataclasses.replace(_JOINED[1], match=CONVERTED_SUM.has, relative=CONVERTED_SUM.without,
                        instead=CONVERTED_SUM.without),
    *_predicted("quotient-by-a-number", QUOTIENT_BY_NUMBER, "indexing/value-2ee3f0a463", truth="accuracy",
                explains="reciprocal_taken", title="a quotient by a number is a product with its reciprocal"),
    # Every element is computed, and so that search does not avoid floor and ceil, of which few are wrong.
    dataclasses.replace(
        _predicted("library-step-over-subnormals", LIBRARY_STEP, "pointwise/value-b9c684f7d1",
                   upstream=("pytorch#187340", "pytorch#185878"), explains="stepped_by_the_library", backends=("cuda",),
                   title="nextafter, floor and ceil of fp32 take subnormal numbers for zeros")[0],
        instead=dataclasses.replace(LIBRARY_STEP, ops=("nextafter",)).without),
    _rewritten("float-floor-divide", _swapped(("floor_divide",), "add"), "mixed/value-ee38be2017",
               upstream=("pytorch#197895", "pytorch#188048"), title="floor(a / b) rounds the quotient first"),
    _rewritten("truncated-quotient-within-two-steps", _swapped(("trunc_divide",), "add", _is_single),
               "pointwise/value-2ac289db77", truth="accuracy",
               title="div(a, b, rounding_mode='trunc') cuts off a quotient that may be two steps too small"),
    _rewritten("nextafter-of-halves", _swapped(("nextafter", "nextafter_libdevice"), "copysign", _is_half),
               "pointwise/value-9468b94ecd", upstream=("pytorch#187340",),
               title="nextafter of halves returns its operand"),
    _rewritten("signbit-of-fp64", _swapped(("signbit", "signbit_libdevice"), "isnan", _is_double),
               "pointwise/value-f871dfa5e4", upstream=("pytorch#187935",), title="signbit of fp64 is x < 0"),
    _rewritten("product-with-zero-folded", _of_zero, "pointwise/value-fff14150df", upstream=("pytorch#186281",),
               title="x * 0 is the constant 0"),
    _rewritten("frexp-exponent-of-nan", _exponent, "mixed/value-78f5349041", upstream=("pytorch#143790",),
               truth="undefined", title="the exponent of NaN and of infinities is that of ilogb plus one"),
    _rewritten("frexp-sign-of-zero", _mantissa, "pointwise/zero-sign-556bfcb12a", upstream=("pytorch#195007",),
               title="the mantissa of -0.0 is +0.0"),
    _rewritten("mean-of-infinities", _welford, "reduction/nan-unexpected-9ed2be0dd7", truth="undefined",
               title="the mean of a row with infinities"),
    KnownIssue(
        name="bessel-function-of-infinity", stage="eager", truth="undefined",
        where=(*HERE, ("inductor.programs_*", "own")),
        title="Bessel functions of infinities are 0, where eager torch has NaN",
        entries=("inductor.programs_pointwise/nan-missing-57d78ca8bb",),
        match=has(_swapped(("j0", "j1", "y0", "y1"), "sin")),
        explains="tridiff.fuzz.known.predictions.graphs:bessel_function_decayed"),
    _rewritten("round-to-decimals", _rounded, "pointwise/value-29a379cf8f", truth="accuracy",
               title="round to decimals multiplies by 10^-2"),
    _rewritten("quotient-of-sizes", _quotient, "pointwise/value-643e903d50",
               title="the quotient of two sizes is formed in fp32"),
    _rewritten("index-in-int32", beyond_int32, "indexing/value-3a48591f58", "reduction/value-ef23b60f50",
               upstream=("pytorch#175966",),
               title="integers of coordinates are computed in int32",
               errors=("*Scalar * is out of range for type int32*", "out_of_bounds", *ASTRAY)),
    KnownIssue(
        name="coordinates-neither-wrap-nor-round", stage="inductor", where=HERE,
        title="conversions of coordinates and what is computed behind them neither wrap nor round",
        entries=("inductor.programs_indexing/value-3a48591f58-beside",), match=keeps_coordinates,
        relative=with_tensors_of_coordinates, errors=("*Scalar * is out of range for type int32*",)),
    _rewritten("divisors-of-nested-quotients-multiplied", _negative_divisor, "memory/value-742510e5e2",
               title="floor(floor(x / a) / b) is floor(x / (a * b)), which it is for positive b only"),
    _rewritten("sizes-are-of-64-bits", _of_sizes, "pointwise/value-9aa033e008",
               errors=("*Cannot bitcast data-type of size*",),
               title="an integer of sizes is of 64 bits, and so is what is computed of it and of a tensor of 32"),
    _rewritten("relu-of-narrow-integers", _swapped(("relu",), "abs", _is_narrow), "pointwise/value-f785b82283",
               title="relu of narrow integers is int32, and so is what is computed of it",
               errors=("Loop-carried variable * has initial type <*, uint8> but is re-assigned to <*, int32>*",
                       *(f"*Cannot use /, #, or % with triton.language.{one} and triton.language.{other} *"
                         for one, other in (("int32", "uint8"), ("uint8", "int32"))))),
    _rewritten("remainder-of-a-rounded-quotient", _swapped(("remainder",), "fmod"), "mixed/value-56d3f9d222",
               truth="accuracy", stage="llvm", title="remainder subtracts the truncated rounded quotient"),
    _rewritten("negation-by-subtraction", _negated, upstream=("triton#10270",), stage="front-end",
               title="-x of +0.0 is +0.0"),
    _rewritten("constants-lose-the-sign-of-zero", minus_zero, "pointwise/zero-sign-a375762658", stage="front-end",
               title="the constant -0.0 becomes 0.0"),
    _rewritten("positions-in-another-type", _fold_of_positions, "reduction/value-3b15fe2222", "scan/value-f15051dbe5",
               title=_POSITIONS),
    *_predicted("positions-in-another-type", NARROW_PLACE, "reduction/value-ef23b60f50-beside",
                explains="place_narrowed", title=_POSITIONS),
    KnownIssue(
        name="bits-of-sizes", title="the bits of a size do not compile: it is 64 bits wide where 32 are taken",
        stage="inductor", where=HERE,
        entries=("inductor.programs_indexing/cannot-bitcast-data-type-6a2a3bd786",), match=has(_bits_of_sizes),
        relative=without(_bits_of_sizes), errors=("*Cannot bitcast data-type of size*",), kinds=()),
    _rewritten("atomic-add-without-mask", _added, "indexing/value-02825a4781", "mixed/nan-unexpected-3b205a869a",
               upstream=("pytorch#178871",), explains="in_one_cell", controlled=False,
               title="a sum in one cell adds the lanes beyond the end of a row"),
    KnownIssue(
        name="fp8e5-overflow-saturates", title="overflow to fp8e5 gives the largest finite number", stage="language",
        upstream=("triton#11667",), truth="by_design", where=HERE,
        entries=("inductor.programs_pointwise/inf-09873455f5",), match=has(_to_fp8e5),
        explains=f"{_PREDICTED}:saturated"),
    KnownIssue(
        name="fp8e5-overflow-saturates", title="overflow to fp8e5 gives the largest finite number", stage="language",
        upstream=("triton#11667",), truth="by_design", where=HERE, entries=(), match=computes_with_overflow,
        relative=without_overflow),
    KnownIssue(
        name="bucketize-nan-boundary", title="bucketize takes a NaN boundary for above every value", stage="inductor",
        truth="undefined", where=HERE, entries=("inductor.programs_sort/value-7848f174d2",),
        match=float_boundaries, relative=with_whole_boundaries),
    KnownIssue(
        name="bucketize-nan-value", title="bucketize of torch 2.11 takes a NaN for below every boundary",
        stage="inductor", where=HERE, entries=("inductor.programs_sort/value-e8f06379b8",),
        match=searches_for_floats, relative=without_searched_nan),
    _rewritten("any-of-uint8", _any_byte, "reduction/result-dtype-da33a8c62a", upstream=("pytorch#198081",),
               title="any and all of uint8 return bool", errors=("result_dtype",), controlled=False),
    erring("select-of-narrow-values", has(_scans_narrow), "scan/cannot-bitcast-data-type-b9438885ae",
           upstream=("pytorch#175430",), title="a looped scan of narrow values does not compile",
           errors=("*Cannot bitcast data-type of size*",)),
    erring("fp64-to-fp8", has(_stores_double_as_fp8), stage="ttgir", title="fp64 to fp8 does not compile",
           errors=DOUBLE_TO_FP8),
    erring("casts-between-8-bit-floats-and-fp64", has(_fp8_as_double), stage="ttgir",
           title="fp8 to fp64 does not compile",
           errors=FP8_TO_DOUBLE),
    erring("scan-of-bytes-from-minus-one", has(_scans_bytes), title="a looped scan of uint8 does not compile",
           errors=SCANNED_BYTES),
    erring("tensor-to-the-power-of-a-size", has(_power_of_sizes), "pointwise/cast-error-details--unab-d6b374b51f",
           title="a tensor to the power of a size does not compile",
           errors=("Cast error details: Unable to cast *",)),
    erring("power-with-a-size-as-exponent", has(_power_of_sizes), "memory/incompatibletypeerrorimp-28ba6c8a00",
           title="a power with a size as exponent makes an index a double",
           errors=("*invalid operands of type pointer*float64",)),
    erring("row-number-in-a-split-scan", has(_split_scan_of_a_place), "scan/list-indices-must-be-int-82a0cf36a0",
           upstream=("pytorch#180221",), title="a split scan of what comes from a row's number does not compile",
           errors=("*list indices must be integers or slices, not NoneType*",)),
    erring("loads-in-a-loop-never-entered", has(_empty_search), "indexing/assertion--idx---size-f35da46b84",
           title="bucketize without boundaries ends the compiler", stage="ttgir",
           errors=("Assertion `idx < size()' failed",)),
)
