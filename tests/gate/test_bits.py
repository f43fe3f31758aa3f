"""Where two builds gave other bits: how many elements, of what sort, and how far apart."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.support.pairs import output
from tridiff.fuzz.pair.bits import Difference, differences


def compared(before: np.ndarray, after: np.ndarray, *, dtype: str, judged: bytes = b"") -> Difference:
    return differences(*(output(one.tobytes(), dtype=dtype, rule="ULP", judged=judged, parts=True)
                         for one in (before, after)))


def floats(*words: int) -> np.ndarray:
    return np.array(words, dtype="<u4")


@given(st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=8))
def test_the_same_bits_do_not_differ(words: list[int]):
    assert compared(floats(*words), floats(*words), dtype="fp32").elements == 0


@given(st.integers(0x00000000, 0x7F700000), st.integers(1, 1 << 19), st.booleans())
def test_distances_are_counted_in_units_in_the_last_place(word: int, distance: int, negative: bool):
    sign = int(negative) << 31
    found = compared(floats(word | sign), floats((word + distance) | sign), dtype="fp32").numeric
    upper = 1 << (distance - 1).bit_length()
    assert found.histogram == {str(upper): 1} and found.bias == (-1 if negative else 1)


def test_a_distance_over_zero_goes_through_both_signs():
    found = compared(floats(0x80000001), floats(0x00000001), dtype="fp32").numeric
    assert found.histogram == {"2": 1}


def test_far_apart_is_more():
    found = compared(np.array([1.0, 1.0], "<f4"), np.array([2.0, 1.0], "<f4"), dtype="fp32")
    assert found.numeric.histogram == {"more": 1}
    assert (found.elements, found.judged, found.numeric.elements) == (1, 1, 2)


@pytest.mark.parametrize("before, after, word, special", [
    (0x00000000, 0x80000000, "zero_sign", 0), (0x7FC00000, 0x7FC00001, "nan_payload", 0),
    (0x3F800000, 0x7FC00000, "nan_unexpected", 1), (0x7FC00000, 0x3F800000, "nan_missing", 1),
    (0x3F800000, 0x7F800000, "inf", 1), (0x3F800000, 0x3F800001, "value", 0),
])
def test_the_sort_of_a_difference_of_floats(before: int, after: int, word: str, special: int):
    found = compared(floats(before), floats(after), dtype="fp32")
    assert (found.word, found.special) == (word, special)


def test_special_values_of_eight_bits_follow_their_format():
    # 0x7C is infinite in e5m2, 0x7D is NaN.
    assert compared(np.array([0x7B], "u1"), np.array([0x7C], "u1"), dtype="fp8e5").word == "inf"
    assert compared(np.array([0x7C], "u1"), np.array([0x7D], "u1"), dtype="fp8e5").word == "nan_unexpected"


def test_open_elements_are_counted_apart_and_told_last():
    found = compared(floats(1, 2, 3), floats(9, 2, 4), dtype="fp32", judged=b"\0\1\1")
    assert (found.elements, found.open, found.judged, found.first) == (2, 1, 1, 2)


def test_integers_have_values_and_no_distances():
    found = compared(np.array([7, 8], "<i4"), np.array([7, -8], "<i4"), dtype="i32")
    assert (found.word, found.before, found.after, found.numeric.histogram) == ("value", "8", "-8", {})
