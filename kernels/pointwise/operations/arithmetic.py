"""Sums, products and quotients."""

from dataclasses import replace

from tridiff.kernels.pointwise.record import BOOL, FLOATS, FULL, INTEGERS, Form, Group, Op, Ulps, operation, real, same

NUMBERS = INTEGERS + FULL


def exact() -> list[Op]:
    group: Group = "exact arithmetic"
    return [
        operation("add", group, Form(same(NUMBERS, 2), "{0} + {1}"), Form(same(BOOL, 2), "{0} | {1}"), halves="fp32",
                  torch="{0} + {1}", judged="a + b", judged_integers="a + b"),
        operation("sub", group, Form(same(NUMBERS, 2), "{0} - {1}"), halves="fp32", torch="{0} - {1}", judged="a - b",
                  judged_integers="a - b"),
        operation("mul", group, Form(same(NUMBERS, 2), "{0} * {1}"), Form(same(BOOL, 2), "{0} & {1}"), halves="fp32",
                  torch="{0} * {1}", judged="a * b", judged_integers="a * b"),
        operation("neg", group, Form(same(INTEGERS, 1), "-{0}"), Form(same(FLOATS, 1), "pointwise.negate({0})"),
                  torch="-{0}", judged_integers="0 - a",
                  judged="(a.to(tl.int64, bitcast=True) ^ -0x8000000000000000).to(tl.float64, bitcast=True)",
                  exact="bits"),
        operation("neg_operator", group, Form(same(FLOATS, 1), "-{0}"), variant_of="neg", exact="numbers"),
        operation("square", group, Form(same(NUMBERS, 1), "{0} * {0}"), halves="fp32", torch="{0} * {0}",
                  judged="a * a", judged_integers="a * a", exact="numbers"),
        real("fma", group, "tl.fma({0}, {1}, {2})", arity=3),
        operation("mul_add", group, Form(same(NUMBERS, 3), "{0} * {1} + {2}"), halves="fp32", variant_of="fma",
                  note="one or two roundings in floats: the compiler may fuse", torch="{0} * {1} + {2}",
                  judged_integers="a * b + c", exact="either of two"),
    ]


def division() -> list[Op]:
    group: Group = "division"
    whole: Group = "integer division"
    floats: Group = "float division"
    return [
        operation("truediv", group, Form(same(FULL, 2), "{0} / {1}"),
                  Form(same(INTEGERS + BOOL, 2), "{0}.to(tl.float32) / {1}.to(tl.float32)", "fp32"), halves="fp32",
                  torch="{0} / {1}", numpy="{0} / {1}", judged="a / b"),
        operation("div_rn", group, Form(same(("fp32",), 2), "tl.div_rn({0}, {1})"),
                  Form(same(("fp64",), 2), "{0} / {1}"), halves="fp32", variant_of="truediv", judged="a / b"),
        replace(real("reciprocal", group, "1.0 / {0}", torch="torch.reciprocal({0})", numpy="1 / {0}",
                     judged="1.0 / a"), ulps=Ulps(1, 0, policy32=2), course="monotone"),
        operation("floor_divide", whole, Form(same(INTEGERS, 2), "pointwise.div_floor_integer({0}, {1})"),
                  Form(same(FULL, 2), "pointwise.floor_divide({0}, {1})"), halves="fp32",
                  torch="torch.floor_divide({0}, {1})", judged_integers="judging.floor_quotient(a, b)",
                  exact="either of two"),
        operation("trunc_divide", whole, Form(same(INTEGERS, 2), "pointwise.div_trunc_integer({0}, {1})"),
                  Form(same(FULL, 2), "pointwise.trunc_divide({0}, {1})"), halves="fp32",
                  torch='torch.div({0}, {1}, rounding_mode="trunc")', judged_integers="judging.trunc_quotient(a, b)",
                  exact="either of two"),
        operation("remainder", whole, Form(same(INTEGERS, 2), "pointwise.remainder_integer({0}, {1})"),
                  Form(same(FULL, 2), "pointwise.remainder({0}, {1})"), halves="fp32",
                  note="zero, or of the divisor's sign", torch="torch.remainder({0}, {1})",
                  judged="judging.remainder(a, b)", judged_integers="a - b * judging.floor_quotient(a, b)",
                  exact="numbers, zeros alike"),
        operation("fmod", floats, Form(same(INTEGERS, 2), "pointwise.rem_trunc_integer({0}, {1})"),
                  Form(same(FULL, 2), "libdevice.fmod({0}, {1})"), halves="fp32",
                  note="zero, or of the dividend's sign", torch="torch.fmod({0}, {1})", judged="libdevice.fmod(a, b)",
                  judged_integers="a - b * judging.trunc_quotient(a, b)"),
        operation("floordiv_operator", whole, Form(same(INTEGERS, 2), "{0} // {1}"), variant_of="trunc_divide"),
        operation("mod_operator", floats, Form(same(INTEGERS, 2), "{0} % {1}"), Form(same(FULL, 2), "{0} % {1}"),
                  halves="fp32", variant_of="fmod"),
    ]
