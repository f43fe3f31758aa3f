"""Executes the PTX of one block on the CPU, its threads in lockstep, shared memory included.

Adds to ptx_execution.py what chains of views compile to: ld.shared, st.shared, ldmatrix, stmatrix, shuffles. Every
instruction is finished by all threads before the next one, so that barriers have nothing to do and a missing one does
not show. Branches are Unsupported. An address outside the block's shared memory is OutsideShared.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.kernels.ptx_execution import SPACING, Instruction, Memory, Thread, Unsupported, parse, parts_of

LANES = 32
SHARED_BYTES = 227 << 10  # what a block can have on sm_90


class OutsideShared(Exception):
    """An access beyond shared memory: an illegal address on a device."""


class SharedMemory(Memory):
    """One array from address 0 on, where `global_smem` lies; it starts as a conspicuous pattern."""

    def __init__(self) -> None:
        super().__init__([np.full(SHARED_BYTES, 0xA5, np.uint8)])

    def _at(self, address: int, size: int) -> NDArray[np.uint8]:
        address %= SPACING  # registers and offsets are added in 32 bits
        if address + size > SHARED_BYTES:
            raise OutsideShared(f"{size} bytes at {address:#x}")
        return super()._at(address + SPACING, size)


class BlockThread(Thread):
    """A thread that shares a memory with others."""

    def __init__(self, memory: Memory, shared: SharedMemory, special: dict[str, int]) -> None:
        super().__init__(memory, special)
        self.shared = shared

    def access(self, name: str, modifiers: Sequence[str], operands: tuple[str, ...]) -> None:
        if modifiers[0] in ("shared", "shared::cta"):
            own, self.memory = self.memory, self.shared
            try:
                super().access(name, ["global", *modifiers[1:]], operands)
            finally:
                self.memory = own
        else:
            super().access(name, modifiers, operands)

    def address(self, operand: str) -> int:
        base, _, offset = operand.strip("[] ").partition("+")
        return self.read(base.strip()) + int(offset or 0)


def _matrices(warp: Sequence[BlockThread], step: Instruction) -> None:
    """ldmatrix and stmatrix of 8x8 elements of 16 bits: lane 8k+i names row i of matrix k; lane t holds, of every
    matrix, two neighbours of row t/4, or of column t/4 where it is transposed (contract: PTX ISA, ldmatrix)."""
    loads = step.opcode.startswith("ldmatrix")
    transposed = ".trans." in step.opcode
    if "m8n8" not in step.opcode or not step.opcode.endswith("b16"):
        raise Unsupported(step.opcode)
    what, where = step.operands if loads else step.operands[::-1]
    for number, register in enumerate(parts_of(what)):
        rows = [warp[8 * number + i].address(where) for i in range(8)]
        for lane, thread in enumerate(warp):
            held = [(lane // 4, 2 * (lane % 4) + half) for half in (0, 1)]
            places = [rows[j] + 2 * i if transposed else rows[i] + 2 * j for i, j in held]
            if loads:
                halves = [thread.shared.load(place, 2) for place in places]
                thread.write(register, halves[0] | halves[1] << 16)
            else:
                for half, place in enumerate(places):
                    thread.shared.store(place, 2, thread.read(register) >> 16 * half)


def _shuffle(warp: Sequence[BlockThread], step: Instruction) -> None:
    """shfl.sync.bfly and .idx among all lanes."""
    mode = step.opcode.split(".")[2]
    target, source, choice, clamp, _ = step.operands
    if mode not in ("bfly", "idx") or int(clamp, 0) != LANES - 1:
        raise Unsupported(step.opcode)
    values = [thread.read(source) for thread in warp]
    chosen = [thread.read(choice) for thread in warp]
    for lane, thread in enumerate(warp):
        thread.write(target, values[(lane ^ chosen[lane] if mode == "bfly" else chosen[lane]) % LANES])


def launch_block(text: str, arguments: Sequence[NDArray[Any] | int], *, warps: int) -> None:
    """Runs one block; arguments as in `ptx_execution.launch`. Raises Unsupported and OutsideShared."""
    program = parse(text)
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    memory, shared = Memory(arrays), SharedMemory()
    bases = iter(range(SPACING, SPACING * (len(arrays) + 1), SPACING))
    values = [next(bases) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    special = {name: values[n] if n < len(values) else 0 for name, n in program.parameters.items()}
    threads = [BlockThread(memory, shared, {**special, "global_smem": 0, "%tid.x": tid, "%ctaid.x": 0})
               for tid in range(LANES * warps)]
    for step in program.instructions:
        name = step.opcode.partition(".")[0]
        if name == "bar":
            continue
        if name in ("ldmatrix", "stmatrix", "shfl"):
            if step.guard is not None:
                raise Unsupported(f"a guarded {name}")
            for first in range(0, len(threads), LANES):
                (_shuffle if name == "shfl" else _matrices)(threads[first:first + LANES], step)
            continue
        running = [thread for thread in threads if step.guard is None or bool(thread.read(step.guard)) != step.negated]
        if name == "ret" and len(running) == len(threads):
            return
        if name in ("bra", "ret"):
            raise Unsupported(step.opcode)
        for thread in running:
            thread.execute(step.opcode, step.operands)
    raise Unsupported("no end")
