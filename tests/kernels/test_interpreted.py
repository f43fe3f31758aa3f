"""Check files that need nothing but the interpreter, each in a child process; one pytest case per check."""

from pathlib import Path

import pytest

from tests.support.in_subprocess import Checks

FILES = {name: Checks(Path(__file__).with_name(f"checks_{name}.py")) for name in (
    "assertions", "bits", "drivers", "extrema", "integer", "probes", "reductions", "select", "welford")}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, checks in FILES.items() for name in checks.names])
def test_interpreted(file: str, name: str) -> None:
    FILES[file].require(name)
