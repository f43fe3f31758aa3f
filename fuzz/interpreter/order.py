"""Run the programs of a grid in another order.

Triton's interpreter runs programs one after the other, x outermost, ascending. Hardware promises no order, and
kernels that depend on the ascending one (stale scratch memory, unordered accumulation) look right in it.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.patching import Patches
from tridiff.fuzz.versions import interpreter_module

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class ProgramOrder:
    """In which order the programs of a grid run.

    kind: "ascending" (Triton's own), "reversed", or "shuffled".
    seed: of the shuffle, any int of 64 bits; one seed gives the same order everywhere. Unused otherwise.
    """

    kind: Literal["ascending", "reversed", "shuffled"]
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("ascending", "reversed", "shuffled"):
            raise TridiffError(f"unknown program order {self.kind!r}", fix="use 'ascending', 'reversed' or 'shuffled'")

    def permutation(self, programs: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """int64[programs]: position in time -> linear program id ((x * ny) + y) * nz + z."""
        if self.kind == "ascending":
            return np.arange(programs, dtype=np.int64)
        if self.kind == "reversed":
            return np.arange(programs - 1, -1, -1, dtype=np.int64)
        return np.argsort(_splitmix64(programs, self.seed), kind="stable").astype(np.int64)


def _splitmix64(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    # Own generator: numpy does not promise equal permutations across its versions.
    with np.errstate(over="ignore"):
        state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state += np.uint64(seed & _MASK)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def apply(patches: Patches, order: ProgramOrder) -> None:
    """Permute the ids that the grid loop hands to the builder; the loop itself stays Triton's."""
    builder = interpreter_module().InterpreterBuilder
    set_dim, set_idx = builder.set_grid_dim, builder.set_grid_idx

    def set_grid_dim(self: Any, nx: int, ny: int, nz: int) -> None:
        set_dim(self, nx, ny, nz)
        self.program_permutation = order.permutation(int(nx) * int(ny) * int(nz))

    def set_grid_idx(self: Any, x: int, y: int, z: int) -> None:
        _, ny, nz = self.grid_dim
        program = int(self.program_permutation[(x * ny + y) * nz + z])
        set_idx(self, program // (ny * nz), program // nz % ny, program % nz)

    patches.set(builder, "set_grid_dim", set_grid_dim)
    patches.set(builder, "set_grid_idx", set_grid_idx)
