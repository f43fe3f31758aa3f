"""Special functions of libdevice within their published errors, and what else stands in libdevice alone.

Source of the errors: CUDA C++ Programming Guide, "Mathematical Functions", standard functions.
"""

from tridiff.fuzz.language.choices import FULL, Choices
from tridiff.fuzz.language.flushing import flushing
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows import approximate, pieces
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call
from tridiff.oracles.by_exact.special import BESSEL_FROM, BESSEL_TO
from tridiff.oracles.rules import SUM, ULP, Rule

_ORIGIN = "CUDA C++ Programming Guide, maximum ulp errors of standard functions"
_ULPS = {
    "exp10": (2, 1), "sinpi": (1, 2), "cospi": (1, 2), "rcbrt": (1, 1), "rhypot": (2, 1), "norm3d": (3, 2),
    "rnorm3d": (2, 1), "norm4d": (3, 2), "rnorm4d": (2, 1), "tgamma": (5, 10), "erfcinv": (4, 6), "normcdf": (5, 5),
    "normcdfinv": (5, 8),
}
"""Largest errors in ulps: of fp32, of fp64."""
_OPERANDS = {"rhypot": 2, "norm3d": 3, "rnorm3d": 3, "norm4d": 4, "rnorm4d": 4}
_BESSEL_ERROR = {"fp32": 2.2e-6, "fp64": 5.0e-12}
"""Absolute errors of jn and yn: for orders up to 128, and where |x| is not below the order (fp64: one and a half)."""
BUDGET = 128
"""Elements of a case: mpmath takes up to 3 ms each."""


def _within_ulps(name: str) -> Row:
    function = f"libdevice.{name}"
    count = _OPERANDS.get(name, 1)

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(FULL), choices.shape(low=0, high=2, most=16)
        others = tuple(choices.block(one, choices.often(shape, choices.partner(shape))) for _ in range(count - 1))
        return Call(row=function, operands=(choices.block(one, shape), *others), stored=(one,))

    def rule(call: Call) -> Rule:
        return ULP(_ULPS[name][call.stored[0] == "fp64"], origin=f"{_ORIGIN}, {name}")

    return flushing(Row(
        name=function, draw=draw,
        text=lambda call: f"{function}({arguments(call)})",
        results=of_shape(together), answer=lambda call, lib, operands: (lib.special(name, *lib.align(operands)),),
        rules=lambda call: (rule(call),), budget=BUDGET,
        contents=lambda call: ("probability" if name in ("erfcinv", "normcdfinv") else "factors",) * count))


def _bessel(name: str) -> Row:
    """jn and yn of orders 0 to 12."""
    function = f"libdevice.{name}"

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(FULL), choices.shape(low=0, high=2, most=16)
        return Call(row=function, operands=(choices.block("i32", shape), choices.block(one, shape)), stored=(one,))

    def bounds(call: Call, operands: Values) -> Values:
        import torch

        from tridiff.oracles.by_torch.special import special
        from tridiff.oracles.tolerances import approximation_bound

        order, x = operands[0].to(torch.float64), operands[1].to(torch.float64)
        expected, error = special(name, *operands), _BESSEL_ERROR[call.stored[0]]
        if name == "jn":
            return (approximation_bound(expected, absolute=error),)
        near = x.abs() < order if call.stored[0] == "fp32" else x.abs() <= 1.5 * order
        inside = approximation_bound(expected, ulps=torch.ceil(2 + 2.5 * order), name="fp32")
        if call.stored[0] == "fp64":
            # Nothing is said of small arguments.
            inside = torch.full_like(inside, torch.inf)
        return (torch.where(near, inside, approximation_bound(expected, absolute=error)),)

    def defined(call: Call, lib: Library, operands: Values) -> Values:
        size = operands[1].abs()
        return ((size >= BESSEL_FROM) & (size <= BESSEL_TO),)

    return Row(
        name=function, draw=draw,
        text=lambda call: f"{function}({arguments(call)})",
        results=of_shape(together), answer=lambda call, lib, operands: (lib.special(name, *operands),),
        rules=lambda call: (SUM("approximation_bound", origin=f"{_ORIGIN}, {name}"),), defined=defined, bounds=bounds,
        budget=BUDGET, contents=lambda call: ("order", "moderate"))


ROWS = (*(_within_ulps(name) for name in _ULPS), _bessel("jn"), _bessel("yn"), *pieces.ROWS, *approximate.ROWS)
