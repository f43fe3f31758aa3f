"""Kernels written as TTGIR text, as data: a form with its parameters (contract: ttg_ops.md §3, §4).

A field's type lists its values, simplest first where there are few; what fields must agree about is in `problem`, and
nowhere else. This module imports msgspec only.
"""

from typing import Annotated, Literal

from msgspec import Meta

from tridiff.kernels.record import Record

MOST_GROUPS = 24
"""Groups of copies under way, each with a buffer of its own: 192 KiB of shared memory at most."""
Spaces = Literal["all", "global_read|global_write", "local|global_read|global_write", "gpu"]
"""Spellings of a barrier that orders global memory; a version without `ttg.barrier` has `gpu.barrier` for each."""


class Barrier(Record, kw_only=True, tag="barrier"):
    """A line reversed through global memory, a barrier of the memories `spaces` between writing and reading."""

    spaces: Spaces = "all"


class Mailbox(Record, kw_only=True, tag="mailbox"):
    """A line reversed through scratch memory that the compiler allocates, `decoys` other allocations around it."""

    alignment: Literal[128, 16, 4, 1024] = 128
    decoys: Annotated[int, Meta(ge=0, le=3)] = 0


class WarpNumbers(Record, kw_only=True, tag="warp_id"):
    """The number of the warp that holds each element. hint: without the hint that it is uniform, where there is one."""

    hint: bool = False
    region: Literal["block", "partition"] = "block"


class Partitions(Record, kw_only=True, tag="warp_specialize"):
    """A default partition and `workers` of two warps. requested: they ask for registers."""

    workers: Annotated[int, Meta(ge=1, le=3)] = 1
    requested: bool = False


class Tokens(Record, kw_only=True, tag="tokens"):
    """Asynchronous copies with tokens in `groups` groups, of which the first wait leaves `pending`."""

    groups: Annotated[int, Meta(ge=1, le=MOST_GROUPS)] = 1
    pending: Annotated[int, Meta(ge=0, le=MOST_GROUPS - 1)] = 0


class Masked(Record, kw_only=True, tag="mask"):
    """One operation under `ttg.mask`, executed if `flag` is set, through the pass that pipelines with `stages`."""

    wrapped: Literal["load", "store", "atomic", "copy"] = "load"
    flag: bool = False
    stages: Annotated[int, Meta(ge=1, le=5)] = 1


class PredicateStage(Record, kw_only=True, tag="predicate_stage"):
    """A loop of `trips` iterations over lines, pipelined in `stages` with predicates."""

    trips: Annotated[int, Meta(ge=1, le=MOST_GROUPS)] = 1
    stages: Annotated[int, Meta(ge=2, le=5)] = 2


class ClusterBarrier(Record, kw_only=True, tag="cluster"):
    """Two blocks of a cluster that wait for each other. fence: with a fence for mbarriers, where there is one."""

    relaxed: bool = False
    fence: bool = False


Form = Barrier | Mailbox | WarpNumbers | Partitions | Tokens | Masked | PredicateStage | ClusterBarrier


class Text(Record, kw_only=True, tag="text"):
    """A form over lines of `elements` i32, `each` of a thread at a time, in blocks of `warps`."""

    form: Form
    elements: Literal[128, 256, 512, 1024, 2048] = 1024
    each: Literal[1, 2, 4] = 1
    warps: Literal[4, 1, 2, 8] = 4

    @property
    def blocks(self) -> int:
        """Blocks of a cluster."""
        return 2 if isinstance(self.form, ClusterBarrier) else 1

    @property
    def lines(self) -> int | None:
        """Lines of one program; None for a form that has one and no axis for it."""
        match self.form:
            case Partitions(workers=workers):
                return 1 + workers
            case Tokens(groups=groups):
                return groups
            case PredicateStage(trips=trips):
                return trips
        return None

    @property
    def total_warps(self) -> int:
        """Warps of all partitions; those of workers are rounded up together to a multiple of 4."""
        workers = 2 * self.form.workers if isinstance(self.form, Partitions) else 2 * _in_partition(self.form)
        return self.warps + (workers + 3 & ~3)


def _in_partition(form: Form) -> bool:
    return isinstance(form, WarpNumbers) and form.region == "partition"


def problem(text: Text) -> str:
    """Why no kernel can be made of a text, "" if one can; its fields are within their types."""
    form = text.form
    if isinstance(form, Tokens) and form.pending >= form.groups:
        return "a wait leaves as many groups as there are"
    if (isinstance(form, Partitions) or _in_partition(form)) and text.warps % 4:
        return "the default partition is no whole warp group"
    return ""
