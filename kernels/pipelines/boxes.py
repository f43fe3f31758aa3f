"""Boxes of 1 to 5 axes, copied by TMA in either direction (contract: ttg_ops.md §4, TMA copies).

Program p works on the tensor in row p of x: box t begins at `at`, moved t times by its own length along `axis`. What
lies outside the tensor reads as zero (`nan`: as NaN) and is not written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tridiff.kernels.gluon.dialect import GL_DTYPES, IMPORTS, NVIDIA_IMPORTS, Dialect
from tridiff.kernels.pipelines.plan import DTYPE_BITS, TMA_SLOT, TMA_UNIT
from tridiff.kernels.pipelines.text_faults import planted


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """box, shape, at, to: elements along every axis. shape: of the tensor; lines begin at multiples of 16 bytes.
    to: where box 0 is stored by TMA; () where threads store the boxes one behind the other."""

    together: ClassVar = ("box", "shape", "at", "to")
    """Fields with one item per axis."""
    box: tuple[int, ...]
    tiles: int
    shape: tuple[int, ...]
    ring: int
    nan: bool
    to: tuple[int, ...]
    swizzle: int
    at: tuple[int, ...]
    axis: int
    warps: int
    dtype: str

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

    @property
    def legal(self) -> bool:
        """Whether a tensor map and shared memory can hold the boxes, and the hardware copies them as asked: a swizzle
        needs 8 lines of its width, a copy begins and a stored line ends at 16 bytes, a store begins inside."""
        rank, size, line = len(self.box), math.prod(self.box) * self.itemsize, self.box[-1] * self.itemsize
        return ({len(self.shape), len(self.at), len(self.to or self.at)} == {rank} and 1 <= rank <= 5
                and all(1 <= n <= 256 and not n & n - 1 for n in self.box) and min(self.shape) >= 1
                and not size % TMA_SLOT and size <= 1 << 14 and math.prod(self.memory) <= 1 << 15 and line >= TMA_UNIT
                and self.swizzle in (0, 32, 64, 128) and (not self.swizzle or self.swizzle <= line <= size // 8)
                and not self.at[-1] % self.unit and all(abs(at) <= 256 for at in self.at)
                and (not self.to or not (self.shape[-1] | self.to[-1]) % self.unit)
                and all(0 <= to < most for to, most in zip(self.to, self.shape, strict=False))
                and self.warps in (1, 2, 4, 8) and 0 <= self.axis < rank and 1 <= self.ring <= 3
                and 1 <= self.tiles <= 4 and (not self.nan or self.dtype[0] in "fb"))


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
