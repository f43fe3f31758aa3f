"""What Inductor's helpers and its single float operations put in place of right elements: their texts, in torch."""

from collections.abc import Callable

import torch

from tridiff.fuzz.known.issue import Masks, Wrong, predicting
from tridiff.fuzz.known.predictions.consistency import where_it_shows
from tridiff.oracles.bits import is_nan, is_subnormal, is_zero, sign_bit, to_bits

LEAST = -(2**31)
LARGEST_E5M2 = 57344.0


def same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Equal bits, or both NaN."""
    return (to_bits(one) == to_bits(other)) | (is_nan(one) & is_nan(other))


def frexp_exponent(seen: Wrong, output: str = "exponent") -> Masks:
    """The exponent of a NaN or an infinity is one more than ilogb's, which wraps: -2^31 + 1, or -2^31."""
    if output not in seen.wrong:
        return {}
    a, actual = seen.inputs["a"], seen.actual[output]
    return {output: torch.where(is_nan(a), actual == LEAST + 1, a.isinf() & (actual == LEAST))}


def frexp_sign(seen: Wrong, output: str = "mantissa") -> Masks:
    """The mantissa of -0.0 is +0.0."""
    if output not in seen.wrong:
        return {}
    negative = is_zero(seen.inputs["a"]) & sign_bit(seen.inputs["a"])
    return {output: where_it_shows(negative & (to_bits(seen.actual[output]) == 0), negative)}


def frexp_subnormal(seen: Wrong, mantissa: str = "mantissa", exponent: str = "exponent") -> Masks:
    """fp32 subnormals are zero to libdevice's ilogb: the exponent is -2^31 + 1, or 0 where the helper asks for zero
    itself; the mantissa is the operand scaled by that, which is twice the operand, a zero, or an infinity. mantissa,
    exponent: names of the outputs, "" for none."""
    a = seen.inputs["a"]
    small = is_subnormal(a)
    found: Masks = {}
    if exponent in seen.wrong:
        given = seen.actual[exponent]
        found[exponent] = small & ((given == LEAST + 1) | (given == 0))
    if mantissa in seen.wrong:
        given = seen.actual[mantissa]
        found[mantissa] = small & ((given == 2 * a) | is_zero(given) | given.isinf() | (to_bits(given) == to_bits(a)))
    return found


def compiled_frexp_exponent(seen: Wrong) -> Masks:
    """`frexp_exponent` of torch.compile."""
    return frexp_exponent(seen, "out")


def compiled_frexp_sign(seen: Wrong) -> Masks:
    """`frexp_sign` of torch.compile."""
    return frexp_sign(seen, "out")


def compiled_frexp_subnormal(seen: Wrong) -> Masks:
    """`frexp_subnormal` of torch.compile, of which one part is asked for."""
    if seen.case.params["op"] == "frexp_mantissa":
        return frexp_subnormal(seen, "out", "")
    return frexp_subnormal(seen, "", "out")


@predicting("out")
def promoted_zero(seen: Wrong) -> torch.Tensor:
    """x + 0: +0.0 for -0.0."""
    negative = is_zero(seen.inputs["a"]) & sign_bit(seen.inputs["a"])
    return where_it_shows(negative & (to_bits(seen.actual["out"]) == 0), negative)


@predicting("facts")
def promoted_bf16(seen: Wrong) -> torch.Tensor:
    """x + 0 is fp32: of the facts about the result, that the type is kept is false, and the bits are 32."""
    expected, actual = seen.expected["facts"].clone(), seen.actual["facts"]
    expected[0], expected[2] = 0, 32
    return expected == actual


@predicting("out")
def saturated_fp8e5(seen: Wrong) -> torch.Tensor:
    """Overflow to fp8e5 gives the largest finite number of the same sign."""
    a, actual = seen.inputs["a"].double(), seen.actual["out"].float().double()
    return (a.abs() > LARGEST_E5M2) & (actual == torch.copysign(torch.full_like(a, LARGEST_E5M2), a))


def around(center: torch.Tensor, *, steps: int) -> list[torch.Tensor]:
    """`center` and its neighbours, `steps` to either side."""
    found = [center]
    for end in (float("inf"), float("-inf")):
        one = center
        for _ in range(steps):
            one = torch.nextafter(one, torch.full_like(one, end))
            found.append(one)
    return found


def _any(actual: torch.Tensor, possible: list[torch.Tensor],
         alike: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = same) -> torch.Tensor:
    found = torch.zeros(actual.shape, dtype=torch.bool, device=actual.device)
    for one in possible:
        found |= alike(actual, one)
    return found


@predicting("out")
def unrounded_chain(seen: Wrong) -> torch.Tensor:
    """a * b / b of halves in fp32, whose quotient is within two steps, rounded once."""
    a, b, actual = seen.inputs["a"], seen.inputs["b"], seen.actual["out"]
    quotient = a.float() * b.float() / b.float()
    return _any(actual, [one.to(actual.dtype) for one in around(quotient, steps=2)])


@predicting("out")
def folded_to_zero(seen: Wrong) -> torch.Tensor:
    """A product with the integer 0, or 0 / x, is the constant +0."""
    zero = to_bits(seen.actual["out"]) == 0
    return where_it_shows(zero, torch.ones_like(zero))


@predicting("out")
def floor_of_quotient(seen: Wrong) -> torch.Tensor:
    """floor(a / b), whose quotient is rounded first; in fp32 it is within two steps, and subnormals may count as 0."""
    a, b, actual = seen.inputs["a"], seen.inputs["b"], seen.actual["out"]
    possible = around(a / b, steps=2) if a.dtype == torch.float32 else [a / b]
    if a.dtype == torch.float32:
        possible += around(_flushed(a) / _flushed(b), steps=2)
        possible += [_flushed(one) for one in possible]

    def alike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return (one == other) | (is_nan(one) & is_nan(other))

    return _any(actual, [one.floor() for one in possible], alike)


@predicting("out")
def rounded_quotient_cut_off(seen: Wrong) -> torch.Tensor:
    """trunc(a / b) of an fp32 quotient within two steps, of the sign that it has; infinities and NaN are exact."""
    quotient, actual = seen.inputs["a"] / seen.inputs["b"], seen.actual["out"]
    near = _any(actual, [one.trunc() for one in around(quotient, steps=2)])
    return near & quotient.isfinite() & (sign_bit(actual) == sign_bit(quotient))


def _flushed(x: torch.Tensor) -> torch.Tensor:
    return torch.where(is_subnormal(x), torch.copysign(torch.zeros_like(x), x), x)


@predicting("out")
def unmoved_half(seen: Wrong) -> torch.Tensor:
    """nextafter of halves steps in fp32 and rounds back: to the operand, or to a zero of the step's sign. Where
    libdevice flushes subnormal numbers, the step from zero is to the smallest normal one of fp32, and back."""
    a, b = (seen.inputs[name].float() for name in ("a", "b"))
    steps, kind = (torch.nextafter(a, b), _flushed(library_step(a, b))), seen.inputs["a"].dtype
    return _any(seen.actual["out"], [one.to(kind) for one in steps])


def library_step(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """libdevice's nextafter of fp32, as PTX has it with `nvvm-reflect-ftz`: subnormal operands are zeros, from which
    the step is to the smallest normal number; the step back is to the largest subnormal one."""
    start, end = _flushed(a), _flushed(b)
    least = torch.full_like(start, 2.0**-126)
    return torch.where((start == 0) & (end != 0), least.copysign(end), torch.nextafter(start, end))


def library_result(op: str, *args: torch.Tensor) -> torch.Tensor:
    """nextafter, floor or ceil as libdevice has it. PTX rounds by `cvt.rmi.ftz` and `cvt.rpi.ftz`, to which a subnormal
    operand is a zero of its sign."""
    if op == "nextafter":
        return library_step(*args)
    return _flushed(*args).floor() if op == "floor" else _flushed(*args).ceil()


@predicting("out")
def stepped_by_the_library(seen: Wrong) -> torch.Tensor:
    """nextafter, floor or ceil as libdevice has it; a floor above zero and a ceiling below are right."""
    op, a = str(seen.case.params["op"]), seen.inputs["a"]
    given = (a, seen.inputs["b"]) if op == "nextafter" else (a,)
    found = same(seen.actual["out"], library_result(op, *given))
    shows = is_subnormal(a) & (sign_bit(a) == (op == "floor"))
    return found if op == "nextafter" else where_it_shows(found, shows)


@predicting("out")
def decimals_by_product(seen: Wrong) -> torch.Tensor:
    """round(x, decimals=2) multiplies by 10^-2 where torch divides by 10^2."""
    a, actual = seen.inputs["a"], seen.actual["out"]
    scale = torch.tensor(0.01, dtype=a.dtype, device=a.device)
    return (torch.round(a * 100) * scale) == actual


def type_of_any(seen: Wrong) -> Masks:
    """any and all of uint8 return bool: code 0 of `oracles.dtypes.NAMES`."""
    return {"dtype": seen.actual["dtype"] == 0} if "dtype" in seen.wrong else {}


@predicting("out")
def sum_of_infinities(seen: Wrong) -> torch.Tensor:
    """The mean of a row with infinities is their sum, or NaN where a Welford pass meets inf - inf, which is a matter of
    the order of its updates; that of infinities of both signs is NaN in any."""
    a, actual = seen.inputs["a"], seen.actual["out"]
    total = torch.where(a.isinf(), a, torch.zeros_like(a)).sum(-1)
    return a.isinf().any(-1) & ~is_nan(a).any(-1) & (same(actual, total) | is_nan(actual))


@predicting("facts")
def index_type_widened(seen: Wrong) -> torch.Tensor:
    """Of the facts about sorted indices, that they keep their 16 bits is false."""
    expected, actual = seen.expected["facts"].clone(), seen.actual["facts"]
    expected[1] = 0
    return expected == actual


def either_of_pair(seen: Wrong) -> Masks:
    """Where one of two values is NaN: the other pair, or this one, value and index."""
    a, b = seen.inputs["a"], seen.inputs["b"]
    if not a.is_floating_point():
        return {}
    out, index = seen.actual["out"], seen.actual["out_index"]
    pair = (same(out, a) & (index == seen.inputs["a_index"])) | (same(out, b) & (index == seen.inputs["b_index"]))
    return {name: mask & pair & (is_nan(a) | is_nan(b)) for name, mask in seen.wrong.items()}


@predicting("out")
def quotient_an_ulp_off(seen: Wrong) -> torch.Tensor:
    """x / x in fp32 as `div.full.f32` gives it, within its 2 ulp: the number below 1 or above (PTX ISA, div)."""
    x = seen.inputs["a"]
    off = (seen.actual["out"] == 1 - 2.0**-24) | (seen.actual["out"] == 1 + 2.0**-23)
    return (x != 0) & x.isfinite() & off


@predicting("out")
def zero_negated_by_subtraction(seen: Wrong) -> torch.Tensor:
    """0 - x, once or twice: +0.0 for every zero of which the other one is due."""
    due = is_zero(seen.inputs["a"]) & (sign_bit(seen.inputs["a"]) == (seen.case.params["op"] == "twice_negated"))
    return where_it_shows(due & (to_bits(seen.actual["out"]) == 0), due)


def negative_zero_without_sign(seen: Wrong) -> Masks:
    """x < 0 of an fp64 x instead of its sign bit: false for -0.0 and for every NaN."""
    x = seen.inputs["a"]
    return _false(seen, sign_bit(x) & (is_zero(x) | is_nan(x)))


def half_nan_without_sign(seen: Wrong) -> Masks:
    """False for every negative NaN of fp16: `cvt.f32.f16` makes the one NaN 0x7fffffff of all."""
    x = seen.inputs["a"]
    return _false(seen, sign_bit(x) & is_nan(x))


def _false(seen: Wrong, signed: torch.Tensor) -> Masks:
    if "out" not in seen.wrong:
        return {}
    return {"out": where_it_shows(signed & (seen.actual["out"] == 0), signed)}
