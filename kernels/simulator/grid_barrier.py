"""The grid barrier as a sequence of accesses, inside the rounds of its driver (contract: helpers.md §13).

The generators make the accesses of `kernels.helpers.grid_barrier` in `kernels.drivers.grid_barrier`, one for
one: a mark stored, an arrival added, polls (atomic additions of zero), all marks loaded. `wrong` plants a
fault; the names are those of `tridiff.kernels.helpers.mutants_grid_barrier`, which plants the same faults in the
kernel.
"""

from collections.abc import Callable, Generator
from functools import partial

from tridiff.kernels.simulator.memory import Access, Buffer, Memory, Order
from tridiff.kernels.simulator.scheduling import Program

SEM, MARKS = "sem", "marks"
TOP_BIT = 0x80000000
WORD = 0xFFFFFFFF

FAULTS = (
    "nobody_waits", "only_program_zero_waits", "lower_bit_watched", "one_program_too_few", "top_bit_set_means_open",
    "last_program_absent", "arrival_without_release", "poll_without_acquire",
)  # fmt: skip


def barrier(x: int, programs: int, *, group: int = 0, wrong: str = "") -> Generator[Access, int, None]:
    """Program x of `programs` passes the barrier of its group once."""
    if wrong and wrong not in FAULTS:
        raise ValueError(f"unknown fault {wrong!r}; known: {', '.join(FAULTS)}")
    release: Order = "relaxed" if wrong == "arrival_without_release" else "release"
    acquire: Order = "relaxed" if wrong == "poll_without_acquire" else "acquire"
    others = programs - 1 - (wrong == "one_program_too_few")
    arrival = (TOP_BIT - others) & WORD if x == 0 else 1
    if wrong == "last_program_absent" and x == programs - 1:
        arrival = 0
    before = yield Access("add", (SEM, group), arrival, release)
    now = before
    if wrong == "top_bit_set_means_open":
        before = now = 0
    if wrong == "nobody_waits" or (wrong == "only_program_zero_waits" and x != 0):
        return
    watched = TOP_BIT >> 1 if wrong == "lower_bit_watched" else TOP_BIT
    while (now ^ before) & watched == 0:
        now = yield Access("add", (SEM, group), 0, acquire)


def marked_rounds(
    x: int, programs: int, rounds: int, *, group: int = 0, groups: int = 1, wrong: str = ""
) -> Program[tuple[int, ...]]:
    """Program x of a group marks, passes and counts, `rounds` times. Returns the counts; right is `programs` each."""
    counts = []
    for done in range(rounds):
        start = (done * groups + group) * programs
        yield Access("store", (MARKS, start + x), 1)
        yield from barrier(x, programs, group=group, wrong=wrong)
        seen = 0
        for other in range(programs):
            seen += yield Access("load", (MARKS, start + other))
        counts.append(seen)
    return tuple(counts)


def barrier_programs(
    programs: int, rounds: int, *, groups: int = 1, wrong: str = ""
) -> list[Callable[[], Program[tuple[int, ...]]]]:
    """All programs of all groups, for `simulate`; program x of group g has index x * groups + g."""
    return [
        partial(marked_rounds, x, programs, rounds, group=group, groups=groups, wrong=wrong)
        for x in range(programs)
        for group in range(groups)
    ]


def barrier_memory(programs: int, rounds: int, *, groups: int = 1, initial: int = 0, reorders: bool = False) -> Memory:
    """One semaphore per group, initially 0 or 0x80000000, and cleared marks."""
    return Memory(
        {SEM: Buffer((initial,) * groups, 32), MARKS: Buffer((0,) * (rounds * groups * programs), 32)},
        reorders=reorders,
    )
