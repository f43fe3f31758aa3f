"""The fast functions of libdevice, one approximate instruction each, within the errors that NVIDIA publishes.

Source of the errors: CUDA C++ Programming Guide, "Intrinsic Functions", single precision; of `rcp64h`: PTX ISA,
rcp.approx.ftz.f64. What they do not describe is open.
"""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.flushing import flushing
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call, Result
from tridiff.oracles.rules import REL, SUM

_ORIGIN = "CUDA C++ Programming Guide, intrinsic functions"
_PI = 3.141592653589793
BUDGET = 1024
Bound = Callable[[Any, Values], Any]
"""Of the expected results and the operands, both in float64."""


def _ulps(expected: Any, count: Any) -> Any:
    from tridiff.oracles.tolerances import approximation_bound

    return approximation_bound(expected, ulps=count)


def _growing(slope: float) -> Bound:
    """2 ulps and one more for each 1 / slope of |x|."""
    return lambda expected, x: _ulps(expected, 2 + (slope * x[0].abs()).floor())


def _flat(power: float) -> Bound:
    """An absolute error of 2^power."""
    return lambda expected, x: expected * 0 + 2.0**power


def _logarithm(power: float, ulps: int) -> Bound:
    """An absolute error between 1/2 and 2, elsewhere ulps."""
    def bound(expected: Any, x: Values) -> Any:
        import torch

        near = (x[0] >= 0.5) & (x[0] <= 2)
        return torch.where(near, 2.0**power, _ulps(expected, ulps))

    return bound


def _tangent(expected: Any, x: Values) -> Any:
    """The quotient of the fast sine and the fast cosine, each as far off as it may be, with 3 ulps of the division."""
    cosine = x[0].cos().abs()
    off = (2.0**-21.41 + expected.abs() * 2.0**-21.19) / (cosine - 2.0**-21.19).clamp_min(2.0**-30)
    return off * 1.001 + _ulps(expected, 3)


def _power(expected: Any, x: Values) -> Any:
    """2 to the rounded product of y with the fast logarithm of x."""
    logarithm = x[0].log2()
    product = (x[1] * logarithm).abs()
    off = x[1].abs() * _logarithm(-22, 2)(logarithm, x) + product * 2.0**-24
    return expected.abs() * ((off * 0.6932 + 2.0**-21).clamp_max(40).expm1())


_FUNCTIONS: dict[str, tuple[str, int, Bound, Callable[[Values], Any], str]] = {
    "fast_expf": ("exp", 1, _growing(1.173), lambda x: x[0].abs() < 200, "moderate"),
    "fast_exp10f": ("exp10", 1, _growing(2.97), lambda x: x[0].abs() < 80, "moderate"),
    "fast_logf": ("log", 1, _logarithm(-21.41, 3), lambda x: x[0] >= 0, "probability"),
    "fast_log2f": ("log2", 1, _logarithm(-22, 2), lambda x: x[0] >= 0, "probability"),
    "fast_log10f": ("log10", 1, _logarithm(-24, 3), lambda x: x[0] >= 0, "probability"),
    "fast_sinf": ("sin", 1, _flat(-21.41), lambda x: x[0].abs() <= _PI, "moderate"),
    "fast_cosf": ("cos", 1, _flat(-21.19), lambda x: x[0].abs() <= _PI, "moderate"),
    "fast_tanf": ("tan", 1, _tangent, lambda x: x[0].abs() <= _PI, "moderate"),
    "fast_powf": ("pow", 2, _power, lambda x: (x[0] > 0) & ((x[1] * x[0].log2()).abs() < 120), "moderate"),
}
"""The exact function, how many operands, the error, where it is published, and what operands hold."""


def _fast(name: str) -> Row:
    function = f"libdevice.{name}"
    exact, count, error, inside, word = _FUNCTIONS[name]

    def draw(choices: Choices) -> Call:
        shape = choices.shape(low=0, most=64)
        others = tuple(choices.block("fp32", choices.often(shape, choices.partner(shape))) for _ in range(count - 1))
        return Call(row=function, operands=(choices.block("fp32", shape), *others), stored=("fp32",))

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        return (lib.special(exact, *lib.align(operands)),)

    def wide(lib: Library, operands: Values) -> Values:
        import torch

        return tuple(one.to(torch.float64) for one in lib.align(operands))

    def bounds(call: Call, operands: Values) -> Values:
        import torch

        from tridiff.oracles.by_torch import language

        expected = answer(call, language, operands)[0]
        found = error(expected, wide(language, operands))
        return (torch.where(torch.isfinite(expected) & torch.isfinite(found), found, 0.0),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        import torch

        x, expected = wide(lib, operands), answer(call, lib, operands)[0]
        # Results that fp32 has not overflow; the logarithm of 0 is an infinity (PTX ISA, lg2.approx).
        known = inside(x) & ((torch.isfinite(expected) & (expected.abs() < 2.0**127)) | (x[0] == 0))
        return (known & torch.stack([torch.isfinite(one) for one in x]).all(0),)

    return flushing(Row(
        name=function, draw=draw,
        text=lambda call: f"{function}({arguments(call)})",
        results=lambda call, version: (Result(dtype="fp32", shape=together(call)),), answer=answer,
        rules=lambda call: (SUM("approximation_bound", origin=f"{_ORIGIN}, {name}"),), defined=defined, bounds=bounds,
        budget=BUDGET, contents=lambda call: (word,) * count))


def _fast_quotient() -> Row:
    """2 ulps for divisors from 2^-126 to 2^126; beyond, 0 or NaN."""
    function = "libdevice.fast_dividef"

    def draw(choices: Choices) -> Call:
        shape = choices.shape(low=0)
        return Call(row=function, stored=("fp32",), operands=(
            choices.block("fp32", shape), choices.block("fp32", choices.often(shape, choices.partner(shape)))))

    def bounds(call: Call, operands: Values) -> Values:
        from tridiff.oracles.by_torch import language

        return (_ulps(language.pointwise("truediv", "fp64", *operands), 2),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        aligned = lib.align(operands)
        expected, size = lib.pointwise("truediv", "fp64", *operands).abs(), aligned[1].abs()
        return ((size >= 2.0**-126) & (size <= 2.0**126) & (expected < 2.0**127),)

    return flushing(Row(
        name=function, draw=draw, text=lambda call: f"{function}(x0, x1)",
        results=lambda call, version: (Result(dtype="fp32", shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise("truediv", "fp64", *operands),),
        rules=lambda call: (SUM("approximation_bound", origin=f"{_ORIGIN}, fdividef"),), defined=defined, bounds=bounds,
        contents=lambda call: ("", "moderate")))


def _reciprocal_of_the_upper_half() -> Row:
    """1 / x from the upper half of the pattern of x, with 20 bits of the mantissa and nothing below."""
    function = "libdevice.rcp64h"

    def draw(choices: Choices) -> Call:
        return Call(row=function, operands=(choices.block("fp64", choices.shape(low=0)),), stored=("fp64",))

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        size = operands[0].abs()
        return ((size > 2.0**-1020) & (size < 2.0**1020),)

    return Row(
        name=function, draw=draw, text=lambda call: f"{function}(x0)",
        results=lambda call, version: (Result(dtype="fp64", shape=together(call)),),
        answer=lambda call, lib, operands: (lib.pointwise("reciprocal", "fp64", *operands),), defined=defined,
        rules=lambda call: (REL(2.0**-18, origin="PTX ISA, rcp.approx.ftz.f64: 20 bits of operand and result"),))


ROWS = (*(_fast(name) for name in _FUNCTIONS), _fast_quotient(), _reciprocal_of_the_upper_half())
