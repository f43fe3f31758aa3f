"""Kernels that go wrong in the ways a worker must survive."""

import triton
import triton.language as tl


@triton.jit
def illegal_address(word_ptr):
    """Stores far outside every allocation."""
    tl.store(word_ptr + tl.full([], 1 << 44, tl.int64), 1)


@triton.jit
def device_assert(word_ptr):
    """Fails its assertion; needs the compile option debug=True."""
    tl.device_assert(tl.load(word_ptr) != 0, "planted device assertion")


@triton.jit
def endless_kernel(word_ptr):
    """Waits for a word that nobody writes."""
    while tl.atomic_add(word_ptr, 0) == 0:
        pass
