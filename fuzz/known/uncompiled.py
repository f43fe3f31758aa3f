"""Known issues of generated programs that torch.compile makes no kernel of, or one that Triton does not compile."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.coverage import functions
from tridiff.fuzz.known.graphs.nodes import below, of_axes
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.rewriting import Changes, Form, has, itself, without
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis, expression, operands, with_expression
from tridiff.kernels.codegen.graph import Apply, Cast, Constant, Expr, Index, Node, Num, Pointwise, Reduce, Store, Sym
from tridiff.kernels.codegen.ranges import symbols
from tridiff.oracles.dtypes import FP8

HERE = (("inductor.programs_*", "inductor"),)
_PLACES = ("argmin", "argmax")
_LOGIC = ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")


def erring(name: str, match: Callable[[Case], bool], *entries: str, errors: tuple[str, ...], title: str,
           stage: Stage = "inductor", upstream: tuple[str, ...] = ()) -> KnownIssue:
    """What shows in errors of the compiler only."""
    return KnownIssue(name=name, title=title, upstream=upstream, stage=stage, where=HERE,
                      entries=tuple(f"inductor.programs_{one}" for one in entries), match=match, errors=errors)


@itself
def _folds_an_index(analysis: Analysis, node: Node) -> bool:
    """A fold of what comes of the place of an extremum."""
    if not isinstance(node, Reduce) or node.kind in _PLACES:
        return False
    return any(isinstance(one := analysis.nodes[k], Reduce) and one.kind in _PLACES
               for k in below(analysis, node.args, into_loads=True))


def _folds_a_folded_truth(analysis: Analysis, position: int, node: Node) -> Changes:
    """`any`, which is the same, for the largest truth value where one comes in that was folded before."""
    if not isinstance(node, Reduce) or node.kind != "max" or analysis.dtype(node.args[0]) != "i1":
        return {}
    waiting, reached = [*node.args], set[int]()
    while waiting:
        place = waiting.pop()
        one = analysis.nodes[place]
        if isinstance(one, Reduce) and one.kind in ("any", "max"):
            return {position: replace(node, kind="any")}
        if place not in reached:
            reached.add(place)
            waiting += [k for k in operands(one) if analysis.dtype(k) == "i1"]
    return {}


def _truncated_coordinates(analysis: Analysis, position: int, node: Node) -> Changes:
    """The floor of a quotient of what is computed of coordinates, whose bounds torch.compile follows."""
    found = isinstance(node, Pointwise) and node.op == "trunc_divide" and not is_float(analysis.dtype(position)) and (
        all(of_axes(analysis, k) for k in node.args))
    return {position: replace(node, op="floor_divide")} if found else {}


def _joins_truths(analysis: Analysis, position: int, node: Node) -> Changes:
    """Logic of truth values, or of floats, which torch.compile compares with 0 first: whether they differ instead."""
    found = isinstance(node, Pointwise) and node.op in _LOGIC and any(
        analysis.dtype(k) == "i1" or is_float(analysis.dtype(k)) for k in node.args)
    return {position: replace(node, op="ne")} if found else {}


def _cut_from_below(put: Callable[[Expr, int], Expr]) -> Form:
    """Coordinates cut at 0 or 1 from below, for which ShapeEnv.simplify asks whether they are ever below it."""

    def written(expr: Expr, sizes: dict[str, int]) -> Expr:
        if not isinstance(expr, Apply):
            return expr
        args = tuple(written(one, sizes) for one in expr.args)
        if expr.function == "max":
            for one, other in (args, args[::-1]):
                limit = one.value if isinstance(one, Num) else sizes.get(one.name) if isinstance(one, Sym) else None
                if limit in (0, 1):
                    return put(other, limit)
        return replace(expr, args=args)

    def form(analysis: Analysis, position: int, node: Node) -> Changes:
        expr = expression(node)
        if expr is not None:
            new = written(expr, analysis.sizes)
            return {position: with_expression(node, new)} if new != expr else {}
        if isinstance(node, Pointwise) and node.op.startswith("maximum") and of_axes(analysis, position) and any(
                isinstance(one := analysis.nodes[k], Constant) and one.value in ("0", "1") for k in node.args):
            return {position: replace(node, op=node.op.replace("max", "min"))}
        return {}

    return form


_cut_at_two = _cut_from_below(lambda expr, _: Apply(function="max", args=(expr, Num(value=2))))
_cut_to_the_limit = _cut_from_below(lambda _, limit: Num(value=limit))


def _cut_elsewhere(case: Case) -> Case | None:
    """With 2 for the limit, or the limit itself, which is in bounds where an index is."""
    return without(_cut_at_two)(case) or without(_cut_to_the_limit)(case)


def _converts_to_fp8(analysis: Analysis, node: Node) -> bool:
    kind = analysis.buffers[node.buffer] if isinstance(node, Store) else node.dtype if isinstance(node, Cast) else ""
    return kind.startswith("fp8")


@itself
def _has_fp8(analysis: Analysis, node: Node) -> bool:
    """Conversions to fp8, which may be of constants, and constants of it."""
    return (isinstance(node, Constant) and node.dtype in FP8) or _converts_to_fp8(analysis, node)


@itself
def _float_of_a_remainder(analysis: Analysis, node: Node) -> bool:
    """A float that is computed of a remainder of sizes."""
    expr = node.expr if isinstance(node, Index) and is_float(node.dtype) else None
    return expr is not None and "python_mod" in functions(expr) and bool(symbols(expr) & set(analysis.sizes))


ISSUES = (
    erring("float-of-a-remainder-of-sizes", has(_float_of_a_remainder), "memory/type-object--tensorrefer-73765502b7",
           upstream=("pytorch#197716",), title="a float that is computed of a remainder of sizes does not compile",
           errors=("type object 'TensorReferenceAnalysis' has no attribute 'python_mod'*",)),
    erring("index-of-an-extremum-as-a-float", has(_folds_an_index), "reduction/loop-carried-variable--t-9812ae584a",
           errors=tuple(f"Loop-carried variable * has initial type <*, int64> but is re-assigned to <*, {searched}>*"
                        for searched in ("fp32", "fp64")),
           title="the index that argmin or argmax gives becomes a float where it is reduced again"),
    KnownIssue(
        name="folded-truth-of-eight-bits", stage="inductor", where=HERE,
        title="the looped fold of a truth value is an int8, also where it is folded again",
        match=has(_folds_a_folded_truth), relative=without(_folds_a_folded_truth),
        kinds=(),
        errors=("Loop-carried variable * has initial type <*, int1> but is re-assigned to <*, int8>*",)),
    KnownIssue(
        name="bounds-of-a-truncated-quotient", stage="inductor", where=HERE,
        title="the bounds of a truncated quotient of unbounded coordinates are infinity by infinity",
        entries=("inductor.programs_mixed/invalid-nan-comparison-31f79ace39",), match=has(_truncated_coordinates),
        relative=without(_truncated_coordinates), kinds=(), errors=("Invalid NaN comparison*",)),
    # The record of statements says more of it: fuzz/known/statements.py.
    KnownIssue(
        name="interpreter-comparisons-of-floats-are-floats", stage="interpreter", where=HERE,
        title="in the interpreter a comparison of scalar floats becomes floats where it meets a block",
        backends=("interpreter",), entries=("inductor.programs_pointwise/typeerror--ufunc--bitwis-209e00aa7d",),
        match=has(_joins_truths), relative=without(_joins_truths), kinds=(), errors=("TypeError: ufunc 'bitwise_*",)),
    KnownIssue(
        name="ranges-lost-in-simplify", stage="inductor", upstream=("pytorch#187337",), where=HERE,
        title="a quotient of coordinates that are cut at 0 or 1 does not compile with torch 2.13",
        entries=("inductor.programs_indexing/vr-must-not-be-none-for-581bf7c033",), match=has(_cut_at_two),
        relative=_cut_elsewhere, kinds=(), errors=("vr must not be None for symbol q*",)),
    erring("bool-to-fp8", has(itself(_converts_to_fp8)), "scan/cannot-cast-int1-constex-a7329dce24",
           upstream=("pytorch#151018",), title="bool and integers to fp8 do not compile",
           errors=("cannot cast int*fp8*", "cannot cast uint*fp8*", "AssertionError: cannot cast *fp8*",
                   "AssertionError: cannot cast [[]*")),  # in the interpreter the values come first, cut off
    erring("constants-of-fp8", has(_has_fp8), "pointwise/triton--c-libtriton-ir-33ab3533f6",
           upstream=("triton#5601", "pytorch#141396"), title="there are no constants of fp8", stage="front-end",
           errors=("*builder' object has no attribute 'get_fp8*", "*Builder' object has no attribute 'get_fp8*")),
)
