"""Which cases are staged (`fuzz.content.staging`), for processes without torch."""

STAGED_ELEMENTS = 1 << 15
"""Cases with at most this many elements in all arrays together are staged."""


def fits(elements: int, arrays: int) -> bool:
    """Whether a case of this many elements (spans) in this many arrays is staged."""
    return elements <= STAGED_ELEMENTS and arrays <= 32
