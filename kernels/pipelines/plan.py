"""Plans: what a pipelined kernel does, as data (contract: ttg_ops.md §3 to §5).

A program of the grid copies `tiles` tiles of `rows` x `columns` elements into a ring of shared memory buffers,
works on each, and passes the result on. Tile t begins at column t * `columns` - `before` of the program's rows;
what lies outside the `width` columns that exist reads as zero and is not written.

This module imports msgspec only: the process that draws plans has no Triton.
"""

from typing import Annotated, Literal

from msgspec import Meta

from tridiff.kernels.record import Record

DTYPE_BITS = {"i8": 8, "fp8e4nv": 8, "fp8e5": 8, "i16": 16, "fp16": 16, "bf16": 16, "i32": 32, "u32": 32,
              "fp32": 32, "i64": 64}
SHARED_BYTES = 160 << 10
"""Shared memory a plan may ask for; an sm_90 block can have 227 KiB."""
TMA_SLOT = 128
"""Shared memory that TMA reads or writes begins at a multiple of this many bytes."""
TMA_UNIT = 16
"""TMA stores whole units of this many bytes: of a line that ends inside one it overwrites the rest with what lies in
shared memory (a limit of the hardware, triton-lang/triton#11583)."""

DType = Literal["i8", "fp8e4nv", "fp8e5", "i16", "fp16", "bf16", "i32", "u32", "fp32", "i64"]
Movable = Literal["i32", "i8", "i16", "i64", "u32", "fp16", "bf16", "fp32"]
"""Element types of what is only moved."""
Copy = Literal["cp_async", "cp_arrive", "cp_arrive_counted", "tma", "registers"]
Role = Literal["load", "load_second", "compute", "compute_second", "store", "side"]
OpKind = Literal["add", "multiply", "xor", "invert", "mix", "second_add", "second_xor", "second_max", "row_max", "scan",
                 "convert", "stage", "stage_transposed"]
SECOND = ("second_add", "second_xor", "second_max")
"""Operations with the second source's tile."""
MOVES = ("convert", "stage", "stage_transposed")
"""Operations that leave every value as it is."""
ACROSS = ("row_max", "scan")
"""Operations that mix the elements of a row."""
REDUCED = {"add": ("i32", "u32", "fp32", "fp16", "bf16"), "min": ("i32", "u32"), "max": ("i32", "u32"),
           "and": ("i32", "u32"), "or": ("i32", "u32"), "xor": ("i32", "u32")}
"""Element types of TMA reductions."""


class Source(Record, kw_only=True):
    """One input and how its tiles come into shared memory.

    copy: `cp_async` with commit and wait groups; `cp_arrive` with an mbarrier that every thread arrives on when its
    copies are done; `cp_arrive_counted` likewise, the copies raising the pending count themselves; `tma` with an
    mbarrier that counts bytes; `registers` with a load and a store. swizzle: bytes of the shared layout's swizzle.
    tensor_core: store in the layout that tensor cores read (always so for `tma`). across: tiles follow each other
    along the rows instead of the columns.
    """

    copy: Copy = "cp_async"
    swizzle: Literal[0, 32, 64, 128] = 0
    tensor_core: bool = False
    across: bool = False
    cache: Literal["", ".ca", ".cg"] = ""
    evict: Literal["", "evict_first", "evict_last"] = ""


class Op(Record, kw_only=True):
    """One operation on a tile. constant: the operand of add, multiply (odd), xor, and the shift of mix."""

    kind: OpKind
    constant: Annotated[int, Meta(ge=-63, le=63)] = 1


class Store(Record, kw_only=True, tag="store"):
    """Every tile is stored by the threads."""


class TmaStore(Record, kw_only=True, tag="tma_store"):
    """Every tile goes through a ring of `buffers` staging buffers to global memory; at most `pending` copies are
    under way when a buffer is filled again. reduce: the tile is combined with what stands there."""

    buffers: Annotated[int, Meta(ge=1, le=4)] = 1
    pending: Annotated[int, Meta(ge=0, le=3)] = 0
    swizzle: Literal[0, 32, 64, 128] = 0
    reduce: Literal["", "add", "min", "max", "and", "or", "xor"] = ""


class Fold(Record, kw_only=True, tag="fold"):
    """All tiles are folded into one. returned: as a result of the default partition."""

    op: Literal["add", "xor", "max"] = "add"
    returned: bool = False


class Dot(Record, kw_only=True, tag="dot"):
    """out = sum of first @ second over the tiles, on tensor cores; tiles are chunks of the inner axis.

    n: columns of the result. depth: multiplications that may be under way when the next one is issued.
    registers: the first operand goes through registers (and the plan's ops).
    """

    n: Literal[8, 16, 32, 64, 128, 256] = 16
    depth: Annotated[int, Meta(ge=0, le=3)] = 0
    registers: bool = False
    asynchronous: bool = True


Sink = Store | TmaStore | Fold | Dot


class Worker(Record, kw_only=True):
    """One partition besides the default one. registers: requested per thread; None leaves it to the compiler."""

    role: Role
    warps: Literal[1, 2, 4, 8] = 4
    registers: Annotated[int, Meta(ge=24, le=240, multiple_of=8)] | None = 48


class Plan(Record, kw_only=True, tag="plan"):
    """A pipelined kernel. `tridiff.kernels.pipelines.legal` says which are legal."""

    dtype: DType = "i32"
    rows: Literal[1, 2, 4, 8, 16, 32, 64, 128, 256] = 16
    columns: Literal[16, 32, 64, 128, 256] = 32
    tiles: Annotated[int, Meta(ge=0, le=16)] = 1
    cut: Annotated[int, Meta(ge=0, le=512)] = 0
    """Columns of the last tiles that do not exist."""
    before: Annotated[int, Meta(ge=0, le=256)] = 0
    """Columns of the first tile that lie before column 0."""
    ring: Annotated[int, Meta(ge=1, le=6)] = 1
    ahead: Annotated[int, Meta(ge=0, le=6)] = 1
    """Tiles copied before they are needed; in a partition that only copies, groups that may be under way."""
    slack: Annotated[int, Meta(ge=0, le=6)] = 0
    """Groups by which a wait is stricter than it has to be."""
    refill: Literal["first", "last"] = "last"
    """Whether the copy of a later tile is issued before or after the tile at hand is read."""
    tail: Literal["predicate", "branch", "peel"] = "predicate"
    """How copies of tiles that do not exist are left out."""
    loop: Literal["range", "constant", "static"] = "range"
    """Number of tiles: an argument, a constant, or unrolled."""
    explicit: bool = True
    """Barriers of all warps where the compiler would have to find them itself."""
    vector: Literal[4, 8, 16] = 16
    """Bytes that one lane copies at once, at most."""
    warps: Literal[1, 2, 4, 8] = 4
    """Of the block, or of the default partition."""
    warps_across: bool = False
    """Warps side by side along the columns instead of the rows."""
    sources: Annotated[tuple[Source, ...], Meta(min_length=1, max_length=2)] = (Source(),)
    shared_barrier: bool = False
    """One mbarrier per ring slot for all sources instead of one each."""
    ops: Annotated[tuple[Op, ...], Meta(max_length=8)] = ()
    sink: Sink = Store()
    default: Role = "compute"
    """Role of the default partition; where there are no workers, one partition does everything."""
    workers: Annotated[tuple[Worker, ...], Meta(max_length=5)] = ()
    release: Literal["early", "late"] = "early"
    """When a reader gives a ring slot back: as soon as it has read, or after everything."""
    weight: Literal[1, 2, 3, 7] = 1
    """What one reader's arrival at the mbarrier of a free slot counts."""
    cluster_fence: bool = False
    """Proxy fences for the shared memory of the whole cluster, here of one block."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """Every role that has a partition of its own, the default one first; empty without workers."""
        return (self.default, *(worker.role for worker in self.workers)) if self.workers else ()

    @property
    def itemsize(self) -> int:
        return DTYPE_BITS[self.dtype] // 8

    @property
    def width(self) -> int:
        """Columns (of an `across` source: rows) that exist. Without tiles there are some that nobody reads."""
        return 16 if not self.tiles else self.tiles * self.columns - self.before - self.cut

    def warps_of(self, role: Role) -> int:
        """Warps of the partition that has `role`."""
        for worker in self.workers:
            if worker.role == role:
                return worker.warps
        return self.warps

    def has(self, role: Role) -> bool:
        return role in self.roles

    def tile_shape(self, source: int) -> tuple[int, int]:
        """Elements of one tile of a source, as it lies in memory."""
        if isinstance(self.sink, Dot) and source == 1:
            return (self.columns, self.sink.n) if self.sources[1].across else (self.sink.n, self.columns)
        return self.rows, self.columns

    def shared_bytes(self) -> int:
        """Shared memory of the buffers, padding and barriers left out."""
        tile = self.rows * self.columns * self.itemsize
        total = sum(self.ring * shape[0] * shape[1] * self.itemsize
                    for shape in (self.tile_shape(i) for i in range(len(self.sources))))
        if isinstance(self.sink, TmaStore):
            total += self.sink.buffers * tile
        elif self.has("store"):
            total += self.ring * tile
        readers = 1 + self.has("compute_second")
        total += readers * tile * sum(op.kind.startswith("stage") for op in self.ops)
        # Conversions of layouts and reductions use shared memory of their own.
        return total + readers * tile * any(op.kind in ("convert", *ACROSS) for op in self.ops)


def arrivals(plan: Plan, source: int) -> int:
    """Arrivals per phase that one source contributes to the mbarrier of its ring slot."""
    copy = plan.sources[source].copy
    if copy == "cp_arrive":
        role: Role = "load_second" if source == 1 and plan.has("load_second") else "load"
        return 32 * plan.warps_of(role if plan.workers else plan.default)
    return 1


def needs_barrier(plan: Plan, source: int) -> bool:
    """Whether readers of a source wait for an mbarrier: always across partitions."""
    return bool(plan.workers) or plan.sources[source].copy in ("tma", "cp_arrive", "cp_arrive_counted")


def total_warps(plan: Plan) -> int:
    """Warps of the whole block: workers are rounded up together to a multiple of 4."""
    return plan.warps + (sum(worker.warps for worker in plan.workers) + 3 & ~3)


def even_share(plan: Plan) -> int:
    """Registers per thread that every partition may request at once."""
    return min(65536 // (32 * total_warps(plan)), 240) // 8 * 8
