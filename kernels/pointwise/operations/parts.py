"""Rounding to whole numbers, signs, and the parts that a float is made of."""

from tridiff.kernels.pointwise.record import (
    FLOATS,
    FULL,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    Form,
    Group,
    Op,
    operation,
    real,
    same,
)


def rounding() -> list[Op]:
    group: Group = "rounding"
    return [
        real("floor", group, "pointwise.floor({0})", torch="torch.floor({0})", judged="libdevice.floor(a)"),
        real("ceil", group, "pointwise.ceil({0})", torch="torch.ceil({0})", judged="libdevice.ceil(a)"),
        real("trunc", group, "libdevice.trunc({0})", torch="torch.trunc({0})", judged="libdevice.trunc(a)"),
        real("round", group, "libdevice.nearbyint({0})", note="half to even", torch="torch.round({0})",
             judged="libdevice.nearbyint(a)"),
        real("floor_libdevice", group, "libdevice.floor({0})", variant_of="floor"),
        real("ceil_libdevice", group, "libdevice.ceil({0})", variant_of="ceil"),
        real("floor_tl", group, "tl.floor({0})", variant_of="floor"),
        real("ceil_tl", group, "tl.ceil({0})", variant_of="ceil"),
    ]


def bits() -> list[Op]:
    group: Group = "sign/bits"
    return [
        operation("abs", group, Form(same(SIGNED, 1), "pointwise.absolute_integer({0})"),
                  Form(same(UNSIGNED, 1), "{0}"), Form(same(FLOATS, 1), "pointwise.absolute({0})"),
                  torch="torch.abs({0})", judged_integers="tl.where(a < 0, 0 - a, a)",
                  judged="(a.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF).to(tl.float64, bitcast=True)"),
        operation("abs_tl", group, Form(same(SIGNED + FLOATS, 1), "tl.abs({0})"), variant_of="abs", exact="numbers"),
        operation("abs_libdevice", group, Form(same(("i32", "i64", *FULL), 1), "libdevice.abs({0})"), variant_of="abs",
                  halves="fp32", exact="numbers"),
        operation("sign", group, Form(same(INTEGERS + FLOATS, 1), "pointwise.sign({0})"), note="sign(NaN) is 0",
                  torch="torch.sign({0})", judged="(a > 0).to(tl.float64) - (a < 0).to(tl.float64)",
                  judged_integers="(a > 0).to(tl.int64) - (a < 0).to(tl.int64)", exact="numbers, zeros alike"),
        operation("signbit", group, Form(same(SIGNED, 1), "{0} < 0", "i1"),
                  Form(same(UNSIGNED, 1), "{0} != {0}", "i1"),
                  Form(same(FLOATS, 1), "pointwise.signbit({0})", "i1"), torch="torch.signbit({0})",
                  judged_integers="(a < 0).to(tl.int64)"),
        operation("signbit_libdevice", group, Form(same(FULL, 1), "libdevice.signbit({0}) != 0", "i1"), halves="fp32",
                  variant_of="signbit"),
        operation("copysign", group, Form(same(FLOATS, 2), "pointwise.copysign({0}, {1})"),
                  torch="torch.copysign({0}, {1})",
                  judged="((a.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF) | (b.to(tl.int64, bitcast=True) "
                         "& -0x8000000000000000)).to(tl.float64, bitcast=True)"),
        real("copysign_libdevice", group, "libdevice.copysign({0}, {1})", arity=2, variant_of="copysign",
        exact="numbers"),
        operation("nextafter", group, Form(same(FLOATS, 2), "pointwise.nextafter({0}, {1})"), halves="own",
                  torch="torch.nextafter({0}, {1})", exact="numbers, zeros alike"),
        operation("nextafter_libdevice", group, Form(same(FULL, 2), "libdevice.nextafter({0}, {1})"), halves="own",
                  variant_of="nextafter", exact="numbers, zeros alike"),
        operation("isnan", group, Form(same(FLOATS, 1), "{0} != {0}", "i1"), torch="torch.isnan({0})",
                  predicate="a != a"),
        operation("isinf", group, Form(same(FLOATS, 1), "pointwise.isinf({0})", "i1"), torch="torch.isinf({0})",
                  predicate="tl.abs(a) == float('inf')"),
        operation("isfinite", group, Form(same(FLOATS, 1), "pointwise.isfinite({0})", "i1"),
                  torch="torch.isfinite({0})", predicate="(a - a) == 0"),
        operation("isnan_libdevice", group, Form(same(FULL, 1), "libdevice.isnan({0}) != 0", "i1"), halves="fp32",
                  variant_of="isnan"),
        operation("isinf_libdevice", group, Form(same(FULL, 1), "libdevice.isinf({0}) != 0", "i1"), halves="fp32",
                  variant_of="isinf"),
    ]


def decomposed() -> list[Op]:
    group: Group = "decomposed"
    return [
        real("frexp_mantissa", group, "pointwise.frexp({0})[0]", torch="torch.frexp({0})[0]",
             judged="judging.frexp_mantissa(a)", exact="numbers"),
        operation("frexp_exponent", group, Form(same(FULL, 1), "pointwise.frexp({0})[1]", "i32"), halves="fp32",
                  torch="torch.frexp({0})[1]"),
        operation("ldexp", group, Form(tuple((name, "i32") for name in FULL), "libdevice.ldexp({0}, {1})"),
                  halves="fp32"),
        operation("ilogb", group, Form(same(FULL, 1), "libdevice.ilogb({0})", "i32"), halves="fp32"),
        operation("llrint", group, Form(same(FULL, 1), "libdevice.llrint({0})", "i64"), halves="fp32"),
    ]
