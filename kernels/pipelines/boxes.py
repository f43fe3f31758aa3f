"""Boxes of 1 to 5 axes, copied by TMA in either direction (contract: ttg_ops.md §4, TMA copies).

Program p works on the tensor in row p of x: box t begins at `at`, moved t times by its own length along `axis`. What
lies outside the tensor reads as zero (`nan`: as NaN) and is not written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kernels.gluon.dialect import IMPORTS, NVIDIA_IMPORTS, Dialect
from kernels.pipelines.faults import NotApplicable
from kernels.pipelines.layouts import ELEMENT
from kernels.pipelines.plan import DTYPE_BITS


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """box, shape, at, to: elements along every axis. shape: of the tensor; lines begin at multiples of 16 bytes.
    to: where box 0 is stored by TMA; () where threads store the boxes one behind the other."""

    dtype: str
    box: tuple[int, ...]
    shape: tuple[int, ...]
    at: tuple[int, ...]
    to: tuple[int, ...]
    axis: int
    tiles: int
    ring: int
    swizzle: int
    nan: bool
    warps: int

    @property
    def itemsize(self) -> int:
        return DTYPE_BITS[self.dtype] // 8

    @property
    def memory(self) -> tuple[int, ...]:
        """The shape with the padding of its lines."""
        unit = 16 // self.itemsize
        return (*self.shape[:-1], -(-self.shape[-1] // unit) * unit)


def _registers(boxes: Boxes) -> str:
    """Lanes along the last axes, 16 bytes each; warps along the first one."""
    size, lanes, left = [1] * len(boxes.box), [1] * len(boxes.box), 32
    size[-1] = min(16 // boxes.itemsize, boxes.box[-1])
    for axis in reversed(range(len(boxes.box))):
        lanes[axis] = min(left, boxes.box[axis] // size[axis]) if axis else left
        left //= lanes[axis]
    warps = [boxes.warps, *[1] * (len(boxes.box) - 1)]
    return f"gl.BlockedLayout({size}, {lanes}, {warps}, {list(reversed(range(len(boxes.box))))})"


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
    """The module's text; its kernel is `boxes(x_ptr, out_ptr)`."""
    memory, box = boxes.memory, list(boxes.box)
    strides = [math.prod(memory[axis + 1:]) for axis in range(len(memory))]
    element, volume = ELEMENT[boxes.dtype], math.prod(box)

    def described(name: str, more: str = "") -> str:
        return (f"{name}_map = tma.make_tensor_descriptor({name}_ptr + program * {math.prod(memory)}, "
                f"{list(boxes.shape)}, {strides}, {box}, SHARED{more})")

    lines = ["program = gl.program_id(0)", described("x", ', padding_option="nan"' * boxes.nan),
             f"x = gl.allocate_shared_memory({element}, {[boxes.ring, *box]}, SHARED)",
             f"full = gl.allocate_shared_memory(gl.int64, [{boxes.ring}, 1], mbarrier.MBarrierLayout())"]
    if boxes.to:
        lines += [described("out"), f"staged = gl.allocate_shared_memory({element}, {box}, SHARED)"]
    else:
        lines.append(f"places = out_ptr + program * {boxes.tiles * volume} + {_number(boxes)}")
    lines += [f"for k in gl.static_range({boxes.ring}):", "    mbarrier.init(full.index(k), count=1)", dialect.barrier,
              f"for t in range({boxes.tiles}):", f"    s = t % {boxes.ring}",
              f"    mbarrier.expect(full.index(s), {volume * boxes.itemsize})",
              f"    tma.{dialect.tma_load}(x_map, [{_place(boxes.at, boxes)}], full.index(s), x.index(s))",
              f"    mbarrier.wait(full.index(s), (t // {boxes.ring}) & 1)", "    value = x.index(s).load(TILE)"]
    if boxes.to:
        lines += ["    tma.store_wait(pendings=0)", "    staged.store(value)", "    fence_async_shared()",
                  f"    tma.{dialect.tma_store}(out_map, [{_place(boxes.to, boxes)}], staged)"]
    else:
        lines.append(f"    gl.store(places + t * {volume}, value)")
    lines += [f"    {dialect.barrier}", *["tma.store_wait(pendings=0)"] * bool(boxes.to),
              f"for k in gl.static_range({boxes.ring}):", "    mbarrier.invalidate(full.index(k))"]
    shared = f"gl.NVMMASharedLayout({boxes.swizzle}, {boxes.itemsize * 8}, {len(box)})"
    head = (f"SHARED = gl.constexpr({shared})", f"TILE = gl.constexpr({_registers(boxes)})", "", "", "@gluon.jit",
            "def boxes(x_ptr, out_ptr):")
    return IMPORTS + NVIDIA_IMPORTS + "\n".join(("", *head, *(f"    {line}" for line in lines), ""))


Source = Callable[[Boxes, Dialect], str]


def changed(writer: Callable[..., str], *changes: tuple[str, str]) -> Callable[..., str]:
    """A writer of text with some of it exchanged; NotApplicable where that changes nothing."""

    def broken(*given: object) -> str:
        right = text = writer(*given)
        for old, new in changes:
            text = text.replace(old, new)
        if text == right:
            raise NotApplicable("the kernel has no place for this fault")
        return text

    return broken


FAULTS: Mapping[str, Source] = MappingProxyType({
    "missing_wait": changed(source, ("mbarrier.wait(", "# (")),
    "wrong_phase": changed(source, (") & 1)", ") & 1 ^ 1)")),
    "expect_half_the_bytes": changed(source, ("mbarrier.expect(full.index(s), ", "mbarrier.expect(full.index(s), 1 / 2 * ")),
    "first_axis_late": changed(source, ("], full.index(s)", " + 1], full.index(s)")),
})
"""Broken kernels by name."""
