"""Known issues of atomic operations: on blocks of fewer elements than a thread's registers, and for AMD."""

from tridiff.fuzz.known.calls import changed, in_the_first_layout, of
from tridiff.fuzz.known.issue import WRONG, KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call

_OF_TWO = 4
"""From this layout on a thread holds two elements (`tridiff.kernels.language.gluon.layout`)."""


def _held_twice(case: Case) -> bool:
    """Whether an atomic operation has one element, which a thread holds in two registers."""
    call = case.program
    return (isinstance(call, Call) and call.row.startswith("gl.atomic_") and call.operands[0].shape == (1,)
            and call.number("layout") >= _OF_TWO)


def _adds(case: Case) -> Case | None:
    """The addition of the same operands."""
    return changed(case, row="tl.atomic_add")


ISSUES = (
    KnownIssue(
        name="exchanges-by-buffers-for-amd", stage="ttgir", where=(("language.memory", "own"),),
        title="tl.atomic_xchg of a block becomes an intrinsic that LLVM does not have for AMD", backends=("compile",),
        entries=("language.memory/could-not-find-llvm-intr-2b4f92c940",), match=of("tl.atomic_xchg"), relative=_adds,
        errors=("could not find LLVM intrinsic: *buffer.atomic.exch*",), kinds=()),
    KnownIssue(
        name="exchanges-of-fp64-for-amd", stage="ttgir", where=(("language.memory", "own"),),
        title="tl.atomic_xchg of a block of fp64 ends the compiler for AMD", backends=("compile",),
        entries=("language.memory/sigabrt-7da628fc03",), relative=_adds, errors=("SIGABRT",), kinds=(),
        match=of("tl.atomic_xchg", having=lambda call: call.stored[0] == "fp64" and bool(call.operands[0].shape))),
    KnownIssue(
        name="atomics-for-each-repeated-register", stage="ttgir", where=(("language.gluon", "own"),),
        title="an atomic operation on fewer elements than a thread has registers for is done once for each register",
        entries=("language.gluon/value-fc74ddedd7",), match=_held_twice,
        explains="tridiff.fuzz.known.predictions.atomics:done_twice", instead=in_the_first_layout,
        kinds=WRONG, backends=("cuda",)),
)
