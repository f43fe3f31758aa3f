"""What waits for the night is told from what does not, and somebody runs it."""

from pathlib import Path

import pytest

from tests.support.nights import by_day

ROOT = Path(__file__).parents[3]


def test_all_but_those_named_have_the_marker():
    found = by_day([("a", 1), ("b", 2), ("c", 3)], only=[("b", 2)])
    assert [one.values for one in found] == [("a", 1), ("b", 2), ("c", 3)]
    assert [[mark.name for mark in one.marks] for one in found] == [["nightly"], [], ["nightly"]]


@pytest.mark.parametrize("only", [["d"], ["a", "d"], []])
def test_nobody_is_left_without_a_test_by_day(only: list[str]):
    with pytest.raises(ValueError, match="not among the parameters"):
        by_day(["a", "b"], only=only)


def test_the_nightly_workflow_runs_what_the_default_run_leaves_out():
    assert "python -m pytest -n auto -m nightly\n" in (ROOT / ".github/workflows/nightly.yml").read_text()
    assert "-m 'not nightly'" in (ROOT / "pyproject.toml").read_text()
