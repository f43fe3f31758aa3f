"""Layout texts of a plan: how tiles lie in registers and in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from tridiff.kernels.gluon.dialect import GL_DTYPES
from tridiff.kernels.pipelines.plan import DTYPE_BITS, Plan

PLAIN = "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])"
"""Memory without a swizzle, row-major."""


@dataclass(frozen=True)
class Blocked:
    """A blocked register layout of rank 2."""

    size: tuple[int, int]
    threads: tuple[int, int]
    warps: tuple[int, int]
    order: tuple[int, int]

    @property
    def transposed(self) -> Blocked:
        """The layout of the transposed tile."""
        return Blocked(self.size[::-1], self.threads[::-1], self.warps[::-1], (1 - self.order[0], 1 - self.order[1]))

    @property
    def text(self) -> str:
        return f"gl.BlockedLayout({list(self.size)}, {list(self.threads)}, {list(self.warps)}, {list(self.order)})"


def blocked(plan: Plan, shape: tuple[int, int], warps: int) -> Blocked:
    """Lanes along the columns, each with `vector` bytes."""
    each = min(max(plan.vector // plan.itemsize, 1), shape[1])
    lanes = min(32, max(shape[1] // each, 1))
    split = (1, warps) if plan.warps_across else (warps, 1)
    return Blocked((1, each), (32 // lanes, lanes), split, (1, 0))


def columnwise(shape: tuple[int, int], warps: int) -> Blocked:
    """Another layout of the same tile: lanes along the rows."""
    lanes = min(32, shape[0])
    return Blocked((1, 1), (lanes, 32 // lanes), (1, warps), (0, 1))


def integer(plan: Plan) -> str:
    """The type in which the plan's operations compute: the element's bits as an integer."""
    return GL_DTYPES["u32" if plan.dtype == "u32" else f"i{DTYPE_BITS[plan.dtype]}"]


def ring_layout(plan: Plan, source: int) -> str:
    """Shared layout of a source's ring."""
    wanted = plan.sources[source]
    if wanted.copy == "tma" or wanted.tensor_core:
        return core_layout(plan, wanted.swizzle)
    if not wanted.swizzle:
        return PLAIN
    # The unit that is moved as a whole is what one cp.async copies.
    unit = max(plan.vector // plan.itemsize, 1)
    return f"gl.SwizzledSharedLayout({unit}, 1, {wanted.swizzle // 16}, [1, 0])"


def core_layout(plan: Plan, swizzle: int) -> str:
    """The shared layout of tensor maps and tensor cores."""
    return (f"gl.NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth={plan.itemsize * 8}, rank=2)")
