"""Every helper and broken variant compiles, for the dtypes of its contract and four architectures."""

import os
from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

QUICK = Checks(Path(__file__).with_name("checks_compile.py"), interpret=False)
ALL = Checks(Path(__file__).with_name("checks_compile_all.py"), interpret=False)


@pytest.mark.parametrize("name", QUICK.names)
def test_compiled(name: str) -> None:
    QUICK.require(name)


@pytest.mark.skipif("TRIDIFF_COMPILE_ALL" not in os.environ, reason="set TRIDIFF_COMPILE_ALL=1 (a minute of compiling)")
@pytest.mark.parametrize("name", ALL.names)
def test_everything_compiles(name: str) -> None:
    ALL.require(name)
