"""Rows of which a backend runs no call: what is drawn there is drawn from the others."""

from functools import cache
from random import Random

from tridiff.fuzz.backends import compiler
from tridiff.fuzz.language.aims import SAMPLES, sampled
from tridiff.fuzz.language.cases import NEWEST
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.row import Row

_WITHOUT_STAND_INS = ("rounding", "words", "special")
_WITH_STAND_INS = frozenset(("libdevice.isnan", "libdevice.isinf", "libdevice.signbit"))
NO_STAND_INS = "the interpreter has no stand-in for a function of libdevice"


def lacks_stand_in(row: Row) -> bool:
    """Whether a row is about a function of libdevice that cannot be interpreted. What can be is known for certain where
    Triton is imported."""
    return row.topic in _WITHOUT_STAND_INS and any(
        name.startswith("libdevice.") and name not in _WITH_STAND_INS for name in row.covers)


@cache
def left_out(name: str, triton: str, backend: str) -> str:
    """Why a backend takes no call of the row of that name under a Triton version, "" if it takes any. triton: "" for
    the newest."""
    row, random = rows()[name], Random(name)
    if backend == "interpreter" and lacks_stand_in(row):
        return NO_STAND_INS
    why = ""
    for _ in range(SAMPLES):
        call, _ = sampled(row, random)
        if call is not None and not (why := row.declined(call, triton or NEWEST, compiler(backend))):
            return ""
    return why
