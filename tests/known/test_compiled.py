"""Known defects beside planted ones in compiled programs; what is compiled runs in its own process."""

from pathlib import Path

from tests.support.in_subprocess import Checks

test_compiled = Checks(Path(__file__).with_name("checks_compiled.py"), interpret=False).tests()
