"""Known issues of what Gluon says about layouts."""

from math import prod

from tridiff.fuzz.known.calls import changed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.records import Case
from tridiff.kernels.language.call import Call

_HELD = 4
"""The first of the layouts of `tridiff.kernels.language.gluon.layout` in which a thread holds two neighbours."""


def _few_for_pairs(case: Case) -> bool:
    """Whether a thread's registers are more than one in a tensor that does not fill the threads of a warp."""
    call = case.program
    return (isinstance(call, Call) and call.row == "gl.num_warps" and call.number("layout") >= _HELD
            and prod(call.operands[0].shape) < 32)


ISSUES = (
    KnownIssue(
        name="bank-conflicts-of-few-elements", stage="front-end", where=(("language.gluon", "own"),),
        entries=("language.gluon/sigabrt-9a71d48210",), match=_few_for_pairs, kinds=(), errors=("SIGABRT",),
        relative=lambda case: changed(case, options=call_of(case).options | {"layout": 0}),
        title="gl.bank_conflicts of a tensor smaller than its layout ends the process"),
)
