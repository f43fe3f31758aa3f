"""Known issues of functions of the language in kernels of one call.

The control is the same call written in another way: an axis counted from the front, a function instead of a method,
a type or an option that does not show the defect.
"""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case, Content, Explicit, Mixture
from tridiff.fuzz.records.corpus_entry import Stage
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import FP8, dtype

_SHAPES = ("another_shape", "another_type")
_AXES = ("axis", "dim")


def _changed(case: Case, **fields: object) -> Case | None:
    """The case of another call: `fields` of the call's, with contents wherever their arrays still are."""
    call = replace(cases.call_of(case), **fields)
    if not cases.legal(call):
        return None
    before, given = {spec.name: spec for spec in case.arrays}, cases.given_of(case)
    sizes = cases.sizes_of(call, case.sizes["rows"])
    kept = {}
    for number, operand in enumerate(call.operands):
        name = f"x{number}"
        if not operand.given:
            continue
        listed = isinstance(given[name].base, Explicit) and (
            sizes.get(f"n{number}") != case.sizes.get(f"n{number}") or before[name].dtype != operand.dtype)
        kept[name] = Content(base=Mixture()) if listed else given[name]
    return replace(case, program=call, sizes=sizes, arrays=cases.arrays_of(call, kept))


def _of(*names: str, having: Callable[[Call], bool] = lambda call: True) -> Callable[[Case], bool]:
    """Whether a case calls one of some rows, and the call has the pattern."""

    def match(case: Case) -> bool:
        return isinstance(case.program, Call) and case.program.row in names and having(case.program)

    return match


def _axis(call: Call) -> str:
    return next((name for name in _AXES if name in call.options), "")


def _negative(call: Call) -> bool:
    name = _axis(call)
    return bool(name) and call.options[name] != "None" and call.number(name) < 0


def _counted_from_the_front(case: Case) -> Case | None:
    call = cases.call_of(case)
    name = _axis(call)
    return _changed(case, options=call.options | {name: call.number(name) % len(call.operands[0].shape)})


def _without(*options: str) -> Callable[[Case], Case | None]:
    def relative(case: Case) -> Case | None:
        call = cases.call_of(case)
        return _changed(case, options={key: one for key, one in call.options.items() if key not in options})

    return relative


def _widest(name: str) -> str:
    return "fp32" if dtype(name).is_float else "i32"


def _narrow(call: Call) -> bool:
    return dtype(call.operands[0].dtype).bits < 32


def _of_32_bits(case: Case) -> Case | None:
    call = cases.call_of(case)
    wide = _widest(call.operands[0].dtype)
    return _changed(case, operands=(replace(call.operands[0], dtype=wide), *call.operands[1:]), stored=(wide,))


def _stored_as(name: str) -> Callable[[Case], Case | None]:
    return lambda case: _changed(case, stored=(name,))


def _unsigned(case: Case) -> Case | None:
    call = cases.call_of(case)
    name = "u" + call.stored[0][1:]
    return _changed(case, operands=tuple(replace(one, dtype=name) for one in call.operands), stored=(name,))


def _between_8_bit_floats(call: Call) -> bool:
    pair = (call.operands[0].dtype, call.stored[0])
    return any(one in FP8 for one in pair) and pair[0] != pair[1] and set(pair) <= {*FP8, "fp64"}


def _issue(name: str, *entries: str, title: str, stage: Stage, match: Callable[[Case], bool],
           relative: Callable[[Case], Case | None], errors: Iterable[str] = _SHAPES,
           kinds: tuple[str, ...] = WRONG, upstream: tuple[str, ...] = ()) -> KnownIssue:
    return KnownIssue(name=name, title=title, stage=stage, truth="defect", where=(("language.*", "own"),),
                      entries=tuple(f"language.{one}" for one in entries), match=match, relative=relative,
                      errors=tuple(errors), kinds=kinds, upstream=upstream)


_FOLDS = ("tl.reduce", "tl.reduce_or", "tl.xor_sum", "tl.reduce.pair", "tl.sum", "tl.max", "tl.min", "tl.argmax",
          "tl.argmin", "tl.max.indices", "tl.min.indices")
_SCANS = ("tl.associative_scan", "tl.cumsum", "tl.cumprod")

ISSUES = (
    _issue("interpreter-takes-axes-from-the-front-only", "reductions/another-shape-5a2e916902",
           "scans/value-018e4479a3", stage="interpreter", match=_of(*_FOLDS, *_SCANS, having=_negative),
           relative=_counted_from_the_front,
           title="the interpreter folds or scans along another axis where the axis is negative"),
    _issue("softmax-without-kept-axes", "reductions/another-shape-a3e9f40cb8", stage="language",
           match=_of("tl.softmax", having=lambda call: call.number("dim") > 0), relative=_without("dim"),
           title="tl.softmax along another axis than the first subtracts the maxima of other lines"),
    _issue("interpreter-forgets-kept-axes", stage="interpreter", relative=_without("keep_dims", "axis"),
           match=_of(*_FOLDS, having=lambda call: bool(call.option("keep_dims"))
                     and call.option("axis", "None") == "None"),
           title="the interpreter keeps no axes where all of them are folded by a function of the user's"),
    _issue("tensor-sort-does-nothing", "ordering/attributeerror---nonetyp-bcf5bc102b",
           "ordering/another-type-a781c581a4", stage="front-end", match=_of("tensor.sort"), kinds=(),
           relative=lambda case: _changed(case, row="tl.sort"), errors=(*_SHAPES, "AttributeError: 'NoneType'*"),
           title="the method `sort` of tensors is a stub that returns None"),
    _issue("sorted-values-widened", "ordering/another-type-2f54dcdbd6", "ordering/another-type-dc148baf67",
           stage="language", match=_of("tl.sort", "tl.topk", having=_narrow), relative=_of_32_bits, kinds=(),
           title="sort and topk give narrow types back widened to 32 bits where they use max or min"),
    _issue("dot-of-bytes-refuses-an-accumulator", "products/assertionerror-084b767c5e", stage="front-end", kinds=(),
           match=_of("tl.dot", having=lambda call: call.operands[0].dtype == "i8" and len(call.operands) > 2),
           relative=lambda case: _changed(case, operands=cases.call_of(case).operands[:2]),
           errors=("", "AssertionError*"),
           title="tl.dot of i8 with an i32 accumulator fails an assertion without a text unless out_dtype is given"),
    _issue("interpreter-umulhi-of-negative-numbers", "pointwise/overflowerror--python-in-a364b2f5d2",
           stage="interpreter", match=_of("tl.umulhi", having=lambda call: call.stored[0][0] == "i"),
           relative=_unsigned, errors=("OverflowError*",),
           title="the interpreter multiplies negative numbers as unsigned ones and raises"),
    _issue("interpreter-constants-of-fp8", "creation/attributeerror---interpr-77e44be28b", stage="interpreter",
           match=_of("tl.full", having=lambda call: call.stored[0] in FP8), relative=_stored_as("fp16"), kinds=(),
           errors=("AttributeError: 'InterpreterBuilder'*",),
           title="the interpreter has no constants of 8-bit floats"),
    _issue("casts-between-8-bit-floats-and-fp64", "conversions/assertion--roundingmode-f31b6b0ea8", stage="ttgir",
           match=_of("tl.cast", "tl.store.implicit", having=_between_8_bit_floats), relative=_stored_as("fp16"),
           errors=("Assertion*", "Unsupported rounding mode*", "PassManager*", "SIGABRT", ""), kinds=(),
           title="conversions between 8-bit floats, and between them and fp64, do not compile"),
)
