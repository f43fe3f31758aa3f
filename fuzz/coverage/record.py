"""The record of what a campaign reached."""

from tridiff.fuzz.records import SCHEMA, Record

DIGEST_CHARACTERS = 12
"""48 bits: a million different ones share one with a probability of 0.2 %."""

WANTED_CASES = 20
"""Judged cases that each cell is to have at which draws can be aimed (`Draw.aims`)."""

MISSED = "~"
"""Marks what is counted of cases that were to reach such a cell and were not judged: "~CELL: REASON"."""


class Ledger(Record, kw_only=True):
    """What a campaign reached, beside its summary. reached: backend, then target, then cell (of the cases and of the
    IR of their kernels), with the number of judged cases. different: backend, then target, then what is counted, with
    how many different ones the campaign judged; cells "#WHAT DIGEST" are counted so. digests: the first
    DIGEST_CHARACTERS hexadecimal digits of each of those, in order and without a gap, so that campaigns can be
    united."""

    triton: str
    reached: dict[str, dict[str, dict[str, int]]] = {}
    different: dict[str, dict[str, dict[str, int]]] = {}
    digests: dict[str, dict[str, dict[str, str]]] = {}
    missed: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    """Backend, then target, then cell: why cases were not judged that were to reach it, with their number, of cells
    that fewer than WANTED_CASES reached."""
    schema: int = SCHEMA
