"""Known defects beside planted ones in compiled programs; what is compiled runs in its own process."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_compiled.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_compiled(name: str) -> None:
    CHECKS.require(name)
