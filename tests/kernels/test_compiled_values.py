"""What the compiled helpers compute, from their PTX; no device needed (contract: helpers.md §4, 5, 7, 12)."""

from pathlib import Path

from tests.support.in_subprocess import Checks

test_compiled_values = Checks(Path(__file__).with_name("checks_compiled_values.py"), interpret=False).tests()
