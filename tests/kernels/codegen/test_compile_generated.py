"""Generated kernels compile ahead of time (contract: codegen.md §3, §5 to §7, §12, §13)."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

CHECKS = Checks(Path(__file__).with_name("checks_compile.py"), interpret=False)


@pytest.mark.parametrize("name", CHECKS.names)
def test_compiled(name: str) -> None:
    CHECKS.require(name)
