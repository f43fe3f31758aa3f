"""Every pointwise operation of codegen.md §3 in torch, on any device: the second source beside by_numpy.pointwise.

Same contract and same form of answer. Integers are computed on int64, floats in float64, signs and neighbours on bit
patterns; numpy works in the types themselves. Bessel functions are left to mpmath (`by_exact.functions`), because
torch's float64 ones are not accurate enough.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tridiff.oracles.bits import (
    INT64_MAX,
    from_bits,
    is_inf,
    is_nan,
    is_zero,
    magnitude_bits,
    ordered,
    sign_bit,
    to_bits,
    to_float64,
    unsigned_bits,
)
from tridiff.oracles.by_torch import conversions, floats, functions, integer
from tridiff.oracles.by_torch.elementwise import round_to_bf16
from tridiff.oracles.dtypes import DType, dtype, name_of_tensor, torch_dtype
from tridiff.oracles.errors import OracleError
from tridiff.oracles.pointwise import CAST, CONVERT, HALVES, PACKED, meaning, row_of

_Function = Callable[..., Tensor]


def _round(x: Tensor, name: str) -> Tensor:
    """float64 rounded once to a float type."""
    return conversions.convert(x, to=name) if name in HALVES else x.to(torch_dtype(name))


def _narrow(x: Tensor, name: str) -> Tensor:
    """float64 rounded to fp32 and then to a half type, as generated code does; once to fp32 and fp64."""
    if name == "bf16":
        return round_to_bf16(x.to(torch.float32))
    return x.to(torch.float32).to(torch.float16) if name == "fp16" else x.to(torch_dtype(name))


def _by_lane(function: _Function) -> _Function:
    """`function` on tensors of stride 2, which torch's CPU evaluates lane by lane with the C library.

    The vectorised fmod for contiguous fp64 gives NaN for huge quotients.
    """

    def scattered(x: Tensor) -> Tensor:
        return torch.stack([x, x], dim=-1)[..., 0]

    return lambda *inputs: function(*map(scattered, inputs))


def _sqrt(x: Tensor) -> Tensor:
    """Correctly rounded fp64 square root: torch's on the CPU is one ulp off for about 1 % of all values.

    The significand is brought into [0.25, 1), where the root s lies in one binade of spacing u. The root is right
    when |x - s^2| <= s*u; the difference is exact, from the product's rounding error.
    """
    mantissa, exponent = floats.frexp(x)
    odd = (exponent & 1) != 0
    m = torch.where(odd, mantissa / 2, mantissa)
    s = torch.sqrt(m)
    split = s * 134217729.0
    high = split - (split - s)
    low = s - high
    square = s * s
    missing = ((high * high - square) + 2 * high * low) + low * low
    difference = (m - square) - missing
    u = 2.0**-53
    s = torch.where(difference > s * u, s + u, torch.where(difference <= -s * u, s - u, s))
    half = torch.where(odd, exponent + 1, exponent) // 2
    return torch.where(torch.isfinite(x) & (x > 0), s * torch.exp2(half.to(torch.float64)), torch.sqrt(x))


def _ignoring_nan(function: _Function) -> _Function:
    """fmin and fmax: torch's treat signalling NaNs as C does, which is not to ignore them."""

    def extremum(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, function(a, b)))

    return extremum


_fmod = _by_lane(torch.fmod)


def _remainder(a: Tensor, b: Tensor) -> Tensor:
    rest = _fmod(a, b)
    return torch.where((rest != 0) & (torch.signbit(rest) ^ torch.signbit(b)), rest + b, rest)


_EXACT: dict[str, _Function] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "square": lambda x: x * x, "div_rn": torch.div,
    "sqrt_rn": _sqrt, "fmod": _fmod, "remainder": _remainder, "minimum": torch.minimum, "maximum": torch.maximum,
    "fmin": _ignoring_nan(torch.minimum), "fmax": _ignoring_nan(torch.maximum), "relu": torch.relu,
    "clamp": lambda x, low, high: torch.minimum(torch.maximum(x, low), high), "floor": torch.floor, "ceil": torch.ceil,
    "trunc": torch.trunc, "round": torch.round, "sign": torch.sign,
}

_COMPARISONS: dict[str, _Function] = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
}

_LOGIC: dict[str, _Function] = {
    "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "logical_not": torch.logical_not,
}

_CLASSES: dict[str, _Function] = {
    "signbit": sign_bit, "isnan": is_nan, "isinf": is_inf, "isfinite": lambda x: ~(is_nan(x) | is_inf(x)),
}

_SIGNS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "neg": lambda bits, _, sign: bits ^ sign, "abs": lambda bits, _, sign: bits & ~sign,
    "copysign": lambda bits, other, sign: (bits & ~sign) | (other & sign),
}


def _power(base: Tensor, exponent: Tensor, kind: DType) -> Tensor:
    result, factor = torch.ones_like(base), base
    for bit in range(kind.bits - (kind.kind == "int")):
        result = torch.where(((exponent >> bit) & 1) != 0, result * factor, result)
        factor = factor * factor
    if kind.kind == "uint":
        return result
    inverse = torch.where(base == 1, 1, torch.where(base == -1, 1 - 2 * (exponent & 1), 0))
    return torch.where(exponent < 0, inverse, result)


def _shift(op: str, x: Tensor, amount: Tensor, kind: DType) -> Tensor:
    # int64 bits: an unsigned 64-bit amount from 2^63 on reads as negative, which is out of range all the same.
    inside = (amount >= 0) & (amount < kind.bits)
    by = torch.where(inside, amount, 0)
    if op == "left_shift":
        return torch.where(inside, x << by, 0)
    if kind.name == "u64":
        logical = torch.where(by == 0, x, ((x >> 1) & INT64_MAX) >> (by - 1).clamp_min(0))
        return torch.where(inside, logical, 0)
    return torch.where(inside, x >> by, torch.where(x < 0, -1, 0))


def _extremum(op: str, a: Tensor, b: Tensor, kind: DType) -> Tensor:
    # u64 orders by its bits with the top one flipped.
    flip = torch.iinfo(torch.int64).min if kind.name == "u64" else 0
    smaller = (a ^ flip) < (b ^ flip)
    return torch.where(smaller == (op in ("minimum", "fmin")), a, b)


def _integer(op: str, inputs: tuple[Tensor, ...], kind: DType) -> Tensor:
    by_division = {"floor_divide": integer.div_floor_integer, "trunc_divide": integer.div_trunc,
                   "remainder": integer.remainder_integer, "fmod": integer.rem_trunc}
    if op in by_division:
        return by_division[op](*inputs)
    wide = tuple(integer.widen(x) for x in inputs)
    if op in _COMPARISONS:
        flip = torch.iinfo(torch.int64).min if kind.name == "u64" else 0
        return _COMPARISONS[op](*(x ^ flip for x in wide))
    if op in _LOGIC:
        return _LOGIC[op](*(x != 0 for x in wide))
    return integer.narrow(_integer_value(op, wide, kind), kind)


def _integer_value(op: str, wide: tuple[Tensor, ...], kind: DType) -> Tensor:
    if op in ("minimum", "maximum", "fmin", "fmax"):
        return _extremum(op, wide[0], wide[1], kind)
    if op in ("left_shift", "right_shift"):
        return _shift(op, wide[0], wide[1], kind)
    if op == "pow":
        return _power(wide[0], wide[1], kind)
    if op == "clamp":
        return _extremum("minimum", _extremum("maximum", wide[0], wide[1], kind), wide[2], kind)
    x = wide[0]
    unsigned = kind.kind == "uint"
    simple: dict[str, Callable[[], Tensor]] = {
        "add": lambda: x + wide[1], "sub": lambda: x - wide[1], "mul": lambda: x * wide[1], "neg": lambda: -x,
        "square": lambda: x * x, "mul_add": lambda: x * wide[1] + wide[2],
        "relu": lambda: x if unsigned else x.clamp_min(0), "bitwise_and": lambda: x & wide[1],
        "bitwise_or": lambda: x | wide[1], "bitwise_xor": lambda: x ^ wide[1], "bitwise_not": lambda: ~x,
        "abs": lambda: x if unsigned else x.abs(), "sign": lambda: (x != 0).to(torch.int64) if unsigned else x.sign(),
    }
    if op not in simple:
        raise OracleError(f"torch has no {op!r} for {kind.name}; add it to tridiff.oracles.by_torch.pointwise")
    return simple[op]()


def _boolean(op: str, inputs: tuple[Tensor, ...]) -> Tensor:
    table: dict[str, _Function] = {
        "add": torch.bitwise_or, "mul": torch.bitwise_and, "bitwise_and": torch.bitwise_and,
        "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor, "bitwise_not": torch.bitwise_not,
        "eq": torch.eq, "ne": torch.ne, **_LOGIC,
    }  # fmt: skip
    if op not in table:
        raise OracleError(f"torch has no {op!r} for i1; add it to tridiff.oracles.by_torch.pointwise")
    return table[op](*inputs)


def _nextafter(x: Tensor, y: Tensor, *, name: str) -> Tensor:
    """One step along the ordered keys."""
    here, there = ordered(x), ordered(y)
    key = here + (there > here).to(torch.int64) - (there < here).to(torch.int64)
    sign = -(1 << (dtype(name).bits - 1))
    bits = torch.where(key < 0, -key | sign, key)
    # A step that ends at zero keeps the sign it came from; equal operands give the second.
    bits = torch.where((key == 0) & (here < 0), torch.full_like(bits, sign), bits)
    signed = to_bits(x).dtype
    stepped = torch.where(here == there, to_bits(y), bits.to(signed))
    stepped = torch.where(is_nan(x), to_bits(x), torch.where(is_nan(y), to_bits(y), stepped))
    return from_bits(stepped, name)


def _two_sum_to_odd(a: Tensor, b: Tensor) -> Tensor:
    """a + b rounded to odd in float64, so that one narrower rounding follows correctly."""
    total = a + b
    virtual = total - a
    error = (a - (total - virtual)) + (b - virtual)
    bits = to_bits(total)
    step = torch.where((error > 0) == (total > 0), 1, -1)
    adjust = ((bits & 1) == 0) & (error != 0) & torch.isfinite(total) & torch.isfinite(error)
    return from_bits(torch.where(adjust, bits + step, bits), "fp64")


def _fused(inputs: tuple[Tensor, ...], name: str) -> Tensor:
    if name == "fp64":
        raise OracleError("torch has no fused fp64 multiply-add; use tridiff.oracles.by_exact.functions")
    a, b, c = (to_float64(x) for x in inputs)
    return _narrow(_two_sum_to_odd(a * b, c), name)


def _mul_add(inputs: tuple[Tensor, ...], name: str) -> Tensor:
    wide = torch.float64 if name == "fp64" else torch.float32
    a, b, c = (x.to(wide) for x in inputs)
    separate = _round((a * b + c).to(torch.float64), name)
    return separate.unsqueeze(0) if name == "fp64" else torch.stack([_fused(inputs, name), separate])


def _quotients(op: str, inputs: tuple[Tensor, ...], name: str) -> Tensor:
    computed = torch.float64 if name == "fp64" else torch.float32
    a, b = (x.to(computed) for x in inputs)
    x, y = (to_float64(one) for one in inputs)
    if op == "floor_divide":
        first, wide = torch.floor_divide(a, b), torch.floor_divide(x, y)
    else:
        first = torch.trunc(a / b)
        # The remainder is exact, so what is left divides evenly up to one rounding.
        whole = torch.round((x - _fmod(x, y)) / y)
        wide = torch.where(torch.isfinite(whole) & (whole != 0), whole, first.to(torch.float64))
        zero = torch.copysign(torch.zeros_like(wide), wide)
        wide = torch.where(torch.isfinite(wide) & (whole == 0), zero, wide)
    return torch.stack([_round(first.to(torch.float64), name), _round(wide, name)])


def _frexp_fields(op: str, x: Tensor) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    mantissa, exponent = floats.frexp(wide)
    if op == "frexp_mantissa":
        return mantissa.to(x.dtype)
    if op == "frexp_exponent":
        return exponent
    limits = torch.iinfo(torch.int32)
    result = torch.where(is_inf(wide), limits.max, exponent - 1)
    return torch.where(is_zero(wide) | is_nan(wide), limits.min, result).to(torch.int32)


def _ldexp(x: Tensor, exponent: Tensor, name: str) -> Tensor:
    """Two exact multiplications by powers of two and one that rounds."""
    wide = to_float64(x)
    if name != "fp64":
        limited = exponent.clamp(-400, 400).to(torch.float64)
        return _narrow(wide * torch.exp2(limited), name)
    # Normalise first, so that only the last step may be inexact.
    mantissa, own = floats.frexp(wide)
    total = (own.to(torch.int64) + exponent.to(torch.int64)).clamp(-1200, 1100)
    near = total.clamp(-1000, 1000)
    result = mantissa * torch.exp2(near.to(torch.float64)) * torch.exp2((total - near).to(torch.float64))
    return torch.where(torch.isfinite(wide) & (wide != 0), result, wide)


def _float(op: str, inputs: tuple[Tensor, ...], name: str) -> Tensor:
    wide = tuple(to_float64(x) for x in inputs)
    if op in _EXACT:
        return _round(_EXACT[op](*wide), name)
    if op in _COMPARISONS:
        return _COMPARISONS[op](*wide)
    if op in _LOGIC:
        return _LOGIC[op](*(~is_zero(x) for x in inputs))
    if op in _CLASSES:
        return _CLASSES[op](inputs[0])
    if op in _SIGNS:
        sign = -(1 << (dtype(name).bits - 1))
        return from_bits(_SIGNS[op](to_bits(inputs[0]), to_bits(inputs[-1]), sign), name)
    if op == "fma":
        return _fused(inputs, name)
    if op == "mul_add":
        return _mul_add(inputs, name)
    if op in ("floor_divide", "trunc_divide"):
        return _quotients(op, inputs, name)
    if op in ("frexp_mantissa", "frexp_exponent", "ilogb"):
        return _frexp_fields(op, inputs[0])
    if op == "llrint":
        rounded = torch.round(wide[0])
        return torch.where((rounded >= -(2.0**63)) & (rounded < 2.0**63), rounded, 0.0).to(torch.int64)
    if op == "nextafter":
        return _nextafter(*inputs, name=name)
    if op == "sqrt":
        return _sqrt(wide[0])
    if op == "hypot":  # signalling NaNs beside an infinity
        return functions.evaluate(op, *(torch.where(torch.isnan(x), torch.nan, x) for x in wide))
    value = functions.evaluate(row_of(op, name), *inputs)
    if op in ("i0", "i1"):  # torch has NaN at infinity, and no sign of zero
        value = torch.where(torch.isinf(wide[0]), wide[0].abs() if op == "i0" else wide[0], value)
        value = torch.where(wide[0] == 0, wide[0], value) if op == "i1" else value
    return value


def evaluate(op: str, *inputs: Tensor) -> Tensor:
    """The answer of `op` at equally shaped inputs on their device, in the form of by_numpy.pointwise."""
    op = meaning(op)
    kind = dtype(name_of_tensor(inputs[0]))
    if op.startswith(CONVERT):
        return _converted(inputs[0], op.removeprefix(CONVERT))
    if op.startswith(CAST):
        return from_bits(to_bits(inputs[0]), op.removeprefix(CAST))
    if op.startswith(PACKED):
        return _packed(op, inputs)
    if op == "where":
        name = name_of_tensor(inputs[1])
        return from_bits(torch.where(inputs[0], to_bits(inputs[1]), to_bits(inputs[2])), name)
    if op == "ldexp":
        return _ldexp(inputs[0], inputs[1], kind.name)
    if kind.is_float:
        return _float(op, inputs, kind.name)
    if op == "truediv":
        quotient = (conversions.convert(x, to="fp32").to(torch.float64) for x in inputs)
        return torch.div(*quotient)
    if op == "signbit":
        return sign_bit(inputs[0])
    return _boolean(op, inputs) if kind.kind == "bool" else _integer(op, inputs, kind)


def _packed(op: str, inputs: tuple[Tensor, ...]) -> Tensor:
    width = dtype(name_of_tensor(inputs[0])).bits
    if op == "pack_value_flag":
        word = unsigned_bits(inputs[0]) * (1 << width) + unsigned_bits(inputs[1])
        return integer.narrow(word, dtype(f"u{2 * width}"))
    half = width // 2
    if op == "unpack_flag":
        return integer.narrow(integer.widen(inputs[0]), dtype(f"u{half}"))
    bits = integer.narrow(integer.widen(inputs[0]) >> half, dtype(f"u{half}"))
    return from_bits(to_bits(bits), op.removeprefix("unpack_value_"))


def _converted(x: Tensor, target: str) -> Tensor:
    result = conversions.convert(x, to=target)
    if target != "fp8e5":
        return result
    limit = torch.full_like(magnitude_bits(result), dtype(target).infinity_bits - 1)
    saturated = from_bits((to_bits(result) & -128) | limit, target)
    other = torch.where(is_inf(result), to_bits(saturated), to_bits(result))
    return from_bits(torch.stack([to_bits(result), other]), target)


def defined(op: str, *inputs: Tensor) -> Tensor:
    """False where the contract leaves the result open; as in by_numpy.pointwise."""
    same, kind = meaning(op), dtype(name_of_tensor(inputs[0]))
    first = inputs[0]
    everywhere = torch.ones(first.shape, dtype=torch.bool, device=first.device)
    if same.startswith(CONVERT):
        return conversions.convert_defined(first, to=same.removeprefix(CONVERT))
    if same == "llrint":
        rounded = to_float64(first).round()
        return (rounded >= -(2.0**63)) & (rounded < 2.0**63)
    if kind.is_integer and same in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        nonzero = integer.division_defined(*inputs)
        if op.endswith("_operator") and kind.kind == "int":
            return nonzero & ~((integer.widen(first) == int(kind.min)) & (integer.widen(inputs[1]) == -1))
        return nonzero
    if kind.is_integer and op in ("left_shift_operator", "right_shift_operator"):
        amount = integer.widen(inputs[1])
        return (amount >= 0) & (amount < kind.bits)
    if kind.kind == "int" and op == "abs_tl":
        return integer.widen(first) != int(kind.min)
    if kind.is_float and op == "mod_operator":
        quotient = (to_float64(first) / to_float64(inputs[1])).abs()
        limit = 2.0**51 if kind.name == "fp64" else 2.0**22
        return ~(quotient >= limit) | is_inf(first)
    return everywhere
