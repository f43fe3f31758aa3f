"""Largest errors of fp32 functions over all 2^32 inputs, measured on an NVIDIA H200 (driver 580.159.04).

Each row: operation of codegen.md §3, type, then for every version of TRITON the error in ulps and the bit pattern of
an input that attains it. Ulps are of the result, the last rounding included: 0.5 is correctly rounded. Results that
are flushed to zero, and inputs for which an absolute error is allowed (lgamma between its roots, Bessel functions from
8 on), do not count. Half types are at most 0.502 ulp off, one rounding of an fp32 result, so they have no rows.

`tridiff sweep --measured A --measured B` prints the rows from the records under reports/. Imports neither torch nor
Triton.
"""

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
exp2 fp32 2.0550 0xbda01000 2.0550 0xbda01000
expm1 fp32 1.4446 0x4188538d 1.4446 0x4188538d
log fp32 0.8642 0x3f23b4ab 0.8642 0x3f23b4ab
log2 fp32 0.9187 0x3f337ebe 0.9187 0x3f337ebe
log10 fp32 2.0852 0x3eace8fc 2.0852 0x3eace8fc
log1p fp32 0.8863 0xbebd2579 0.8863 0xbebd2579
sqrt fp32 0.9438 0x13a9d02 0.9438 0x13a9d02
rsqrt fp32 1.5145 0x820399 1.5145 0x820399
sin fp32 1.4994 0x4a47ae3b 1.4994 0x4a47ae3b
cos fp32 1.5109 0x478b9a09 1.5109 0x478b9a09
tan fp32 3.0955 0x7dfc9d63 3.0955 0x7dfc9d63
asin fp32 2.3880 0x3f546418 1.3575 0x3f451a59
acos fp32 1.8108 0x3f2900a1 1.3353 0x3f0fc811
atan fp32 2.0520 0x3f85eaeb 1.2099 0x3f81bd3c
sinh fp32 2.9385 0x3fb6fed0 2.9385 0x3fb6fed0
cosh fp32 2.3321 0x40dcda96 2.3321 0x40dcda96
tanh fp32 1.8148 0x3f202ba4 1.8148 0x3f202ba4
asinh fp32 1.7817 0x3ef47c54 1.7817 0x3ef47c54
acosh fp32 2.2901 0x3f83f278 2.2901 0x3f83f278
atanh fp32 3.1504 0x3bfe303f 3.1504 0x3bfe303f
erf fp32 1.1399 0x3f810197 1.0372 0x3f83539e
erfc fp32 4.4867 0x402deeee 4.4867 0x402deeee
erfinv fp32 2.4432 0x3f7ec718 2.4432 0x3f7ec718
erfcx fp32 3.9208 0xbde53d6c 3.9208 0xbde53d6c
j0 fp32 6.4595 0x40f8e352 6.4595 0x40f8e352
j1 fp32 6.8820 0x40ffed27 6.8820 0x40ffed27
y0 fp32 6.4800 0x3b0a83a2 6.4800 0x3b0a83a2
y1 fp32 4.1093 0x4073fa9b 4.1093 0x4073fa9b
exp_tl fp32 63.7806 0x42b00c50 63.7806 0x42b00c50
exp2_tl fp32 2.0550 0xbda01000 2.0550 0xbda01000
log_tl fp32 0.8642 0x3f23b4ab 0.8642 0x3f23b4ab
log2_tl fp32 0.9187 0x3f337ebe 0.9187 0x3f337ebe
sqrt_tl fp32 0.9438 0x13a9d02 0.9438 0x13a9d02
rsqrt_tl fp32 1.5145 0x820399 1.5145 0x820399
sin_tl fp32 1.4994 0x4a47ae3b 1.4994 0x4a47ae3b
cos_tl fp32 1.5109 0x478b9a09 1.5109 0x478b9a09
erf_tl fp32 1.1399 0x3f810197 1.0372 0x3f83539e
sigmoid fp32 63.4239 0xc2a92165 63.4239 0xc2a92165
i0 fp32 5.9482 0x421df554 5.9482 0x421df554
i1 fp32 6.2840 0x413e4175 6.2840 0x413e4175
"""


def _parsed(rows: str) -> tuple[Measured, ...]:
    found = []
    for line in rows.strip().splitlines():
        op, name, *figures = line.split()
        for version, ulps, pattern in zip(TRITON, figures[::2], figures[1::2], strict=True):
            found.append(Measured(op, name, version, float(ulps), int(pattern, 16)))
    return tuple(found)


MEASURED: tuple[Measured, ...] = _parsed(_ROWS)
