"""What Triton, LLVM or the assembler is known to compile wrong of generated kernels, form by form.

A form is a few lines: its docstring says what goes wrong, and where; it returns near relatives for the nodes that make
it up, or nothing where a node is harmless. Where it is known what is computed instead, a second function says so, as
another program. Entries in corpus/codegen.* prove each, and say on which versions it is wrong.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.known.graphs.extremum_forms import EXTREMUM_OF_ROW, EXTREMUM_OF_THREE, RELU
from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.index_forms import EXTREMUM_IN_INDEX, LIMIT_IN_INDEX, SUM_IN_INDEX, negated_abs
from tridiff.fuzz.known.graphs.nodes import (
    ABSOLUTE,
    EXTREMA,
    NEGATIONS,
    ORDERS,
    against_zero,
    before_widening,
    choices,
    conversion,
    conversions,
    equal,
    float_bits,
    handed_on,
    is_constant,
    is_negation,
    is_truth,
    itself,
    maybe_constant,
    not_negated,
    number,
    of_axes,
    of_one_element,
    sign_asked,
    text,
    tilings,
)
from tridiff.fuzz.known.graphs.number_forms import (
    HALF_OF_FEW_BITS,
    NARROWED_OUTSIDE,
    NEGATED_TRUTH,
    POWER_OF_HALFWORDS,
    SPECIALS_AS_BF16,
    WIDENED_SIGN,
)
from tridiff.fuzz.known.graphs.only_values import folded_early, only_value
from tridiff.kernels.codegen.constants import integer_limits
from tridiff.kernels.codegen.domains import Analysis, indirect, operands
from tridiff.kernels.codegen.graph import (
    Asm,
    Bucketize,
    Cast,
    Constant,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Pointwise,
    Store,
)
from tridiff.kernels.codegen.tiles import Tile
from tridiff.kernels.pointwise.record import HALVES
from tridiff.oracles.dtypes import FP8

SINGLE = (*HALVES, "fp32")
_NARROW = ("i8", "u8", "i16", "u16")
_WARPS_ELEMENTS, _SIDE_BY_SIDE = 64, 8
"""Elements of which a warp holds a multiple wherever a thread holds several side by side; most that one does."""
_LEAST = str(-(2**31))
_LOGIC = ("bitwise_or", "logical_or", "bitwise_and", "logical_and", "bitwise_xor")


def _everywhere(analysis: Analysis, node: Node, instead: Node) -> Changes:
    """Another node for all of the same text, which are one variable."""
    return dict.fromkeys(equal(analysis, node), instead)


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


def _other_repeated(analysis: Analysis, node: Load) -> Iterator[Changes]:
    """-1, or all ones, for `other`."""
    found = _other(analysis, node)
    if isinstance(found, Load):
        yield _everywhere(analysis, node, found)


def _ldexp(analysis: Analysis, node: Pointwise) -> Result:
    """Libdevice as 3.9.0 compiles it leaves ldexp with the constant exponent -2^31 undefined (llvm-project#183851)."""
    exponent = node.args[1]
    return {exponent: Constant(value=str(-(2**31) + 1), dtype="i32")} if text(analysis, exponent) == _LEAST else None


def _twice(analysis: Analysis, node: Asm) -> tuple[int, ...]:
    """Of a lop3 of two different registers, the one that it has once and the one that it has twice."""
    distinct: dict[Node, list[int]] = {}
    for k in node.args:
        distinct.setdefault(analysis.nodes[k], []).append(k)
    if node.body != "lop3_xor" or len(distinct) != 2:
        return ()
    return tuple(places[0] for places in sorted(distinct.values(), key=len))


def _lop3(analysis: Analysis, node: Asm) -> Result:
    """ptxas 12.8 and 13.4 fuse a lop3 that has one register twice with the logic that follows it: they put zero for
    the register, as if `b ^ b` were nowhere else in the table that they had made. Equal text is one variable."""
    twice = _twice(analysis, node)
    return replace(node, body="add_s32", args=twice) if twice else None


def _lop3_fused(analysis: Analysis, node: Asm) -> Iterator[Changes]:
    """Of `(a ^ b ^ b) op c`, where c is a or b and d the other one: c | d, c & ~d, d for or, and, xor. A power tests
    the bits of its exponent: where a is the bit that it asks for, it finds that of a & ~b. What else asks for the lop3
    has what is right."""
    nodes = analysis.nodes
    found = Changes()
    for place, c, d in _logic(analysis, node):
        user = nodes[place]
        assert isinstance(user, Pointwise)
        if user.op == "pow":
            found[place] = (Pointwise(op="bitwise_not", args=(d,)), Pointwise(op="bitwise_and", args=(c,)),
                            replace(user, args=user.args[:1]))
        elif user.op in ("bitwise_or", "logical_or"):
            found[place] = replace(user, args=(c, d))
        elif user.op in ("bitwise_and", "logical_and"):
            found[place] = Pointwise(op="bitwise_not", args=(d,)), replace(user, args=(c,))
        else:
            found[place] = itself(d)
    yield found


def _logic(analysis: Analysis, node: Asm) -> Iterator[tuple[int, int, int]]:
    """(place, c, d) of the users of `a ^ b ^ b` of which it is known what comes out."""
    nodes = analysis.nodes
    twice, same = _twice(analysis, node), equal(analysis, node)
    pair = [nodes[k] for k in twice]
    for place in sorted(set[int]().union(*(analysis.users[k] for k in same))):
        user = nodes[place]
        beside = [k for k in user.args if k not in same] if isinstance(user, Pointwise) else []
        if not isinstance(user, Pointwise) or len(beside) != 1:
            continue
        if user.op in _LOGIC and nodes[beside[0]] in pair:
            yield place, beside[0], twice[pair[0] == nodes[beside[0]]]
        elif user.op == "pow" and user.args[0] == beside[0]:
            once = only_value(analysis, twice[0])
            if once is not None and int(once[0]).bit_count() == 1:
                yield place, twice[0], twice[1]


def _lop3_elsewhere(analysis: Analysis, node: Asm) -> bool:
    """Whether it is combined with more than the logic of which that is known: its bits may be tested, shifted, masked
    and compared. A store leaves it as it is."""
    same, nodes = equal(analysis, node), analysis.nodes
    known = {place for place, _, _ in _logic(analysis, node)}
    users = set[int]().union(*(analysis.users[k] for k in same)) - known
    return any(not isinstance(one := nodes[k], Store) or analysis.buffers[one.buffer] != "i32" for k in users)


def _choice(analysis: Analysis, node: Masked | Pointwise) -> Result:
    """ptxas compiles `selp.f32 r, 1.0, -0.0` behind a comparison of floats to FSET, whose other value is +0.0, whatever
    of the two LLVM and ptxas folded, and what LLVM computes of a choice, as in `-(c ? -1.0 : 0.0)`."""
    if choices(analysis, analysis.nodes.index(node)) != {"1.0", "-0.0"}:
        return None
    if isinstance(node, Pointwise) and node.op != "where":
        return replace(node, op="abs", args=node.args[:1])
    arms: Changes = {k: Constant(value="0.0", dtype=analysis.dtype(k)) for k in operands(node)
                       if choices(analysis, k) == {"-0.0"}}
    return replace(node, other="0.0") if isinstance(node, Masked) and not arms else arms


def _choice_of_zero(analysis: Analysis, node: Masked | Pointwise) -> Iterator[Changes]:
    """+0.0 for -0.0."""
    yield dict.fromkeys(equal(analysis, node), (node, Pointwise(op="abs", args=())))


def _remainder(analysis: Analysis, node: Pointwise) -> Result:
    """LLVM narrows `%` of widened halves that becomes the other half type, itself or behind a sign or a choice, and
    then casts a half to a type of its own width: an assertion ends the compiler's process."""
    below = {"const" if is_constant(analysis, k) else before_widening(analysis, k) for k in node.args}
    if not below <= {*HALVES, "const"}:
        return None
    same = set[int]().union(*(handed_on(analysis, k) for k in equal(analysis, node)))
    becomes = {dtype for place, dtype in conversions(analysis) if place in same}
    wrong = ("bf16" in becomes and "fp16" in below) or ("fp16" in becomes and below == {"bf16"})
    return replace(node, op="fmod") if wrong else None


def _folded_fp8(analysis: Analysis, node: Constant | Pointwise) -> Result:
    """ptxas before 13.4 writes the two equal halves of a register, both of them the fp8 pair of one conversion, as that
    conversion alone: the upper half keeps what the register held. Equal pairs come of what LLVM folds and Triton does
    not: a library's function that is constant whatever one operand is, what infinity and NaN absorb, a choice or a
    masked load of which a comparison is never, or always, true."""
    if not any(dtype in FP8 for _, dtype in conversions(analysis)):
        return None
    if isinstance(node, Constant):
        return replace(node, value="2.0") if node.value in ("inf", "-inf", "nan") else None
    place = analysis.nodes.index(node)
    if folded_early(analysis, place) or only_value(analysis, place) is None:
        return None
    if node.op == "ldexp":
        return Cast(arg=node.args[1], dtype=analysis.dtype(node.args[0]))
    return replace(node, op="add" if node.op == "pow" else "ne")


def _alike_as_fp8(analysis: Analysis, node: Cast | Store) -> Result:
    """The same of what LLVM may know to be alike for neighbours: a truth value that conditions on axes choose, of which
    few fold; what is loaded from the one element of a buffer for all; and what is one number whatever is loaded, as
    0 // x is. What depends on no axis is converted once, and right."""
    place, dtype = conversion(analysis, node)
    converted = dtype in FP8 and not (isinstance(node, Cast) and node.bitcast)
    alike = converted and ((is_truth(analysis, place) and of_axes(analysis, place)) or of_one_element(analysis, place)
                           or (bool(analysis.domains[place]) and not folded_early(analysis, place)
                               and only_value(analysis, place) is not None))
    return node if alike else None


def _bits_times(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 takes `x * bits(a * c)` and `x * bits(b * c)`, integer products of float ones, for products of
    one kind, and computes `bits(a) * bits(x * c)`."""
    bits = any(float_bits(analysis, k) for k in node.args[:2])
    return replace(node, op="bitwise_xor", args=node.args[:2]) if bits else None


def _integer_abs(analysis: Analysis, node: Pointwise) -> Result:
    """The LLVM of 3.9.0 takes libdevice's abs of the smallest integer for poison: what is computed from it folds to
    anything (llvm-project#183851)."""
    return replace(node, op="abs") if analysis.dtype(node.args[0]) in ("i32", "i64") else None


def _truth_as_half(analysis: Analysis, node: Cast | Store) -> Result:
    """ptxas 12.9 and 13.4 convert the bits `selp 1, 0` from bf16 to fp16 as if they were integers, to 1.0 or 0."""
    place, dtype = conversion(analysis, node)
    bits = analysis.nodes[place]
    if dtype != "fp16" or (isinstance(node, Cast) and node.bitcast) or not isinstance(bits, Cast):
        return None
    computed = bits.bitcast and bits.dtype == "bf16" and not isinstance(analysis.nodes[bits.arg], Load)
    return {place: replace(bits, bitcast=False)} if computed else None


def _truth_converted(analysis: Analysis, node: Cast | Store) -> Iterator[Changes]:
    """1.0 for the bits of 1, which is what the near relative converts to."""
    found = _truth_as_half(analysis, node)
    if isinstance(found, dict):
        yield found


def _limit(analysis: Analysis, node: Pointwise) -> Result:
    """`index_forms` says what ptxas makes of the limit of a negated abs."""
    nodes = analysis.nodes
    limited = any(negated_abs(analysis, nodes[k]) for k in node.args) and any(
        (number(analysis, k) or 0) < 0 for k in node.args)
    return replace(node, op="bitwise_xor") if limited else None


def _limit_taken(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """The constant for a maximum, -|x| for a minimum."""
    constants = [k for k in node.args if is_constant(analysis, k)]
    others = [k for k in node.args if k not in constants]
    yield _everywhere(analysis, node, itself((constants if node.op.startswith("max") else others)[0]))


def _truth_as_fp16(analysis: Analysis, node: Cast) -> Result:
    """ptxas 12.8 and 13.4 convert the bits `selp 1, 0` from fp16 to any type as if they were integers: to 1.0 or 0."""
    truth = node.bitcast and node.dtype == "fp16" and is_truth(analysis, node.arg)
    return replace(node, bitcast=False) if truth else None


def _bits_converted(analysis: Analysis, node: Cast) -> Iterator[Changes]:
    """1 for the bits of 1, and 1.0, by way of whatever types the bits come."""
    bits = node.arg
    while isinstance(one := analysis.nodes[bits], Cast) and one.bitcast:
        bits = one.arg
    yield _everywhere(analysis, node, replace(node, arg=bits, bitcast=False))


def _truth_as_float(analysis: Analysis, node: Cast) -> Result:
    """ptxas converts the bits of 1.0 and 0.0, as cvt.rn makes them of `selp 1, 0`, from integers to fp32 as those
    integers, to 1.0 or 0: the bits of a double in large loops only (13.4), those of fp32 wherever a cvt.rn.f32.u32
    stands behind another (12.8 to 13.4). The nodes around them get the bits."""
    of = {"i64": "fp64", "u64": "fp64", "i32": "fp32", "u32": "fp32"}.get(node.dtype)
    truth = node.bitcast and analysis.dtype(node.arg) == of and is_truth(analysis, node.arg)
    return replace(node, bitcast=False) if truth else None


def _bits_against_zero(analysis: Analysis, node: Cast) -> Result:
    """The LLVM of 3.6.0 takes the operand of a bitcast that is compared with 0 for an integer, also where it is a half
    that becomes the other half: an assertion ends the compiler's process (llvm-project#198389). Halves that are loaded,
    and used as they are, are integers to it."""
    if not node.bitcast or node.dtype not in HALVES or analysis.dtype(node.arg) not in HALVES or (
            isinstance(analysis.nodes[node.arg], Load) and _used_as_bits(analysis, node.arg)):
        return None
    compared = any(against_zero(analysis, k) for k in equal(analysis, node))
    return replace(node, bitcast=False) if compared else None


def _used_as_bits(analysis: Analysis, position: int) -> bool:
    """Whether a half is stored as it is, or becomes a type of the same width, and nothing else."""
    users = [analysis.nodes[place] for place in analysis.users[position]]
    return all((isinstance(one, Cast) and one.bitcast) or (
        isinstance(one, Store) and analysis.buffers[one.buffer] == analysis.dtype(position)) for one in users)


def _sign_of_absolute(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 takes abs for non-negative, though that of the smallest integer is itself: behind abs.s32 and abs.s64
    it drops `setp.lt r, 0`, also behind an extremum with a constant; abs.s16 it compares, shifts and widens as a number
    of 32 bits, 32768."""
    asked = analysis.dtype(node.args[0]) in ("i16", "i32", "i64") and any(
        sign_asked(analysis, k) for k in equal(analysis, node))
    return replace(node, op="bitwise_not") if asked else None


def _abs_of_product(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 takes two reads of one address for one value, whatever is written between them, and their
    product for a square, of which it leaves out the absolute value, also the one in fmod. Descriptors, conversions of
    layouts and reductions read many values at one address of shared memory. (`a * b < 0` is false to it as well; nobody
    has seen that in a program.)"""
    product = analysis.nodes[node.args[0]]
    if not isinstance(product, Pointwise) or product.op != "mul" or analysis.dtype(node.args[0]) not in (
            "fp32", "fp64") or len({analysis.nodes[k] for k in product.args}) == 1:
        return None
    return {k: replace(product, op="truediv") for k in equal(analysis, product)}


def _abs_left_out(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """The product; as a remainder, of which fmod leaves a negative one as it is, also with the divisor added."""
    yield _everywhere(analysis, node, Pointwise(op="maximum", args=node.args[:1] * 2))
    if node.op == "remainder":
        yield _everywhere(analysis, node, Pointwise(op="add", args=node.args))


def _sign_of_negated(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 compares, shifts and widens the result of neg.s16 as a number of 32 bits: for -32768 it is 32768; a
    product that was not cut before is not cut then. An extremum of it may be taken for such a number as well."""
    asked = analysis.dtype(node.args[0]) == "i16" and is_negation(analysis, node) and any(
        sign_asked(analysis, one) for k in equal(analysis, node) for one in (k, *_extrema_of(analysis, k)))
    return not_negated(node) if asked else None


def _extrema_of(analysis: Analysis, position: int) -> list[int]:
    return [place for place in analysis.users[position]
            if isinstance(one := analysis.nodes[place], Pointwise) and one.op in EXTREMA]


def _fp8_exponent(analysis: Analysis, node: Pointwise) -> Result:
    """The LLVM of 3.6.0 makes a vector of the tests of an exponent's bits. Where these are the bits of a computed fp8,
    ptxas 12.8 reads the register of the second element before it writes it."""
    exponent = analysis.nodes[node.args[1]]
    while isinstance(exponent, Cast) and not exponent.bitcast:
        exponent = analysis.nodes[exponent.arg]
    wrong = isinstance(exponent, Cast) and analysis.dtype(exponent.arg) in FP8 and not isinstance(
        analysis.nodes[exponent.arg], Load)
    return replace(node, op="add") if wrong else None


def _half_of_sums(analysis: Analysis, node: Load | Pointwise | Index) -> Result:
    """ptxas 12.8 and 12.9 add 0 for the constant of an add.s16x2 of which only one half is used. LLVM pairs the sums of
    two elements; the other is known to lie beyond an axis. A checked index adds the length of its buffer, and that
    lo <= x < hi is x - lo < hi - lo without a sign. Few of them are paired."""
    if isinstance(node, Load):
        narrow = node.checked and any(analysis.dtype(k) in ("i8", "i16") for k in indirect(node.index))
    elif isinstance(node, Index):
        narrow = node.dtype == "i1" and any(analysis.dtype(k) in ("i8", "i16") for k in indirect(node.expr))
    else:
        narrow = analysis.dtype(node.args[0]) in _NARROW and any(is_constant(analysis, k) for k in node.args)
    beyond = any(_ends_within_a_thread(tile) for one in tilings(analysis.graph, static=True) for tile in one.tiles)
    return node if narrow and beyond else None


def _sum_used_twice(analysis: Analysis, node: Pointwise) -> Result:
    """The same where both halves are used, of a sum that has several users: ptxas computes it again for some of them,
    for each half alone, and adds 0 there."""
    users = sum(len(analysis.users[k]) for k in equal(analysis, node))
    constant = [k for k in node.args if is_constant(analysis, k)]
    wrong = analysis.dtype(node.args[0]) in ("i16", "u16") and users > 1 and len(constant) == 1 and (
        node.op == "add" or constant[0] == node.args[1])
    return replace(node, op="bitwise_xor") if wrong else None


def _constant_left_out(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """The other summand."""
    yield _everywhere(analysis, node, itself(next(k for k in node.args if not is_constant(analysis, k))))


def _ends_within_a_thread(tile: Tile) -> bool:
    """Whether some elements of every thread are known to lie beyond an axis, and others not: half of the tile, or all
    but the first few of what the threads of the last warp hold side by side."""
    few = 0 < tile.numel % _WARPS_ELEMENTS < _SIDE_BY_SIDE
    return tile.block >= 2 * tile.numel or (few and tile.block > tile.numel)


def _subnormal(analysis: Analysis, node: Pointwise) -> Result:
    """LLVM's NVVMReflect folds what libdevice computes of a subnormal constant, and reads an instruction it freed
    (llvm#81471)."""
    numbers = [number(analysis, k) for k in node.args if maybe_constant(analysis, k)]
    if analysis.dtype(node.args[0]) not in SINGLE or not any(
            one is None or 0 < abs(one) < 2.0**-126 for one in numbers):
        return None
    return replace(node, op="add" if len(node.args) == 2 else "erf")


def _cube_root(analysis: Analysis, node: Pointwise) -> Result:
    """libdevice's cube root takes subnormal operands for flushed in one half of its instructions: NaN."""
    return replace(node, op="erf") if analysis.dtype(node.args[0]) in SINGLE else None


def _place_as_truth(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 makes one table of the logic behind a search of few boundaries, which is unrolled, and of whether the
    place is 0, which is a sum of two choices: it takes the last comparison for its opposite."""
    nodes = analysis.nodes
    return {k: Cast(arg=one.arg, dtype=one.dtype) for k in node.args if isinstance(one := nodes[k], Bucketize)}


def _bits_of_absolute(analysis: Analysis, node: Pointwise) -> Result:
    """LLVM takes the sign of its `fabs` for cleared, of NaN as well, where PTX's abs.f64 leaves it: a mask of bits that
    would clear it is dropped (llvm-project#219089). abs.f32 gives a NaN without a sign."""
    users = [analysis.nodes[place] for k in equal(analysis, node) for place in analysis.users[k]]
    asked = any(one.op == "frexp" if isinstance(one, Pointwise) else isinstance(one, Cast) and one.bitcast
                for one in users)
    return replace(node, op="neg") if asked and analysis.dtype(node.args[0]) == "fp64" else None


OTHER = Form(label="negative other of 8 or 16 bits", kinds=(Load,), rewritten=_other, computed=_other_repeated)
LDEXP = Form(label="ldexp by -2^31", ops=("ldexp",), rewritten=_ldexp)
LOP3 = Form(label="lop3 of one register twice", kinds=(Asm,), rewritten=_lop3, computed=_lop3_fused,
            elsewhere=_lop3_elsewhere)
CHOICE = Form(label="choice of 1 or -0.0", kinds=(Masked, Pointwise), ops=("where", "add", *NEGATIONS),
              rewritten=_choice, computed=_choice_of_zero)
REMAINDER = Form(label="remainder of halves", ops=("mod_operator",), rewritten=_remainder)
FOLDED_FP8 = Form(label="fp8 of what folds", kinds=(Constant, Pointwise), ops=(*ORDERS, "ldexp", "pow"),
                  rewritten=_folded_fp8)
ALIKE_AS_FP8 = Form(label="fp8 of what folds", kinds=(Cast, Store), rewritten=_alike_as_fp8)
BITS_TIMES = Form(label="integer product of a float product", ops=("mul", "mul_add"), rewritten=_bits_times)
INTEGER_ABS = Form(label="libdevice.abs of integers", ops=("abs_libdevice",), rewritten=_integer_abs)
TRUTH_AS_HALF = Form(label="truth as bits of bf16 to fp16", kinds=(Cast, Store), rewritten=_truth_as_half,
                     computed=_truth_converted)
LIMIT = Form(label="limit of a negated abs", ops=EXTREMA, rewritten=_limit, computed=_limit_taken)
TRUTH_AS_FP16 = Form(label="truth as bits of fp16", kinds=(Cast,), rewritten=_truth_as_fp16, computed=_bits_converted)
TRUTH_AS_FLOAT = Form(label="truth as bits of a float", kinds=(Cast,), rewritten=_truth_as_float,
                      computed=_bits_converted)
BITS_AGAINST_ZERO = Form(label="bits of a half compared with 0", kinds=(Cast,), rewritten=_bits_against_zero)
SIGN_OF_ABSOLUTE = Form(label="sign of an integer's abs", ops=ABSOLUTE, rewritten=_sign_of_absolute)
BITS_OF_ABSOLUTE = Form(label="bits of an abs of fp64", ops=ABSOLUTE, rewritten=_bits_of_absolute)
ABS_OF_PRODUCT = Form(label="abs of a product", ops=(*ABSOLUTE, "fmod", "remainder"), rewritten=_abs_of_product,
                      computed=_abs_left_out)
SIGN_OF_NEGATED = Form(label="sign of a negated i16", ops=NEGATIONS, rewritten=_sign_of_negated)
FP8_EXPONENT = Form(label="power to the bits of an fp8", ops=("pow",), rewritten=_fp8_exponent)
HALF_OF_SUMS = Form(label="half of a 16-bit sum", kinds=(Load, Pointwise, Index), ops=("add", "sub"),
                    rewritten=_half_of_sums)
SUM_USED_TWICE = Form(label="16-bit sum with several users", ops=("add", "sub"), rewritten=_sum_used_twice,
                      computed=_constant_left_out)
SUBNORMAL = Form(label="library of a subnormal constant", rewritten=_subnormal, ops=(
    "acos", "asin", "asinh", "atan", "atan2", "cos", "erfc", "hypot", "pow", "sin", "tan", "y0"))
PLACE_AS_TRUTH = Form(label="searched place as a truth value", rewritten=_place_as_truth, ops=(
    "logical_and", "logical_not", "logical_or", "logical_xor"))
CUBE_ROOT = Form(label="cube root of fp32", ops=("cbrt",), rewritten=_cube_root)

FORMS = (OTHER, LDEXP, LOP3, CHOICE, REMAINDER, FOLDED_FP8, ALIKE_AS_FP8, BITS_TIMES, INTEGER_ABS, TRUTH_AS_HALF,
         EXTREMUM_OF_THREE, EXTREMUM_OF_ROW, EXTREMUM_IN_INDEX, LIMIT, LIMIT_IN_INDEX, TRUTH_AS_FP16, TRUTH_AS_FLOAT,
         BITS_AGAINST_ZERO, SIGN_OF_ABSOLUTE, BITS_OF_ABSOLUTE, SIGN_OF_NEGATED, RELU, FP8_EXPONENT, HALF_OF_SUMS,
         SUM_USED_TWICE, SUBNORMAL, PLACE_AS_TRUTH, CUBE_ROOT, POWER_OF_HALFWORDS, WIDENED_SIGN,
         SPECIALS_AS_BF16, HALF_OF_FEW_BITS, SUM_IN_INDEX, NARROWED_OUTSIDE, NEGATED_TRUTH, ABS_OF_PRODUCT)


def named(graph: Graph) -> str:
    """The label of the last node of a known form, "" if there is none."""
    return max(((position, form.label) for form in FORMS for position, _, _ in form.found(graph)),
               default=(0, ""), key=lambda one: one[0])[1]
