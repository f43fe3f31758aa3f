"""The pointwise operations of codegen.md §3 as data. Imports neither torch nor Triton.

    emit("floor_divide", ("fp16", "fp16"), ("a", "b"))
    == "pointwise.floor_divide((a).to(tl.float32), (b).to(tl.float32)).to(tl.float16)"

Generated source needs `IMPORTS`. Operands are names of blocks, or expressions in parentheses: a template may use one
twice. A code generator that keeps half values in fp32 asks for the fp32 form itself, unless `halves` is "own".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tridiff.kernels.pointwise.record import (
    ALL,
    BOOL,
    FLOATS,
    FP8,
    FULL,
    HALVES,
    INTEGERS,
    SIGNED,
    TRITON_NAMES,
    UNSIGNED,
    WIDTHS,
    Form,
    Halves,
    Op,
    Signature,
    same,
)

__all__ = ["ALL", "BOOL", "FLOATS", "FP8", "FULL", "HALVES", "HELPERS", "IMPORTS", "INTEGERS", "OPS", "SIGNED",
           "TRITON_NAMES", "UNSIGNED", "Form", "Op", "Signature", "compute_dtypes", "emit", "result_dtype"]

IMPORTS = """\
import triton
import triton.language as tl
from tridiff.kernels.helpers.libdevice import libdevice
from tridiff.kernels.pointwise import functions as pointwise
"""
"""What templates refer to."""


def _op(name: str, group: str, *forms: Form, halves: Halves = "any", variant_of: str = "", note: str = "") -> Op:
    return Op(name, group, forms, halves, variant_of, note)


def _real(name: str, group: str, template: str, *, arity: int = 1, variant_of: str = "", note: str = "",
          dtypes: Signature = FULL) -> Op:
    """An operation on floats that is computed in fp32 or fp64."""
    return _op(name, group, Form(same(dtypes, arity), template), halves="fp32", variant_of=variant_of, note=note)


def _compare(name: str, operator: str, dtypes: Signature) -> Op:
    return _op(name, "comparison", Form(same(dtypes, 2), f"{{0}} {operator} {{1}}", "i1"))


def _logical(name: str, operator: str) -> Op:
    return _op(name, "logic", Form(same(BOOL, 2), f"{{0}} {operator} {{1}}", "i1"),
               Form(same(INTEGERS + FLOATS, 2), f"({{0}} != 0) {operator} ({{1}} != 0)", "i1"))


def _exact() -> list[Op]:
    group = "exact arithmetic"
    numbers = INTEGERS + FULL
    return [
        _op("add", group, Form(same(numbers, 2), "{0} + {1}"), Form(same(BOOL, 2), "{0} | {1}"), halves="fp32"),
        _op("sub", group, Form(same(numbers, 2), "{0} - {1}"), halves="fp32"),
        _op("mul", group, Form(same(numbers, 2), "{0} * {1}"), Form(same(BOOL, 2), "{0} & {1}"), halves="fp32"),
        _op("neg", group, Form(same(INTEGERS, 1), "-{0}"), Form(same(FLOATS, 1), "pointwise.negate({0})")),
        _op("neg_operator", group, Form(same(FLOATS, 1), "-{0}"), variant_of="neg"),
        _op("square", group, Form(same(numbers, 1), "{0} * {0}"), halves="fp32"),
        _real("fma", group, "tl.fma({0}, {1}, {2})", arity=3),
        _op("mul_add", group, Form(same(numbers, 3), "{0} * {1} + {2}"), halves="fp32", variant_of="fma",
            note="one or two roundings in floats: the compiler may fuse"),
    ]


def _division() -> list[Op]:
    group, whole, real = "division", "integer division", "float division"
    return [
        _op("truediv", group, Form(same(FULL, 2), "{0} / {1}"),
            Form(same(INTEGERS + BOOL, 2), "{0}.to(tl.float32) / {1}.to(tl.float32)", "fp32"), halves="fp32"),
        _op("div_rn", group, Form(same(("fp32",), 2), "tl.div_rn({0}, {1})"), Form(same(("fp64",), 2), "{0} / {1}"),
            halves="fp32", variant_of="truediv"),
        _real("reciprocal", group, "1.0 / {0}"),
        _op("floor_divide", whole, Form(same(INTEGERS, 2), "pointwise.div_floor_integer({0}, {1})"),
            Form(same(FULL, 2), "pointwise.floor_divide({0}, {1})"), halves="fp32"),
        _op("trunc_divide", whole, Form(same(INTEGERS, 2), "pointwise.div_trunc_integer({0}, {1})"),
            Form(same(FULL, 2), "pointwise.trunc_divide({0}, {1})"), halves="fp32"),
        _op("remainder", whole, Form(same(INTEGERS, 2), "pointwise.remainder_integer({0}, {1})"),
            Form(same(FULL, 2), "pointwise.remainder({0}, {1})"), halves="fp32", note="zero, or of the divisor's sign"),
        _op("fmod", real, Form(same(INTEGERS, 2), "pointwise.rem_trunc_integer({0}, {1})"),
            Form(same(FULL, 2), "libdevice.fmod({0}, {1})"), halves="fp32", note="zero, or of the dividend's sign"),
        _op("floordiv_operator", whole, Form(same(INTEGERS, 2), "{0} // {1}"), variant_of="trunc_divide"),
        _op("mod_operator", real, Form(same(INTEGERS, 2), "{0} % {1}"), Form(same(FULL, 2), "{0} % {1}"),
            halves="fp32", variant_of="fmod"),
    ]


def _extremum_tl(name: str, template: str, variant_of: str, integers: Signature = ()) -> Op:
    # Triton widens bf16 here and does not narrow it again.
    return _op(name, "min/max", Form(same((*integers, "fp16", *FULL), 2), template),
               Form(same(("bf16",), 2), f"{template}.to(tl.bfloat16)"), variant_of=variant_of)


def _comparison() -> list[Op]:
    ordered = INTEGERS + FLOATS
    extremum = "min/max"
    return [
        _compare("eq", "==", BOOL + ordered), _compare("ne", "!=", BOOL + ordered), _compare("lt", "<", ordered),
        _compare("le", "<=", ordered), _compare("gt", ">", ordered), _compare("ge", ">=", ordered),
        _op("minimum", extremum, Form(same(ordered, 2), "pointwise.minimum({0}, {1})")),
        _op("maximum", extremum, Form(same(ordered, 2), "pointwise.maximum({0}, {1})")),
        _op("fmin", extremum, Form(same(FLOATS, 2), "pointwise.fmin({0}, {1})")),
        _op("fmax", extremum, Form(same(FLOATS, 2), "pointwise.fmax({0}, {1})")),
        _extremum_tl("minimum_tl", "tl.minimum({0}, {1})", "fmin", INTEGERS),
        _extremum_tl("maximum_tl", "tl.maximum({0}, {1})", "fmax", INTEGERS),
        _extremum_tl("minimum_nan_tl", "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "minimum"),
        _extremum_tl("maximum_nan_tl", "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "maximum"),
        _op("relu", extremum, Form(same(INTEGERS + FLOATS, 1), "pointwise.relu({0})")),
        _op("clamp", extremum, Form(same(ordered, 3), "pointwise.clamp({0}, {1}, {2})")),
        _op("where", "select", Form(tuple(("i1", name, name) for name in ALL), "tl.where({0}, {1}, {2})", 1)),
    ]


def _logic() -> list[Op]:
    bits = BOOL + INTEGERS
    return [
        _logical("logical_and", "&"), _logical("logical_or", "|"), _logical("logical_xor", "^"),
        _op("logical_not", "logic", Form(same(BOOL, 1), "~{0}", "i1"),
            Form(same(INTEGERS + FLOATS, 1), "{0} == 0", "i1")),
        _op("bitwise_and", "logic", Form(same(bits, 2), "{0} & {1}")),
        _op("bitwise_or", "logic", Form(same(bits, 2), "{0} | {1}")),
        _op("bitwise_xor", "logic", Form(same(bits, 2), "{0} ^ {1}")),
        _op("bitwise_not", "logic", Form(same(BOOL + SIGNED, 1), "~{0}"),
            Form(same(UNSIGNED, 1), "pointwise.complement({0})")),
        _op("bitwise_not_operator", "logic", Form(same(bits, 1), "~{0}"), variant_of="bitwise_not",
            note="the interpreter of Triton 3.6.0 fails on unsigned types"),
        _op("left_shift", "shifts", Form(same(INTEGERS, 2), "pointwise.left_shift({0}, {1})")),
        _op("right_shift", "shifts", Form(same(INTEGERS, 2), "pointwise.right_shift({0}, {1})")),
        _op("left_shift_operator", "shifts", Form(same(INTEGERS, 2), "{0} << {1}"), variant_of="left_shift"),
        _op("right_shift_operator", "shifts", Form(same(INTEGERS, 2), "{0} >> {1}"), variant_of="right_shift"),
    ]


def _rounding() -> list[Op]:
    group = "rounding"
    return [
        _real("floor", group, "pointwise.floor({0})"), _real("ceil", group, "pointwise.ceil({0})"),
        _real("trunc", group, "libdevice.trunc({0})"),
        _real("round", group, "libdevice.nearbyint({0})", note="half to even"),
        _real("floor_libdevice", group, "libdevice.floor({0})", variant_of="floor"),
        _real("ceil_libdevice", group, "libdevice.ceil({0})", variant_of="ceil"),
        _real("floor_tl", group, "tl.floor({0})", variant_of="floor"),
        _real("ceil_tl", group, "tl.ceil({0})", variant_of="ceil"),
    ]


def _bits() -> list[Op]:
    group = "sign/bits"
    return [
        _op("abs", group, Form(same(SIGNED, 1), "pointwise.absolute_integer({0})"),
            Form(same(UNSIGNED, 1), "{0}"), Form(same(FLOATS, 1), "pointwise.absolute({0})")),
        _op("abs_tl", group, Form(same(SIGNED + FLOATS, 1), "tl.abs({0})"), variant_of="abs"),
        _op("abs_libdevice", group, Form(same(("i32", "i64", *FULL), 1), "libdevice.abs({0})"), variant_of="abs",
            halves="fp32"),
        _op("sign", group, Form(same(INTEGERS + FLOATS, 1), "pointwise.sign({0})"), note="sign(NaN) is 0"),
        _op("signbit", group, Form(same(SIGNED, 1), "{0} < 0", "i1"), Form(same(UNSIGNED, 1), "{0} != {0}", "i1"),
            Form(same(FLOATS, 1), "pointwise.signbit({0})", "i1")),
        _op("signbit_libdevice", group, Form(same(FULL, 1), "libdevice.signbit({0}) != 0", "i1"), halves="fp32",
            variant_of="signbit"),
        _op("copysign", group, Form(same(FLOATS, 2), "pointwise.copysign({0}, {1})")),
        _real("copysign_libdevice", group, "libdevice.copysign({0}, {1})", arity=2, variant_of="copysign"),
        _op("nextafter", group, Form(same(FLOATS, 2), "pointwise.nextafter({0}, {1})"), halves="own"),
        _op("nextafter_libdevice", group, Form(same(FULL, 2), "libdevice.nextafter({0}, {1})"), halves="own",
            variant_of="nextafter"),
        _op("isnan", group, Form(same(FLOATS, 1), "{0} != {0}", "i1")),
        _op("isinf", group, Form(same(FLOATS, 1), "pointwise.isinf({0})", "i1")),
        _op("isfinite", group, Form(same(FLOATS, 1), "pointwise.isfinite({0})", "i1")),
        _op("isnan_libdevice", group, Form(same(FULL, 1), "libdevice.isnan({0}) != 0", "i1"), halves="fp32",
            variant_of="isnan"),
        _op("isinf_libdevice", group, Form(same(FULL, 1), "libdevice.isinf({0}) != 0", "i1"), halves="fp32",
            variant_of="isinf"),
    ]


def _transcendental() -> list[Op]:
    exponential, trigonometric, hyperbolic, special = "exponential", "trigonometric", "hyperbolic", "special"
    libdevice = {
        exponential: ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt"),
        trigonometric: ("sin", "cos", "tan", "asin", "acos", "atan"),
        hyperbolic: ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        special: ("erf", "erfc", "erfinv", "lgamma", "erfcx", "j0", "j1", "y0", "y1"),
    }
    found = [_real(name, group, f"libdevice.{name}({{0}})") for group, names in libdevice.items() for name in names]
    found += [_real(f"{name}_tl", group, f"tl.{name}({{0}})", variant_of=name)
              for group, names in ((exponential, ("exp", "exp2", "log", "log2", "sqrt", "rsqrt")),
                                   (trigonometric, ("sin", "cos")), (special, ("erf",))) for name in names]
    return [
        *found,
        _op("sqrt_rn", exponential, Form(same(("fp32",), 1), "tl.sqrt_rn({0})"),
            Form(same(("fp64",), 1), "tl.sqrt({0})"), halves="fp32", variant_of="sqrt"),
        _real("sigmoid", exponential, "tl.sigmoid({0})"),
        _op("pow", exponential, Form(same(INTEGERS, 2), "pointwise.integer_power({0}, {1})"),
            Form(same(FULL, 2), "libdevice.pow({0}, {1})"), halves="fp32"),
        _real("atan2", trigonometric, "libdevice.atan2({0}, {1})", arity=2),
        _real("hypot", special, "libdevice.hypot({0}, {1})", arity=2),
        _real("i0", special, "libdevice.cyl_bessel_i0({0})"),
        _real("i1", special, "libdevice.cyl_bessel_i1({0})"),
    ]


def _decomposed() -> list[Op]:
    group = "decomposed"
    return [
        _real("frexp_mantissa", group, "pointwise.frexp({0})[0]"),
        _op("frexp_exponent", group, Form(same(FULL, 1), "pointwise.frexp({0})[1]", "i32"), halves="fp32"),
        _op("ldexp", group, Form(tuple((name, "i32") for name in FULL), "libdevice.ldexp({0}, {1})"), halves="fp32"),
        _op("ilogb", group, Form(same(FULL, 1), "libdevice.ilogb({0})", "i32"), halves="fp32"),
        _op("llrint", group, Form(same(FULL, 1), "libdevice.llrint({0})", "i64"), halves="fp32"),
    ]


def _conversion(target: str) -> Op:
    """`to_<target>`: from every type; by way of fp32 where Triton has no direct conversion."""
    to = f".to({TRITON_NAMES[target]})"
    if target == "i1":
        forms = [Form(same(FP8, 1), "{0}.to(tl.float32) != 0", "i1"),
                 Form(same(INTEGERS + FLOATS, 1), "{0} != 0", "i1"), Form(same(BOOL, 1), "{0}", "i1")]
    elif target in FP8:
        direct = (*HALVES, "fp32")
        by_way = tuple(name for name in ALL if name not in direct and name != target)
        forms = [Form(same(direct, 1), "{0}" + to, target), Form(same((target,), 1), "{0}", target),
                 Form(same(by_way, 1), "{0}.to(tl.float32)" + to, target)]
    else:
        direct = tuple(name for name in ALL if name not in FP8) + (FP8 if target in (*HALVES, "fp32") else ())
        by_way = tuple(name for name in FP8 if name not in direct)
        forms = [Form(same(direct, 1), "{0}" + to, target)]
        if by_way:
            forms.append(Form(same(by_way, 1), "{0}.to(tl.float32)" + to, target))
    note = "unspecified out of range" if target in INTEGERS else ""
    return _op(f"to_{target}", "conversion", *forms, halves="own" if target in FP8 else "any", note=note)


def _bitcast(target: str) -> Op:
    sources = tuple(name for name in ALL if WIDTHS[name] == WIDTHS[target] and name != target)
    form = Form(same(sources, 1), f"{{0}}.to({TRITON_NAMES[target]}, bitcast=True)", target)
    return _op(f"bitcast_{target}", "bit cast", form, halves="own")


_OPS: Sequence[Op] = (
    *_exact(), *_division(), *_comparison(), *_logic(), *_rounding(), *_bits(), *_transcendental(), *_decomposed(),
    *map(_conversion, ALL), *(_bitcast(name) for name in ALL if name != "i1"),
)

OPS: Mapping[str, Op] = MappingProxyType({op.name: op for op in _OPS})
"""Every operation by name."""


def _packing() -> list[Op]:
    """The look-back's packed words (helpers.md §11), narrow enough to be swept."""
    group, values = "packed words", {8: ("i8", "u8"), 16: ("i16", "u16", "bf16", "fp16")}
    pack, flag = [], []
    unpack: dict[str, Form] = {}
    for width, names in values.items():
        value, word = f"tl.uint{width}", f"tl.uint{2 * width}"
        pack.append(Form(tuple((name, f"u{width}") for name in names),
                         f"pointwise.pack_value_flag({{0}}, {{1}}, {value}, {word})", f"u{2 * width}"))
        flag.append(Form(((f"u{2 * width}",),), f"pointwise.unpack_flag({{0}}, {value})", f"u{width}"))
        unpack |= {name: Form(((f"u{2 * width}",),),
                              f"pointwise.unpack_value({{0}}, {TRITON_NAMES[name]}, {value})", name) for name in names}
    return [_op("pack_value_flag", group, *pack, halves="own"), _op("unpack_flag", group, *flag),
            *(_op(f"unpack_value_{name}", group, form) for name, form in unpack.items())]


HELPERS: Mapping[str, Op] = MappingProxyType({op.name: op for op in _packing()})
"""Helpers in the form of operations, for sweeps; no generator emits them."""


def _form(op: str, dtypes: Sequence[str]) -> tuple[Op, Form]:
    """The form for operands of the types that are computed with; KeyError with the fix in its text."""
    found = OPS.get(op) or HELPERS.get(op)
    if found is None:
        raise KeyError(f"no pointwise operation {op!r}; tridiff.kernels.pointwise.table.OPS lists them")
    signature = tuple(dtypes)
    for form in found.forms:
        if signature in form.signatures:
            return found, form
    raise KeyError(f"{op} does not take {signature}; OPS[{op!r}].signatures lists what it takes")


def compute_dtypes(op: str, dtypes: Sequence[str]) -> Signature:
    """The operand types that are computed with: fp32 for half types unless the operation works on them as they are."""
    if op in OPS and OPS[op].halves == "fp32":
        return tuple("fp32" if name in HALVES else name for name in dtypes)
    return tuple(dtypes)


def result_dtype(op: str, dtypes: Sequence[str]) -> str:
    """Type of the result for operands of these types; KeyError for types it does not take."""
    _, form = _form(op, compute_dtypes(op, dtypes))
    return form.result if isinstance(form.result, str) else dtypes[form.result]


def emit(op: str, dtypes: Sequence[str], operands: Sequence[str]) -> str:
    """The Triton expression of `op` over operand expressions of these types; KeyError for types it does not take.

    Half types are widened and the result rounded where `halves` is "fp32".
    """
    computed = compute_dtypes(op, dtypes)
    _, form = _form(op, computed)
    texts = [f"({text}).to({TRITON_NAMES[wide]})" if wide != given else text
             for text, given, wide in zip(operands, dtypes, computed, strict=True)]
    expression = form.template.format(*texts)
    result = result_dtype(op, dtypes)
    if result in HALVES and computed != tuple(dtypes):
        return f"({expression}).to({TRITON_NAMES[result]})"
    return expression
