"""Block pointers (Triton 3.6.0) and tensor descriptors: which accesses fit one, and their text (codegen.md §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels.codegen.graph import Load, Store

if TYPE_CHECKING:
    from kernels.codegen.state import Emitter, Shape


def block_load(emitter: Emitter, position: int, node: Load) -> tuple[str, Shape] | None:
    """Text and shape of the load as a block, or None where only plain pointers will do."""
    return None


def block_store(emitter: Emitter, position: int, node: Store, value: str) -> str | None:
    """Text of the store of a full tile as a block, or None."""
    return None
