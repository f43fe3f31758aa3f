"""Fault-free targets agree: a small clean campaign over the engine's first targets, all in the interpreter."""

from pathlib import Path

import pytest

from tests.support.campaigns import shard_spec
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.registry import find

TARGETS = (
    "triton.vector_add", "triton.floordiv", "triton.mod", "helpers.div_floor_integer", "helpers.remainder_integer",
    "helpers.minimum", "helpers.maximum", "helpers.min2", "helpers.max2", "helpers.minimum_with_index",
    "helpers.maximum_with_index", "helpers.min_with_index", "helpers.max_with_index")
CASES = 40
ROWS = 300
"""Rows that the cases of one target must at least bring to judgement."""


@pytest.mark.parametrize("target", TARGETS)
def test_a_clean_target_has_no_findings(target: str, tmp_path: Path):
    folds = find(target).draw.interpreter_elements <= 1 << 8
    result = shard.run_shard(shard_spec(target=target, seed=77, max_cases=CASES, hang_limit=120,
                                        elements=64 if folds else 1024, rows=16 if folds else 64), str(tmp_path))
    counts = result.counts
    assert result.error == ""
    assert [entry.title for entry in result.findings] == []
    assert (counts.executed, counts.disagree, counts.crash, counts.hang, counts.compile_error, counts.refused) == (
        CASES, 0, 0, 0, 0, 0)
    # Only cases whose every row divides by zero, or that are empty, may stay unjudged.
    assert set(result.reasons) <= {"the contract leaves every row open"}
    assert counts.agree >= 0.9 * CASES
    assert counts.row_inputs >= (ROWS if not folds else ROWS // 6)
