"""What Triton, LLVM or the assembler is known to compile wrong of generated kernels: named in findings, and not drawn.

Each form below has an entry in corpus/codegen.*, which says on which version it is wrong and why, and which every
replay tries again. Drawn programs keep clear of them (`without_miscompiled`), on all versions alike: a campaign would
meet the same ones under new names each night. A case that the shrinker or a person made may have them; its signature
then names them (`miscompiled`), so that nothing else is taken for one of them.
"""

from __future__ import annotations

from msgspec.structs import replace

from kernels.codegen.constants import integer_limits, is_float
from kernels.codegen.domains import expression, indirect, operands
from kernels.codegen.graph import Asm, Cast, Constant, Graph, Load, Masked, Node, Pointwise, Reduce, Store
from kernels.codegen.legality import types
from oracles.dtypes import FP8

_NARROW = ("i8", "u8", "i16", "u16")
_HALVES = ("fp16", "bf16")
_SINGLE = (*_HALVES, "fp32")
_LEAST = str(-(2**31))
_MINUS_ZERO = "-0.0"
_ABSOLUTE = ("abs", "abs_tl", "abs_libdevice")
_SIGN_ASKED = frozenset((
    "lt", "le", "gt", "ge", "sign", "signbit", "floor_divide", "trunc_divide", "remainder", "fmod", "floordiv_operator",
    "mod_operator", "right_shift", "right_shift_operator", "pow"))
"""Integer operations that compare an operand, or shift its sign in."""
_FOLDED_TWICE = ("acos", "asin", "asinh", "atan", "atan2", "cos", "erfc", "hypot", "pow", "sin", "tan", "y0")


def _other(graph: Graph, node: Node) -> bool:
    """3.6.0 repeats the sign-extended `other` of a masked load of several integers of 8 or 16 bits: all but the first
    read -1 if its highest bit is set."""
    if not isinstance(node, Load) or node.mask is None:
        return False
    dtype = next(buffer.dtype for buffer in graph.buffers if buffer.name == node.buffer)
    if dtype not in _NARROW:
        return False
    low, high = integer_limits(dtype)
    other = int(node.other)
    return (other < 0 or other > (high - low) // 2) and other not in (-1, high)


def _ldexp(graph: Graph, node: Node) -> bool:
    """Libdevice as 3.9.0 compiles it leaves ldexp with the constant exponent -2^31 undefined."""
    if not isinstance(node, Pointwise) or node.op != "ldexp":
        return False
    exponent = graph.nodes[node.args[1]]
    return isinstance(exponent, Constant) and exponent.value == _LEAST


def _lop3(graph: Graph, node: Node) -> bool:
    """ptxas 12.8 and 13.4 fuse a lop3 that has one register twice with the logic that follows it: they put zero for
    the register, as if `b ^ b` were nowhere else in the table that they had made."""
    return isinstance(node, Asm) and node.body == "lop3_xor" and len(_distinct(graph, node)) == 2


def _distinct(graph: Graph, node: Asm) -> list[int]:
    """Operands that are not the same value, as far as the generator sees it (equal text is one variable)."""
    found: dict[Node, int] = {}
    for position in node.args:
        found.setdefault(graph.nodes[position], position)
    return list(found.values())


def _choice(graph: Graph, node: Node) -> bool:
    """ptxas compiles `selp.f32 r, 1.0, -0.0` behind a comparison of floats to FSET, whose other value is +0.0."""
    if isinstance(node, Masked):
        arm = graph.nodes[node.arg]
        if isinstance(arm, Constant) and arm.value == _MINUS_ZERO:
            return True
        return node.other == _MINUS_ZERO and _is_constant(graph, node.arg)
    if isinstance(node, Pointwise) and node.op == "where":
        arms = node.args[1:]
        return _MINUS_ZERO in [one.value for k in arms if isinstance(one := graph.nodes[k], Constant)] and all(
            _is_constant(graph, k) for k in arms)
    return False


def _subnormal(graph: Graph, node: Node) -> bool:
    """LLVM's NVVMReflect folds what libdevice computes of a subnormal constant, and reads an instruction it freed."""
    if not isinstance(node, Pointwise) or node.op not in _FOLDED_TWICE or types(graph)[node.args[0]][0] not in _SINGLE:
        return False
    numbers = [_number(graph, k) for k in node.args if _is_constant(graph, k)]
    return any(one is None or 0 < abs(one) < 2.0**-126 for one in numbers)


def _is_constant(graph: Graph, position: int) -> bool:
    """Whether a node is made of constants alone."""
    node = graph.nodes[position]
    if isinstance(node, Constant):
        return True
    below = operands(node)
    return isinstance(node, Pointwise | Cast) and all(_is_constant(graph, k) for k in below)


def _remainder(graph: Graph, node: Node) -> bool:
    """LLVM narrows `%` of widened halves that becomes the other half type, and then casts a half to a type of its own
    width: an assertion ends the compiler's process."""
    if not isinstance(node, Pointwise) or node.op != "mod_operator":
        return False
    position = graph.nodes.index(node)
    dtypes = types(graph)
    below = {"const" if _is_constant(graph, k) else _widened(graph, k, dtypes) for k in node.args}
    if not below <= {*_HALVES, "const"}:
        return False
    buffers = {buffer.name: buffer.dtype for buffer in graph.buffers}
    becomes = {one.dtype if isinstance(one, Cast) else buffers[one.buffer] for one in graph.nodes
               if (isinstance(one, Cast) and one.arg == position) or (isinstance(one, Store) and one.value == position)}
    return ("bf16" in becomes and "fp16" in below) or ("fp16" in becomes and below == {"bf16"})


def _widened(graph: Graph, position: int, dtypes: tuple[tuple[str, ...], ...]) -> str:
    """The type of a value before it was widened, if it was."""
    node = graph.nodes[position]
    found = dtypes[node.arg if isinstance(node, Cast) else position][0]
    return "fp16" if found in ("fp8e4nv", "fp8e5") else found  # which pass through fp16


def _folded_fp8(graph: Graph, node: Node) -> bool:
    """ptxas writes the two equal halves of a register, both of them the fp8 pair of one conversion, as that conversion
    alone: the upper half keeps what the register held. Equal pairs come of what LLVM folds and Triton does not: a
    library's function that is constant whatever one operand is, what infinity and NaN absorb, a choice or a masked
    load of which a comparison is never, or always, true."""
    if not isinstance(node, Pointwise | Constant) or not _narrows_to_fp8(graph):
        return False
    if isinstance(node, Constant):
        return node.value in ("inf", "-inf", "nan")
    if node.op in ("lt", "le", "gt", "ge"):
        return _decided(graph, node)
    if node.op not in ("ldexp", "pow"):
        return False
    first, second = (_number(graph, k) for k in node.args)
    return first == 0 if node.op == "ldexp" else first == 1 or second == 0


def _decided(graph: Graph, node: Pointwise) -> bool:
    """Whether an ordering compares a float with itself (of integers Triton sees it) or an integer with a limit."""
    first, second = node.args
    dtype = types(graph)[first][0]
    if is_float(dtype):
        return graph.nodes[first] == graph.nodes[second]
    return dtype != "i1" and any(_number(graph, k) in [*map(float, integer_limits(dtype))] for k in node.args)


def _narrows_to_fp8(graph: Graph) -> bool:
    buffers = {buffer.name: buffer.dtype for buffer in graph.buffers}
    return any((one.dtype if isinstance(one, Cast) else buffers[one.buffer]) in FP8 for one in graph.nodes
               if isinstance(one, Cast | Store))


def _number(graph: Graph, position: int) -> float | None:
    """The value of a constant, also behind conversions."""
    node = graph.nodes[position]
    if isinstance(node, Cast) and not node.bitcast:
        return _number(graph, node.arg)
    if not isinstance(node, Constant) or node.dtype == "i1":
        return None
    return float.fromhex(node.value) if "0x" in node.value.lower() else float(node.value)


def _bits_times(graph: Graph, node: Node) -> bool:
    """ptxas takes `x * bits(a * c)` and `x * bits(b * c)`, integer products of float ones, for products of one kind,
    and computes `bits(a) * bits(x * c)`."""
    return isinstance(node, Pointwise) and node.op in ("mul", "mul_add") and any(
        _float_bits(graph, k) for k in node.args[:2])


def _float_bits(graph: Graph, position: int) -> bool:
    """Whether a value is, or is chosen among, the bits of computed fp32 numbers."""
    node = graph.nodes[position]
    if isinstance(node, Pointwise):
        return all(_float_bits(graph, k) for k in node.args)
    return (isinstance(node, Cast) and node.bitcast and node.dtype in ("i32", "u32")
            and not isinstance(graph.nodes[node.arg], Load | Constant) and types(graph)[node.arg][0] == "fp32")


def _integer_abs(graph: Graph, node: Node) -> bool:
    """The LLVM of 3.9.0 takes libdevice's abs of the smallest integer for poison: what is computed from it folds to
    anything."""
    return isinstance(node, Pointwise) and node.op == "abs_libdevice" and types(graph)[node.args[0]][0] in (
        "i32", "i64")


def _truth_as_half(graph: Graph, node: Node) -> bool:
    """ptxas 12.9 and 13.4 convert the bits `selp 1, 0` from bf16 to fp16 as if they were integers, to 1.0 or 0."""
    return _bits_narrowed(graph, node) is not None


def _bits_narrowed(graph: Graph, node: Node) -> int | None:
    """The position of computed bits taken for bf16 that become fp16 here."""
    if isinstance(node, Cast) and not node.bitcast and node.dtype == "fp16":
        place = node.arg
    elif isinstance(node, Store) and any(one.name == node.buffer and one.dtype == "fp16" for one in graph.buffers):
        place = node.value
    else:
        return None
    bits = graph.nodes[place]
    computed = isinstance(bits, Cast) and bits.bitcast and bits.dtype == "bf16" and not isinstance(
        graph.nodes[bits.arg], Load)
    return place if computed else None


def _truth_as_fp16(graph: Graph, node: Node) -> bool:
    """ptxas 12.8 and 13.4 convert the bits `selp 1, 0` from fp16 to any type as if they were integers: to 1.0 or 0."""
    return isinstance(node, Cast) and node.bitcast and node.dtype == "fp16" and _is_truth(graph, node.arg)


def _is_truth(graph: Graph, position: int) -> bool:
    """Whether an integer is made of truth values, 0 and 1."""
    node = graph.nodes[position]
    if types(graph)[position][0] == "i1":
        return True
    if isinstance(node, Constant):
        return node.value in ("0", "1")
    if isinstance(node, Masked):
        return node.other in ("0", "1") and _is_truth(graph, node.arg)
    return isinstance(node, Pointwise | Cast) and all(_is_truth(graph, k) for k in operands(node))


def _bits_against_zero(graph: Graph, node: Node) -> bool:
    """The LLVM of 3.6.0 takes the operand of a bitcast that is compared with 0 for an integer, also where it is a half
    that becomes the other half: an assertion ends the compiler's process. Loaded halves are integers to it."""
    if not isinstance(node, Cast) or not node.bitcast or node.dtype not in _HALVES:
        return False
    if types(graph)[node.arg][0] not in _HALVES or isinstance(graph.nodes[node.arg], Load):
        return False
    return any(_against_zero(graph, k) for k, one in enumerate(graph.nodes) if one == node)


def _against_zero(graph: Graph, position: int) -> bool:
    """Whether a float is compared with 0 for equality, itself or behind what LLVM leaves out of such comparisons."""
    truths = {buffer.name for buffer in graph.buffers if buffer.dtype == "i1"}
    for place, user in enumerate(graph.nodes):
        through = False
        if isinstance(user, Store):
            found = user.value == position and user.buffer in truths
        elif isinstance(user, Cast):
            found = user.arg == position and user.dtype == "i1"
            through = user.arg == position and not user.bitcast and is_float(user.dtype)
        elif isinstance(user, Reduce):
            found = position in user.args and user.kind in ("any", "all")
        elif isinstance(user, Pointwise) and position in user.args:
            compared = user.op in ("eq", "ne") and 0 in [_number(graph, k) for k in user.args]
            found = compared or user.op == "to_i1" or user.op.startswith("logical_")
            through = user.op in ("neg", *_ABSOLUTE)
        else:
            continue
        if found or (through and _against_zero(graph, place)):
            return True
    return False


def _sign_of_absolute(graph: Graph, node: Node) -> bool:
    """ptxas 12.8 takes abs for non-negative, though that of the smallest integer is itself: behind abs.s32 and abs.s64
    it drops `setp.lt r, 0`, and abs.s16 it compares and shifts as a number of 32 bits, 32768."""
    if not isinstance(node, Pointwise) or node.op not in _ABSOLUTE:
        return False
    return types(graph)[node.args[0]][0] in ("i16", "i32", "i64") and any(
        _sign_asked(graph, k) for k, one in enumerate(graph.nodes) if one == node)


def _sign_asked(graph: Graph, position: int) -> bool:
    """Whether the sign of an integer decides: as an index, which wraps, or in an operation that looks at it."""
    for place, user in enumerate(graph.nodes):
        index = expression(user)
        if index is not None and position in indirect(index):
            return True
        if isinstance(user, Pointwise) and position in user.args and user.op in _SIGN_ASKED:
            return True
        if isinstance(user, Cast) and user.arg == position and not is_float(user.dtype) and _sign_asked(graph, place):
            return True
    return False


def _extremum_of_three(graph: Graph, node: Node) -> bool:
    """ptxas before 13.4 makes VIMNMX3 of a minimum of a minimum (or of maxima), and loses a negation of an operand."""
    return bool(_negated(graph, node))


def _extremum(node: Node) -> str:
    kind = node.op.partition("_")[0] if isinstance(node, Pointwise) else ""
    return kind if kind in ("minimum", "maximum") else ""


def _negated(graph: Graph, node: Node) -> list[int]:
    """Positions of the negated operands of three."""
    if not isinstance(node, Pointwise) or not _extremum(node):
        return []
    inner = [one for k in node.args if _extremum(one := graph.nodes[k]) == _extremum(node)]
    found = [k for one in (node, *inner) for k in operands(one) if _is_negation(graph, k)] if inner else []
    return found if found and types(graph)[node.args[0]][0] == "i32" else []


def _is_negation(graph: Graph, position: int) -> bool:
    node = graph.nodes[position]
    if not isinstance(node, Pointwise) or node.op not in ("neg", "neg_operator", "sub", "mul"):
        return False
    wanted = {"sub": (0,), "mul": (0, 1)}.get(node.op, ())
    return not wanted or any(_number(graph, node.args[k]) == (0 if node.op == "sub" else -1) for k in wanted)


_FORMS = {"negative other of 8 or 16 bits": _other, "ldexp by -2^31": _ldexp, "lop3 of one register twice": _lop3,
          "choice of 1 or -0.0": _choice, "remainder of halves": _remainder, "fp8 of what folds": _folded_fp8,
          "integer product of a float product": _bits_times, "libdevice.abs of integers": _integer_abs,
          "truth as bits of bf16 to fp16": _truth_as_half, "extremum of three, one negated": _extremum_of_three,
          "truth as bits of fp16": _truth_as_fp16, "bits of a half compared with 0": _bits_against_zero,
          "sign of an integer's abs": _sign_of_absolute, "library of a subnormal constant": _subnormal}


def miscompiled(graph: Graph) -> str:
    """What the last node of the graph that is known to be compiled wrong is, or ""."""
    return next((name for node in reversed(graph.nodes) for name, form in _FORMS.items() if form(graph, node)), "")


def contracted(graph: Graph) -> str:
    """What the graph has that fused multiplications and additions make less accurate than documented, or "".

    libdevice's pow of single precision corrects its logarithm by the rounding error of a product. Triton links it in
    and fuses that product too where enable_fp_fusion lets it fuse a kernel's own: the error is not corrected, and
    grows with the exponent. Drawn programs that have it are compiled without fusion.
    """
    single = any(isinstance(node, Pointwise) and node.op == "pow" and types(graph)[node.args[0]][0] in _SINGLE
                 for node in graph.nodes)
    return "pow, fused" if single else ""


def without_miscompiled(graph: Graph) -> Graph:
    """The graph with a near relative of each node that is known to be compiled wrong: another constant, or the sum of
    two operands for the lop3, a library's remainder, a conversion of ldexp's exponent, a sum, an exclusive or, a
    complement, a conversion of the value for one of the bits, an inequality."""
    found = _replaced(graph)
    return without_miscompiled(found) if found != graph and miscompiled(found) else found


def _replaced(graph: Graph) -> Graph:
    nodes = list(graph.nodes)
    for position, node in enumerate(nodes):
        if isinstance(node, Load) and _other(graph, node):
            nodes[position] = replace(node, other="-1" if node.other[0] == "-" else str(_all_ones(graph, node)))
        elif isinstance(node, Asm) and _lop3(graph, node):
            nodes[position] = replace(node, body="add_s32", args=tuple(_distinct(graph, node)))
        elif isinstance(node, Pointwise) and _remainder(graph, node):
            nodes[position] = replace(node, op="fmod")
        elif isinstance(node, Constant) and _folded_fp8(graph, node):
            nodes[position] = replace(node, value="2.0")
        elif isinstance(node, Pointwise) and _folded_fp8(graph, node):
            nodes[position] = (Cast(arg=node.args[1], dtype=types(graph)[node.args[0]][0]) if node.op == "ldexp"
                               else replace(node, op="add" if node.op == "pow" else "ne"))
        elif isinstance(node, Pointwise) and _bits_times(graph, node):
            nodes[position] = replace(node, op="bitwise_xor", args=node.args[:2])
        elif isinstance(node, Cast) and (_truth_as_fp16(graph, node) or _bits_against_zero(graph, node)):
            nodes[position] = replace(node, bitcast=False)
        elif isinstance(node, Pointwise) and _sign_of_absolute(graph, node):
            nodes[position] = replace(node, op="bitwise_not")
        elif isinstance(node, Pointwise) and _subnormal(graph, node):
            nodes[position] = replace(node, op="add" if len(node.args) == 2 else "erf")
        elif isinstance(node, Pointwise) and _integer_abs(graph, node):
            nodes[position] = replace(node, op="abs")
        elif isinstance(node, Masked) and _choice(graph, node):
            nodes[position] = replace(node, other=node.other.replace(_MINUS_ZERO, "0.0"))
    for node in graph.nodes:
        for place in _negated(graph, node):
            one = nodes[place]
            assert isinstance(one, Pointwise)
            nodes[place] = replace(one, op="bitwise_not" if len(one.args) == 1 else "add")
        narrowed = _bits_narrowed(graph, node)
        if narrowed is not None:
            cast = nodes[narrowed]
            assert isinstance(cast, Cast)
            nodes[narrowed] = replace(cast, bitcast=False)
    spoilt = {k for node in graph.nodes if _ldexp(graph, node) or _choice(graph, node) for k in operands(node)}
    for position in spoilt:
        one = nodes[position]
        if isinstance(one, Constant) and one.value in (_LEAST, _MINUS_ZERO):
            nodes[position] = replace(one, value="0.0" if one.value == _MINUS_ZERO else str(-(2**31) + 1))
    return replace(graph, nodes=tuple(nodes))


def _all_ones(graph: Graph, node: Load) -> int:
    return integer_limits(next(buffer.dtype for buffer in graph.buffers if buffer.name == node.buffer))[1]
