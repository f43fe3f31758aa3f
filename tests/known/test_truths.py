"""Bytes behind pointers to truth values: predicted to the byte, and anything else in the same calls is new."""

import pytest
import torch

from tests.known.recorded import rehearsed
from tests.known.test_issues import entry
from tridiff.fuzz.known.truths import ISSUES


@pytest.mark.parametrize("name", [one for issue in ISSUES for one in issue.entries])
def test_another_byte_than_the_predicted_one_is_new(name: str):
    issue = next(one for one in ISSUES if name in one.entries)
    rehearsal, outputs = rehearsed(entry(name))
    names = rehearsal.judged(outputs)[1]
    assert names == (issue.name,)
    # A truth value has two values: what is not predicted is then the byte beside it.
    other = {key: torch.full_like(one, 3) for key, one in outputs.items() if one.dtype is not torch.bool}
    if other:
        judged, names = rehearsal.judged(other)
        assert judged.verdict.failed and issue.name not in names


def test_a_load_that_is_wrong_where_the_mask_is_true_is_new():
    issue = next(one for one in ISSUES if one.name == "other-value-of-a-truth-is-a-byte")
    found = entry(issue.entries[0])
    from msgspec.structs import replace

    taken = tuple(replace(one, content=replace(one.content, base=replace(one.content.base, values=("1",))))
                  if one.name == "x2" else one for one in found.case.arrays)
    rehearsal, _ = rehearsed(replace(found, case=replace(found.case, arrays=taken)))
    judged, names = rehearsal.judged({"out0": torch.ones_like(rehearsal.outputs()["out0"])})
    assert judged.verdict.failed and names == ()
