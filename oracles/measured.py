"""Largest errors of fp32 functions over all 2^32 inputs, measured on an NVIDIA H200 (driver 580.159.04).

Each row: operation of codegen.md §3, type, then for every version of TRITON the error in ulps and the bit pattern of
an input that attains it. Ulps are of the result, the last rounding included: 0.5 is correctly rounded. Results that
are flushed to zero, and inputs for which an absolute error is allowed (lgamma between its roots, Bessel functions from
8 on), do not count. Half types are at most 0.502 ulp off, one rounding of an fp32 result, so they have no rows.

`tridiff sweep --measured A --measured B` prints the rows from the records under reports/. Imports neither torch nor
Triton.
"""

from __future__ import annotations

from dataclasses import dataclass

TRITON = ("3.6.0", "3.9.0")
"""The versions measured, as the figures of a row are ordered."""


@dataclass(frozen=True, slots=True)
class Measured:
    """ulps: largest error. pattern: bits of an input that has it."""

    op: str
    dtype: str
    triton: str
    ulps: float
    pattern: int


_ROWS = """
reciprocal fp32 0.9848 0x7e81dfff 0.9848 0x7e81dfff
exp fp32 1.9310 0xc15e6398 1.9310 0xc15e6398
exp2 fp32 2.5000 0xc313ad97 2.5000 0xc313ad97
expm1 fp32 1.4446 0x4188538d 1.4446 0x4188538d
log fp32 0.8642 0x3f23b4ab 0.8642 0x3f23b4ab
log2 fp32 0.9187 0x3f337ebe 0.9187 0x3f337ebe
log10 fp32 2.0852 0x3eace8fc 2.0852 0x3eace8fc
log1p fp32 1.0000 0x1 1.0000 0x1
sqrt fp32 0.9438 0x13a9d02 0.9438 0x13a9d02
rsqrt fp32 1.5145 0x820399 1.5145 0x820399
sin fp32 2.0000 0x2 2.0000 0x2
cos fp32 1.5109 0x478b9a09 1.5109 0x478b9a09
tan fp32 4.0000 0x4 4.0000 0x4
asin fp32 4.0000 0x4 4.0000 0x4
acos fp32 1.8108 0x3f2900a1 1.3353 0x3f0fc811
atan fp32 2.0520 0x3f85eaeb 2.0000 0x2
sinh fp32 3.0000 0x3 3.0000 0x3
cosh fp32 2.3321 0x40dcda96 2.3321 0x40dcda96
tanh fp32 2.0000 0x2 2.0000 0x2
asinh fp32 3.0000 0x3 3.0000 0x3
acosh fp32 2.2901 0x3f83f278 2.2901 0x3f83f278
atanh fp32 3.1504 0x3bfe303f 3.1504 0x3bfe303f
erf fp32 2.2568 0x2 2.2568 0x2
erfc fp32 4.5000 0x411f1e30 4.5000 0x411f1e30
erfinv fp32 2.4432 0x3f7ec718 2.4432 0x3f7ec718
erfcx fp32 3.9208 0xbde53d6c 3.9208 0xbde53d6c
exp_tl fp32 63.7806 0x42b00c50 63.7806 0x42b00c50
exp2_tl fp32 2.5000 0xc313ad97 2.5000 0xc313ad97
log_tl fp32 0.8642 0x3f23b4ab 0.8642 0x3f23b4ab
log2_tl fp32 0.9187 0x3f337ebe 0.9187 0x3f337ebe
sqrt_tl fp32 0.9438 0x13a9d02 0.9438 0x13a9d02
rsqrt_tl fp32 1.5145 0x820399 1.5145 0x820399
sin_tl fp32 2.0000 0x2 2.0000 0x2
cos_tl fp32 1.5109 0x478b9a09 1.5109 0x478b9a09
erf_tl fp32 2.2568 0x2 2.2568 0x2
sigmoid fp32 63.4239 0xc2a92165 63.4239 0xc2a92165
i0 fp32 5.9482 0x421df554 5.9482 0x421df554
i1 fp32 6.5000 0xd 6.5000 0xd
"""


def _parsed(rows: str) -> tuple[Measured, ...]:
    found = []
    for line in rows.strip().splitlines():
        op, name, *figures = line.split()
        for version, ulps, pattern in zip(TRITON, figures[::2], figures[1::2], strict=True):
            found.append(Measured(op, name, version, float(ulps), int(pattern, 16)))
    return tuple(found)


MEASURED: tuple[Measured, ...] = _parsed(_ROWS)
