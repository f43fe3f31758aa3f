"""Known issues of atomic operations on blocks of fewer elements than a thread's registers."""

from tridiff.fuzz.known.calls import changed
from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call

_OF_TWO = 4
"""From this layout on a thread holds two elements (`tridiff.kernels.language.gluon.layout`)."""


def _held_twice(case: Case) -> bool:
    """Whether an atomic operation has one element, which a thread holds in two registers."""
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.atomic_") and call.operands[0].shape == (1,)
            and call.number("layout") >= _OF_TWO)


def _held_once(case: Case) -> Case | None:
    """The same operation in a layout in which a thread holds one element."""
    return changed(case, options=cases.call_of(case).options | {"layout": 0})


ISSUES = (
    KnownIssue(
        name="atomics-for-each-repeated-register", stage="ttgir", truth="defect", where=(("language.gluon", "own"),),
        title="an atomic operation on fewer elements than a thread has registers for is done once for each register",
        entries=("language.gluon/value-fc74ddedd7",), match=_held_twice,
        explains="tridiff.fuzz.known.predictions.atomics:done_twice", instead=_held_once,
        kinds=WRONG, backends=("cuda",)),
)
