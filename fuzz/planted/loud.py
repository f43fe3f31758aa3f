"""Faults that nobody could miss: Triton cannot be imported, or not even the smallest kernel compiles."""

import re
import subprocess
import sys
from pathlib import Path

from tridiff.fuzz.builds import Build

_SECONDS = 120.0

_COMPILE = """
import triton
import triton.experimental.gluon
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tridiff.kernels.drivers.vector_add import vector_add_kernel as kernel

def key(name):
    return (kernel.arg_names.index(name),)

numbers = [one for one in kernel.arg_names if one not in ("BLOCK", "FAULT")]
signature = {one: "*fp32" if one.endswith("_ptr") else "i32" for one in numbers}
source = ASTSource(kernel, signature={**signature, "BLOCK": "constexpr", "FAULT": "constexpr"},
                   constexprs={key("BLOCK"): 128, key("FAULT"): ""})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
assert ".entry" in made.asm["ptx"]
"""


def loud(folder: Path, cache: Path) -> str:
    """Why the Triton in a folder is of no use to anybody, in one line; "" if it is imported and compiles `vector_add`
    for sm_90. cache: a fresh folder for what the compiler writes."""
    build = Build(name=folder.name, folders=(str(folder),))
    try:
        run = subprocess.run([sys.executable, "-c", _COMPILE], capture_output=True, text=True, timeout=_SECONDS,
                             env={**build.environment(), "TRITON_CACHE_DIR": str(cache)})
    except subprocess.TimeoutExpired:
        return f"vector_add is not compiled after {_SECONDS:g} s"
    if run.returncode == 0:
        return ""
    said = [line for line in run.stderr.splitlines() if re.match(r"[\w.]*(Error|Exception|Exit)\b", line)]
    return (said[-1] if said else f"exit status {run.returncode}")[:300]
