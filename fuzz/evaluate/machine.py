"""Runs a module: one function call for each program of the grid, operation by operation."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tridiff.fuzz.evaluate import (  # noqa: F401  each file enters its operations
    accesses,
    assembly,
    buffers,
    constants,
    control,
    conversions,
    descriptors,
    floats,
    folds,
    integers,
    library,
    partitions,
    products,
    programs,
    shapes,
    shared,
    tensor_memory,
)
from tridiff.fuzz.evaluate.errors import NotEvaluated
from tridiff.fuzz.evaluate.ir import Block, Function, Module, Operation, Region
from tridiff.fuzz.evaluate.memory import Memory
from tridiff.fuzz.evaluate.table import MEANINGS

MOST_OPERATIONS = 1_000_000
"""Of one launch, those of all programs together: what waits for another program never ends here."""

_LEAVING = frozenset({"tt.return", "scf.yield", "scf.condition", "tt.reduce.return", "tt.scan.return",
                      "tt.map_elementwise.return", "ttg.warp_yield", "ttg.warp_return"})


_NOTHING = Operation("scf.yield", (), "")
"""MLIR does not print the yield of a region that hands nothing on."""


class Machine:
    """memory: what pointers point to. grid: programs along x, y and z. deadline: on the monotonic clock, in seconds."""

    def __init__(self, module: Module, memory: Memory, grid: tuple[int, int, int], *,
                 deadline: float = math.inf) -> None:
        self.module, self.memory, self.grid, self._deadline = module, memory, grid, deadline
        self.program = (0, 0, 0)
        self.left = MOST_OPERATIONS
        self.values: dict[str, Any] = {}
        self.descriptors: dict[int, Any] = {}
        """Of tensors, by the address at which they lie."""
        self.barriers: dict[int, partitions.Barrier] = {}
        """In shared memory, by address."""
        self.team: partitions.Team | None = None
        self.place = 0
        """The partition that this runs, among those of a team."""
        self.threads = partitions.WARP * int(module.attributes.get("ttg.num-warps", "4").partition(" ")[0])
        self._scratch: list[np.ndarray[Any, Any]] = []
        self.trace: Any = None
        """Told of every operation (`fuzz.blame.departing`)."""

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run every program, x fastest. arguments: one for each parameter of the kernel."""
        kernel = self.module.kernel
        if len(arguments) != len(kernel.parameters):
            raise NotEvaluated(f"{len(arguments)} arguments for {len(kernel.parameters)} parameters")
        given = [np.asarray(one).astype(kind.dtype)
                 for one, (_, kind) in zip(arguments, kernel.parameters, strict=True)]
        with np.errstate(all="ignore"):
            for z in range(self.grid[2]):
                for y in range(self.grid[1]):
                    for x in range(self.grid[0]):
                        self.program = (x, y, z)
                        self.call(kernel, given)

    def scratch(self, size: int) -> int:
        """The address of so many bytes, for as long as this lives."""
        made = np.full(max(size, 1), 0xAB, dtype=np.uint8)
        self._scratch.append(made)
        self.memory.add(made.ctypes.data, made.nbytes)
        return int(made.ctypes.data)

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The function's results."""
        outer, self.values = self.values, {}
        try:
            for (name, _), value in zip(function.parameters, arguments, strict=True):
                self.values[name] = value
            _, results = self.region(function.body, ())
            return results
        finally:
            self.values = outer

    def __getitem__(self, name: str) -> Any:
        """The value of a name."""
        return self.values[name]

    def region(self, region: Region, arguments: Sequence[Any]) -> tuple[Operation, tuple[Any, ...]]:
        """Run a region from its first block; the operation that leaves it, and what that hands on."""
        block, given = region.blocks[0], tuple(arguments)
        while True:
            operation, values = self._block(block, given)
            if operation.name in _LEAVING:
                return operation, values
            block, given = self._next(region, operation)

    def _next(self, region: Region, operation: Operation) -> tuple[Block, tuple[Any, ...]]:
        label, names = control.successor(self, operation)
        return region.block(label), tuple(self[name] for name in names)

    def _block(self, block: Block, arguments: Sequence[Any]) -> tuple[Operation, tuple[Any, ...]]:
        values = self.values
        for name, value in zip(block.arguments, arguments, strict=True):
            values[name] = value
        for operation in block.operations:
            self.left -= 1
            if self.left < 0:
                raise NotEvaluated(f"more than {MOST_OPERATIONS} operations")
            if self.left % 64 == 0 and time.monotonic() > self._deadline:
                raise NotEvaluated("a launch that takes longer than there is time for")
            if operation.name in _LEAVING:
                return operation, tuple(values[name] for name in operation.operands)
            if operation.name in control.BRANCHES:
                return operation, ()
            meaning = MEANINGS.get(operation.name)
            if meaning is None:
                raise NotEvaluated(f"op {operation.name}")
            given = [values[name] for name in operation.operands] if (
                not operation.regions or operation.name in folds.FOLDS) else []
            if self.trace is not None:
                self.trace.begin(operation, given)
            found = meaning(self, operation, given)
            results = operation.results
            if len(results) == 1:
                values[results[0]] = found
            elif results:
                values.update(zip(results, found, strict=True))
            if self.trace is not None:
                self.trace.end([values[name] for name in results])
        return _NOTHING, ()
