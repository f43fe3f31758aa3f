"""Known issues of functions of the language in kernels of one call.

The control is the same call written in another way: an axis counted from the front, a function instead of a method,
a type or an option that does not show the defect.
"""

from collections.abc import Callable, Iterable

from msgspec import UNSET
from msgspec.structs import replace

from tridiff.fuzz.known.contents import of_small_numbers
from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import FP8, dtype

_SHAPES = ("another_shape", "another_type")
_AXES = ("axis", "dim")


def _changed(case: Case, **fields: object) -> Case | None:
    """The case of another call: `fields` of the call's."""
    return cases.with_call(case, replace(cases.call_of(case), **fields))


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


_places_of_floats = _of(
    "tl.argmax", "tl.argmin", "tl.max.indices", "tl.min.indices", "fp8.argmax", "fp8.argmin",
    having=lambda call: dtype(call.operands[0].dtype).is_float)


def _widest(name: str) -> str:
    return "fp32" if dtype(name).is_float else "i32"


def _narrow(call: Call) -> bool:
    return dtype(call.operands[0].dtype).bits < 32


def _of_32_bits(case: Case) -> Case | None:
    call = cases.call_of(case)
    wide = _widest(call.operands[0].dtype)
    return _changed(case, operands=(replace(call.operands[0], dtype=wide), *call.operands[1:]), stored=(wide,))


def _by_function(case: Case) -> Case | None:
    """`tl.sort` of small numbers that it does not widen: the order of NaNs is open, and what is open is no control."""
    wide = _of_32_bits(case) if _narrow(cases.call_of(case)) else of_small_numbers(case)
    return _changed(wide, row="tl.sort") if wide is not None else None


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
           kinds: tuple[str, ...] = WRONG, upstream: tuple[str, ...] = (),
           backends: tuple[str, ...] = ()) -> KnownIssue:
    return KnownIssue(name=name, title=title, stage=stage, truth="defect",
                      where=(("language.*", "own"), ("language.*", PLAIN)),
                      entries=tuple(f"language.{one}" for one in entries), match=match, relative=relative,
                      errors=tuple(errors), kinds=kinds, upstream=upstream, backends=backends)


_FOLDS = ("tl.reduce", "tl.reduce_or", "tl.xor_sum", "tl.reduce.pair", "tl.sum", "tl.max", "tl.min", "tl.argmax",
          "tl.argmin", "tl.max.indices", "tl.min.indices")
_SCANS = ("tl.associative_scan", "tl.cumsum", "tl.cumprod")

def _negative_zero(call: Call) -> bool:
    return any(one.number == "-0.0" for one in call.operands)


def _with_positive_zero(case: Case) -> Case | None:
    return _changed(case, operands=tuple(replace(one, number="0.0") if one.number == "-0.0" else one
                                         for one in cases.call_of(case).operands))


def _tiny(number: str) -> bool:
    return "." in number and 0 < abs(float(number)) < 2.0**-24


def _small_beside_bf16(call: Call) -> bool:
    return any(one.dtype == "bf16" for one in call.operands) and any(_tiny(one.number) for one in call.operands)


def _with_a_half(case: Case) -> Case | None:
    return _changed(case, operands=tuple(replace(one, number="0.5") if _tiny(one.number) else one
                                         for one in cases.call_of(case).operands))


def _hints_that_ptx_cannot_combine(call: Call) -> bool:
    return len({"cache", "evict", "volatile"} & set(call.options)) > 1


def _multiplied(case: Case) -> Case | None:
    """The opposite of the same numbers, by a product with -1."""
    call = cases.call_of(case)
    minus_one = Operand(kind="number", dtype="fp32", number="-1.0")
    return _changed(case, row=call.row.replace(".neg", ".mul"), operands=(call.operands[0], minus_one))


def _all_of_integers(case: Case) -> Case | None:
    """Every operand and result that is a float as an integer of the same width."""
    call = cases.call_of(case)

    def whole(name: str) -> str:
        return f"i{dtype(name).bits}" if dtype(name).is_float else name

    operands = tuple(replace(one, dtype=whole(one.dtype), number="1" if one.number else "") for one in call.operands)
    return _changed(case, operands=operands, stored=tuple(map(whole, call.stored)))


def _of_halves(case: Case) -> Case | None:
    """The same operation of fp16."""
    call = cases.call_of(case)
    return _changed(case, operands=tuple(replace(one, dtype="fp16") for one in call.operands),
                    stored=tuple("fp16" if one in FP8 else one for one in call.stored))


def _extremum_type(case: Case) -> tuple[str, ...]:
    """The type of an extremum without its place."""
    name = cases.call_of(case).operands[0].dtype
    return (_widest(name) if dtype(name).bits < 32 else name,)


def _flipped_bytes(case: Case) -> Case | None:
    """The flip of bytes along the last axis, or that which is given."""
    call = cases.call_of(case)
    options = {"dim": len(call.operands[0].shape) - 1} | call.options
    name = "i8" if call.operands[0].dtype == "i1" else call.operands[0].dtype
    return _changed(case, operands=(replace(call.operands[0], dtype=name),), stored=(name,), options=options)


def _flipped_pairs(case: Case) -> Case | None:
    """The flip of two bytes in place of one."""
    bytes_of_one = _flipped_bytes(case)
    if bytes_of_one is None:
        return None
    (block,) = cases.call_of(bytes_of_one).operands
    return _changed(bytes_of_one, operands=(replace(block, shape=(*block.shape[:-1], 2)),))


def _keeps_axes_of_one_value(case: Case) -> bool:
    """Whether a fold in Gluon that leaves one value is to keep its axes."""
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.") and bool(call.option("keep_dims"))
            and (call.option("axis", "None") == "None" or len(call.operands[0].shape) == 1))


def _narrow_beside_an_argument(case: Case) -> bool:
    """Whether a float that is passed at launch meets a block of narrower floats or of integers."""
    call = case.program
    return (isinstance(call, Call) and any(one.kind == "argument" and one.dtype == "fp32" for one in call.operands)
            and any(one.given and one.dtype not in ("fp32", "fp64") for one in call.operands))


def _passes_a_truth_value(case: Case) -> bool:
    call = case.program
    return isinstance(call, Call) and any(one.kind == "argument" and one.dtype == "i1" for one in call.operands)


def _truth_values_as_constants(case: Case) -> Case | None:
    return _changed(case, operands=tuple(
        replace(one, kind="constexpr") if one.kind == "argument" else one for one in cases.call_of(case).operands))


def _wide_beside_an_argument(case: Case) -> Case | None:
    call = cases.call_of(case)
    operands = tuple(replace(one, dtype="fp32") if one.given else one for one in call.operands)
    return _changed(case, operands=operands, stored=tuple(one if one == "i1" else "fp32" for one in call.stored))


def _packed_along_n(call: Call) -> bool:
    """Whether the right side of a scaled product is of fp4, two to a byte along n."""
    return call.option("rhs") == "e2m1" and not call.option("rhs_k_pack", True)


def _packed_along_k(case: Case) -> Case | None:
    call = cases.call_of(case)
    lhs, lhs_scale, rhs, *others = call.operands
    turned = replace(rhs, shape=(rhs.shape[0] // 2, rhs.shape[1] * 2))
    return _changed(case, operands=(lhs, lhs_scale, turned, *others),
                    options={name: one for name, one in call.options.items() if name != "rhs_k_pack"})


def _longer_than_its_source(call: Call) -> bool:
    """Whether indices of several axes are more along the gathered axis than the source has places."""
    source, index = (one.shape for one in call.operands)
    return len(source) > 1 and max(one - other for one, other in zip(index, source, strict=True)) > 0


def _from_a_longer_source(case: Case) -> Case | None:
    call = cases.call_of(case)
    return _changed(case, operands=(replace(call.operands[0], shape=call.operands[1].shape), call.operands[1]))


def _with_threads_to_spare(case: Case) -> bool:
    """Whether all axes of a block of Gluon are folded at once, and lanes of the warp lie along two axes (layouts from
    2 on), along one of which they are more than elements."""
    call = case.program
    if not isinstance(call, Call) or call.row.removeprefix("gl.") not in {one.removeprefix("tl.") for one in _FOLDS}:
        return False
    shape = call.operands[0].shape
    return (call.row.startswith("gl.") and call.option("axis", "None") == "None" and len(shape) > 1
            and call.number("layout") >= 2 and min(shape) < 16)


def _along_one_axis(case: Case) -> Case | None:
    return _changed(case, options=cases.call_of(case).options | {"axis": 0})


def _scalar_for_a_block(case: Case) -> bool:
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.atomic_") and len(call.operands) > 1
            and bool(call.operands[0].shape) and call.operands[1].shape != call.operands[0].shape)


def _block_for_a_block(case: Case) -> Case | None:
    memory, value, *mask = cases.call_of(case).operands
    name = value.dtype if value.given else memory.dtype
    return _changed(case, operands=(memory, Operand(kind="block", dtype=name, shape=memory.shape), *mask))


ISSUES = (
    _issue("gluon-atomics-of-scalars", "gluon/expected-expand-dims-inp-bee3fdccd0", stage="front-end", kinds=(),
           match=_scalar_for_a_block, relative=_block_for_a_block, errors=("*expected expand_dims input*",),
           title="an atomic operation on a block by one scalar does not compile in Gluon"),
    _issue("bitwise-sums-of-signed-64-bits", "descriptors/illegal-instruction-710f223f80", stage="ttgir", kinds=(),
           match=_of("descriptor.atomic_and", "descriptor.atomic_or", "descriptor.atomic_xor",
                     having=lambda call: call.stored[0] == "i64"),
           relative=_unsigned, errors=("illegal_instruction",),
           title="atomic_and, atomic_or and atomic_xor of a descriptor of int64 end in an illegal instruction"),
    _issue("fp4-of-few-bytes-a-thread", "products/assertion--xvals-size-054b46e414", stage="ttgir", kinds=(),
           match=lambda case: isinstance(case.program, Call) and case.program.row == "tl.dot_scaled"
           and "e2m1" in (case.program.option("lhs"), case.program.option("rhs")) and case.options.num_warps >= 16,
           relative=lambda case: replace(case, options=replace(case.options, num_warps=4, maxnreg=UNSET), variants=()),
           errors=("*xVals.size()*",), title="tl.dot_scaled of fp4 by many warps fails an assertion"),
    _issue("fp4-packed-along-n", "products/assertion--mlir--isa-dot-4442b10a8f", stage="ttgir", kinds=(),
           relative=_packed_along_k,
           match=_of("tl.dot_scaled", having=_packed_along_n), errors=("*DotOperandEncodingAttr*",),
           title="tl.dot_scaled of fp4 that is packed along n does not compile"),
    _issue("gather-with-more-indices-than-source", "movement/assertion--gatherlowerin-3055542b1e", stage="ttgir",
           match=_of("tl.gather", "gl.gather", having=_longer_than_its_source), relative=_from_a_longer_source,
           errors=("*GatherLoweringHelper*",), kinds=(),
           title="tl.gather of more indices than the source has places along the axis does not compile"),
    _issue("gluon-scans-of-few-elements", "gluon/assertion--numscanblocks-b2de64d95b", stage="ttgir", kinds=(),
           match=lambda case: isinstance(case.program, Call) and case.program.row.startswith("gl.")
           and case.program.operands[0].shape[-1:] == (1,) and case.program.number("layout") >= 4,
           relative=lambda case: _changed(case, options=cases.call_of(case).options | {"layout": 0}),
           errors=("*numScanBlocks*",),
           title="a scan in Gluon of fewer elements than a thread of the layout holds fails an assertion"),
    _issue("gluon-folds-of-all-axes", "gluon/value-3841b1409b", stage="ttgir", match=_with_threads_to_spare,
           relative=_along_one_axis, errors=(),
           title="folds of all axes in Gluon exchange values between the wrong lanes"),
    _issue("ieee-rounding-ignored", "pointwise/value-b464d9f765", stage="front-end", errors=(), kinds=("value",),
           match=_of("tl.fdiv", "gl.fdiv", having=lambda call: call.stored[0] == "fp32"
                     and bool(call.option("ieee_rounding"))),
           relative=_without("ieee_rounding"), title="ieee_rounding of tl.fdiv changes nothing"),
    _issue("negation-by-subtraction", "operators/zero-sign-44817e5c2f",
           stage="front-end", kinds=("zero_sign",), errors=(), relative=_multiplied,
           match=_of("operator.neg", "gl.operator.neg", having=lambda call: dtype(call.operands[0].dtype).is_float),
           title="the minus sign of floats is 0 - x, which has no -0.0"),
    _issue("constants-lose-the-sign-of-zero", "pointwise/inf-059cfe6571", "creation/zero-sign-dea7ac53a9",
           stage="front-end", relative=_with_positive_zero, errors=(), kinds=("zero_sign", "inf", "value"),
           match=lambda case: isinstance(case.program, Call) and _negative_zero(case.program),
           title="the constant -0.0 becomes 0.0"),
    _issue("flip-of-one-element", "movement/dtype--object-has-no-at-5285cc55b6", stage="language", kinds=(),
           match=_of("tl.flip", having=lambda call: set(call.operands[0].shape) <= {1}), relative=_flipped_pairs,
           errors=("*has no attribute*", "AttributeError*", "*not supported between*"),
           title="tl.flip of one element does not compile"),
    _issue("flip-without-an-axis", "movement/not-supported-betwe-a8f639e5b5", stage="language", kinds=(),
           match=_of("tl.flip", having=lambda call: "dim" not in call.options), relative=_flipped_bytes,
           errors=("*not supported between*", "TypeError*"), title="tl.flip without an axis does not compile"),
    _issue("small-constants-of-bf16-are-zero", "operators/value-73b3f58d99", stage="front-end", errors=(),
           match=lambda case: isinstance(case.program, Call) and _small_beside_bf16(case.program),
           relative=_with_a_half,
           title="numbers below the range of fp16 are 0 beside bf16"),
    _issue("topk-of-one", "ordering/dtype--object-has-no-at-74dff93318", stage="language", kinds=(),
           match=_of("tl.topk", having=lambda call: call.number("k") == 1 and call.operands[0].shape[-1] > 1),
           relative=lambda case: _changed(case, options=cases.call_of(case).options | {"k": 2}),
           errors=("*has no attribute*", "AttributeError*"), title="tl.topk of one element does not compile"),
    _issue("ieee-rounding-of-fp64", "pointwise/intrinsic-call-returns-d-a170789e86",
           "reductions/intrinsic-call-returns-d-3726622d17", stage="ttgir", kinds=(),
           match=_of("tl.fdiv", "gl.fdiv", "tl.softmax", having=lambda call: call.stored[0] == "fp64"
                     and bool(call.option("ieee_rounding"))),
           relative=_without("ieee_rounding"), errors=("*intrinsic call returns*", "SIG*"),
           title="ieee_rounding of fp64 calls the division of fp32"),
    KnownIssue(
        name="hypot-overflows-early", stage="llvm", truth="accuracy", where=(("language.pointwise", "own"),),
        entries=("language.pointwise/inf-8b9efa5ad5",), kinds=("inf",), match=_of("libdevice.hypot.hypot"),
        relative=lambda case: _changed(case, row="libdevice.atan2.atan2"),
        title="hypot of the largest number is infinite"),
    _issue("specials-of-fp8e5-to-bf16", "conversions/nan-missing-ac60e5b7be", "conversions/inf-d9a7595c15",
           stage="ttgir", errors=(), kinds=("nan_missing", "inf", "value"), relative=_stored_as("fp16"),
           match=_of("tl.cast", "tl.store.implicit", having=lambda call: call.operands[0].dtype == "fp8e5"
                     and call.stored[0] == "bf16"),
           title="infinities and NaNs of fp8e5 become numbers in bf16"),
    KnownIssue(
        name="cache-hints-that-ptx-cannot-combine", stage="ttgir", truth="contract", where=(("language.*", "own"),),
        entries=("language.memory/command----path-----line-be5ae97611",
                 "language.memory/command----path-----line-7595d7f159",
                 "language.memory/command----path-----line-d254ac9591"),
        title="combinations of cache, eviction and volatile that PTX has no instruction for are refused by ptxas",
        match=_of("tl.load", "tl.store", having=_hints_that_ptx_cannot_combine),
        relative=_without("evict", "volatile"), errors=("Command*", "PTXASError*"), kinds=()),
    _issue("interpreter-takes-floats-for-constants", "operators/another-type-760cfb6022", stage="interpreter",
           backends=("interpreter",), match=_narrow_beside_an_argument, relative=_wide_beside_an_argument,
           errors=_SHAPES, kinds=("value", "inf", "nan_missing", "nan_unexpected", "zero_sign"),
           title="the interpreter takes a float that is passed at launch for a constant, which does not promote"),
    _issue("interpreter-refuses-truth-values", "operators/valueerror--numpy-data-i-10aa2ec322", stage="interpreter",
           kinds=(), backends=("interpreter",), match=_passes_a_truth_value, relative=_truth_values_as_constants,
           errors=("*exceeds dtype primitive_bitwidth*", "ValueError*"),
           title="the interpreter refuses a truth value that is passed at launch"),
    _issue("interpreter-takes-axes-from-the-front-only", "reductions/another-shape-5a2e916902",
           "scans/value-018e4479a3", stage="interpreter", backends=("interpreter",),
           match=_of(*_FOLDS, *_SCANS, having=_negative),
           relative=_counted_from_the_front,
           title="the interpreter folds or scans along another axis where the axis is negative"),
    _issue("softmax-without-kept-axes", "reductions/another-shape-a3e9f40cb8",
           "reductions/cannot-make-shape-compat-d4cf5a35b6", "reductions/value-4aeef41943", stage="language",
           errors=(*_SHAPES, "*make_shape_compatible*", "ValueError*"),
           match=_of("tl.softmax", having=lambda call: call.number("dim") > 0), relative=_without("dim"),
           title="tl.softmax along another axis than the first subtracts the maxima of other lines"),
    _issue("interpreter-forgets-kept-axes", stage="interpreter", backends=("interpreter",),
           relative=_without("keep_dims", "axis"),
           match=_of(*_FOLDS, having=lambda call: bool(call.option("keep_dims"))
                     and call.option("axis", "None") == "None"),
           title="the interpreter keeps no axes where all of them are folded by a function of the user's"),
    _issue("gluon-forgets-kept-axes", "gluon/expected-expand-dims-inp-18ec9db717",
           "gluon/expected-expand-dims-inp-3f7054e22e", stage="language", kinds=(),
           relative=_without("keep_dims"), match=_keeps_axes_of_one_value,
           errors=("*expected expand_dims input*", "AssertionError*", "TypeError*", "ValueError*"),
           title="folds to one value that keep its axes do not compile in Gluon"),
    _issue("gluon-extrema-with-indices", "gluon/gluonsemantic-arange---m-67cba9482a", stage="language", kinds=(),
           errors=("*positional argument*", "TypeError*"),
           match=_of("gl.max.indices", "gl.min.indices"),
           relative=lambda case: _changed(
               case, row=cases.call_of(case).row.removesuffix(".indices"), stored=_extremum_type(case),
               options={name: value for name, value in cases.call_of(case).options.items() if "indices" not in name}),
           title="gl.max and gl.min with return_indices raise: their places lack a layout"),
    _issue("arithmetic-of-8-bit-floats", "narrow/llvm-fadd--op-operand-16ad3c2523", stage="ttgir", kinds=(),
           relative=_of_halves,
           match=lambda case: isinstance(case.program, Call) and case.program.row.startswith("fp8.")
           and any(one.dtype in FP8 for one in case.program.operands),
           errors=("PassManager*", "Assertion*", "SIG*", "*legalize*", "*floating point LLVM type*",
                   "*packLLElements*", ""),
           title="sums, products, comparisons, folds and sorts of 8-bit floats do not compile"),
    _issue("interpreter-places-of-nans", "reductions/valueerror--all-nan-slic-d59876b0a5", stage="interpreter",
           backends=("interpreter",),
           kinds=(), relative=of_small_numbers,
           match=lambda case: _places_of_floats(case) and of_small_numbers(case) != case,
           errors=("*All-NaN*", "ValueError*"),
           title="the interpreter raises where it looks for the largest or smallest of NaNs alone"),
    _issue("interpreter-exchanges-no-floats", "memory/valueerror--unsupported-1479c69ea1", stage="interpreter",
           backends=("interpreter",),
           kinds=(), relative=_all_of_integers,
           match=_of("tl.atomic_xchg", having=lambda call: dtype(call.operands[0].dtype).is_float),
           errors=("*Unsupported data type*", "ValueError*"),
           title="the interpreter refuses tl.atomic_xchg of floats"),
    _issue("tensor-sort-does-nothing", "ordering/attributeerror---nonetyp-bcf5bc102b",
           "ordering/another-type-a781c581a4", stage="front-end", match=_of("tensor.sort"), kinds=(),
           relative=_by_function, errors=(*_SHAPES, "AttributeError: 'NoneType'*"),
           title="the method `sort` of tensors is a stub that returns None"),
    _issue("sorted-values-widened", "ordering/another-type-2f54dcdbd6", "ordering/another-type-dc148baf67",
           stage="language", match=_of("tl.sort", "tl.topk", "fp8.sort", having=_narrow),
           relative=_of_32_bits, kinds=(),
           title="sort and topk give narrow types back widened to 32 bits where they use max or min"),
    _issue("dot-of-bytes-refuses-an-accumulator", "products/assertionerror-084b767c5e",
           "products/compile-error-1dc65160da", stage="front-end", kinds=(),
           match=_of("tl.dot", having=lambda call: call.operands[0].dtype == "i8" and len(call.operands) > 2),
           relative=lambda case: _changed(case, operands=cases.call_of(case).operands[:2]),
           errors=("", "AssertionError*"),
           title="tl.dot of i8 with an i32 accumulator fails an assertion without a text unless out_dtype is given"),
    _issue("interpreter-umulhi-of-negative-numbers", "pointwise/overflowerror--python-in-a364b2f5d2",
           stage="interpreter", backends=("interpreter",),
           match=_of("tl.umulhi", having=lambda call: call.stored[0][0] == "i"),
           relative=_unsigned, errors=("OverflowError*",),
           title="the interpreter multiplies negative numbers as unsigned ones and raises"),
    _issue("constants-of-fp8", "creation/attributeerror---interpr-77e44be28b",
           "creation/triton--c-libtriton-ir-3b0dc543ae", "creation/triton--c-libtriton-ir-8ef94ba111",
           stage="front-end",
           match=_of("tl.full", having=lambda call: call.stored[0] in FP8), relative=_stored_as("fp16"), kinds=(),
           errors=("*has no attribute 'get_fp8*",), upstream=("triton#5601",),
           title="a constant of an fp8 type does not compile, and raises in the interpreter"),
    _issue("casts-between-8-bit-floats-and-fp64", "conversions/assertion--roundingmode-f31b6b0ea8", stage="ttgir",
           match=_of("tl.cast", "tl.store.implicit", having=_between_8_bit_floats), relative=_stored_as("fp16"),
           errors=("Assertion*", "Unsupported rounding mode*", "PassManager*", "SIGABRT", ""), kinds=(),
           title="conversions between 8-bit floats, and between them and fp64, do not compile"),
)
