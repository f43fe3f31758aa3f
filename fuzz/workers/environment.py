"""The one place that reads clocks, versions and environment variables into a record."""

import dataclasses
import importlib
import os
import platform
import re
import subprocess
from functools import cache
from pathlib import Path

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.records import Environment

_KNOBS = ("TRITON_", "MLIR_", "PTXAS_", "LLVM_", "DISABLE_", "TORCHINDUCTOR_")
_OWN = ("TRITON_CACHE_DIR", "TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "TRITON_HOME")


@cache
def tridiff_version() -> str:
    """Release number, and the commit when running from a checkout."""
    version = "0.1.0"
    root = Path(__file__).resolve().parents[2]
    if (root / ".git").exists():
        try:
            found = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"],
                                   capture_output=True, text=True, timeout=5, check=True)
            return f"{version}+{found.stdout.strip()}"
        except (OSError, subprocess.SubprocessError):
            return version
    return version


@cache
def _ptxas(arch: int | None) -> str:
    from triton.backends.nvidia import compiler

    try:
        return str(compiler.get_ptxas(arch).version if arch is not None else compiler.get_ptxas().version)
    except Exception:
        return ""


def read_environment(backend: str) -> Environment:
    """Versions and settings of this process; initialises the device for `cuda`."""
    import numpy
    import torch
    import triton

    device = capability = driver = ptxas = ""
    off: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    if kind(backend) == "cuda":
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        device, capability = properties.name, f"{properties.major}.{properties.minor}"
        driver = _driver_version()
        ptxas = _ptxas(properties.major * 10 + properties.minor)
    elif kind(backend) in FOR_CHIPS:
        device = backend.partition(":")[2]
        if device.startswith("sm_") and kind(backend) == "compile":
            ptxas = _ptxas(int(device.removeprefix("sm_")))
    else:
        device = platform.machine()
        from tridiff.fuzz import interpreter

        switches = interpreter.active()
        off = tuple(field.name for field in dataclasses.fields(switches) if not getattr(switches, field.name))
        missing = interpreter.missing()
    knobs = {name: value for name, value in sorted(os.environ.items()) if name.startswith(_KNOBS) and name not in _OWN}
    return Environment(
        tridiff=tridiff_version(), python=platform.python_version(), triton=triton.__version__,
        torch=str(torch.__version__), numpy=numpy.__version__, backend=backend, device=device, capability=capability,
        driver=driver, ptxas=ptxas, repairs_off=off, repairs_missing=missing, knobs=knobs)


def warm(backend: str) -> None:
    """Fill the caches that cost a subprocess or half a second, before a zygote forks; touches no device, and compiles
    nothing: what a process compiles depends on what it compiled before (corpus/without_entries.md)."""
    if kind(backend) in FOR_CHIPS:
        importlib.import_module(f"tridiff.fuzz.backends.{'evaluated' if kind(backend) == 'evaluated' else 'compile'}")
    if kind(backend) != "interpreter":
        from triton.runtime.cache import triton_key

        # A digest of the compiler's files, part of every kernel's name in the cache.
        triton_key()
    tridiff_version()
    _driver_version()
    for arch in (80, 90, 100):
        _ptxas(arch)


@cache
def _driver_version() -> str:
    proc = Path("/proc/driver/nvidia/version")
    if proc.exists():
        found_version = re.search(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b", proc.read_text())
        if found_version:
            return found_version[1]
    try:
        found = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.splitlines()[0].strip() if found.stdout.strip() else ""
