"""One program that comes late: a schedule that hardware may choose but hardly ever does, made to happen.

Programs of one launch meet in nearly the same order every time. What most defects of waiting programs need is one of
them being slow at one place (delay-bounded scheduling: Emmi, Qadeer and Rakamaric, POPL 2011). The pause goes into the
PTX, so that any kernel can be held up at any access. A correct kernel stays correct: nobody is accused falsely.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

CYCLES = 100_000
"""50 us or more: far longer than a small launch takes, far too short for a time limit."""

_ACCESS = re.compile(r"^[ \t]*(?:@!?%\w+[ \t]+)?(?:ld|st|atom|red)\.(?:\w+\.)*global\b.*;$", re.MULTILINE)

# Label and registers belong to the block's own scope.
_PAUSE = """{{
.reg .pred late; .reg .b32 which; .reg .b64 start, now;
mov.u32 which, %ctaid.x;
setp.ne.u32 late, which, {program};
@late bra done;
mov.u64 start, %clock64;
spin:
mov.u64 now, %clock64;
sub.u64 now, now, start;
setp.lt.u64 late, now, {cycles};
@late bra spin;
done:
{access}
}}"""


class Late(NamedTuple):
    """Program `program` of grid axis 0 pauses whenever it gets to the access to global memory that is number `access`
    in the kernel's text; nobody does if there are fewer."""

    program: int
    access: int


def with_pause(ptx: str, late: Late) -> str:
    """PTX in which one program pauses."""
    for number, found in enumerate(_ACCESS.finditer(ptx)):
        if number == late.access:
            paused = _PAUSE.format(program=late.program, cycles=CYCLES, access=found[0])
            return ptx[:found.start()] + paused + ptx[found.end():]
    return ptx


@contextmanager
def built_in(late: Late | None) -> Iterator[None]:
    """Kernels compiled for NVIDIA GPUs meanwhile have the pause. Triton 3.6 caches them as if they had none: they must
    take it as a constexpr."""
    if late is None:
        yield
        return
    from triton import knobs

    words = f"{late}, {CYCLES} cycles"

    def hook(*given: Any) -> tuple[str, str] | None:
        if not given:
            return words, words  # Key and hash, for caches.
        stages = given[1]
        translate = stages.get("ptx")
        if translate is not None:
            stages["ptx"] = lambda source, metadata: with_pause(translate(source, metadata), late)
        return None

    before = knobs.runtime.add_stages_inspection_hook
    knobs.runtime.add_stages_inspection_hook = hook
    try:
        yield
    finally:
        knobs.runtime.add_stages_inspection_hook = before
