"""Known issues of integer division and remainder."""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case, Constant, Iota
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype as dtype_info

_PREDICTED = "tridiff.fuzz.known.predictions.division"


def _negative_ramp(case: Case, *forms: str) -> bool:
    """Whether the kernel divides a contiguous run that has lanes below zero by one divisor, of size 2 at least."""
    if case.params.get("form") not in forms or case.params.get("divisor_kind") == "loaded":
        return False
    a, b = case.array("a"), case.array("b")
    if dtype_info(a.dtype).kind != "int" or a.content is None or b.content is None:
        return False
    start, divisor = a.content.base, b.content.base
    if not isinstance(start, Iota) or not isinstance(divisor, Constant) or abs(int(divisor.value)) < 2:
        return False
    wraps = start.start + case.sizes["rows"] - 1 > int(dtype_info(a.dtype).max)
    return start.start < 0 or wraps


def _divided_run(case: Case) -> bool:
    return _negative_ramp(case, "ramp", "gather")


def _remainder_as_address(case: Case) -> bool:
    return _negative_ramp(case, "gather")


def _bytes_divided(case: Case) -> bool:
    return case.params.get("form") == "blocks" and case.array("a").dtype == "u8"


def _bytes_divided_in_a_call(case: Case) -> bool:
    call = case.program
    return (isinstance(call, Call) and call.row.removeprefix("gl.") in ("operator.floordiv", "operator.mod")
            and call.stored == ("u8",) and call.operands[1].given)


def _narrow_run_from_a_constant(case: Case) -> bool:
    """Whether two neighbours' places become integers of 8 or 16 bits, to which the compiler adds one constant."""
    return (case.params.get("form") in ("ramp", "gather") and case.params.get("start_kind") == "constexpr"
            and int(dtype_info(case.array("a").dtype).bits) <= 16)


def _from_a_register(case: Case) -> Case:
    return replace(case, params={**case.params, "start_kind": "run_time"})


ISSUES = (
    KnownIssue(
        name="packed-sum-half-used", title="a packed sum of 16-bit integers of which half is used adds 0",
        upstream=("triton#11581",), stage="ptxas", backends=("cuda",),
        where=tuple((target, subject) for target in (
            "triton.floordiv", "triton.mod", "helpers.div_floor_integer", "helpers.remainder_integer")
            for subject in ("own", "inductor")),
        entries=("helpers.remainder_integer/value-b301edc604",), match=_narrow_run_from_a_constant,
        relative=_from_a_register),
    KnownIssue(
        name="signed-floordiv-ramp", title="// of a contiguous run below zero gives one quotient to a group of lanes",
        upstream=("triton#7749",), stage="ttgir",
        where=(("triton.floordiv", "own"), ("helpers.div_floor_integer", "inductor")),
        entries=("triton.floordiv/value-cd18b7a4b0", "triton.floordiv/value-d3fbf381ae",
                 "helpers.div_floor_integer/value-8abf8c0e12", "helpers.div_floor_integer/value-ecf810ee59"),
        match=_divided_run, explains=f"{_PREDICTED}:ramp_quotient"),
    KnownIssue(
        name="signed-remainder-ramp", title="% of a contiguous run below zero, as an address, reads what follows",
        upstream=("triton#7749",), stage="ttgir",
        where=(("triton.mod", "own"),), entries=("triton.mod/value-23c7c3836b",),
        match=_remainder_as_address, explains=f"{_PREDICTED}:ramp_remainder_address"),
    KnownIssue(
        name="narrow-division-by-zero", title="u8 // and % of a zero divisor change the lanes above",
        stage="llvm", truth="undefined",
        where=(("triton.floordiv", "own"), ("triton.mod", "own"), ("helpers.div_floor_integer", "inductor"),
               ("helpers.remainder_integer", "inductor")),
        entries=("triton.floordiv/value-6d90010665", "triton.mod/value-b52d2a95a0",
                 "helpers.div_floor_integer/value-9db4503538"),
        match=_bytes_divided, explains=f"{_PREDICTED}:byte_division_by_zero"),
    KnownIssue(
        name="narrow-division-by-zero", title="u8 // and % of a zero divisor change the lanes above",
        stage="llvm", truth="undefined", where=(("language.operators", "own"), ("language.gluon", "own")),
        entries=("language.gluon/value-c83ff3a43a",),
        match=_bytes_divided_in_a_call, explains=f"{_PREDICTED}:byte_division_by_zero_in_a_call"),
)
