"""Every interpreted launch of Inductor is watched: an access outside the kernel's arguments is a finding.

The harness cannot name the memory in advance, because Inductor allocates what lies between two kernels; but each
launch says by its arguments what the kernel may touch.
"""

from __future__ import annotations

from typing import Any

import torch

from tridiff.fuzz.interpreter.buffers import Buffer
from tridiff.fuzz.interpreter.trace import recording


def watch_launches() -> None:
    """Replace the method by which Inductor launches, for the rest of this process."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    launch = CachingAutotuner.run

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        with recording(_memory(arguments)):
            return launch(self, *arguments, **options)

    CachingAutotuner.run = watched


def _memory(arguments: tuple[Any, ...]) -> list[Buffer]:
    """The memory behind a kernel's arguments: whole allocations, because arguments may be views of one."""
    found: dict[int, Buffer] = {}
    for number, argument in enumerate(arguments):
        if isinstance(argument, torch.Tensor):
            storage = argument.untyped_storage()
            found[storage.data_ptr()] = Buffer(
                name=f"argument {number}", address=storage.data_ptr(), size_bytes=storage.nbytes(),
                element_bytes=argument.element_size())
    return list(found.values())
