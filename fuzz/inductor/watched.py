"""Every interpreted launch of Inductor is watched: an access outside the kernel's arguments is a finding.

The harness cannot name the memory in advance, because Inductor allocates what lies between two kernels; but each
launch says by its arguments what the kernel may touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from tridiff.fuzz.interpreter.buffers import Buffer
from tridiff.fuzz.interpreter.trace import recording


def watch_launches() -> None:
    """Replace the method by which Inductor launches, for the rest of this process."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    launch = CachingAutotuner.run

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        with _watch[-1](self.fn, arguments):
            return launch(self, *arguments, **options)

    CachingAutotuner.run = watched


Watch = Callable[[Any, tuple[Any, ...]], AbstractContextManager[Any]]
"""What a launch runs in: made from the kernel and its arguments."""


def _checked(kernel: Any, arguments: tuple[Any, ...]) -> AbstractContextManager[Any]:
    return recording(_memory(arguments))


_watch: list[Watch] = [_checked]


@contextmanager
def watching_with(watch: Watch) -> Iterator[None]:
    """Have the launches inside the block run in what `watch` makes instead."""
    _watch.append(watch)
    try:
        yield
    finally:
        _watch.pop()


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
