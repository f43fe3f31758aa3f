"""Calls in Gluon whose elements come from other registers or lanes: what they give, and what is something else."""

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.support.cases import calling
from tests.support.outcomes import outcome_of, wrong_in
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.gluon_calls import ISSUES
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case, Content, Explicit, LaunchOptions, Small, Verdict
from tridiff.fuzz.registry import find
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize

CARRY, TWICE, WHOLE, APART, SHUFFLES = ISSUES


def _case(row: str, *operands: Operand, stored: str, warps: int = 1, **options: int | str) -> Case:
    call = Call(row=row, operands=operands, options=dict(options), stored=(stored,))
    contents = {f"x{k}": Content(base=Small(seed=k + 1, low=-9, high=9)) for k in range(len(operands))}
    return calling(call, contents, programs=2, options=LaunchOptions(num_warps=warps))


def _dot(m: int, n: int, k: int, warps: int = 1, layout: int = 0) -> Case:
    return _case("gl.dot_fma", *(Operand(dtype="fp32", shape=one) for one in ((m, k), (k, n), (m, n))),
                 stored="fp32", warps=warps, layout=layout)


def _scan(shape: tuple[int, ...], axis: int, layout: int, warps: int = 1) -> Case:
    return _case("gl.associative_scan", Operand(dtype="i32", shape=shape), stored="i32", warps=warps, axis=axis,
                 function="_add", layout=layout)


@each("layout, m, n, k", [
    (0, 16, 16, 16), (0, 16, 32, 16), (1, 32, 16, 16), (1, 16, 16, 32)])
def test_a_product_with_an_operand_in_another_order_is_known_and_the_other_operand_so_is_new(
        layout: int, m: int, n: int, k: int):
    """By the pairs of registers in the PTX of 3.6.0: element (k, j) is number k * extent + j of what lies there with k
    as the fastest axis."""
    rehearsal = rehearse(_dot(m, n, k, layout=layout))
    x = [rehearsal.buffers[f"x{number}"].typed().reshape(2, *shape).double()
         for number, shape in enumerate(((m, k), (k, n), (m, n)))]

    def product(first: bool) -> torch.Tensor:
        left, right = x[0].clone(), x[1].clone()
        for number in range(k * (m if first else n)):
            into, out_of = divmod(number, m if first else n), divmod(number, k)[::-1]
            if first:
                left[:, into[1], into[0]] = x[0][:, out_of[1], out_of[0]]
            else:
                right[:, into[0], into[1]] = x[1][:, out_of[0], out_of[1]]
        return (left @ right + x[2]).float().reshape(2, m * n)

    wrong, other = product(bool(layout)), product(not layout)
    assert rehearsal.judged({"out0": wrong})[1] == (WHOLE.name,)
    assert rehearsal.judged({"out0": other})[1] == ()
    wrong[1, 3] += 1
    assert rehearsal.judged({"out0": wrong})[1] == ()


def test_such_a_product_may_overflow_and_an_infinity_elsewhere_is_new():
    """Row 1 of the first operand begins with what is read as the second element of row 0."""
    given = {"x0": ("1", *("0",) * 15, "1", *("0",) * 239), "x1": ("2.5e38",) * 31 + ("inf",) + ("0",) * 224,
             "x2": ("0",) * 256}
    case = _dot(16, 16, 16, layout=1)
    rehearsal = rehearse(replace(case, arrays=tuple(
        replace(one, content=Content(base=Explicit(values=2 * given[one.name]))) if one.name in given else one
        for one in case.arrays)))
    wrong = rehearsal.outputs()["out0"].reshape(2, 16, 16)
    assert wrong[:, :2, 0].isfinite().all() and wrong[:, 0, 15].isnan().all()
    wrong[:, 0], wrong[:, 1] = torch.inf, 0
    wrong[:, 1:, 15] = torch.nan
    judged, names = rehearsal.judged({"out0": wrong.reshape(2, 256)})
    assert judged.verdict.failed and names == (WHOLE.name,)
    wrong[:, 2, 3] = torch.inf
    assert rehearsal.judged({"out0": wrong.reshape(2, 256)})[1] == ()


def test_the_sums_of_rows_that_were_seen_are_predicted_and_those_of_two_warps_are_not_known():
    case = entry(WHOLE.entries[0]).case
    seen = torch.tensor([float(one) for one in entry(WHOLE.entries[0]).evidence.actual["out0"]])
    rehearsal = rehearse(case)
    assert rehearsal.judged({"out0": seen.repeat(16)[None]})[1] == (WHOLE.name,)
    assert not any(WHOLE.match(one) for one in (_dot(16, 16, 16, warps=2), _dot(16, 16, 16, layout=2)))


def test_bytes_that_a_fold_exchanges_once_too_often_are_known_and_one_more_wrong_byte_is_new():
    case = entry(TWICE.entries[0]).case
    rehearsal = rehearse(case)
    right = rehearsal.outputs()["out0"]
    wrong = torch.zeros_like(right)
    wrong[0, 31] = 1
    assert rehearsal.judged({"out0": wrong})[1] == (TWICE.name,)
    wrong[0, 30] = 1
    assert rehearsal.judged({"out0": wrong})[1] == ()
    call = cases.call_of(case)
    assert not any(TWICE.match(replace(case, program=replace(call, options=call.options | changed))) for changed in (
        {"layout": 0}, {"keep_dims": True}, {"axis": "None"}))


def test_scans_behind_lanes_that_repeat_are_known_with_as_many_elements_as_lanes_and_more():
    """In [1, 32] lanes 0 to 3 lie along the first axis: 3.6.0 fetches the carry from lane 7, 3.9.0 from lane 28."""
    assert CARRY.match(_scan((1, 32), -1, layout=5)) and CARRY.match(_scan((1, 128), 1, layout=5))
    assert not CARRY.match(_scan((1, 32), -1, layout=0)) and not CARRY.match(_scan((8, 32), 1, layout=5))
    relative = CARRY.relative
    assert relative is not None
    plain = relative(_scan((1, 32), -1, layout=5))
    assert plain is not None and find(plain.target).draw.valid(plain) and not CARRY.match(plain)


def test_a_scan_of_registers_that_are_no_neighbours_is_known_and_one_along_its_run_is_new():
    """In [1, 2, 128] a thread holds two columns and both rows: seen on 3.6.0, whose scan of rows adds up columns."""
    seen = _scan((1, 2, 128), 1, layout=4)
    assert APART.match(seen) and not CARRY.match(seen) and not APART.match(_scan((1, 2, 128), 1, layout=0))
    assert not APART.match(_scan((4, 64), 1, layout=4)) and APART.relative is not None
    plain = APART.relative(seen)
    assert plain is not None and find(plain.target).draw.valid(plain) and not APART.match(plain)


def test_a_pattern_under_another_option_of_a_case_is_known_and_so_is_its_relative():
    """First seen with one warp as the variant of four (cuda, 3.6.0): a thread of one warp has other elements."""
    alone = _scan((16, 1, 8), 0, 5, warps=4)
    beside = replace(alone, variants=(LaunchOptions(num_warps=1),))
    assert not any(issue.concerns(alone, "own") for issue in ISSUES)
    assert CARRY.concerns(beside, "own") or APART.concerns(beside, "own")
    for issue in (CARRY, APART):
        assert issue.relative is not None
        relative = issue.relative(beside)
        assert relative is not None and not issue.concerns(relative, "own")


@each("rows, warps, names", [(128, 1, (SHUFFLES.name,)), (64, 1, ()), (128, 2, ())])
def test_a_gather_of_many_registers_in_a_warp_is_known_not_to_compile_in_time(
        rows: int, warps: int, names: tuple[str, ...]):
    block = Operand(dtype="u16", shape=(rows, 1, 2))
    case = _case("gl.gather", block, block, stored="u16", warps=warps, axis=0, layout=3)
    hung = outcome_of(case, Verdict.HANG, wrong_in(case, "", kind="compile"), backend="cuda")
    assert Attribution(lambda one: hung).issues(case, hung) == names


def test_a_product_that_leaves_its_type_with_an_operand_in_another_order_may_be_nan():
    """Two infinities met in it on a device; a product that stays within the type is still predicted."""
    values = [str(number % 7 - 3) if number >= 256 or number % 16 != 3 else "3e38" for number in range(512)]
    case = _dot(16, 16, 16)
    rehearsal = rehearse(replace(case, arrays=tuple(
        replace(one, content=Content(base=Explicit(values=tuple(values)))) if one.name == "x1" else one
        for one in case.arrays)))
    left, right, added = (rehearsal.buffers[f"x{number}"].typed().reshape(2, 16, 16) for number in range(3))
    wrong = (left.double() @ right.double().transpose(1, 2) + added).float()
    assert rehearsal.judged({"out0": wrong.reshape(2, -1)})[1] == (WHOLE.name,)
    beyond = left.double().abs() @ right.double().transpose(1, 2).abs() > 3.5e38
    assert 0 < int(beyond.sum()) < beyond.numel()
    assert rehearsal.judged({"out0": wrong.masked_fill(beyond, torch.nan).reshape(2, -1)})[1] == (WHOLE.name,)
    within = wrong.clone()
    within[1, 0, 0] = torch.nan
    assert rehearsal.judged({"out0": within.reshape(2, -1)})[1] == ()
