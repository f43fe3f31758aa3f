"""The pointwise operations of codegen.md §3 as data. Imports neither torch nor Triton.

    emit("floor_divide", ("fp16", "fp16"), ("a", "b"))
    == "pointwise.floor_divide((a).to(tl.float32), (b).to(tl.float32)).to(tl.float16)"

Generated source needs `IMPORTS`. Operands are names of blocks, or expressions in parentheses: a template may use one
twice. A code generator that keeps half values in fp32 asks for the fp32 form itself, unless `halves` is "own".
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tridiff.kernels.pointwise.operations import arithmetic, comparison, elementary, parts
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
    Group,
    Op,
    Signature,
    operation,
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
    return operation(f"to_{target}", "conversion", *forms, halves="own" if target in FP8 else "any", note=note)


def _bitcast(target: str) -> Op:
    sources = tuple(name for name in ALL if WIDTHS[name] == WIDTHS[target] and name != target)
    form = Form(same(sources, 1), f"{{0}}.to({TRITON_NAMES[target]}, bitcast=True)", target)
    return operation(f"bitcast_{target}", "bit cast", form, halves="own")


_OPS: Sequence[Op] = (
    *arithmetic.exact(), *arithmetic.division(), *comparison.comparison(), *comparison.logic(), *parts.rounding(),
    *parts.bits(), *elementary.exponential(), *elementary.trigonometric(), *elementary.hyperbolic(),
    *elementary.special(), *parts.decomposed(),
    *map(_conversion, ALL), *(_bitcast(name) for name in ALL if name != "i1"),
)

OPS: Mapping[str, Op] = MappingProxyType({op.name: op for op in _OPS})
"""Every operation by name."""


def _packing() -> list[Op]:
    """The look-back's packed words (helpers.md §11), narrow enough to be swept."""
    group: Group = "packed words"
    values = {8: ("i8", "u8"), 16: ("i16", "u16", "bf16", "fp16")}
    pack, flag = [], []
    unpack: dict[str, Form] = {}
    for width, names in values.items():
        value, word = f"tl.uint{width}", f"tl.uint{2 * width}"
        pack.append(Form(tuple((name, f"u{width}") for name in names),
                         f"pointwise.pack_value_flag({{0}}, {{1}}, {value}, {word})", f"u{2 * width}"))
        flag.append(Form(((f"u{2 * width}",),), f"pointwise.unpack_flag({{0}}, {value})", f"u{width}"))
        unpack |= {name: Form(((f"u{2 * width}",),),
                              f"pointwise.unpack_value({{0}}, {TRITON_NAMES[name]}, {value})", name) for name in names}
    return [operation("pack_value_flag", group, *pack, halves="own"), operation("unpack_flag", group, *flag),
            *(operation(f"unpack_value_{name}", group, form) for name, form in unpack.items())]


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
