"""Which calls may be made in one launch with others."""

import re

from tridiff.fuzz.backends import compiler, lacking_type
from tridiff.fuzz.language.cases import call_of, row_of
from tridiff.fuzz.language.rows.descriptors import FENCE
from tridiff.fuzz.records import Case

_ALONE = re.compile(r"program_id|num_programs|print|device_assert|trap|poll|clock|timer|smid")
"""What a text must not name: numbers of programs, which are others in a joint launch; what prints or stops it; waiting;
clocks."""


def may_join(case: Case, triton: str, backend: str) -> bool:
    """Whether a case can be a part of a joint launch under a Triton version: nothing is declined, every row is judged
    by itself, and the launch has no number or end of its own."""
    call, row = call_of(case), row_of(case)
    if row.across or row.checked is not None or case.repeats or case.delay is not None or case.options.debug:
        return False
    if row.declined(call, triton, compiler(backend)) or lacking_type(backend, {one.dtype for one in case.arrays}):
        return False
    text = row.text(call).replace(FENCE, "") + row.definitions(call)
    # What AMD's library lacks is known where Triton is imported.
    return not _ALONE.search(text) and not (compiler(backend).startswith("compile:gfx") and "libdevice." in text)
