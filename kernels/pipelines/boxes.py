"""Boxes of 1 to 5 axes, copied by TMA in either direction (contract: ttg_ops.md §4, TMA copies).

Program p works on the tensor in row p of x: box t begins at `at`, moved t times by its own length along `axis`. What
lies outside the tensor reads as zero (`nan`: as NaN) and is not written.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from tridiff.kernels.gluon.dialect import GL_DTYPES, IMPORTS, NVIDIA_IMPORTS, Dialect
from tridiff.kernels.pipelines.plan import DTYPE_BITS, TMA_SLOT, TMA_UNIT, Movable
from tridiff.kernels.pipelines.text_faults import planted
from tridiff.kernels.record import Record

Axes = Meta(min_length=1, max_length=5)


class Boxes(Record, kw_only=True, tag="boxes"):
    """box, shape, at, to: elements along every axis. shape: of the tensor; lines begin at multiples of 16 bytes.
    to: where box 0 is stored by TMA; () where threads store the boxes one behind the other. swizzle: bytes of the
    shared layout's. `problem` says which are legal."""

    together: ClassVar[tuple[str, ...]] = ("box", "shape", "at", "to")
    """Fields with one item per axis."""
    box: Annotated[tuple[Annotated[int, Meta(ge=1, le=256)], ...], Axes]
    tiles: Annotated[int, Meta(ge=1, le=4)]
    shape: Annotated[tuple[Annotated[int, Meta(ge=1, le=1 << 15)], ...], Axes]
    ring: Annotated[int, Meta(ge=1, le=3)]
    nan: bool
    to: Annotated[tuple[Annotated[int, Meta(ge=0, le=1 << 15)], ...], Meta(max_length=5)]
    swizzle: Literal[0, 32, 64, 128]
    at: Annotated[tuple[Annotated[int, Meta(ge=-256, le=256)], ...], Axes]
    axis: Annotated[int, Meta(ge=0, le=4)]
    warps: Literal[1, 2, 4, 8]
    dtype: Movable

    @property
    def itemsize(self) -> int:
        return DTYPE_BITS[self.dtype] // 8

    @property
    def unit(self) -> int:
        """Elements of 16 bytes."""
        return TMA_UNIT // self.itemsize

    @property
    def memory(self) -> tuple[int, ...]:
        """The shape with the padding of its lines."""
        return (*self.shape[:-1], -(-self.shape[-1] // self.unit) * self.unit)

    @property
    def blocks(self) -> int:
        return 1

    @property
    def arrays(self) -> dict[str, int]:
        """Elements of one program's arrays; `out` is the output."""
        tensor, boxes = math.prod(self.memory), self.tiles * math.prod(self.box)
        return {"x": tensor, "initial": tensor, "out": tensor} if self.to else {"x": tensor, "out": boxes}


def problem(boxes: Boxes) -> str:
    """Why the hardware does not copy the boxes as asked, "" if it does; fields are within their types."""
    rank, unit, size = len(boxes.box), boxes.unit, math.prod(boxes.box) * boxes.itemsize
    line = boxes.box[-1] * boxes.itemsize
    if {len(boxes.shape), len(boxes.at), len(boxes.to or boxes.at)} != {rank} or boxes.axis >= rank:
        return "box, tensor and places differ in their number of axes"
    if any(n & n - 1 for n in boxes.box):
        return "a tensor in registers has powers of two along its axes"
    if size % TMA_SLOT or line < TMA_UNIT:
        return f"a box takes whole slots of {TMA_SLOT} bytes, its lines {TMA_UNIT} bytes or more"
    if size > 1 << 14 or math.prod(boxes.memory) > 1 << 15:
        return "a box or tensor is larger than need be"
    if boxes.swizzle and not boxes.swizzle <= line <= size // 8:
        return "a swizzle needs 8 lines of its width"
    if boxes.at[-1] % unit:
        return f"a copy begins at a multiple of {TMA_UNIT} bytes"
    if boxes.to and (boxes.shape[-1] | boxes.to[-1]) % unit:
        return f"a stored line begins and ends at multiples of {TMA_UNIT} bytes"
    if any(to >= most for to, most in zip(boxes.to, boxes.shape, strict=False)):
        return "a store begins outside the tensor"
    if boxes.nan and boxes.dtype[0] not in "fb":
        return "integers have no NaN"
    return ""


def _registers(boxes: Boxes) -> str:
    """Lanes along the last axes, 16 bytes each; warps along the first one."""
    rank, left = len(boxes.box), 32
    size, lanes = [1] * rank, [1] * rank
    size[-1] = min(boxes.unit, boxes.box[-1])
    for axis in reversed(range(rank)):
        lanes[axis] = min(left, boxes.box[axis] // size[axis]) if axis else left
        left //= lanes[axis]
    return f"gl.BlockedLayout({size}, {lanes}, {[boxes.warps] + [1] * (rank - 1)}, {list(reversed(range(rank)))})"


def _place(start: tuple[int, ...], boxes: Boxes) -> str:
    return ", ".join(f"{one} + t * {boxes.box[axis]}" if axis == boxes.axis else str(one)
                     for axis, one in enumerate(start))


def _number(boxes: Boxes) -> str:
    """The position of every element of a box in the box."""
    rank, terms = len(boxes.box), []
    for axis in range(rank):
        layout, shown = "TILE", ", ".join(":" if one == axis else "None" for one in range(rank))
        for gone in reversed([one for one in range(rank) if one != axis]):
            layout = f"gl.SliceLayout({gone}, {layout})"
        stride = math.prod(boxes.box[axis + 1:])
        terms.append(f"gl.arange(0, {boxes.box[axis]}, layout={layout})" + f"[{shown}]" * (rank > 1) + f" * {stride}")
    return " + ".join(terms)


def source(boxes: Boxes, dialect: Dialect) -> str:
    """The module's text; its kernel is `kernel(x_ptr, out_ptr)`."""
    memory, box, ring = boxes.memory, list(boxes.box), boxes.ring
    strides = [math.prod(memory[axis + 1:]) for axis in range(len(memory))]
    element, volume = GL_DTYPES[boxes.dtype], math.prod(box)

    def described(name: str, more: str = "") -> str:
        return (f"{name}_map = tma.make_tensor_descriptor({name}_ptr + program * {math.prod(memory)}, "
                f"{list(boxes.shape)}, {strides}, {box}, SHARED{more})")

    lines = ["program = gl.program_id(0)", described("x", ', padding_option="nan"' * boxes.nan),
             f"x = gl.allocate_shared_memory({element}, {[ring, *box]}, SHARED)",
             f"full = gl.allocate_shared_memory(gl.int64, [{ring}, 1], mbarrier.MBarrierLayout())"]
    if boxes.to:
        lines += [described("out"), f"staged = gl.allocate_shared_memory({element}, {box}, SHARED)"]
    else:
        lines.append(f"places = out_ptr + program * {boxes.tiles * volume} + {_number(boxes)}")
    lines += [f"for k in gl.static_range({ring}):", "    mbarrier.init(full.index(k), count=1)", dialect.barrier,
              f"for t in range({boxes.tiles}):", f"    s = t % {ring}",
              f"    mbarrier.expect(full.index(s), {volume * boxes.itemsize})",
              f"    tma.{dialect.tma_load}(x_map, [{_place(boxes.at, boxes)}], full.index(s), x.index(s))",
              f"    mbarrier.wait(full.index(s), (t // {ring}) & 1)", "    value = x.index(s).load(TILE)"]
    if boxes.to:
        lines += ["    tma.store_wait(pendings=0)", f"    {dialect.barrier}", "    staged.store(value)",
                  "    fence_async_shared()",
                  f"    tma.{dialect.tma_store}(out_map, [{_place(boxes.to, boxes)}], staged)"]
    else:
        lines.append(f"    gl.store(places + t * {volume}, value)")
    lines += [f"    {dialect.barrier}", *["tma.store_wait(pendings=0)"] * bool(boxes.to),
              f"for k in gl.static_range({ring}):", "    mbarrier.invalidate(full.index(k))"]
    shared = f"gl.NVMMASharedLayout({boxes.swizzle}, {boxes.itemsize * 8}, {len(box)})"
    head = (f"SHARED = gl.constexpr({shared})", f"TILE = gl.constexpr({_registers(boxes)})", "", "", "@gluon.jit",
            "def kernel(x_ptr, out_ptr):")
    return IMPORTS + NVIDIA_IMPORTS + "\n".join(("", *head, *(f"    {line}" for line in lines), ""))


FAULTS = planted(source, store_wait_missing=(r"tma\.store_wait\(.*", "pass"))
"""Broken kernels by name."""
