"""Observed: what a case gave on one build, bit for bit, so that two builds can be held against each other."""

from typing import Literal

from tridiff.kernels.record import Record

Stop = Literal["", "source", "code"]
"""How far a case is taken: "" to the end, "source" to the source IR of what it would launch, "code" to its PTX."""


class Observe(Record, kw_only=True):
    """What to report of a case beyond its verdict. chunks: parts of outputs whose values are wanted, by output.
    stop: where to stop; before the end nothing is launched, and the code is what is reported."""

    chunks: dict[str, tuple[int, ...]] = {}
    stop: Stop = ""
    timed: int = 0
    """Launches to time, one after another, instead of judging; 0 for none."""
    anew: bool = False
    """Whether to compile again what the process has compiled already."""


class Chunk(Record, kw_only=True):
    """Elements of one output, in order. number: which of its parts, from 0. values: their bytes, little-endian. judged:
    a byte for each element, 0 where the contract leaves it open; empty if none is."""

    number: int
    values: bytes
    judged: bytes = b""


class ObservedOutput(Record, kw_only=True):
    """One output of the case's first launch. rule: class of the rule that judges it, of a SET that of its members
    (`oracles.rules`). chunks: digests of its parts, all of the same size but the last. unordered: lanes accumulate into
    it in no fixed order."""

    dtype: str
    rule: str
    elements: int
    chunks: tuple[str, ...]
    unordered: bool = False
    parts: tuple[Chunk, ...] = ()
    """Those that were asked for, in order."""


class Observed(Record, kw_only=True):
    """What one build made of a case.

    code: by stage ("source", where the case stopped there, "ttgir", "ptx"), a digest of the text of all kernels,
    without names and places, and under "launch" of what their launches need; empty where nothing is compiled.
    resources: the most that one kernel needs ("shared": bytes; "registers" of each thread, where a driver loaded it),
    and the sum of all ("instructions": lines of PTX; "spills").
    """

    outputs: dict[str, ObservedOutput] = {}
    code: dict[str, str] = {}
    resources: dict[str, int] = {}
    seconds: tuple[float, ...] = ()
    """Of each timed launch, on the device."""
    answers: dict[str, str] = {}
    """What Triton said of itself (`LaunchReport.answers`), of all launches."""
