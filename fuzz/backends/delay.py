"""One program or warp that comes late: a schedule that hardware may choose but hardly ever does, made to happen.

Programs of one launch, and warps of one program, meet in nearly the same order every time. What most defects of waiting
need is one of them being slow at one place (delay-bounded scheduling: Emmi, Qadeer and Rakamaric, POPL 2011). The pause
goes into the PTX, so that any kernel can be held up at any access. A correct kernel stays correct: nobody is accused
falsely.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, Scalar

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch

CYCLES = 100_000
"""50 us or more: far longer than a small launch takes, far too short for a time limit."""

_LINE = r"^[ \t]*(?:@!?%\w+[ \t]+)?"
_ACCESS = re.compile(_LINE + r"(?:ld|st|atom|red)\.(?:\w+\.)*global\b.*;$", re.MULTILINE)
# Not the barriers' own life, nor a product: what stands in the way of several at once makes ptxas wait for each.
_SHARED = re.compile(_LINE + r"(ld|st|ldmatrix|stmatrix|atom|red|cp\.async|mbarrier\.arrive)\b[^\n]*\bshared\b.*;$",
                     re.MULTILINE)

# Label and registers belong to the block's own scope.
_PAUSE = """{{
.reg .pred late; .reg .b32 which; .reg .b64 start, now;
{which}
setp.ne.u32 late, which, {who};
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


class LateWarp(NamedTuple):
    """Warp `warp` of every program, counted over all its partitions, pauses whenever it gets to the run of accesses to
    shared memory of one kind that is number `access` in the kernel's text. Behind the last of either, numbers begin
    again."""

    warp: int
    access: int


AnyLate = Late | LateWarp


def _place(ptx: str, late: AnyLate) -> re.Match[str] | None:
    """The access before which the pause goes, None if there is none."""
    if isinstance(late, Late):
        found = list(_ACCESS.finditer(ptx))
        return found[late.access] if late.access < len(found) else None
    found = list(_SHARED.finditer(ptx))
    runs = [one for before, one in zip([None, *found], found, strict=False) if before is None or before[1] != one[1]]
    return runs[late.access % len(runs)] if runs else None


def with_pause(ptx: str, late: AnyLate) -> str:
    """PTX in which one program, or one warp of each, pauses."""
    found = _place(ptx, late)
    if found is None:
        return ptx
    which = "mov.u32 which, %ctaid.x;"
    if isinstance(late, LateWarp):
        which = "mov.u32 which, %tid.x;\nshr.u32 which, which, 5;"
    paused = _PAUSE.format(which=which, who=late[0], cycles=CYCLES, access=found[0])
    return ptx[:found.start()] + paused + ptx[found.end():]


def asked_for(params: Mapping[str, Scalar]) -> AnyLate | None:
    """Who comes late in a case with these parameters, if anybody does; ValueError for half a statement."""
    given = {name: value for name, value in params.items() if name.startswith("late_")}
    if not given:
        return None
    numbers = {name: value for name, value in given.items()
               if isinstance(value, int) and not isinstance(value, bool) and value >= 0}
    if len(numbers) == len(given) == 2 and "late_access" in numbers:
        access = numbers["late_access"]
        if "late_program" in numbers:
            return Late(numbers["late_program"], access)
        if "late_warp" in numbers:
            return LateWarp(numbers["late_warp"], access)
    raise ValueError("late_access stands with late_program or late_warp, both whole numbers from 0")


def prompt_params(params: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters with nobody late."""
    return {name: value for name, value in params.items() if not name.startswith("late_")}


def promptly(case: Case) -> tuple[Case, ...]:
    """The case with nobody late, unless it is that already: a step of shrinking."""
    prompt = prompt_params(case.params)
    return () if len(prompt) == len(case.params) else (replace(case, params=prompt),)


def a_warp_at_most(case: Case) -> bool:
    """Whether nobody comes late in a case, or a warp."""
    try:
        return not isinstance(asked_for(case.params), Late)
    except ValueError:
        return False


def of_launch(launch: "Launch", *, warps: int = 1) -> AnyLate | None:
    """As `asked_for`, of a launch that can have it; warps: those of a program."""
    late = asked_for(launch.case.params)
    if isinstance(late, LateWarp):
        late = late._replace(warp=late.warp % warps)
    if late is not None and launch.backend == "record":
        raise TridiffError("a program or warp comes late by a pause in the PTX, which a script does not have",
                           fix="rerun it with `tridiff repro` instead")
    return late


def named(kernel: str, late: AnyLate | None) -> str:
    """A name for the kernel that no kernel with another pause has."""
    return kernel if late is None else f"{kernel}_late_{late[0]}_{late[1]}"


@contextmanager
def built_in(late: AnyLate | None) -> Iterator[None]:
    """Kernels compiled for NVIDIA GPUs meanwhile have the pause. Triton 3.6 caches them as if they had none: they must
    take it as a constexpr or have it in their name."""
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
