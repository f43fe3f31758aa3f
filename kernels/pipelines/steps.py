"""The steps of a partition, as data. A step names tiles, rings and barriers; where a tile lies (slot) and which
phase of a barrier belongs to it follow from its number: slot `tile % depth`, phase `(tile // depth) & 1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tridiff.kernels.pipelines.plan import Op, Plan

Base = Literal["loop", "start", "end"]
When = Literal["", "exists", "not_negative"]


@dataclass(frozen=True)
class At:
    """A tile: `shift` after the loop's tile, after tile 0, or after the last one (which has shift -1)."""

    shift: int = 0
    base: Base = "loop"

    def moved(self, by: int) -> At:
        return At(self.shift + by, self.base)


@dataclass(frozen=True)
class Loop:
    """body for every tile t with 0 <= t < tiles - short."""

    body: tuple[Step, ...]
    short: int = 0


@dataclass(frozen=True)
class If:
    """body where the tile exists (is less than the number of tiles)."""

    at: At
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Barrier:
    """All warps of the partition wait for each other."""


@dataclass(frozen=True)
class Fence:
    """What threads wrote to shared memory becomes visible to copies and tensor cores."""


@dataclass(frozen=True)
class Copy:
    """cp.async of a tile of a source into its ring slot."""

    source: int
    at: At
    when: When = ""


@dataclass(frozen=True)
class Commit:
    """The cp.async issued since the last commit form a group."""


@dataclass(frozen=True)
class WaitGroups:
    """Until at most `pending` groups are under way."""

    pending: int


@dataclass(frozen=True)
class ArriveOnCopies:
    """Every thread arrives when its cp.async are done. counted: it raises the pending count itself first."""

    barrier: str
    at: At
    counted: bool


@dataclass(frozen=True)
class Expect:
    """One arrival, and `size` bytes that copies have to deliver."""

    barrier: str
    at: At
    size: int
    when: When = ""


@dataclass(frozen=True)
class TmaLoad:
    """Copy a tile of a source into its ring slot and count its bytes on a barrier."""

    source: int
    at: At
    barrier: str
    when: When = ""


@dataclass(frozen=True)
class Fill:
    """Load a tile of a source into registers and store it to its ring slot."""

    source: int
    at: At
    when: When = ""


@dataclass(frozen=True)
class WaitBarrier:
    """Until the phase that belongs to the tile is over; `opposite`: the phase before (for slots to come free)."""

    barrier: str
    at: At
    opposite: bool = False


@dataclass(frozen=True)
class Arrive:
    barrier: str
    at: At
    when: When = ""


@dataclass(frozen=True)
class Read:
    """A ring slot into registers."""

    source: int
    at: At


@dataclass(frozen=True)
class ZeroOutside:
    """Elements of a tile in registers that no column of the input covers become zero."""

    source: int
    at: At


@dataclass(frozen=True)
class Apply:
    """One of the plan's operations on the tile in registers. buffer: the shared memory of a `stage`."""

    op: Op
    buffer: str = ""
    explicit: bool = False


@dataclass(frozen=True)
class StoreOut:
    """The tile in registers to its place in an output."""

    at: At
    output: str = "out"


@dataclass(frozen=True)
class PutOut:
    """The tile in registers to its slot of the output ring."""

    at: At


@dataclass(frozen=True)
class GetOut:
    """A slot of the output ring into registers."""

    at: At


@dataclass(frozen=True)
class TmaStore:
    """A slot of the output ring to its place in the output."""

    at: At


@dataclass(frozen=True)
class StoreWait:
    """Until at most `pending` TMA stores still read shared memory."""

    pending: int


@dataclass(frozen=True)
class FoldBegin:
    pass


@dataclass(frozen=True)
class FoldStep:
    pass


@dataclass(frozen=True)
class FoldEnd:
    """The folded tile to the output, or back to the kernel."""


@dataclass(frozen=True)
class DotBegin:
    pass


@dataclass(frozen=True)
class DotStep:
    """Multiply the operands of a tile; at most asynchronously."""

    at: At


@dataclass(frozen=True)
class DotWait:
    """Until at most `pending` multiplications are under way."""

    pending: int


@dataclass(frozen=True)
class DotEnd:
    pass


@dataclass(frozen=True)
class Side:
    """Work that has nothing to do with the pipeline: numbers to the output `side`."""


Step = (Loop | If | Barrier | Fence | Copy | Commit | WaitGroups | ArriveOnCopies | Expect | TmaLoad | Fill
        | WaitBarrier | Arrive | Read | ZeroOutside | Apply | StoreOut | PutOut | GetOut | TmaStore | StoreWait
        | FoldBegin | FoldStep | FoldEnd | DotBegin | DotStep | DotWait | DotEnd | Side)


@dataclass(frozen=True)
class Partition:
    """One group of warps. registers: requested; 0: none asked for."""

    role: str
    warps: int
    registers: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class BarrierRing:
    """mbarriers, one per slot. count: arrivals that end a phase."""

    name: str
    depth: int
    count: int


@dataclass(frozen=True)
class Kernel:
    """What is emitted and what is simulated. The first partition is the default one. stages: shared memory of the
    `stage` operations, by name, with its reader's role. masked: whether stores leave out what lies outside the
    output."""

    plan: Plan
    barriers: tuple[BarrierRing, ...]
    partitions: tuple[Partition, ...]
    stages: tuple[tuple[str, str], ...]
    masked: bool = True
