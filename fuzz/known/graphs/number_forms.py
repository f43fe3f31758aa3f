"""Forms of conversions and of 16-bit integers: each as those of `tridiff.fuzz.known.graphs.forms`, which lists them."""

from collections.abc import Iterator

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.operations import COMPARISONS
from tridiff.fuzz.known.graphs.form import Changes, Form, Result
from tridiff.fuzz.known.graphs.nodes import ABSOLUTE, conversion, equal, is_negation, is_truth, number, text
from tridiff.fuzz.known.graphs.only_values import only_value
from tridiff.kernels.codegen.constants import is_float
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Cast, Constant, Index, Masked, Node, Pointwise, Reduce, Scan, Store
from tridiff.kernels.pointwise.record import FLOATS, HALVES
from tridiff.oracles.dtypes import dtype as dtype_info

_BITS = {"i1": 1, **{f"{kind}{bits}": bits for kind in "iu" for bits in (8, 16, 32, 64)}}
_NARROW = ("i8", "i16", "u8", "u16")
LIBRARY = {one: f"{one}_libdevice" for one in ("nextafter", "floor", "ceil")}
"""Operations that libdevice gives of zeros where fp32 operands are subnormal, and their names as such."""
_OF_BITS = ("bitwise_and", "mul", "left_shift", "left_shift_operator", "right_shift", "right_shift_operator")


def _widened_sign(analysis: Analysis, node: Cast) -> Result:
    """LLVM's SLP vectoriser (3.8.0 on) makes a vector of neighbours' conversions of an unsigned number to a float, and
    narrows it to what a signed number needs that had been made unsigned: i8 by way of u64 is taken from u32."""
    source = analysis.dtype(node.arg)
    widened = source in ("i8", "i16", "i32") and node.dtype in ("u16", "u32", "u64") and not node.bitcast
    return replace(node, dtype=f"i{node.dtype[1:]}") if widened and _BITS[source] < _BITS[node.dtype] else None


def _narrowed(analysis: Analysis, node: Cast) -> Iterator[Changes]:
    """The number modulo a smaller power of two."""
    for narrower in ("u8", "u16", "u32"):
        if _BITS[analysis.dtype(node.arg)] <= _BITS[narrower] < _BITS[node.dtype]:
            yield dict.fromkeys(equal(analysis, node), (replace(node, dtype=narrower), node))


def _specials_as_bf16(analysis: Analysis, node: Cast | Store) -> Result:
    """The conversion of fp8e5 to bf16 knows no infinity and no NaN: numbers from 65536 on come out. A store converts
    in one step, whatever the schedule has between other nodes."""
    value, dtype = conversion(analysis, node)
    if dtype != "bf16" or analysis.dtype(value) != "fp8e5" or (isinstance(node, Cast) and node.bitcast):
        return None
    made = Cast(arg=value, dtype="fp16")
    return made if isinstance(node, Cast) else {analysis.nodes.index(node): (made, node)}


def _power_of_halfwords(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 move four 16-bit integers that all threads of a block load alike to uniform registers where
    the kernel loops, and read the fourth from one behind them, which nothing writes. Only integer powers loop."""
    return replace(node, op="mul") if analysis.dtype(node.args[0]) in ("i16", "u16") else None


def _span(analysis: Analysis, position: int) -> tuple[int, int]:
    """Of the bits of an integer, the first that may be 1 and the first from which on all are alike, as LLVM knows."""
    node, bits = analysis.nodes[position], _BITS[analysis.dtype(position)]
    if isinstance(node, Constant):
        value = int(node.value)
        return (value & -value).bit_length() - 1 if value else bits, abs(value).bit_length()
    if isinstance(node, Cast) and not node.bitcast and _BITS.get(analysis.dtype(node.arg), bits) < bits:
        low, high = _span(analysis, node.arg)
        return low, bits if analysis.dtype(node.arg)[0] > node.dtype[0] else high
    if not isinstance(node, Pointwise) or node.op not in _OF_BITS or not any(text(analysis, k) for k in node.args):
        return 0, bits
    (low, high), (start, end) = (_span(analysis, k) for k in node.args)
    amount = int(text(analysis, node.args[1]) or -1)
    match node.op:
        case "bitwise_and":
            ends = [one for one, k in ((high, 0), (end, 1)) if text(analysis, node.args[k])[:1] not in ("", "-")]
            return max(low, start), min([max(high, end), *ends])
        case "mul":
            return low + start, min(high + end, bits)
    if amount < 0:
        return 0, bits
    return (low + amount, min(high + amount, bits)) if node.op.startswith("left") else (
        max(low - amount, 0), max(high - amount, 0))


def _half_of_few_bits(analysis: Analysis, node: Cast) -> Result:
    """LLVM makes `fpext (sitofp x to half) to float` one conversion where no more bits of x may be 1 than fp16 has
    digits, wherever they are: a number beyond 65504 does not become infinite."""
    source, bits = node.arg, _BITS.get(analysis.dtype(node.arg), 0)
    if bits < 32 or node.bitcast or node.dtype != "fp16" or all(one.upcast for one in analysis.graph.schedules):
        return None
    while _has_few_bits(analysis, source):
        made = analysis.nodes[source]
        if not isinstance(made, Pointwise | Cast):
            return None
        source = made.arg if isinstance(made, Cast) else min(made.args, key=lambda k: bool(text(analysis, k)))
    return replace(node, arg=source) if source != node.arg else None


def _has_few_bits(analysis: Analysis, position: int) -> bool:
    low, high = _span(analysis, position)
    return 16 < high <= low + dtype_info("fp16").precision


def _met_half(analysis: Analysis, node: Cast) -> Result:
    """The same where another number meets the half before it is widened."""
    users = [analysis.nodes[place] for k in equal(analysis, node) for place in analysis.users[k]]
    met = any(isinstance(one, Masked) or (isinstance(one, Pointwise) and len(one.args) > 1) for one in users)
    return _half_of_few_bits(analysis, node) if met else None


def _not_infinite(analysis: Analysis, node: Cast) -> Iterator[Changes]:
    """The number itself for what widens the half: conversions, and operations of one operand with a rounded result."""
    nodes, found = analysis.nodes, Changes()
    wide, rounded = replace(node, dtype="fp32"), Cast(arg=node.arg, dtype="fp16")
    for place in {place for k in equal(analysis, node) for place in analysis.users[k]}:
        user = nodes[place]
        if isinstance(user, Store) or (isinstance(user, Cast) and not user.bitcast):
            found[place] = (wide, user) if conversion(analysis, user)[1] != "fp16" else user
        elif isinstance(user, Pointwise) and len(user.args) == 1:
            found[place] = wide, replace(user, args=())
            if len(analysis.dtypes[place]) > 1:
                found |= {k: (nodes[k], rounded) for k in analysis.users[place] if analysis.dtype(k) == "fp16"}
            elif analysis.dtype(place) == "fp16":
                found[place] = wide, replace(user, args=()), rounded
    yield found


def _conversion_left_out(analysis: Analysis, node: Cast | Index | Scan) -> Result:
    """Inductor of torch 2.11 makes one conversion of two to floats of 16 bits or more, whatever is converted first,
    where nothing else has the value between them (`pointless_convert`, pytorch#176565). The first one rounds."""
    user = _converting(analysis, node)
    if user is None or not _rounds(analysis, node):
        return None
    dtype = "fp32" if isinstance(user, Reduce | Scan) else _source(analysis, node)
    unrounded = (Cast(arg=node.args[0], dtype=dtype), node) if isinstance(node, Scan) else replace(node, dtype=dtype)
    changes: Changes = dict.fromkeys(equal(analysis, node), unrounded)
    if isinstance(user, Scan):
        changes |= dict.fromkeys(equal(analysis, user), (user, Cast(arg=0, dtype=_made(analysis, node))))
    return changes


def _made(analysis: Analysis, node: Node) -> str:
    return analysis.dtype(analysis.nodes.index(node))


def _users(analysis: Analysis, node: Node) -> set[Node]:
    return {analysis.nodes[place] for k in equal(analysis, node) for place in analysis.users[k]}


def _converting(analysis: Analysis, node: Node) -> Cast | Store | Reduce | Scan | None:
    """The one user of a value, if it makes another float of it: as folds and scans of halves do, in fp32."""
    users = _users(analysis, node)
    user = users.pop() if len(users) == 1 else None
    if isinstance(user, Reduce | Scan):
        return user if _rounds_halves(analysis, user.args[0]) else None
    if not isinstance(user, Cast | Store) or (isinstance(user, Cast) and user.bitcast):
        return None
    becomes = conversion(analysis, user)[1]
    return user if becomes in FLOATS and becomes != _made(analysis, node) else None


def _source(analysis: Analysis, node: Cast | Index | Scan) -> str:
    """The type that a node converts, which of an index or scan is that in which torch computes it; "" if it converts
    none."""
    if isinstance(node, Scan):
        rounds = node.combine not in ("max", "min") and _rounds_halves(analysis, node.args[0])
        return "fp32" if rounds else ""
    if isinstance(node, Index):
        return {"int": "i64", "real": "fp64"}.get(analysis.facts.of(node.expr).kind, "")
    return "" if node.bitcast else analysis.dtype(node.arg)


def _rounds_halves(analysis: Analysis, position: int) -> bool:
    """Whether what torch computes in fp32 of a value becomes one of 16 bits."""
    return analysis.dtype(position) in HALVES and not analysis.graph.schedules[0].upcast


def _rounds(analysis: Analysis, node: Node) -> bool:
    """Whether a node ends in a conversion to a float that rounds."""
    if isinstance(node, Pointwise):
        return node.op == "mul_add" and _rounds_halves(analysis, node.args[0])
    if not isinstance(node, Cast | Index | Scan):
        return False
    source, dtype = _source(analysis, node), _made(analysis, node)
    return dtype in FLOATS and bool(source) and not _holds(dtype, source)


def _unrounded_sum(analysis: Analysis, node: Pointwise) -> Result:
    """The same of a product and sum of halves, which are formed in fp32: of what comes into them, and of the sum."""
    before = any(node.args.count(k) == 1 and _rounds(analysis, one) and _users(analysis, one) == {node}
                 for k in node.args for one in (analysis.nodes[k],))
    joined = _rounds(analysis, node) and (before or _converting(analysis, node) is not None)
    return replace(node, op="add", args=node.args[1:]) if joined else None


def _holds(dtype: str, source: str) -> bool:
    """Whether a float has all numbers of another type."""
    digits = dtype_info(dtype).precision
    if source in FLOATS:
        return source == dtype or (dtype_info(source).precision < digits and dtype not in HALVES)
    return _BITS.get(source, 0) <= digits


def _left_out(analysis: Analysis, node: Cast | Index | Scan) -> Iterator[Changes]:
    """What comes of the value as it is."""
    found = _conversion_left_out(analysis, node)
    if isinstance(found, dict):
        yield found


def _narrowed_outside(analysis: Analysis, node: Cast) -> Result:
    """ptxas 12.8 to 13.4 converts a float that it knows again in each trip of a loop (`F2I.S16 R14, 1`), puts the
    16-bit integer into the lower half of a register (`PRMT R5, R14, 0x7610, R5`) and compares all of that. An integer
    of 32 bits that is cut is whole."""
    graph, places = analysis.graph, equal(analysis, node)
    loops = graph.r is not None and any(one.reduction != "persistent" for one in graph.schedules)
    narrow = node.dtype in _NARROW and not node.bitcast and analysis.dtype(node.arg) in FLOATS
    if not loops or not narrow or any("r" in analysis.domains[k] for k in places):
        return None
    compared = any(isinstance(one := graph.nodes[user], Pointwise) and one.op in COMPARISONS
                   and "r" in analysis.domains[user] for k in places for user in analysis.users[k])
    return dict.fromkeys(places, (Cast(arg=node.arg, dtype="i32"), node)) if compared else None


def _narrow_place(analysis: Analysis, node: Reduce) -> Result:
    """Inductor of torch 2.11 gives the place that argmin or argmax finds the type of what is searched (`tmp2_idx[:,
    None].to(tl.int8)`), which does not hold it in a long row."""
    source, length = analysis.dtype(node.args[0]), analysis.graph.r or 0
    narrow = node.kind in ("argmin", "argmax") and source in _NARROW
    beyond = narrow and length > 2 ** (_BITS[source] - (source[0] == "i"))
    return dict.fromkeys(equal(analysis, node), (Cast(arg=node.args[0], dtype="i32"), node)) if beyond else None


def _place_narrowed(analysis: Analysis, node: Reduce) -> Iterator[Changes]:
    """The place modulo what the type holds."""
    narrowed = node, Cast(arg=0, dtype=analysis.dtype(node.args[0])), Cast(arg=0, dtype=_made(analysis, node))
    yield dict.fromkeys(equal(analysis, node), narrowed)


def _library_step(analysis: Analysis, node: Pointwise) -> Result:
    """torch.compile leaves Triton's `enable_reflect_ftz` on unless `eager_numerics.disable_ftz` is set: to libdevice's
    nextafter, floor and ceil of fp32 subnormal operands are zeros, from which nextafter steps to 2^-126
    (pytorch#185878). Of bf16 those are that are rounded in fp32; trunc and round have no `.ftz`."""
    if node.op == "nextafter":
        return replace(node, op="copysign") if analysis.dtype(node.args[0]) == "fp32" else None
    return replace(node, op="trunc") if analysis.dtype(node.args[0]) in ("fp32", "bf16") else None


def _stepped(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """What libdevice may give."""
    yield dict.fromkeys(equal(analysis, node), replace(node, op=LIBRARY[node.op]))


def _negated_truth(analysis: Analysis, node: Pointwise) -> Result:
    """ptxas 12.8 to 13.4 make a choice of `-cvt.rn(selp 1, 0)`, of single and double precision, between -1.0 and +0.0,
    where the predicate comes of a comparison of what a masked load gives and of the logic behind it. LLVM leaves a
    conversion and a negation where it makes vectors of them for neighbours, and otherwise a choice, which is right."""
    negated = [k for k in node.args if _truth_as_number(analysis, k)]
    if node.op == "truediv":
        found = negated[:1] == [node.args[0]] and _always(analysis, node.args[1], -1)
    else:
        found = bool(negated) and is_negation(analysis, node)
    return replace(node, op="abs", args=negated[:1]) if found else None


def _truth_as_number(analysis: Analysis, position: int) -> bool:
    """Whether a float is 1.0 or +0.0 as it is converted from a truth value, itself or divided by what is always 1."""
    node = analysis.nodes[position]
    if analysis.dtype(position) not in ("fp32", "fp64"):
        return False
    if isinstance(node, Cast):
        return not node.bitcast and not is_float(analysis.dtype(node.arg)) and number(analysis, node.arg) is None and (
            is_truth(analysis, node.arg))
    if not isinstance(node, Pointwise) or node.op not in ("truediv", *ABSOLUTE):
        return False
    made = analysis.dtype(node.args[0]) == "i1" or _truth_as_number(analysis, node.args[0])
    return made and (node.op != "truediv" or _always(analysis, node.args[1], 1))


def _always(analysis: Analysis, position: int, value: float) -> bool:
    found = only_value(analysis, position)
    return found is not None and bool(found[0] == value)


def _without_minus_zero(analysis: Analysis, node: Pointwise) -> Iterator[Changes]:
    """+0.0 for -0.0: the integer as a number."""
    dtype = analysis.dtype(node.args[0])
    yield dict.fromkeys(equal(analysis, node), (node, Cast(arg=0, dtype="i32"), Cast(arg=0, dtype=dtype)))


WIDENED_SIGN = Form(label="signed number made unsigned and wider", kinds=(Cast,), rewritten=_widened_sign,
                    computed=_narrowed)
SPECIALS_AS_BF16 = Form(label="fp8e5 to bf16", kinds=(Cast, Store), rewritten=_specials_as_bf16)
POWER_OF_HALFWORDS = Form(label="power of 16-bit integers", ops=("pow",), rewritten=_power_of_halfwords)
HALF_OF_FEW_BITS = Form(label="half of an integer of few bits", kinds=(Cast,), rewritten=_half_of_few_bits,
                        computed=_not_infinite)
NARROWED_OUTSIDE = Form(label="float as a narrow integer, compared in a loop", kinds=(Cast,),
                        rewritten=_narrowed_outside)
MET_HALF = Form(label="half of an integer of few bits", kinds=(Cast,), rewritten=_met_half)
JOINED_CONVERSIONS = Form(label="conversion of a rounded value", kinds=(Cast, Index, Scan),
                          rewritten=_conversion_left_out, computed=_left_out)
NARROW_PLACE = Form(label="place in a long row of narrow integers", kinds=(Reduce,), rewritten=_narrow_place,
                    computed=_place_narrowed)
LIBRARY_STEP = Form(label="nextafter or floor of fp32", ops=tuple(LIBRARY), rewritten=_library_step, computed=_stepped)
NEGATED_TRUTH = Form(label="negated truth as a number", ops=("truediv", "neg", "sub", "mul"), rewritten=_negated_truth,
                     computed=_without_minus_zero)
CONVERTED_SUM = Form(label="conversion of a rounded value", ops=("mul_add",), rewritten=_unrounded_sum)
