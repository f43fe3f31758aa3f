"""Reasons why cases were not checked are classes with counts."""

from pathlib import Path

import pytest

from tridiff.fuzz.campaign.store import ShardStore
from tridiff.fuzz.reasons import MOST, REST, by_class, most_frequent_first, reason_class

each = pytest.mark.parametrize


@each("reason, of_class", [
    ("oracle_conflict: numpy and torch contradict each other in 3 of 1,024 rows of out",
     "oracle_conflict: numpy and torch contradict each other in n of n rows of out"),
    ("sm_80 has no fp8e4nv", "sm_80 has no fp8e4nv"),
    ("Triton 3.6.0 lacks gl.barrier", "Triton 3.6.0 lacks gl.barrier"),
    ("index [i32] out of [0, 16)", "index [i32] out of [n ...)"),
    ("rows 1, 2, 3 and 17 are open", "rows n ... and n are open"),
    ("NoStandIn: <generated call 0bc07e5fb82d339b>:11 (kernel), program (0, 0, 0): libdevice.sad",
     "NoStandIn: <generated call> (kernel), program (n ...): libdevice.sad"),
    ("at 0x7f3a, after 1.5 s.", "at n, after n s."), ("error -5: 2e-3 > 1e-3", "error n: n > n"), ("", "")])
def test_numbers_that_stand_by_themselves_make_no_class(reason: str, of_class: str):
    assert reason_class(reason) == of_class == reason_class(of_class)


@each("reason, of_class", [
    ("baseline: compare is taken from Triton 3.9.0 on", "baseline: it is there from Triton 3.9.0 on"),
    ("descriptors with nested is new in Triton 3.7.0", "it is there from Triton 3.7.0 on"),
    ("pointer.truth takes atomic from Triton 3.9.0 on", "it is there from Triton 3.9.0 on"),
    ("poll_float_time is about Triton 3.9.0 and later", "it is there from Triton 3.9.0 on"),
    ("ptxas of Triton 3.6.0 hangs", "ptxas of Triton 3.6.0 hangs"),
    ("NoStandIn: <generated call> (kernel), program (0, 0): libdevice.hadd cannot be interpreted; add a",
     "NoStandIn: functions of libdevice that cannot be interpreted")])
def test_names_of_what_is_lacking_are_no_classes(reason: str, of_class: str):
    assert reason_class(reason) == of_class == reason_class(of_class)


def test_what_was_only_counted_together_comes_last():
    assert most_frequent_first({REST: 384, "a": 2, "b": 9}) == [("b", 9), ("a", 2), (REST, 384)]


def test_counts_are_added_up_by_class_and_none_is_lost():
    rows = [(f"{k} rows are open", 1) for k in range(100)] + [("no fp8e4nv", 3)]
    assert by_class(rows) == {"n rows are open": 100, "no fp8e4nv": 3}
    many = by_class((f"sm_{k}", 1 + (k == 7)) for k in range(50))
    assert next(iter(many)) == "sm_7" and sum(many.values()) == 51
    assert len(many) == MOST + 1 and many[REST] == 51 - MOST - 1
    assert sum(by_class([*many.items(), *many.items()]).values()) == 102


def test_a_shard_tells_classes(tmp_path: Path):
    store = ShardStore(tmp_path / "shard.sqlite")
    for number in range(30):
        store.refused(round_number=0, reason=f"{number} of {number + 1} rows")
    assert store.reasons() == {"n of n rows": 30}
    store.close()
