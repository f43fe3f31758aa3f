"""Device functions of the judge kernels: decode patterns, measure errors, classify. Integers and fp64 only.

Nothing here is shared with what is judged: operands are decoded from their bit patterns with integer arithmetic, not
with Triton's conversions, and results are compared as integers on the ordered line of their type, on which
neighbouring values are one apart and ±0 coincide. fp64 patterns are the same line at a finer scale, so an unrounded
fp64 reference has a position between the results' positions; distances are int64 and exact.
"""

import triton
import triton.language as tl

from tridiff.kernels.helpers.libdevice import libdevice

# Class codes, as the sweeps name them.
AGREE = tl.constexpr(0)
VALUE = tl.constexpr(1)
NAN_MISSING = tl.constexpr(2)
NAN_UNEXPECTED = tl.constexpr(3)
INF = tl.constexpr(4)
ZERO_SIGN = tl.constexpr(5)
FLUSHED = tl.constexpr(6)
SUBNORMAL_OPERAND = tl.constexpr(7)
UNDEFINED = tl.constexpr(8)
NEAR = tl.constexpr(9)


@triton.jit
def magnitude_of(pattern, WIDTH: tl.constexpr):
    """The pattern without its sign bit."""
    mask: tl.constexpr = (1 << (WIDTH - 1)) - 1
    return pattern & mask


@triton.jit
def decode(pattern, MANTISSA: tl.constexpr, EXPONENT: tl.constexpr, INFINITY: tl.constexpr, HAS_INF: tl.constexpr):
    """The fp64 value of a narrower float's pattern (int64); exact. NaNs become NaNs of the same sign."""
    width: tl.constexpr = 1 + EXPONENT + MANTISSA
    bias: tl.constexpr = (1 << (EXPONENT - 1)) - 1
    shift: tl.constexpr = 52 - MANTISSA
    rebias: tl.constexpr = (1023 - bias) << 52
    quantum: tl.constexpr = 2.0 ** (1 - bias - MANTISSA)
    normal: tl.constexpr = 1 << MANTISSA
    special: tl.constexpr = 0x7FF0000000000000
    magnitude = magnitude_of(pattern, width)
    bits = (magnitude << shift) + rebias
    # A subnormal is an integer times the smallest one.
    bits = tl.where(magnitude < normal, (magnitude.to(tl.float64) * quantum).to(tl.int64, bitcast=True), bits)
    bits = tl.where(magnitude > INFINITY, special | (1 << 51), bits)
    if HAS_INF:
        bits = tl.where(magnitude == INFINITY, special, bits)
    return (bits | ((pattern >> (width - 1)) << 63)).to(tl.float64, bitcast=True)


@triton.jit
def sign_extended(pattern, WIDTH: tl.constexpr):
    """The value of a two's complement pattern."""
    sign: tl.constexpr = 1 << (WIDTH - 1)
    return (pattern ^ sign) - sign


@triton.jit
def is_subnormal(pattern, WIDTH: tl.constexpr, MANTISSA: tl.constexpr):
    """True where a float pattern is subnormal."""
    normal: tl.constexpr = 1 << MANTISSA
    magnitude = magnitude_of(pattern, WIDTH)
    return (magnitude > 0) & (magnitude < normal)


@triton.jit
def position(reference, MANTISSA: tl.constexpr, EXPONENT: tl.constexpr):
    """Where |reference| lies on the ordered line of a narrower type, in steps of 2**(MANTISSA - 52) ulp, as int64.

    Below the smallest normal the line is linear in the value; what a step cannot show makes the last bit odd.
    """
    bias: tl.constexpr = (1 << (EXPONENT - 1)) - 1
    rebias: tl.constexpr = (1023 - bias) << 52
    smallest_normal: tl.constexpr = (1023 - bias + 1) << 52
    # Subnormal line: |reference| * 2**(bias - 1 + 52) steps.
    scale: tl.constexpr = 2.0 ** (bias + 51)
    bits = reference.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF
    small = bits < smallest_normal
    scaled = tl.where(small, bits, 0).to(tl.float64, bitcast=True) * scale
    whole = scaled.to(tl.int64)
    sticky = (whole.to(tl.float64) != scaled).to(tl.int64)
    return tl.where(small, whole | sticky, bits - rebias)


@triton.jit
def judge_float(
    pattern, reference, tolerance, slack, subnormal_operand,
    MANTISSA: tl.constexpr, EXPONENT: tl.constexpr, INFINITY: tl.constexpr, HAS_INF: tl.constexpr,
    EXACT: tl.constexpr, SIGNED_ZERO: tl.constexpr, SATURATES: tl.constexpr,
):  # fmt: skip
    """(class code int32, error fp32 in ulps) of a result's pattern (int64) against an unrounded fp64 reference.

    tolerance: allowed error in ulps including the half of the rounding (fp32 block). slack: absolute error allowed
    instead, fp64. EXACT: only the nearest value is right, ties to even. SATURATES: 0 overflow gives infinity, 1 the
    largest value, 2 either. The error is 0 where either side is NaN or infinite, where
    an absolute error is allowed, and where zero stands for a subnormal and is right all the same.
    """
    width: tl.constexpr = 1 + EXPONENT + MANTISSA
    shift: tl.constexpr = 52 - MANTISSA
    half: tl.constexpr = 1 << (shift - 1)
    infinite: tl.constexpr = INFINITY << shift
    normal: tl.constexpr = 1 << MANTISSA
    ulps: tl.constexpr = 2.0 ** (MANTISSA - 52)

    bits = reference.to(tl.int64, bitcast=True)
    magnitude = magnitude_of(pattern, width)
    there = position(reference, MANTISSA, EXPONENT)
    here = magnitude << shift
    same_sign = (pattern >> (width - 1)) == ((bits >> 63) & 1)
    want_nan = reference != reference
    got_nan = magnitude > INFINITY

    if SATURATES == 1:
        there = tl.minimum(there, infinite)
        overflows = there < 0
        got_inf = there < 0
    else:
        overflows = there >= infinite - half
        got_inf = magnitude == INFINITY
        if SATURATES == 2:
            largest: tl.constexpr = (INFINITY - 1) << shift
            there = tl.where(overflows, tl.where(got_inf, infinite, largest), there)
        else:
            # An infinite result for a value that rounds to infinity is right, however large the value is.
            there = tl.where(got_inf & overflows, infinite, there)
    distance = tl.where(same_sign, tl.abs(here - there), here + there)
    if EXACT:
        near = (distance < half) | ((distance == half) & ((magnitude & 1) == 0))
    else:
        near = distance.to(tl.float64) * ulps <= tolerance
    # An absolute error counts on top of the rounding's half ulp, which is taken off the distance first.
    beyond = tl.maximum(distance.to(tl.float64) * ulps - 0.5, 0.0) / tl.maximum(distance.to(tl.float64) * ulps, 0.5)
    got = decode(pattern, MANTISSA, EXPONENT, INFINITY, HAS_INF)
    near = near | ((slack > 0) & (tl.abs(got - reference) * beyond <= slack))
    special = want_nan | got_nan | got_inf | overflows
    flushed = (magnitude == 0) & same_sign & (there > 0) & (there < (normal << shift))
    unmeasured = special | (slack > 0) & near | flushed & near & (distance > half)
    error = tl.where(unmeasured, 0.0, (distance.to(tl.float64) * ulps)).to(tl.float32)

    code = tl.where(near, AGREE, VALUE)
    if HAS_INF and SATURATES != 1:
        code = tl.where((code == VALUE) & (got_inf | overflows), INF, code)
    if SIGNED_ZERO:
        code = tl.where((code == AGREE) & (magnitude == 0) & ~same_sign, ZERO_SIGN, code)
    code = tl.where((code == VALUE) & flushed, FLUSHED, code)
    code = tl.where(want_nan & got_nan, AGREE, code)
    code = tl.where(want_nan & ~got_nan, NAN_MISSING, code)
    code = tl.where(~want_nan & got_nan, NAN_UNEXPECTED, code)
    wrong = (code != AGREE) & (code != FLUSHED)
    code = tl.where(wrong & subnormal_operand, SUBNORMAL_OPERAND, code)
    if not EXACT:
        code = tl.where((code == AGREE) & (error > 0.5 * tolerance), NEAR, code)
    return code.to(tl.int32), error


@triton.jit
def judge_bits(pattern, reference, subnormal_operand, WIDTH: tl.constexpr):
    """(class code, distance fp32) of a result compared by its bits; both int64, reduced to WIDTH bits."""
    if WIDTH == 64:
        difference = pattern - reference
    else:
        mask: tl.constexpr = (1 << WIDTH) - 1
        difference = (pattern & mask) - (reference & mask)
    code = tl.where(difference == 0, AGREE, tl.where(subnormal_operand, SUBNORMAL_OPERAND, VALUE))
    return code.to(tl.int32), tl.abs(difference.to(tl.float64)).to(tl.float32)


@triton.jit
def judge_wide(pattern, reference, subnormal_operand):
    """(class code, 0) of an exact fp64 result (its pattern) against the fp64 reference: same number, or both NaN."""
    value = pattern.to(tl.float64, bitcast=True)
    same = (pattern == reference.to(tl.int64, bitcast=True)) | ((value != value) & (reference != reference))
    code = tl.where(same, AGREE, tl.where(subnormal_operand, SUBNORMAL_OPERAND, VALUE))
    code = tl.where((value == 0) & (reference == 0) & ~same, ZERO_SIGN, code)
    return code.to(tl.int32), (pattern * 0).to(tl.float32)


@triton.jit
def round_to_fp32(x):
    """fp64 rounded to the nearest fp32 value, ties to even, still fp64."""
    bits = x.to(tl.int64, bitcast=True)
    sign = bits & -0x8000000000000000
    magnitude = bits & 0x7FFFFFFFFFFFFFFF
    even = (magnitude >> 29) & 1
    normal = (magnitude + 0xFFFFFFF + even) & -0x20000000
    # Below 2**-126 the spacing is 2**-149; a number of this size added and taken away rounds to it.
    grid: tl.constexpr = 1.5 * 2.0 ** (52 - 149)
    size = magnitude.to(tl.float64, bitcast=True)
    small = (tl.where(size < 1.0, size, 0.0) + grid - grid).to(tl.int64, bitcast=True)
    rounded = tl.where(magnitude < (897 << 52), small, normal)
    rounded = tl.where(rounded >= (1151 << 52), 0x7FF0000000000000, rounded)
    rounded = tl.where(x != x, 0x7FF8000000000000, rounded)
    return (rounded | sign).to(tl.float64, bitcast=True)


@triton.jit
def floor_quotient(a, b):
    """floor(a / b) of integers up to 32 bits, through fp64: no quotient is so close to an integer as to round to it."""
    safe = tl.where(b == 0, 1, b)
    return libdevice.floor(a.to(tl.float64) / safe.to(tl.float64)).to(tl.int64)


@triton.jit
def trunc_quotient(a, b):
    """As `floor_quotient`, toward zero."""
    safe = tl.where(b == 0, 1, b)
    return libdevice.trunc(a.to(tl.float64) / safe.to(tl.float64)).to(tl.int64)


@triton.jit
def integer_power(base, exponent, WIDTH: tl.constexpr, SIGNED: tl.constexpr):
    """base ** exponent modulo 2**64, from the top bit of the exponent down."""
    result = base * 0 + 1
    for step in range(WIDTH):
        result = result * result
        result = tl.where(((exponent >> (WIDTH - 1 - step)) & 1) != 0, result * base, result)
    if SIGNED:
        alternating = 1 - 2 * (exponent & 1)
        inverse = tl.where(base == 1, 1, tl.where(base == -1, alternating, 0))
        return tl.where(exponent < 0, inverse, result)
    else:
        return result


@triton.jit
def left_shift(x, amount, WIDTH: tl.constexpr):
    """x << amount; 0 for amounts that are negative or not below WIDTH."""
    inside = (amount >= 0) & (amount < WIDTH)
    return tl.where(inside, x << tl.where(inside, amount, 0), 0)


@triton.jit
def right_shift(x, amount, WIDTH: tl.constexpr):
    """x >> amount of a sign- or zero-extended value; nothing but the sign for other amounts."""
    inside = (amount >= 0) & (amount < WIDTH)
    return x >> tl.where(inside, amount, 63)


@triton.jit
def remainder(a, b):
    """a - b * floor(a / b) in fp64, from the exact fmod."""
    rest = libdevice.fmod(a, b)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def whole_quotient(a, b, FLOOR: tl.constexpr):
    """floor or trunc of the true quotient of two narrower floats, correctly rounded to fp64; a / b where b is 0."""
    rest = libdevice.fmod(a, b)
    whole = libdevice.nearbyint((a - rest) / b)
    if FLOOR:
        whole = tl.where((rest != 0) & ((rest < 0) != (b < 0)), whole - 1.0, whole)
    else:
        whole = tl.where(libdevice.isinf(a / b) != 0, a / b, whole)
        # Dividing an infinity by a number is defined here, unlike for floor division.
        whole = tl.where((a - a != 0) & (a == a), a / b, whole)
    zero = libdevice.copysign(whole * 0.0, a / b)
    whole = tl.where(whole == 0, zero, whole)
    return tl.where(b == 0, a / b, whole)


@triton.jit
def hypot(a, b):
    """sqrt(a*a + b*b); squares of narrower floats neither overflow nor vanish in fp64."""
    infinite = (libdevice.isinf(a) != 0) | (libdevice.isinf(b) != 0)
    return tl.where(infinite, float("inf"), libdevice.sqrt(a * a + b * b))


@triton.jit
def power_of_two(exponent):
    """2.0 ** exponent in fp64, exponents limited to ±500."""
    limited = tl.minimum(tl.maximum(exponent, -500), 500)
    return ((limited + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def frexp_exponent(a):
    """The exponent that brings |a| into [0.5, 1); 0 for zeros, infinities and NaN. a: a narrower float in fp64."""
    bits = a.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF
    regular = (bits != 0) & (bits < 0x7FF0000000000000)
    return tl.where(regular, (bits >> 52) - 1022, 0)


@triton.jit
def frexp_mantissa(a):
    """a with |result| in [0.5, 1); zeros, infinities and NaN unchanged."""
    bits = a.to(tl.int64, bitcast=True)
    magnitude = bits & 0x7FFFFFFFFFFFFFFF
    regular = (magnitude != 0) & (magnitude < 0x7FF0000000000000)
    scaled = (bits & -0x7FF0000000000001) | 0x3FE0000000000000
    return tl.where(regular, scaled, bits).to(tl.float64, bitcast=True)


@triton.jit
def ilogb(a):
    """The unbiased exponent; the smallest i32 for 0 and NaN, the largest for infinities."""
    exponent = frexp_exponent(a) - 1
    exponent = tl.where(libdevice.isinf(a) != 0, 2147483647, exponent)
    return tl.where((a == 0) | (a != a), -2147483648, exponent)


@triton.jit
def next_toward(pattern, other, x, y, WIDTH: tl.constexpr):
    """The pattern of the neighbour of x toward y on the ordered line; y's own where they are equal.

    pattern, other: their patterns (int64). NaN where either is NaN is left to the caller.
    """
    sign: tl.constexpr = 1 << (WIDTH - 1)
    negative = pattern >= sign
    key = tl.where(negative, -magnitude_of(pattern, WIDTH), pattern)
    stepped = key + (y > x).to(tl.int64) - (y < x).to(tl.int64)
    back_to_zero = (stepped == 0) & (key < 0)
    coded = tl.where((stepped < 0) | back_to_zero, sign - stepped, stepped)
    return tl.where(x == y, other, coded)


@triton.jit
def tally(counter, slot):
    """counter with 1 added in the 8-bit field `slot` (0 to 7) of each lane."""
    return counter + (tl.full(counter.shape, 1, tl.int64) << (slot.to(tl.int64) * 8))


@triton.jit
def tallied(counter, SLOT: tl.constexpr):
    """The sum over all lanes of the 8-bit field SLOT."""
    return tl.sum((counter >> (SLOT * 8)) & 255, axis=0).to(tl.int32)


@triton.jit
def error_bin(error):
    """0 up to half an ulp, 1 up to 1, 2 up to 2, 3 up to 4, 4 up to 8, 5 up to 64, 6 up to 65536, 7 beyond."""
    bin = (error > 0.5).to(tl.int32) + (error > 1.0).to(tl.int32) + (error > 2.0).to(tl.int32)
    bin += (error > 4.0).to(tl.int32) + (error > 8.0).to(tl.int32) + (error > 64.0).to(tl.int32)
    return bin + (error > 65536.0).to(tl.int32)
