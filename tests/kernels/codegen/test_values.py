"""Generated kernels compute what their graphs say (contract: codegen.md §2 to §12), in the interpreter."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_values.py"))


@pytest.mark.parametrize("name", CHECKS.names)
def test_interpreted(name: str) -> None:
    CHECKS.require(name)
