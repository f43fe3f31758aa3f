"""What of a program can be said in torch, as data.

For the process that draws programs and for the one that writes the function: imports neither torch nor Triton.
`expressible(graph)` names the first thing that has no torch expression of the same meaning; the sets are what a
strategy draws from, if its programs are meant for torch.compile.
"""

from collections.abc import Mapping
from types import MappingProxyType

from tridiff.fuzz.kinds.graphs.coverage import functions
from tridiff.kernels.codegen.domains import Analysis, expression
from tridiff.kernels.codegen.graph import (
    Apply,
    Asm,
    Bucketize,
    Cast,
    Constant,
    Expr,
    Graph,
    Index,
    Load,
    Node,
    Num,
    Pointwise,
    Random,
    Reduce,
    Scan,
    Sort,
    Store,
)
from tridiff.kernels.codegen.ranges import symbols
from tridiff.kernels.pointwise.table import OPS

DTYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "fp8e4nv", "fp8e5", "bf16", "fp16", "fp32", "fp64")
"""Types that torch computes with, or stores (fp8)."""

SORTED = 512
"""Longest row that torch.compile sorts itself."""

TEMPLATES: Mapping[str, str] = MappingProxyType(
    {op.name: op.texts.torch for op in OPS.values() if op.texts.torch} | {"frexp": "torch.frexp({0})"})
"""Torch expression of a pointwise operation on tensors of equal types; `{0}`, `{1}`, `{2}` are names or literals."""

# Other lowerings in the table whose meaning is that of a torch function too.
_VARIANTS = ("minimum_tl", "maximum_tl", "minimum_nan_tl", "maximum_nan_tl", "floor_libdevice", "ceil_libdevice",
             "floor_tl", "ceil_tl", "abs_tl", "abs_libdevice", "signbit_libdevice", "copysign_libdevice",
             "nextafter_libdevice", "isnan_libdevice", "isinf_libdevice", "floordiv_operator", "mod_operator",
             "left_shift_operator", "right_shift_operator")

DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod")
SHIFTS = ("left_shift", "right_shift")
"""Integer operations for which generated code and torch differ on some operands: they are written with guards."""

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "welford")
SCANS = ("sum", "prod", "max", "min", "logcumsumexp")


def operation(op: str) -> str | None:
    """The operation of TEMPLATES that means the same as an operation of the table; None if there is none."""
    if op in TEMPLATES or op in SHIFTS:
        return op
    root = OPS[op].variant_of if op in OPS else ""
    if root and (op in _VARIANTS or OPS[op].group in ("exponential", "trigonometric", "special", "hyperbolic")):
        return operation(root)
    return None


def expressible(graph: Graph) -> str:
    """Why no torch function computes the graph, or "" if one does (`fuzz.inductor.programs.launching` writes it)."""
    if 0 in graph.outer:
        return "an axis is empty: there is nothing to launch"
    for buffer in graph.buffers:
        if buffer.dtype not in DTYPES:
            return f"torch does not compute with {buffer.dtype}"
    analysis = Analysis(graph)
    for position in range(len(graph.nodes)):
        for dtype in analysis.dtypes[position]:
            if dtype not in DTYPES:
                return f"torch does not compute with {dtype}"
        problem = _problem(analysis, position)
        if problem:
            return problem
    return ""


def _problem(analysis: Analysis, position: int) -> str:
    node = analysis.nodes[position]
    match node:
        case Random():
            return "torch has random streams of its own"
        case Asm():
            return "torch has no inline assembly"
        case Pointwise():
            return _pointwise(node, tuple(analysis.dtype(k) for k in node.args))
        case Reduce() if node.kind not in REDUCTIONS:
            return f"torch has no reduction {node.kind}"
        case Scan() if node.combine not in SCANS:
            return f"torch has no scan {node.combine}"
        case Sort() if (analysis.graph.r or 0) > SORTED:
            return f"torch.compile leaves sorts of more than {SORTED} elements to eager torch"
        case Cast() if node.bitcast and "i1" in (node.dtype, analysis.dtype(node.arg)):
            return "torch does not reinterpret bool"
        case Sort() if analysis.graph.r == 0:
            return "there is nothing to sort"
        case Reduce(kind="welford") if analysis.graph.r == 0:
            return "torch has no variance of nothing"
        case Load() if any(one.name == node.buffer and one.length == 0 for one in analysis.graph.buffers):
            return "an empty buffer is read"
    expr = expression(node)
    return "" if expr is None else _expression(expr)


def _pointwise(node: Pointwise, dtypes: tuple[str, ...]) -> str:
    if operation(node.op) is None:
        return f"torch has no {node.op} of the same meaning"
    whole = dtypes[0] in ("i1", "i8", "i16", "i32", "i64", "u8")
    if node.op == "pow" and whole:
        return "integer powers are left to eager torch"
    if dtypes[0].startswith("fp8") and node.op != "where":
        return f"torch has no {node.op} of {dtypes[0]}"
    return ""


def _expression(expr: Expr) -> str:
    if isinstance(expr, Num) and abs(expr.value) > 2**53:
        return "an index expression holds integers beyond doubles"
    if isinstance(expr, Apply):
        return next(filter(None, map(_expression, expr.args)), "")
    return ""


def suspect(graph: Graph) -> str:
    """The last operation of the graph for which torch.compile is known to differ from its contract, or "".

    Findings are told apart by it, so that a program without any of them is never taken for an old acquaintance.
    """
    analysis = Analysis(graph)
    for node in reversed(graph.nodes):
        if isinstance(node, Pointwise):
            first = analysis.dtype(node.args[0])
            if node.op in _SUSPECTS.get("fp64" if first == "fp64" else "half" if first in ("fp16", "bf16") else "", ()):
                return f"{node.op} {first}"
            if node.op in ("floor_divide", "trunc_divide", "frexp", "neg") and first.startswith(("fp", "bf")):
                return node.op
            if node.op in ("j0", "j1", "y0", "y1"):
                return "Bessel function"
            if node.op == "mul" and any(_is_zero(graph.nodes[k]) for k in node.args):
                return "times_zero"
        elif isinstance(node, Store) and node.mode == "atomic_add" and isinstance(node.index, Num):
            return "sum in one cell"
        elif isinstance(node, Store) and analysis.buffers[node.buffer] == "fp8e5" != analysis.dtype(node.value):
            return "to_fp8e5"
        elif isinstance(node, Bucketize):
            return "bucketize"
        elif isinstance(node, Reduce) and node.kind == "welford":
            return "welford"
        elif isinstance(node, Reduce) and node.kind in ("any", "all") and analysis.dtype(node.args[0]) == "u8":
            return f"{node.kind} u8"
        elif isinstance(node, Index) and "round_decimal" in functions(node.expr):
            return "round_decimal"
        elif isinstance(node, Index) and _of_sizes(node.expr, "int_true_div", "float_true_div"):
            return "quotient of sizes"
        elif isinstance(node, Cast) and node.dtype == "fp8e5":
            return "to_fp8e5"
    return ""


_SUSPECTS = {"fp64": ("signbit", "signbit_libdevice"), "half": ("nextafter", "nextafter_libdevice")}


def _is_zero(node: Node) -> bool:
    return isinstance(node, Constant) and node.value == "0" and node.dtype.startswith(("fp", "bf"))


def _of_sizes(expr: Expr, *functions: str) -> bool:
    """Whether one of the functions is applied to something that names a size."""
    if not isinstance(expr, Apply):
        return False
    named = any(name == "rn" or name[0] == "n" for name in symbols(expr))
    return named and (expr.function in functions or any(_of_sizes(one, *functions) for one in expr.args))
