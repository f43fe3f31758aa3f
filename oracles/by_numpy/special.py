"""Special functions that scipy computes in float64, repaired where scipy loses digits or overflows early.

Bessel functions: scipy takes sine and cosine of the rounded difference x - pi/4, which is off by up to half a unit in
the last place of x: from 3e9 on by more than the 5e-12 that oracles.md §3 allows for fp64, and near 2^53 the phase is
lost. Here sine and cosine are those of x itself. erfcx of a negative number is 2 exp(x^2) - erfcx(-x), where scipy
rounds the square (errors of up to 250 ulps). i0 and i1 overflow in scipy from 709.8 on, the functions from 713.98 on.
"""

from collections.abc import Callable

import numpy as np

from tridiff.oracles.dtypes import Array

_FAR = 50.0
"""From here on the asymptotic series is good to half an ulp of the largest value around; its terms shrink up to the
fiftieth."""
_TERMS = 14


def _far_bessel(kind: str, order: int, x: Array) -> Array:
    """Hankel's asymptotic series at x >= 50 (Abramowitz and Stegun 9.2.5 to 9.2.10)."""
    even, odd, term = np.ones_like(x), np.zeros_like(x), np.ones_like(x)
    for k in range(1, _TERMS):
        term = term * (4.0 * order * order - (2 * k - 1) ** 2) / (8.0 * k) / x
        sign = -1.0 if k // 2 % 2 else 1.0
        if k % 2:
            odd = odd + sign * term
        else:
            even = even + sign * term
    # sqrt(2) times cosine and sine of x - pi/4, and a quarter turn less for order 1.
    cosine, sine = np.cos(x) + np.sin(x), np.sin(x) - np.cos(x)
    if order:
        cosine, sine = sine, -cosine
    found = even * cosine - odd * sine if kind == "j" else even * sine + odd * cosine
    return np.asarray(found / np.sqrt(x) / np.sqrt(np.pi))


def _bessel(op: str) -> Callable[[Array], Array]:
    """j0, j1, y0 or y1: 0 at infinity, with its sign; nothing outside of the domain of y0 and y1."""
    kind, order = op[0], int(op[1])

    def function(x: Array) -> Array:
        import scipy.special

        near: Array = getattr(scipy.special, op)(x)
        far = np.isfinite(x) & ((np.abs(x) >= _FAR) if kind == "j" else (x >= _FAR))
        series = _far_bessel(kind, order, np.where(far, np.abs(x), _FAR))
        value = np.where(far, np.where((x < 0) & (order == 1), -series, series), near)
        if op == "j1":  # scipy returns its zero without a sign
            value = np.where(x == 0, x, value)
        outside = (x < 0) & (kind == "y")
        return np.where(np.isinf(x) & ~outside, 0.0 * np.sign(x), value)

    return function


def _modified_bessel(op: str) -> Callable[[Array], Array]:
    """i0 or i1: scipy has NaN at infinity, and no sign of zero."""

    def function(x: Array) -> Array:
        import scipy.special

        scaled: Array = getattr(scipy.special, f"{op}e")(x)
        with np.errstate(all="ignore"):
            half = np.exp(np.abs(x) / 2)
            value = np.where(np.abs(x) > 700.0, scaled * half * half, getattr(scipy.special, op)(x))
        if op == "i1":
            value = np.where(x == 0, x, value)
        return np.where(np.isinf(x), np.inf if op == "i0" else x, value)

    return function


def _erfcx(x: Array) -> Array:
    import scipy.special

    inside = (x < -1.0) & (x > -26.62)  # it overflows at -26.6287
    size = np.where(inside, x, -1.0)
    # 25 bits of a number below 32, whose square is exact; x^2 is that square plus (x - high) (x + high).
    high = np.ldexp(np.rint(np.ldexp(size, 20)), -20)
    negative = 2.0 * np.exp(high * high) * np.exp((size - high) * (size + high)) - scipy.special.erfcx(-size)
    return np.where(inside, negative, scipy.special.erfcx(x))


def _erfinv(x: Array) -> Array:
    import scipy.special

    return np.where(x == 0, x, scipy.special.erfinv(x))  # which loses the sign of zero


SPECIAL: dict[str, Callable[[Array], Array]] = {
    "erfinv": _erfinv, "erfcx": _erfcx, "i0": _modified_bessel("i0"), "i1": _modified_bessel("i1"),
    "j0": _bessel("j0"), "j1": _bessel("j1"), "y0": _bessel("y0"), "y1": _bessel("y1"),
}  # fmt: skip
"""Functions of float64 arrays to float64 arrays."""
