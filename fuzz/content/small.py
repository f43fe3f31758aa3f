"""Which cases are staged (`fuzz.content.staging`), for processes without torch."""

STAGED_ELEMENTS = 1 << 15
"""Cases with at most this many elements in all arrays together are staged."""


MOST_JOINED = 16
"""Cases of a joint launch, at most."""

JOINED_ELEMENTS = 1 << 20
"""Elements of each of them: what is larger is launched alone."""

STAGED_TOGETHER = 1 << 16
"""Elements of each of them where they are staged."""


def fits(elements: int, arrays: int, *, most: int = STAGED_ELEMENTS) -> bool:
    """Whether a case of this many elements (spans) in this many arrays is staged. most: elements that may be."""
    return elements <= most and arrays <= 32
