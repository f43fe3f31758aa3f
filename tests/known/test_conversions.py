"""Bytes that share a word: what a float beyond u8 does to the byte beside it is known, and nothing else beside it is.

What compiled code gives follows from its PTX and SASS, which are alike for all versions.
"""

import pytest
import torch
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.support.cases import calling
from tridiff.fuzz.known import issues_of
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Case, Verdict
from tridiff.kernels.language.call import Call, Operand

each = pytest.mark.parametrize
NAME = "pairs-of-bytes-not-cut"


def stored(*values: str, row: str = "tl.cast", of: str = "fp32", shape: tuple[int, ...] = ()) -> Case:
    """One program that converts some numbers to u8."""
    options: dict[str, bool | int | str] = {"way": "to"} if row.endswith("cast") else {}
    call = Call(row=row, operands=(Operand(dtype=of, shape=shape or (len(values),)),), stored=("u8",), options=options)
    return calling(replace(call, options=options | {"layout": 4}) if row.startswith("gl.") else call, {"x0": values})


def taken(case: Case, *results: int) -> tuple[str, ...]:
    """The issues for which a launch with these results is taken."""
    judged, names = rehearse(case).judged({"out0": torch.tensor([results], dtype=torch.uint8)})
    assert judged.verdict is Verdict.DISAGREE
    return names


@each("row", ["tl.cast", "tl.store.implicit", "gl.cast", "gl.store.implicit"])
def test_the_upper_byte_of_a_neighbour_is_known_and_another_value_is_not(row: str):
    case = stored("1000.0", "8.0", "7.0", "9.0", row=row, shape=(2, 2) if row.startswith("gl.") else ())
    assert taken(case, 232, 8 | 3, 7, 9) == (NAME,)
    assert taken(case, 232, 8 | 1, 7, 9) == ()
    assert taken(case, 232, 8 | 3, 6, 9) == ()
    assert taken(case, 232, 8 | 3, 7, 8) == ()


@each("of, beyond, upper", [
    ("fp32", "9.1e27", 255), ("fp32", "inf", 255), ("fp32", "65279.0", 254), ("fp16", "65504.0", 255),
    ("bf16", "512.0", 2), ("fp64", "300.7", 1), ("fp64", "nan", 128),
])
def test_what_comes_over_is_the_upper_byte_of_16_bits(of: str, beyond: str, upper: int):
    case = stored(beyond, "0.0", of=of)
    assert taken(case, 0, upper) == (NAME,)
    assert taken(case, 0, upper - 1 or 255) == ()


@each("harmless", ["-1.0", "-inf", "nan", "255.0"])
def test_a_wrong_byte_beside_a_number_without_an_upper_byte_is_new(harmless: str):
    assert taken(stored(harmless, "4.0"), 255, 255) == taken(stored(harmless, "4.0"), 255, 5) == ()


def test_a_pair_is_a_number_and_the_one_behind_it():
    case = stored("0.0", "1000.0", "0.0", "0.0")
    assert taken(case, 3, 232, 0, 0) == taken(case, 0, 232, 3, 0) == taken(case, 0, 232, 0, 3) == ()


def test_one_pair_of_a_launch_alone_is_new():
    case = stored("1000.0", "0.0", "1000.0", "0.0")
    assert taken(case, 0, 3, 0, 3) == (NAME,)
    assert taken(case, 0, 3, 0, 0) == taken(case, 0, 0, 0, 3) == ()


def test_signed_bytes_single_numbers_whole_numbers_and_the_interpreter_have_no_part_in_it():
    found = entry("language.conversions/value-e00f5612dc").case
    call = cases.call_of(found)
    (issue,) = issues_of(found, "own")
    assert issue.name == NAME and issue.shows_on("cuda") and not issue.shows_on("interpreter")
    signed = cases.with_call(found, replace(call, stored=("i8",)))
    single = cases.with_call(found, replace(call, operands=(replace(call.operands[0], shape=(1,)),)))
    whole = cases.with_call(found, replace(call, operands=(replace(call.operands[0], dtype="i32"),)))
    assert not any(issue.match(one) for one in (signed, single, whole) if one is not None)
    assert None not in (signed, single, whole)


@each("row, to, known", [
    ("tl.cast", "bf16", True), ("tl.store.implicit", "bf16", True), ("gl.store.implicit", "bf16", True),
    ("gl.store.implicit", "fp16", False)])
def test_infinities_of_fp8e5_become_numbers_of_bf16_in_both_languages(row: str, to: str, known: bool):
    case = stored("inf", row=row, of="fp8e5")
    assert isinstance(case.program, Call)
    found = [one.name for one in issues_of(replace(case, program=replace(case.program, stored=(to,))), "own")]
    assert ("specials-of-fp8e5-to-bf16" in found) == known
