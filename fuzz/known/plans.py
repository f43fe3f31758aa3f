"""Known issues of pipelines that a plan describes."""

from msgspec.structs import replace

from tridiff.fuzz.kinds.plans.cases import negated_extremum
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.pipelines.plan import DTYPE_BITS, Op, Plan


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


def _half_used(plan: Plan) -> tuple[int, ...]:
    """Places of sums of 16-bit numbers, behind which a row's maximum is subtracted and another sum, or an inversion, is
    formed. LLVM joins the two sums, and only the maximum asks for the first one, which ptxas up to 13.1 may compute
    half by half, adding 0 (mbarrier.phases/value-a40da7f7b6); products in between become part of it. Or sums behind a
    scan that are mixed with their own bits: what LLVM knows of the scan's last element asks for half of a pair."""
    found = []
    for place, op in enumerate(plan.ops):
        behind = [one.kind for one in plan.ops[place + 1:]]
        scanned = place > 0 and plan.ops[place - 1].kind == "scan" and behind[:1] == ["mix"]
        while behind[:1] == ["multiply"]:
            del behind[0]
        maximum = behind[:1] == ["row_max"] and behind[1:2] in (["add"], ["invert"])
        if op.kind == "add" and op.constant and (scanned or maximum):
            found.append(place)
    return tuple(found) if DTYPE_BITS[plan.dtype] == 16 else ()


def _joins_sums(case: Case) -> bool:
    return isinstance(case.program, Plan) and bool(_half_used(case.program))


def _with_bits_changed(case: Case) -> Case:
    """The same steps with an exclusive or in place of the first of two sums."""
    plan = case.program
    assert isinstance(plan, Plan)
    places = _half_used(plan)
    ops = tuple(replace(op, kind="xor") if place in places else op for place, op in enumerate(plan.ops))
    return replace(case, program=replace(plan, ops=ops))


def _sanitized(case: Case) -> bool:
    """Whether a kernel of which the compiler takes away every buffer goes to the sanitizer: that of 3.6.0 asserts that
    there is one. A known number of no tiles leaves none, unless a predicate guards each access."""
    plan = case.program
    return isinstance(plan, Plan) and case.params.get("sanitize") is True and not plan.tiles and (
        plan.loop != "range" and plan.tail != "predicate")


_WHERE = tuple((glob, "own") for glob in ("async.*", "tma.*", "mbarrier.*", "warp_specialize.*", "wgmma.*"))

ISSUES = (
    KnownIssue(
        name="negation-lost-in-extremum-of-three", title="one instruction of two maxima loses a negation",
        upstream=("pytorch#190973", "triton#11032"), stage="ptxas", where=_WHERE,
        entries=("warp_specialize.ring/nan-missing-1a7ca3502c",), match=_matches, relative=_not_negated),
    KnownIssue(
        name="packed-sum-half-used", title="a packed sum of 16-bit integers of which half is used adds 0",
        upstream=("triton#11581",), stage="ptxas", where=_WHERE,
        entries=("mbarrier.phases/value-a40da7f7b6",), match=_joins_sums, relative=_with_bits_changed),
    KnownIssue(
        name="sanitizer-without-a-buffer", title="the sanitizer asserts that a kernel has shared buffers",
        stage="ttgir", where=_WHERE, entries=("async.copy_ring/assertion--numbufs---n-eeecac0e63",),
        match=_sanitized, errors=("Assertion `numBufs > N' failed",)),
)
