"""Products of matrices of which more than one answer is right: what a subject may do is accepted, nothing else is."""

import math

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from tests.support.cases import calling
from tests.support.draws import draws
from tridiff.fuzz.content.place import place
from tridiff.fuzz.language import answers
from tridiff.fuzz.language.cases import call_of, given_of, row_of
from tridiff.fuzz.language.draw import call_cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles import vote
from tridiff.oracles.arrays import to_numpy

each = pytest.mark.parametrize

INF, NAN, MAX, LOW = math.inf, math.nan, 3.4028234663852886e38, -(1 << 31)
K = 32


def call_in(dtype: str, *, acc: bool, **options: str | bool) -> Call:
    result = "i32" if dtype == "i8" else "fp32"
    operands = (Operand(dtype=dtype, shape=(16, K)), Operand(dtype=dtype, shape=(K, 16)),
                *((Operand(dtype=result, shape=(16, 16)),) if acc else ()))
    return Call(row="tl.dot", operands=operands, options=dict(options), stored=(result,))


def accepted(call: Call, left: list[float], right: list[float], given: list[float], acc: float = 0) -> list[bool]:
    """Of each number whether it is right as the product of rows `left`, padded by zeros, and columns `right`."""
    from tridiff.oracles.dtypes import torch_dtype

    one = torch_dtype(call.operands[0].dtype)
    a, b = (torch.tensor(list(side) + [0] * (K - len(side)), dtype=one) for side in (left, right))
    arrays = [a.expand(1, 16, K).reshape(1, -1), b[:, None].expand(1, K, 16).reshape(1, -1)]
    if len(call.operands) > 2:
        arrays.append(torch.full((1, 256), acc, dtype=torch_dtype(call.stored[0])))
    case = calling(call, {f"x{number}": ("0",) for number in range(len(arrays))})
    result = torch_dtype(call.stored[0])
    return [judged(case, arrays, torch.full((1, 256), value, dtype=result)) == "agree" for value in given]


def judged(case: Case, arrays: list[torch.Tensor], actual: torch.Tensor) -> str:
    call = call_of(case)
    rule, = row_of(case).rules(call)
    bound = answers.bounds(case, *arrays)[0] if call.stored[0] == "fp32" else None
    both = {"numpy": torch.from_numpy(answers.numpy_answer(case, *map(to_numpy, arrays))[0]),
            "torch": answers.torch_answer(case, *arrays)[0]}
    given = [vote.Answer(name=name, values=values, bound=bound) for name, values in both.items()]
    return vote.judge(actual, given, rule).verdict


@each("acc, right", [
    ((1 << 31) - 5, [(1 << 31) - 1, LOW + 127 * 127 * 2 - 5]), (LOW + 5, [LOW + 5 + 127 * 127 * 2]),
    ((1 << 31) - 1 - 127 * 254, [(1 << 31) - 1])])
def test_sums_of_bytes_wrap_or_saturate(acc: int, right: list[int]):
    others = [0, right[0] - 1, right[-1] + 1 if right[-1] < (1 << 31) - 1 else 7, acc]
    found = accepted(call_in("i8", acc=True), [127, 127], [127, 127], [*right, *others], acc)
    assert found == [True] * len(right) + [False] * len(others)


def test_sums_of_bytes_saturate_after_each_instruction():
    """Up in the first half of k and down in the second: saturated in between, at the end, or never."""
    top = (1 << 31) - 1
    left, right = [127] * K, [127] * 16 + [-127] * 16
    # All 32 places at once leave the accumulator as it is; 16 by 16 the first half is cut off.
    values = [top - 100, top - 16 * 127 * 127, top, LOW, top - 101]
    assert accepted(call_in("i8", acc=True), left, right, values, top - 100) == [True, True, False, False, False]
    assert accepted(call_in("i8", acc=False), left, right, [0, 1, top]) == [True, False, False]


@each("precision", ["tf32", "tf32x3"])
def test_a_number_that_tf32_has_no_room_for_is_itself_or_infinite(precision: str):
    call = call_in("fp32", acc=False, input_precision=precision)
    near = MAX * 0.25
    found = accepted(call, [MAX], [0.25], [near, near * 1.1, INF, -INF, 0.0, 1.0, near * 0.9])
    assert found == [True, False, True, False, False, False, False]
    assert accepted(call, [-MAX, 1.0], [0.25, -2.0], [-near, -INF, INF, 0.0]) == [True, True, False, False]
    # In the other columns, and where nothing is that large, all is as it was.
    assert accepted(call, [3.4019e38], [0.25], [3.4019e38 / 4, INF, NAN]) == [True, False, False]
    ieee = call_in("fp32", acc=False, input_precision="ieee")
    assert accepted(ieee, [MAX], [0.25], [near, INF, NAN]) == [True, False, False]


def test_an_infinity_of_tf32_makes_a_nan_beside_a_zero_or_another_one():
    call = call_in("fp32", acc=True, input_precision="tf32")
    every = [1.0] * K
    assert accepted(call, [MAX] * K, [0.001] * K, [INF, NAN], 1.0) == [True, False], "no zero, one sign"
    assert accepted(call, [MAX, *every[1:]], [0.0, *every[1:]], [31.0, NAN, INF, 64.0]) == [True, True, True, False]
    left, right = [MAX, -MAX, *every[2:]], [0.25, 0.25, *every[2:]]
    found = accepted(call, left, right, [30.0, NAN, INF, -INF, MAX / 4096, MAX])
    assert found == [True] * 5 + [False], "what is left of two large numbers is known within a part of their size"
    assert accepted(call, [NAN, MAX], [1.0, 1.0], [NAN, INF, 1.0]) == [True, False, False], "a NaN decides"


def test_a_nan_below_the_bits_of_tf32_may_be_an_infinity():
    call = call_in("fp32", acc=False, input_precision="tf32")
    for word, right in ((0x7F800001, [True, True, True, False]), (0x7FC00000, [True, False, False, False])):
        a = torch.zeros(1, 16, K)
        a[..., 0] = torch.tensor(word, dtype=torch.int32).view(torch.float32)
        b = torch.ones(1, K, 16)
        case = calling(call, {name: ("0",) for name in ("x0", "x1")})
        found = [judged(case, [a.reshape(1, -1), b.reshape(1, -1)], torch.full((1, 256), value)) == "agree"
                 for value in (NAN, INF, -INF, 0.0)]
        assert found == right, hex(word)


def test_sums_that_leave_the_range_are_infinities_of_a_sign_that_is_there():
    for dtype in ("fp32", "bf16"):
        call = call_in(dtype, acc=True)
        large = 2.0**127
        assert accepted(call, [large, large], [1.0, 1.0], [INF, -INF, NAN, 0.0]) == [True, False, False, False], dtype
        both = accepted(call, [large, large, -large], [1.0, 1.0, 1.0], [large, INF, NAN, -INF, 0.0])
        assert both[:4] == [True, True, True, True], dtype
        assert accepted(call, [1.0], [1.0], [INF, NAN, 1.0], INF) == [True, False, False], "the accumulator is infinite"


@each("precision, large, right", [
    ("tf32x3", 2.0**110, [True, True, True, False]), ("tf32x3", 2.0**67, [True, False, False, False]),
    ("tf32", 2.0**110, [True, False, False, False])])
def test_products_with_low_parts_may_be_the_first_to_leave_the_range(
        precision: str, large: float, right: list[bool]):
    call = call_in("fp32", acc=False, input_precision=precision)
    assert accepted(call, [2.0**63], [large], [INF, -INF, NAN, 0.0]) == right


@each("left, right, acc, zeros", [
    ([0.0] * K, [-0.0] * K, -0.0, [True, True]), ([-0.0] * K, [3.0] * K, -0.0, [True, True]),
    ([0.0] * K, [-0.0] * K, 0.0, [True, False]), ([0.0] * K, [-0.0] * (K - 1) + [0.0], -0.0, [True, False]),
    ([2.0, -2.0] + [0.0] * (K - 2), [-1.0] * K, -0.0, [True, False])])
@each("row", ["tl.dot", "gl.dot_fma"])
def test_a_sum_of_negative_zeros_alone_is_either_zero(
        row: str, left: list[float], right: list[float], acc: float, zeros: list[bool]):
    call = replace(call_in("fp32", acc=True), row=row, options={"layout": 1} if row == "gl.dot_fma" else {})
    assert accepted(call, left, right, [0.0, -0.0], acc) == zeros


def narrowed(x: np.ndarray, *, nearest: bool) -> np.ndarray:
    """fp32 as tf32, rounded half away from zero or cut off."""
    words = x.view(np.uint32)
    finite = (words & 0x7F800000) != 0x7F800000
    rounded = np.where(finite & nearest, words + np.uint32(0x1000), words) & np.uint32(0xFFFFE000)
    return rounded.astype(np.uint32).view(np.float32)


@each("nearest", [True, False])
def test_whatever_tensor_cores_make_of_drawn_operands_is_accepted_and_a_wrong_element_is_not(nearest: bool):
    """Operands in tf32, sums in fp32 from left to right and from right to left: right in every drawn case."""
    limits, seen = Limits(elements=1 << 12, rows=4), 0
    for case in draws(call_cases(target="language.products", topic="products", limits=limits), 160, seed=11):
        call = call_of(case)
        tf32 = call.option("input_precision", "tf32" if call.option("allow_tf32", True) else "ieee") == "tf32"
        if call.row != "tl.dot" or call.operands[0].dtype != "fp32" or not tf32 or len(call.operands[0].shape) > 2:
            continue
        arrays = [place(case.array(name), case.sizes, device=torch.device("cpu")).values for name in given_of(case)]
        given = [one for one in arrays if one is not None]
        rows = given[0].shape[0]
        a, b, *acc = (one.reshape(rows, *operand.shape).numpy()
                      for one, operand in zip(given, call.operands, strict=True))
        x, y = narrowed(a, nearest=nearest), narrowed(b, nearest=nearest)
        places = range(x.shape[-1])
        for order in (places, reversed(places)):
            total = acc[0].copy() if acc else np.zeros((rows, x.shape[1], y.shape[2]), np.float32)
            with np.errstate(all="ignore"):
                for k in order:
                    total = total + x[:, :, k:k + 1] * y[:, k:k + 1, :]
            actual = torch.from_numpy(total.reshape(rows, -1).astype(np.float32))
            assert judged(case, given, actual) == "agree", call
            seen += 1
        if bool(actual[0, 0].isfinite()) and abs(actual[0, 0].item()) < 1e30:
            actual[0, 0] += 1e36
            assert judged(case, given, actual) == "disagree"
    assert seen >= 8
