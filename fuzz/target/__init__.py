"""A target: one thing worth fuzzing, what may be drawn for it, how it is launched and what the right answer is."""

from tridiff.fuzz.target.target import (
    POWERS_OF_TWO,
    Coverage,
    Draw,
    Faults,
    Joint,
    Judge,
    Limits,
    Path,
    Reference,
    Run,
    Shrink,
    Target,
    Vocabulary,
)

__all__ = [
    "POWERS_OF_TWO",
    "Coverage",
    "Draw",
    "Faults",
    "Joint",
    "Judge",
    "Limits",
    "Path",
    "Reference",
    "Run",
    "Shrink",
    "Target",
    "Vocabulary",
]
