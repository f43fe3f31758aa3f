"""The counter-based generator on Python ints: its specification, and the source of every seed."""

_MASK = (1 << 64) - 1

ROW = 0x9E3779B97F4A7C15
"""Counter step per row."""

COLUMN = 0xD1342543DE82EF95
"""Counter step per column."""


def signed(value: int) -> int:
    """The int64 with the same 64 bits."""
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def finalise(value: int) -> int:
    """The SplitMix64 finaliser: 64 bits in, 64 well-mixed bits out."""
    value &= _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def key(seed: int, stream: int) -> int:
    """Start of the counter for one (seed, stream) pair."""
    return finalise(finalise(seed + ROW) + stream * COLUMN)


def element(seed: int, stream: int, row: int, column: int) -> int:
    """The 64 random bits of one element; `generate` computes the same for whole tensors."""
    return finalise(key(seed, stream) + row * ROW + column * COLUMN)
