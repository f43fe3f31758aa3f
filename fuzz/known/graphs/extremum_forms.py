"""Forms of extrema of three: ptxas before 13.4 makes VIMNMX3 of a minimum of a minimum (or of maxima), and loses the
negation of an operand (pytorch#190973, triton#11032). The LLVM of 3.8.0 has |x| as max(x, -x): |x| in a maximum, and
-|x| in a minimum, is three operands by itself, and x is taken for it. And of extrema of 16 bits, relu among them."""

from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.nodes import EXTREMA, equal, is_negation, itself, not_negated, number
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Masked, Node, Pointwise, Reduce

_ABSOLUTE = ("abs", "abs_tl")


def _inner(analysis: Analysis, places: tuple[int, ...], kind: str) -> list[Pointwise]:
    return [one for k in places if isinstance(one := analysis.nodes[k], Pointwise) and one.op in EXTREMA
            and one.op[:3] == kind]


def _of(analysis: Analysis, node: Pointwise) -> list[int]:
    """What may be taken for a node: of a negation, and of |x|, what is behind it, also behind both."""
    if node.op not in _ABSOLUTE and not is_negation(analysis, node):
        return []
    times = node.op == "mul" and number(analysis, node.args[0]) != -1
    below = node.args[0] if times else node.args[-1]
    behind = analysis.nodes[below]
    return [below, *(behind.args if isinstance(behind, Pointwise) and behind.op in _ABSOLUTE else ())]


def _signed(analysis: Analysis, places: set[int], kind: str, *, several: bool) -> dict[int, list[int]]:
    """What comes without its sign into an extremum of some operands: of several, or of one that is two itself."""
    found = {}
    for k in places:
        node = analysis.nodes[k]
        behind = _of(analysis, node) if isinstance(node, Pointwise) else []
        if isinstance(node, Pointwise) and node.op in _ABSOLUTE:
            behind = behind[:1] if kind == "max" else []
        elif not several:
            behind = behind[1:] if kind == "min" else []
        if behind:
            found[k] = behind
    return found


def _lost(analysis: Analysis, node: Pointwise) -> dict[int, list[int]]:
    if analysis.dtype(node.args[0]) not in ("i16", "i32"):
        return {}
    inner = _inner(analysis, node.args, node.op[:3])
    return _signed(analysis, {k for outer in (node, *inner) for k in outer.args}, node.op[:3], several=bool(inner))


def _without(analysis: Analysis, places: dict[int, list[int]]) -> Result:
    return {k: not_negated(one) for k in places if isinstance(one := analysis.nodes[k], Pointwise)}


def _extremum_of_three(analysis: Analysis, node: Pointwise) -> Result:
    return _without(analysis, _lost(analysis, node))


def _negation_lost(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """The operands themselves, all together or one of them."""
    found = _lost(analysis, node)
    for depth in (0, -1):
        yield {k: itself(behind[depth]) for k, behind in found.items()}
    for k, behind in found.items():
        for one in behind:
            yield {k: itself(one)}


def _extremum_of_row(analysis: Analysis, node: Reduce) -> Result:
    """The same of what one thread holds of a row. Which element loses its sign depends on the layout."""
    top = node.args[0]
    if node.kind not in ("min", "max") or analysis.dtype(top) not in ("i16", "i32"):
        return None
    places = {top, *(k for one in _inner(analysis, node.args, node.kind) for k in one.args)}
    return _without(analysis, _signed(analysis, places, node.kind, several=True))


def _relu_of_extremum(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 joins the extremum of one element with relu of the same extremum of another to one
    VIMNMX.S16x2, and leaves relu out. To LLVM the maximum of a relu is the relu of a maximum."""
    narrow = analysis.dtype(node.args[0]) in ("i8", "i16")
    joined = _relus(analysis, node) or (_is_relu(analysis, node) and _below_relu(analysis, node))
    return replace(node, op="bitwise_not" if node.op == "relu" else "add") if narrow and joined else None


def _is_relu(analysis: Analysis, node: Node) -> bool:
    return isinstance(node, Pointwise) and (node.op == "relu" or (
        node.op in EXTREMA and 0 in [number(analysis, k) for k in node.args]))


def _below_relu(analysis: Analysis, node: Pointwise) -> list[int]:
    return [k for k in node.args if isinstance(one := analysis.nodes[k], Pointwise) and one.op in EXTREMA]


def _relus(analysis: Analysis, node: Pointwise) -> list[int]:
    """The relus that come into a maximum, also where one is masked or chosen."""
    found, waiting = list[int](), [*node.args] if node.op.startswith("max") else []
    while waiting:
        one = analysis.nodes[place := waiting.pop()]
        if isinstance(one, Pointwise) and not one.op.startswith("min") and _is_relu(analysis, one):
            found.append(place)
        elif isinstance(one, Masked):
            waiting.append(one.arg)
        elif isinstance(one, Pointwise) and one.op == "where":
            waiting += one.args[1:]
    return found


def _relu_left_out(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """The extremum itself, or that of what the relus are of."""
    nodes = analysis.nodes
    if _is_relu(analysis, node):
        for k in _below_relu(analysis, node)[:1]:
            yield dict.fromkeys(equal(analysis, node), itself(k))
    if relus := _relus(analysis, node):
        yield {k: itself(next(of for of in one.args if number(analysis, of) != 0))
               for k in relus if isinstance(one := nodes[k], Pointwise)}


EXTREMUM_OF_THREE = Form(label="extremum of three, one negated", ops=EXTREMA, rewritten=_extremum_of_three,
                         computed=_negation_lost)
EXTREMUM_OF_ROW = Form(label="extremum of a row, negated", kinds=(Reduce,), rewritten=_extremum_of_row)
RELU = Form(label="relu of a narrow extremum", ops=("relu", *EXTREMA), rewritten=_relu_of_extremum,
            computed=_relu_left_out)
