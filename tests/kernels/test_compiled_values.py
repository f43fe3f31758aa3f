"""What the compiled helpers compute, from their PTX; no device needed (contract: helpers.md §4, 5, 7, 12)."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_compiled_values.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_compiled_values(name: str) -> None:
    CHECKS.require(name)
