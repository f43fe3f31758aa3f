"""What Triton, LLVM or the assembler is known to compile wrong of generated kernels: named, and mostly not drawn.

Each form below has an entry in corpus/codegen.*, which says on which version it is wrong and why, and which every
replay tries again. Drawn programs keep clear of them (`without_miscompiled`), on all versions alike: a campaign would
meet the same ones under new names each night. A case that the shrinker or a person made may have them; its signature
then names them (`miscompiled`), so that nothing else is taken for one of them.

A form is one function: its docstring says what goes wrong, and where. It returns what to put for the node, or for
others that make up the form, a near relative of each; nothing where the node is harmless; and the node itself where it
is drawn all the same, because few of its kind are compiled wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from tridiff.kernels.codegen.constants import integer_limits, is_float
from tridiff.kernels.codegen.domains import Analysis, expression, indirect, operands
from tridiff.kernels.codegen.graph import (
    Asm,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Pointwise,
    Reduce,
    Store,
    real_number,
)
from tridiff.kernels.codegen.schedules import schedule_problem
from tridiff.kernels.codegen.tiles import Tiling, tiling
from tridiff.kernels.pointwise.record import HALVES
from tridiff.oracles.dtypes import FP8

Changes = dict[int, Node]
"""New nodes by position."""
Result: TypeAlias = Node | Changes | None
Form = Callable[[Analysis, Any], Result]
F = TypeVar("F", bound=Form)

_SINGLE = (*HALVES, "fp32")
_NARROW = ("i8", "u8", "i16", "u16")
_LONG = ("i64", "u64")
_MANY, _LANES = 64, 32
"""Elements of a thread that are many, threads of a warp."""
_LEAST, _MINUS_ZERO = str(-(2**31)), "-0.0"
_HARMLESS = {_LEAST: str(-(2**31) + 1), _MINUS_ZERO: "0.0"}
_ABSOLUTE = ("abs", "abs_tl", "abs_libdevice")
_ORDERS = ("lt", "le", "gt", "ge")
_DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod", "floordiv_operator", "mod_operator")
_SIGN_ASKED = frozenset((
    *_ORDERS, *_DIVISIONS, "sign", "signbit", "right_shift", "right_shift_operator", "pow"))
"""Integer operations that compare an operand, or shift its sign in."""
_EXTREMA = ("minimum", "minimum_tl", "minimum_nan_tl", "maximum", "maximum_tl", "maximum_nan_tl")

_NEGATIONS = ("neg", "neg_operator", "sub", "mul")
"""Operations that may negate."""

_FORMS: list[tuple[str, tuple[type, ...], tuple[str, ...], Form]] = []
"""(name, node types, operations if they are Pointwise, form). A later form's replacement of a node is taken."""


def _form(name: str, *kinds: type, ops: tuple[str, ...] = ()) -> Callable[[F], F]:
    def registered(form: F) -> F:
        _FORMS.append((name, kinds or (Pointwise,), ops, form))
        return form

    return registered


def _found(graph: Graph) -> Iterator[tuple[str, int, Changes]]:
    """(name, position, replacements) of every form in the graph, in the order of the forms."""
    analysis = Analysis(graph)
    for name, kinds, ops, form in _FORMS:
        for position, node in enumerate(graph.nodes):
            if isinstance(node, kinds) and (not isinstance(node, Pointwise) or node.op in ops):
                found = form(analysis, node)
                if found:
                    yield name, position, found if isinstance(found, dict) else {position: found}


def miscompiled(graph: Graph) -> str:
    """What the last node of the graph that is known to be compiled wrong is, or ""."""
    return max(((position, name) for name, position, _ in _found(graph)), default=(0, ""), key=lambda one: one[0])[1]


def without_miscompiled(graph: Graph) -> Graph:
    """The graph with a near relative of each node that is known to be compiled wrong."""
    nodes = dict(enumerate(graph.nodes))
    for _, _, changes in _found(graph):
        nodes |= changes
    found = replace(graph, nodes=tuple(nodes.values()))
    return graph if found == graph else without_miscompiled(found)


def contracted(graph: Graph) -> str:
    """What the graph has that fused multiplications and additions make less accurate than documented, or "".

    libdevice's pow of single precision corrects its logarithm by the rounding error of a product. Triton links it in
    and fuses that product too where enable_fp_fusion lets it fuse a kernel's own: the error is not corrected, and
    grows with the exponent (pytorch#175594). Drawn programs that have it are compiled without fusion.
    """
    analysis = Analysis(graph)
    single = any(isinstance(node, Pointwise) and node.op == "pow" and analysis.dtype(node.args[0]) in _SINGLE
                 for node in graph.nodes)
    return "pow, fused" if single else ""


def spilled(graph: Graph, *, warps: int) -> str:
    """What the graph has that makes ptxas lose values of threads that hold many, or "".

    Divisions of 64-bit integers are calls. Among 128 of them and 16,742 accesses to spilled registers ptxas 12.8 gives
    six of a thread's 64 elements the operands of others; at -O1 it does not. Drawn all the same.
    """
    analysis = Analysis(graph)
    called = any(isinstance(node, Pointwise) and node.op in _DIVISIONS and analysis.dtype(node.args[0]) in _LONG
                 and not _is_constant(analysis, node.args[1]) for node in graph.nodes)
    held = [prod(tile.block for tile in one.tiles) for one in _tilings(graph)]
    return "calls among spilled registers" if called and max(held, default=0) >= _MANY * _LANES * warps else ""


# -- the forms


@_form("negative other of 8 or 16 bits", Load)
def _other(analysis: Analysis, node: Load) -> Result:
    """3.6.0 repeats the sign-extended `other` of a masked load of several integers of 8 or 16 bits: all but the first
    read -1 if its highest bit is set (triton#4597)."""
    dtype = analysis.buffers[node.buffer]
    if node.mask is None or dtype not in _NARROW:
        return None
    low, high = integer_limits(dtype)
    other = int(node.other)
    if 0 <= other <= (high - low) // 2 or other in (-1, high):
        return None
    return replace(node, other="-1" if other < 0 else str(high))


@_form("ldexp by -2^31", ops=("ldexp",))
def _ldexp(analysis: Analysis, node: Pointwise) -> Result:
    """Libdevice as 3.9.0 compiles it leaves ldexp with the constant exponent -2^31 undefined (llvm-project#183851)."""
    return _with_harmless_constants(analysis, node) if _text(analysis, node.args[1]) == _LEAST else None


@_form("lop3 of one register twice", Asm)
def _lop3(analysis: Analysis, node: Asm) -> Result:
    """ptxas 12.8 and 13.4 fuse a lop3 that has one register twice with the logic that follows it: they put zero for
    the register, as if `b ^ b` were nowhere else in the table that they had made. Equal text is one variable."""
    distinct: dict[Node, int] = {}
    for k in node.args:
        distinct.setdefault(analysis.graph.nodes[k], k)
    twice = node.body == "lop3_xor" and len(distinct) == 2
    return replace(node, body="add_s32", args=tuple(distinct.values())) if twice else None


@_form("choice of 1 or -0.0", Masked, Pointwise, ops=("where",))
def _choice(analysis: Analysis, node: Masked | Pointwise) -> Result:
    """ptxas compiles `selp.f32 r, 1.0, -0.0` behind a comparison of floats to FSET, whose other value is +0.0."""
    arms = [node.arg] if isinstance(node, Masked) else node.args[1:]
    if not all(_is_constant(analysis, k) for k in arms):
        return None
    if _MINUS_ZERO in [_text(analysis, k) for k in arms]:
        return _with_harmless_constants(analysis, node)
    return replace(node, other="0.0") if isinstance(node, Masked) and node.other == _MINUS_ZERO else None


@_form("remainder of halves", ops=("mod_operator",))
def _remainder(analysis: Analysis, node: Pointwise) -> Result:
    """LLVM narrows `%` of widened halves that becomes the other half type, and then casts a half to a type of its own
    width: an assertion ends the compiler's process."""
    below = {"const" if _is_constant(analysis, k) else _before_widening(analysis, k) for k in node.args}
    if not below <= {*HALVES, "const"}:
        return None
    becomes = {dtype for place, dtype in _conversions(analysis) if place in _equal(analysis, node)}
    wrong = ("bf16" in becomes and "fp16" in below) or ("fp16" in becomes and below == {"bf16"})
    return replace(node, op="fmod") if wrong else None


@_form("fp8 of what folds", Constant, Pointwise, ops=(*_ORDERS, "ldexp", "pow"))
def _folded_fp8(analysis: Analysis, node: Constant | Pointwise) -> Result:
    """ptxas before 13.4 writes the two equal halves of a register, both of them the fp8 pair of one conversion, as that
    conversion alone: the upper half keeps what the register held. Equal pairs come of what LLVM folds and Triton does
    not: a library's function that is constant whatever one operand is, what infinity and NaN absorb, a choice or a
    masked load of which a comparison is never, or always, true."""
    if not any(dtype in FP8 for _, dtype in _conversions(analysis)):
        return None
    if isinstance(node, Constant):
        return replace(node, value="2.0") if node.value in ("inf", "-inf", "nan") else None
    first, second = (_number(analysis, k) for k in node.args)
    if node.op == "ldexp":
        exponent = Cast(arg=node.args[1], dtype=analysis.dtype(node.args[0]))
        return exponent if first == 0 else None
    if node.op == "pow":
        return replace(node, op="add") if first == 1 or second == 0 else None
    return replace(node, op="ne") if _decided(analysis, node) else None


@_form("fp8 of what folds", Cast, Store)
def _choice_as_fp8(analysis: Analysis, node: Cast | Store) -> Result:
    """The same of a truth value that conditions on axes choose: LLVM may know that they are alike for neighbours. Drawn
    all the same, since they are many and few of them fold."""
    place, dtype = _conversion(analysis, node)
    converted = dtype in FP8 and not (isinstance(node, Cast) and node.bitcast) and _is_truth(analysis, place)
    return node if converted and _of_axes(analysis, place) else None


@_form("integer product of a float product", ops=("mul", "mul_add"))
def _bits_times(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 takes `x * bits(a * c)` and `x * bits(b * c)`, integer products of float ones, for products of
    one kind, and computes `bits(a) * bits(x * c)`."""
    bits = any(_float_bits(analysis, k) for k in node.args[:2])
    return replace(node, op="bitwise_xor", args=node.args[:2]) if bits else None


@_form("libdevice.abs of integers", ops=("abs_libdevice",))
def _integer_abs(analysis: Analysis, node: Pointwise) -> Result:
    """The LLVM of 3.9.0 takes libdevice's abs of the smallest integer for poison: what is computed from it folds to
    anything (llvm-project#183851)."""
    return replace(node, op="abs") if analysis.dtype(node.args[0]) in ("i32", "i64") else None


@_form("truth as bits of bf16 to fp16", Cast, Store)
def _truth_as_half(analysis: Analysis, node: Cast | Store) -> Result:
    """ptxas 12.9 and 13.4 convert the bits `selp 1, 0` from bf16 to fp16 as if they were integers, to 1.0 or 0."""
    place, dtype = _conversion(analysis, node)
    bits = analysis.graph.nodes[place]
    if dtype != "fp16" or (isinstance(node, Cast) and node.bitcast) or not isinstance(bits, Cast):
        return None
    computed = bits.bitcast and bits.dtype == "bf16" and not isinstance(analysis.graph.nodes[bits.arg], Load)
    return {place: replace(bits, bitcast=False)} if computed else None


@_form("extremum of three, one negated", ops=_EXTREMA)
def _extremum_of_three(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas before 13.4 makes VIMNMX3 of a minimum of a minimum (or of maxima), and loses a negation of an operand
    (pytorch#190973, triton#11032)."""
    nodes, kind = analysis.graph.nodes, node.op[:7]
    inner = [one for k in node.args if isinstance(one := nodes[k], Pointwise) and one.op in _EXTREMA
             and one.op[:7] == kind]
    if not inner or analysis.dtype(node.args[0]) != "i32":
        return None
    return {k: _not_negated(one)
            for k in {k for outer in (node, *inner) for k in outer.args}
            if isinstance(one := nodes[k], Pointwise) and _is_negation(analysis, one)}


@_form("truth as bits of fp16", Cast)
def _truth_as_fp16(analysis: Analysis, node: Cast) -> Result:
    """ptxas 12.8 and 13.4 convert the bits `selp 1, 0` from fp16 to any type as if they were integers: to 1.0 or 0."""
    truth = node.bitcast and node.dtype == "fp16" and _is_truth(analysis, node.arg)
    return replace(node, bitcast=False) if truth else None


@_form("bits of a half compared with 0", Cast)
def _bits_against_zero(analysis: Analysis, node: Cast) -> Result:
    """The LLVM of 3.6.0 takes the operand of a bitcast that is compared with 0 for an integer, also where it is a half
    that becomes the other half: an assertion ends the compiler's process (llvm-project#198389). Loaded halves are
    integers to it."""
    if not node.bitcast or node.dtype not in HALVES or analysis.dtype(node.arg) not in HALVES or isinstance(
            analysis.graph.nodes[node.arg], Load):
        return None
    compared = any(_against_zero(analysis, k) for k in _equal(analysis, node))
    return replace(node, bitcast=False) if compared else None


@_form("sign of an integer's abs", ops=_ABSOLUTE)
def _sign_of_absolute(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 takes abs for non-negative, though that of the smallest integer is itself: behind abs.s32 and abs.s64
    it drops `setp.lt r, 0`, and abs.s16 it compares and shifts as a number of 32 bits, 32768."""
    asked = analysis.dtype(node.args[0]) in ("i16", "i32", "i64") and any(
        _sign_asked(analysis, k) for k in _equal(analysis, node))
    return replace(node, op="bitwise_not") if asked else None


@_form("sign of a negated i16", ops=_NEGATIONS)
def _sign_of_negated(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 compares and shifts the result of neg.s16 as a number of 32 bits: for -32768 it is 32768."""
    asked = analysis.dtype(node.args[0]) == "i16" and _is_negation(analysis, node) and any(
        _sign_asked(analysis, k) for k in _equal(analysis, node))
    return _not_negated(node) if asked else None


@_form("relu of a narrow extremum", ops=("relu", *_EXTREMA))
def _relu_of_extremum(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 joins the extremum of one element with relu of the same extremum of another to one
    VIMNMX.S16x2, and leaves relu out."""
    narrow = analysis.dtype(node.args[0]) in ("i8", "i16")
    against = node.op == "relu" or 0 in [_number(analysis, k) for k in node.args]
    inner = any(isinstance(one := analysis.graph.nodes[k], Pointwise) and one.op in _EXTREMA for k in node.args)
    if not narrow or not against or not inner:
        return None
    return replace(node, op="bitwise_not" if node.op == "relu" else "add")


@_form("power to the bits of an fp8", ops=("pow",))
def _fp8_exponent(analysis: Analysis, node: Pointwise) -> Result:
    """The LLVM of 3.6.0 makes a vector of the tests of an exponent's bits. Where these are the bits of a computed fp8,
    ptxas 12.8 reads the register of the second element before it writes it. Drawn all the same."""
    exponent = analysis.graph.nodes[node.args[1]]
    while isinstance(exponent, Cast) and not exponent.bitcast:
        exponent = analysis.graph.nodes[exponent.arg]
    bits = isinstance(exponent, Cast) and analysis.dtype(exponent.arg) in FP8
    return node if bits and not isinstance(analysis.graph.nodes[exponent.arg], Load) else None


@_form("half of a 16-bit sum", Load, Pointwise, ops=("add", "sub"))
def _half_of_sums(analysis: Analysis, node: Load | Pointwise) -> Result:
    """ptxas 12.8 and 12.9 add 0 for the constant of an add.s16x2 of which only the lower half is used. LLVM pairs the
    sums of two elements; the other is known to lie beyond an axis. A checked index adds the length of its buffer.
    Drawn all the same, since few of them are paired."""
    if isinstance(node, Load):
        narrow = node.checked and any(analysis.dtype(k) in ("i8", "i16") for k in indirect(node.index))
    else:
        narrow = analysis.dtype(node.args[0]) in _NARROW and any(_is_constant(analysis, k) for k in node.args)
    beyond = any(tile.block >= 2 * tile.numel for one in _tilings(analysis.graph, static=True) for tile in one.tiles)
    return node if narrow and beyond else None


@_form("library of a subnormal constant", ops=(
    "acos", "asin", "asinh", "atan", "atan2", "cos", "erfc", "hypot", "pow", "sin", "tan", "y0"))
def _subnormal(analysis: Analysis, node: Pointwise) -> Result:
    """LLVM's NVVMReflect folds what libdevice computes of a subnormal constant, and reads an instruction it freed
    (llvm#81471)."""
    numbers = [_number(analysis, k) for k in node.args if _is_constant(analysis, k)]
    if analysis.dtype(node.args[0]) not in _SINGLE or not any(
            one is None or 0 < abs(one) < 2.0**-126 for one in numbers):
        return None
    return replace(node, op="add" if len(node.args) == 2 else "erf")


# -- what they ask of other nodes


def _text(analysis: Analysis, position: int) -> str:
    """The text of a constant, "" of anything else."""
    node = analysis.graph.nodes[position]
    return node.value if isinstance(node, Constant) else ""


def _with_harmless_constants(analysis: Analysis, node: Node) -> Changes:
    nodes = analysis.graph.nodes
    return {k: replace(one, value=_HARMLESS[one.value]) for k in operands(node)
            if isinstance(one := nodes[k], Constant) and one.value in _HARMLESS}


def _equal(analysis: Analysis, node: Node) -> list[int]:
    """Positions of a node and of those of the same text, which are one variable."""
    return [k for k, one in enumerate(analysis.graph.nodes) if one == node]


def _is_constant(analysis: Analysis, position: int) -> bool:
    """Whether a node is made of constants alone."""
    node = analysis.graph.nodes[position]
    below = isinstance(node, Pointwise | Cast) and all(_is_constant(analysis, k) for k in operands(node))
    return below or isinstance(node, Constant)


def _number(analysis: Analysis, position: int) -> float | None:
    """The value of a constant, also behind conversions."""
    node = analysis.graph.nodes[position]
    if isinstance(node, Cast) and not node.bitcast:
        return _number(analysis, node.arg)
    return real_number(node.value) if isinstance(node, Constant) and node.dtype != "i1" else None


def _conversion(analysis: Analysis, node: Cast | Store) -> tuple[int, str]:
    """(position of what is converted, to which type)."""
    return (node.arg, node.dtype) if isinstance(node, Cast) else (node.value, analysis.buffers[node.buffer])


def _conversions(analysis: Analysis) -> list[tuple[int, str]]:
    return [_conversion(analysis, node) for node in analysis.graph.nodes if isinstance(node, Cast | Store)]


def _before_widening(analysis: Analysis, position: int) -> str:
    """The type of a value before it was widened, if it was."""
    node = analysis.graph.nodes[position]
    found = analysis.dtype(node.arg if isinstance(node, Cast) else position)
    return "fp16" if found in FP8 else found  # which pass through fp16


def _decided(analysis: Analysis, node: Pointwise) -> bool:
    """Whether an ordering compares a float with itself (of integers Triton sees it) or an integer with a limit."""
    first, second = node.args
    dtype = analysis.dtype(first)
    if is_float(dtype):
        return analysis.graph.nodes[first] == analysis.graph.nodes[second]
    return dtype != "i1" and any(_number(analysis, k) in [*map(float, integer_limits(dtype))] for k in node.args)


def _float_bits(analysis: Analysis, position: int) -> bool:
    """Whether a value is, or is chosen among, the bits of computed fp32 numbers."""
    node = analysis.graph.nodes[position]
    if isinstance(node, Pointwise):
        return all(_float_bits(analysis, k) for k in node.args)
    return (isinstance(node, Cast) and node.bitcast and node.dtype in ("i32", "u32")
            and not isinstance(analysis.graph.nodes[node.arg], Load | Constant) and analysis.dtype(node.arg) == "fp32")


def _is_truth(analysis: Analysis, position: int) -> bool:
    """Whether an integer is made of truth values, 0 and 1."""
    node = analysis.graph.nodes[position]
    if analysis.dtype(position) == "i1":
        return True
    if isinstance(node, Masked):
        return node.other in ("0", "1") and _is_truth(analysis, node.arg)
    made = isinstance(node, Pointwise | Cast) and all(_is_truth(analysis, k) for k in operands(node))
    return made or _text(analysis, position) in ("0", "1")


def _of_axes(analysis: Analysis, position: int) -> bool:
    """Whether a value depends on an expression over the axes, other than as an address."""
    nodes, reached, waiting = analysis.graph.nodes, set[int](), [position]
    while waiting:
        place = waiting.pop()
        if place not in reached and not isinstance(nodes[place], Load):
            waiting += operands(nodes[place])
        reached.add(place)
    return any(isinstance(nodes[k], Index) for k in reached)


def _tilings(graph: Graph, *, static: bool = False) -> list[Tiling]:
    """Of the schedules that fit the graph; static: of those that spell its sizes out."""
    return [tiling(graph, schedule) for schedule in graph.schedules
            if (schedule.static or not static) and not schedule_problem(graph, schedule)]


def _is_negation(analysis: Analysis, node: Pointwise) -> bool:
    if node.op in ("sub", "mul"):
        numbers = [_number(analysis, k) for k in node.args]
        return numbers[0] == 0 if node.op == "sub" else -1 in numbers
    return node.op in _NEGATIONS


def _not_negated(node: Pointwise) -> Pointwise:
    return replace(node, op="bitwise_not" if len(node.args) == 1 else "add")


def _against_zero(analysis: Analysis, position: int) -> bool:
    """Whether a float is compared with 0 for equality, itself or behind what LLVM leaves out of such comparisons."""
    for place in analysis.users[position]:
        user, through = analysis.graph.nodes[place], False
        match user:
            case Store():
                found = analysis.buffers[user.buffer] == "i1"
            case Cast():
                found, through = user.dtype == "i1", not user.bitcast and is_float(user.dtype)
            case Reduce():
                found = user.kind in ("any", "all")
            case Pointwise():
                compared = user.op in ("eq", "ne") and 0 in [_number(analysis, k) for k in user.args]
                found = compared or user.op == "to_i1" or user.op.startswith("logical_")
                through = user.op in ("neg", *_ABSOLUTE)
            case _:
                found = False
        if found or (through and _against_zero(analysis, place)):
            return True
    return False


def _sign_asked(analysis: Analysis, position: int) -> bool:
    """Whether the sign of an integer decides: as an index, which wraps, or in an operation that looks at it."""
    for place in analysis.users[position]:
        user = analysis.graph.nodes[place]
        index = expression(user)
        if (index is not None and position in indirect(index)) or (
                isinstance(user, Pointwise) and user.op in _SIGN_ASKED):
            return True
        if isinstance(user, Cast) and not is_float(user.dtype) and _sign_asked(analysis, place):
            return True
    return False
