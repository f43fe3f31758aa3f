"""Known issues of calls in Triton's interpreter, and of numbers and places that the front end passes on as they are."""

from functools import partial

from msgspec.structs import replace

from tridiff.fuzz.known.calls import changed, negative, of
from tridiff.fuzz.known.contents import of_small_numbers, tamed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import nodes
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.script import Script
from tridiff.oracles.dtypes import FP8

_WHERE = (("language.*", "own"), ("language.*", PLAIN))
_OF_TWO = ("tl.minimum", "tl.maximum", "tl.clamp", "fp8.fmin", "fp8.fmax", "tl.reduce", "tl.reduce.pair",
           "tl.reduce.three", "tl.associative_scan", "memory.reread")
"""Rows in which extrema are taken of two elements at a time."""


def _method(call: Call) -> bool:
    return call.option("way") == "method"


def _as_functions(case: Case) -> Case | None:
    return changed(case, options=cases.call_of(case).options | {"way": "function"})


def _numbered_in_32_bits(case: Case) -> Case | None:
    return changed(case, options=cases.call_of(case).options | {"dtype": "i32"})


def _of_numbers(case: Case) -> Case:
    """The call of small numbers, with 0.5 in place of constants that are NaN."""
    call = cases.call_of(case)
    return replace(of_small_numbers(case), program=replace(call, operands=tuple(
        replace(one, number="0.5") if "nan" in one.number else one for one in call.operands)))


def _holds_no_number(case: Case) -> bool:
    """Whether an extremum is taken of floats that may be NaN."""
    call = case.program
    return isinstance(call, Call) and call.row in _OF_TWO and _of_numbers(case) != case


def _small(case: Case) -> Case:
    """The same sum of whole numbers between -4 and 4."""
    return tamed(case, names=tuple(spec.name for spec in case.arrays))


def _sums_large_numbers(case: Case) -> bool:
    call = case.program
    if isinstance(call, Script):
        return _small(case) != case and any(one.row == "fold" and one.word("function") == "tl.sum"
                                            for one in nodes((*call.functions, *call.body)))
    return (isinstance(call, Call) and call.row in ("tl.sum", "tl.view", "tl.cat.reordered")
            and call.stored[0] in ("i32", "u32") and _small(case) != case)


_interpreter = partial(KnownIssue, stage="interpreter", where=_WHERE, backends=("interpreter",))

ISSUES = (
    _interpreter(
        name="interpreter-methods-of-math", entries=("language.pointwise/attributeerror---nonetyp-931380ccea",),
        kinds=(), relative=_as_functions,
        match=lambda case: isinstance(case.program, Call) and case.program.row.startswith("tl.") and _method(
            case.program),
        errors=("AttributeError: 'NoneType' object has no attribute 'to_tensor'",),
        title="functions of tl.math raise in the interpreter where they are called as methods"),
    KnownIssue(
        name="rows-numbered-in-16-bits", stage="front-end", backends=("cuda", "compile"), where=_WHERE,
        entries=("language.descriptors/tt-descriptor-gather--o-b95356c43c",), kinds=(), relative=_numbered_in_32_bits,
        match=of("descriptor.gather", "descriptor.scatter", having=lambda call: call.option("dtype") == "i16"),
        errors=("*must be ranked tensor of N-bit signless integer values*",),
        title="gather and scatter of a descriptor by numbers of 16 bits do not compile"),
    _interpreter(
        name="interpreter-sums-beyond-32-bits",
        entries=("language.hints/overflowerror--python-in-d650692a47",
                 "language.reductions/overflowerror--python-in-0f627024a4"),
        match=_sums_large_numbers, relative=_small,
        errors=("OverflowError: Python integer * out of bounds for *",), kinds=(),
        title="the interpreter raises where a sum leaves its type of 32 bits"),
    _interpreter(
        name="interpreter-atomic-extrema-of-fp64", entries=("language.memory/value-a9f317d703",),
        match=of("tl.atomic_min", "tl.atomic_max", having=lambda call: call.stored[0] == "fp64"),
        explains="tridiff.fuzz.known.predictions.atomics:bits_as_a_number",
        title="atomic extrema of fp64 give back the bits of the old number as a number in the interpreter"),
    _interpreter(
        name="interpreter-without-scaled-products", where=(("language.products", PLAIN),),
        entries=("language.products/attributeerror---str--ob-542eddc1e0",), kinds=(), match=of("tl.dot_scaled"),
        errors=("AttributeError: 'str' object has no attribute 'value'",),
        title="tl.dot_scaled raises in the interpreter"),
    _interpreter(
        name="interpreter-pads-bits-with-zeros", entries=("language.descriptors/nan-missing-c0f1978120",),
        kinds=("nan_missing",),
        match=of("tl.make_tensor_descriptor", having=lambda call: call.option("padding", "") == "nan"
                 and call.stored[0] in ("bf16", *FP8)),
        explains="tridiff.fuzz.known.predictions.interpreted:padding_in_bits",
        title="in the interpreter descriptors of bf16 and 8-bit floats pad with 0 where NaN is asked for"),
    _interpreter(
        name="interpreter-extrema-give-nan",
        entries=("language.pointwise/nan-unexpected-781663859b", "language.narrow/nan-unexpected-2cf12d2eea"),
        match=_holds_no_number, relative=_of_numbers, kinds=("nan_unexpected",),
        title="the lesser of a number and NaN is NaN in the interpreter"),
    # Along an axis that is counted from the end it meets another defect, and numbers are wrong beside NaNs.
    _interpreter(
        name="interpreter-extrema-give-nan",
        match=lambda case: _holds_no_number(case) and negative(cases.call_of(case)), relative=_of_numbers,
        kinds=("value", "inf", "nan_missing", "zero_sign"),
        title="the lesser of a number and NaN is NaN in the interpreter"),
)
