"""Known issues of calls in Gluon that follow from who holds what: which thread and register has which element."""

from functools import partial
from math import prod

from tridiff.fuzz.known.calls import FOLDS, GLUON_SCANS, in_the_first_layout
from tridiff.fuzz.known.chains.features import MANY
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.layouts import Blocked, Slice
from tridiff.kernels.gluon.ownership import Holding, holding, registers
from tridiff.kernels.gluon.scans import lanes_repeated, registers_apart
from tridiff.kernels.gluon.warp_conversions import low_bits_swapped_twice
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.gluon import blocked
from tridiff.oracles.dtypes import dtype

_WHERE = (("language.gluon", "own"),)
_PREDICTED = "tridiff.fuzz.known.predictions.gluon_calls"


def _axis(call: Call) -> int:
    return call.number("axis") % len(call.operands[0].shape)


def left_by(call: Call) -> tuple[int, ...]:
    """The shape that a fold along an axis leaves."""
    shape, axis = call.operands[0].shape, _axis(call)
    return (*shape[:axis], *shape[axis + 1:])


def _scanned(case: Case) -> tuple[Blocked, tuple[int, ...], int] | None:
    """Layout, shape and axis of a scan in another layout than the first; None for other calls."""
    call = case.program
    if not isinstance(call, Call) or not call.row.startswith(GLUON_SCANS) or not call.number("layout"):
        return None
    shape = call.operands[0].shape
    return blocked(len(shape), case.options.num_warps, call.number("layout")), shape, _axis(call)


def _scans_astray(case: Case) -> bool:
    """Whether a scan has fewer elements than lanes, or lanes that repeat others stand below those along its axis."""
    found = _scanned(case)
    if found is None:
        return False
    layout, shape, axis = found
    return case.options.num_warps * 32 > prod(shape) or lanes_repeated(layout, shape=shape, axis=axis)


def _registers_apart(case: Case) -> bool:
    """Whether a scan takes a thread's registers in another order than its elements along the axis."""
    found = _scanned(case)
    if found is None:
        return False
    layout, shape, axis = found
    return holding(layout, shape=shape) is not None and registers_apart(layout, shape=shape, axis=axis)


def holdings(call: Call, warps: int) -> tuple[Holding, Holding] | None:
    """Who holds what of the result of a fold along an axis, as it comes and as it is stored; None for other calls."""
    folds = {one.replace("tl.", "gl.") for one in FOLDS}
    shape = call.operands[0].shape
    if call.row not in folds or call.option("axis", "None") == "None" or call.option("keep_dims") or len(shape) < 2:
        return None
    rank, number, left = len(shape), call.number("layout"), left_by(call)
    before = holding(Slice(_axis(call), blocked(rank, warps, number)), shape=left)
    after = holding(blocked(rank - 1, warps, number), shape=left)
    return (before, after) if before is not None and after is not None else None


def _exchanges_twice(case: Case) -> bool:
    """Whether a fold of 8-bit elements changes its layout as 3.6.0 does wrong."""
    call = case.program
    if not isinstance(call, Call) or dtype(call.stored[0]).storage_bits > 8:
        return False
    held = holdings(call, case.options.num_warps)
    return held is not None and low_bits_swapped_twice(*held)


def whole_operand(case: Case) -> str:
    """The operand of a product by fused multiplications and additions that every thread holds as a whole, or ""."""
    call = case.program
    if not isinstance(call, Call) or call.row != "gl.dot_fma":
        return ""
    one = blocked(2, case.options.num_warps, call.number("layout"))
    alone = [threads * warps == 1 for threads, warps in zip(one.threads_per_warp, one.warps_per_cta, strict=True)]
    return next((f"x{axis}" for axis in (0, 1) if alone[axis]), "")


def _shuffles_much(case: Case) -> bool:
    """Whether a gather within a warp exchanges so many registers that it takes minutes to compile."""
    call = case.program
    if not isinstance(call, Call) or call.row != "gl.gather":
        return False
    one = blocked(len(call.operands[0].shape), case.options.num_warps, call.number("layout"))
    return one.warps_per_cta[_axis(call)] == 1 and prod(registers(one, shape=x.shape) for x in call.operands) >= MANY


_issue = partial(KnownIssue, stage="ttgir", backends=("cuda",), where=_WHERE)

ISSUES = (
    _issue(
        name="scan-carry-from-a-repeated-lane", where=(("language.*", "own"),),
        entries=("language.gluon/value-2d8ab1162b",), match=_scans_astray,
        relative=in_the_first_layout, upstream=("triton#9185", "triton#9189"),
        title="a scan in Gluon fetches its carry from a lane that repeats others"),
    _issue(
        name="narrow-shuffle-swapped-twice", entries=("language.gluon/value-0c382df030",), match=_exchanges_twice,
        upstream=("triton#9713",), explains=f"{_PREDICTED}:swapped_twice", instead=in_the_first_layout,
        title="bytes that change lanes within a warp are exchanged twice"),
    _issue(
        name="whole-operand-of-dot-fma-transposed", entries=("language.gluon/value-6f6b879958",),
        match=lambda case: bool(whole_operand(case)), explains=f"{_PREDICTED}:operand_in_another_order",
        title="gl.dot_fma takes the elements of an operand that each thread holds as a whole in another order"),
    _issue(
        name="scan-registers-apart", match=_registers_apart, relative=in_the_first_layout,
        title="a scan takes registers for neighbours that are none"),
    _issue(
        name="gather-shuffles-grow-quadratically", truth="contract", backends=(), match=_shuffles_much,
        kinds=(), errors=("compile",), title="a gather within a warp takes minutes to compile"),
)
