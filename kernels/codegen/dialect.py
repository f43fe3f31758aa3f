"""What the text of generated kernels may use of the installed Triton, without importing it."""

from functools import cache
from importlib.metadata import version


@cache
def has_block_pointers() -> bool:
    """Whether kernels are written with `tl.make_block_ptr`: 3.6 has it, 3.7 and 3.8 deprecate it, from 3.9 on it raises
    NotImplementedError."""
    major, minor = (int(part) for part in version("triton").split(".")[:2])
    return (major, minor) <= (3, 6)
