"""Known issues of pipelines that a plan describes."""

from msgspec.structs import replace

from tridiff.fuzz.kinds.plans.cases import negated_extremum
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.plan import Op, Plan


def _matches(case: Case) -> bool:
    return isinstance(case.program, Plan) and negated_extremum(case.program)


def _not_negated(case: Case) -> Case:
    """The same steps, that multiply by 3 instead of -1, or add 2 instead of 1 behind an inversion."""
    plan = case.program
    assert isinstance(plan, Plan)
    ops: list[Op] = []
    for op in plan.ops:
        if (op.kind, op.constant) == ("multiply", -1):
            op = replace(op, constant=3)
        elif (op.kind, op.constant) == ("add", 1) and ops and ops[-1].kind == "invert":
            op = replace(op, constant=2)
        ops.append(op)
    return replace(case, program=replace(plan, ops=tuple(ops)))


def _sanitized(case: Case) -> bool:
    return isinstance(case.program, Plan) and case.params.get("sanitize") is True


_WHERE = tuple((glob, "own") for glob in ("async.*", "tma.*", "mbarrier.*", "warp_specialize.*", "wgmma.*"))

ISSUES = (
    KnownIssue(
        name="negation-lost-in-extremum-of-three", title="one instruction of two maxima loses a negation",
        upstream=("pytorch#190973", "triton#11032"), stage="ptxas", truth="defect", where=_WHERE,
        entries=("warp_specialize.ring/nan-missing-1a7ca3502c",), match=_matches, relative=_not_negated),
    KnownIssue(
        name="sanitizer-without-a-buffer", title="the sanitizer asserts that a kernel has shared buffers",
        stage="ttgir", truth="defect", where=_WHERE, entries=("async.copy_ring/assertion--numbufs---n-eeecac0e63",),
        match=_sanitized, errors=("Assertion `numBufs > N' failed",)),
)
