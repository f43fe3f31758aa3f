"""Every interpreted launch of Inductor is watched: an access outside the kernel's arguments is a finding.

Its integers have the types that Inductor declares, as they have where it is compiled; the interpreter goes by values.

The harness cannot name the memory in advance, because Inductor allocates what lies between two kernels; but each
launch says by its arguments what the kernel may touch.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch
import triton.language as tl

from tridiff.fuzz.interpreter.buffers import Buffer
from tridiff.fuzz.interpreter.trace import recording
from tridiff.fuzz.versions import interpreter_module


def watch_launches() -> None:
    """Replace the method by which Inductor launches, for the rest of this process."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    launch = CachingAutotuner.run

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        with _watch[-1](self.fn, arguments), _declared(self.fn, self.triton_meta["signature"]):
            return launch(self, *arguments, **options)

    CachingAutotuner.run = watched


Watch = Callable[[Any, tuple[Any, ...]], AbstractContextManager[Any]]
"""What a launch runs in: made from the kernel and its arguments."""


@contextmanager
def _declared(kernel: Any, signature: Mapping[str, str]) -> Iterator[None]:
    """Give integers the types of the signature, where the grid has been computed from them."""
    module, run = interpreter_module(), kernel.run

    def typed(name: str, value: Any) -> Any:
        if not isinstance(value, int) or signature.get(name) not in ("i32", "i64"):
            return value
        declared = tl.dtype(signature[name].replace("i", "int"))
        handle = module.TensorHandle(np.array([value], f"i{declared.primitive_bitwidth // 8}"), declared)
        return tl.tensor(handle, declared)

    def with_types(*arguments: Any, **options: Any) -> Any:
        return run(*map(typed, kernel.arg_names, arguments), **options)

    kernel.run = with_types
    try:
        yield
    finally:
        del kernel.run


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
