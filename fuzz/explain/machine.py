"""Machine code: disassembled, and what a kernel takes of a multiprocessor. Needs no GPU, only the programs that Triton
brings along."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tridiff.fuzz.explain.model import Limit, Resources

_SECONDS = 60.0

WARP = 32
_REGISTERS_AT_ONCE = 256
"""Registers are given to warps in pieces of this many, of 65,536 that a multiprocessor has."""

_REGISTERS = 65_536
_PER_MULTIPROCESSOR = {"sm_80": (64, 32, 164 << 10), "sm_90": (64, 32, 228 << 10), "sm_100": (64, 32, 228 << 10)}
"""Warps, blocks and bytes of shared memory that are resident at most (CUDA C++ Programming Guide, table of technical
specifications per compute capability)."""

_RESERVED_SHARED = 1 << 10
"""Bytes of shared memory that the system takes for each block."""


def disassembled(cubin: object) -> str:
    """The instructions with the source lines that they come from, "" without a tool or machine code of NVIDIA."""
    said = _ask("nvdisasm", "-g", "-c", cubin=cubin)
    kept = []
    inside = False
    for line in said.splitlines():
        if line.startswith(".text."):
            inside = True
        elif line.startswith(("\t.section", "//------")):
            inside = False
        if inside and line.strip():
            kept.append(line.rstrip())
    return "\n".join(kept)


def resources(cubin: object, arch: str, metadata: Any) -> Resources | None:
    """Registers, stack, local and shared memory, and how many blocks of it a multiprocessor holds; None for AMD."""
    said = _ask("cuobjdump", "--dump-resource-usage", cubin=cubin)
    found = {name: int(number) for name, number in re.findall(r"\b(REG|STACK|SHARED|LOCAL):(\d+)", said)}
    if not found:
        return None
    warps = int(metadata.num_warps)
    shared = found.get("SHARED", 0) + int(getattr(metadata, "shared", 0) or 0)
    limits = _limits(arch, registers=found["REG"], shared=shared, warps=warps)
    blocks = min((one.blocks for one in limits), default=0)
    most = _PER_MULTIPROCESSOR.get(arch, (64, 0, 0))[0]
    return Resources(registers=found["REG"], stack=found.get("STACK", 0), local=found.get("LOCAL", 0), shared=shared,
                     threads=warps * WARP, blocks=blocks, occupancy=round(blocks * warps / most, 4), limits=limits)


def _limits(arch: str, *, registers: int, shared: int, warps: int) -> tuple[Limit, ...]:
    if arch not in _PER_MULTIPROCESSOR:
        return ()
    most_warps, most_blocks, memory = _PER_MULTIPROCESSOR[arch]
    for_warp = -(-registers * WARP // _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE
    return (Limit(by="threads", blocks=most_warps // warps), Limit(by="blocks", blocks=most_blocks),
            Limit(by="registers", blocks=_REGISTERS // for_warp // warps if for_warp else most_blocks),
            Limit(by="shared memory", blocks=memory // (shared + _RESERVED_SHARED)))


def tool(name: str) -> str:
    """Where the program is that Triton brings along, "" if it does not."""
    from triton import knobs

    try:
        return str(getattr(knobs.nvidia, name).path)
    except (AttributeError, RuntimeError):
        return ""


def _ask(name: str, *arguments: str, cubin: object) -> str:
    program = tool(name)
    if not isinstance(cubin, bytes) or not program:
        return ""
    with tempfile.TemporaryDirectory(prefix="tridiff-cubin-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            done = subprocess.run([program, *arguments, str(path)], capture_output=True, text=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError):
            return ""
    return done.stdout if done.returncode == 0 else ""
