"""Which backends this machine can run, found out without importing torch or Triton here."""

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from tridiff.fuzz.backends import BACKENDS, kind

_ASK = """
import ctypes
driver, found = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
print(found.value if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(found)) == 0 else 0)
"""
_FOR_CUDA = re.compile(r"^cuda\b[^=\n]*= *'", re.MULTILINE)


@cache
def gpu_count() -> int:
    """NVIDIA GPUs that the installed torch can use; 0 without asking where the driver shows no device, or torch was
    built for none.

    A child process asks the driver once: a device node says nothing about CUDA_VISIBLE_DEVICES, and torch takes seconds
    to import.
    """
    if not any(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        return 0
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return 0
    try:
        if not _FOR_CUDA.search(Path(torch.origin).with_name("version.py").read_text()):
            return 0
        found = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, timeout=120,
                               check=True, env=dict(os.environ))
        return int(found.stdout.split()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return 0


def available_backends() -> tuple[str, ...]:
    """The names of `tridiff.fuzz.backends.BACKENDS` that can run here; empty without torch and Triton.

    `cuda` needs a GPU; the interpreter and the ahead-of-time compilers need none.
    """
    if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
        return ()
    return tuple(name for name in BACKENDS if kind(name) != "cuda" or gpu_count())
