"""Shared by the check files of this folder: show a defect of Triton's interpreter without its repair, and none with."""

from collections.abc import Callable

from tridiff.fuzz.interpreter import Repairs, repaired


def defect(switch: str, holds: Callable[[], bool], *, exists: bool = True) -> None:
    """Assert that `holds()` fails with every repair but `switch`, and is true with all of them.

    exists: whether the installed Triton has the defect; where it has not, `holds()` must be true both ways.
    A failure without the repair may also be an exception; with it, none is accepted.
    """
    with repaired(Repairs().but(**{switch: False})):
        try:
            without = holds()
        except Exception as error:
            without, seen = False, repr(error)
        else:
            seen = "no exception"
    assert without is (not exists), f"without {switch}: holds={without} ({seen}), defect expected: {exists}"
    with repaired():
        assert holds() is True, f"still wrong with {switch}"
