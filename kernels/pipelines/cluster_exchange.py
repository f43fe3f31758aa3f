"""Tiles that blocks of a cluster store into each other's shared memory (contract: ttg_ops.md §4, async_shared_store).

Tile t of a program goes from registers into slot t % ring of a buffer that is spread over the cluster, counted in
bytes on the mbarrier of whichever block owns the place, and from there to the output unchanged.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from tridiff.kernels.gluon.dialect import GL_DTYPES, IMPORTS, NVIDIA_IMPORTS, Dialect
from tridiff.kernels.pipelines.layouts import Blocked
from tridiff.kernels.pipelines.plan import DTYPE_BITS, SHARED_BYTES, Movable
from tridiff.kernels.pipelines.text_faults import planted
from tridiff.kernels.record import Record

Spread = Annotated[str, Meta(pattern=r"^[rcd]{1,3}\Z")]
"""How something is spread over the blocks, one letter per bit of a block's number: r rows, c columns, d not at all."""


class Exchange(Record, kw_only=True, tag="exchange"):
    """value, memory, read: how registers, shared memory and the reader's registers are spread over the blocks; read "":
    like memory. across: vectors along the rows. vector: bytes of one. maximum: phases of a swizzle, 0 for the layout of
    tensor cores. ahead: tiles stored before the first is waited for. every: tiles between two barriers of the cluster.
    `problem` says which are legal.
    """

    together: ClassVar[tuple[str, ...]] = ("value", "memory", "read")
    """Fields with one letter per bit."""
    value: Spread
    tiles: Annotated[int, Meta(ge=1, le=8)]
    ring: Annotated[int, Meta(ge=1, le=4)]
    ahead: Annotated[int, Meta(ge=0, le=3)]
    every: Annotated[int, Meta(ge=1, le=4)]
    rows: Annotated[int, Meta(ge=1, le=1 << 13)]
    columns: Annotated[int, Meta(ge=1, le=1 << 13)]
    read: Annotated[str, Meta(pattern=r"^[rcd]{0,3}\Z")]
    maximum: Literal[0, 1, 2, 4, 8]
    across: bool
    vector: Literal[4, 8, 16]
    warps: Literal[1, 2, 4, 8]
    memory: Spread
    dtype: Movable

    @property
    def itemsize(self) -> int:
        return DTYPE_BITS[self.dtype] // 8

    @property
    def blocks(self) -> int:
        return 1 << len(self.value)

    def part(self, spread: str) -> tuple[int, int]:
        """Rows and columns of one block."""
        return self.rows >> spread.count("r"), self.columns >> spread.count("c")

    @property
    def bytes(self) -> int:
        """What arrives in one block: its part of the tile, from every block that holds it."""
        rows, columns = self.part(self.memory)
        copies = 1 if self.value == self.memory else 1 << self.value.count("d")
        return rows * columns * self.itemsize * copies

    @property
    def arrays(self) -> dict[str, int]:
        """Elements of one program's arrays; `out` is the output."""
        return dict.fromkeys(("x", "out"), self.tiles * self.rows * self.columns)


def problem(exchange: Exchange) -> str:
    """Why the exchange cannot be or its slots meet, "" if all is well; fields are within their types."""
    spreads = exchange.value, exchange.memory, exchange.read or exchange.memory
    if len({*map(len, spreads)}) > 1:
        return "a cluster has one number of blocks"
    if "d" in exchange.memory and exchange.value != exchange.memory:
        return "what several blocks are to hold is not stored in all of them"
    rows, columns = exchange.part(exchange.memory)
    if exchange.rows & exchange.rows - 1 or exchange.columns & exchange.columns - 1 or min(
            min(exchange.part(one)) for one in spreads) < 1:
        return "tiles are powers of two, and every block has a part"
    if exchange.rows * exchange.columns > 1 << 13 or (
            exchange.ring * exchange.rows * exchange.columns * exchange.itemsize > SHARED_BYTES):
        return "the ring is larger than shared memory, or than need be"
    if exchange.vector < exchange.itemsize or any(
            exchange.part(one)[not exchange.across] * exchange.itemsize < exchange.vector for one in spreads[:2]):
        return "a vector is no whole element, or wider than a block's part"
    if not exchange.maximum and (exchange.across or rows < 8 or columns * exchange.itemsize < 32):
        return "the layout of tensor cores has 8 rows of 32 bytes or more"
    if exchange.ahead + exchange.every > exchange.ring:
        return "a slot is stored to before every block has read it"
    return ""


def _bases(spread: str) -> str:
    taken, found = {"r": 1, "c": 1, "d": 0}, []
    for letter in spread:
        found.append([taken[letter] * (letter == "r"), taken[letter] * (letter == "c")])
        taken[letter] *= 2
    return f"cga_layout={found}"


def _registers(exchange: Exchange, spread: str, *, across: bool, each: int) -> str:
    rows, columns = exchange.part(spread)
    lanes = max(min(32, (rows if across else columns) // each), 1)
    blocked = Blocked((1, each), (32 // lanes, lanes), (exchange.warps, 1), (1, 0))
    return (blocked.transposed if across else blocked).text.replace("])", f"], {_bases(spread)})")


def _memory(exchange: Exchange) -> str:
    if not exchange.maximum:
        line = exchange.part(exchange.memory)[1] * exchange.itemsize
        return f"gl.NVMMASharedLayout({min(line, 128)}, {exchange.itemsize * 8}, 2, {_bases(exchange.memory)})"
    order = [0, 1] if exchange.across else [1, 0]
    unit = exchange.vector // exchange.itemsize
    return f"gl.SwizzledSharedLayout({unit}, 1, {exchange.maximum}, {order}, {_bases(exchange.memory)})"


def source(exchange: Exchange, dialect: Dialect) -> str:
    """The module's text; its kernel is `kernel(x_ptr, out_ptr)`. NotImplementedError where the version cannot."""
    if not dialect.async_store:
        raise NotImplementedError("this version has no store into another block's shared memory")
    rows, columns, ring, ahead = exchange.rows, exchange.columns, exchange.ring, exchange.ahead
    read = exchange.read or exchange.memory

    def pointers(name: str, layout: str) -> str:
        return (f"{name} = {name}_ptr + program * {exchange.tiles * rows * columns}"
                f" + gl.arange(0, {rows}, layout=gl.SliceLayout(1, {layout}))[:, None] * {columns}"
                f" + gl.arange(0, {columns}, layout=gl.SliceLayout(0, {layout}))[None, :]")

    def store(tile: str) -> tuple[str, ...]:
        slot = f"({tile}) % {ring}"
        return (f"value = gl.load(x + ({tile}) * {rows * columns})",
                f"mbarrier.expect(full.index({slot}), {exchange.bytes})",
                f"hopper.{dialect.async_store}(memory.index({slot}), value, full.index({slot}))")

    later = store(f"t + {ahead}")
    if ahead:
        later = (f"if t + {ahead} < {exchange.tiles}:", *(f"    {line}" for line in later))
    body = (*later, f"mbarrier.wait(full.index(t % {ring}), (t // {ring}) & 1, deps=[memory])",
            # The mbarrier that a block waits for speaks of its own shared memory only.
            *[dialect.cluster_barrier] * (read != exchange.memory),
            f"gl.store(out + t * {rows * columns}, memory.index(t % {ring}).load(READ))",
            f"if t % {exchange.every} == {exchange.every - 1}:", f"    {dialect.cluster_barrier}")
    lines = ("program = gl.program_id(0)", pointers("x", "VALUE"), pointers("out", "READ"),
             f"memory = gl.allocate_shared_memory({GL_DTYPES[exchange.dtype]}, [{ring}, {rows}, {columns}], MEMORY)",
             f"full = mbarrier.allocate_mbarrier(batch={ring})",
             f"for k in gl.static_range({ring}):", "    mbarrier.init(full.index(k), count=1)",
             *dialect.initialised,
             *(line for tile in range(min(ahead, exchange.tiles)) for line in store(str(tile))),
             f"for t in range({exchange.tiles}):", *(f"    {line}" for line in body),
             f"for k in gl.static_range({ring}):", "    mbarrier.invalidate(full.index(k))")
    written = _registers(exchange, exchange.value, across=exchange.across, each=exchange.vector // exchange.itemsize)
    head = ("from triton.experimental.gluon.language.nvidia import hopper", "", f"VALUE = gl.constexpr({written})",
            f"READ = gl.constexpr({_registers(exchange, read, across=not exchange.across, each=1)})",
            f"MEMORY = gl.constexpr({_memory(exchange)})", "", "", "@gluon.jit", "def kernel(x_ptr, out_ptr):")
    return IMPORTS + NVIDIA_IMPORTS + "\n".join((*head, *(f"    {line}" for line in lines), ""))


FAULTS = planted(source, missing_cluster_barrier=(r"gl\.barrier\(cluster=True\)", "pass"))
"""Broken kernels by name."""
