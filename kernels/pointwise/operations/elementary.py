"""Elementary and special functions: roots, exponentials, angles, hyperbolas, errors, gamma and Bessel functions.

An addition that is no lowering of another needs its accuracy (`Ulps`) and how errors carry (`course`); torch's, numpy's
and libdevice's functions are taken to have its name unless the row says otherwise.
"""

from dataclasses import replace

from tridiff.kernels.pointwise.record import FULL, INTEGERS, Course, Form, Group, Op, Ulps, operation, real, same


def _function(name: str, group: Group, ulps: Ulps | None, *, arity: int = 1, template: str = "",
              torch: str | None = None, numpy: str | None = None, judged: str = "", course: Course = "",
              slope: float | None = None) -> Op:
    """A function that libdevice has."""
    operands = ", ".join(f"{{{number}}}" for number in range(arity))
    template = template or f"libdevice.{name}({operands})"
    found = real(name, group, template, arity=arity,
                 torch=f"torch.{name}({operands})" if torch is None else torch,
                 numpy=f"np.{name}({operands})" if numpy is None else numpy,
                 judged=judged or template.format("a", "b", "c"))
    return replace(found, ulps=ulps, course=course, slope=slope)


def _monotone(name: str, group: Group, ulps: Ulps | None, *, template: str = "", torch: str | None = None,
              numpy: str | None = None, judged: str = "") -> Op:
    return _function(name, group, ulps, template=template, torch=torch, numpy=numpy, judged=judged, course="monotone")


def _lowering(name: str, group: Group) -> Op:
    return real(f"{name}_tl", group, f"tl.{name}({{0}})", variant_of=name)


def exponential() -> list[Op]:
    group: Group = "exponential"
    return [
        _monotone("exp", group, Ulps(2, 1, 2, note="libdevice")),
        _monotone("exp2", group, Ulps(2, 1, 2)),
        _monotone("expm1", group, Ulps(1, 1, 1)),
        _monotone("log", group, Ulps(1, 1, 1)),
        _monotone("log2", group, Ulps(1, 1, 1)),
        _monotone("log10", group, Ulps(2, 1, 2)),
        _monotone("log1p", group, Ulps(1, 1, 1)),
        _monotone("sqrt", group, Ulps(1, 0)),
        _monotone("rsqrt", group, Ulps(2, 1, policy64=2), numpy="1 / np.sqrt({0})", judged="1.0 / libdevice.sqrt(a)"),
        _monotone("cbrt", group, Ulps(1, 1), torch=""),
        *(_lowering(name, group) for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt")),
        replace(operation("sqrt_rn", group, Form(same(("fp32",), 1), "tl.sqrt_rn({0})"),
                          Form(same(("fp64",), 1), "tl.sqrt({0})"), halves="fp32", variant_of="sqrt",
                          judged="libdevice.sqrt(a)"), course="monotone"),
        _monotone("sigmoid", group, None, template="tl.sigmoid({0})", numpy="special.expit({0})",
                  judged="1.0 / (1.0 + libdevice.exp(0.0 - a))"),
        replace(operation("pow", group, Form(same(INTEGERS, 2), "pointwise.integer_power({0}, {1})"),
                          Form(same(FULL, 2), "libdevice.pow({0}, {1})"), halves="fp32", torch="torch.pow({0}, {1})",
                          numpy="np.power({0}, {1})", judged="libdevice.pow(a, b)"),
                ulps=Ulps(4, 2, 2, policy32=8, note="an older copy says 8; 8 until measured")),
    ]


def trigonometric() -> list[Op]:
    group: Group = "trigonometric"
    return [
        _function("sin", group, Ulps(2, 2, 1), slope=1.0),
        _function("cos", group, Ulps(2, 2, 2), slope=1.0),
        _function("tan", group, Ulps(4, 2, 3)),
        _monotone("asin", group, Ulps(4, 2), numpy="np.arcsin({0})"),
        _monotone("acos", group, Ulps(3, 2), numpy="np.arccos({0})"),
        _monotone("atan", group, Ulps(2, 2, 1), numpy="np.arctan({0})"),
        *(_lowering(name, group) for name in ("sin", "cos")),
        _function("atan2", group, Ulps(3, 2, 2), arity=2, numpy="np.arctan2({0}, {1})"),
    ]


def hyperbolic() -> list[Op]:
    group: Group = "hyperbolic"
    return [
        _monotone("sinh", group, Ulps(3, 2, 3)),
        _function("cosh", group, Ulps(2, 1, 2), course="even"),
        _monotone("tanh", group, Ulps(2, 1, 2)),
        _monotone("asinh", group, Ulps(3, 3), numpy="np.arcsinh({0})"),
        _monotone("acosh", group, Ulps(4, 3), numpy="np.arccosh({0})"),
        _monotone("atanh", group, Ulps(3, 2, 3), numpy="np.arctanh({0})"),
    ]


def special() -> list[Op]:
    group: Group = "special"
    return [
        _monotone("erf", group, Ulps(2, 2, 1), numpy="special.erf({0})"),
        _monotone("erfc", group, Ulps(4, 5), numpy="special.erfc({0})"),
        _monotone("erfinv", group, Ulps(2, 5, note="fp64 figure from memory"), numpy="special.erfinv({0})"),
        _function("lgamma", group, None, numpy=""),
        _monotone("erfcx", group, Ulps(4, 4, note="fp64 figure from memory"), torch="torch.special.erfcx({0})",
                  numpy=""),
        _function("j0", group, None, torch="torch.special.bessel_j0({0})", numpy="", slope=0.582),
        _function("j1", group, None, torch="torch.special.bessel_j1({0})", numpy="", slope=0.5),
        _function("y0", group, None, torch="torch.special.bessel_y0({0})", numpy=""),
        _function("y1", group, None, torch="torch.special.bessel_y1({0})", numpy=""),
        _lowering("erf", group),
        _function("hypot", group, Ulps(3, 2, 1), arity=2, judged="judging.hypot(a, b)"),
        _function("i0", group, Ulps(6, 6), template="libdevice.cyl_bessel_i0({0})", torch="torch.special.i0({0})",
                  numpy="special.i0({0})", course="even"),
        _monotone("i1", group, Ulps(6, 6), template="libdevice.cyl_bessel_i1({0})", torch="torch.special.i1({0})",
                  numpy="special.i1({0})"),
    ]
