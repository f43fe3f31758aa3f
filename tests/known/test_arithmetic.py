"""Wrong elements of folds in helpers on releases that fill masked lanes with -1 instead of the least number."""

import pytest
import torch
from msgspec.structs import replace

from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit

each = pytest.mark.parametrize
KNOWN = "masked-narrow-negative-other"


def _maxima() -> tuple[Rehearsal, torch.Tensor, torch.Tensor]:
    """Rows of three int16, of which the second one holds nothing above -1, and what is right of them."""
    values = ("5", "-3", "0", "-7", "-2", "-9")
    case = Case(target="helpers.max_with_index", sizes={"rows": 2, "cols": 3}, params={"axis": 1}, arrays=(
        ArraySpec(name="a", dtype="i16", dims=("rows", "cols"), content=Content(base=Explicit(values=values))),
        "index i64[rows,cols] ~ iota", "out i16[rows]", "out_index i64[rows]"))
    rehearsal = rehearse(case)
    right = rehearsal.outputs()
    assert (right["out"].tolist(), right["out_index"].tolist()) == ([5, -2], [0, 1])
    return rehearsal, right["out"], right["out_index"]


@each("subject", ["own", "inductor"])
def test_a_masked_lane_that_wins_is_known_with_the_index_of_all_masked_lanes(subject: str):
    rehearsal, out, index = _maxima()
    out[1], index[1] = -1, 2**31 - 1
    assert rehearsal.judged({"out": out, "out_index": index}, subject=subject)[1] == (KNOWN,)


@each("row, value, place", [(1, -1, 2), (1, -2, 2**31 - 1), (0, -1, 2**31 - 1), (1, -9, 2)])
def test_another_maximum_another_index_and_a_row_with_larger_numbers_are_new(row: int, value: int, place: int):
    rehearsal, out, index = _maxima()
    out[row], index[row] = value, place
    assert rehearsal.judged({"out": out, "out_index": index})[1] == ()


def test_a_full_block_masks_nothing():
    rehearsal, out, index = _maxima()
    full = replace(rehearsal.case, sizes={"rows": 2, "cols": 4}, arrays=(
        replace(rehearsal.case.arrays[0], content=Content(base=Explicit(values=("-4",) * 8))),
        *rehearsal.case.arrays[1:]))
    out[:], index[:] = -1, 2**31 - 1
    assert rehearse(full).judged({"out": out, "out_index": index})[1] == ()
