"""Questions about the nodes of a graph that the forms ask of their neighbourhood."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from msgspec.structs import replace

from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis, expression, indirect, operands
from tridiff.kernels.codegen.graph import (
    Bucketize,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Pointwise,
    Reduce,
    Scan,
    Sort,
    Store,
    real_number,
)
from tridiff.kernels.codegen.schedules import schedule_problem
from tridiff.kernels.codegen.tiles import Tiling, tiling
from tridiff.oracles.by_numpy.pointwise import evaluate
from tridiff.oracles.dtypes import FP8, dtype as dtype_info

ABSOLUTE = ("abs", "abs_tl", "abs_libdevice")
ORDERS = ("lt", "le", "gt", "ge")
EXTREMA = ("minimum", "minimum_tl", "minimum_nan_tl", "maximum", "maximum_tl", "maximum_nan_tl")
DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod", "floordiv_operator", "mod_operator")
NEGATIONS = ("neg", "neg_operator", "sub", "mul")
"""Operations that may negate."""
_SIGN_ASKED = frozenset((
    *ORDERS, *DIVISIONS, "sign", "signbit", "right_shift", "right_shift_operator", "pow"))
"""Integer operations that compare an operand, or shift its sign in."""
_FEW = 4



def text(analysis: Analysis, position: int) -> str:
    """The text of a constant, "" of anything else."""
    node = analysis.nodes[position]
    return node.value if isinstance(node, Constant) else ""


def equal(analysis: Analysis, node: Node) -> list[int]:
    """Positions of a node and of those of the same text, which are one variable."""
    return [k for k, one in enumerate(analysis.nodes) if one == node]


def is_constant(analysis: Analysis, position: int) -> bool:
    """Whether a node is made of constants alone."""
    node = analysis.nodes[position]
    below = isinstance(node, Pointwise | Cast) and all(is_constant(analysis, k) for k in operands(node))
    return below or isinstance(node, Constant)


_DECIDED_BY_ONE = ("bitwise_and", "bitwise_or", "logical_and", "logical_or", "mul")


def maybe_constant(analysis: Analysis, position: int) -> bool:
    """Whether a node is made of constants, and of index expressions without what was loaded: the compiler may find that
    one is constant, as x ** 0 is. Of logic, and of products, one operand may decide alone."""
    node = analysis.nodes[position]
    if isinstance(node, Index):
        return not indirect(node.expr)
    if not isinstance(node, Pointwise | Cast):
        return isinstance(node, Constant)
    enough = any if isinstance(node, Pointwise) and node.op in _DECIDED_BY_ONE else all
    return enough(maybe_constant(analysis, k) for k in operands(node))


def number(analysis: Analysis, position: int) -> float | None:
    """The value of a constant, also behind conversions."""
    node = analysis.nodes[position]
    if isinstance(node, Cast) and not node.bitcast:
        return number(analysis, node.arg)
    return real_number(node.value) if isinstance(node, Constant) and node.dtype != "i1" else None


def choices(analysis: Analysis, position: int) -> frozenset[str]:
    """The texts of the few numbers of which a float is one whatever is loaded; none where that does not follow."""
    node, args = analysis.nodes[position], list[frozenset[str]]()
    if (known := number(analysis, position)) is not None and is_float(analysis.dtype(position)):
        return frozenset((str(known),))
    if not isinstance(node, Pointwise | Cast | Masked) or (isinstance(node, Cast) and node.bitcast):
        return frozenset()
    of = {k: choices(analysis, k) for k in {*operands(node)} if is_float(analysis.dtype(k))}
    for k in operands(node):
        if analysis.dtype(k) != "i1":
            args.append(of.get(k, frozenset()))
            if not 0 < len(args[-1]) <= _FEW:
                return frozenset()
    if isinstance(node, Masked):
        return args[0] | {str(real_number(node.other))} if args else frozenset()
    if isinstance(node, Cast) or node.op == "where":
        return frozenset[str]().union(*args)
    if len(node.args) > len(args):
        return frozenset()
    made = [evaluate(node.op, *(np.array([float(one)], np.float32) for one in each)) for each in product(*args)]
    return frozenset(str(float(one[0])) for one in made if one.shape == (1,))


def conversion(analysis: Analysis, node: Cast | Store) -> tuple[int, str]:
    """(position of what is converted, to which type)."""
    return (node.arg, node.dtype) if isinstance(node, Cast) else (node.value, analysis.buffers[node.buffer])


def conversions(analysis: Analysis) -> list[tuple[int, str]]:
    return [conversion(analysis, node) for node in analysis.nodes if isinstance(node, Cast | Store)]


def before_widening(analysis: Analysis, position: int) -> str:
    """The type of a value before it was widened, if it was."""
    node = analysis.nodes[position]
    found = analysis.dtype(node.arg if isinstance(node, Cast) else position)
    return "fp16" if found in FP8 else found  # which pass through fp16


def float_bits(analysis: Analysis, position: int) -> bool:
    """Whether a value is, or is chosen among, the bits of computed fp32 numbers."""
    node = analysis.nodes[position]
    if isinstance(node, Pointwise):
        return all(float_bits(analysis, k) for k in node.args)
    return (isinstance(node, Cast) and node.bitcast and node.dtype in ("i32", "u32")
            and not isinstance(analysis.nodes[node.arg], Load | Constant) and analysis.dtype(node.arg) == "fp32")


def is_truth(analysis: Analysis, position: int) -> bool:
    """Whether an integer is made of truth values, 0 and 1."""
    node = analysis.nodes[position]
    if analysis.dtype(position) == "i1":
        return True
    if isinstance(node, Masked):
        return node.other in ("0", "1") and is_truth(analysis, node.arg)
    made = isinstance(node, Pointwise | Cast) and all(is_truth(analysis, k) for k in operands(node))
    return made or text(analysis, position) in ("0", "1")


def below(analysis: Analysis, positions: Iterable[int], *, into_loads: bool) -> set[int]:
    """Values, and those that they are made of. into_loads: also what the indices and masks of loads are made of."""
    nodes, reached, waiting = analysis.nodes, set[int](), [*positions]
    while waiting:
        place = waiting.pop()
        if place not in reached and (into_loads or not isinstance(nodes[place], Load)):
            waiting += operands(nodes[place])
        reached.add(place)
    return reached


def of_axes(analysis: Analysis, position: int) -> bool:
    """Whether a value depends on an expression over the axes, other than as an address."""
    return any(isinstance(analysis.nodes[k], Index) for k in below(analysis, [position], into_loads=False))


def of_one_element(analysis: Analysis, position: int) -> bool:
    """Whether a value is loaded from a buffer of one element."""
    node = analysis.nodes[position]
    return isinstance(node, Load) and any(
        one.name == node.buffer and one.length == 1 for one in analysis.graph.buffers)


def tilings(graph: Graph, *, static: bool = False) -> list[Tiling]:
    """Of the schedules that fit the graph; static: of those that spell its sizes out."""
    return [tiling(graph, schedule) for schedule in graph.schedules
            if (schedule.static or not static) and not schedule_problem(graph, schedule)]


def is_negation(analysis: Analysis, node: Pointwise) -> bool:
    if node.op in ("sub", "mul"):
        numbers = [number(analysis, k) for k in node.args]
        return numbers[0] == 0 if node.op == "sub" else -1 in numbers
    return node.op in NEGATIONS


def itself(position: int) -> Pointwise:
    """An integer as it is."""
    return Pointwise(op="bitwise_or", args=(position, position))


def not_negated(node: Pointwise) -> Pointwise:
    """A near relative that changes no sign."""
    return replace(node, op="bitwise_not" if len(node.args) == 1 else "add")


def handed_on(analysis: Analysis, position: int) -> set[int]:
    """A value, and what is it, or it without or with another sign, where something is chosen or masked."""
    reached, waiting = set[int](), [position]
    while waiting:
        place = waiting.pop()
        reached.add(place)
        for k in analysis.users[place]:
            user = analysis.nodes[k]
            chosen = isinstance(user, Masked) and user.arg == place
            if isinstance(user, Pointwise):
                chosen = user.op in ("neg", *ABSOLUTE) or (user.op == "where" and place in user.args[1:])
            if chosen and k not in reached:
                waiting.append(k)
    return reached


def against_zero(analysis: Analysis, position: int) -> bool:
    """Whether a float is compared with 0 for equality, itself or behind what LLVM leaves out of such comparisons."""
    for place in analysis.users[position]:
        user, through = analysis.nodes[place], False
        match user:
            case Store():
                found = analysis.buffers[user.buffer] == "i1"
            case Cast():
                found, through = user.dtype == "i1", not user.bitcast and is_float(user.dtype)
            case Reduce():
                found = user.kind in ("any", "all")
            case Pointwise():
                compared = user.op in ("eq", "ne") and 0 in [number(analysis, k) for k in user.args]
                found = compared or user.op == "to_i1" or user.op.startswith("logical_")
                # LLVM knows that the extremum of a number and itself is the number.
                through = user.op in ("neg", *ABSOLUTE) or (
                    user.op in (*EXTREMA, "fmin", "fmax") and user.args == (position, position))
            case _:
                found = False
        if found or (through and against_zero(analysis, place)):
            return True
    return False


def sign_asked(analysis: Analysis, position: int, *, left: bool = True) -> bool:
    """Whether the sign of an integer decides: as an index, which wraps, in an operation that looks at it, where 16 bits
    become more or are folded or sorted; also behind conversions, and behind choices and extrema with a constant, to
    which compilers hand a comparison on. left: whether 16 bits are still as an instruction left them."""
    narrow = left and analysis.dtype(position) == "i16"
    for place in analysis.users[position]:
        user = analysis.nodes[place]
        index = expression(user)
        asked, through, chosen = index is not None and position in indirect(index), False, False
        match user:
            case Pointwise():
                asked |= user.op in _SIGN_ASKED
                arms = user.args[1:] if user.op == "where" else user.args if user.op in EXTREMA else ()
                chosen = position in arms and any(is_constant(analysis, k) for k in arms)
            case Masked():
                chosen = user.arg == position
            case Cast() | Store():
                dtype = conversion(analysis, user)[1]
                asked |= narrow and not is_float(dtype) and dtype_info(dtype).bits > 16
                through = isinstance(user, Cast) and not is_float(dtype)
            case Reduce() | Scan() | Sort() | Bucketize():
                asked |= narrow
                through = analysis.graph.r == 1 and isinstance(user, Reduce | Scan)
        if asked or ((through or chosen) and sign_asked(analysis, place, left=left and not chosen)):
            return True
    return False
