"""One program or warp that is delayed: a schedule that hardware may choose but hardly ever does, made to happen.

Programs of one launch, and warps of one program, meet in nearly the same order every time. What most defects of waiting
need is one of them being slow at one place (delay-bounded scheduling: Emmi, Qadeer and Rakamaric, POPL 2011). The pause
goes into the PTX, so that any kernel can be held up at any access. A correct kernel stays correct: nobody is accused
falsely.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Delay

CYCLES = 100_000
"""50 us or more: far longer than a small launch takes, far too short for a time limit."""

_LINE = r"^[ \t]*(?:@!?%\w+[ \t]+)?"
_ACCESS = re.compile(_LINE + r"(?:ld|st|atom|red)\.(?:\w+\.)*global\b.*;$", re.MULTILINE)
# Not the barriers' own life, nor a product: what stands in the way of several at once makes ptxas wait for each.
_SHARED = re.compile(_LINE + r"(ld|st|ldmatrix|stmatrix|atom|red|cp\.async|mbarrier\.arrive)\b[^\n]*\bshared\b.*;$",
                     re.MULTILINE)

# Label and registers belong to the block's own scope.
_PAUSE = """{{
.reg .pred other; .reg .b32 which; .reg .b64 start, now;
{which}
setp.ne.u32 other, which, {who};
@other bra done;
mov.u64 start, %clock64;
spin:
mov.u64 now, %clock64;
sub.u64 now, now, start;
setp.lt.u64 other, now, {cycles};
@other bra spin;
done:
{access}
}}"""


def _place(ptx: str, delay: Delay) -> re.Match[str] | None:
    """The access before which the pause goes, None if there is none. Programs are held up at their n-th access to
    global memory, nobody if there are fewer. Warps are held up at the n-th run of accesses to shared memory of one
    kind; behind the last run, numbers begin again."""
    if delay.of == "program":
        found = list(_ACCESS.finditer(ptx))
        return found[delay.access] if delay.access < len(found) else None
    found = list(_SHARED.finditer(ptx))
    runs = [one for before, one in zip([None, *found], found, strict=False) if before is None or before[1] != one[1]]
    return runs[delay.access % len(runs)] if runs else None


def with_pause(ptx: str, delay: Delay) -> str:
    """PTX in which one program, or one warp of each, pauses whenever it gets to the place of the delay."""
    found = _place(ptx, delay)
    if found is None:
        return ptx
    which = "mov.u32 which, %ctaid.x;" if delay.of == "program" else (
        "mov.u32 which, %tid.x;\nshr.u32 which, which, 5;")
    paused = _PAUSE.format(which=which, who=delay.number, cycles=CYCLES, access=found[0])
    return ptx[:found.start()] + paused + ptx[found.end():]


def of_launch(launch: Launch, *, warps: int = 1) -> Delay | None:
    """The delay of a launch's case, for a backend that can have it: where programs are evaluated, one instruction after
    the other, nothing is early or late. warps: those of a program."""
    if kind(launch.backend) == "evaluated":
        return None
    delay = launch.case.delay
    if delay is not None and delay.of == "warp":
        delay = replace(delay, number=delay.number % warps)
    if delay is not None and launch.backend == "record":
        raise TridiffError("a program or warp is delayed by a pause in the PTX, which a script does not have",
                           fix="rerun it with `tridiff repro` instead")
    return delay


def text(delay: Delay | None) -> str:
    """The delay in words, "" for none: by them caches of kernels tell delays apart."""
    return "" if delay is None else f"{delay.of} {delay.number} at access {delay.access}"


def named(kernel: str, delay: Delay | None) -> str:
    """A name for the kernel that no kernel with another delay has."""
    return kernel if delay is None else f"{kernel}_delay_{delay.number}_{delay.access}"


@contextmanager
def built_in(delay: Delay | None) -> Iterator[None]:
    """Kernels compiled for NVIDIA GPUs meanwhile have the pause. Triton 3.6 caches them as if they had none: they must
    take it as a constexpr or have it in their name."""
    if delay is None:
        yield
        return
    from triton import knobs

    words = f"{text(delay)}, {CYCLES} cycles"

    def hook(*given: Any) -> tuple[str, str] | None:
        if not given:
            return words, words  # Key and hash, for caches.
        stages = given[1]
        translate = stages.get("ptx")
        if translate is not None:
            stages["ptx"] = lambda source, metadata: with_pause(translate(source, metadata), delay)
        return None

    before = knobs.runtime.add_stages_inspection_hook
    knobs.runtime.add_stages_inspection_hook = hook
    try:
        yield
    finally:
        knobs.runtime.add_stages_inspection_hook = before
