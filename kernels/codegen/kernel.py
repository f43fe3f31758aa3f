"""What the generator delivers: source text and how to launch it. Imports neither torch nor Triton."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One parameter of the kernel, in order.

    kind "buffer": pointer to element 0 of the graph's buffer `value`. "workspace": pointer to the workspace `value`.
    "size": the integer `value`. "constexpr": the compile-time `value`.
    """

    name: str
    kind: Literal["buffer", "workspace", "size", "constexpr"]
    value: str | int | bool


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """Device memory that one launch needs: `length` elements of `dtype`, zero before every launch."""

    name: str
    dtype: str
    length: int


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A generated kernel.

    source: text for `kernels.generated.load`. name: of the kernel function in it, and a name for the module. grid:
    numbers of programs along x, y, z; 0 in it launches nothing. cooperative: all programs must be resident (launch
    option launch_cooperative_grid). descriptors: it creates tensor descriptors on the device: the launcher must have
    called triton.set_allocator. aligned: buffers whose pointers must be 16-byte aligned for it. mutated: buffers and
    workspaces that it writes. num_warps, num_stages: a hint, not a demand. finite_check: name of a function in the
    source to call with all tensor arguments before the launch, or "". key: digest of all that decides what is launched.
    """

    source: str
    name: str
    grid: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    workspaces: tuple[Workspace, ...] = ()
    mutated: tuple[str, ...] = ()
    cooperative: bool = False
    descriptors: bool = False
    aligned: tuple[str, ...] = ()
    num_warps: int = 4
    num_stages: int = 2
    finite_check: str = ""
    key: str = ""
