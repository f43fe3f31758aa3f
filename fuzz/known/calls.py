"""Patterns of calls of the language, and the same calls written in another way.

A call is written in another way by an axis counted from the front, a function instead of a method, a type or an option
that does not show the defect.
"""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.known.contents import of_small_numbers
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.by_numpy.language import cast
from tridiff.oracles.dtypes import FP8, dtype

_AXES = ("axis", "dim")


def changed(case: Case, **fields: object) -> Case | None:
    """The case of another call: `fields` of the call's."""
    return cases.with_call(case, replace(cases.call_of(case), **fields))


def of(*names: str, having: Callable[[Call], bool] = lambda call: True) -> Callable[[Case], bool]:
    """Whether a case calls one of some rows, and the call has the pattern."""

    def match(case: Case) -> bool:
        return isinstance(case.program, Call) and case.program.row in names and having(case.program)

    return match


def _axis(call: Call) -> str:
    return next((name for name in _AXES if name in call.options), "")


def negative(call: Call) -> bool:
    """Whether an axis is counted from the end."""
    name = _axis(call)
    return bool(name) and call.options[name] != "None" and call.number(name) < 0


def counted_from_the_front(case: Case) -> Case | None:
    call = cases.call_of(case)
    name = _axis(call)
    return changed(case, options=call.options | {name: call.number(name) % len(call.operands[0].shape)})


def without(*options: str) -> Callable[[Case], Case | None]:
    """The call without some options."""
    def relative(case: Case) -> Case | None:
        call = cases.call_of(case)
        return changed(case, options={key: one for key, one in call.options.items() if key not in options})

    return relative


places_of_floats = of(
    "tl.argmax", "tl.argmin", "tl.max.indices", "tl.min.indices", "fp8.argmax", "fp8.argmin",
    having=lambda call: dtype(call.operands[0].dtype).is_float)


def _widest(name: str) -> str:
    return "fp32" if dtype(name).is_float else "i32"


def narrow(call: Call) -> bool:
    """Whether the first operand has fewer than 32 bits."""
    return dtype(call.operands[0].dtype).bits < 32


def of_32_bits(case: Case) -> Case | None:
    """The call of the 32-bit type of its kind."""
    call = cases.call_of(case)
    wide = _widest(call.operands[0].dtype)
    return changed(case, operands=(replace(call.operands[0], dtype=wide), *call.operands[1:]), stored=(wide,))


def by_function(case: Case) -> Case | None:
    """`tl.sort` of small numbers that it does not widen: the order of NaNs is open, and what is open is no control."""
    wide = of_32_bits(case) if narrow(cases.call_of(case)) else case
    return changed(of_small_numbers(wide), row="tl.sort") if wide is not None else None


def stored_as(name: str) -> Callable[[Case], Case | None]:
    """The call with a result of another type."""
    return lambda case: changed(case, stored=(name,))


def unsigned(case: Case) -> Case | None:
    """The call of unsigned integers of the same width."""
    call = cases.call_of(case)
    name = "u" + call.stored[0][1:]
    return changed(case, operands=tuple(replace(one, dtype=name) for one in call.operands), stored=(name,))


def between_8_bit_floats(call: Call) -> bool:
    """Whether a conversion is between two types of 8-bit floats, or one and fp64."""
    pair = (call.operands[0].dtype, call.stored[0])
    return any(one in FP8 for one in pair) and pair[0] != pair[1] and set(pair) <= {*FP8, "fp64"}


FOLDS = ("tl.reduce", "tl.reduce_or", "tl.xor_sum", "tl.reduce.pair", "tl.sum", "tl.max", "tl.min", "tl.argmax",
          "tl.argmin", "tl.max.indices", "tl.min.indices")
SCANS = ("tl.associative_scan", "tl.cumsum", "tl.cumprod")
GLUON_SCANS = ("gl.associative_scan", "gl.cumsum", "gl.cumprod")
"""How the names of rows begin that scan in Gluon."""


def in_the_first_layout(case: Case) -> Case | None:
    """The same call in Gluon in the plain layout that rows have first."""
    return changed(case, options=cases.call_of(case).options | {"layout": 0})


def negative_zero(call: Call) -> bool:
    """Whether the constant -0.0 is an operand."""
    return any(one.number == "-0.0" for one in call.operands)


def with_positive_zero(case: Case) -> Case | None:
    """The call with 0.0 in place of -0.0."""
    return changed(case, operands=tuple(replace(one, number="0.0") if one.number == "-0.0" else one
                                         for one in cases.call_of(case).operands))


def _tiny(number: str) -> bool:
    return "." in number and 0 < abs(float(number)) < 2.0**-24


def small_beside_bf16(call: Call) -> bool:
    """Whether a constant too small for fp16 stands beside bf16, or becomes one."""
    beside = any(one.dtype == "bf16" for one in call.operands) or (call.row == "tl.full" and call.stored == ("bf16",))
    return beside and any(_tiny(one.number) for one in call.operands)


def with_a_half(case: Case) -> Case | None:
    """The call with 0.5 in place of constants too small for fp16."""
    return changed(case, operands=tuple(replace(one, number="0.5") if _tiny(one.number) else one
                                         for one in cases.call_of(case).operands))


def hints_that_ptx_cannot_combine(call: Call) -> bool:
    """Whether more than one hint about caches is given."""
    return len({"cache", "evict", "volatile"} & set(call.options)) > 1


def multiplied(case: Case) -> Case | None:
    """The opposite of the same numbers, by a product with -1."""
    call = cases.call_of(case)
    minus_one = Operand(kind="number", dtype="fp32", number="-1.0")
    return changed(case, row=call.row.replace(".neg", ".mul"), operands=(call.operands[0], minus_one))


def all_of_integers(case: Case) -> Case | None:
    """Every operand and result that is a float as an integer of the same width."""
    call = cases.call_of(case)

    def whole(name: str) -> str:
        return f"i{dtype(name).bits}" if dtype(name).is_float else name

    operands = tuple(replace(one, dtype=whole(one.dtype), number="1" if one.number else "") for one in call.operands)
    return changed(case, operands=operands, stored=tuple(map(whole, call.stored)))


def of_halves(case: Case) -> Case | None:
    """The same operation of fp16."""
    call = cases.call_of(case)
    return changed(case, operands=tuple(replace(one, dtype="fp16") for one in call.operands),
                    stored=tuple("fp16" if one in FP8 else one for one in call.stored))


def extremum_type(case: Case) -> tuple[str, ...]:
    """The type of an extremum without its place."""
    name = cases.call_of(case).operands[0].dtype
    return (_widest(name) if dtype(name).bits < 32 else name,)


def flipped_pairs(case: Case) -> Case | None:
    """The flip of two elements in place of one, along the axis that is given or the last."""
    (block,) = cases.call_of(case).operands
    pair = replace(block, shape=(2,)) if block.shape == (1,) else block
    return changed(case, operands=(pair,), options={"dim": len(block.shape) - 1} | cases.call_of(case).options)


def keeps_axes_of_one_value(case: Case) -> bool:
    """Whether a fold in Gluon that leaves one value is to keep its axes."""
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.") and bool(call.option("keep_dims"))
            and (call.option("axis", "None") == "None" or len(call.operands[0].shape) == 1))


def converted(value: float, name: str) -> float:
    """A number as a type has it."""
    return float(cast(value, to=name).astype("float64").item())


def loses_bits(one: Operand) -> bool:
    """Whether a number, no NaN and no infinity, is another one in fp32."""
    return one.number[:5] != "float" and converted(one.value, "fp32") != one.value


def _rounded_where_passed(one: Operand) -> bool:
    return one.kind == "argument" and one.dtype == "fp32" and loses_bits(one)


def another_beside_an_argument(case: Case) -> bool:
    """Whether a float that is passed at launch meets a block of narrower floats or of integers, or one of fp64 beside
    which its rounding to fp32 shows."""
    call = case.program
    if not isinstance(call, Call):
        return False
    given = {one.dtype for one in call.operands if one.given}
    if not given <= {"fp32", "fp64"} and any(one.kind == "argument" and one.dtype == "fp32" for one in call.operands):
        return True
    return "fp64" in given and any(map(_rounded_where_passed, call.operands))


def passes_a_truth_value(case: Case) -> bool:
    """Whether a truth value is passed at launch."""
    call = case.program
    return isinstance(call, Call) and any(one.kind == "argument" and one.dtype == "i1" for one in call.operands)


def truth_values_as_constants(case: Case) -> Case | None:
    """The call with constants in place of arguments."""
    return changed(case, operands=tuple(
        replace(one, kind="constexpr") if one.kind == "argument" else one for one in cases.call_of(case).operands))


def alike_beside_an_argument(case: Case) -> Case | None:
    """The call whose blocks are of fp32, as the argument is; beside fp64 with an argument that is the same in fp32."""
    call = cases.call_of(case)
    if any(one.given and one.dtype == "fp64" for one in call.operands):
        return changed(case, operands=tuple(
            replace(one, number="0.5") if _rounded_where_passed(one) else one for one in call.operands))
    operands = tuple(replace(one, dtype="fp32") if one.given else one for one in call.operands)
    return changed(case, operands=operands, stored=tuple(one if one == "i1" else "fp32" for one in call.stored))


def longer_than_its_source(call: Call) -> bool:
    """Whether indices of several axes are more along the gathered axis than the source has places."""
    source, index = (one.shape for one in call.operands)
    return len(source) > 1 and max(one - other for one, other in zip(index, source, strict=True)) > 0


def from_a_longer_source(case: Case) -> Case | None:
    """The gather from a source of the shape of its indices."""
    call = cases.call_of(case)
    return changed(case, operands=(replace(call.operands[0], shape=call.operands[1].shape), call.operands[1]))


def with_threads_to_spare(case: Case) -> bool:
    """Whether all axes of a block of Gluon are folded at once, and lanes of the warp lie along two axes (layouts from
    2 on), along one of which they are more than elements."""
    call = case.program
    if not isinstance(call, Call) or call.row.removeprefix("gl.") not in {one.removeprefix("tl.") for one in FOLDS}:
        return False
    shape = call.operands[0].shape
    return (call.row.startswith("gl.") and call.option("axis", "None") == "None" and len(shape) > 1
            and call.number("layout") >= 2 and min(shape) < 16)


def along_one_axis(case: Case) -> Case | None:
    """The fold of the first axis only."""
    return changed(case, options=cases.call_of(case).options | {"axis": 0})


def scalar_for_a_block(case: Case) -> bool:
    """Whether an atomic operation of Gluon gets a scalar for a block of memory."""
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.atomic_") and len(call.operands) > 1
            and bool(call.operands[0].shape) and call.operands[1].shape != call.operands[0].shape)


def block_for_a_block(case: Case) -> Case | None:
    """The atomic operation with a block of values."""
    memory, value, *mask = cases.call_of(case).operands
    name = value.dtype if value.given else memory.dtype
    return changed(case, operands=(memory, Operand(dtype=name, shape=memory.shape), *mask))
