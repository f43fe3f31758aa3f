"""What is refused, as a person reads it."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tridiff.fuzz.errors import TridiffError


def refusal(action: Callable[[], object]) -> str:
    """The TridiffError that `action` raises, as its one printable line."""
    with pytest.raises(TridiffError) as caught:
        action()
    assert str(caught.value).isprintable(), str(caught.value)
    return str(caught.value)


def refused(words: str) -> AbstractContextManager[pytest.ExceptionInfo[TridiffError]]:
    """Expects a TridiffError whose text has these words (a regular expression)."""
    return pytest.raises(TridiffError, match=words)
