"""Known issue of Python numbers beside tensors: where they do not take the tensor's type (contract: language.md §1)."""

from msgspec.structs import replace

from tridiff.fuzz.known.calls import changed, converted, loses_bits
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.rows.operators import COMPARISONS
from tridiff.fuzz.records import Case
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import dtype

EXTREMA = {"tl.minimum": ("fmin", "minimum"), "tl.maximum": ("fmax", "maximum")}
"""By row: the operation, and the one that propagates NaN."""
_LOADS = ("tl.load", "pointer.cast")
_COMPARED = tuple(f"operator.{op}" for op in COMPARISONS.values())


def plain_row(call: Call) -> str:
    """The row of a call, of one in Gluon the row that both share."""
    return call.row.replace("gl.operator", "operator").replace("gl.", "tl.")


def _number_beside(call: Call) -> tuple[Operand, Operand] | None:
    """A finite number of fp32 and the floats beside it."""
    numbers = [one for one in call.operands if one.constant and one.dtype == "fp32" and one.number[:5] != "float"]
    given = [one for one in call.operands if one.given and dtype(one.dtype).is_float]
    return (numbers[0], given[0]) if len(numbers) == len(given) == 1 and len(call.operands) == 2 else None


def _differs(case: Case) -> bool:
    """Whether a comparison or an extremum of fp64 depends on the type that a number has: rounded to the tensor's it is
    another one than rounded to fp32."""
    call = case.program
    if not isinstance(call, Call):
        return False
    row = plain_row(call)
    beside = _number_beside(call) if row in (*_COMPARED, *EXTREMA) else None
    if beside is None:
        return False
    number, given = beside
    return (row in _COMPARED or given.dtype == "fp64") and converted(number.value, given.dtype) != converted(
        number.value, "fp32")


def _filling(call: Call) -> int | None:
    """Which operand of a load or an atomic operation on fp64 is a number, not known before as one of the tensor's type:
    what masked-off lanes are given, or what memory is changed by."""
    row = plain_row(call)
    place = 2 if row in _LOADS else 1 if row.startswith("tl.atomic_") else None
    numbers = [k for k, one in enumerate(call.operands) if one.constant and one.dtype == "fp32"]
    return place if numbers == [place] and call.stored[0] == "fp64" else None


def rounded(case: Case) -> Case:
    """The same call with its numbers rounded to fp32."""
    call = cases.call_of(case)
    return replace(case, program=replace(call, operands=tuple(
        replace(one, number=repr(converted(one.value, "fp32"))) if one.constant and one.dtype == "fp32" else one
        for one in call.operands)))


def _filled_otherwise(case: Case) -> bool:
    """Whether a load or an atomic operation on fp64 depends on the type that a number has."""
    call = case.program
    if not isinstance(call, Call) or (place := _filling(call)) is None:
        return False
    return loses_bits(call.operands[place])


def _with_a_half(case: Case) -> Case | None:
    """The same operation with 0.5, which is the same number in all types."""
    return changed(case, operands=tuple(
        replace(one, number="0.5") if one.constant else one for one in cases.call_of(case).operands))


ISSUES = (
    KnownIssue(
        name="numbers-count-as-tensors", stage="front-end", truth="contract",
        where=(("language.*", "own"), ("language.*", PLAIN)), kinds=("value",),
        entries=("language.operators/value-794715ff2e", "language.pointwise/value-7ceb060567"), match=_differs,
        explains="tridiff.fuzz.known.predictions.numbers:of_fp32", instead=_with_a_half,
        title="a Python number is of fp32 in comparisons, tl.minimum and tl.maximum, whatever tensor is beside it"),
    KnownIssue(
        name="numbers-for-memory-of-fp64", stage="front-end", truth="contract",
        where=(("language.*", "own"), ("language.*", PLAIN)), kinds=("value",),
        entries=("language.memory/value-56ec18fe39", "language.memory/value-b2e10a088a"),
        match=_filled_otherwise,
        explains="tridiff.fuzz.known.predictions.numbers:of_rounded", instead=_with_a_half,
        title="a Python number is of fp32 where it fills a load's lanes or changes memory of fp64"),
)
