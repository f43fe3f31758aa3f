"""As `run_checks`, for checks that call many device functions in Triton's interpreter: a launch patches the language
modules once, and not at every call."""

from pathlib import Path

from tests.support import run_checks
from tridiff.fuzz.interpreter import patch_once
from tridiff.fuzz.interpreter.patching import Patches


def main(path: Path, report: Path) -> None:
    """Run the checks of a file."""
    patch_once.apply(Patches())
    run_checks.main(path, report)
