"""Outputs in parts, so that what differs can be fetched without the rest."""

import math

CHUNKS = 64
"""Parts of an output, at most."""

SMALLEST_CHUNK = 1024
"""Elements of a part, at least."""


def chunk_size(elements: int) -> int:
    """Elements in each part of an output but the last."""
    return max(SMALLEST_CHUNK, math.ceil(elements / CHUNKS))
