"""What the text of generated kernels may use of the installed Triton, without importing it."""

import re
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


@cache
def has_block_pointers() -> bool:
    """Whether kernels are written with `tl.make_block_ptr`: 3.6 has it, 3.7 and 3.8 deprecate it, from 3.9 on it raises
    NotImplementedError."""
    major, minor = (int(part) for part in found_version().split(".")[:2])
    return (major, minor) <= (3, 6)


def found_version() -> str:
    """The version of the Triton that an import finds. A build in a folder of its own has no distribution beside it,
    and that of another one may lie further down the path: the package itself is asked."""
    if "triton" in sys.modules:
        return str(sys.modules["triton"].__version__)
    spec = find_spec("triton")
    said = re.search(r"^__version__ = ['\"]([^'\"]+)['\"]", Path(spec.origin).read_text(), re.MULTILINE) if (
        spec and spec.origin) else None
    return said[1] if said else version("triton")
