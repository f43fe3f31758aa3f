"""The record of what a campaign reached."""

import msgspec

from tridiff.fuzz.records import SCHEMA

DIGEST_CHARACTERS = 12
"""48 bits: a million different ones share one with a probability of 0.2 %."""


class Ledger(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a campaign reached, beside its summary. reached: backend, then target, then cell (of the cases and of the
    IR of their kernels), with the number of judged cases. different: backend, then target, then what is counted, with
    how many different ones the campaign judged; cells "#WHAT DIGEST" are counted so. digests: the first
    DIGEST_CHARACTERS hexadecimal digits of each of those, in order and without a gap, so that campaigns can be
    united."""

    triton: str
    reached: dict[str, dict[str, dict[str, int]]] = {}
    different: dict[str, dict[str, dict[str, int]]] = {}
    digests: dict[str, dict[str, dict[str, str]]] = {}
    schema: int = SCHEMA
