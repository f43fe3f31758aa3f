"""Known issues of pointers to truth values, which Triton counts as pointers to bytes."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.known.calls import changed, of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call, Operand

_WHERE = (("language.memory", "own"), ("language.memory", PLAIN))


def _becomes_a_byte(number: int) -> Callable[[Call], bool]:
    """Whether the value in some place is more than a truth value."""
    return lambda call: len(call.operands) > number and call.operands[number].dtype != "i1" and (
        not call.option("compared", False))


def _of_a_truth_value(number: int) -> Callable[[Case], Case | None]:
    """The call with a truth value in that place."""

    def relative(case: Case) -> Case | None:
        call = cases.call_of(case)
        one = call.operands[number]
        truth = replace(one, dtype="i1") if one.given else Operand(kind=one.kind, dtype="i1", number="True")
        return changed(case, operands=(*call.operands[:number], truth, *call.operands[number + 1:]))

    return relative


ISSUES = (
    KnownIssue(
        name="values-behind-pointers-to-truths-are-bytes", stage="front-end", where=_WHERE,
        title="what is stored through a pointer to i1 becomes an i8, not a truth value: 256 is false, 2 is no bool",
        entries=tuple(f"language.memory/{one}" for one in (
            "value-dc5f54838f", "value-406f71ece0", "value-dc5f54838f-beside")),
        match=of("pointer.truth.store", having=_becomes_a_byte(1)), relative=_of_a_truth_value(1),
        explains="tridiff.fuzz.known.predictions.truths:stored"),
    KnownIssue(
        name="other-value-of-a-truth-is-a-byte", stage="front-end", where=_WHERE,
        title="the other value of a load through a pointer to i1 becomes an i8: 256 and 0.5 are false",
        entries=("language.memory/value-3f6628731e",),
        match=of("pointer.truth", having=_becomes_a_byte(3)), relative=_of_a_truth_value(3),
        explains="tridiff.fuzz.known.predictions.truths:filled"),
)
